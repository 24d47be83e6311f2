"""Broken places of the chain from platform values to TenantGateways: tenant-gateway 2 and 9."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attachment_mutants import Mutant, Patch, always, inverted, passing
from gateway_row_mutants import guard
from roadstead.capabilities.gateways.chain import classes, gateway, providers, tenants, values
from roadstead.capabilities.gateways.chain.findings import GATEWAY_REFUSED, ISSUER_REFUSED, refused
from roadstead.capabilities.gateways.fields import (
    DEFAULT_CLASS,
    DNS01,
    EDGE,
    EXISTING_SECRET,
    HTTP01,
)

# The package gives functions the names of the modules they live in.
CHAIN = "roadstead.capabilities.gateways.chain"
issuers, policies, release, remarks, resolve = (
    sys.modules[f"{CHAIN}.{name}"]
    for name in ("issuers", "policies", "release", "remarks", "resolve")
)
TABLE, TENANTS, VALUES, POLICIES = (
    f"tests/rules/test_gateway_{name}.py"
    for name in ("chain", "chain_tenants", "chain_values", "policies")
)


def broken_rules() -> Iterator[Mutant]:
    """Each rule of a release and of the issuers, lenient and contrary."""
    for place, reason, by in (
        (gateway, GATEWAY_REFUSED, TABLE),
        (issuers, ISSUER_REFUSED, TENANTS),
    ):
        for rule in place.RULES:
            for way, broken in (
                ("lets all pass", passing(rule)),
                ("inverted", inverted(rule, reason)),
            ):
                every = tuple(broken if one is rule else one for one in place.RULES)
                name = f"chain: {place.__name__.rpartition('.')[2]} {rule.__name__}: {way}"
                yield guard(name, (place, "RULES", every), by=by)


def untrimmed(joined: str) -> tuple[str, ...]:
    """Names as they stand between commas."""
    return tuple(joined.split(","))


def as_written(cluster: Any) -> str:
    """The platform's class with its blanks."""
    return str(cluster.get("gateway-class-name") or DEFAULT_CLASS)


def default_alone(cluster: Any) -> tuple[str, ...]:
    """A tenant may name nothing but the default."""
    return (classes.default_class(cluster),)


def listed_alone(cluster: Any) -> tuple[str, ...]:
    """The default is no class that a tenant may name."""
    return real_allowed(cluster)[1:]


def in_small_letters(cluster: Any) -> tuple[str, ...]:
    """Names of classes are compared whatever their letters."""
    return tuple(name.lower() for name in real_edges(cluster))


def mode_first(*order: str) -> Any:
    """Modes decided in another order."""

    def mode(cluster: Any, name: str) -> str:
        holds = {
            EDGE: name in classes.edge_classes(cluster),
            EXISTING_SECRET: bool(cluster.get("wildcard-secret-name")),
            DNS01: classes.solver_of(cluster) == DNS01,
        }
        return next((one for one in order if holds[one]), HTTP01)

    return mode


def in_both(name: str, change: Any, *places: Any) -> tuple[Patch, ...]:
    """A function changed where it is made and where it is used."""
    return tuple((place, name, change) for place in (classes, *places))


def either_type(self: Any, path: Any, default: str = "") -> str:
    """A value that is no text is taken as one."""
    found = self._at(path)
    return str(found) if found else default


def no_refusal(words: str) -> Patch:
    """One word of the values' reader that refuses nothing."""
    refuse = values._Reading._refuse

    def lenient(self: Any, path: Any, says: str) -> None:
        if words not in says:
            refuse(self, path, says)

    return (values._Reading, "_refuse", lenient)


def named_alone(named: str, cluster: Any, *, asked: bool) -> dict[str, str]:
    """A platform never has its own wildcard issued."""
    return dict(real_wildcard(named, cluster, asked=asked and False))


def issued_always(named: str, cluster: Any, *, asked: bool) -> dict[str, str]:
    """Whoever asks for a wildcard has it issued."""
    return dict(real_wildcard(named, {**cluster, "solver": DNS01}, asked=asked))


def issued_beside_gateways(named: str, cluster: Any, *, asked: bool) -> dict[str, str]:
    """A platform that publishes through Gateways has its wildcard issued."""
    return dict(real_wildcard(named, {**cluster, "gateway-enabled": "false"}, asked=asked))


def without(*keys: str) -> Patch:
    """A TenantGateway without some fields."""

    def lacking(seen: Any) -> Any:
        made = real_gateway(seen)
        return {**made, "spec": {k: v for k, v in made["spec"].items() if k not in keys}}

    return (gateway, "tenant_gateway", lacking)


