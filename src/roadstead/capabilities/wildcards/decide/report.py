"""What refused writes mean: the others were done, and the pass is repeated. Source: 7 and 8, P7."""

from collections.abc import Iterable
from dataclasses import replace

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.decide.rules import named
from roadstead.capabilities.wildcards.snapshot import Snapshot
from roadstead.decision import Decision, Did, Finding, Outcome, Verdict


def report(_seen: Snapshot, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
    """Lay what became of the writes over the decision.

    A namespace that began to end meanwhile wants no copy, and that is no failure.
    """
    failed = [one for one in outcomes if one.did is Did.FAILED]
    decision = _counted(decision, failed)
    failed = [one for one in failed if one.cause != "NamespaceTerminating"]
    if not failed:
        return decision
    refs = tuple(one.ref for one in failed)
    answer = f"{failed[0].status} {failed[0].reason}".strip()
    message = f"{named(refs)} was not written or deleted ({answer}); it is tried again"
    finding = Finding("written", Verdict.WAIT, "WriteFailed", message, refs)
    findings = (*decision.findings, finding)
    return replace(decision, findings=findings, state=api.ERROR, backoff=True)


def _counted(decision: Decision, failed: Iterable[Outcome]) -> Decision:
    """The figures without the copies that were to be made and are not there."""
    refs = {one.ref for one in failed}
    lacking = sum(want.live is None and want.ref in refs for want in decision.want)
    if not lacking:
        return decision
    figures = dict(decision.figures)
    return replace(decision, figures=tuple({**figures, "kept": figures["kept"] - lacking}.items()))
