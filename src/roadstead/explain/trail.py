"""A decision's own trail as people read it: every rule, what it looked at, and what comes next.

Nothing here judges. What is printed is what the decision found; the rules that were not asked are
named, and no Secret's value is ever part of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from roadstead.decision import Decision, Event, Finding, Telling, Verdict
from roadstead.explain.subject import Listener, Next, Told
from roadstead.kube.refs import Ref

NAMED = 3
"""Objects a line names of those that pass one rule."""
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

    reason: of the stop, or the state where nothing stopped. headline: state and reason as the
    first line has them. settled: whether all is as it should be, or nothing is owed.
    refused: whether a person must act. notes: facts that are no rule's.
    next: what a person may do, the alternatives in order; empty when nobody can do anything.
    wakes: what will have it looked at again; empty when a person must act.
    parent, listeners: what a route attaches to.
    """

    key: Ref
    state: str
    reason: str
    headline: str
    settled: bool
    refused: bool
    lines: tuple[Line, ...]
    because: str
    next: tuple[Next, ...] = ()
    wakes: str = ""
    notes: tuple[str, ...] = ()
    parent: Ref | None = None
    listeners: tuple[Listener, ...] = ()


def trail(key: Ref, decision: Decision, told: Told, rules: tuple[str, ...] = ()) -> Trail:
    """Lay out a decision.

    told: what its capability says of it. rules: of the list that was asked, in order.
    """
    asked = tuple(_lines(decision.findings))
    of_no_rule = tuple(f"{event.reason}: {event.message}" for event in _of_no_rule(decision))
    return Trail(
        key=key,
        state=told.state,
        reason=reason_of(decision),
        headline=told.headline,
        settled=told.settled and not warnings(decision) and not is_pending(decision),
        refused=is_refused(decision),
        lines=asked + _unasked(rules, decision.findings),
        because=told.because,
        next=told.next,
        wakes=told.wakes,
        notes=of_no_rule + told.notes,
        parent=told.parent,
        listeners=told.listeners,
    )


def plain(decision: Decision) -> Told:
    """What is said of a decision whose capability has no words of its own."""
    stop = stop_of(decision)
    because = stop.message if stop is not None else "every rule passes"
    reason = reason_of(decision) or "Settled"
    return Told(decision.state, reason, stop is None, f"Because {because}.")


def stop_of(decision: Decision) -> Finding | None:
    """The finding that stopped a decision; None when every rule passed."""
    last = decision.findings[-1] if decision.findings else None
    return last if last is not None and last.verdict is not Verdict.PASS else None


def warnings(decision: Decision) -> tuple[Event, ...]:
    """What is told of as long as it is true; what tells of a change is over with it."""
    lasting = (one for one in decision.events if one.telling is not Telling.CHANGE)
    return tuple(one for one in lasting if one.type == "Warning")


def is_refused(decision: Decision) -> bool:
    """Tell whether a person must act, or is warned while nothing else is waited for."""
    stop = stop_of(decision)
    return bool(warnings(decision)) if stop is None else stop.verdict is Verdict.REFUSE


def reason_of(decision: Decision) -> str:
    """The word of a decision: of its stop, of what is still to be written, of a warning."""
    stop = stop_of(decision)
    if stop is not None:
        return stop.reason
    if is_pending(decision):
        return PENDING
    return next((event.reason for event in warnings(decision)), decision.state)


PENDING = "Pending"
"""What a look calls an object that a running controller would write or withdraw now."""
UNWRITTEN = "the controller does it as soon as it runs"


def is_pending(decision: Decision) -> bool:
    """Tell whether a decision that nothing stopped, and was not carried out, changes something."""
    if stop_of(decision) is not None:
        return False
    unwritten = any(want.live is None or want.body != want.live.body for want in decision.want)
    return unwritten or bool(decision.drop)


def with_recheck(text: str, decision: Decision) -> str:
    """What wakes a key, with when it is looked at again if nothing does; empty stays empty."""
    if not text or decision.recheck is None:
        return text
    minutes, seconds = divmod(int(decision.recheck.total_seconds()), 60)
    return f"{text}; looked at again within {f'{minutes} min' if minutes else f'{seconds} s'}"


def names_of(rules: tuple[object, ...], nobody: object) -> tuple[str, ...]:
    """The names of rules, asked of them: a rule answers on every snapshot, an empty one too."""
    return tuple(rule(nobody).rule for rule in rules)  # type: ignore[operator] # a rule names itself


def _of_no_rule(decision: Decision) -> tuple[Event, ...]:
    stop = stop_of(decision)
    return tuple(e for e in warnings(decision) if stop is None or e.reason != stop.reason)


def _lines(findings: tuple[Finding, ...]) -> Iterator[Line]:
    """A line a finding; of one rule that passes for several objects, one line for all of them."""
    passed: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.verdict is Verdict.PASS:
            passed.setdefault(finding.rule, []).append(finding)
    for finding in findings:
        same = passed.get(finding.rule, [])
        if len(same) <= 1 or finding.verdict is not Verdict.PASS:
            yield _line(finding, ", ".join(ref.path for ref in finding.refs))
        elif same[0] is finding:
            refs = tuple(dict.fromkeys(one.refs[0] for one in same if one.refs))
            more = f" and {len(refs) - NAMED} more" if len(refs) > NAMED else ""
            named = ", ".join(ref.path for ref in refs[:NAMED])
            yield _line(replace(finding, refs=refs), f"{named}{more}")


def _line(finding: Finding, refs: str) -> Line:
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


def _unasked(rules: tuple[str, ...], findings: tuple[Finding, ...]) -> tuple[Line, ...]:
    """The rules of the same list that come after the stop."""
    asked = {finding.rule for finding in findings}
    if not asked & set(rules):
        return ()
    return tuple(Line(NOT_ASKED, rule, "not asked") for rule in rules if rule not in asked)
