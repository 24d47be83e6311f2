"""Who may do what: an account for each process, as documents.

A right that is not here is not used, and a run fails without any that is here: a test takes each
away in turn. A verb that an ordinary run does not use says why it is here. Source: trust-anchors
10, wildcard-secrets 10, endpoint-attachments 8.1, tenant-gateway 10b, lineage 10, architecture 2
(Accounts).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.capabilities.attachments.api.names import ADDRESS, ATTACHMENT, CLAIM, CLASS
from roadstead.capabilities.gateways.api import (
    CERTIFICATE,
    GATEWAY,
    GATEWAY_CLASS,
    HTTP_ROUTE,
    ISSUER,
    REFERENCE_GRANT,
    TENANT_GATEWAY,
    TLS_ROUTES,
)
from roadstead.capabilities.lineage.api import INGRESS, SCHEDULING_CLASS, SYSTEM
from roadstead.deploy import owners
from roadstead.kube.refs import (
    ENDPOINT_SLICE,
    EVENT,
    HELM_RELEASE,
    LEASE,
    NAMESPACE,
    SECRET,
    SERVICE,
    Kind,
)

API_GROUP = "rbac.authorization.k8s.io"
HOME = "roadstead-system"
"""The namespace of the accounts and of their Leases."""
LABELS = {"app.kubernetes.io/managed-by": "roadstead", "app.kubernetes.io/name": "roadstead"}
VIEW = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class Right:
    """What an account may do with one resource.

    why: what it is for. part: a subresource; empty for the objects themselves.
    idle: verbs that an ordinary run does not use, with the reason that they are granted.
    """

    kind: Kind
    verbs: tuple[str, ...]
    why: str
    part: str = ""
    idle: Mapping[str, str] = field(default_factory=dict)

    @property
    def resource(self) -> str:
        """As a rule names it: the plural, and the subresource behind a slash."""
        return f"{self.kind.plural}/{self.part}" if self.part else self.kind.plural


@dataclass(frozen=True, slots=True)
class Account:
    """One process and its rights.

    capabilities: what its `run --only` names.
    cluster: rights in every namespace. home: rights in the namespace of the account.
    owners: whether it may read the kinds that own what the webhook is asked about.
    """

    name: str
    capabilities: tuple[str, ...]
    cluster: tuple[Right, ...]
    home: tuple[Right, ...]
    owners: bool = False


_LISTED = {"list": "for a server that sends no list as the first events of a watch"}
_SEEN = ("list", "watch")
"""Of a kind that is read from a view alone. The contracts list `get` beside them, which nothing
uses: see docs/reference/differences.md."""
# Beyond the contract's list where it is `delete` on attachments: without it the plug-in refuses the
# owner reference, "cannot set an ownerRef on a resource you can't delete". Trust-anchors 10 has it.
_ENFORCED = "asked for by the admission plug-in OwnerReferencesPermissionEnforcement alone"
_LEADS = (Right(LEASE, ("get", "create", "update"), "leadership"),)
_TELLS = Right(
    EVENT,
    ("create", "patch"),
    "tell of refusals",
    idle={"patch": "counts a refusal that is told again"},
)

ANCHORS = Account(
    "roadstead-anchors",
    ("anchors", "wildcards"),
    (
        Right(
            SECRET,
            (*VIEW, "create", "update", "delete"),
            "read sources, write anchors and wildcard replicas",
        ),
        _TELLS,
        Right(HELM_RELEASE, _SEEN, "identity and uid of the owner", idle=_LISTED),
        Right(DEFINITION, _SEEN, "declarations", idle=_LISTED),
        Right(NAMESPACE, _SEEN, "which namespaces end TLS themselves", idle=_LISTED),
        Right(
            TENANT_GATEWAY,
            _SEEN,
            "whether a tenant's TLS ends before its Gateway",
            idle=_LISTED,
        ),
    ),
    _LEADS,
)

_WRITTEN = (*_SEEN, "create", "update", "delete")
_ROUTES = (HTTP_ROUTE, TLS_ROUTES[0])
GATEWAY_RIGHTS = (
    Right(TENANT_GATEWAY, _SEEN, "read what the platform asks for", idle=_LISTED),
    Right(TENANT_GATEWAY, ("update",), "write the status", part="status"),
    # Beyond the contract's list: without it the plug-in refuses every object that is rendered,
    # "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set
    # finalizers on".
    Right(
        TENANT_GATEWAY,
        ("update",),
        "own what is rendered with `blockOwnerDeletion`",
        part="finalizers",
        idle={"update": _ENFORCED},
    ),
    Right(
        GATEWAY,
        (*_SEEN, "create", "update"),
        "write the Gateway of each TenantGateway; its owner takes it along",
        idle=_LISTED,
    ),
    Right(
        HTTP_ROUTE,
        _WRITTEN,
        "read what is published; write the redirect to HTTPS, take it away in mode edge",
        idle=_LISTED,
    ),
    *(
        Right(kind, _SEEN, why, idle=_LISTED)
        for kind, why in (
            (TLS_ROUTES[0], "read what is published without ending its TLS"),
            (GATEWAY_CLASS, "tell of a class that is not installed"),
        )
    ),
    *(
        Right(kind, ("update",), "write our own entries of the status", part="status")
        for kind in _ROUTES
    ),
    # Beyond the contract's list, and within what it watches: whether a backend in another
    # namespace may be used is written in a grant there. Tenant-gateway 4.2 and 6.
    Right(
        REFERENCE_GRANT,
        _SEEN,
        "whether a TLSRoute may forward to another namespace",
        idle=_LISTED,
    ),
    *(
        Right(kind, _WRITTEN, why, idle=_LISTED)
        for kind, why in (
            (CERTIFICATE, "write the Certificates of what is published"),
            (ISSUER, "write the Issuer of each TenantGateway that has certificates issued"),
        )
    ),
    Right(
        NAMESPACE,
        (*_SEEN, "patch"),
        "read the tenants' domains; label the namespaces whose routes may attach",
        idle=_LISTED,
    ),
)
"""What tenant gateways need; they share the account of attachments."""

ATTACHMENTS = Account(
    "roadstead-attachments",
    ("attachments", "gateways"),
    (
        Right(
            SERVICE,
            (*VIEW, "create", "update", "delete"),
            "read endpoints, delegations and the backends of routes; write the Services of "
            "attachments",
        ),
        Right(
            ATTACHMENT,
            (*VIEW, "patch", "delete"),
            "read what tenants ask for; set owner and lineage labels by server-side apply",
            idle={**_LISTED, "delete": f"{_ENFORCED}; none is ever deleted"},
        ),
        Right(ATTACHMENT, ("update",), "write the status", part="status"),
        Right(
            ATTACHMENT,
            ("update",),
            "own claims and Services with `blockOwnerDeletion`",
            part="finalizers",
            idle={"update": _ENFORCED},
        ),
        Right(
            CLAIM,
            (*VIEW, "create", "delete"),
            "read claims, mint them; a claim that somebody else made is never written",
        ),
        Right(ADDRESS, VIEW, "who holds an address", idle=_LISTED),
        Right(CLASS, VIEW, "the `loadBalancerClass`, and the class that is the default"),
        Right(ENDPOINT_SLICE, _SEEN, "which Pods stand behind an endpoint"),
        Right(HELM_RELEASE, _SEEN, "identity and uid of the owner"),
        *GATEWAY_RIGHTS,
        _TELLS,
    ),
    _LEADS,
)

_OFFERED = {
    SECRET: "find Secrets with a stale verdict; take their managed label off",
    SERVICE: "the same with Services",
    INGRESS: "the same with Ingresses",
}
_LINEAGE_READS = (
    Right(DEFINITION, _SEEN, "selectors of each application kind", idle=_LISTED),
    Right(HELM_RELEASE, _SEEN, "which release stands for which application", idle=_LISTED),
)

LINEAGE = Account(
    "roadstead-lineage",
    ("lineage",),
    (
        *_LINEAGE_READS,
        Right(NAMESPACE, _SEEN, "the scheduling class of a tenant", idle=_LISTED),
        Right(SCHEDULING_CLASS, ("get",), "whether a scheduling class exists"),
    ),
    (),
    owners=True,
)
REFRESHER = Account(
    "roadstead-refresher",
    ("refresher",),
    (
        *(Right(kind, ("list", "patch"), why) for kind, why in _OFFERED.items()),
        *_LINEAGE_READS,
    ),
    _LEADS,
    owners=True,
)

ACCOUNTS = (ANCHORS, ATTACHMENTS, LINEAGE, REFRESHER)
"""Every account. No right crosses between two: whoever writes Secrets writes no Services."""


def rbac(home: str = HOME, accounts: Iterable[Account] = ACCOUNTS) -> tuple[dict[str, Any], ...]:
    """Namespace, then ServiceAccount, roles and bindings of each account, as they are applied."""
    documents = [document(NAMESPACE.kind, home, api="v1")]
    # Our own Pods must start while the webhook is away. Source: lineage 3.
    documents[0]["metadata"]["labels"][SYSTEM] = "true"
    accounts = tuple(accounts)
    if any(account.owners for account in accounts):
        documents += _owners()
    for account in accounts:
        documents += _granted(account, home)
    return tuple(documents)


def _owners() -> Iterator[dict[str, Any]]:
    """The role that gathers owner kinds, and what it holds without anybody's doing."""
    version = f"{API_GROUP}/v1"
    selector = {"matchLabels": {owners.LABEL: "true"}}
    # No `rules`, not even none: a controller of Kubernetes fills them in, and a second apply would
    # empty them for a moment, or be refused for the conflict.
    yield document(
        "ClusterRole",
        owners.AGGREGATED,
        api=version,
        aggregationRule={"clusterRoleSelectors": [selector]},
    )
    own = document("ClusterRole", owners.DEFAULT, api=version, rules=owners.owner_rules())
    own["metadata"]["labels"][owners.LABEL] = "true"
    yield own


