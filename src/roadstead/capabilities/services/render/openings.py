"""Policies of the extension fields, and those a virtual machine or a login needs.

Source: contract 3.4, 3.5, 3.9; R-NET-02, R-PLAT-03, R-IDP-02.
"""

import re
from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.parts import FORWARD_AUTH, OIDC, VPN
from roadstead.capabilities.services.render import peers, roles
from roadstead.capabilities.services.render.part import AUTH, Rendered, selector
from roadstead.capabilities.services.render.policies import proxied
from roadstead.capabilities.services.snapshot import Snapshot

_HTTPS = 443
_ENVOY_HTTPS = 10443
_NOT_IN_NAMES = re.compile(r"[.:/]")


def cluster_api(seen: Snapshot) -> Iterator[Rendered]:
    """The API server, where the service asks for it."""
    if seen.service.cluster_api:
        yield peers.policy(
            seen,
            f"{seen.service.name}-allow-apiserver-egress",
            selector(seen),
            field="clusterApi",
            role=roles.OPENING,
            egress=[{"toEntities": ["kube-apiserver"]}],
        )


def direct_ports(seen: Snapshot) -> Iterator[Rendered]:
    """Everybody, on the ports that are published past the Gateway."""
    wanted = [(one.port, one.protocol) for one in seen.service.direct_ports]
    if wanted:
        yield peers.policy(
            seen,
            f"{seen.service.name}-allow-direct-ingress",
            selector(seen),
            field="directPorts",
            role=roles.OPENING,
            ingress=[{"fromEntities": ["world"], "toPorts": peers.ports(sorted(wanted))}],
        )


def lan_egress(seen: Snapshot) -> Iterator[Rendered]:
    """One range of the LAN each, on one port."""
    for one in seen.service.lan_egress:
        where = _NOT_IN_NAMES.sub("-", one.cidr)
        rule = {
            "toCIDRSet": [{"cidr": one.cidr}],
            "toPorts": peers.ports([(one.port, one.protocol)]),
        }
        yield peers.policy(
            seen,
            f"{seen.service.name}-allow-lan-{where}-{one.port}-{one.protocol.lower()}-egress",
            selector(seen),
            field=f"lanEgress[{one.key}]",
            role=roles.OPENING,
            egress=[rule],
        )


def importer(seen: Snapshot) -> Iterator[Rendered]:
    """The pod that fetches a machine's image runs in the service's namespace."""
    template = seen.platform.vm_templates.get(seen.service.source.vm_template)
    if (
        not seen.service.is_vm
        or template is None
        or not {"http", "registry"} & set(template.source)
    ):
        return
    yield peers.policy(
        seen,
        f"{seen.service.name}-allow-importer-egress",
        {"cdi.kubevirt.io": "importer"},
        field="source.vmTemplate",
        role=roles.IMPORTER,
        egress=[peers.internet(seen.platform, ipv6=seen.platform.cluster.ipv6)],
    )


def identity(seen: Snapshot) -> Iterator[Rendered]:
    """Whoever logs people in may reach Keycloak."""
    mode = seen.service.auth.mode
    if mode == OIDC:
        # Through the Gateway a VPN service could go around the tunnel (I-4): it asks Keycloak.
        around = seen.service.egress != VPN
        yield _to_identity(seen, selector(seen), through_the_gateway=around)
    elif mode == FORWARD_AUTH:
        yield _to_identity(seen, selector(seen, AUTH), through_the_gateway=False)
        if proxied(seen):
            yield from _proxy_halves(seen)


def _to_identity(seen: Snapshot, selects: dict[str, str], *, through_the_gateway: bool) -> Rendered:
    """Keycloak's pods, and for an application the issuer's public name as well.

    A pod that calls that name is sent to the Gateway's Envoy. Source: contract 3.9.
    """
    settings = seen.platform.identity
    egress: list[dict[str, Any]] = [
        {
            "toEndpoints": peers.pods(settings.namespace, settings.pod_labels),
            "toPorts": peers.tcp([settings.port or _HTTPS]),
        }
    ]
    if through_the_gateway:
        egress.append(_to_gateway(seen))
    return peers.policy(
        seen,
        f"{seen.service.name}-allow-idp-egress",
        selects,
        field="auth.mode",
        role=roles.IDP_EGRESS,
        egress=egress,
    )


def _to_gateway(seen: Snapshot) -> dict[str, Any]:
    gateway = seen.platform.gateway
    if gateway.dataplane != "pods":
        return {"toEntities": ["ingress"], "toPorts": peers.tcp([_HTTPS])}
    # Policies name the pod's port, and Envoy Gateway's proxies serve 443 on a higher one.
    endpoints = peers.pods(gateway.namespace, gateway.pod_labels)
    return {"toEndpoints": endpoints, "toPorts": peers.tcp([_HTTPS, _ENVOY_HTTPS])}


def _proxy_halves(seen: Snapshot) -> Iterator[Rendered]:
    """Between the proxy and the service, both halves, on the routes' ports."""
    name, to_ports = seen.service.name, peers.tcp(seen.service.route_ports)
    auth, main = peers.of_service(seen.platform, name, AUTH), peers.of_service(seen.platform, name)
    yield peers.policy(
        seen,
        f"{name}-allow-auth-ingress",
        selector(seen),
        field="auth.mode",
        role=roles.PROXY_POLICY,
        ingress=[{"fromEndpoints": auth, "toPorts": to_ports}],
    )
    yield peers.policy(
        seen,
        f"{name}-allow-auth-egress",
        selector(seen, AUTH),
        field="auth.mode",
        role=roles.PROXY_POLICY,
        egress=[{"toEndpoints": main, "toPorts": to_ports}],
    )
