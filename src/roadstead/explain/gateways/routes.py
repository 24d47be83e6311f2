"""How a route's part of a gateway's decision is told: listener by listener, name by name."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import ROUTE_SERVED
from roadstead.capabilities.gateways.decide.units import Unit, is_redirect, units_of
from roadstead.capabilities.gateways.decide.verdicts import Cause
from roadstead.capabilities.gateways.snapshot import Route
from roadstead.capabilities.gateways.snapshot.views import NAMESPACES, gateway_of
from roadstead.decision import Decision, Finding, Reader, Verdict
from roadstead.errors import ClusterError
from roadstead.explain.commands import label, patch
from roadstead.explain.gateways.known import Known, know
from roadstead.explain.gateways.next import of_route
from roadstead.explain.subject import Listener, Next, Part, Told
from roadstead.kube.conditions import condition_of
from roadstead.kube.hostnames import overlap
from roadstead.kube.refs import NAMESPACE, Ref
from roadstead.kube.shapes import Json, items, part, text
from roadstead.kube.times import format_age, parse_time

UNJUDGED = "Unjudged"
"""What a route is called of which nothing is said."""


Names = tuple[tuple[str, Cause | None], ...]
"""Each hostname of a unit, with why it is not served."""


async def parts(
    reader: Reader, key: Ref, decision: Decision, about: Ref | None
) -> tuple[Part, ...]:
    """Every parentRef that is judged, and every route that names the gateway in vain."""
    known = await know(reader, key)
    if known is None:
        return ()
    units = defaultdict(list)
    for unit in known.judged:
        if about in {None, unit.route.ref}:
            units[unit.route.ref].append(unit)
    found, rendered = [], known.listeners
    for finding in decision.findings:
        if finding.rule == ROUTE_SERVED and units[finding.refs[0]]:
            unit = units[finding.refs[0]].pop(0)
            found.append(Part(unit.route.ref, (finding,), told(known, unit, finding, rendered)))
    judged = {one.about for one in found}
    for route in known.seen.routes:
        named = any(_names(known, route)) and about in {None, route.ref}
        if route.ref not in judged and named and not is_redirect(known.seen, route):
            found.append(Part(route.ref, (), _unjudged(reader, known, route, decision)))
    return tuple(found)


def _names(known: Known, route: Route) -> Iterator[Json]:
    for ref in items(part(route.seen.body, "spec"), "parentRefs"):
        if gateway_of(ref, route.ref.namespace) == known.seen.key.key:
            yield ref


def told(known: Known, unit: Unit, finding: Finding, rendered: tuple[Json, ...]) -> Told:
    """Say what is found of one unit. rendered: the listeners of its Gateway."""
    names = known.by_name(unit)
    served = finding.verdict is Verdict.PASS
    reason = finding.reason or "Accepted"
    causes = finding.message.partition(": ")[2]
    gateway = _gateway(known)
    return Told(
        state=reason,
        headline=headline(entry_of(unit.route.seen.body, unit.parent), known, reason, served),
        settled=served,
        because=f"Because {causes}, it is not wholly served."
        if causes
        else _good(unit, gateway, rendered),
        next=() if served else of_route(known, unit, reason),
        wakes="a change of the route, its Gateway or a route of the same name wakes it"
        if served
        else "",
        notes=tuple(_held(known, unit, names)),
        parent=gateway,
        listeners=tuple(_listener(known, unit, names, one) for one in rendered),
    )


def _good(unit: Unit, gateway: Ref, rendered: tuple[Json, ...]) -> str:
    """Why a route is accepted. Source: tenant-gateway 5.2, H10: a section may name nothing."""
    if any(unit.selects(text(one, "name"), _port(one)) for one in rendered):
        return (
            "Because a listener answers every hostname and no other comes first, "
            f"{gateway} serves it."
        )
    named = f"section {unit.section}" if unit.section else f"port {unit.port}"
    prefix = api.PASSTHROUGH_PREFIX
    return (
        f"Because {named} names no listener of {gateway}, and a name of {prefix} alone is refused "
        "for that, it is accepted, and nothing serves it through this parentRef."
    )


def _port(listener: Json) -> int:
    port: Any = listener.get("port")
    return port if type(port) is int else 0


def _gateway(known: Known) -> Ref:
    return api.GATEWAY.ref(known.seen.namespace, known.seen.name)


def entry_of(body: Json, parent: Json) -> Json:
    """The Accepted condition of our entry for a parentRef; empty where it has none."""
    for one in items(part(body, "status"), "parents"):
        if one.get("controllerName") == api.COMPONENT and one.get("parentRef") == parent:
            return condition_of(one, "Accepted")
    return {}


def headline(reported: Json, known: Known, reason: str, served: bool) -> str:
    """State and reason, with how long it is reported to be so."""
    words = f"Accepted={served}  {reason}"
    if text(reported, "status") != str(served) or not text(reported, "lastTransitionTime"):
        return words
    span = known.seen.now - parse_time(text(reported, "lastTransitionTime"))
    return f"{words}  for {format_age(span)}" if span >= timedelta(seconds=1) else words


def _held(known: Known, unit: Unit, names: Names) -> Iterator[str]:
    """Who has what a unit has lost."""
    for host, cause in names:
        winner = known.claims.winner(unit, host) if cause and cause.reason == api.CONFLICT else None
        if winner is not None:
            yield f"{host} is held by {winner.route.ref}"


def _listener(known: Known, unit: Unit, names: Names, one: Json) -> Listener:
    allowed, admits = admitted(one, unit.namespace, known)
    port: Any = one.get("port")
    row = Listener(text(one, "name"), port, text(one, "hostname"), allowed, admits, "-")
    if not allowed:
        return row
    judged = known.follows_hostnames
    return replace(
        row, matches=_matches(unit, names, one) if judged else by_class(unit, one, known.listeners)
    )


def listener_for(known: Known, unit: Unit, host: str) -> Json:
    """The listener that a unit is served on: the most exact that it selects and that admits it."""
    found = [
        one
        for one in known.listeners
        if unit.selects(text(one, "name"), _port(one))
        and admitted(one, unit.namespace, known)[0]
        and (not text(one, "hostname") or overlap(text(one, "hostname"), host))
    ]
    return max(found, key=lambda one: len(text(one, "hostname").lstrip("*")), default={})


def admitted(listener: Json, namespace: str, known: Known) -> tuple[bool, str]:
    """Whether a listener admits routes of a namespace, and which it does, in words."""
    stated = part(listener, "allowedRoutes", "namespaces")
    labels = part(stated, "selector", "matchLabels")
    if labels:
        pairs = [f"{key.rpartition('/')[2]}={value}" for key, value in labels.items()]
        return namespace in known.seen.attach_set, f"label {', '.join(pairs)}"
    for term in items(part(stated, "selector"), "matchExpressions"):
        names = [str(one) for one in term.get("values") or ()]
        return namespace in names, f"{', '.join(names)} only"
    everyone = stated.get("from") == "All"
    return everyone or namespace == known.seen.namespace, "all" if everyone else "its own only"


def _matches(unit: Unit, names: Names, one: Json) -> str:
    kinds = [text(kind, "kind") for kind in items(part(one, "allowedRoutes"), "kinds")]
    kind, hostname = unit.route.ref.kind.kind, text(one, "hostname")
    if kinds and kind not in kinds:
        return f"no, {' and '.join(kinds)} only"
    names = names or tuple((host, None) for host in unit.hostnames)
    if not names:
        return "yes, as any name"
    answered = [(host, cause) for host, cause in names if not hostname or overlap(hostname, host)]
    if not answered:
        return "no"
    port: Any = one.get("port")
    if not unit.selects(text(one, "name"), port):
        return "yes, but not selected"
    lost = [host for host, cause in answered if cause and cause.reason == api.CONFLICT]
    if lost:
        return "yes, held by another route"
    return "yes" if any(cause is None for _, cause in answered) else "yes, but refused"


def by_class(unit: Unit, one: Json, rendered: tuple[Json, ...]) -> str:
    """Whether a listener answers a route that no hostname of is judged: as a class decides it.

    Of the listeners of a port the most specific hostname answers. Source: tenant-gateway 15.
    """
    if uncarried := _uncarried(unit, one):
        return uncarried
    if not unit.hostnames:
        return "yes, as any name"
    hostname = text(one, "hostname")
    answered = [host for host in unit.hostnames if not hostname or overlap(hostname, host)]
    if not answered:
        return "no"
    if not unit.selects(text(one, "name"), _port(one)):
        return "yes, but not selected"
    beside = [other for other in rendered if _port(other) == _port(one)]
    nearest = {_nearest(host, beside) for host in answered}
    if text(one, "name") in nearest:
        return "yes"
    return f"yes, but {min(nearest)} is more specific"


def _uncarried(unit: Unit, one: Json) -> str:
    """Why a listener can carry no route of a kind; empty where it can."""
    kinds = [text(kind, "kind") for kind in items(part(one, "allowedRoutes"), "kinds")]
    if kinds and unit.route.ref.kind.kind not in kinds:
        return f"no, {' and '.join(kinds)} only"
    passes = text(one, "protocol") == "TLS"
    if passes is unit.is_tls:
        return ""
    return "no, it passes TLS through" if passes else "no, it does not pass TLS through"


def _nearest(host: str, beside: list[Json]) -> str:
    """The listener of a port that answers a name."""
    found = [
        one for one in beside if not text(one, "hostname") or overlap(text(one, "hostname"), host)
    ]
    return text(
        max(found, key=lambda one: (text(one, "hostname") == host, len(text(one, "hostname")))),
        "name",
    )


def _unjudged(reader: Reader, known: Known, route: Route, decision: Decision) -> Told:
    """Why nothing is said of a route that names the gateway."""
    seen, place = known.seen, route.ref.namespace
    steps: tuple[Next, ...] = ()
    fine = False
    if place not in seen.attach_set:
        cause = f"Namespace {place} is not attached to TenantGateway {seen.key.key}"
        steps = _attach(reader, known, route)
    elif any(one.rule == "renderable" and one.reason for one in decision.findings):
        cause = f"TenantGateway {seen.key.key} cannot be made as it is"
        why = f"roadstead why tenantgateway/{seen.name} -n {seen.namespace}"
        steps = (Next((why,), "says what it needs"),)
    elif known.follows_hostnames and route.is_tls:
        cause = "it has no hostname and selects no passthrough listener"
        refs = [_free(ref) for ref in items(part(route.seen.body, "spec"), "parentRefs")]
        steps = (Next((patch(route.ref, {"spec": {"parentRefs": refs}}),), "any is selected"),)
    elif known.follows_hostnames:
        cause, fine = "it has no hostname, so that it claims none", True
    else:
        cause, fine = f"mode {seen.asked.mode} follows no hostnames", True
    unit = next(iter(units_of(seen, route)), None)
    shown = known.listeners if unit is not None else ()
    return Told(
        state=UNJUDGED,
        headline=UNJUDGED,
        settled=fine,
        because=f"Because {cause}, nothing is said of it; its class alone serves it or not."
        if fine
        else f"Because {cause}, nothing is said of it.",
        next=steps,
        wakes="a change of the route or its Gateway wakes it" if fine else "",
        parent=_gateway(known),
        listeners=tuple(_listener(known, unit, (), one) for one in shown if unit is not None),
    )


def _free(ref: Json) -> dict[str, Any]:
    return {key: value for key, value in ref.items() if key not in {"sectionName", "port"}}


def _attach(reader: Reader, known: Known, route: Route) -> tuple[Next, ...]:
    """Name the Gateway that the namespace is attached to, else attach the namespace."""
    place, seen = route.ref.namespace, known.seen
    try:
        namespace = reader.get(NAMESPACES, "", place)
    except ClusterError:
        namespace = None
    holder = namespace.labels.get(api.ATTACH_LABEL, "") if namespace is not None else ""
    attach = f"{label(NAMESPACE.ref('', place))} {api.ATTACH_LABEL}={seen.namespace} --overwrite"
    attached = Next((attach,), "the platform's to do: its routes are then judged")
    if not holder:
        return (attached,)
    refs = [{"name": seen.name, "namespace": holder}]
    moved = patch(route.ref, {"spec": {"parentRefs": refs}})
    return (Next((moved,), "it then names the Gateway of its own tenant"), attached)
