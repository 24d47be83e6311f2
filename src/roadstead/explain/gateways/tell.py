"""How a gateway's decision is told: by what it renders, and by what its class makes of it."""

from collections.abc import Collection
from datetime import timedelta

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import ROUTE_SERVED
from roadstead.capabilities.gateways.snapshot.views import GATEWAYS_ASKED
from roadstead.decision import Decision, Reader, Verdict
from roadstead.errors import ClusterError
from roadstead.explain.gateways.known import know
from roadstead.explain.gateways.next import of_gateway, wakes
from roadstead.explain.subject import Told
from roadstead.explain.trail import (
    PENDING,
    UNWRITTEN,
    is_pending,
    is_refused,
    stop_of,
    warnings,
)
from roadstead.kube.conditions import condition_of
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import Json, part, text
from roadstead.kube.times import format_age, parse_time


async def tell(reader: Reader, key: Ref, decision: Decision) -> Told:
    """Say what a decision about one gateway comes to."""
    known = await know(reader, key)
    status = _status(reader, key, decision)
    pending, refused = is_pending(decision), is_refused(decision)
    return Told(
        state=PENDING if pending else decision.state,
        headline=_headline(status, reader),
        settled=stop_of(decision) is None,
        because=because(decision),
        next=of_gateway(key, decision, known),
        wakes="" if refused else UNWRITTEN if pending else wakes(decision),
        notes=(_counted(decision),) if _counted(decision) else (),
    )


def _status(reader: Reader, key: Ref, decision: Decision) -> Json:
    if decision.status is not None:
        return decision.status.value
    try:
        seen = reader.get(GATEWAYS_ASKED, key.namespace, key.name)
    except ClusterError:
        return {}
    return part(seen.body, "status") if seen is not None else {}


def _headline(status: Json, reader: Reader) -> str:
    ready = condition_of(status, "Ready")
    if not ready:
        return f"{PENDING}  not reported yet"
    words = f"Ready={ready.get('status')}  {ready.get('reason')}"
    since = text(ready, "lastTransitionTime")
    span = reader.now - parse_time(since) if since else timedelta(0)
    return f"{words}  for {format_age(span)}" if span >= timedelta(seconds=1) else words


def because(decision: Decision) -> str:
    """The sentence under a trail."""
    stop = stop_of(decision)
    if stop is not None and stop.reason == api.FAULT:
        left = "what stands is left as it is" if stop.rule == "renderable" else "the rest is made"
        return f"Because {stop.message}, {left}."
    if stop is not None:
        return f"Because {stop.message.partition('; ')[0]}, not everything is served yet."
    for event in warnings(decision):
        return f"Because {event.message}, it is told of; the rest is served."
    cause, served = "every rule passes", "what its routes claim"
    if any(one.verdict is Verdict.REFUSE for one in decision.findings):
        cause, served = "what is refused is its routes' alone", f"the rest of {served}"
    if is_pending(decision):
        return f"Because {cause}, its objects are to be put right."
    return f"Because {cause}, the Gateway serves {served}."


def _counted(decision: Decision) -> str:
    """How many parentRefs are served, and how many are not."""
    found = [one for one in decision.findings if one.rule == ROUTE_SERVED]
    refused = sum(one.verdict is not Verdict.PASS for one in found)
    if not found:
        return ""
    total = len(found)
    many = f"{total} {'parentRef' if total == 1 else 'parentRefs'} of routes"
    return f"{many}, {refused} refused" if refused else f"{many}, all served"


def rules(asked: Collection[str]) -> tuple[str, ...]:
    """The names of the rules that are asked of the gateway itself, in order."""
    return ("renderable",) if "written" in asked else ("renderable", "gateway-served")
