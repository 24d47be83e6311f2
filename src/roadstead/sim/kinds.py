"""Which kinds a world knows, and how a case names an object of one."""

from collections.abc import Iterable

from roadstead.errors import InputError
from roadstead.kube.refs import (
    CONFIG_MAP,
    CRD,
    ENDPOINT_SLICE,
    EVENT,
    HELM_RELEASE,
    LEASE,
    NAMESPACE,
    SECRET,
    SERVICE,
    Kind,
    Ref,
)

_APPS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
_RBAC = "rbac.authorization.k8s.io"

_GATEWAY = "gateway.networking.k8s.io"
_CERTIFICATES = "cert-manager.io"
_ADDRESSES = "local.sdn.cozystack.io"

NEIGHBOURS: tuple[Kind, ...] = (
    Kind("Gateway", _GATEWAY, "v1", "gateways"),
    Kind("GatewayClass", _GATEWAY, "v1", "gatewayclasses", namespaced=False),
    Kind("HTTPRoute", _GATEWAY, "v1", "httproutes"),
    Kind("GRPCRoute", _GATEWAY, "v1", "grpcroutes"),
    Kind("TLSRoute", _GATEWAY, "v1", "tlsroutes"),
    Kind("ReferenceGrant", _GATEWAY, "v1beta1", "referencegrants"),
    Kind("Certificate", _CERTIFICATES, "v1", "certificates"),
    Kind("CertificateRequest", _CERTIFICATES, "v1", "certificaterequests"),
    Kind("Issuer", _CERTIFICATES, "v1", "issuers"),
    Kind("ClusterIssuer", _CERTIFICATES, "v1", "clusterissuers", namespaced=False),
    Kind("CiliumNetworkPolicy", "cilium.io", "v2", "ciliumnetworkpolicies"),
    Kind(
        "CiliumClusterwideNetworkPolicy",
        "cilium.io",
        "v2",
        "ciliumclusterwidenetworkpolicies",
        namespaced=False,
    ),
    Kind("IPAddressClass", _ADDRESSES, "v1alpha1", "ipaddressclasses", namespaced=False),
    Kind("IPAddress", _ADDRESSES, "v1alpha1", "ipaddresses", namespaced=False),
    Kind("IPAddressClaim", _ADDRESSES, "v1alpha1", "ipaddressclaims"),
)
"""What the development control plane serves for neighbours, beside the built-in kinds."""

BUILT_IN: tuple[Kind, ...] = (
    NAMESPACE,
    SECRET,
    CONFIG_MAP,
    EVENT,
    LEASE,
    CRD,
    HELM_RELEASE,
    SERVICE,
    Kind("Endpoints", "", "v1", "endpoints"),
    Kind("Pod", "", "v1", "pods"),
    Kind("Node", "", "v1", "nodes", namespaced=False),
    Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims"),
    Kind("PersistentVolume", "", "v1", "persistentvolumes", namespaced=False),
    Kind("ResourceQuota", "", "v1", "resourcequotas"),
    Kind("LimitRange", "", "v1", "limitranges"),
    Kind("ServiceAccount", "", "v1", "serviceaccounts"),
    *(Kind(name, "apps", "v1", f"{name.lower()}s") for name in _APPS),
    Kind("Job", "batch", "v1", "jobs"),
    Kind("CronJob", "batch", "v1", "cronjobs"),
    ENDPOINT_SLICE,
    Kind("Ingress", "networking.k8s.io", "v1", "ingresses"),
    Kind("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies"),
    Kind("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets"),
    Kind("Role", _RBAC, "v1", "roles"),
    Kind("RoleBinding", _RBAC, "v1", "rolebindings"),
    Kind("ClusterRole", _RBAC, "v1", "clusterroles", namespaced=False),
    Kind("ClusterRoleBinding", _RBAC, "v1", "clusterrolebindings", namespaced=False),
    Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", namespaced=False),
)

_CORE_GROUPS = frozenset(
    {
        "",
        "apps",
        "autoscaling",
        "batch",
        "policy",
        *(
            f"{name}.k8s.io"
            for name in [
                "admissionregistration",
                "apiextensions",
                "apiregistration",
                "authentication",
                "authorization",
                "certificates",
                "coordination",
                "discovery",
                "events",
                "flowcontrol.apiserver",
                "internal",
                "networking",
                "node",
                "rbac.authorization",
                "resource",
                "scheduling",
                "storage",
            ]
        ),
    }
)


def is_custom(kind: Kind) -> bool:
    """Tell whether a kind comes from a CustomResourceDefinition."""
    return kind.group not in _CORE_GROUPS


def has_generation(kind: Kind) -> bool:
    """Tell whether the API server counts the changes of a kind's wishes."""
    return is_custom(kind) or kind.group in {
        "apps",
        "autoscaling",
        "batch",
        "discovery.k8s.io",
        "networking.k8s.io",
        "policy",
    }


class Kinds:
    """Every kind that is declared or was met in a file, found by group and name or by name alone.

    Two kinds of one name in two groups are told apart as `Kind.group`; the one that was known
    first has the bare name.
    """

    def __init__(self, declared: Iterable[Kind] = ()) -> None:
        """Begin with what every cluster has, what capabilities declare, and their neighbours."""
        self._known: dict[tuple[str, str], Kind] = {}
        for kind in (*BUILT_IN, *declared, *NEIGHBOURS):
            self.add(kind)

    def add(self, kind: Kind) -> Kind:
        """Know a kind; the version known first stays the one that is spoken."""
        return self._known.setdefault((kind.group, kind.kind), kind)

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind of an `apiVersion`, at whatever version; None when nobody declared it."""
        return self._known.get((api_version.rpartition("/")[0], kind))

    def of(self, api_version: str, kind: str, namespace: str) -> Kind:
        """The kind of an object in a file; one nobody declared has the scope its object shows."""
        return self.find(api_version, kind) or self.add(
            Kind.guess(api_version, kind, namespaced=bool(namespace))
        )

    def named(self, name: str) -> Kind:
        """The kind of a bare name, or of `Kind.group`.

        Raises: InputError when there is none.
        """
        bare, _, group = name.partition(".")
        for (known_group, known), kind in self._known.items():
            if known == bare and group in {"", known_group}:
                return kind
        raise InputError(
            f"no kind `{name}` is known here",
            hint="a kind is known when a capability declares it or an object in world.yaml has it",
        )

    def ref(self, path: str) -> Ref:
        """Read `Kind/namespace/name`, or `Kind/name` for a cluster-scoped kind.

        Raises: InputError for any other form.
        """
        name, *rest = path.split("/")
        kind = self.named(name)
        if len(rest) != (2 if kind.namespaced else 1) or not all(rest):
            form = "Kind/namespace/name" if kind.namespaced else "Kind/name"
            raise InputError(f"`{path}` does not name an object; write `{form}`")
        return kind.ref(rest[0], rest[-1])
