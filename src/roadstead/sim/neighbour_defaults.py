"""What the API server fills in on neighbours' kinds, as far as a decision of ours sees it.

The rows are those of the projects' own CustomResourceDefinitions; filters other than a redirect,
and fields that no object of ours or of a case has, are left out. Status defaults come by reading:
a Gateway that nobody has looked at is `Unknown`. Source: tenant-gateway 14.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.kube.refs import Kind

_API = "gateway.networking.k8s.io"
_ANY_PATH = {"type": "PathPrefix", "value": "/"}
Row = tuple[str, Any]
"""A dotted path, `[]` for every entry of a list, and what stands there where nothing does."""


def _pending(*types: str) -> list[dict[str, str]]:
    return [
        {
            "type": name,
            "status": "Unknown",
            "reason": "Pending",
            "message": "Waiting for controller",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }
        for name in types
    ]


def _below(path: str, **defaults: Any) -> tuple[Row, ...]:
    return tuple((f"{path}.{name}", value) for name, value in defaults.items())


def _conditions(*types: str) -> tuple[Row, ...]:
    """The conditions alone are filled in where a status states others things."""
    pending = _pending(*types)
    return ("status", {"conditions": pending}), ("status.conditions", pending)


_PARENTS = (
    *_below("spec.parentRefs[]", group=_API, kind="Gateway"),
    *_below("status.parents[].parentRef", group=_API, kind="Gateway"),
)
_BACKENDS = _below("spec.rules[].backendRefs[]", group="", kind="Service", weight=1)
_LISTENER = "spec.listeners[]"
_SAME = {"from": "Same"}

ROWS: Mapping[str, tuple[Row, ...]] = {
    "Gateway": (
        (f"{_LISTENER}.allowedRoutes", {"namespaces": _SAME}),
        (f"{_LISTENER}.allowedRoutes.namespaces", _SAME),
        (f"{_LISTENER}.allowedRoutes.namespaces.from", "Same"),
        (f"{_LISTENER}.allowedRoutes.kinds[].group", _API),
        (f"{_LISTENER}.tls.mode", "Terminate"),
        *_below(f"{_LISTENER}.tls.certificateRefs[]", group="", kind="Secret"),
        ("spec.addresses[].type", "IPAddress"),
        *_conditions("Accepted", "Programmed"),
        ("status.addresses[].type", "IPAddress"),
        ("status.listeners[].supportedKinds[].group", _API),
    ),
    "GatewayClass": _conditions("Accepted"),
    "HTTPRoute": (
        *_PARENTS,
        ("spec.rules", [{"matches": [{"path": _ANY_PATH}]}]),
        ("spec.rules[].matches", [{"path": _ANY_PATH}]),
        ("spec.rules[].matches[].path", _ANY_PATH),
        *_below("spec.rules[].matches[].path", **_ANY_PATH),
        ("spec.rules[].filters[].requestRedirect.statusCode", 302),
        *_BACKENDS,
    ),
    "TLSRoute": (*_PARENTS, *_BACKENDS),
    "Issuer": _below(
        "spec.acme.solvers[].http01.gatewayHTTPRoute.parentRefs[]", group=_API, kind="Gateway"
    ),
}
"""By kind, parents before what is below them."""
_GROUPS = {_API, "cert-manager.io"}


def filled(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    """A body with what the server adds; other kinds pass untouched, and nothing is overwritten."""
    rows = ROWS.get(kind.kind, ()) if kind.group in _GROUPS else ()
    if not rows:
        return body
    body = copy.deepcopy(body)
    for path, default in rows:
        *way, last = path.split(".")
        for holder in _reached(body, way):
            if holder.get(last) is None:
                holder[last] = copy.deepcopy(default)
    return body


def _reached(value: Any, way: list[str]) -> Iterator[dict[str, Any]]:
    """Every map at the end of a way; what is absent or of another shape is passed over."""
    if not isinstance(value, dict):
        return
    if not way:
        yield value
        return
    name, is_list = way[0].removesuffix("[]"), way[0].endswith("[]")
    found = value.get(name)
    if is_list:
        for one in found if isinstance(found, list) else ():
            yield from _reached(one, way[1:])
    else:
        yield from _reached(found, way[1:])
