"""When an anchor is published, held or withdrawn, and in which words.

Source: trust-anchors 4 to 8 and 11.
"""

from datetime import timedelta

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.decide import rules
from roadstead.capabilities.anchors.decide.report import report
from roadstead.capabilities.anchors.render import fresh_anchor, mended_anchor, needs_readmission
from roadstead.capabilities.anchors.snapshot import (
    Snapshot,
    StraySource,
    is_ours,
    recorded_source,
)
from roadstead.decision import (
    Bound,
    Decision,
    Drop,
    Event,
    Finding,
    Verdict,
    Want,
    ask,
    stopped,
)
from roadstead.kube.objects import Object
from roadstead.kube.pem import Certificate
from roadstead.kube.refs import SECRET, Ref

__all__ = ["RULES", "WITHDRAWAL", "decide", "is_ours", "report"]

GATE = (
    rules.is_an_application,
    rules.name_can_carry_an_anchor,
    rules.definition_is_known,
    rules.declaration_is_usable,
)
RULES = (
    *GATE,
    rules.source_exists,
    rules.source_is_one,
    rules.source_is_elsewhere,
    rules.source_is_filled,
    rules.carries_no_private_key,
    rules.carries_certificates_only,
    rules.name_is_free_or_ours,
    rules.anchor_is_not_terminating,
)
WITHDRAWAL = (*GATE, rules.an_anchor_of_ours_stands, rules.source_opted_out)

UNDECIDED = {"DefinitionUnknown", "DeclarationInvalid"}
"""Nobody knows whether the anchor may go, so one that is held back stays held."""
SILENT = {"DefinitionUnknown", "DeclarationInvalid", "Ignored", "ReleaseNameUnsupported"}
UNSETTLED = {"SourceAbsent", "SourceEmpty", "Terminating", api.LOST}


def decide(seen: Snapshot | StraySource) -> Decision:
    """Judge one release's anchor, or a source that names no release, and say how it is written."""
    if isinstance(seen, StraySource):
        return _unattributable(seen.secret)
    sourceless = seen.declaration is None and not seen.candidates
    findings = ask(WITHDRAWAL if sourceless else RULES, seen)
    if stopped(findings):
        return _hold(seen, findings)
    return _withdraw(seen, findings) if sourceless else _publish(seen, findings)


def _publish(seen: Snapshot, findings: tuple[Finding, ...]) -> Decision:
    source = seen.source
    if source is None or source.lifted is None:
        return Decision(findings=findings)
    pem, live = source.lifted.pem, seen.target
    if live is None:
        want = Want.replace(SECRET, fresh_anchor(seen, source, pem), None)
    else:
        body = mended_anchor(seen, source, pem, live)
        if live.body.get("immutable") and body["data"] != live.body.get("data"):
            want = Want.renew(SECRET, fresh_anchor(seen, source, pem), live)
        else:
            note = api.READMIT if needs_readmission(seen, live) else ""
            want = Want.replace(SECRET, body, live, note)
    return Decision(
        want=(want,),
        events=_expired(seen),
        findings=findings,
        state=api.PUBLISHED,
        recheck=api.RESYNC,
        wakes=_wakes(seen),
        figures=_expiry(source.lifted.certificates),
    )


def _withdraw(seen: Snapshot, findings: tuple[Finding, ...]) -> Decision:
    target = seen.target
    if target is None:
        return Decision(findings=findings)
    bound = None if seen.allowed else Bound(seen.kind, seen.published)
    drop = Drop(seen.anchor, target.meta.uid, target.meta.resource_version, bound)
    return Decision(drop=(drop,), findings=findings, state=api.WITHDRAWN, wakes=_wakes(seen))


def _hold(seen: Snapshot, findings: tuple[Finding, ...]) -> Decision:
    stop = findings[-1]
    state = api.BY_NAME[stop.reason].state
    if stop.rule == "declaration-usable":
        state = "DeclarationInvalid"
    return Decision(
        events=_refused(seen, stop),
        findings=findings,
        state=state,
        recheck=_recheck(seen, state),
        wakes=_wakes(seen),
        inconclusive=state in UNDECIDED,
    )


def _recheck(seen: Snapshot, state: str) -> timedelta | None:
    """When to look again. Source: trust-anchors 6.1."""
    if state in SILENT or state == "NothingToDo":
        return None
    if state in UNSETTLED and seen.release.age(seen.now) < api.YOUNG:
        return api.SOON
    return api.RESYNC


def _refused(seen: Snapshot, stop: Finding) -> tuple[Event, ...]:
    """The event of a refusal, on the object section 11 names."""
    if stop.verdict is not Verdict.REFUSE:
        return ()
    uids = {seen.release.ref: seen.release.meta.uid}
    if seen.source is not None:
        uids[seen.source.ref] = seen.source.uid
    if seen.target is not None:
        uids[seen.anchor] = seen.target.meta.uid
    on_release = {"CACertSourceAmbiguous", "CACertSourceGone"}
    about = seen.release.ref if stop.reason in on_release else stop.refs[0]
    return (Event(about, uids.get(about, ""), stop.reason, stop.message),)


def _expired(seen: Snapshot) -> tuple[Event, ...]:
    """Warn when every certificate has expired; it is published all the same. Source: 5.2."""
    source = seen.source
    if source is None or source.lifted is None:
        return ()
    if any(certificate.not_after >= seen.now for certificate in source.lifted.certificates):
        return ()
    message = f"every certificate in {source.ref} under `{source.key}` has expired; rotate the CA"
    return (Event(source.ref, source.uid, "CACertExpired", message),)


def _expiry(certificates: tuple[Certificate, ...]) -> tuple[tuple[str, int], ...]:
    """When the last certificate of an anchor expires, in seconds since 1970.

    The last, as in 5.2: during a rotation the old CA may run out beside the new one.
    """
    ends = [int(certificate.not_after.timestamp()) for certificate in certificates]
    return ((api.EXPIRY, max(ends)),) if ends else ()


def _wakes(seen: Snapshot) -> tuple[Ref, ...]:
    """What must wake this release though no label of it says so. Source: section 9, V2 rule 2."""
    refs: list[Ref] = []
    if seen.declaration is not None and not seen.declaration.problem:
        refs.append(SECRET.ref(seen.release.meta.namespace, seen.declaration.secret))
    if seen.source is not None:
        refs.append(seen.source.ref)
    recorded = recorded_source(seen.target) if seen.target is not None else None
    if recorded is not None:
        refs.append(recorded)
    return tuple(sorted(set(refs)))


def _unattributable(secret: Object) -> Decision:
    message = f"{secret.ref} opts in as a source and names no release; set `{api.PUBLISH_RELEASE}`"
    reason = "CACertSourceUnattributable"
    finding = Finding("source-attributable", Verdict.REFUSE, reason, message, (secret.ref,))
    event = Event(secret.ref, secret.meta.uid, reason, message)
    return Decision(events=(event,), findings=(finding,), state="Unattributable")
