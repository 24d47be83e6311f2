"""What each admission policy of the chain lets through: offline and on the API server alike.

Source: tenant-gateway 2.11, TG-189 to TG-191.
"""

from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.gateways.api import HOST_LABEL
from roadstead.capabilities.gateways.chain.names import TENANT
from roadstead.capabilities.gateways.chain.policies import (
    GATEWAYS,
    INGRESSES,
    NAMESPACE_LABEL,
    ROUTES,
    TENANT_HOST,
    TLS_ROUTES,
)
from roadstead.kube.refs import NAMESPACE, Kind

GATEWAY = Kind("Gateway", "gateway.networking.k8s.io", "v1", "gateways")
HTTP_ROUTE = Kind("HTTPRoute", "gateway.networking.k8s.io", "v1", "httproutes")
TLS_ROUTE = Kind("TLSRoute", "gateway.networking.k8s.io", "v1", "tlsroutes")
INGRESS = Kind("Ingress", "networking.k8s.io", "v1", "ingresses")

ROOT_HOST = "example.com"
LABELLED, UNLABELLED, ELSEWHERE = "tenant-foo", "tenant-bare", "cozy-harbor"
DOMAIN = {HOST_LABEL: "foo.example.com"}
LABELS = {LABELLED: DOMAIN, UNLABELLED: {}, ELSEWHERE: DOMAIN}
"""The namespaces that there are, and their labels."""
TENANT_USERS = ("tenant-foo-admins",)
FLUX = ("system:serviceaccounts", "system:serviceaccounts:cozy-fluxcd")


@dataclass(frozen=True)
class Row:
    """One request. policy: the one that judges it. says: of a refusal; empty where it passes.

    namespace: empty for a cluster-scoped object. old: what is there; None for a create.
    """

    id: str
    policy: str
    kind: Kind
    spec: dict[str, Any]
    says: str = ""
    namespace: str = LABELLED
    old: dict[str, Any] | None = None
    groups: tuple[str, ...] = TENANT_USERS
    labels: dict[str, str] = field(default_factory=dict)
    old_labels: dict[str, str] = field(default_factory=dict)

    def body(self, *, old: bool = False) -> dict[str, Any]:
        """The object as it is sent, or as it was."""
        meta: dict[str, Any] = {"name": "probe"}
        if self.namespace:
            meta["namespace"] = self.namespace
        if labels := self.old_labels if old else self.labels:
            meta["labels"] = labels
        spec = (self.old or {}) if old else self.spec
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": meta,
            **({"spec": spec} if self.kind is not NAMESPACE else {}),
        }


def gateway(id_: str, hostname: str | None, says: str = "", namespace: str = LABELLED) -> Row:
    """A Gateway with a listener that is fine, and one of this hostname."""
    listeners = [
        {"name": "fine", "port": 80, "protocol": "HTTP"},
        {"name": "l", "port": 8080, "protocol": "HTTP"}
        | ({"hostname": hostname} if hostname else {}),
    ]
    spec = {"gatewayClassName": "cilium", "listeners": listeners}
    return Row(id_, GATEWAYS, GATEWAY, spec, says, namespace)


def route(id_: str, hostnames: list[str] | None, says: str = "", namespace: str = LABELLED) -> Row:
    """An HTTPRoute with these hostnames; None leaves the field out."""
    spec: dict[str, Any] = {"parentRefs": [{"name": "cozystack"}]}
    if hostnames is not None:
        spec["hostnames"] = hostnames
    return Row(id_, ROUTES, HTTP_ROUTE, spec, says, namespace)


def tls_route(id_: str, hostname: str, says: str = "", namespace: str = LABELLED) -> Row:
    """A TLSRoute of one hostname."""
    spec = {
        "parentRefs": [{"name": "cozystack"}],
        "hostnames": [hostname],
        "rules": [{"backendRefs": [{"name": "kubernetes", "port": 443}]}],
    }
    return Row(id_, TLS_ROUTES, TLS_ROUTE, spec, says, namespace)


BACKEND = {"service": {"name": "web", "port": {"number": 80}}}


def ingress(id_: str, host: str, says: str = "", namespace: str = LABELLED, tls: str = "") -> Row:
    """An Ingress of one host; an empty one leaves the field out."""
    paths = [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]
    rule = {"http": {"paths": paths}} | ({"host": host} if host else {})
    spec: dict[str, Any] = {"rules": [rule]}
    if tls:
        spec["tls"] = [{"hosts": [tls], "secretName": "t"}]
    return Row(id_, INGRESSES, INGRESS, spec, says, namespace)


def tenant(
    id_: str,
    host: str,
    says: str = "",
    old: str | None = None,
    groups: tuple[str, ...] = TENANT_USERS,
) -> Row:
    """A Tenant with a host; old: None for a create."""
    before = None if old is None else {"host": old} if old else {}
    return Row(
        id_, TENANT_HOST, TENANT, {"host": host} if host else {}, says, old=before, groups=groups
    )


