"""A decision's own trail as people read it: every rule, what it looked at, and what comes next.

Nothing here judges. What is printed is what the decision found; the rules that were not asked are
named, and no Secret's value is ever part of it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.decide import RULES, WITHDRAWAL
from roadstead.capabilities.anchors.snapshot import Snapshot
from roadstead.decision import Decision, Event, Finding, Verdict
from roadstead.explain.next import Known, Next, next_steps, wakes
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref

OK, WAIT, NO, NOT_ASKED, NOTE = "ok", "wait", "no", "--", "note"
_MARKS = {Verdict.PASS: OK, Verdict.WAIT: WAIT, Verdict.REFUSE: NO}


@dataclass(frozen=True, slots=True)
class Line:
    """One rule's answer. verdict: as the finding has it; empty for a rule that was not asked."""

    mark: str
    rule: str
    text: str
    verdict: str = ""
    reason: str = ""
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """Everything `why` says of one key.

    reason: of the stop, or the state where nothing stopped. settled: whether all is as it should
    be, or nothing is owed. notes: facts that are no rule's.
    next: what a person may do, the alternatives in order; empty when nobody must act.
    wakes: what will have it looked at again; empty when a person must act.
    """

    key: Ref
    state: str
    reason: str
    settled: bool
    lines: tuple[Line, ...]
    because: str
    next: tuple[Next, ...] = ()
    wakes: str = ""
    notes: tuple[str, ...] = ()


def trail(key: Ref, decision: Decision, known: Known) -> Trail:
    """Lay out a decision. known: what the next step is worded with."""
    stop = stop_of(decision)
    pending = stop is None and is_pending(decision)
    told = stop.reason if stop else PENDING if pending else _reason_of(decision)
    lines = tuple(_line(finding) for finding in decision.findings) + _unasked(decision.findings)
    refused = bool(stop and stop.verdict is Verdict.REFUSE) or bool(decision.events)
    return Trail(
        key=key,
        state=PENDING if pending else decision.state,
        reason=told,
        settled=is_settled(decision) and not pending,
        lines=lines,
        because=because(key, decision),
        next=next_steps(key, decision, known) if refused else (),
        wakes="" if refused else UNWRITTEN if pending else wakes(key, decision),
        notes=tuple(f"{event.reason}: {event.message}" for event in _of_no_rule(decision)),
    )


def stop_of(decision: Decision) -> Finding | None:
    """The finding that stopped a decision; None when every rule passed."""
    last = decision.findings[-1] if decision.findings else None
    return last if last is not None and last.verdict is not Verdict.PASS else None


def is_settled(decision: Decision) -> bool:
    """Tell whether a key is as it should be, or owes nothing. A warning is not settled."""
    if decision.events:
        return False
    return decision.state in {"", api.PUBLISHED, api.WITHDRAWN, "CanonicalSelf", *NOTHING_OWED}


PENDING = "Pending"
"""What a look calls an anchor that a running controller would write or withdraw now."""
UNWRITTEN = "the controller does it as soon as it runs"


def is_pending(decision: Decision) -> bool:
    """Tell whether a decision that was not carried out would change something."""
    unwritten = any(want.live is None or want.body != want.live.body for want in decision.want)
    return unwritten or bool(decision.drop)


NOTHING_OWED = frozenset({"Ignored", "NothingToDo"})
"""States in which a release has no anchor and should have none."""


def because(key: Ref, decision: Decision) -> str:
    """The sentence under a trail."""
    stop = stop_of(decision)
    if stop is not None:
        cause, _, effect = stop.message.partition("; ")
        return f"Because {cause}, {effect or 'nothing is written'}."
    for event in decision.events:
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


def _reason_of(decision: Decision) -> str:
    for event in decision.events:
        return event.reason
    return decision.state


def _of_no_rule(decision: Decision) -> tuple[Event, ...]:
    stop = stop_of(decision)
    return tuple(e for e in decision.events if stop is None or e.reason != stop.reason)


def _line(finding: Finding) -> Line:
    refs = ", ".join(ref.path for ref in finding.refs)
    text = refs
    if finding.verdict is not Verdict.PASS:
        text = f"{refs}: {finding.reason}" if refs else finding.reason
    return Line(
        _MARKS[finding.verdict],
        finding.rule,
        text,
        finding.verdict.value,
        finding.reason,
        finding.refs,
    )


def _unasked(findings: tuple[Finding, ...]) -> tuple[Line, ...]:
    """The rules of the same list that come after the stop."""
    asked = {finding.rule for finding in findings}
    rules = _names_of(WITHDRAWAL if asked & _only_withdrawal() else RULES)
    if not asked & set(rules):
        return ()
    return tuple(Line(NOT_ASKED, rule, "not asked") for rule in rules if rule not in asked)


def _only_withdrawal() -> set[str]:
    return set(_names_of(WITHDRAWAL)) - set(_names_of(RULES))


@cache
def _names_of(rules: tuple[object, ...]) -> tuple[str, ...]:
    """The names of rules, asked of them: a rule answers on every snapshot."""
    nobody = Snapshot(Object(HELM_RELEASE, Meta()), datetime(1970, 1, 1, tzinfo=UTC))
    return tuple(rule(nobody).rule for rule in rules)  # type: ignore[operator] # a rule names itself


def anchor_of(key: Ref) -> Ref:
    """The anchor's name of a release."""
    return SECRET.ref(key.namespace, key.name + api.SUFFIX)
