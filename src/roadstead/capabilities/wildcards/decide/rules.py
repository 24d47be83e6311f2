"""The rules: one question, one answer. Each answers on every snapshot and never raises.

Their messages are read on the platform's own objects; what a tenant reads is in `decide`.
"""

from collections.abc import Iterable

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.snapshot import Place, Snapshot, Tls, Word, is_copy
from roadstead.decision import Finding, Verdict
from roadstead.kube.refs import Ref

NAMED = 3
"""So many objects are named in one sentence."""


def channel_is_known(seen: Snapshot) -> Finding:
    """Keep everything while nobody says anything: absence is not the empty text. Source: 3."""
    rule = "channel-known"
    if seen.channel.word is Word.UNKNOWN:
        message = f"{seen.channel.said}; every replica stays as it is"
        return Finding(rule, Verdict.WAIT, api.CHANNEL_UNKNOWN, message, (api.VALUES,))
    return Finding(rule, Verdict.PASS, refs=(api.VALUES,))


def channel_is_sound(seen: Snapshot) -> Finding:
    """Keep everything while the values cannot be used. Source: 3."""
    rule = "channel-sound"
    if seen.channel.word is Word.BROKEN:
        message = f"{seen.channel.said}; every replica stays as it is"
        return Finding(rule, Verdict.REFUSE, api.CONFIG_INVALID, message, (api.VALUES,))
    return Finding(rule, Verdict.PASS, refs=(api.VALUES,))


def certificate_is_named(seen: Snapshot) -> Finding:
    """Take every copy away on the explicit empty text alone. Source: 3 and 6."""
    rule = "certificate-named"
    if seen.channel.word is Word.DISABLED:
        message = f"{seen.channel.said}; no replica is kept"
        return Finding(rule, Verdict.WAIT, api.DISABLED, message, (api.VALUES,))
    return Finding(rule, Verdict.PASS, refs=(api.VALUES,))


def source_exists(seen: Snapshot) -> Finding:
    """Create nothing without the source. Source: 4."""
    rule, source = "source-exists", seen.source_ref
    if seen.channel.word is Word.ACTIVE and seen.source is None:
        message = f"{source} does not exist; replicas stay as they are until it does"
        return Finding(rule, Verdict.REFUSE, api.MISSING, message, (source,))
    return Finding(rule, Verdict.PASS, refs=(source,))


def source_is_usable(seen: Snapshot) -> Finding:
    """Copy nothing that is no certificate with its key. Source: 4."""
    rule, source = "source-usable", seen.source_ref
    if seen.source is not None and not seen.wanted:
        message = f"{source} {_fault(seen)}; replicas stay as they are until it is mended"
        return Finding(rule, Verdict.REFUSE, api.INVALID, message, (source,))
    return Finding(rule, Verdict.PASS, refs=(source,))


def _fault(seen: Snapshot) -> str:
    source = seen.source
    if source is None or source.body.get("type") != api.TLS:
        return f"is not of type {api.TLS}"
    lacking = [f"`{key}`" for key in api.REQUIRED if not source.decoded(key)]
    return f"holds nothing under {' and '.join(lacking)}"


def everything_was_read(seen: Snapshot) -> Finding:
    """Tell of what could not be read; the rest goes on. Source: 7 and 8, P7."""
    rule = "all-read"
    refs = tuple(seen.copy_ref(place) for place in seen.places if place.problem)
    if seen.copies is None:
        message = f"the replicas cannot be listed ({seen.unlisted}); none is taken away"
        return Finding(rule, Verdict.WAIT, "ReadFailed", message, refs or (api.VALUES,))
    if refs:
        problem = next(place.problem for place in seen.places if place.problem)
        message = f"{named(refs)} cannot be read ({problem}); all others are looked after"
        return Finding(rule, Verdict.WAIT, "ReadFailed", message, refs)
    return Finding(rule, Verdict.PASS, refs=(api.VALUES,))


def names_are_free_or_ours(seen: Snapshot) -> Finding:
    """Leave a Secret alone that carries no mark of ours. Source: 7."""
    rule = "names-free"
    refs = tuple(seen.copy_ref(place) for place in foreign(seen))
    if refs:
        message = f"{named(refs)} was not made by this controller and is left as it is"
        return Finding(rule, Verdict.REFUSE, api.SKIPPED, message, refs)
    return Finding(rule, Verdict.PASS, refs=(seen.source_ref,))


def copies_are_alive(seen: Snapshot) -> Finding:
    """Wait while a finalizer holds a deleted copy."""
    rule = "copies-alive"
    held = [place for place in seen.places if place.holder is not None and place.holder.deleting]
    refs = tuple(seen.copy_ref(place) for place in held)
    if refs:
        message = f"{named(refs)} is being deleted and a finalizer holds it"
        return Finding(rule, Verdict.WAIT, "Terminating", message, refs)
    return Finding(rule, Verdict.PASS, refs=(seen.source_ref,))


def gateways_are_known(seen: Snapshot) -> Finding:
    """Neither create nor delete where nobody knows who ends TLS. Source: 5."""
    rule = "gateways-known"
    refs = tuple(seen.copy_ref(place) for place in seen.places if place.tls is Tls.UNKNOWN)
    if refs:
        message = f"TenantGateways cannot be read, so that {named(refs)} is neither made nor taken"
        return Finding(rule, Verdict.WAIT, "GatewaysUnread", message, refs)
    return Finding(rule, Verdict.PASS, refs=(seen.source_ref,))


def foreign(seen: Snapshot) -> tuple[Place, ...]:
    """The namespaces that are owed a copy and hold a Secret of somebody else at its name."""
    return tuple(
        place
        for place in seen.places
        if place.tls is Tls.TERMINATES and place.holder is not None and not is_copy(place.holder)
    )


def named(refs: Iterable[Ref]) -> str:
    """A few objects by name, and how many more there are."""
    every = list(refs)
    told = ", ".join(str(ref) for ref in every[:NAMED])
    return told if len(every) <= NAMED else f"{told} and {len(every) - NAMED} more"