def space(
    id_: str,
    host: str,
    says: str = "",
    old: str | None = None,
    groups: tuple[str, ...] = TENANT_USERS,
) -> Row:
    """A Namespace with a host label; old: None for a create."""
    return Row(
        id_,
        NAMESPACE_LABEL,
        NAMESPACE,
        {},
        says,
        namespace="",
        old=None if old is None else {},
        groups=groups,
        labels={HOST_LABEL: host} if host else {},
        old_labels={HOST_LABEL: old} if old else {},
    )


NOT_WITHIN = "is not within foo.example.com"
NO_DOMAIN = "is not within "
NEEDS_ONE = "must name at least one host"
NOT_YOURS = "only the platform may set or change"
OWN = "foo.example.com"

ROWS = (
    gateway("TG-189-below", "a.foo.example.com"),
    gateway("TG-189-letters", "FOO.example.com".lower()),
    gateway("TG-189-wildcard", "*.foo.example.com"),
    gateway("TG-189-foreign", "x.org", f"listener hostname x.org {NOT_WITHIN}"),
    gateway("TG-189-suffix", "evilfoo.example.com", NOT_WITHIN),
    gateway("TG-189-parent", "example.com", NOT_WITHIN),
    gateway("TG-189-no-hostname", None),
    gateway("TG-189-no-label", "x.org", namespace=UNLABELLED),
    gateway("TG-189-no-tenant", "x.org", namespace=ELSEWHERE),
    tenant("TG-190-set", "evil.org", NOT_YOURS),
    tenant("TG-190-create-without", ""),
    tenant("TG-190-change", "evil.org", NOT_YOURS, old="a.org"),
    tenant("TG-190-first-value", "evil.org", NOT_YOURS, old=""),
    tenant("TG-190-unset", "", NOT_YOURS, old="a.org"),
    tenant("TG-190-same", "a.org", old="a.org"),
    tenant("TG-190-flux", "b.org", old="a.org", groups=FLUX),
    tenant("TG-190-masters", "b.org", groups=("system:masters",)),
    tenant("TG-190-other-account", "b.org", NOT_YOURS, groups=("system:serviceaccounts:default",)),
    space("TG-190-label-set", "evil.org", NOT_YOURS),
    space("TG-190-label-change", "evil.org", NOT_YOURS, old="a.org"),
    space("TG-190-label-first-value", "evil.org", NOT_YOURS, old=""),
    space("TG-190-label-removed", "", NOT_YOURS, old="a.org"),
    space("TG-190-label-letters", "A.org", NOT_YOURS, old="a.org"),
    space("TG-190-label-same", "a.org", old="a.org"),
    space("TG-190-no-label", ""),
    space("TG-190-label-flux", "b.org", old="a.org", groups=FLUX),
    route("TG-191-no-hostnames", None, NEEDS_ONE),
    route("TG-191-empty", [], NEEDS_ONE),
    route("TG-191-foreign", ["a.foo.example.com", "x.org"], f"hostname x.org {NOT_WITHIN}"),
    route("TG-191-wildcard", ["*.foo.example.com"]),
    route("TG-191-own", ["foo.example.com", "a.b.foo.example.com"]),
    route("TG-191-no-label", ["a.foo.example.com"], NO_DOMAIN, UNLABELLED),
    route("TG-191-no-tenant", ["x.org"], namespace=ELSEWHERE),
    tls_route("TG-191-tls", "api.foo.example.com"),
    tls_route("TG-191-tls-foreign", "api.example.com", NOT_WITHIN),
    tls_route("TG-191-tls-no-tenant", "x.org", namespace=ELSEWHERE),
    ingress("2.11-ingress-own", f"a.{OWN}", tls=f"a.{OWN}"),
    ingress("2.11-ingress-other-tenant", "bar.example.com", f"host bar.example.com {NOT_WITHIN}"),
    ingress("2.11-ingress-platform", "example.com", NOT_WITHIN),
    ingress("2.11-ingress-outside", "shop.example.net"),
    ingress("2.11-ingress-outside-wildcard", "*.example.net", NOT_WITHIN),
    ingress("2.11-ingress-no-host", "", "hosts within the domain"),
    ingress("2.11-ingress-tls", f"a.{OWN}", "hosts within the domain", tls="bar.example.com"),
    ingress("2.11-ingress-no-label", "bar.example.com", NO_DOMAIN, UNLABELLED),
    ingress("2.11-ingress-no-label-outside", "shop.example.net", namespace=UNLABELLED),
    ingress("2.11-ingress-no-tenant", "bar.example.com", namespace=ELSEWHERE),
)