def _granted(account: Account, home: str) -> Iterator[dict[str, Any]]:
    name, version = account.name, f"{API_GROUP}/v1"
    yield document("ServiceAccount", name, api="v1", namespace=home)
    yield document("ClusterRole", name, api=version, rules=_rules(account.cluster))
    yield _binding("ClusterRole", name, home, namespace="")
    if account.owners:
        binding = _binding("ClusterRole", name, home, namespace="", role_name=owners.AGGREGATED)
        binding["metadata"]["name"] = f"{name}-owners"
        yield binding
    if account.home:
        yield document("Role", name, api=version, namespace=home, rules=_rules(account.home))
        yield _binding("Role", name, home, namespace=home)


def _binding(
    role: str, name: str, home: str, *, namespace: str, role_name: str = ""
) -> dict[str, Any]:
    return document(
        f"{role}Binding",
        name,
        api=f"{API_GROUP}/v1",
        namespace=namespace,
        roleRef={"apiGroup": API_GROUP, "kind": role, "name": role_name or name},
        subjects=[{"kind": "ServiceAccount", "name": name, "namespace": home}],
    )


def _rules(rights: Iterable[Right]) -> list[dict[str, Any]]:
    return [rule(right.kind.group, right.resource, right.verbs) for right in rights]


def rule(group: str, resource: str, verbs: Iterable[str]) -> dict[str, Any]:
    """One rule over one resource."""
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def document(kind: str, name: str, *, api: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    """One object with our labels. namespace: empty for a cluster-scoped one."""
    meta: dict[str, Any] = {"name": name}
    if namespace:
        meta["namespace"] = namespace
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {**meta, "labels": dict(LABELS)},
        **rest,
    }
