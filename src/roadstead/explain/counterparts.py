"""Minted objects as a baseline knows them: what one owner has made has another name there.

A minted name hangs on a uid, and the offline world makes up its own.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref

_GIVEN_BY_THE_SERVER = frozenset(
    {"clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"}
)
"""Fields of a Service that depend on the cluster where nobody states them."""


def counterparts(after: Iterable[Object], baseline: Mapping[Ref, Object]) -> dict[Ref, Ref]:
    """The name a baseline has for each minted object, where it has one."""
    taken = set(baseline)
    found = {}
    for seen in after:
        if is_minted(seen) and seen.ref not in baseline:
            there = sorted(ref for ref in taken if is_counterpart(baseline[ref], seen))
            if there:
                found[seen.ref] = there[0]
                taken.discard(there[0])
    return found


def is_minted(seen: Object) -> bool:
    """Tell whether an object's name was made of a prefix."""
    return bool(prefix_of(seen))


def prefix_of(seen: Object) -> str:
    """What a minted name begins with; empty for any other."""
    return str(seen.body["metadata"].get("generateName") or "")


def is_counterpart(there: Object, seen: Object) -> bool:
    """Tell whether an object is what the same owner has made for the same end elsewhere."""
    same_place = (there.kind, there.meta.namespace) == (seen.kind, seen.meta.namespace)
    owner = _controller(seen)
    return (
        same_place
        and owner is not None
        and _controller(there) == owner
        and there.meta.name.startswith(prefix_of(seen))
    )


def _controller(seen: Object) -> tuple[str, str, str] | None:
    owner = seen.controller
    return (owner.group, owner.kind, owner.name) if owner else None


def renamed(seen: Object, names: Mapping[Ref, Ref]) -> Object:
    """An object with the names a baseline has, its own too; a Service without what is given."""
    texts = {old.name: new.name for old, new in names.items()}
    body = _renamed(seen.body, texts)
    if seen.kind == SERVICE and is_minted(seen):
        spec = {key: part for key, part in body["spec"].items() if key not in _GIVEN_BY_THE_SERVER}
        ports = [_without(port, "nodePort") for port in spec.get("ports") or ()]
        body = {**body, "spec": {**spec, "ports": ports}}
    return Object.of(seen.kind, body)


def _without(port: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: part for name, part in port.items() if name != key}


def _renamed(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _renamed(part, texts) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, texts) for part in value]
    return texts.get(value, value) if isinstance(value, str) else value
