"""How a snapshot is collected. Values of Secrets are read live, one at a time.

Source: trust-anchors 4 and 6.
"""

from dataclasses import replace
from datetime import datetime

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot.declare import declare, selectors_digest
from roadstead.capabilities.anchors.snapshot.facts import (
    Recorded,
    Snapshot,
    Source,
    StraySource,
    is_application,
    is_legacy,
    is_ours,
    name_is_supported,
    recorded_source,
)
from roadstead.capabilities.anchors.snapshot.views import (
    DEFINITIONS,
    RELEASES,
    SECRETS,
    release_opted_into,
)
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.pem import Lifted, holds_private_key, lift
from roadstead.kube.refs import SECRET, Ref


async def observe(reader: Reader, key: Ref) -> Snapshot | StraySource | None:
    """Collect what one release's anchor is judged on; None when there is nothing to judge.

    Raises: ClusterError when a read fails; nothing is written then.
    Source: trust-anchors 6, R1 to R9.
    """
    if key.kind == SECRET:
        return _stray(reader.get(SECRETS, key.namespace, key.name))
    release = reader.get(RELEASES, key.namespace, key.name)
    if release is None or release.deleting:
        return None
    seen = Snapshot(release, reader.now)
    if not is_application(release) or not name_is_supported(release):
        return seen
    definitions = reader.list(DEFINITIONS, "kind", seen.kind)
    if not definitions:
        return seen
    seen = _with_definition(seen, reader, definitions[0])
    if seen.declaration is not None:
        return await _declared_leg(seen, reader)
    return await _label_leg(seen, reader)


def _stray(secret: Object | None) -> StraySource | None:
    if secret is None or secret.deleting or secret.labels.get(api.PUBLISH) != "true":
        return None
    if secret.labels.get(api.PUBLISH_RELEASE) or secret.labels.get(api.COPY) == "true":
        return None
    return StraySource(secret)


def _with_definition(seen: Snapshot, reader: Reader, definition: Object) -> Snapshot:
    spec = definition.body["spec"]
    own = spec["caCert"]
    entry = reader.settings.ca_source(seen.kind)
    declaration = None
    if own is not None:
        declaration = declare(own, seen.release, str(definition.ref))
    elif entry is not None:
        where = f"the engine table's entry `{entry.kind}` for {definition.ref}"
        declaration = declare(entry, seen.release, where)
    return replace(
        seen,
        definition=definition.ref,
        definition_uid=definition.meta.uid,
        digest=selectors_digest(spec["secrets"]),
        declaration=declaration,
        allowed=seen.kind in reader.settings.allow_withdrawals or reader.settings.ca_sources == (),
    )


async def _declared_leg(seen: Snapshot, reader: Reader) -> Snapshot:
    declaration = seen.declaration
    if declaration is None or declaration.problem:
        return seen
    ref = SECRET.ref(seen.release.meta.namespace, declaration.secret)
    secret = await reader.live_get(ref)
    if secret is None or secret.deleting:
        return seen
    source = _source(secret, declaration.key, reader.now)
    seen = replace(seen, source=source)
    if ref == seen.anchor:
        return replace(
            seen, target=secret, occupied=_holds_key(secret), canonical=_lifted(secret, api.KEY)
        )
    if source.copy:
        return seen
    return await _with_target(seen, reader)


async def _label_leg(seen: Snapshot, reader: Reader) -> Snapshot:
    """Find the labelled source; Source: trust-anchors 4.1 and 6.2."""
    release = seen.release.ref
    cached = reader.list(SECRETS, "release", release.key)
    if len(cached) == 1:
        found = await reader.live_get(cached[0].ref)
        if found is not None and release_opted_into(found) == (release.key,):
            return await _labelled(seen, reader, found)
    candidates = await _list_candidates(reader, release)
    if len(candidates) > 1:
        return replace(seen, candidates=tuple(candidate.ref for candidate in candidates))
    if not candidates:
        return await _withdrawal(seen, reader)
    found = await reader.live_get(candidates[0].ref)
    if found is None or release_opted_into(found) != (release.key,):
        raise _changed_meanwhile(candidates[0].ref)
    return await _labelled(seen, reader, found)


async def _list_candidates(reader: Reader, release: Ref) -> tuple[Object, ...]:
    listed = await reader.live_list(SECRET, release.namespace, f"{api.PUBLISH}=true")
    return tuple(secret for secret in listed if release_opted_into(secret) == (release.key,))


def _changed_meanwhile(ref: Ref) -> ClusterError:
    return ClusterError(
        f"{ref} changed while it was read", status=409, reason="Conflict", about=str(ref)
    )


async def _labelled(seen: Snapshot, reader: Reader, secret: Object) -> Snapshot:
    stated = secret.annotations.get(api.PUBLISH_KEY)
    key = (stated if stated is not None else secret.labels.get(api.PUBLISH_KEY, "")).strip()
    source = _source(secret, key or api.KEY, reader.now)
    seen = replace(seen, source=source, candidates=(secret.ref,))
    if secret.ref == seen.anchor:
        return replace(
            seen, target=secret, occupied=_holds_key(secret), canonical=_lifted(secret, api.KEY)
        )
    return await _with_target(seen, reader)


def _source(secret: Object, key: str, now: datetime) -> Source:
    keys = secret.data_keys()
    return Source(
        ref=secret.ref,
        uid=secret.meta.uid,
        key=key,
        age=secret.age(now),
        copy=secret.labels.get(api.COPY) == "true",
        has_key=key in keys,
        others=any(other != key for other in keys),
        lifted=_lifted(secret, key),
    )


def _lifted(secret: Object, key: str) -> Lifted | None:
    value = secret.decoded(key)
    return lift(value) if value is not None and value.strip() else None


def _holds_key(secret: Object) -> bool:
    return any(holds_private_key(secret.decoded(key) or b"") for key in secret.data_keys())


async def _with_target(seen: Snapshot, reader: Reader) -> Snapshot:
    """Read the Secret at the anchor's name where the content gate lets a write follow."""
    lifted = seen.source.lifted if seen.source else None
    if lifted is None or lifted.refusal is not None:
        return seen
    return replace(seen, target=await _target(seen, reader))


async def _target(seen: Snapshot, reader: Reader) -> Object | None:
    anchor = seen.anchor
    if reader.absent(SECRETS, anchor.namespace, anchor.name):
        return None
    return await reader.live_get(anchor)


async def _withdrawal(seen: Snapshot, reader: Reader) -> Snapshot:
    """Collect what decides whether an anchor without a source goes. Source: 6.2."""
    target = await _target(seen, reader)
    seen = replace(
        seen, target=target, published=_published(seen, reader), lost_for=reader.since(api.LOST)
    )
    if target is None or target.deleting or not is_ours(target, seen.release):
        return seen
    if is_legacy(target) or target.annotations.get(api.MODE) == api.DECLARED:
        return seen
    ref = recorded_source(target)
    if ref is None:
        return seen
    secret = await reader.live_get(ref)
    there = secret is not None and not secret.deleting
    if there and secret is not None and release_opted_into(secret) == (seen.release.ref.key,):
        raise _changed_meanwhile(ref)
    return replace(seen, recorded=Recorded(ref, there))


def _published(seen: Snapshot, reader: Reader) -> int:
    """How many anchors of this kind are published, as the views know it."""
    releases = reader.list(RELEASES, "kind", seen.kind)
    anchors = (
        reader.get(SECRETS, release.meta.namespace, release.meta.name + api.SUFFIX)
        for release in releases
    )
    return sum(1 for anchor in anchors if anchor and anchor.labels.get(api.COPY) == "true")
