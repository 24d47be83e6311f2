"""The paths of routes: by which listener a hostname reaches which route, as decisions have it."""

from collections.abc import Iterable, Iterator

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import ROUTE_SERVED
from roadstead.capabilities.gateways.decide.units import Unit, is_redirect
from roadstead.capabilities.gateways.snapshot import Route
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.decision import Decision, Reader, Verdict
from roadstead.explain.gateways.known import Known
from roadstead.explain.gateways.reported import UNREPORTED
from roadstead.explain.gateways.routes import UNJUDGED, entry_of, listener_for
from roadstead.explain.graph.backends import Backends
from roadstead.explain.graph.model import HOST, LISTENER, ROUTE, Path, Spot
from roadstead.explain.who.hostnames import routes as all_routes
from roadstead.kube.conditions import TRUE
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import Json, items, part, text, texts

ANY = "*"
"""What a route without a hostname answers to."""
Breaks = tuple[tuple[int, str], ...]


def of_gateway(known: Known, decision: Decision | None, behind: Backends) -> Iterator[Path]:
    """Every path through one gateway, and the routes that name it in vain."""
    stop = gateway_stop(decision)
    units = {id(unit): unit for unit in (*known.judged, *known.units)}.values()
    for unit in units:
        for host, refused in _hosts(known, unit):
            listener = listener_for(known, unit, host)
            breaks: Breaks = ((HOST, stop),) if stop and listener else ()
            box = _listener(known, listener) if listener else None
            if refused:
                breaks = (*breaks, (LISTENER if box else HOST, refused))
            elif box is None:
                breaks = ((HOST, stop or "no listener answers"),)
            yield from _paths(_host(host), box, unit.route.seen, breaks, behind)
    heard = {unit.route.ref for unit in units}
    for route in known.seen.routes:
        if route.ref not in heard and not is_redirect(known.seen, route) and _names(known, route):
            for host in _hostnames(route.seen):
                yield from _paths(_host(host), None, route.seen, ((HOST, UNJUDGED),), behind)


def gateway_stop(decision: Decision | None) -> str:
    """What keeps a whole Gateway from serving, in the word of its decision; empty for nothing."""
    for found in decision.findings if decision is not None else ():
        if found.verdict is not Verdict.PASS and found.rule != ROUTE_SERVED:
            return found.reason
    return ""


def _hosts(known: Known, unit: Unit) -> Iterator[tuple[str, str]]:
    """Each hostname of a unit with the word for why it is not served there."""
    causes = dict(known.by_name(unit))
    for host in causes or dict.fromkeys(unit.hostnames or (ANY,)):
        cause = causes.get(host)
        yield host, cause.reason if cause is not None else ""


def _hostnames(route: Object) -> Iterable[str]:
    return dict.fromkeys(texts(part(route.body, "spec"), "hostnames") or (ANY,))


def _names(known: Known, route: Route) -> bool:
    """Whether a route names the gateway now; its status may speak of one it has left."""
    refs = items(part(route.seen.body, "spec"), "parentRefs")
    return any(gateway_of(ref, route.ref.namespace) == known.seen.key.key for ref in refs)


def _host(host: str) -> Spot:
    return Spot("host", f"host:{host}", host if host != ANY else "any hostname")


def _listener(known: Known, listener: Json) -> Spot:
    gateway = api.GATEWAY.ref(known.seen.namespace, known.seen.name)
    name, port = text(listener, "name"), listener.get("port")
    asked = api.TENANT_GATEWAY.ref(known.seen.namespace, known.seen.name)
    return Spot("listener", f"listener:{gateway.key}/{name}", f"{name} :{port}", gateway.key, asked)


def _box(ref: Ref) -> Spot:
    return Spot("route", f"route:{ref.path}", f"{ref.kind.kind} {ref.name}", ref.namespace, ref)


def _paths(
    host: Spot, listener: Spot | None, route: Object, breaks: Breaks, behind: Backends
) -> Iterator[Path]:
    """One path a backend; a route that is refused leads nowhere, and is drawn no further."""
    space, box = route.meta.namespace, _box(route.ref)
    backends = () if any(at != HOST or not listener for at, _ in breaks) else behind.of_route(route)
    drawn = False
    for (service, pods, inner), missing in backends:
        drawn = True
        outer: Breaks = ((ROUTE, missing),) if missing else ()
        yield Path((host, listener, box, service, pods), space, (*breaks, *outer, *inner))
    if not drawn:
        yield Path((host, listener, box, None, None), space, breaks)


def by_status(reader: Reader) -> Iterator[Path]:
    """The paths of routes as their own status tells, for who may not read what judges them."""
    behind = Backends(reader)
    for route in all_routes(reader):
        for parent in items(part(route.body, "spec"), "parentRefs"):
            gateway = gateway_of(parent, route.meta.namespace)
            if not gateway:
                continue
            stated = entry_of(route.body, parent)
            box = Spot("listener", f"listener:{gateway}/", f"Gateway {gateway}", unread=True)
            for host in _hostnames(route):
                refused = _refused(stated, host)
                breaks: Breaks = ((LISTENER, refused),) if refused else ()
                yield from _paths(_host(host), box, route, breaks, behind)


def _refused(stated: Json, host: str) -> str:
    """Why a hostname is refused, in the word of the status; empty where it is not."""
    if not stated:
        return UNREPORTED
    lost = text(stated, "status") != TRUE and _blames(stated, host)
    return text(stated, "reason") if lost else ""


def _blames(stated: Json, host: str) -> bool:
    """Whether a refusal is of this hostname: a message names those it is about, or none."""
    return host == ANY or host in text(stated, "message")
