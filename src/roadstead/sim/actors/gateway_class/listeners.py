"""What is said of one listener of a Gateway. Source: Gateway API, ListenerStatus."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.kube.conditions import FALSE, TRUE, Condition
from roadstead.kube.shapes import Json, items, part, text
from roadstead.sim.actors.gateway_class.attachment import HTTP, SUPPORTED, TLS, kinds_of, unable

CONFLICT = "ProtocolConflict"
INVALID, BAD_CERTIFICATE = "Invalid", "InvalidCertificateRef"
Faults = Mapping[str, tuple[str, str]]
"""By `namespace/name` of a Secret that is referred to, why it cannot be used: reason, message."""


def conflicting(listeners: Iterable[Json]) -> frozenset[str]:
    """The listeners that cannot stand side by side on their port.

    HTTP shares a port with nothing else; HTTPS and TLS share one as long as no hostname is asked
    for twice. One of them beside the other's wildcard is told apart by who is more specific.
    """
    on_port: dict[Any, list[Json]] = defaultdict(list)
    for one in listeners:
        on_port[one.get("port")].append(one)
    found: set[str] = set()
    for together in on_port.values():
        plain = {text(one, "protocol") == HTTP for one in together}
        if len(plain) > 1:
            found |= {text(one, "name") for one in together}
            continue
        by_name: dict[str, list[Json]] = defaultdict(list)
        for one in together:
            by_name[text(one, "hostname")].append(one)
        for same in by_name.values():
            if len({text(one, "protocol") for one in same}) > 1:
                found |= {text(one, "name") for one in same}
    return frozenset(found)


def conditions(
    listener: Json, place: str, faults: Faults, *, conflicted: bool
) -> tuple[Condition, ...]:
    """Accepted, Programmed, ResolvedRefs and Conflicted of one listener.

    place: the namespace of its Gateway.
    """
    protocol = text(listener, "protocol")
    supported = protocol in SUPPORTED
    accepted = Condition("Accepted", TRUE, "Accepted", "the listener is accepted")
    if conflicted:
        told = f"another listener of port {listener.get('port')} cannot stand beside it"
        accepted = Condition("Accepted", FALSE, CONFLICT, told)
    elif not supported:
        accepted = Condition(
            "Accepted", FALSE, "UnsupportedProtocol", f"{protocol or 'no protocol'} is not served"
        )
    unresolved = _unresolved(listener, place, faults) if supported else ("", "")
    resolved = Condition("ResolvedRefs", TRUE, "ResolvedRefs", "everything it names is there")
    if unresolved[0]:
        resolved = Condition("ResolvedRefs", FALSE, *unresolved)
    certified = unresolved[0] in {"", "InvalidRouteKinds"}
    programmed = Condition("Programmed", TRUE, "Programmed", "the proxy serves it")
    if not accepted.true or not certified:
        told = accepted.message if not accepted.true else resolved.message
        programmed = Condition("Programmed", FALSE, INVALID, told)
    clash = Condition("Conflicted", FALSE, "NoConflicts", "it conflicts with no other listener")
    if conflicted:
        clash = Condition("Conflicted", TRUE, CONFLICT, accepted.message)
    return accepted, programmed, resolved, clash


def _unresolved(listener: Json, place: str, faults: Faults) -> tuple[str, str]:
    """Reason and message of what a listener names and cannot have; a certificate comes first."""
    if (found := next(_of_certificates(listener, place, faults), None)) is not None:
        return found
    if kinds := unable(listener):
        told = f"{text(listener, 'protocol')} carries no {' and no '.join(kinds)}"
        return "InvalidRouteKinds", told
    return "", ""


def _of_certificates(listener: Json, place: str, faults: Faults) -> Iterator[tuple[str, str]]:
    tls = part(listener, "tls")
    protocol = text(listener, "protocol")
    if protocol == HTTP or (protocol == TLS and text(tls, "mode") == "Passthrough"):
        return
    refs = items(tls, "certificateRefs")
    if not refs:
        yield BAD_CERTIFICATE, "it ends TLS and names no certificate"
    for ref in refs:
        if ref.get("group") or ref.get("kind", "Secret") != "Secret":
            yield BAD_CERTIFICATE, "a certificate is a Secret, and it names something else"
            continue
        name = f"{text(ref, 'namespace') or place}/{text(ref, 'name')}"
        if name in faults:
            yield faults[name]


def supported_kinds(listener: Json) -> list[dict[str, str]]:
    """The kinds that a listener carries, as its status lists them."""
    return [{"group": api.GATEWAY_API, "kind": kind} for kind in kinds_of(listener)]
