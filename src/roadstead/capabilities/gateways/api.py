"""Kinds, labels, names and reasons of tenant gateways. Source: tenant-gateway 1, 2, 7 and 10b."""

from datetime import timedelta

from roadstead.kube.reasons import Reason
from roadstead.kube.refs import Kind

GROUP = "gateway.cozystack.io"

USUAL = "cozystack"
"""What the platform's chart calls every TenantGateway."""

TENANT_GATEWAY = Kind("TenantGateway", GROUP, "v1alpha1", "tenantgateways")

ATTACH_LABEL = "namespace.cozystack.io/gateway"
"""On a Namespace: the namespace whose Gateway its routes attach to."""
HOST_LABEL = "namespace.cozystack.io/host"
"""On a Namespace: its tenant's domain."""

ATTACHED_BY = "namespace.cozystack.io/gateway-attached-by"
"""On a Namespace: the namespace whose TenantGateway wrote the attach label."""

GATEWAY_API = "gateway.networking.k8s.io"
GATEWAY = Kind("Gateway", GATEWAY_API, "v1", "gateways")
GATEWAY_CLASS = Kind("GatewayClass", GATEWAY_API, "v1", "gatewayclasses", namespaced=False)
HTTP_ROUTE = Kind("HTTPRoute", GATEWAY_API, "v1", "httproutes")
TLS_ROUTES = tuple(
    Kind("TLSRoute", GATEWAY_API, version, "tlsroutes")
    for version in ("v1", "v1alpha3", "v1alpha2")
)
"""The versions a TLSRoute is read at, the first that is served."""
REFERENCE_GRANT = Kind("ReferenceGrant", GATEWAY_API, "v1beta1", "referencegrants")
CERTIFICATE = Kind("Certificate", "cert-manager.io", "v1", "certificates")
ISSUER = Kind("Issuer", "cert-manager.io", "v1", "issuers")
CLUSTER_ISSUER = Kind("ClusterIssuer", "cert-manager.io", "v1", "clusterissuers", namespaced=False)

COMPONENT = "gateway.cozystack.io/tenantgateway-controller"
"""The name of the controller in route status, and the source of its events."""

GATEWAY_LABEL = "cozystack.io/gateway"
MANAGED_LABEL = "cozystack.io/managed-by"
MANAGER = "cozystack-controller"
TENANT_GATEWAY_LABEL = "cozystack.io/tenantgateway"
PER_LISTENER_LABEL = "cozystack.io/per-listener-cert"
NAME_LABEL = "kubernetes.io/metadata.name"
"""What every Namespace carries: its own name."""

CERT_MANAGER = "cozy-cert-manager"
"""The namespace of cert-manager, whose challenge routes use the plain listener."""
PLATFORM_PREFIX = "cozy-"

PLAIN, EDGE = "http", "edge"
PASSTHROUGH_PREFIX = "tls-"
MOST_LISTENERS, MUCH = 64, 56
MOST_NAMES = 100
"""Names of one certificate, by Let's Encrypt."""
MOST_ENTRIES = 32
"""Of `status.parents`, all controllers together."""

RESYNC = timedelta(hours=10)

FAULT = "ReconcileError"
NOT_ACCEPTED, NOT_PROGRAMMED = "GatewayNotAccepted", "GatewayNotProgrammed"
NOT_READY, RECONCILED = "ListenersNotReady", "Reconciled"
CHILD_OUTSIDE, HELD = "ChildHostOutsideApex", "NamespaceHeld"
STATUS_FULL = "RouteStatusFull"
ACCEPTED, CONFLICT = "Accepted", "HostnameConflict"
NO_PARENT, NO_HOSTNAME = "NoMatchingParent", "NoMatchingListenerHostname"
NOT_ALLOWED = "NotAllowedByListeners"
VERDICTS = (ACCEPTED, NO_PARENT, NO_HOSTNAME, NOT_ALLOWED, CONFLICT)
"""What may be said of one hostname of a route."""


def _ready(name: str, meaning: str, cause: str, remedy: str, about: str = "") -> Reason:
    return Reason(name, "Ready", about, meaning, cause, remedy)


def _accepted(name: str, meaning: str, cause: str, remedy: str) -> Reason:
    return Reason(name, "Accepted", "", meaning, cause, remedy)


def _told(name: str, meaning: str, cause: str, remedy: str) -> Reason:
    return Reason(name, "", TENANT_GATEWAY.kind, meaning, cause, remedy)


def _listener(name: str, meaning: str, cause: str, remedy: str) -> Reason:
    return Reason(name, "", "", meaning, cause, remedy)


