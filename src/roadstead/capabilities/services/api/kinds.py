"""Every kind the renderer writes, at the version it writes. Source: contract, header and 3."""

from roadstead.kube.refs import CONFIG_MAP, NAMESPACE, SECRET, Kind

NETWORK_POLICY = Kind("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies")
CILIUM_POLICY = Kind("CiliumNetworkPolicy", "cilium.io", "v2", "ciliumnetworkpolicies")
EGRESS_GATEWAY_POLICY = Kind(
    "CiliumEgressGatewayPolicy",
    "cilium.io",
    "v2",
    "ciliumegressgatewaypolicies",
    namespaced=False,
)
PERSISTENT_VOLUME = Kind("PersistentVolume", "", "v1", "persistentvolumes", namespaced=False)
CLAIM = Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims")
DATA_VOLUME = Kind("DataVolume", "cdi.kubevirt.io", "v1beta1", "datavolumes")
HELM_RELEASE = Kind("HelmRelease", "helm.toolkit.fluxcd.io", "v2", "helmreleases")
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
STATEFUL_SET = Kind("StatefulSet", "apps", "v1", "statefulsets")
SERVICE_ACCOUNT = Kind("ServiceAccount", "", "v1", "serviceaccounts")
VIRTUAL_MACHINE = Kind("VirtualMachine", "kubevirt.io", "v1", "virtualmachines")
SERVICE = Kind("Service", "", "v1", "services")
HTTP_ROUTE = Kind("HTTPRoute", "gateway.networking.k8s.io", "v1", "httproutes")
LISTENER_SET = Kind("ListenerSet", "gateway.networking.k8s.io", "v1", "listenersets")
CERTIFICATE = Kind("Certificate", "cert-manager.io", "v1", "certificates")
KEYCLOAK_CLIENT = Kind("KeycloakClient", "v1.edp.epam.com", "v1", "keycloakclients")
KEYCLOAK_OIDC_CLIENT = Kind(
    "KeycloakOIDCClient", "k8s.keycloak.org", "v2alpha1", "keycloakoidcclients"
)
SECURITY_POLICY = Kind("SecurityPolicy", "gateway.envoyproxy.io", "v1alpha1", "securitypolicies")
IMAGE_REPOSITORY = Kind("ImageRepository", "image.toolkit.fluxcd.io", "v1", "imagerepositories")
IMAGE_POLICY = Kind("ImagePolicy", "image.toolkit.fluxcd.io", "v1", "imagepolicies")
IMAGE_AUTOMATION = Kind(
    "ImageUpdateAutomation", "image.toolkit.fluxcd.io", "v1", "imageupdateautomations"
)
ALERT = Kind("Alert", "notification.toolkit.fluxcd.io", "v1beta3", "alerts")
PROVIDER = Kind("Provider", "notification.toolkit.fluxcd.io", "v1beta3", "providers")
SERVICE_MONITOR = Kind("ServiceMonitor", "monitoring.coreos.com", "v1", "servicemonitors")
POD_MONITOR = Kind("PodMonitor", "monitoring.coreos.com", "v1", "podmonitors")
PROMETHEUS_RULE = Kind("PrometheusRule", "monitoring.coreos.com", "v1", "prometheusrules")
SCHEDULE = Kind("Schedule", "velero.io", "v1", "schedules")
RECURRING_JOB = Kind("RecurringJob", "longhorn.io", "v1beta2", "recurringjobs")
FLUX_KUSTOMIZATION = Kind("Kustomization", "kustomize.toolkit.fluxcd.io", "v1", "kustomizations")

ORDER: tuple[Kind, ...] = (
    NAMESPACE,
    NETWORK_POLICY,
    CILIUM_POLICY,
    EGRESS_GATEWAY_POLICY,
    PERSISTENT_VOLUME,
    CLAIM,
    DATA_VOLUME,
    HELM_RELEASE,
    KEYCLOAK_CLIENT,
    KEYCLOAK_OIDC_CLIENT,
    DEPLOYMENT,
    STATEFUL_SET,
    SERVICE_MONITOR,
    POD_MONITOR,
    PROMETHEUS_RULE,
    CONFIG_MAP,
    SERVICE_ACCOUNT,
    VIRTUAL_MACHINE,
    SERVICE,
    HTTP_ROUTE,
    LISTENER_SET,
    CERTIFICATE,
    SECURITY_POLICY,
    IMAGE_REPOSITORY,
    IMAGE_POLICY,
    ALERT,
    SCHEDULE,
    SECRET,
    FLUX_KUSTOMIZATION,
    IMAGE_AUTOMATION,
    PROVIDER,
    RECURRING_JOB,
)
"""Every kind, so that those of one file stand in the order of the contract's table 3.1."""

BY_NAME = {(kind.api_version, kind.kind): kind for kind in ORDER}
"""A kind by the two fields an object states."""
