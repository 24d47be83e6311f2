"""How an attachment's decision is told: by its conditions, and what becomes of its Service."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import LEFT_ALONE, RULES
from roadstead.capabilities.attachments.snapshot import ATTACHMENTS, Snapshot
from roadstead.decision import Decision, Finding, How, Reader, Verdict
from roadstead.errors import ClusterError
from roadstead.explain.attachments.known import Known, know
from roadstead.explain.attachments.next import next_steps, wakes
from roadstead.explain.subject import Told
from roadstead.explain.trail import PENDING, UNWRITTEN, is_pending, is_refused, names_of, stop_of
from roadstead.kube.conditions import TRUE, condition_of
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.kube.shapes import items, part, text
from roadstead.kube.times import format_age, parse_time

Json = Mapping[str, Any]
_LEADING = ("Resolved", "Provisioned", "Ready")
"""Conditions a headline may show; the first that is not True."""


async def tell(reader: Reader, key: Ref, decision: Decision) -> Told:
    """Say what a decision about one attachment comes to."""
    known = await know(reader, key)
    status = _status(reader, key, decision)
    pending, refused = is_pending(decision), is_refused(decision)
    phase = text(status, "phase") or PENDING
    return Told(
        state=PENDING if pending else phase,
        headline=_headline(status, reader.now),
        settled=stop_of(decision) is None,
        because=because(decision, status, known),
        next=next_steps(key, decision, known),
        wakes="" if refused else UNWRITTEN if pending else wakes(decision),
        notes=_notes(status, decision),
    )


def _status(reader: Reader, key: Ref, decision: Decision) -> Json:
    """The status that was decided; the reported one where nothing could be judged."""
    if decision.status is not None:
        return decision.status.value
    try:
        seen = reader.get(ATTACHMENTS, key.namespace, key.name)
    except ClusterError:
        return {}
    return part(seen.body, "status") if seen is not None else {}


def leading(status: Json) -> Json:
    """The condition that says most: the first that is not True, else Ready."""
    stated = [one for type_ in _LEADING if (one := condition_of(status, type_))]
    return next((one for one in stated if one.get("status") != TRUE), stated[-1] if stated else {})


def _headline(status: Json, now: datetime) -> str:
    told = leading(status)
    if not told:
        return f"{PENDING}  not reported yet"
    words = f"{told.get('type')}={told.get('status')}  {told.get('reason')}"
    since = text(told, "lastTransitionTime")
    span = now - parse_time(since) if since else timedelta(0)
    return f"{words}  for {format_age(span)}" if span >= timedelta(seconds=1) else words


def _notes(status: Json, decision: Decision) -> tuple[str, ...]:
    """What is reported beside the trail: whether the address is announced, the last word."""
    if decision.findings and decision.findings[-1].rule == "readable":
        return tuple(
            f"{one.get('type')}={one.get('status')} was reported last: {one.get('reason')}"
            for one in items(status, "conditions")
            if one.get("type") in _LEADING
        )
    assigned = condition_of(status, "AddressAssigned")
    if stop_of(decision) is not None or not assigned or text(assigned, "reason") in _TOLD:
        return ()
    return (f"{text(assigned, 'reason')}: {text(assigned, 'message')}",)


_TOLD = frozenset({"AddressMismatch", "NoService"})
"""Told already: as a warning, and as what is still to be made."""


def because(decision: Decision, status: Json, known: Known | None) -> str:
    """The sentence under a trail."""
    stop = stop_of(decision)
    if stop is not None:
        return f"Because {stop.message.partition('; ')[0]}, {_effect(stop, status, known)}."
    if is_pending(decision):
        return "Because every rule passes, its Service is to be put right."
    addresses = ", ".join(str(one) for one in status.get("addresses") or ())
    return (
        f"Because every rule passes, Service {text(status, 'serviceName')} has the address "
        f"{addresses}; whether it is reached depends on the policies of the network, too."
    )


def _effect(stop: Finding, status: Json, known: Known | None) -> str:
    """What a stop does to the Service and the address. Source: 3.2 to 3.5."""
    if text(condition_of(status, "Provisioned"), "reason") == "Detached":
        return "its Service is withdrawn and its claim keeps the address"
    if stop.rule in LEFT_ALONE and text(status, "serviceName"):
        return "its Service stays as it is"
    effect = EFFECTS.get(stop.rule, "nothing is rendered for this attachment")
    return effect.format(age=_age(stop, known))


EFFECTS = {
    "readable": "nothing was changed",
    "address-bound": "it has no address yet and nothing is rendered for this attachment",
    "one-backend": "its address is held and serves nobody",
    "every-port-found": "the ports that exist are served alone",
    "one-delegation-per-pod": (
        "that Service keeps it{age}; nothing is rendered for this attachment"
    ),
}
"""What a stop of a rule does, where it is not simply that nothing is rendered."""


def _age(stop: Finding, known: Known | None) -> str:
    """How old the holder is, where that is known."""
    for one in known.seen.delegations if known is not None else ():
        if one.service.ref == stop.refs[-1] and known is not None:
            age = one.service.age(known.seen.now)
            return f" ({format_age(age)})" if age >= timedelta(seconds=1) else ""
    return ""


def rules(_asked: Collection[str]) -> tuple[str, ...]:
    """The names of all rules, in order."""
    return _names()


@cache
def _names() -> tuple[str, ...]:
    nobody = Snapshot(Object(api.ATTACHMENT, Meta()), datetime(1970, 1, 1, tzinfo=UTC))
    return names_of(RULES, nobody)


def with_status(_key: Ref, decision: Decision, _told: tuple[str, str]) -> Decision:
    """Lay over a look what only the running controller can know: that a write was refused.

    The object's own status says so; a look writes nothing, so it meets no refusal.
    """
    if decision.status is None:
        return decision
    reported = condition_of(part(decision.status.live.body, "status"), "Provisioned")
    reason, message = text(reported, "reason"), text(reported, "message")
    refused = (reason == "ServiceRejected" and _would_write(decision, SERVICE)) or (
        reason == "ClaimPending"
        and message.startswith("the API server refused")
        and _would_write(decision, api.CLAIM)
    )
    if not refused or stop_of(decision) is None:
        return decision
    finding = Finding("written", Verdict.REFUSE, reason, message, decision.findings[-1].refs)
    status = replace(decision.status, value=part(decision.status.live.body, "status"))
    return replace(decision, findings=(*decision.findings, finding), status=status, want=())


def _would_write(decision: Decision, kind: Kind) -> bool:
    return any(one.kind == kind and one.how is not How.APPLY for one in decision.want)
