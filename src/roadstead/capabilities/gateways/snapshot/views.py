"""The views a tenant gateway is judged from, and how they are looked up.

Source: tenant-gateway 4.1, 5.6 and 6.
"""

from collections.abc import Iterator

from roadstead.capabilities.gateways import api
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SERVICE
from roadstead.kube.shapes import Json, items, part, text, texts
from roadstead.kube.views import Form, Index, View


def gateway_of(ref: Json, namespace: str) -> str:
    """`namespace/name` of the Gateway a parentRef names; empty where it names something else.

    An explicit empty group means the core group, which has no Gateway. Source: 4.1.
    """
    if ref.get("group", api.GATEWAY_API) != api.GATEWAY_API:
        return ""
    if ref.get("kind", api.GATEWAY.kind) != api.GATEWAY.kind:
        return ""
    return f"{ref.get('namespace') or namespace}/{text(ref, 'name')}"


def parents(route: Object) -> Iterator[str]:
    """The Gateways a route names now, and those its own entries speak of."""
    place = route.meta.namespace
    for ref in items(part(route.body, "spec"), "parentRefs"):
        yield gateway_of(ref, place)
    for entry in items(part(route.body, "status"), "parents"):
        if entry.get("controllerName") == api.COMPONENT:
            yield gateway_of(part(entry, "parentRef"), place)


def _parents(route: Object) -> tuple[str, ...]:
    return tuple(sorted({one for one in parents(route) if one}))


def backends(route: Object) -> Iterator[tuple[str, str, str, str]]:
    """Group, kind, namespace and name of everything a route's rules forward to."""
    for rule in items(part(route.body, "spec"), "rules"):
        for ref in items(rule, "backendRefs"):
            place = text(ref, "namespace") or route.meta.namespace
            yield (
                str(ref.get("group") or ""),
                str(ref.get("kind") or SERVICE.kind),
                place,
                text(ref, "name"),
            )


def _backends(route: Object) -> tuple[str, ...]:
    found = {f"{place}/{name}" for _, kind, place, name in backends(route) if kind == SERVICE.kind}
    return tuple(sorted(found))


def _backend_namespaces(route: Object) -> tuple[str, ...]:
    return tuple(sorted({place for _, _, place, _ in backends(route)}))


def _namespace(seen: Object) -> tuple[str, ...]:
    return (seen.meta.namespace,)


def _attached(seen: Object) -> tuple[str, ...]:
    return texts(part(seen.body, "spec"), "attachedNamespaces")


def _class_name(seen: Object) -> tuple[str, ...]:
    return (text(part(seen.body, "spec"), "gatewayClassName") or "cilium",)


def _owner(seen: Object) -> tuple[str, ...]:
    owner = seen.controller
    return (owner.uid,) if owner is not None and owner.is_a(api.TENANT_GATEWAY) else ()


def kept_namespace(seen: Object) -> Object | None:
    """Keep a Namespace's metadata, its annotations too."""
    return Object(seen.kind, seen.meta)


def _attach_label(seen: Object) -> tuple[str, ...]:
    label = seen.labels.get(api.ATTACH_LABEL, "")
    return (label,) if label else ()


def _attached_by(seen: Object) -> tuple[str, ...]:
    holder = seen.annotations.get(api.ATTACHED_BY, "")
    return (holder,) if holder else ()


GATEWAYS_ASKED = View(
    "tenantgateways-asked",
    api.TENANT_GATEWAY,
    indexes=(
        Index("namespace", _namespace),
        Index("attached", _attached),
        Index("class", _class_name),
    ),
)
GATEWAYS = View("gateways", api.GATEWAY, indexes=(Index("owner", _owner),))
CERTIFICATES = View("certificates", api.CERTIFICATE, indexes=(Index("namespace", _namespace),))
ISSUERS = View("issuers", api.ISSUER)
_OF_ROUTES = (
    Index("parent", _parents),
    Index("backend", _backends),
    Index("target", _backend_namespaces),
)
HTTP_ROUTES = View("httproutes", api.HTTP_ROUTE, indexes=_OF_ROUTES)
TLS_ROUTES = tuple(
    View(f"tlsroutes-{kind.version}", kind, indexes=_OF_ROUTES) for kind in api.TLS_ROUTES
)
NAMESPACES = View(
    "namespaces",
    NAMESPACE,
    keep=kept_namespace,
    indexes=(Index("label", _attach_label), Index("holder", _attached_by)),
)
SERVICES = View("service-names", SERVICE, Form.METADATA)
GRANTS = View("referencegrants", api.REFERENCE_GRANT, indexes=(Index("namespace", _namespace),))
CLASSES = View("gatewayclasses", api.GATEWAY_CLASS, Form.METADATA)
