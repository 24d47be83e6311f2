"""How a snapshot is collected, from views. Source: tenant-gateway 6 and 8.1."""

from dataclasses import replace

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.facts import Asked, Route, Snapshot
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
    backends,
)
from roadstead.decision import Reader
from roadstead.errors import Unread
from roadstead.kube.grants import allowed
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.kube.shapes import items, part, texts
from roadstead.kube.views import View

_ABSENT = "absent"
"""Why a view of a kind that is not served cannot be read; any other reason is no answer."""


async def observe(reader: Reader, key: Ref) -> Snapshot | None:
    """Collect what one TenantGateway is judged on; None when nothing of it is left.

    Raises: ClusterError when a read fails; nothing is written then.
    """
    found = reader.get(GATEWAYS_ASKED, key.namespace, key.name)
    gone = found is None or found.deleting
    seen = Snapshot(key, reader.now, asked_for=None if gone else found)
    siblings = reader.list(GATEWAYS_ASKED, "namespace", key.namespace)
    others = tuple(one for one in siblings if one.meta.name != key.name and not one.deleting)
    seen = replace(seen, siblings=others, routes=_routes(reader, key))
    seen = _with_namespaces(seen, reader)
    if seen.asked_for is not None:
        return _with_objects(seen, reader)
    left = any(one.annotations.get(api.ATTACHED_BY) == key.namespace for one in _all(seen))
    return seen if left or seen.routes else None


def _all(seen: Snapshot) -> tuple[Object, ...]:
    return tuple(seen.namespaces.values())


def _with_namespaces(seen: Snapshot, reader: Reader) -> Snapshot:
    place = seen.namespace
    named = {place, *seen.asked.attached}
    for sibling in seen.siblings:
        named |= set(Asked.of(sibling).attached)
    found = {one.meta.name: one for one in reader.list(NAMESPACES, "label", place)}
    found |= {one.meta.name: one for one in reader.list(NAMESPACES, "holder", place)}
    for name in named - found.keys():
        one = reader.get(NAMESPACES, "", name)
        if one is not None:
            found[name] = one
    holders = {
        name: _listed_by(reader, by, name) | (_owner_of(reader, name) & {by})
        for name in seen.asked.attached
        if name in found and (by := found[name].annotations.get(api.ATTACHED_BY, ""))
    }
    return replace(seen, namespaces=dict(sorted(found.items())), holders=holders)


def _listed_by(reader: Reader, holder: str, name: str) -> frozenset[str]:
    """The holder, where a TenantGateway of it lists a namespace.

    Asked of the holder alone: where every tenant lists the platform's namespaces, asking who
    lists one would cost each tenant as much as there are tenants.
    """
    asked = reader.list(GATEWAYS_ASKED, "namespace", holder)
    lists = any(name in Asked.of(one).attached for one in asked if not one.deleting)
    return frozenset({holder}) if lists else frozenset()


def _owner_of(reader: Reader, name: str) -> frozenset[str]:
    """A namespace with a TenantGateway of its own holds itself."""
    own = reader.list(GATEWAYS_ASKED, "namespace", name)
    return frozenset({name}) if any(not one.deleting for one in own) else frozenset()


def _with_objects(seen: Snapshot, reader: Reader) -> Snapshot:
    place, name = seen.namespace, seen.name
    issued = _of_cert_manager(reader, place, name)
    issuer, certificates = issued or (None, ())
    return replace(
        seen,
        cert_manager=issued is not None,
        gateway=reader.get(GATEWAYS, place, name),
        issuer=issuer,
        redirect=reader.get(HTTP_ROUTES, place, f"{name}-http-redirect"),
        certificates={one.meta.name: one for one in certificates},
        class_exists=_class_exists(reader, seen.asked.class_name),
    )


def _of_cert_manager(
    reader: Reader, place: str, name: str
) -> tuple[Object | None, tuple[Object, ...]] | None:
    """The Issuer and the Certificates; None where cert-manager is not installed."""
    try:
        issuer = reader.get(ISSUERS, place, f"{name}-gateway")
        return issuer, reader.list(CERTIFICATES, "namespace", place)
    except Unread as error:
        if error.reason != _ABSENT:
            raise
        return None


def _class_exists(reader: Reader, name: str) -> bool | None:
    try:
        return reader.get(CLASSES, "", name) is not None
    except Unread:
        return None


def _routes(reader: Reader, key: Ref) -> tuple[Route, ...]:
    http = reader.list(HTTP_ROUTES, "parent", key.key)
    tls = reader.list(view, "parent", key.key) if (view := tls_view(reader)) else ()
    return (
        *(Route(one) for one in http),
        *(Route(one, _resolves(reader, one), _status_kind(reader, one)) for one in tls),
    )


def tls_view(reader: Reader) -> View | None:
    """The first version of TLSRoute that is served; None where none is. Source: 6."""
    return next((view for view in TLS_ROUTES if _is_served(reader, view)), None)


def _is_served(reader: Reader, view: View) -> bool:
    try:
        reader.list(view, "parent", "")
    except Unread as error:
        if error.reason != _ABSENT:
            raise
        return False
    return True


def _status_kind(reader: Reader, route: Object) -> Kind | None:
    """The version that allows what this route is, while that is served. Source: 6, at its end."""
    spec = part(route.body, "spec")
    if texts(spec, "hostnames") and len(items(spec, "rules")) <= 1:
        return None
    oldest = TLS_ROUTES[-1]
    return oldest.kind if _is_served(reader, oldest) else None


def _resolves(reader: Reader, route: Object) -> bool:
    """Whether a rule has a backend that is there and may be used. Source: 4.2, forwarding."""
    return any(
        not group and kind == SERVICE.kind and _is_there(reader, route, place, name)
        for group, kind, place, name in backends(route)
    )


def _is_there(reader: Reader, route: Object, place: str, name: str) -> bool:
    if reader.get(SERVICES, place, name) is None:
        return False
    return place == route.meta.namespace or _is_granted(reader, route, place, name)


def _is_granted(reader: Reader, route: Object, place: str, name: str) -> bool:
    """Whether a ReferenceGrant of the target namespace allows a route to use a Service."""
    try:
        grants = reader.list(GRANTS, "namespace", place)
    except Unread as error:
        if error.reason != _ABSENT:
            raise
        return False
    return allowed(grants, route.ref, SERVICE.ref(place, name))
