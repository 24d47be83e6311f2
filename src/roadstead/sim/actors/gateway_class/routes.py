"""Says of each route what becomes of it at each Gateway of a class that is played.

Entries of other controllers stay as and where they are. Source: Gateway API, RouteParentStatus.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import backends, gateway_of
from roadstead.decision import Cached, Decision, Reader, Want
from roadstead.kube.conditions import FALSE, TRUE, Condition, fold
from roadstead.kube.grants import allowed
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.kube.shapes import Json, items, part, texts
from roadstead.sim.actors.gateway_class.attachment import Attachment, Labels, attach
from roadstead.sim.actors.gateway_class.gateways import (
    asked_otherwise,
    labelled_otherwise,
    labels_of,
)
from roadstead.sim.actors.gateway_class.views import (
    CLASSES,
    GATEWAYS,
    GRANTS,
    HTTP_ROUTES,
    NAMESPACES,
    OWNED,
    SERVICES,
    TLS_ROUTES,
    class_of,
    controller_of,
    grants_in,
    is_served,
    key_of,
    routes,
    spoken_of,
    tls_view,
)
from roadstead.wiring import Controller, Watch


@dataclass(frozen=True, slots=True)
class Seen:
    """One route.

    gateways: those it names or was told of, by `namespace/name`.
    controllers: who plays each of them; no entry for one that is not played.
    unresolved: reason and message of a backend it cannot have; empty where all are there.
    status_kind: the version its status is written at.
    """

    now: datetime
    route: Object
    gateways: Mapping[str, Object]
    controllers: Mapping[str, str]
    labels: Labels
    unresolved: tuple[str, str]
    status_kind: Kind


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one route is judged on."""
    view = HTTP_ROUTES if key.kind == api.HTTP_ROUTE else tls_view(reader)
    route = await reader.see(view, key.namespace, key.name) if view is not None else None
    if route is None or route.deleting:
        return None
    gateways = {}
    for name in spoken_of(route):
        space, _, gateway = name.partition("/")
        if (found := reader.get(GATEWAYS, space, gateway)) is not None:
            gateways[name] = found
    played = {
        name: controller_of(reader.get(CLASSES, "", class_of(one)))
        for name, one in gateways.items()
    }
    return Seen(
        reader.now,
        route,
        gateways,
        {name: controller for name, controller in played.items() if controller},
        labels_of(reader, (route,)),
        next(_unresolved(reader, route), ("", "")),
        _status_kind(reader, route),
    )


def _unresolved(reader: Reader, route: Object) -> Iterator[tuple[str, str]]:
    """What is wrong with the backends of a route, in order."""
    for group, kind, place, name in backends(route):
        if group or kind != SERVICE.kind:
            yield "InvalidKind", f"a backend is a Service, and it names a {kind}"
            continue
        target = SERVICE.ref(place, name)
        here = place == route.meta.namespace
        if not here and not allowed(grants_in(reader, place), route.ref, target):
            yield "RefNotPermitted", f"no ReferenceGrant lets it use {target}"
        elif reader.get(SERVICES, place, name) is None:
            yield "BackendNotFound", f"there is no {target}"


def _status_kind(reader: Reader, route: Object) -> Kind:
    """The oldest version of a TLSRoute takes what the later ones do not."""
    spec = part(route.body, "spec")
    fits = bool(texts(spec, "hostnames")) and len(items(spec, "rules")) <= 1
    if route.kind == api.HTTP_ROUTE or fits or not is_served(reader, TLS_ROUTES[-1]):
        return route.kind
    return TLS_ROUTES[-1].kind


def decide(seen: Seen) -> Decision:
    """Put our entries beside those of others."""
    status = part(seen.route.body, "status")
    before = list(items(status, "parents"))
    after = _parents(seen, before)
    if after == before or len(after) > api.MOST_ENTRIES:
        return Decision()
    changed = {
        "apiVersion": seen.status_kind.api_version,
        "status": {**status, "parents": after},
    }
    want = Want.status(seen.status_kind, {**seen.route.body, **changed}, seen.route)
    return Decision(want=(want,))


