"""What a tenant sees of Secrets: the view that the platform serves as `tenantsecrets`.

Pure functions over Secrets; nothing here is served. `why` and `up` ask them what a tenant sees, and
what the view does beyond that, a watch and a tenant's own writes, is the contract in a form that
tests hold. It is filtered by label, never by key: every byte of a Secret that has the label reaches
the tenant.
Source: lineage 8.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from roadstead.capabilities.lineage import api
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Kind
from roadstead.kube.selectors import FieldSelector, LabelSelector

TENANT_SECRET = Kind("TenantSecret", "core.cozystack.io", "v1alpha1", "tenantsecrets")
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
OPAQUE = "Opaque"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a tenant asks for.

    namespace: of the request; empty for all. labels, fields: in the form of the wire.
    """

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    def selects(self, secret: Object) -> bool:
        """Tell whether a Secret is part of the view and of what is asked for.

        Raises: InputError for a selector that cannot be read.
        """
        labels, fields = LabelSelector.parse(self.labels), FieldSelector.parse(self.fields)
        named = {"metadata": {"name": secret.meta.name, "namespace": secret.meta.namespace}}
        return (
            secret.labels.get(api.TENANT_RESOURCE) == api.VISIBLE
            and self.namespace in {"", secret.meta.namespace}
            and labels.matches(secret.labels)
            and fields.matches(named)
        )


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a watch. type: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Json = field(repr=False)


def shown(secret: Object) -> Json:
    """A Secret as a tenant reads it."""
    meta = secret.meta
    labels = {key: value for key, value in secret.labels.items() if key != api.TENANT_RESOURCE}
    annotations = {k: v for k, v in secret.annotations.items() if k != api.LAST_APPLIED}
    stated: Json = {
        "name": meta.name,
        "namespace": meta.namespace,
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
        "creationTimestamp": meta.creation_timestamp,
        "labels": labels,
        "annotations": annotations,
    }
    data = secret.body.get("data") or {}
    return {
        "apiVersion": TENANT_SECRET.api_version,
        "kind": TENANT_SECRET.kind,
        "metadata": {key: value for key, value in stated.items() if value},
        "type": secret.body.get("type") or OPAQUE,
        "data": dict(data),
        # Upstream gives the base64 text here as well, and clients rely on it.
        "stringData": dict(data),
    }


def got(secrets: Iterable[Object], namespace: str, name: str) -> Json:
    """One Secret by name.

    Raises: ClusterError (404) where the tenant does not see it, whether or not it is there.
    """
    for secret in secrets:
        named = (secret.meta.namespace, secret.meta.name) == (namespace, name)
        if named and Selection().selects(secret):
            return shown(secret)
    raise _not_found(name)


def listed(secrets: Iterable[Object], asked: Selection) -> tuple[Json, ...]:
    """The Secrets a tenant asks for, sorted by namespace and name.

    Raises: InputError for a selector that cannot be read.
    """
    found = (secret for secret in secrets if asked.selects(secret))
    return tuple(shown(one) for one in sorted(found, key=lambda one: one.ref))


def watched(
    before: Iterable[Object],
    changes: Iterable[tuple[str, Object]],
    asked: Selection,
    *,
    version: int = 0,
    initial: bool = False,
) -> Iterator[Event]:
    """Follow what a tenant asks for.

    before: the Secrets as they are at the start. changes: what the watch of all Secrets then
        brings, as type and Secret. version: the resourceVersion the watch starts at; what was
        added up to it is known already. initial: send what is there first, and a bookmark.
    Raises: InputError for a selector that cannot be read.
    """
    seen = {one.ref: one for one in before if asked.selects(one)}
    if initial:
        for secret in sorted(seen.values(), key=lambda one: one.ref):
            yield Event("ADDED", shown(secret))
        yield Event("BOOKMARK", _bookmark(version))
    for kind, secret in changes:
        old = seen.get(secret.ref)
        if kind != "DELETED" and asked.selects(secret):
            seen[secret.ref] = secret
            if old is not None:
                yield Event("MODIFIED", shown(secret))
            elif kind != "ADDED" or _number(secret) > version:
                yield Event("ADDED", shown(secret))
        elif old is not None:
            del seen[secret.ref]
            yield Event("DELETED", _last_seen(old, secret))


def written(stated: Mapping[str, Any], live: Object | None, namespace: str) -> Json:
    """The Secret that a tenant's create or update becomes; tenants' roles grant neither.

    stated: a TenantSecret. live: the Secret of that name, for an update; None for a creation.
    Raises: ClusterError (404) for an update of a Secret that the tenant does not see.
    """
    meta = stated.get("metadata") or {}
    if live is not None and not Selection().selects(live):
        raise _not_found(live.meta.name)
    kept_labels = {k: v for k, v in (live.labels if live else {}).items() if _stays(k)}
    kept_notes = {k: v for k, v in (live.annotations if live else {}).items() if _stays(k)}
    fixed = live is not None
    labels = {k: v for k, v in (meta.get("labels") or {}).items() if _is_theirs(k, fixed=fixed)}
    notes = {k: v for k, v in (meta.get("annotations") or {}).items() if _is_theirs(k, fixed=fixed)}
    body: Json = dict(live.body) if live else {"apiVersion": "v1", "kind": SECRET.kind}
    held: Json = dict(body.get("metadata") or {"name": meta.get("name"), "namespace": namespace})
    held["labels"] = {**labels, **kept_labels, api.TENANT_RESOURCE: api.VISIBLE}
    held["annotations"] = {**notes, **kept_notes}
    if live and meta.get("resourceVersion"):
        held["resourceVersion"] = meta["resourceVersion"]
    body["metadata"] = held
    body["type"] = stated.get("type") or body.get("type") or OPAQUE
    data = stated.get("data") or _packed(stated.get("stringData") or {})
    if data or not live:
        body["data"] = dict(data)
    return body


def _stays(key: str) -> bool:
    """Tell whether a key of a stored Secret is not the tenant's to change."""
    return key.startswith(api.INTERNAL) or key in api.TRIPLE


def _is_theirs(key: str, *, fixed: bool) -> bool:
    """Tell whether a tenant may state a key. fixed: the lineage is there already."""
    if key.startswith(api.INTERNAL) or key == api.LAST_APPLIED:
        return False
    return not (fixed and key in api.TRIPLE)


def _packed(texts: Mapping[str, str]) -> dict[str, str]:
    return {key: b64encode(value.encode()).decode() for key, value in texts.items()}


def _last_seen(old: Object, now: Object) -> Json:
    """What the tenant last saw, at the version at which it is gone: never what came after."""
    last = shown(old)
    return {**last, "metadata": {**last["metadata"], "resourceVersion": now.meta.resource_version}}


def _bookmark(version: int) -> Json:
    return {
        "apiVersion": TENANT_SECRET.api_version,
        "kind": TENANT_SECRET.kind,
        "metadata": {
            "resourceVersion": str(version),
            "annotations": {INITIAL_EVENTS_END: "true"},
        },
    }


def _number(secret: Object) -> int:
    version = secret.meta.resource_version
    return int(version) if version.isdecimal() else 0


def _not_found(name: str) -> ClusterError:
    return ClusterError(
        f'{TENANT_SECRET.resource} "{name}" not found',
        status=HTTPStatus.NOT_FOUND,
        reason="NotFound",
        about=name,
    )
