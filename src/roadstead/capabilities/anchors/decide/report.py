"""What a refused or held write means for a release. Source: trust-anchors 6.2, 11 and 12."""

from dataclasses import replace
from http import HTTPStatus

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import Snapshot, StraySource
from roadstead.decision import Decision, Did, Event, Finding, Outcome, Verdict


def report(
    seen: Snapshot | StraySource, decision: Decision, outcomes: tuple[Outcome, ...]
) -> Decision:
    """Lay what became of the writes over the decision. Source: trust-anchors 6.2, 11 and 12."""
    if isinstance(seen, StraySource):
        return decision
    for outcome in outcomes:
        if outcome.did is Did.HELD:
            return _held_back(seen, decision)
        if outcome.did is Did.FAILED:
            return _failed(seen, decision, outcome)
    return decision


def _held_back(seen: Snapshot, decision: Decision) -> Decision:
    about = seen.definition or seen.release.ref
    reason = "CACertWithdrawalsHeld"
    message = (
        f"more `{seen.kind}` anchors would be withdrawn within ten minutes than is allowed; the "
        f"rest are kept: bring the declaration back, or start with --allow-withdrawals {seen.kind}"
    )
    finding = Finding("withdrawals-bounded", Verdict.REFUSE, reason, message, (about,))
    event = Event(about, seen.definition_uid, reason, message)
    return replace(
        decision,
        events=(event,),
        findings=(*decision.findings, finding),
        state=api.BY_NAME[reason].state,
        recheck=api.RESYNC,
    )


def _failed(seen: Snapshot, decision: Decision, outcome: Outcome) -> Decision:
    """Say what a refused write means for the release."""
    release, source = seen.release, seen.source
    if outcome.cause == "NamespaceTerminating":
        message = f"namespace {release.meta.namespace} is being deleted; nothing is created in it"
        finding = Finding("written", Verdict.WAIT, "NamespaceTerminating", message, (release.ref,))
        return replace(_stopped_by(decision, finding), events=(), recheck=None)
    if source is not None and _too_large(outcome):
        message = f"{source.ref} is too large under `{source.key}`; nothing was copied"
        finding = Finding("written", Verdict.REFUSE, "CACertInvalid", message, (source.ref,))
        event = Event(source.ref, source.uid, finding.reason, message)
        return replace(_stopped_by(decision, finding), events=(event,), recheck=api.RESYNC)
    answer = f"{outcome.status} {outcome.reason}".strip()
    if outcome.status in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}:
        message = (
            f"the API server refused to write {outcome.ref} ({answer}); look at quotas, policies "
            "and permissions"
        )
        finding = Finding("written", Verdict.REFUSE, "CACertWriteDenied", message, (release.ref,))
        event = Event(release.ref, release.meta.uid, finding.reason, message)
        # What is true of the source stays so; else it would be told again after the write.
        events = (*decision.events, event)
        return replace(_stopped_by(decision, finding), events=events, backoff=True)
    message = f"{outcome.ref} was not written ({answer}); it is tried again"
    finding = Finding("written", Verdict.WAIT, "WriteFailed", message, (outcome.ref,))
    return replace(_stopped_by(decision, finding), backoff=True, inconclusive=True)


def _stopped_by(decision: Decision, finding: Finding) -> Decision:
    state = api.BY_NAME[finding.reason].state
    return replace(decision, findings=(*decision.findings, finding), state=state)


def _too_large(outcome: Outcome) -> bool:
    return outcome.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or outcome.cause in {
        "FieldValueTooLong",
        "FieldValueTooMany",
    }
