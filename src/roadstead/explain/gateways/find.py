"""Which gateway a person means, and which gateways concern a route."""

from collections.abc import Iterator

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import (
    GATEWAYS_ASKED,
    HTTP_ROUTES,
    TLS_ROUTES,
    gateway_of,
)
from roadstead.decision import Reader
from roadstead.errors import Unread
from roadstead.explain.lookup import only
from roadstead.explain.subject import Found, Judge, Word
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part
from roadstead.kube.views import View


async def gateway(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """A TenantGateway by its name."""
    there = [seen.ref for seen in reader.list(GATEWAYS_ASKED)]
    key = only(name, namespace, there, api.TENANT_GATEWAY.kind)
    return Found(key, (key,))


async def http_route(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """An HTTPRoute, and the gateways it names."""
    return _route(reader, only_route(reader, (HTTP_ROUTES,), name, namespace))


async def tls_route(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """A TLSRoute of whatever version is served, and the gateways it names."""
    return _route(reader, only_route(reader, TLS_ROUTES, name, namespace))


def only_route(reader: Reader, views: tuple[View, ...], name: str, namespace: str) -> Object:
    """The one route of a name.

    Raises: InputError; Unread where no view can be read.
    """
    there = {seen.ref: seen for seen in _served(reader, views)}
    return there[only(name, namespace, sorted(there), views[0].kind.kind)]


def _served(reader: Reader, views: tuple[View, ...]) -> tuple[Object, ...]:
    for view in views[:-1]:
        try:
            if seen := reader.list(view):
                return seen
        except Unread as error:
            if error.reason != "absent":
                raise
    return reader.list(views[-1])


def named_by(route: Object) -> Iterator[Ref]:
    """The TenantGateways of the Gateways that a route names, each once."""
    refs = items(part(route.body, "spec"), "parentRefs")
    for one in dict.fromkeys(gateway_of(ref, route.meta.namespace) for ref in refs):
        place, _, name = one.partition("/")
        if name:
            yield api.TENANT_GATEWAY.ref(place, name)


def _route(reader: Reader, route: Object) -> Found:
    maker = next((one for one in route.owners if one.kind == api.TENANT_GATEWAY.kind), None)
    if maker is not None:
        made = api.TENANT_GATEWAY.ref(route.meta.namespace, maker.name)
        return Found(route.ref, (), (f"is the redirect of {made} to https, and claims nothing",))
    keys, notes = [], []
    for key in named_by(route):
        if reader.get(GATEWAYS_ASKED, key.namespace, key.name) is not None:
            keys.append(key)
        else:
            gone = api.GATEWAY.ref(key.namespace, key.name)
            notes.append(f"names {gone}, which no TenantGateway makes")
    if not keys and not notes:
        notes.append("names no Gateway")
    return Found(route.ref, tuple(keys), tuple(notes), part=True)


WORDS = {
    word: Word(kind, find)
    for kind, find, short in (
        (api.TENANT_GATEWAY, gateway, ("tgw",)),
        (api.HTTP_ROUTE, http_route, ()),
        (api.TLS_ROUTES[0], tls_route, ()),
    )
    for word in (kind.kind.lower(), kind.plural, *short)
}
