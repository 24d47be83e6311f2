"""What an object under review is given, and which stored objects are asked about again.

Source: lineage 4, 6, 7 and 9.
"""

from dataclasses import replace
from http import HTTPStatus

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.decide.rules import RULES, is_one, is_owned
from roadstead.capabilities.lineage.render import asked_again, lineage_labels, patch
from roadstead.capabilities.lineage.snapshot import Belonging, Round, Snapshot
from roadstead.decision import Decision, Did, Finding, Outcome, Verdict, ask, stopped
from roadstead.wiring import Admitted

__all__ = ["ADMISSION", "RULES", "admit", "decide", "judge", "report"]

ADMISSION = (is_owned, is_one)
LABELLED, UNOWNED, AMBIGUOUS = "labelled", "unowned", "ambiguous"
_NAMED = 10
"""So many objects a finding of the refresher names."""


def judge(one: Belonging) -> tuple[Finding, ...]:
    """Ask whether a tenant may see an object of its application; it may when no rule stops."""
    return ask(RULES, one)


def verdict_of(findings: tuple[Finding, ...]) -> str:
    """The value of the label."""
    return api.HIDDEN if stopped(findings) else api.VISIBLE


def admit(seen: Snapshot) -> Admitted:
    """Judge one object under review: its labels as changes, warnings, and why."""
    findings = ask(ADMISSION, seen)
    warnings: list[str] = []
    labels: dict[str, str] = {}
    outcome, verdict = UNOWNED, ""
    belonging = seen.belonging
    if belonging is not None:
        outcome = LABELLED
        if stopped(findings):
            outcome = AMBIGUOUS
            warnings.append(api.AMBIGUOUS)
        judged = judge(belonging)
        verdict = verdict_of(judged)
        warnings += [one.message for one in judged if one.reason == "AnchorGuarded"]
        findings += judged
        labels = lineage_labels(belonging.application, verdict)
    annotations = {}
    if seen.scheduling:
        annotations[api.SCHEDULING] = labels[api.SCHEDULING] = seen.scheduling
    return Admitted(
        patch=patch(seen.subject, labels, annotations, api.SCHEDULER if annotations else ""),
        warnings=tuple(warnings),
        findings=findings,
        outcome=outcome,
        verdict=verdict,
        remarks=_remarks(seen),
    )


def _remarks(seen: Snapshot) -> tuple[tuple[str, str], ...]:
    """What is wrong with the definition, for the log: told once for each state of it."""
    definition = seen.definition
    if definition is None:
        return ()
    state = f"{definition.uid}/{definition.generation}"
    said = [f"{definition.ref}: {fault}" for fault in definition.faults]
    said += [
        f"{other} has the kind {definition.kind} as well; {definition.ref} counts"
        for other in seen.passed_over
    ]
    return tuple((state, one) for one in said)


def decide(seen: Round) -> Decision:
    """Ask again about stored objects whose verdict would be another now, so many at a time."""
    return Decision(
        want=tuple(asked_again(one) for one in seen.stale[: api.BATCH]),
        independent=True,
        findings=(_verdicts_are_current(seen),),
        recheck=api.AGAIN if seen.shown else api.RESYNC,
        figures=(("unowned", seen.unowned),),
    )


def _verdicts_are_current(seen: Round) -> Finding:
    rule, refs = "verdicts-current", tuple(one.seen.ref for one in seen.stale)
    if not refs:
        return Finding(rule, Verdict.PASS)
    first, more = seen.stale[0], f" and {len(refs) - 1} more" if len(refs) > 1 else ""
    message = f"{refs[0]}{more} carries a verdict that {first.definition.ref} no longer gives"
    return Finding(rule, Verdict.WAIT, api.STALE, message, refs[:_NAMED])


def report(_seen: Round, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
    """Lay what became of the writes over a decision: what failed is tried again, with pauses."""
    failed = any(one.did is Did.FAILED and one.status != HTTPStatus.CONFLICT for one in outcomes)
    return replace(decision, backoff=True, recheck=None) if failed else decision
