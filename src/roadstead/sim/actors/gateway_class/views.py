"""What the controller of a class looks at, and what refers to what in it."""

from collections.abc import Callable, Iterable, Iterator

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import (
    backends,
    gateway_of,
    kept_namespace,
    parents,
)
from roadstead.decision import Cached
from roadstead.errors import Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE, Ref
from roadstead.kube.shapes import Json, items, part, text
from roadstead.kube.views import Form, Index, View

OWNED = frozenset(
    {
        "io.cilium/gateway-controller",
        "gateway.envoyproxy.io/gatewayclass-controller",
        "gateways.example.org/stand-in",
    }
)
"""Under which names it plays: two that are wide-spread, and one for classes made up for a test."""
ABSENT = "absent"
"""Why a view of a kind that is not served cannot be read; any other reason is no answer."""


def controller_of(one: Object | None) -> str:
    """The controller of a GatewayClass; empty where it is another's, or not there."""
    name = text(part(one.body, "spec"), "controllerName") if one is not None else ""
    return name if name in OWNED else ""


def class_of(gateway: Object) -> str:
    """The class a Gateway asks for."""
    return text(part(gateway.body, "spec"), "gatewayClassName")


def listeners_of(gateway: Object) -> tuple[Json, ...]:
    """The listeners of a Gateway, in order."""
    return items(part(gateway.body, "spec"), "listeners")


def secrets_of(gateway: Object) -> Iterator[tuple[Json, Ref]]:
    """Each reference to a certificate, with the Secret it names."""
    for listener in listeners_of(gateway):
        for stated in items(part(listener, "tls"), "certificateRefs"):
            place = text(stated, "namespace") or gateway.meta.namespace
            yield stated, SECRET.ref(place, text(stated, "name"))


def addresses_of(gateway: Object) -> tuple[str, ...]:
    """The addresses a Gateway is said to have."""
    return tuple(text(one, "value") for one in items(part(gateway.body, "status"), "addresses"))


def spoken_of(route: Object) -> tuple[str, ...]:
    """The Gateways a route names, and those an entry of ours speaks of, as `namespace/name`."""
    named = set(parents(route))
    for entry in items(part(route.body, "status"), "parents"):
        if entry.get("controllerName") in OWNED:
            named.add(gateway_of(part(entry, "parentRef"), route.meta.namespace))
    return tuple(sorted(named - {""}))


def _each(values: Callable[[Object], Iterable[str]]) -> Callable[[Object], tuple[str, ...]]:
    return lambda seen: tuple(sorted(set(values(seen))))


def _spaces(seen: Object) -> tuple[str, ...]:
    return (seen.meta.namespace,)


def _backend_keys(route: Object) -> Iterator[str]:
    return (f"{place}/{name}" for _, _, place, name in backends(route))


def _backend_spaces(route: Object) -> Iterator[str]:
    return (place for _, _, place, _ in backends(route))


CLASSES = View("played-classes", api.GATEWAY_CLASS)
GATEWAYS = View(
    "played-gateways",
    api.GATEWAY,
    indexes=(
        Index("class", lambda seen: (class_of(seen),)),
        Index("secret", _each(lambda seen: (ref.key for _, ref in secrets_of(seen)))),
        Index("lender", _each(lambda seen: (ref.namespace for _, ref in secrets_of(seen)))),
        Index("address", addresses_of),
    ),
)
_OF_ROUTES = (
    Index("parent", spoken_of),
    Index("namespace", _spaces),
    Index("backend", _each(_backend_keys)),
    Index("lender", _each(_backend_spaces)),
)
HTTP_ROUTES = View("played-httproutes", api.HTTP_ROUTE, indexes=_OF_ROUTES)
TLS_ROUTES = tuple(
    View(f"played-tlsroutes-{kind.version}", kind, indexes=_OF_ROUTES) for kind in api.TLS_ROUTES
)
NAMESPACES = View("played-namespaces", NAMESPACE, keep=kept_namespace)
SERVICES = View("played-services", SERVICE, Form.METADATA)
SECRETS = View("played-secrets", SECRET, Form.METADATA)
GRANTS = View("played-grants", api.REFERENCE_GRANT, indexes=(Index("namespace", _spaces),))


def tls_view(cached: Cached) -> View | None:
    """The first version of TLSRoute that is served; None where none is."""
    return next((view for view in TLS_ROUTES if is_served(cached, view)), None)


def is_served(cached: Cached, view: View) -> bool:
    """Whether a view's kind is served at its version.

    Raises: Unread where that is not known.
    """
    try:
        cached.list(view, view.indexes[0].name, "")
    except Unread as error:
        if error.reason != ABSENT:
            raise
        return False
    return True


def routes(cached: Cached, index: str, value: str) -> tuple[Object, ...]:
    """The routes an index holds under a value, HTTPRoutes first; TLSRoutes at one version each."""
    found = cached.list(HTTP_ROUTES, index, value)
    view = tls_view(cached)
    return (*found, *(cached.list(view, index, value) if view is not None else ()))


def grants_in(cached: Cached, namespace: str) -> tuple[Object, ...]:
    """The ReferenceGrants of a namespace; none where the kind is not served."""
    try:
        return cached.list(GRANTS, "namespace", namespace)
    except Unread as error:
        if error.reason != ABSENT:
            raise
        return ()


def key_of(route: Object) -> Ref:
    """A route as a key: a TLSRoute is one object at whatever version it was read."""
    kind = api.HTTP_ROUTE if route.kind == api.HTTP_ROUTE else api.TLS_ROUTES[0]
    return kind.ref(route.meta.namespace, route.meta.name)