def _parents(seen: Seen, before: list[Json]) -> list[Any]:
    wanted = list(_wanted(seen))
    after: list[Any] = []
    for entry in before:
        name = (entry.get("controllerName"), entry.get("parentRef"))
        match = next((one for one in wanted if (one[1], one[0]) == name), None)
        if match is not None:
            wanted.remove(match)
            after.append(_entry(seen, *match, entry))
        elif name[0] not in OWNED or _is_silent(seen, part(entry, "parentRef")):
            after.append(entry)
    return [*after, *(_entry(seen, *one, {}) for one in wanted)]


def _wanted(seen: Seen) -> Iterator[tuple[Json, str]]:
    """Every parentRef that is played, with who plays it, in order."""
    for parent in items(part(seen.route.body, "spec"), "parentRefs"):
        name = gateway_of(parent, seen.route.meta.namespace)
        if name in seen.controllers:
            yield parent, seen.controllers[name]


def _is_silent(seen: Seen, parent: Json) -> bool:
    """Whether an entry of ours speaks of a Gateway that is there and not ours to play now."""
    name = gateway_of(parent, seen.route.meta.namespace)
    named = items(part(seen.route.body, "spec"), "parentRefs")
    return parent in named and name in seen.gateways and name not in seen.controllers


def _entry(seen: Seen, parent: Json, controller: str, before: Json) -> dict[str, Any]:
    gateway = seen.gateways[gateway_of(parent, seen.route.meta.namespace)]
    attached = attach(seen.route, parent, gateway, seen.labels)
    said = (_accepted(attached), _resolved(seen))
    generation = seen.route.meta.generation
    return {
        "parentRef": dict(parent),
        "controllerName": controller,
        "conditions": fold(items(before, "conditions"), said, seen.now, generation),
    }


def _accepted(attached: Attachment) -> Condition:
    if attached.reason:
        return Condition("Accepted", FALSE, attached.reason, attached.message)
    told = f"attached to {', '.join(attached.sections)}"
    return Condition("Accepted", TRUE, "Accepted", told)


def _resolved(seen: Seen) -> Condition:
    if seen.unresolved[0]:
        return Condition("ResolvedRefs", FALSE, *seen.unresolved)
    return Condition("ResolvedRefs", TRUE, "ResolvedRefs", "every backend is there")


def route_itself(route: Object, _cached: Cached) -> Iterator[Ref]:
    """A route wakes itself."""
    yield key_of(route)


def routes_of_gateway(gateway: Object, cached: Cached) -> Iterator[Ref]:
    """The routes that name a Gateway, or were told of it."""
    yield from map(key_of, routes(cached, "parent", gateway.ref.key))


def routes_of_class(one: Object, cached: Cached) -> Iterator[Ref]:
    """The routes of every Gateway of a class."""
    for gateway in cached.list(GATEWAYS, "class", one.meta.name):
        yield from routes_of_gateway(gateway, cached)


def routes_of_namespace(namespace: Object, cached: Cached) -> Iterator[Ref]:
    """The routes of a namespace."""
    yield from map(key_of, routes(cached, "namespace", namespace.meta.name))


def routes_of_service(service: Object, cached: Cached) -> Iterator[Ref]:
    """The routes that forward to a Service."""
    yield from map(key_of, routes(cached, "backend", service.ref.key))


def routes_of_grant(grant: Object, cached: Cached) -> Iterator[Ref]:
    """The routes that forward into its namespace."""
    yield from map(key_of, routes(cached, "lender", grant.meta.namespace))


def never(_old: Object, _new: Object) -> bool:
    """Of a Service nothing matters but that it is there."""
    return False


ROUTING_CONTROLLER = Controller(
    name="stand-in-routes",
    component="stand-in-gateway-class",
    watches=(
        Watch(HTTP_ROUTES, route_itself),
        *(Watch(view, route_itself, optional=True) for view in TLS_ROUTES),
        Watch(GATEWAYS, routes_of_gateway, asked_otherwise),
        Watch(CLASSES, routes_of_class, asked_otherwise),
        Watch(NAMESPACES, routes_of_namespace, labelled_otherwise),
        Watch(SERVICES, routes_of_service, never),
        Watch(GRANTS, routes_of_grant, asked_otherwise, optional=True),
    ),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,
    checked=False,
)
