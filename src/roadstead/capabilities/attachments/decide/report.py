"""What a refused write means for an attachment. Source: endpoint-attachments 3, P5c and P14, 7."""

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide.status import Report
from roadstead.capabilities.attachments.decide.words import quoted
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.decision import Decision, Did, Finding, How, Outcome, Verdict
from roadstead.kube.refs import SERVICE

FIRST_PAUSE = timedelta(seconds=5)
"""Of a Service the API server refuses; it doubles to five minutes. Source: P14."""

_PASSING = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
_REJECTIONS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY})
"""How a Service is refused. Source: P14."""
_CLIENT_FAULTS, _SERVER_FAULTS = HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR


def laid_over(decision: Decision, told: Report) -> Decision:
    """A decision with the status and the events of a report."""
    now = told.conditions()
    ready = next(one for one in now if one.type == "Ready")
    return replace(decision, status=told.status(now), events=told.events(now), state=ready.reason)


def report(seen: Snapshot, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
    """Lay what became of the writes over the decision.

    A failure that may pass changes no condition: the pass is repeated with growing pauses.
    """
    failed = [one for one in outcomes if one.did is Did.FAILED]
    if any(one.cause == "NamespaceTerminating" for one in failed):
        decision = replace(decision, recheck=None)
    faults = [(one, _refused(seen, one)) for one in failed if not _is_awaited(one)]
    if not faults:
        return decision
    fault, finding = faults[0]  # the first is told; the others are tried again with it
    if finding is None or any(one is None for _, one in faults):
        return replace(decision, status=None, events=(), backoff=True, inconclusive=True)
    if fault.ref.kind != SERVICE:
        return _stopped(seen, decision, finding, decision.first_pause)
    if _came_first(decision):
        return replace(decision, backoff=True, first_pause=FIRST_PAUSE)
    return _stopped(seen, decision, finding, FIRST_PAUSE)


def _is_awaited(failed: Outcome) -> bool:
    """Whether what stood in the way is on its way out: its end wakes us, or ends us."""
    return failed.cause == "NamespaceTerminating" or failed.reason == "Terminating"


def _refused(seen: Snapshot, failed: Outcome) -> Finding | None:
    """The row of a refusal that has one; None for a failure that may pass."""
    if failed.how is None or not _is_refused(failed):
        return None
    if failed.ref.kind == SERVICE and (failed.status in _REJECTIONS or _is_taken(failed)):
        return _rejected(seen, failed)
    if failed.ref.kind == api.CLAIM:
        return _unminted(seen, failed)
    return None


def _came_first(decision: Decision) -> bool:
    """Whether the decision had stopped at a row before P14, whose words stay."""
    stop = decision.findings[-1]
    after = {"service-stands", "every-port-found"}
    return stop.verdict is not Verdict.PASS and stop.rule not in after


def _is_taken(failed: Outcome) -> bool:
    """Whether every name that could be minted is somebody else's."""
    return failed.how is How.MINT and failed.reason == "AlreadyExists"


def _is_refused(failed: Outcome) -> bool:
    """Whether the API server, a quota or a webhook has said no, rather than not yet."""
    if _is_taken(failed):
        return True
    status = failed.status
    return _CLIENT_FAULTS <= status < _SERVER_FAULTS and status not in _PASSING


def _rejected(seen: Snapshot, failed: Outcome) -> Finding:
    said = quoted(failed.said or failed.reason, seen.namespace)
    message = f"the API server refused {failed.ref}: {said}; it is tried again"
    return Finding("written", Verdict.REFUSE, "ServiceRejected", message, (failed.ref,))


def _unminted(seen: Snapshot, failed: Outcome) -> Finding:
    said = quoted(failed.said or failed.reason, seen.namespace)
    named = seen.asked.class_name
    of = f"of {api.CLASS.kind} {named}" if named else f"of the default {api.CLASS.kind}"
    message = f"the API server refused an {api.CLAIM.kind} {of}: {said}; it is tried again"
    return Finding("written", Verdict.REFUSE, "ClaimPending", message, (failed.ref,))


def _stopped(seen: Snapshot, decision: Decision, finding: Finding, pause: timedelta) -> Decision:
    told = Report(seen, resolved=True, stop=finding, withdrawn=False)
    stopped = replace(
        decision,
        findings=(*decision.findings, finding),
        backoff=True,
        first_pause=pause,
    )
    return laid_over(stopped, told)
