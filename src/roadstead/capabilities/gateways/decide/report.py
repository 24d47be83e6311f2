"""What a failed write means for a tenant gateway. Source: tenant-gateway 5.6, 7.1 and 10."""

from dataclasses import replace

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.ready import status
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import Decision, Did, Event, Finding, How, Outcome, Telling, Verdict

_ROUTES = frozenset({"HTTPRoute", "TLSRoute"})
_STALE = "Conflict"
"""The Status reason of a precondition that failed; a name that is taken has another."""


def report(seen: Snapshot, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
    """Lay what became of the writes over the decision: every failure is told, none hides another.

    A route's own status is isolated: it is tried again and is no failure of the gateway. Neither
    is a conflict: what was judged has changed since, and the pass is repeated over what is there.
    """
    failed = [one for one in outcomes if one.did is Did.FAILED]
    if not failed:
        return decision
    owned = [one for one in failed if not _is_of_a_route(one)]
    faults = [one for one in owned if one.reason != _STALE]
    if owned and not faults:
        return replace(decision, status=None, events=(), backoff=True, inconclusive=True)
    if not faults or seen.asked_for is None:
        return replace(decision, backoff=True)
    found = tuple(one for one in decision.findings if one.rule != "gateway-served")
    told = [one.message for one in found if one.rule == "renderable" and one.reason]
    said = (*told, *(f"{one.ref} was not written: {one.said or one.reason}" for one in faults))
    events = tuple(
        Event(
            seen.key,
            seen.asked_for.meta.uid,
            api.FAULT,
            f"{one.ref} was not written: {one.said or one.reason}",
            telling=Telling.ONCE,
        )
        for one in faults
    )
    return replace(
        decision,
        status=status(seen, seen.asked_for, said),
        events=(*decision.events, *events),
        findings=(*found, _unwritten(seen, faults)),
        state=api.FAULT,
        backoff=True,
    )


def _is_of_a_route(failed: Outcome) -> bool:
    """Whether it is the status of a route, which is not ours."""
    return failed.how is How.STATUS and failed.ref.kind.kind in _ROUTES


def _unwritten(seen: Snapshot, faults: list[Outcome]) -> Finding:
    said = "; ".join(f"{one.ref} was not written: {one.said or one.reason}" for one in faults)
    refs = (seen.key, *(one.ref for one in faults))
    return Finding("written", Verdict.REFUSE, api.FAULT, said, refs)
