"""Rules of egress classes and of the LAN. Source: contract 3.4, 4.2."""

from collections.abc import Iterator
from ipaddress import ip_network

from roadstead.capabilities.services.api.findings import ERROR, Finding
from roadstead.capabilities.services.api.parts import VPN
from roadstead.capabilities.services.decide.saying import said
from roadstead.capabilities.services.snapshot import Snapshot


def vpn_is_used_where_required(seen: Snapshot) -> Iterator[Finding]:
    """P-NET-01."""
    service = seen.service
    if service.name in seen.platform.egress.vpn.required_for and service.egress != VPN:
        message = f"{service.name} must use egress vpn, not {service.egress}"
        yield said(seen, "P-NET-01", ("egress",), message, hint="set `egress: vpn`")


def vpn_has_no_open_start(seen: Snapshot) -> Iterator[Finding]:
    """P-NET-02: without a pool of its own a starting pod may send before it is steered."""
    vpn = seen.platform.egress.vpn
    if seen.service.egress == VPN and vpn.mode == "egress-gateway" and not vpn.ip_pool:
        message = "`egress.vpn.ipPool` is not set: a starting pod may send before it is steered"
        yield said(seen, "P-NET-02", ("egress",), message)


def vpn_has_no_other_way(seen: Snapshot) -> Iterator[Finding]:
    """P-NET-03, once for each field that goes around the tunnel."""
    service = seen.service
    if service.egress != VPN:
        return
    for name, found in (("directPorts", service.direct_ports), ("lanEgress", service.lan_egress)):
        if found:
            message = f"`{name}` goes around the tunnel of egress vpn"
            yield said(seen, "P-NET-03", (name,), message)


def vpn_resolves_outside(seen: Snapshot) -> Iterator[Finding]:
    """P-NET-06."""
    if seen.service.egress == VPN:
        message = "names are resolved by the cluster resolver, outside the tunnel"
        yield said(seen, "P-NET-06", ("egress",), message)


def lan_hosts_are_of_the_lan(seen: Snapshot) -> Iterator[Finding]:
    """S-06 of `lanEgress[].cidr`: within a range that does not count as the internet."""
    if not seen.service.lan_egress:
        return
    ranges = [ip_network(one) for one in seen.platform.egress.except_cidrs]
    for one in seen.service.lan_egress:
        asked = ip_network(one.cidr)
        if any(_within(asked, one_range) for one_range in ranges):
            continue
        message = (
            f"`lanEgress[{one.index}].cidr`: {one.cidr} is outside the platform's"
            f" `egress.internet.exceptCIDRs` ({', '.join(seen.platform.egress.except_cidrs)})"
        )
        path = ("lanEgress", one.index, "cidr")
        yield said(seen, "S-06", path, message, severity=ERROR)


def _within(asked: object, whole: object) -> bool:
    """Tell whether one range lies in another of the same family."""
    if type(asked) is not type(whole):
        return False
    return asked.subnet_of(whole)  # type: ignore[attr-defined, no-any-return]  # same family
