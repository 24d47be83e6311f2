"""Our entries in a route's status, beside those of others. Source: tenant-gateway 5.1, 5.5, 5.6."""

from collections.abc import Iterable
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.units import Unit
from roadstead.capabilities.gateways.decide.verdicts import Cause, folded
from roadstead.capabilities.gateways.fields import EDGE
from roadstead.capabilities.gateways.snapshot import Route, Snapshot
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.decision import Finding, Verdict, Want
from roadstead.kube.conditions import FALSE, TRUE, Condition, fold
from roadstead.kube.shapes import Json, items, part

ROUTE_SERVED = "route-served"
"""The rule of every unit."""
Judged = tuple[Unit, tuple[Cause, ...]]
"""A unit with everything that is not served through it."""


def written(seen: Snapshot, route: Route, judged: Iterable[Judged]) -> Want | None:
    """The status a route should have, or None when it has it, or could not hold our entries.

    Foreign entries are neither changed nor moved; ours stay where they are, new ones follow.
    """
    status = part(route.seen.body, "status")
    before = list(items(status, "parents"))
    after = _parents(seen, route, before, list(judged))
    if after == before or len(after) > api.MOST_ENTRIES:
        return None
    kind = route.status_kind or route.seen.kind
    changed = {"apiVersion": kind.api_version, "status": {**status, "parents": after}}
    return Want.status(kind, {**route.seen.body, **changed}, route.seen)


def is_full(seen: Snapshot, route: Route, judged: Iterable[Judged]) -> bool:
    """Whether a route has no room for our entries. Source: 5.6, 32-entry cap."""
    before, mine = list(items(part(route.seen.body, "status"), "parents")), list(judged)
    if len(before) + len(mine) <= api.MOST_ENTRIES:
        return False
    return len(_parents(seen, route, before, mine)) > api.MOST_ENTRIES


def _parents(seen: Snapshot, route: Route, before: list[Json], judged: list[Judged]) -> list[Any]:
    left = list(judged)
    after: list[Any] = []
    for entry in before:
        if not _is_ours(seen, route, entry):
            after.append(entry)
            continue
        match = next((one for one in left if one[0].parent == entry.get("parentRef")), None)
        if match is not None:
            left.remove(match)
            after.append(_entry(seen, match, entry))
    return [*after, *(_entry(seen, one, {}) for one in left)]


def _is_ours(seen: Snapshot, route: Route, entry: Json) -> bool:
    """Whether an entry is of our controller and speaks of this gateway."""
    named = gateway_of(part(entry, "parentRef"), route.ref.namespace)
    return entry.get("controllerName") == api.COMPONENT and named == seen.key.key


def _entry(seen: Snapshot, judged: Judged, before: Json) -> dict[str, Any]:
    unit, causes = judged
    accepted = _accepted(seen, causes)
    generation = unit.route.seen.meta.generation
    conditions = fold(items(before, "conditions"), (accepted,), seen.now, generation)
    return {
        "parentRef": dict(unit.parent),
        "controllerName": api.COMPONENT,
        "conditions": conditions,
    }


def _accepted(seen: Snapshot, causes: tuple[Cause, ...]) -> Condition:
    if not causes:
        return Condition("Accepted", TRUE, api.ACCEPTED, f"served by {seen.key.key}")
    told = "; ".join(dict.fromkeys(cause.text for cause in causes))
    message = f"TenantGateway {seen.key.key}: {told}"
    return Condition("Accepted", FALSE, folded(causes), message)


def finding_of(seen: Snapshot, judged: Judged) -> Finding:
    """What is found of one unit: the words of its entry, and the route first of what it is of."""
    unit, causes = judged
    refs = (unit.route.ref, seen.key)
    if not causes:
        return Finding(ROUTE_SERVED, Verdict.PASS, refs=refs)
    said = _accepted(seen, causes)
    return Finding(ROUTE_SERVED, Verdict.REFUSE, said.reason, said.message, refs)


def of_whole_apex(seen: Snapshot, units: Iterable[Unit]) -> list[Judged]:
    """The units that keep an entry in the modes that follow no hostnames. Source: 5.5."""
    if seen.asked.mode != EDGE:
        return []
    text = "the edge ends TLS, so no TLSRoute is served"
    cause = Cause(api.NO_PARENT, text)
    return [(unit, (cause,)) for unit in units if unit.is_tls and unit.hostnames]
