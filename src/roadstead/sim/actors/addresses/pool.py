"""Which address of a class is given out next: the smallest that no other object holds."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.shapes import part, text
from roadstead.sim.actors.addresses.views import spec_of

DEFAULT = ("203.0.113.1-203.0.113.254", "2001:db8::1-2001:db8::ffff:ffff:ffff:ffff")
"""What a class without ranges of its own gives out; the documentation's own prefixes."""
Range = tuple[int, int]


def name_of(address: str) -> str:
    """The name of an address's object: its digits, separators as dashes, IPv6 in full."""
    whole = ip_address(address).exploded
    return f"ip-{whole.replace('.', '-').replace(':', '-')}"


def next_free(ip_class: Object, family: str, held: Iterable[Object]) -> str:
    """The smallest address of a family that a class may give out; empty when there is none.

    held: every address object there is; one that is Released is held too.
    Source: endpoint-attachments 2.1 and 11, `parameters`.
    """
    taken = set(_parsed(text(spec_of(one), "address") for one in held))
    parameters = part(spec_of(ip_class), "parameters")
    taken.update(_parsed(_texts(parameters.get("exclude"))))
    version = int(family.removeprefix("IPv"))
    make = IPv4Address if family == "IPv4" else IPv6Address
    ranges = _texts(parameters.get("addresses")) or DEFAULT
    for first, last in sorted(set(_ranges(ranges, version))):
        for number in range(first, last + 1):
            if make(number) not in taken:
                return str(make(number))
    return ""


def _texts(stated: Any) -> tuple[str, ...]:
    return tuple(one for one in stated if isinstance(one, str)) if isinstance(stated, list) else ()


def _parsed(stated: Iterable[str]) -> Iterator[IPv4Address | IPv6Address]:
    for one in stated:
        try:
            yield ip_address(one)
        except ValueError:
            continue


def _ranges(stated: Iterable[str], version: int) -> Iterator[Range]:
    """Read `a-b`, `prefix/length` and single addresses; what is none of them gives nothing."""
    for one in stated:
        try:
            first, last = _ends(one)
        except ValueError:
            continue
        if first.version == last.version == version:
            yield int(first), int(last)


def _ends(stated: str) -> tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address]:
    first, dash, last = stated.partition("-")
    if dash:
        return ip_address(first.strip()), ip_address(last.strip())
    network = ip_network(stated.strip(), strict=False)
    return network[0], network[-1]
