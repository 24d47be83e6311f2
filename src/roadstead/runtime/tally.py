"""What the last pass of each key came to, summed up: for figures, and for a rehearsal."""

from collections import Counter

from roadstead.decision import Finding, Status, Verdict
from roadstead.engine.passes import Passed
from roadstead.kube.conditions import condition_of
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import text

Verdicts = tuple[tuple[str, Verdict], ...]


class Tally:
    """How many keys of a controller are in each state, and have each finding.

    Kept up to date with each pass, since counting 20,000 trails would hold up the loop.
    changes: the objects that the last pass of a key changed, or would have.
    ready: objects by the status of their condition Ready, with its kind and namespace.
    """

    def __init__(self) -> None:
        """Know no key."""
        self.states: Counter[str] = Counter()
        self.findings: Counter[tuple[str, Verdict]] = Counter()
        self.changes: dict[Ref, tuple[Ref, ...]] = {}
        self.ready: Counter[tuple[str, str, str]] = Counter()
        self._of: dict[Ref, tuple[str, Verdicts]] = {}
        self._ready_of: dict[Ref, str] = {}
        self._shared: dict[Verdicts, Verdicts] = {}

    def note(self, key: Ref, passed: Passed) -> tuple[Finding, ...]:
        """Take in one pass; give the refusals that the one before did not end in."""
        before = self._take_out(key)
        decision = passed.decision
        if passed.error is None:
            self._note_ready(key, decision.status)
        if passed.changes:
            self.changes[key] = tuple(outcome.ref for outcome in passed.changes)
        if passed.gone:
            return ()
        verdicts: Verdicts = tuple((found.rule, found.verdict) for found in decision.findings)
        verdicts = self._shared.setdefault(verdicts, verdicts)
        self._of[key] = (decision.state, verdicts)
        if decision.state:
            self.states[decision.state] += 1
        self.findings.update(verdicts)
        return tuple(
            found
            for found in decision.findings
            if found.verdict is Verdict.REFUSE and (found.rule, found.verdict) not in before
        )

    def would_change(self) -> set[Ref]:
        """The objects that are as no decision wants them; two keys may want one object."""
        return {ref for refs in self.changes.values() for ref in refs}

    def _note_ready(self, key: Ref, status: Status | None) -> None:
        """Count an object by its condition; a pass that could not be judged changes nothing."""
        kind, namespace = key.kind.kind, key.namespace
        if known := self._ready_of.pop(key, ""):
            self.ready[kind, namespace, known] -= 1
        if now := _ready(status):
            self._ready_of[key] = now
            self.ready[kind, namespace, now] += 1

    def _take_out(self, key: Ref) -> Verdicts:
        self.changes.pop(key, None)
        state, verdicts = self._of.pop(key, ("", ()))
        if state:
            self.states[state] -= 1
        self.findings.subtract(verdicts)
        return verdicts


def _ready(status: Status | None) -> str:
    """The status of the condition Ready; empty for what has none."""
    return text(condition_of(status.value, "Ready"), "status") if status is not None else ""
