"""Which listeners a route attaches to. Pure: the same answer for a Gateway and for the route.

It depends on the listeners as they are asked for, not on how they fare. Source: Gateway API,
ListenerStatus.attachedRoutes, ParentReference and AllowedRoutes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.errors import InputError
from roadstead.kube.hostnames import overlap
from roadstead.kube.objects import Object
from roadstead.kube.selectors import LabelSelector
from roadstead.kube.shapes import Json, items, part, text, texts
from roadstead.sim.actors.gateway_class.views import listeners_of

HTTP, HTTPS, TLS = "HTTP", "HTTPS", "TLS"
_HTTP_ROUTE, _TLS_ROUTE = api.HTTP_ROUTE.kind, api.TLS_ROUTES[0].kind
SUPPORTED = {HTTP: (_HTTP_ROUTE,), HTTPS: (_HTTP_ROUTE,), TLS: (_TLS_ROUTE,)}
"""The kinds of routes that a protocol can carry."""
Labels = Mapping[str, Mapping[str, str]]
"""The labels of Namespaces, by name."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """What becomes of one parentRef. sections: where it attaches; reason: why nowhere."""

    sections: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""


def kinds_of(listener: Json) -> tuple[str, ...]:
    """The kinds that a listener carries: those it allows, as far as its protocol can."""
    able = SUPPORTED.get(text(listener, "protocol"), ())
    stated = items(part(listener, "allowedRoutes"), "kinds")
    if not stated:
        return able
    asked = {
        text(one, "kind") for one in stated if one.get("group", api.GATEWAY_API) == api.GATEWAY_API
    }
    return tuple(kind for kind in able if kind in asked)


def unable(listener: Json) -> tuple[str, ...]:
    """The kinds that a listener allows and cannot carry, sorted."""
    stated = items(part(listener, "allowedRoutes"), "kinds")
    return tuple(sorted({text(one, "kind") for one in stated} - set(kinds_of(listener))))


def parents_of(route: Object, gateway: Object) -> Iterator[Json]:
    """The parentRefs of a route that name a Gateway, in order."""
    for ref in items(part(route.body, "spec"), "parentRefs"):
        if gateway_of(ref, route.meta.namespace) == gateway.ref.key:
            yield ref


def attach(route: Object, parent: Json, gateway: Object, labels: Labels) -> Attachment:
    """Say where a route attaches through one of its parentRefs, or why nowhere."""
    port: Any = parent.get("port")
    section = text(parent, "sectionName")
    chosen = [
        one
        for one in listeners_of(gateway)
        if section in {"", one.get("name")} and port in {None, one.get("port")}
    ]
    if not chosen:
        return Attachment(reason=api.NO_PARENT, message="no listener has that name or port")
    open_to = [one for one in chosen if _admits(one, route, gateway, labels)]
    if not open_to:
        told = "no listener that is named admits such a route from this namespace"
        return Attachment(reason=api.NOT_ALLOWED, message=told)
    names = texts(part(route.body, "spec"), "hostnames")
    answering = [one for one in open_to if _answers(text(one, "hostname"), names)]
    if not answering:
        told = "no listener that is named has a hostname in common with the route"
        return Attachment(reason=api.NO_HOSTNAME, message=told)
    return Attachment(tuple(text(one, "name") for one in answering))


def _admits(listener: Json, route: Object, gateway: Object, labels: Labels) -> bool:
    if route.kind.kind not in kinds_of(listener):
        return False
    place = route.meta.namespace
    stated = part(listener, "allowedRoutes", "namespaces")
    wanted = text(stated, "from") or "Same"
    if wanted == "Selector":
        try:
            selector = LabelSelector.of(part(stated, "selector"))
        except InputError:
            return False  # the server's schema does not look into a selector: it selects nothing
        return place in labels and selector.matches(labels[place])
    return wanted == "All" or (wanted == "Same" and place == gateway.meta.namespace)


def _answers(hostname: str, names: tuple[str, ...]) -> bool:
    return not hostname or not names or any(overlap(hostname, name) for name in names)
