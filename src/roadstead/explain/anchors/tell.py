"""How a trust anchor's decision is told: its state, the sentence under it, and what is settled."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.decide import RULES, WITHDRAWAL
from roadstead.capabilities.anchors.snapshot import Snapshot
from roadstead.decision import Decision, Finding, Reader, Verdict
from roadstead.explain.anchors.known import know
from roadstead.explain.anchors.next import next_steps, wakes
from roadstead.explain.subject import Told
from roadstead.explain.trail import (
    PENDING,
    UNWRITTEN,
    is_pending,
    is_refused,
    names_of,
    reason_of,
    stop_of,
    warnings,
)
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref

NOTHING_OWED = frozenset({"Ignored", "NothingToDo"})
"""States in which a release has no anchor and should have none."""
FINE = frozenset({"", api.PUBLISHED, api.WITHDRAWN, "CanonicalSelf", *NOTHING_OWED})


async def tell(reader: Reader, key: Ref, decision: Decision) -> Told:
    """Say what a decision about one release, or about a stray source, comes to."""
    known = await know(reader, key, decision)
    pending = is_pending(decision)
    refused = is_refused(decision) or bool(warnings(decision))
    state, reason = PENDING if pending else decision.state, reason_of(decision)
    return Told(
        state=state,
        headline=reason if reason == state else f"{state}  {reason}",
        settled=is_settled(decision),
        because=because(key, decision),
        next=next_steps(key, decision, known) if refused else (),
        wakes="" if refused else UNWRITTEN if pending else wakes(key, decision),
    )


def is_settled(decision: Decision) -> bool:
    """Tell whether a key is as it should be, or owes nothing. A warning is not settled."""
    return not warnings(decision) and decision.state in FINE


def because(key: Ref, decision: Decision) -> str:
    """The sentence under a trail."""
    stop = stop_of(decision)
    if stop is not None:
        cause, _, effect = stop.message.partition("; ")
        return f"Because {cause}, {effect or 'nothing is written'}."
    for event in warnings(decision):
        cause, _, effect = event.message.partition("; ")
        return (
            f"Because {cause}, {effect or 'it is told of'}; the anchor is published all the same."
        )
    if decision.drop:
        return f"Because its source no longer opts in, {decision.drop[0].ref} is to be withdrawn."
    if is_pending(decision):
        return f"Because every rule passes, {anchor_of(key)} is to be written."
    if decision.state == api.PUBLISHED:
        return f"Because every rule passes, {anchor_of(key)} is published."
    return "Because every rule passes, nothing is owed."


def rules(asked: Collection[str]) -> tuple[str, ...]:
    """The names of the list that was asked: with a source, or without one."""
    with_source, without = _names()
    return without if set(asked) & (set(without) - set(with_source)) else with_source


@cache
def _names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    nobody = Snapshot(Object(HELM_RELEASE, Meta()), datetime(1970, 1, 1, tzinfo=UTC))
    return names_of(RULES, nobody), names_of(WITHDRAWAL, nobody)


def with_event(key: Ref, decision: Decision, told: tuple[str, str]) -> Decision:
    """Lay over a decision what only the running controller can know, as its event tells it.

    told: reason and message of the latest event. A look writes nothing, so it meets no refused
    write; it starts now, so it has not seen how long a source is gone.
    """
    reason, message = told
    if reason == "CACertSourceGone" and decision.state == api.LOST:
        stop = decision.findings[-1]
        gone = replace(stop, verdict=Verdict.REFUSE, reason=reason, message=message)
        return replace(decision, findings=(*decision.findings[:-1], gone))
    pending = {"CACertWriteDenied": decision.want, "CACertWithdrawalsHeld": decision.drop}
    if pending.get(reason):
        finding = Finding("written", Verdict.REFUSE, reason, message, (key,))
        state = api.BY_NAME[reason].state
        return replace(decision, findings=(*decision.findings, finding), state=state)
    return decision


def anchor_of(key: Ref) -> Ref:
    """The anchor's name of a release."""
    return SECRET.ref(key.namespace, key.name + api.SUFFIX)


def about(key: Ref, decision: Decision) -> frozenset[Ref]:
    """Whose events tell of a release: itself, its anchor, and what its decision named."""
    return frozenset({key, anchor_of(key), *decision.wakes})