def always_with(**fields: Any) -> Patch:
    """A TenantGateway with some fields, whatever its mode."""

    def having(seen: Any) -> Any:
        made = real_gateway(seen)
        return {**made, "spec": {**fields, **made["spec"]}}

    return (gateway, "tenant_gateway", having)


def attached_to_all(seen: Any) -> Any:
    """Every tenant lists the platform's namespaces."""
    made = real_gateway(seen)
    listed = list(classes.split(seen.cluster.get("gateway-attached-namespaces", "")))
    return {**made, "spec": {**made["spec"], "attachedNamespaces": listed}}


def never_owns(above: Any, one: Any) -> Any:
    """A tenant's own Gateway is nobody's."""
    return replace(real_below(above, one), owner=above.owner)


def nobody_inherits(above: Any, one: Any) -> Any:
    """A tenant without a Gateway publishes through nobody."""
    found = real_below(above, one)
    return found if one.gateway else replace(found, owner="")


def nearest_host(above: Any, one: Any) -> Any:
    """A tenant has the domain of the one above."""
    return replace(real_below(above, one), host=one.host or above.host)


def own_hosts_alone(above: Any, one: Any) -> Any:
    """No domain is derived."""
    return replace(real_below(above, one), host=one.host)


def truthy(ref: Any, body: Any) -> Any:
    """Whatever is stated owns a Gateway, and nothing is wrong with it."""
    found = real_tenant(ref, body)
    return replace(found, gateway=bool((body.get("spec") or {}).get("gateway")), problems=())


def pinned(cluster: Any) -> Any:
    """The solver names the plain listener whatever the class."""
    made = real_solver(cluster)
    if "gatewayHTTPRoute" in made.get("http01", {}):
        made["http01"]["gatewayHTTPRoute"]["parentRefs"][0]["sectionName"] = "http"
    return made


def unpinned(cluster: Any) -> Any:
    """The solver never names a section."""
    made = real_solver(cluster)
    if "gatewayHTTPRoute" in made.get("http01", {}):
        made["http01"]["gatewayHTTPRoute"]["parentRefs"][0].pop("sectionName", None)
    return made


def with_empty_reference(cluster: Any) -> Any:
    """A reference to a Secret without a name."""
    made = providers._route53(cluster)
    return made | {"secretAccessKeySecretRef": {"name": "", "key": "secret-access-key"}}


def keyed_always(namespace: str, chosen: str = "") -> Any:
    """The key of the class is there whatever the tenant chose."""
    made = real_release(namespace, chosen)
    made["spec"]["values"] = {"gatewayClassName": chosen}
    return made


def letting(name: str) -> Mutant:
    """A policy that lets every request through."""
    stated = policies.stated

    def lenient(root_host: str = "") -> Any:
        return tuple(
            replace(one, holds="true") if one.name == name else one for one in stated(root_host)
        )

    return guard(f"chain: {name} lets all pass", (policies, "stated", lenient), by=POLICIES)


def everywhere(name: str) -> Mutant:
    """A policy that is asked outside tenants too."""
    stated = policies.stated

    def wide(root_host: str = "") -> Any:
        return tuple(
            replace(one, where="") if one.name == name else one for one in stated(root_host)
        )

    return guard(f"chain: {name} is asked everywhere", (policies, "stated", wide), by=POLICIES)


