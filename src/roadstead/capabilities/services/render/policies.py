"""What a namespace may reach and who may reach it.

The baseline closes everything; each policy beside it opens what one field of a definition names.
Source: contract 3.3, 3.4; R-NET-01, R-NET-02, R-NET-04, R-NET-05, R-NET-06.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import (
    CILIUM_POLICY,
    EGRESS_GATEWAY_POLICY,
    NETWORK_POLICY,
)
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, INTERNET, VPN
from roadstead.capabilities.services.render import peers, roles
from roadstead.capabilities.services.render.part import (
    AUTH,
    PLATFORM,
    POLICY_FILE,
    Rendered,
    rendered,
    selector,
)
from roadstead.capabilities.services.snapshot import Snapshot

PROXY_PORT = 4180
VPN_PROXY = "proxy"
"""The port of oauth2-proxy; the mode of a VPN that is reached through an HTTP proxy."""


def proxied(seen: Snapshot) -> bool:
    """Tell whether oauth2-proxy stands between the Gateway and the service."""
    forward = seen.service.auth.mode == FORWARD_AUTH
    return forward and seen.platform.identity.forward_auth.mode == "proxy"


def baseline(seen: Snapshot) -> Iterator[Rendered]:
    """Deny everything in both directions.

    Native by default: as a CiliumNetworkPolicy an empty list means nothing at all, so that form
    has an explicit empty peer list instead. Source: contract 3.3.
    """
    if seen.platform.network.baseline == CILIUM_POLICY.kind:
        kind, spec = CILIUM_POLICY, _cilium_baseline()
    else:
        kind = NETWORK_POLICY
        spec = {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            "egress": [],
        }
    yield rendered(
        seen,
        kind,
        "default-deny",
        file=POLICY_FILE,
        field=PLATFORM,
        role=roles.BASELINE,
        rest={"spec": spec},
    )


def _cilium_baseline() -> dict[str, Any]:
    return {
        "endpointSelector": {},
        "enableDefaultDeny": {"ingress": True, "egress": True},
        "ingress": [{"fromEntities": []}],
        "egress": [{"toEntities": []}],
    }


def resolver(seen: Snapshot) -> Iterator[Rendered]:
    """Names may be asked for, of the cluster's resolver alone."""
    settings = seen.platform.network.resolver
    to_ports = peers.ports((settings.port, protocol) for protocol in ("UDP", "TCP"))
    if settings.l7:
        to_ports[0]["rules"] = {"dns": [{"matchPattern": "*"}]}
    endpoints = peers.pods(settings.namespace, settings.pod_labels)
    egress: list[dict[str, Any]] = [{"toEndpoints": endpoints, "toPorts": to_ports}]
    if settings.node_local:
        egress.append({"toEntities": ["host", "remote-node"], "toPorts": to_ports})
    yield peers.policy(seen, "allow-dns", {}, field=PLATFORM, role=roles.RESOLVER, egress=egress)


def scraping(seen: Snapshot) -> Iterator[Rendered]:
    """The scrapers may reach the metrics port, where there is one."""
    port = seen.service.scraped_port
    if port is None:
        return
    rule = {
        "fromEndpoints": peers.pods(seen.platform.observability.namespace),
        "toPorts": peers.tcp([port]),
    }
    yield peers.policy(
        seen,
        "allow-monitoring-scrape",
        selector(seen),
        field="observability.metrics",
        role=roles.SCRAPING,
        ingress=[rule],
    )


def gateway(seen: Snapshot) -> Iterator[Rendered]:
    """The Gateway may reach the routes' ports, or the proxy that stands in front of them."""
    service = seen.service
    if not service.ingress_routes:
        return
    selects, numbers = selector(seen), list(service.route_ports)
    if proxied(seen):
        selects, numbers = selector(seen, AUTH), [PROXY_PORT]
    elif service.auth.mode == FORWARD_AUTH:
        # Both components: the Gateway asks the proxy first and calls the service itself.
        key = f"{seen.platform.label_prefix}/service"
        selects, numbers = {key: service.name}, sorted({*numbers, PROXY_PORT})
    yield peers.policy(
        seen,
        f"{service.name}-allow-gateway-ingress",
        selects,
        field="ingressRoutes",
        role=roles.GATEWAY_ALLOW,
        ingress=[{**peers.from_gateway(seen.platform), "toPorts": peers.tcp(numbers)}],
    )