REASONS: tuple[Reason, ...] = (
    _ready(
        FAULT,
        "Something of the gateway could not be made; what stood before stays.",
        "The spec cannot be rendered, a name is taken, a limit is reached, or a write was refused.",
        "The message names the field, the object or the refusal; mend that.",
        TENANT_GATEWAY.kind,
    ),
    _ready(
        NOT_ACCEPTED,
        "No controller has accepted the Gateway.",
        "It is new, its GatewayClass is not installed, or the class refuses it.",
        "Wait a minute; then look at the class that spec.gatewayClassName names and its program.",
    ),
    _ready(
        NOT_PROGRAMMED,
        "The Gateway is accepted, and its proxy does not serve it yet.",
        "The class is at work, or has no address or no proxy for it.",
        "Wait; then look at the conditions of the Gateway.",
    ),
    _ready(
        NOT_READY,
        "The Gateway serves, and some of its listeners do not.",
        "A certificate is not issued yet, or two listeners conflict.",
        "The message lists the listeners; look at the Certificate of each.",
    ),
    _ready(
        RECONCILED,
        "Every listener of the Gateway is served.",
        "Everything Roadstead and the class do is done.",
        "Nothing is owed.",
    ),
    _accepted(
        ACCEPTED,
        "Every hostname of the route is served through this parentRef.",
        "A listener answers each, and no other tenant's route comes first.",
        "Nothing is owed.",
    ),
    _accepted(
        NO_PARENT,
        "The parentRef selects a listener that the Gateway does not have.",
        "A `tls-` section is not rendered, section and port are of two listeners, or the mode is "
        "edge, where no TLSRoute is served.",
        "Correct sectionName and port, or add the name to tlsPassthroughServices.",
    ),
    _accepted(
        NO_HOSTNAME,
        "A hostname of the route is not served through this parentRef.",
        "It is outside the apex, a wildcard in mode http01, answered by a passthrough listener, or "
        "on a port or section where nothing answers it.",
        "The message says for each hostname which it is; change the hostname or the parentRef.",
    ),
    _accepted(
        NOT_ALLOWED,
        "The listener does not admit routes of this namespace.",
        "The plain listener is for the gateway's own namespace and cert-manager, a listener of "
        "tlsPassthroughListeners for the gateway's own namespace.",
        "Move the route there, or leave sectionName out.",
    ),
    _accepted(
        CONFLICT,
        "A route of another namespace holds a hostname; it is served to that one.",
        "Namespaces that begin with `cozy-` come first, then the order of their names.",
        "Take another hostname, or delete the route that comes first.",
    ),
    _told(
        CHILD_OUTSIDE,
        "A child tenant's domain is not below the apex, so this Gateway does not serve it.",
        "The label namespace.cozystack.io/host of its Namespace is outside the apex.",
        "Give that tenant a Gateway of its own.",
    ),
    _told(
        HELD,
        "A namespace of attachedNamespaces belongs to another tenant's gateway and stays there.",
        "A gateway that lists it came first, or the tenant's chart has labelled it.",
        "Take it out of one of the two lists.",
    ),
    _told(
        "PassthroughUnpublished",
        "Services of tlsPassthroughServices are not published.",
        "The mode is edge, where TLS ends before the Gateway.",
        "Empty the list, or move the tenant to a class that does not end TLS.",
    ),
    _told(
        "GatewayClassNotFound",
        "There is no GatewayClass of the name; the Gateway waits for it.",
        "Its program is not installed, or the name is misspelt.",
        "Install the class, or correct gateway.className or the tenant's gatewayClass.",
    ),
    _told(
        "OwnershipConflict",
        "An object that is not ours has a name we render; it is left alone.",
        "A person, a chart or an earlier TenantGateway of the same name made it.",
        "Delete or rename it; ours is made without a restart.",
    ),
    _told(
        "ListenerBudget",
        "The Gateway will soon have more listeners than a Gateway can have.",
        "More than 56 of 64 are used: published hostnames, children and passthrough listeners.",
        "Give a child tenant a Gateway of its own, or use mode dns01.",
    ),
    _listener(
        "Pending",
        "The class says nothing of this listener yet.",
        "It is new, or the class is not installed.",
        "Wait; then look at the conditions of the Gateway.",
    ),
    _listener(
        "NotAccepted",
        "The class has not accepted this listener.",
        "Another listener conflicts with it, or the class cannot serve it.",
        "Look at the listener's conditions in the status of the Gateway.",
    ),
    _listener(
        "NotProgrammed",
        "The class has accepted this listener, and its proxy does not serve it yet.",
        "Its certificate is not issued yet, or the proxy is being set up.",
        "Look at the Certificate that certificateName names.",
    ),
    _listener(
        STATUS_FULL,
        "The status of a route has no room for our entries; the route is served all the same.",
        "It has more than 16 parentRefs, and other controllers write an entry for each as well.",
        "Split the route.",
    ),
    Reason(
        "ReadFailed", "Error", "",
        "Something the decision needs could not be read; nothing was changed.",
        "The API server answered with an error, or a view is not synced.",
        "Wait; it is tried again with growing pauses. `/readyz` names the view.",
    ),
)  # fmt: skip
