"""Which namespaces carry our label, and which lose it. Source: tenant-gateway 3.8 and 4.8."""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import Want
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE


def labelled(seen: Snapshot) -> tuple[Want, ...]:
    """Label what should be labelled, and take it away where nothing asks for it any more."""
    return (*_marked(seen), *_unmarked(seen))


def held(seen: Snapshot) -> tuple[tuple[str, str], ...]:
    """The listed namespaces that belong to another, each with its holder."""
    found = ((name, seen.holder_of(name)) for name in seen.asked.attached)
    return tuple(sorted({(name, holder) for name, holder in found if holder}))


def _marked(seen: Snapshot) -> Iterator[Want]:
    if seen.asked_for is None:
        return
    for name in sorted({seen.namespace, *seen.asked.attached}):
        namespace = seen.namespaces.get(name)
        if namespace is None or namespace.deleting or seen.holder_of(name):
            continue
        right = namespace.labels.get(api.ATTACH_LABEL) == seen.namespace
        if not right or namespace.annotations.get(api.ATTACHED_BY) != seen.namespace:
            yield _patch(namespace, seen.namespace, seen.namespace)


def _unmarked(seen: Snapshot) -> Iterator[Want]:
    """Only what we wrote: a label without our annotation is the tenant chart's."""
    expected = seen.expected
    for name, namespace in seen.namespaces.items():
        ours = namespace.annotations.get(api.ATTACHED_BY) == seen.namespace
        if ours and name not in expected and not namespace.deleting:
            label = namespace.labels.get(api.ATTACH_LABEL)
            own = name == seen.namespace or label != seen.namespace
            yield _patch(namespace, label if own else None, None)


def _patch(namespace: Object, label: str | None, holder: str | None) -> Want:
    meta: dict[str, Any] = {
        "name": namespace.meta.name,
        "resourceVersion": namespace.meta.resource_version,
    }
    if namespace.labels.get(api.ATTACH_LABEL) != label:
        meta["labels"] = {api.ATTACH_LABEL: label}
    if namespace.annotations.get(api.ATTACHED_BY) != holder:
        meta["annotations"] = {api.ATTACHED_BY: holder}
    return Want.patch(NAMESPACE, {"metadata": meta}, namespace)
