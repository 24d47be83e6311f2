"""Rules of routes, logins and groups. Source: contract 3.7, 3.9, 4.1, 4.2."""

from collections.abc import Iterator

from roadstead.capabilities.services.api.findings import WARNING, Finding
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, NATIVE, NO_AUTH, OIDC, TCP
from roadstead.capabilities.services.decide.saying import said
from roadstead.capabilities.services.snapshot import Snapshot

_LOGINS = frozenset({OIDC, FORWARD_AUTH})


def login_names_groups(seen: Snapshot) -> Iterator[Finding]:
    """I-2."""
    auth = seen.service.auth
    if auth.mode in _LOGINS and not auth.groups:
        message = (
            f"auth.mode {auth.mode} needs at least one group: access is being in an authorised"
            " group, not being logged in"
        )
        yield said(seen, "I-2", ("auth", "groups"), message)


def login_has_a_route(seen: Snapshot) -> Iterator[Finding]:
    """P-IDP-04."""
    service = seen.service
    if service.auth.mode in _LOGINS and not service.ingress_routes:
        message = f"auth.mode {service.auth.mode} needs a route to log in at"
        yield said(seen, "P-IDP-04", ("auth", "mode"), message)


def routes_have_a_login(seen: Snapshot) -> Iterator[Finding]:
    """P-IDP-01 and P-IDP-02."""
    service = seen.service
    if not service.ingress_routes:
        return
    if service.auth.mode == NO_AUTH:
        message = f"auth.mode none with routes and exposure {service.exposure}"
        severity = None if service.public else WARNING
        yield said(seen, "P-IDP-01", ("auth", "mode"), message, severity=severity)
    if service.auth.mode == NATIVE and service.name not in seen.platform.identity.native_allowed:
        message = f"{service.name} is not in the platform's `identity.nativeAllowed`"
        yield said(seen, "P-IDP-02", ("auth", "mode"), message)


def oidc_is_narrow(seen: Snapshot) -> Iterator[Finding]:
    """P-IDP-03 and P-IDP-05."""
    service = seen.service
    if service.auth.mode != OIDC:
        return
    if not service.stated("auth", "redirectPaths"):
        message = "`auth.redirectPaths` is not set: `/*` is registered"
        yield said(seen, "P-IDP-03", ("auth", "redirectPaths"), message)
    groups = ", ".join(service.auth.groups) or "the groups"
    message = f"the application must enforce {groups} itself"
    yield said(seen, "P-IDP-05", ("auth", "mode"), message)


def hosts_are_under_the_domain(seen: Snapshot) -> Iterator[Finding]:
    """P-RTE-01: one label, since that is what the wildcard covers."""
    for one in seen.service.ingress_routes:
        label, _, parent = one.host.partition(".")
        if not label or parent != seen.platform.domain:
            message = f"host {one.host} is not LABEL.{seen.platform.domain}"
            yield said(seen, "P-RTE-01", ("ingressRoutes", one.index, "host"), message)


def a_route_has_the_name(seen: Snapshot) -> Iterator[Finding]:
    """P-RTE-02."""
    service = seen.service
    own = f"{service.name}.{seen.platform.domain}"
    if service.ingress_routes and all(one.host != own for one in service.ingress_routes):
        yield said(seen, "P-RTE-02", ("ingressRoutes",), f"no route is {own}")


def public_is_reachable(seen: Snapshot) -> Iterator[Finding]:
    """P-RTE-03 and P-RTE-05."""
    service = seen.service
    if not service.public:
        return
    if not service.ingress_routes and not service.direct_ports:
        message = "exposure public without routes and direct ports"
        yield said(seen, "P-RTE-03", ("exposure",), message)
    if not seen.platform.gateway.public_listener:
        message = (
            "the platform has no `gateway.publicListener`: forwarding the Gateway's port"
            " publishes internal hosts too"
        )
        yield said(seen, "P-RTE-05", ("exposure",), message)


def routes_lead_to_tcp(seen: Snapshot) -> Iterator[Finding]:
    """P-RTE-04."""
    declared = {(one.port, one.protocol) for one in seen.service.ports}
    for one in seen.service.ingress_routes:
        if (one.port, "UDP") in declared and (one.port, TCP) not in declared:
            message = f"`ports` declares {one.port} for UDP only, and routes speak TCP"
            yield said(seen, "P-RTE-04", ("ingressRoutes", one.index, "port"), message)
