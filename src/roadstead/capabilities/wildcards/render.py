"""The copy as it should be: the TLS keys of the source, our marks. Source: wildcard-secrets 7."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.snapshot import Snapshot
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref

Json = dict[str, Any]


def fresh_copy(seen: Snapshot, ref: Ref) -> Json:
    """The copy where none stands yet; no owner, no finalizer, nothing else of the source."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": {api.COPY: "true"},
            "annotations": {api.COPY_SOURCE: seen.source_ref.key},
        },
        "type": api.TLS,
        "data": dict(seen.wanted),
    }


def mended_copy(seen: Snapshot, live: Object) -> Json:
    """The live copy with our parts put right; equal to it when nothing has drifted.

    What would show it to the tenant or give it a lineage goes; what else others wrote stays.
    """
    body = deepcopy(live.body)
    meta = body["metadata"]
    meta["labels"] = {**_harmless(live.labels), api.COPY: "true"}
    meta["annotations"] = {
        **_harmless(live.annotations),
        api.COPY_SOURCE: seen.source_ref.key,
    }
    meta.pop("ownerReferences", None)
    body["data"] = dict(seen.wanted)
    return body


def is_made_anew(seen: Snapshot, live: Object) -> bool:
    """Tell whether a copy cannot be put right in place."""
    if live.body.get("type") != api.TLS:
        return True
    return bool(live.body.get("immutable")) and (live.body.get("data") or {}) != seen.wanted


def _harmless(stated: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in stated.items()
        if not key.startswith(api.FOREIGN_PREFIXES) and key != api.LAST_APPLIED
    }
