"""The anchor as it should be: one certificate key, our marks, the release as its owner.

Source: trust-anchors 7.
"""

from base64 import b64encode
from copy import deepcopy
from typing import Any

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import Snapshot, Source
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE

Json = dict[str, Any]


def fresh_anchor(seen: Snapshot, source: Source, pem: bytes) -> Json:
    """The anchor where none stands yet. Nothing comes from the source but the certificates."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": seen.anchor.name,
            "namespace": seen.anchor.namespace,
            "labels": {api.TENANT_CA: "true", api.COPY: "true"},
            "annotations": _annotations(seen, source),
            "ownerReferences": [owner_reference(seen.release)],
        },
        "type": "Opaque",
        "data": {api.KEY: b64encode(pem).decode()},
    }


def mended_anchor(seen: Snapshot, source: Source, pem: bytes, live: Object) -> Json:
    """The live anchor with our parts put right; equal to it when nothing has drifted.

    Data is replaced, never merged: a `tls.key` that another writer added cannot survive.
    Labels and annotations are merged: the webhook's stay, except where the verdict is stale.
    Source: trust-anchors 7.2 to 7.5.
    """
    body = deepcopy(live.body)
    meta = body["metadata"]
    labels = {**live.labels, api.TENANT_CA: "true", api.COPY: "true"}
    if needs_readmission(seen, live):
        labels.pop(api.MANAGED_BY, None)
    annotations = {**live.annotations, **_annotations(seen, source)}
    annotations.pop(api.LAST_APPLIED, None)
    meta["labels"] = labels
    meta["annotations"] = annotations
    if not _owned_as_it_should(seen.release, live):
        meta["ownerReferences"] = [owner_reference(seen.release)]
    body["data"] = {api.KEY: b64encode(pem).decode()}
    body.pop("stringData", None)
    return body


def needs_readmission(seen: Snapshot, live: Object) -> bool:
    """Tell whether the webhook must judge the anchor anew. Source: trust-anchors 7.4."""
    return live.annotations.get(api.SELECTORS) != seen.digest


def owner_reference(release: Object) -> Json:
    """The one owner of an anchor: garbage collection follows it. Source: trust-anchors 7.5."""
    return {
        "apiVersion": HELM_RELEASE.api_version,
        "kind": HELM_RELEASE.kind,
        "name": release.meta.name,
        "uid": release.meta.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }


def _owned_as_it_should(release: Object, live: Object) -> bool:
    if len(live.owners) != 1:
        return False
    owner, wanted = live.owners[0], owner_reference(release)
    return (
        owner.api_version == wanted["apiVersion"]
        and owner.kind == wanted["kind"]
        and owner.name == wanted["name"]
        and owner.uid == wanted["uid"]
        and owner.controller is True
        and not owner.block_owner_deletion
    )


def _annotations(seen: Snapshot, source: Source) -> dict[str, str]:
    return {
        api.SOURCE: source.ref.key,
        api.MODE: api.LABELLED if seen.declaration is None else api.DECLARED,
        api.SELECTORS: seen.digest,
    }
