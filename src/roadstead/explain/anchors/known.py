"""What a next step is worded with: the leg, the source's usable keys, a quota without room.

Read with the reader's own rights; what may not be read stays unknown, and the step is worded
without it. Of a Secret nothing is kept but the names of its keys.
"""

from dataclasses import replace

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import (
    DEFINITIONS,
    RELEASES,
    Snapshot,
    is_application,
    observe,
)
from roadstead.decision import Decision, Reader
from roadstead.errors import ClusterError
from roadstead.explain.anchors.next import Full, Known
from roadstead.explain.commands import QUOTA
from roadstead.kube.objects import Object
from roadstead.kube.pem import blank, describe, holds_private_key, lift
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref

_CONTENT = frozenset(
    {"CACertPrivateKeyRefused", "CACertInvalid", "CACertSourceKeyMissing", "CACertExpired"}
)


async def know(reader: Reader, key: Ref, decision: Decision) -> Known:
    """Collect what the next step of a key is worded with."""
    reasons = {finding.reason for finding in decision.findings if finding.reason}
    reasons |= {event.reason for event in decision.events}
    if key.kind != HELM_RELEASE:
        return Known(releases=_releases(reader, key.namespace))
    known = await _declared(reader, key)
    if reasons & _CONTENT and known.source is not None:
        known = replace(known, usable=await _usable(reader, known.source))
    if "CACertWriteDenied" in reasons:
        known = replace(known, quota=await _full(reader, key.namespace))
    return known


async def _declared(reader: Reader, key: Ref) -> Known:
    try:
        release = reader.get(RELEASES, key.namespace, key.name)
        if release is None:
            return Known()
        kind = release.labels.get(api.KIND_LABEL, "")
        definitions = reader.list(DEFINITIONS, "kind", kind)
        own = definitions[0].body["spec"]["caCert"] if definitions else None
        table = reader.settings.ca_source(kind) if own is None else None
        known = Known(definitions[0].ref if definitions else None, kind, table=table)
        seen = await observe(reader, key)
    except ClusterError:
        return Known()
    if not isinstance(seen, Snapshot):
        return known
    known = replace(known, declared=seen.declaration is not None)
    if seen.source is not None:
        known = replace(known, source=seen.source.ref, key=seen.source.key)
    return known


def _releases(reader: Reader, namespace: str) -> tuple[str, ...]:
    try:
        releases = reader.list(RELEASES)
    except ClusterError:
        return ()
    return tuple(
        release.meta.name
        for release in releases
        if release.meta.namespace == namespace and is_application(release)
    )


async def _usable(reader: Reader, ref: Ref) -> tuple[str, ...]:
    """The keys that hold certificates alone, `ca.crt` first."""
    try:
        secret = await reader.live_get(ref)
    except ClusterError:
        return ()
    if secret is None:
        return ()
    good = [name for name in secret.data_keys() if _is_good(secret.decoded(name))]
    return tuple(sorted(good, key=lambda name: (name != api.KEY, name)))


def _is_good(value: bytes | None) -> bool:
    return value is not None and not blank(value) and lift(value).refusal is None


async def _full(reader: Reader, namespace: str) -> Full | None:
    """A quota of the namespace that has no room for one more Secret."""
    try:
        used = len(await reader.live_list(SECRET, namespace, ""))
        names = await reader.live_list(QUOTA, namespace, "")
        quotas = [await reader.live_get(quota.ref) for quota in names]
    except ClusterError:
        return None
    for quota in quotas:
        hard = ((quota.body.get("spec") or {}).get("hard") or {}) if quota else {}
        for name in ("count/secrets", "secrets"):
            limit = str(hard.get(name, ""))
            if quota is not None and limit.isdecimal() and int(limit) <= used:
                return Full(quota.ref, name, used + 1)
    return None


def holds(secret: Object) -> tuple[str, ...]:
    """What each key of a Secret holds, in words that may be shown."""
    return tuple(
        f"`{name}`: {describe(secret.decoded(name) or b'')}" for name in secret.data_keys()
    )


def holds_a_private_key(secret: Object) -> bool:
    """Tell whether any value of a Secret has a private-key header."""
    return any(holds_private_key(secret.decoded(name) or b"") for name in secret.data_keys())
