"""The admission policies around the chain, as manifests.

They hold for the controllers as well: on Gateways no account is exempt. A policy refuses the whole
object, so nothing out of the domain may get onto one that is needed. Source: tenant-gateway 2.11.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways.api import GATEWAY_API, HOST_LABEL
from roadstead.capabilities.gateways.chain.names import TENANT, TENANT_PREFIX
from roadstead.kube.cel import literal
from roadstead.kube.refs import Kind

Json = dict[str, Any]

_GROUP = "admissionregistration.k8s.io"
POLICY = Kind(
    "ValidatingAdmissionPolicy", _GROUP, "v1", "validatingadmissionpolicies", namespaced=False
)
BINDING = Kind(
    "ValidatingAdmissionPolicyBinding",
    _GROUP,
    "v1",
    "validatingadmissionpolicybindings",
    namespaced=False,
)
MANAGED = {"internal.cozystack.io/managed-by-cozystack": ""}
TRUSTED = (
    "system:masters",
    *(
        f"system:serviceaccounts:{namespace}"
        for namespace in ("cozy-system", "cozy-cert-manager", "cozy-fluxcd", "kube-system")
    ),
)
"""Who may say which domain is a tenant's."""

GATEWAYS = "cozystack-gateway-hostname-policy"
TENANT_HOST = "cozystack-tenant-host-policy"
NAMESPACE_LABEL = "cozystack-namespace-host-label-policy"
ROUTES = "cozystack-route-hostname-policy"
TLS_ROUTES = "cozystack-tlsroute-hostname-policy"
INGRESSES = "cozystack-ingress-hostname-policy"

_IN_TENANT = f"request.namespace.startsWith('{TENANT_PREFIX}')"
_TRUSTED = "has(request.userInfo.groups) && request.userInfo.groups.exists(one, one in {listed})"
_LISTED = "[" + ", ".join(f"'{group}'" for group in TRUSTED) + "]"


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy. rules: group, versions and resources. where: what else must hold to be asked.

    variables: by name, in order. holds: the expression. says: its message, an expression as well.
    """

    name: str
    rules: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    variables: tuple[tuple[str, str], ...]
    holds: str
    says: str
    where: str = ""


def policies(root_host: str = "") -> tuple[Json, ...]:
    """Every policy with its binding. root_host: without one no Ingress is judged."""
    made: list[Json] = []
    for one in stated(root_host):
        made += (manifest(one), binding(one))
    return tuple(made)


def stated(root_host: str = "") -> tuple[Policy, ...]:
    """The policies as they are meant."""
    known = (_gateways(), _tenant_host(), _namespace_label(), _routes(), _tls_routes())
    return (*known, _ingresses(root_host)) if root_host else known


def manifest(one: Policy) -> Json:
    """The policy as it is applied."""
    spec: Json = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [group],
                    "apiVersions": list(versions),
                    "operations": ["CREATE", "UPDATE"],
                    "resources": list(resources),
                }
                for group, versions, resources in one.rules
            ]
        },
        "variables": [{"name": name, "expression": text} for name, text in one.variables],
        "validations": [
            {"expression": one.holds, "messageExpression": one.says, "reason": "Forbidden"}
        ],
    }
    if one.where:
        spec["matchConditions"] = [{"name": "in-a-tenant", "expression": one.where}]
    return {
        "apiVersion": POLICY.api_version,
        "kind": POLICY.kind,
        "metadata": {"name": one.name, "labels": dict(MANAGED)},
        "spec": spec,
    }


def binding(one: Policy) -> Json:
    """What puts it into force."""
    return {
        "apiVersion": BINDING.api_version,
        "kind": BINDING.kind,
        "metadata": {"name": one.name, "labels": dict(MANAGED)},
        "spec": {"policyName": one.name, "validationActions": ["Deny"]},
    }


def _label_of(thing: str) -> str:
    """The host label of a Namespace as it is written; empty where it has none."""
    labels = f"{thing}.metadata.labels"
    return f"has({labels}) && '{HOST_LABEL}' in {labels} ? {labels}['{HOST_LABEL}'] : ''"


def _within(name: str, domain: str) -> str:
    """Whether a name is a domain, or below it."""
    return f"({name} == {domain} || {name}.endsWith('.' + {domain}))"


_HOST = ("host", f"({_label_of('namespaceObject')}).lowerAscii()")


def _outside(names: str, allowed: str) -> tuple[str, str]:
    return ("outside", f"{names}.map(one, one.lowerAscii()).filter(one, !({allowed}))")


def _first_outside(kind: str) -> str:
    """Say which name it is, and which names would do."""
    return (
        f"'{kind} ' + variables.outside[0] + ' is not within ' + variables.host + "
        f"', the domain of namespace ' + request.namespace + ' (label {HOST_LABEL})'"
    )


def _gateways() -> Policy:
    """Open where a namespace has no domain: a Gateway without one is somebody else's business."""
    names = (
        "has(object.spec.listeners) ? object.spec.listeners"
        ".filter(one, has(one.hostname) && one.hostname != '').map(one, one.hostname) : []"
    )
    allowed = f"variables.host == '' || {_within('one', 'variables.host')}"
    return Policy(
        GATEWAYS,
        (
            (GATEWAY_API, ("v1", "v1beta1"), ("gateways",)),
            (GATEWAY_API, ("v1",), ("listenersets",)),
        ),
        (_HOST, ("names", names), _outside("variables.names", allowed)),
        "variables.outside.size() == 0",
        _first_outside("listener hostname"),
        _IN_TENANT,
    )


