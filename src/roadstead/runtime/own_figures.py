"""What a capability counts of its own, and where each begins."""

from collections.abc import Sequence
from typing import Protocol

from roadstead.decision import Did, Finding
from roadstead.engine.passes import Passed
from roadstead.kube.refs import Ref

RESULTS = ("error", "requeue", "requeue_after", "success")
"""What controller-runtime calls the end of a pass."""


class OwnFigures(Protocol):
    """The figures of one controller beside those that all have."""

    def passed(self, key: Ref, passed: Passed, begun: Sequence[Finding], /) -> None:
        """Take in what a pass came to. begun: refusals that the pass before did not end in."""


def result_of(passed: Passed) -> str:
    """Say what controller-runtime would call the end of a pass; one of RESULTS."""
    if passed.error is not None or any(o.did is Did.FAILED for o in passed.outcomes):
        return "requeue" if passed.conflict else "error"
    if passed.decision.backoff or passed.wrote:
        return "requeue"
    return "success" if passed.decision.recheck is None else "requeue_after"
