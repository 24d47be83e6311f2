"""From a reason to the next step of a gateway or a route, and what wakes a wait.

A change is offered where the decision's own judge, asked of the world after it, refuses nothing
any more; else the reader supplies a file. A test runs each line in the offline world.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.units import Unit
from roadstead.capabilities.gateways.fields import EDGE, HTTP01
from roadstead.capabilities.gateways.render.spec import LISTENERS, SERVICES, fault
from roadstead.decision import Decision, Event, Finding
from roadstead.explain.commands import GRANT, apply, delete, label, more_room, patch
from roadstead.explain.gateways.known import Known
from roadstead.explain.subject import Next
from roadstead.explain.trail import stop_of, warnings
from roadstead.kube.refs import NAMESPACE, Ref
from roadstead.kube.shapes import items, part

SUPPLIED, SUPPLIED_CLASS = "tenantgateway.yaml", "class.yaml"
"""The files a reader supplies where only new content helps."""
Change = Mapping[str, Any]

WAKES: Mapping[str, str] = {
    api.NOT_ACCEPTED: "the program of the GatewayClass has to accept {about}, which wakes it",
    api.NOT_PROGRAMMED: "the program of the GatewayClass has to serve {about}, which wakes it",
    api.NOT_READY: "a change of a Certificate or of {about} wakes it",
    "ReadFailed": "it is tried again with growing pauses",
    "": "a change of a route, a Namespace or the Gateway wakes it",
}


def wakes(decision: Decision) -> str:
    """What will have a gateway looked at again, in words."""
    stop = stop_of(decision)
    about = stop.refs[0].path if stop is not None and stop.refs else ""
    return WAKES.get(stop.reason if stop is not None else "", "").format(about=about)


# a gateway


def of_gateway(key: Ref, decision: Decision, known: Known | None) -> tuple[Next, ...]:
    """What a person may do about a refusal, a wait or a warning, the best first."""
    stop = stop_of(decision)
    found: list[Next] = []
    if stop is not None and stop.reason == api.FAULT:
        found += _of_fault(key, stop, known)
    for event in warnings(decision):
        found += _of_warning(key, event, known)
    return tuple(dict.fromkeys(found))


def _supplied(key: Ref, effect: str) -> Next:
    return Next((apply(SUPPLIED),), f"{SUPPLIED} is {key}, {effect}")


def _of_fault(key: Ref, stop: Finding, known: Known | None) -> Iterator[Next]:
    """Delete what is in the way, make room, or mend the spec."""
    if stop.rule == "written":
        yield from more_room(key.namespace, stop.message) or (GRANT,)
        return
    foreign = tuple(delete(ref) for ref in stop.refs[1:])
    if foreign:
        yield Next(foreign, "ours are then made")
        return
    if known is not None:
        for change in _mended(known):
            yield Next((patch(key, {"spec": dict(change)}),), "nothing of it is then refused")
    yield _supplied(key, "with what the message names mended")


def _mended(known: Known) -> Iterator[Change]:
    """Changes of a spec with which it can be rendered."""
    asked = known.seen.asked
    spec = part(known.seen.asked_for.body, "spec") if known.seen.asked_for is not None else {}
    if not fault(asked):
        return
    services = list(dict.fromkeys(asked.services))
    kept: list[Change] = []
    for one in items(spec, LISTENERS):
        if _fits(known, {LISTENERS: [*kept, one]}):
            kept.append(one)
    candidates: tuple[Change, ...] = (
        {SERVICES: services},
        {SERVICES: [one for one in services if _fits(known, {SERVICES: [one]})] or None},
        {"apex": asked.apex},
        {LISTENERS: kept or None},
    )
    seen = []
    for change in candidates:
        if change not in seen and _fits(known, change):
            seen.append(change)
            yield change


def _fits(known: Known, change: Change) -> bool:
    return not fault(known.with_spec(change).seen.asked)


def _of_warning(key: Ref, event: Event, known: Known | None) -> Iterator[Next]:
    if known is None:
        return
    asked, place = known.seen.asked, known.seen.namespace
    if event.reason == "GatewayClassNotFound":
        effect = f"{SUPPLIED_CLASS} is GatewayClass {asked.class_name}; the platform's to do"
        yield Next((apply(SUPPLIED_CLASS),), effect)
    elif event.reason == "PassthroughUnpublished":
        yield Next((patch(key, {"spec": {SERVICES: None}}),), "the list is then empty")
    elif event.reason == api.HELD:
        free = [name for name in asked.attached if not known.seen.holder_of(name)]
        change = {"attachedNamespaces": free or None}
        yield Next((patch(key, {"spec": change}),), "each stays with the gateway that holds it")
    elif event.reason == api.CHILD_OUTSIDE:
        for name, namespace in known.seen.namespaces.items():
            if f"Namespace {name} " in event.message and namespace.labels.get(api.ATTACH_LABEL):
                line = f"{label(NAMESPACE.ref('', name))} {api.ATTACH_LABEL}-"
                yield Next((line,), f"it is then no child of {place}; it needs its own Gateway")
    elif event.reason == "ListenerBudget":
        yield _supplied(key, "in a mode whose wildcard listener stands for all names")


# a route


def of_route(known: Known, unit: Unit, reason: str) -> tuple[Next, ...]:
    """What a person may do about a route that is refused, the best first."""
    route, found = unit.route.ref, []
    if known.seen.asked.mode == EDGE:
        return (Next((delete(route),), "the edge ends TLS; an HTTPRoute can serve the name"),)
    for change, effect in _changes(known, unit):
        if known.with_route(unit, change).serves(route):
            found.append(Next((patch(route, {"spec": dict(change)}),), effect))
    found += _published(known, unit)
    file = f"{route.kind.kind.lower()}.yaml"
    names = "that nobody holds" if reason == api.CONFLICT else "that a listener answers"
    apex = known.seen.asked.apex
    found.append(Next((apply(file),), f"{file} is {route} with hostnames under {apex} {names}"))
    if reason == api.CONFLICT:
        found += [who_holds(host) for host in _lost(known, unit)]
    return tuple(found)


def who_holds(host: str) -> Next:
    """Ask for the holder of a hostname."""
    return Next((f"roadstead who {host}",), "names its holder, as far as you may read it")


def _lost(known: Known, unit: Unit) -> Iterator[str]:
    for host, cause in known.by_name(unit):
        if cause is not None and cause.reason == api.CONFLICT:
            yield host


def _changes(known: Known, unit: Unit) -> Iterator[tuple[Change, str]]:
    """Changes of a route's spec that might have it served, each with what comes of it."""
    refs = list(items(part(unit.route.seen.body, "spec"), "parentRefs"))
    free = {key: one for key, one in unit.parent.items() if key not in {"sectionName", "port"}}
    anywhere = {"parentRefs": [free if ref == unit.parent else dict(ref) for ref in refs]}
    lost = {host for host, cause in known.by_name(unit) if cause is not None}
    kept = {"hostnames": [host for host in unit.hostnames if host not in lost]}
    others = {"parentRefs": [dict(ref) for ref in refs if ref != unit.parent]}
    selects = unit.section or unit.port
    if selects:
        yield anywhere, "the listeners of its hostnames then serve it"
    if kept["hostnames"]:
        yield kept, "the names that are left are served"
    if selects and kept["hostnames"]:
        yield {**anywhere, **kept}, "the listeners of the names that are left then serve it"
    if others["parentRefs"]:
        yield others, "it is served through its other parentRefs"


def _published(known: Known, unit: Unit) -> Iterator[Next]:
    """Have the gateway pass the name of a TLSRoute through, where it is the same tenant's."""
    asked, seen = known.seen.asked, known.seen
    if not unit.is_tls or asked.mode != HTTP01 or unit.namespace != seen.namespace:
        return
    names = [host.removesuffix(f".{asked.apex}") for host in unit.hostnames]
    added = [name for name in names if name not in asked.services]
    change = {SERVICES: [*asked.services, *added]}
    after = known.with_spec(change)
    if not fault(after.seen.asked) and after.serves(unit.route.ref):
        yield Next((patch(seen.key, {"spec": change}),), "the name is then passed through")
