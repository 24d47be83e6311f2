"""What a verdict becomes: single changes of labels, never the object written out anew.

Numbers beyond 2^53, the order of keys and unknown fields stay as they came. Source: lineage 4.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot import Application, Belonging
from roadstead.decision import Want
from roadstead.kube.objects import Object

Operation = Mapping[str, Any]
"""One operation of a JSON patch (RFC 6902)."""


def lineage_labels(application: Application, verdict: str) -> dict[str, str]:
    """The five labels of an owned object, written together. Source: lineage 2."""
    return {**application.labels, api.TENANT_RESOURCE: verdict, api.MANAGED_BY: "true"}


def patch(
    subject: Object,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    scheduler: str,
) -> tuple[Operation, ...]:
    """The changes that give an object what it lacks of these; none where it has all.

    scheduler: of a Pod; empty leaves it.
    """
    changes = [*_entries("labels", subject.labels, labels)]
    changes += _entries("annotations", subject.annotations, annotations)
    if scheduler and (subject.body.get("spec") or {}).get("schedulerName") != scheduler:
        changes.append({"op": "add", "path": "/spec/schedulerName", "value": scheduler})
    return tuple(changes)


def _entries(name: str, has: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[Operation]:
    missing = {key: value for key, value in sorted(wanted.items()) if has.get(key) != value}
    if not missing:
        return
    if not has:
        yield {"op": "add", "path": f"/metadata/{name}", "value": missing}
        return
    for key, value in missing.items():
        # `add` replaces a member that is there.
        yield {"op": "add", "path": f"/metadata/{name}/{pointer(key)}", "value": value}


def pointer(key: str) -> str:
    """A key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def asked_again(one: Belonging) -> Want:
    """Take the managed label off, so that the webhook sees the object and judges it anew.

    Source: lineage 3 and 9, item 2.
    """
    meta = one.seen.meta
    body = {
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "resourceVersion": meta.resource_version,
            "labels": {api.MANAGED_BY: None},
        }
    }
    return Want.patch(one.seen.kind, body, one.seen, once=one.once)
