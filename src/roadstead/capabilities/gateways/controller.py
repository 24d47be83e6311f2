"""What wakes a tenant gateway. Source: tenant-gateway 6."""

from collections.abc import Iterator

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide, report
from roadstead.capabilities.gateways.snapshot import observe
from roadstead.capabilities.gateways.snapshot.views import (
    CERTIFICATES,
    CLASSES,
    GATEWAYS,
    GATEWAYS_ASKED,
    GRANTS,
    HTTP_ROUTES,
    ISSUERS,
    NAMESPACES,
    SERVICES,
    TLS_ROUTES,
    parents,
)
from roadstead.decision import Cached
from roadstead.errors import Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.wiring import Controller, Watch


def gateway_itself(gateway: Object, cached: Cached) -> Iterator[Ref]:
    """A TenantGateway wakes itself and those it shares namespaces with."""
    yield gateway.ref
    yield from _of(cached, "namespace", gateway.meta.namespace)


def gateway_changed(old: Object, new: Object) -> bool:
    """Our own status writes wake nobody."""
    before, after = ((one.meta.generation, one.deleting) for one in (old, new))
    return before != after


def _of(cached: Cached, index: str, value: str) -> Iterator[Ref]:
    for one in cached.list(GATEWAYS_ASKED, index, value):
        yield one.ref


def gateways_of_owned(seen: Object, cached: Cached) -> Iterator[Ref]:
    """The owner, and whoever renders an object of that name: a foreign one may have gone."""
    place, name = seen.meta.namespace, seen.meta.name
    owner = seen.controller
    if owner is not None and owner.is_a(api.TENANT_GATEWAY):
        yield api.TENANT_GATEWAY.ref(place, owner.name)
    for one in cached.list(GATEWAYS_ASKED, "namespace", place):
        if name == one.meta.name or name.startswith(f"{one.meta.name}-"):
            yield one.ref


def gateways_of_route(route: Object, cached: Cached) -> Iterator[Ref]:
    """Every TenantGateway its parentRefs or our entries name, and the one that made it."""
    for parent in parents(route):
        place, _, name = parent.partition("/")
        if place and name:
            yield api.TENANT_GATEWAY.ref(place, name)
    yield from gateways_of_owned(route, cached)


def gateways_of_service(service: Object, cached: Cached) -> Iterator[Ref]:
    """Those whose TLSRoutes forward to it."""
    yield from _of_backends(cached, "backend", service.ref.key)


def gateways_of_grant(grant: Object, cached: Cached) -> Iterator[Ref]:
    """Those whose TLSRoutes forward into its namespace."""
    yield from _of_backends(cached, "target", grant.meta.namespace)


def _of_backends(cached: Cached, index: str, value: str) -> Iterator[Ref]:
    for view in TLS_ROUTES:
        try:
            routes = cached.list(view, index, value)
        except Unread as error:
            if error.reason != "absent":
                raise
            continue
        for route in routes:
            yield from gateways_of_route(route, cached)
        return


def gateways_of_namespace(namespace: Object, cached: Cached) -> Iterator[Ref]:
    """Those its label or its annotation names, its own, all that list it, and one that is gone."""
    names = {
        namespace.meta.name,
        namespace.labels.get(api.ATTACH_LABEL, ""),
        namespace.annotations.get(api.ATTACHED_BY, ""),
    }
    for name in sorted(names - {""}):
        yield from _of(cached, "namespace", name)
    yield from _of(cached, "attached", namespace.meta.name)
    holder = namespace.annotations.get(api.ATTACHED_BY, "")
    if holder and not cached.list(GATEWAYS_ASKED, "namespace", holder):
        # Whatever it was called: a pass over nobody sweeps the namespaces it held.
        yield api.TENANT_GATEWAY.ref(holder, api.USUAL)


def namespace_changed(old: Object, new: Object) -> bool:
    """Only what a gateway reads of a Namespace matters."""
    before, after = (
        (
            one.labels.get(api.ATTACH_LABEL),
            one.labels.get(api.HOST_LABEL),
            one.annotations.get(api.ATTACHED_BY),
            one.deleting,
        )
        for one in (old, new)
    )
    return before != after


def gateways_of_class(one: Object, cached: Cached) -> Iterator[Ref]:
    """Those that ask for it."""
    yield from _of(cached, "class", one.meta.name)


GATEWAYS_CONTROLLER = Controller(
    name="gateways",
    component=api.COMPONENT,
    watches=(
        Watch(GATEWAYS_ASKED, gateway_itself, gateway_changed),
        Watch(GATEWAYS, gateways_of_owned),
        Watch(CERTIFICATES, gateways_of_owned, optional=True),
        Watch(ISSUERS, gateways_of_owned, optional=True),
        Watch(HTTP_ROUTES, gateways_of_route),
        *(Watch(view, gateways_of_route, optional=True) for view in TLS_ROUTES),
        Watch(NAMESPACES, gateways_of_namespace, namespace_changed),
        Watch(SERVICES, gateways_of_service),
        Watch(GRANTS, gateways_of_grant, optional=True),
        Watch(CLASSES, gateways_of_class, optional=True),
    ),
    observe=observe,
    decide=decide,
    report=report,
    reasons=api.REASONS,
)