real_allowed, real_edges = classes.allowed_classes, classes.edge_classes
real_wildcard, real_gateway = values._wildcard, gateway.tenant_gateway
real_below, real_tenant = tenants._below, tenants.tenant_of
real_solver, real_release = issuers.solver_for, release.release
NAMED = (policies.GATEWAYS, policies.TENANT_HOST, policies.NAMESPACE_LABEL)
ROUTED = (policies.ROUTES, policies.TLS_ROUTES, policies.INGRESSES)
SILENT: dict[str, Any] = {
    "_unpublished": always(()),
    "_without_gateway": always(()),
    "_clear_text": always(()),
    "_unused": always(()),
    "_not_installed": always(()),
}
GUARDS = (
    guard("chain: names keep their blanks", *in_both("split", untrimmed, gateway, remarks),
          by=TABLE),
    guard("chain: the default keeps its blanks",
          *in_both("default_class", as_written, gateway, issuers, remarks), by=TABLE),
    guard("chain: the list allows nothing",
          *in_both("allowed_classes", default_alone, gateway), by=TABLE),
    guard("chain: the default is not allowed",
          *in_both("allowed_classes", listed_alone, gateway), by=TABLE),
    guard("chain: letters do not count",
          *in_both("edge_classes", in_small_letters, gateway, issuers, remarks), by=TABLE),
    guard("chain: no class is an edge", *in_both("edge_classes", always(()), gateway), by=TABLE),
    guard("chain: the wildcard comes before the edge",
          *in_both("mode_of", mode_first(EXISTING_SECRET, EDGE, DNS01), gateway), by=TABLE),
    guard("chain: the solver comes before the wildcard",
          *in_both("mode_of", mode_first(EDGE, DNS01, EXISTING_SECRET), gateway), by=TABLE),
    guard("chain: the solver is not asked",
          *in_both("mode_of", mode_first(EDGE, EXISTING_SECRET), gateway), by=TABLE),
    guard("chain: nobody hears what was meant", (gateway, "did_you_mean", always("")),
          by=TABLE),
    guard("chain: every type is a text", (values._Reading, "text", either_type), by=VALUES),
    *(
        guard(f"chain: values that {words} pass", no_refusal(words), by=VALUES)
        for words in ("must be a string", "must name a GatewayClass", "must be true or false",
                      "must be a list", "must hold strings", "must hold one name", "must be a map")
    ),
    guard("chain: no wildcard is issued", (values, "_wildcard", named_alone), by=VALUES),
    guard("chain: a wildcard without DNS", (values, "_wildcard", issued_always), by=VALUES),
    guard("chain: a wildcard beside Gateways", (values, "_wildcard", issued_beside_gateways),
          by=VALUES),
    guard("chain: no issuer is named", without("issuerName"), by=TABLE),
    guard("chain: an issuer in every mode", always_with(issuerName="letsencrypt-prod"), by=TABLE),
    guard("chain: no provider", without("dns01"), by=TABLE),
    guard("chain: no Secret is named", without("wildcardSecretRef"), by=TABLE),
    guard("chain: no namespace is attached", without("attachedNamespaces"), by=TABLE),
    guard("chain: all tenants attach", (gateway, "tenant_gateway", attached_to_all), by=TABLE),
    guard("chain: no service passes through", without("tlsPassthroughServices"), by=TABLE),
    guard("chain: the edge passes through", always_with(tlsPassthroughServices=["api"]), by=TABLE),
    guard("chain: nothing is missing", (gateway, "missing", always("")),
          (issuers, "missing", always("")), by=TABLE),
    guard("chain: an empty reference", (
        providers, "_BLOCKS", {**providers._BLOCKS, "route53": with_empty_reference}), by=TABLE),
    guard("chain: own Gateways are nobody's", (tenants, "_below", never_owns), by=TENANTS),
    guard("chain: nobody inherits", (tenants, "_below", nobody_inherits), by=TENANTS),
    guard("chain: domains are shared", (tenants, "_below", nearest_host), by=TENANTS),
    guard("chain: no domain is derived", (tenants, "_below", own_hosts_alone), by=TENANTS),
    guard("chain: every type of a Tenant will do", (resolve, "place_all", resolve.place_all),
          *((place, "tenant_of", truthy) for place in (tenants, sys.modules[CHAIN])), by=TENANTS),
    guard("chain: tenants have no problems", (tenants, "_no", lambda ref, _says: refused(
        "tenant-fits", GATEWAY_REFUSED, "", ref)), by=TENANTS),
    guard("chain: root always owns", (tenants, "YES", "false"), by=TENANTS),
    guard("chain: the solver is always pinned", (issuers, "solver_for", pinned), by=TENANTS),
    guard("chain: the solver is never pinned", (issuers, "solver_for", unpinned), by=TENANTS),
    guard("chain: the class is always in the values", (release, "release", keyed_always),
          (sys.modules[CHAIN], "release", keyed_always), by=TENANTS),
    *(
        guard(f"chain: no remark of {name}", (remarks, name, change), by=VALUES)
        for name, change in SILENT.items()
    ),
    guard("chain: remarks do not guess", (remarks, "did_you_mean", always("")), by=VALUES),
    *(letting(name) for name in (*NAMED, *ROUTED)),
    *(everywhere(name) for name in (policies.GATEWAYS, *ROUTED)),
    guard("chain: everybody is trusted", (policies, "_TRUSTED", "true || [{listed}].size() > 0"),
          by=POLICIES),
    guard("chain: nobody is trusted", (policies, "_TRUSTED", "false && [{listed}].size() > 0"),
          by=POLICIES),
    guard("chain: routes need no names", (policies, "_within", lambda *_: "true"), by=POLICIES),
)  # fmt: skip
MUTANTS = (*broken_rules(), *GUARDS)
