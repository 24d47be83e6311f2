"""Listeners of a Gateway, mode by mode, and the passthrough set that verdicts are judged by.

Each listener owns its values: changing one never changes another. Source: tenant-gateway 3.1, 3.3.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import DNS01, EDGE, EXISTING_SECRET, HTTP01
from roadstead.capabilities.gateways.snapshot import Asked, Snapshot
from roadstead.kube.hostnames import WILDCARD, digest, first_label, is_within
from roadstead.kube.names import SUBDOMAIN_CHARACTERS, is_subdomain

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Passthrough:
    """One listener whose TLS ends behind it.

    tenant_only: it admits routes of the gateway's own namespace alone. stated: as the user wrote
    it, for messages.
    """

    section: str
    port: int
    hostname: str
    tenant_only: bool
    stated: str


def passthrough(asked: Asked) -> tuple[Passthrough, ...]:
    """The passthrough listeners a spec renders, in order; none in mode edge."""
    if asked.mode == EDGE:
        return ()
    services = (
        Passthrough(
            f"{api.PASSTHROUGH_PREFIX}{name}",
            443,
            f"{name}.{asked.apex}",
            tenant_only=False,
            stated=f"tlsPassthroughServices entry `{name}`",
        )
        for name in asked.services
    )
    ports = (
        Passthrough(
            f"{api.PASSTHROUGH_PREFIX}{one.name}",
            one.port,
            one.hostname,
            tenant_only=True,
            stated=f"tlsPassthroughListeners entry `{one.name}`",
        )
        for one in (asked.listeners if asked.mode == HTTP01 else ())
    )
    return (*services, *ports)


def section_of(hostname: str) -> str:
    """The listener that ends TLS for one hostname."""
    return f"https-{first_label(hostname)}-{digest(hostname)}"


def certificate_of(gateway: str, hostname: str) -> str:
    """The Certificate of one hostname, and its Secret."""
    return f"{gateway}-{first_label(hostname)}-{digest(hostname)}-tls"


def wildcard_of(seen: Snapshot) -> str:
    """The Secret of the wildcard listeners; empty where the spec names none."""
    return f"{seen.name}-gateway-tls" if seen.asked.mode == DNS01 else seen.asked.secret


def children(seen: Snapshot) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The child apexes, sorted, and the namespaces whose host cannot be one. 3.4."""
    inside, outside = set(), set()
    for name, namespace in seen.namespaces.items():
        host = namespace.labels.get(api.HOST_LABEL, "").lower()
        mine = namespace.labels.get(api.ATTACH_LABEL) == seen.namespace
        if not mine or name == seen.namespace or not host or host == seen.asked.apex:
            continue
        # Its listener and its certificate name everything below it, and that is longer.
        room = len(f"{WILDCARD}{host}") <= SUBDOMAIN_CHARACTERS
        if is_within(host, seen.asked.apex) and is_subdomain(host) and room:
            inside.add(host)
        else:
            outside.add((name, host))
    return tuple(sorted(inside)), tuple(sorted(outside))


def listeners(seen: Snapshot, hostnames: Iterable[str]) -> list[Json]:
    """Every listener, in order. hostnames: those that mode http01 ends TLS for."""
    asked = seen.asked
    if asked.mode == EDGE:
        return [_edge(seen, section, host) for section, host in _whole_apex(seen, "edge")]
    made = [_plain(seen)]
    if asked.mode == HTTP01:
        made += [
            _terminate(seen, section_of(host), host, certificate_of(seen.name, host))
            for host in sorted(hostnames)
        ]
    if asked.mode in {DNS01, EXISTING_SECRET}:
        secret = wildcard_of(seen)
        made += [
            _terminate(seen, section, host, secret) for section, host in _whole_apex(seen, "https")
        ]
    return [*made, *(_passthrough(seen, one) for one in passthrough(asked))]


def _whole_apex(seen: Snapshot, prefix: str) -> Iterator[tuple[str, str]]:
    apex = seen.asked.apex
    yield prefix, f"{WILDCARD}{apex}"
    yield f"{prefix}-apex", apex
    for child in children(seen)[0]:
        yield f"{prefix}-child-{first_label(child)}-{digest(child)}", f"{WILDCARD}{child}"


def _by_label(seen: Snapshot) -> Json:
    selector = {"matchLabels": {api.ATTACH_LABEL: seen.namespace}}
    return {"from": "Selector", "selector": selector}


def _by_name(*names: str) -> Json:
    term = {"key": api.NAME_LABEL, "operator": "In", "values": list(dict.fromkeys(names))}
    return {"from": "Selector", "selector": {"matchExpressions": [term]}}


def _kinds(*kinds: str) -> list[Json]:
    return [{"group": api.GATEWAY_API, "kind": kind} for kind in kinds]


def _plain(seen: Snapshot) -> Json:
    return {
        "name": api.PLAIN,
        "port": 80,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": _by_name(seen.namespace, api.CERT_MANAGER)},
    }


def _terminate(seen: Snapshot, section: str, hostname: str, secret: str) -> Json:
    return {
        "name": section,
        "port": 443,
        "protocol": "HTTPS",
        "hostname": hostname,
        "tls": {
            "mode": "Terminate",
            "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}],
        },
        "allowedRoutes": {
            "namespaces": _by_label(seen),
            "kinds": _kinds("HTTPRoute", "TLSRoute"),
        },
    }


def _passthrough(seen: Snapshot, one: Passthrough) -> Json:
    allowed: Json = {"namespaces": _by_name(seen.namespace)}
    if not one.tenant_only:
        allowed = {"namespaces": _by_label(seen), "kinds": _kinds("HTTPRoute", "TLSRoute")}
    return {
        "name": one.section,
        "port": one.port,
        "protocol": "TLS",
        "hostname": one.hostname,
        "tls": {"mode": "Passthrough"},
        "allowedRoutes": allowed,
    }


def _edge(seen: Snapshot, section: str, hostname: str) -> Json:
    return {
        "name": section,
        "port": 80,
        "protocol": "HTTP",
        "hostname": hostname,
        "allowedRoutes": {"namespaces": _by_label(seen), "kinds": _kinds("HTTPRoute")},
    }
