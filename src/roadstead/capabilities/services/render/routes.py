"""Routes on the shared Gateway, and certificates of their own where they are asked for.

Defaults are written out, so that tools without server-side defaulting see no difference.
Source: contract 3.7, 3.8; R-DNS-01 to 03, R-TLS-01 to 03.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import (
    CERTIFICATE,
    HTTP_ROUTE,
    LISTENER_SET,
    SECURITY_POLICY,
)
from roadstead.capabilities.services.api.parts import DEDICATED, FORWARD_AUTH, Route
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import (
    IDENTITY_FILE,
    ROUTE_FILE,
    Rendered,
    rendered,
)
from roadstead.capabilities.services.render.policies import PROXY_PORT, proxied
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import Kind

GATEWAY_GROUP = HTTP_ROUTE.group
_HTTPS = 443
_HELD = "roadstead-internal"


def routes(seen: Snapshot) -> Iterator[Rendered]:
    """One HTTPRoute a host, with what stands before it."""
    asked_first = seen.service.auth.mode == FORWARD_AUTH and not proxied(seen)
    for route in seen.service.ingress_routes:
        if route.tls == DEDICATED:
            yield from _dedicated(seen, route)
        name, port = seen.service.name, route.port
        if proxied(seen):
            name, port = f"{name}-auth-{port}", PROXY_PORT
        yield _route(seen, route, (name, port))
        if asked_first:
            login = (f"{seen.service.name}-auth", PROXY_PORT)
            yield _route(seen, route, login, suffix="-oauth2", path="/oauth2/")
            yield _asked_first(seen, route)


def _route(
    seen: Snapshot, route: Route, backend: tuple[str, int], *, suffix: str = "", path: str = "/"
) -> Rendered:
    """One HTTPRoute. backend: a Service and its port. suffix: of the name, after the label."""
    service, dns = seen.service, seen.platform.dns
    held = () if service.public else dns.public_guard_prefixes
    rule = {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "backendRefs": [
            {
                "group": "",
                "kind": "Service",
                "name": backend[0],
                "port": backend[1],
                "weight": 1,
            }
        ],
    }
    return rendered(
        seen,
        HTTP_ROUTE,
        f"{route.label}{suffix}",
        file=ROUTE_FILE,
        field=f"ingressRoutes[{route.key}]",
        role=roles.ROUTE,
        rest={
            "spec": {
                "parentRefs": _parents(seen, route),
                "hostnames": [route.host],
                "rules": [rule],
            }
        },
        labels={dns.public_label.key: dns.public_label.value} if service.public else None,
        annotations={f"{prefix}controller": _HELD for prefix in held},
        more=("R-DNS-03",) if service.public else ("R-DNS-02",),
    )


def _parents(seen: Snapshot, route: Route) -> list[dict[str, Any]]:
    """The listeners a route attaches to: never all, since one of them is plain HTTP."""
    if route.tls == DEDICATED:
        return [
            {
                "group": GATEWAY_GROUP,
                "kind": LISTENER_SET.kind,
                "name": route.label,
                "sectionName": route.label,
            }
        ]
    gateway = seen.platform.gateway
    listeners = [gateway.https_listener]
    if seen.service.public and gateway.public_listener:
        listeners.append(gateway.public_listener)
    parent = {
        "group": GATEWAY_GROUP,
        "kind": "Gateway",
        "name": gateway.name,
        "namespace": gateway.namespace,
    }
    return [{**parent, **({"sectionName": one} if one else {})} for one in listeners]


def _dedicated(seen: Snapshot, route: Route) -> Iterator[Rendered]:
    """A certificate and a listener of the route's own."""
    gateway, issuer = seen.platform.gateway, seen.platform.tls.issuer
    secret = f"{route.label}-tls"
    listener = {
        "name": route.label,
        "hostname": route.host,
        "port": _HTTPS,
        "protocol": "HTTPS",
        "tls": {
            "mode": "Terminate",
            "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}],
        },
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    parent = {
        "group": GATEWAY_GROUP,
        "kind": "Gateway",
        "name": gateway.name,
        "namespace": gateway.namespace,
    }
    wanted = {
        "secretName": secret,
        "dnsNames": [route.host],
        "issuerRef": {"group": CERTIFICATE.group, "kind": issuer.kind, "name": issuer.name},
    }
    yield _own(seen, route, LISTENER_SET, {"parentRef": parent, "listeners": [listener]})
    yield _own(seen, route, CERTIFICATE, wanted)


def _own(seen: Snapshot, route: Route, kind: Kind, spec: dict[str, Any]) -> Rendered:
    return rendered(
        seen,
        kind,
        route.label,
        file=ROUTE_FILE,
        field=f"ingressRoutes[{route.key}].tls",
        role=roles.DEDICATED_TLS,
        rest={"spec": spec},
    )


def _asked_first(seen: Snapshot, route: Route) -> Rendered:
    """Envoy asks the proxy before it calls the service, and closes when there is no answer."""
    spec = {
        "targetRefs": [{"group": GATEWAY_GROUP, "kind": HTTP_ROUTE.kind, "name": route.label}],
        "extAuth": {
            "failOpen": False,
            "headersToExtAuth": [
                "cookie",
                "x-forwarded-host",
                "x-forwarded-proto",
                "x-forwarded-uri",
            ],
            "http": {
                "backendRefs": [{"name": f"{seen.service.name}-auth", "port": PROXY_PORT}],
                "headersToBackend": [
                    "x-auth-request-email",
                    "x-auth-request-groups",
                    "x-auth-request-user",
                ],
            },
        },
    }
    return rendered(
        seen,
        SECURITY_POLICY,
        route.label,
        file=IDENTITY_FILE,
        field="auth.mode",
        role=roles.PROXY,
        rest={"spec": spec},
    )