_ONLY = "only the platform may set or change "
_UNSET = "has({thing}.spec) && has({thing}.spec.host) ? {thing}.spec.host : ''"


def _changed_by_trusted(
    name: str, rule: tuple[str, tuple[str, ...], tuple[str, ...]], new: str, old: str, what: str
) -> Policy:
    """Let those alone who are trusted change a value; to set it on a new object is a change."""
    return Policy(
        name,
        (rule,),
        (
            ("before", f"request.operation == 'UPDATE' ? ({old}) : ''"),
            ("after", new),
            ("trusted", _TRUSTED.format(listed=_LISTED)),
        ),
        "variables.before == variables.after || variables.trusted",
        literal(f"{_ONLY}{what}: ask its administrators"),
    )


def _tenant_host() -> Policy:
    return _changed_by_trusted(
        TENANT_HOST,
        (TENANT.group, ("*",), (TENANT.plural,)),
        _UNSET.format(thing="object"),
        _UNSET.format(thing="oldObject"),
        "tenant.spec.host",
    )


def _namespace_label() -> Policy:
    return _changed_by_trusted(
        NAMESPACE_LABEL,
        ("", ("v1",), ("namespaces",)),
        # The letters count here: another spelling is another value.
        _label_of("object"),
        _label_of("oldObject"),
        f"the label {HOST_LABEL} of a namespace",
    )


_ROUTE_NAMES = "has(object.spec.hostnames) ? object.spec.hostnames : []"
_IN_DOMAIN = f"variables.host != '' && {_within('one', 'variables.host')}"


def _route_policy(name: str, versions: Sequence[str], resources: Sequence[str]) -> Policy:
    """Closed: a route without names would take every name of its listener."""
    return Policy(
        name,
        ((GATEWAY_API, tuple(versions), tuple(resources)),),
        (_HOST, ("names", _ROUTE_NAMES), _outside("variables.names", _IN_DOMAIN)),
        "variables.names.size() > 0 && variables.outside.size() == 0",
        "variables.names.size() == 0 ? 'spec.hostnames must name at least one host within "
        f"the domain of the namespace' : {_first_outside('hostname')}",
        _IN_TENANT,
    )


def _routes() -> Policy:
    return _route_policy(ROUTES, ("v1", "v1beta1"), ("httproutes", "grpcroutes"))


def _tls_routes() -> Policy:
    return _route_policy(TLS_ROUTES, ("v1", "v1alpha2", "v1alpha3"), ("tlsroutes",))


def _ingresses(root_host: str) -> Policy:
    """Below the platform's own domain a tenant has its part; elsewhere any name but a wildcard."""
    root = literal(root_host.lower())
    names = (
        "has(object.spec.rules) ? object.spec.rules.map(one, has(one.host) ? one.host : '') : []"
    )
    tls = (
        "has(object.spec.tls) ? object.spec.tls.filter(one, has(one.hosts))"
        ".map(one, one.hosts) : []"
    )
    own = f"variables.host != '' && {_within('one', 'variables.host')}"
    # `*.org` covers names below `example.org` without being within it.
    elsewhere = f"one != '' && !one.startsWith('*') && !{_within('one', root)}"
    allowed = f"({own}) || ({elsewhere})"
    uncertified = (
        "variables.tls.exists(hosts, hosts.exists(name, "
        f"[name.lowerAscii()].exists(one, !({allowed}))))"
    )
    return Policy(
        INGRESSES,
        (("networking.k8s.io", ("v1",), ("ingresses",)),),
        (
            _HOST,
            ("names", names),
            ("tls", tls),
            _outside("variables.names", allowed),
            ("uncertified", uncertified),
        ),
        "variables.names.size() > 0 && variables.outside.size() == 0 && !variables.uncertified",
        "variables.outside.size() > 0 && variables.outside[0] != '' ? "
        f"({_first_outside('host')}) : 'an Ingress must have rules, and every rule and every tls "
        "entry hosts within the domain of the namespace'",
        _IN_TENANT,
    )
