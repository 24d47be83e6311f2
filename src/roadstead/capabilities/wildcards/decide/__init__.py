"""Which copies of the wildcard certificate are made, kept up and taken away, and in which words.

An unknown answer keeps a copy and makes none; only a definite one removes.
Source: wildcard-secrets 1 and 3 to 8.
"""

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.decide import rules
from roadstead.capabilities.wildcards.decide.report import report
from roadstead.capabilities.wildcards.decide.rules import foreign
from roadstead.capabilities.wildcards.render import fresh_copy, is_made_anew, mended_copy
from roadstead.capabilities.wildcards.snapshot import Place, Snapshot, Tls, Word, is_copy
from roadstead.decision import Decision, Drop, Event, Finding, Verdict, Want, ask
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref

__all__ = ["RULES", "decide", "report"]

RULES = (
    rules.channel_is_known,
    rules.channel_is_sound,
    rules.certificate_is_named,
    rules.source_exists,
    rules.source_is_usable,
    rules.everything_was_read,
    rules.names_are_free_or_ours,
    rules.copies_are_alive,
    rules.gateways_are_known,
)


def decide(seen: Snapshot) -> Decision:
    """Judge all namespaces at once, and say what is written where."""
    findings = ask(RULES, seen)
    last = findings[-1]
    passed = last.verdict is Verdict.PASS
    want, drop = _wanted(seen), _pruned(seen)
    active = seen.channel.word is Word.ACTIVE
    unsure = seen.channel.word is Word.BROKEN or _lacks_an_answer(seen)
    return Decision(
        want=want,
        drop=drop,
        independent=True,
        events=_events(seen, findings),
        findings=findings,
        state=api.REPLICATED if passed else api.BY_NAME[last.reason].state,
        recheck=api.RESYNC if active and not unsure else None,
        backoff=unsure,
        wakes=_wakes(seen),
        figures=_figures(seen, want, drop),
    )


def _lacks_an_answer(seen: Snapshot) -> bool:
    """Whether something could not be found out, so that the pass is to be repeated soon."""
    unknown = any(place.problem or place.tls is Tls.UNKNOWN for place in seen.places)
    return unknown or seen.copies is None


def _wanted(seen: Snapshot) -> tuple[Want, ...]:
    """Every copy that is owed, and every one that is kept up. Source: sections 5 and 7, P5."""
    if not seen.wanted:
        return ()
    wants = (_want(seen, place) for place in seen.places)
    return tuple(want for want in wants if want is not None)


def _want(seen: Snapshot, place: Place) -> Want | None:
    if place.tls is Tls.NOT or place.ending or place.problem:
        return None
    live = place.holder
    if live is None:
        if place.tls is Tls.UNKNOWN:
            return None
        return Want.replace(SECRET, fresh_copy(seen, seen.copy_ref(place)), None)
    if not is_copy(live) or live.deleting:
        return None
    if is_made_anew(seen, live):
        return Want.renew(SECRET, fresh_copy(seen, live.ref), live)
    return Want.replace(SECRET, mended_copy(seen, live), live)


def _pruned(seen: Snapshot) -> tuple[Drop, ...]:
    """What goes after the new copies were attempted. Source: section 6, P6."""
    ends = {place.namespace: place.tls for place in seen.places}
    return tuple(
        Drop(one.ref, one.meta.uid, one.meta.resource_version)
        for one in seen.copies or ()
        if not one.deleting and _goes(seen, one, ends.get(one.meta.namespace))
    )


def _goes(seen: Snapshot, copy: Object, tls: Tls | None) -> bool:
    """Tell whether one copy goes. tls: None for a namespace that was not judged."""
    if seen.channel.word is Word.DISABLED:
        return True
    if seen.channel.word is not Word.ACTIVE or copy.ref == seen.source_ref:
        return False
    if tls is Tls.NOT:
        return True
    return bool(seen.wanted) and copy.meta.name != seen.channel.name


def _events(seen: Snapshot, findings: tuple[Finding, ...]) -> tuple[Event, ...]:
    """In the order of the pass: of the channel, of the source, of what stands in the way."""
    by_reason = {found.reason: found for found in findings}
    events = []
    for reason in (api.CONFIG_INVALID, api.MISSING):
        if reason in by_reason:
            message = by_reason[reason].message
            events.append(Event(api.VALUES, seen.values_uid, reason, message))
    source = seen.source
    if source is not None and api.INVALID in by_reason:
        events.append(_about(source, api.INVALID, by_reason[api.INVALID].message))
    if source is not None and is_copy(source):
        message = (
            f"{source.ref} carries the label `{api.COPY}` of a replica and is used all the same; "
            "take the label off"
        )
        events.append(_about(source, api.IS_REPLICA, message))
    # A tenant reads these: nothing of the platform or of another tenant is named.
    for place in foreign(seen):
        if place.holder is not None:
            message = (
                f"{place.holder.ref} was not made by this controller, so that the platform's "
                "wildcard certificate is not copied there; delete or rename it"
            )
            events.append(_about(place.holder, api.SKIPPED, message))
    return tuple(events)


def _about(seen: Object, reason: str, message: str) -> Event:
    return Event(seen.ref, seen.meta.uid, reason, message)


def _wakes(seen: Snapshot) -> tuple[Ref, ...]:
    """What has a new list wake us: no view stores the source, nor a copy to take away."""
    if seen.channel.word is Word.ACTIVE:
        return (seen.source_ref,)
    return (api.VALUES,) if seen.channel.word is Word.DISABLED else ()


def _figures(
    seen: Snapshot, want: tuple[Want, ...], drop: tuple[Drop, ...]
) -> tuple[tuple[str, int], ...]:
    """What is there after this decision."""
    gone = {one.ref for one in drop} | {seen.source_ref}
    kept = {one.ref for one in want}
    kept |= {one.ref for one in seen.copies or () if one.ref not in gone and not one.deleting}
    return (
        ("kept", len(kept)),
        ("skipped", len(foreign(seen))),
        ("usable", int(bool(seen.wanted))),
    )