def in_cluster_clients(seen: Snapshot) -> Iterator[Rendered]:
    """One namespace of platform controllers each, on one port."""
    for client in seen.service.in_cluster_clients:
        rule = {
            "fromEndpoints": peers.pods(client.namespace),
            "toPorts": peers.ports([(client.port, client.protocol)]),
        }
        yield peers.policy(
            seen,
            f"{seen.service.name}-allow-{client.name}-ingress",
            selector(seen),
            field=f"inClusterClients[{client.key}]",
            role=roles.DIRECT_CLIENT,
            ingress=[rule],
        )


def dependencies(seen: Snapshot) -> Iterator[Rendered]:
    """The caller's half of each edge."""
    service, platform = seen.service, seen.platform
    for one in service.dependencies:
        outside = platform.platform_services.get(one.to)
        if seen.catalog.get(one.to) is None and outside is not None:
            endpoints = peers.pods(outside.namespace, outside.pod_labels)
        else:
            endpoints = peers.of_service(platform, one.to)
        rule = {"toEndpoints": endpoints, "toPorts": peers.ports([(one.port, one.protocol)])}
        name = f"{service.name}-allow-{one.to}-{one.port}-{one.protocol.lower()}-egress"
        yield peers.policy(
            seen,
            name,
            selector(seen),
            field=f"dependencies[{one.key}]",
            role=roles.DEPENDENCY,
            egress=[rule],
        )


def callers(seen: Snapshot) -> Iterator[Rendered]:
    """The callee's half of each edge, from the caller's declaration."""
    name = seen.service.name
    for caller, one in seen.catalog.callers_of(name):
        rule = {
            "fromEndpoints": peers.of_service(seen.platform, caller.name),
            "toPorts": peers.ports([(one.port, one.protocol)]),
        }
        yield peers.policy(
            seen,
            f"{name}-allow-from-{caller.name}-{one.port}-{one.protocol.lower()}",
            selector(seen),
            field=f"dependencies[{one.key}]",
            role=roles.DEPENDENCY,
            ingress=[rule],
            cause=caller,
        )


def egress(seen: Snapshot) -> Iterator[Rendered]:
    """The north-south class."""
    service, platform = seen.service, seen.platform
    if service.egress == INTERNET:
        yield peers.policy(
            seen,
            f"{service.name}-allow-internet-egress",
            selector(seen),
            field="egress",
            role=roles.INTERNET,
            egress=[peers.internet(platform, ipv6=platform.cluster.ipv6)],
        )
    elif service.egress == VPN:
        yield from _vpn(seen)


def _vpn(seen: Snapshot) -> Iterator[Rendered]:
    """The tunnel and nothing around it. Source: contract 3.4, I-4."""
    service, vpn = seen.service, seen.platform.egress.vpn
    proxy = vpn.proxy
    if vpn.mode == VPN_PROXY and proxy is not None:
        endpoints = peers.pods(proxy.namespace, proxy.pod_labels)
        rule: dict[str, Any] = {"toEndpoints": endpoints, "toPorts": peers.tcp([proxy.port])}
    else:
        rule = peers.internet(seen.platform, ipv6=vpn.ipv6)
    yield peers.policy(
        seen,
        f"{service.name}-allow-vpn-egress",
        selector(seen),
        field="egress",
        role=roles.VPN,
        egress=[rule],
    )
    if vpn.mode == VPN_PROXY:
        return
    labels = {"io.kubernetes.pod.namespace": service.name, **selector(seen)}
    # Cilium ignores a policy that states both an interface and an address.
    way = {"interface": vpn.interface} if vpn.interface else {"egressIP": vpn.egress_ip}
    node = {key: vpn.node_selector[key] for key in sorted(vpn.node_selector)}
    spec = {
        "selectors": [{"podSelector": {"matchLabels": labels}}],
        "destinationCIDRs": ["0.0.0.0/0", "::/0"] if vpn.ipv6 else ["0.0.0.0/0"],
        "egressGateway": {"nodeSelector": {"matchLabels": node}, **way},
    }
    yield rendered(
        seen,
        EGRESS_GATEWAY_POLICY,
        f"{service.name}-vpn",
        file=POLICY_FILE,
        field="egress",
        role=roles.VPN,
        rest={"spec": spec},
    )
