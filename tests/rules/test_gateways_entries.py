"""Own entries in a route's status, beside everybody else's. tenant-gateway 5.1 and 5.6."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    BORN,
    EARLIER,
    a_foreign_entry,
    a_parent,
    a_route,
    a_snapshot,
    an_entry,
    http,
    parents,
    reasons,
    tls,
    told,
    writes,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Route, Snapshot
from roadstead.decision import How

WEB = f"web.{APEX}"
OWN = api.COMPONENT


def after(seen: Snapshot, route: Route) -> list[dict[str, Any]]:
    """What stands in `status.parents` after a pass."""
    return parents(decide(seen), route)


def whose(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Controllers of entries, ours as `us`."""
    return ["us" if one["controllerName"] == OWN else one["controllerName"] for one in entries]


def test_an_entry_has_its_frame() -> None:
    """5.1: one condition, the route's generation, the parentRef as it stands."""
    route = http("tenant-foo/r", WEB, sectionName="nonsense", port=443)
    (entry,) = after(a_snapshot(route), route)
    (condition,) = entry["conditions"]

    assert a_parent(sectionName="nonsense", port=443) == entry["parentRef"]
    assert ("Accepted", "True", "Accepted", 3) == (
        condition["type"],
        condition["status"],
        condition["reason"],
        condition["observedGeneration"],
    )
    assert "tenant-foo/cozystack" in condition["message"]


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        pytest.param(an_entry(), False, id="as-it-should-be"),
        pytest.param(an_entry(None, "False"), True, id="another-status"),
        pytest.param(an_entry(conditions=[]), True, id="no-condition"),
        pytest.param(an_entry({"name": "cozystack", "namespace": "tenant-foo"}), True,
                     id="another-spelling-is-another"),
    ],
)  # fmt: skip
def test_a_route_is_written_only_when_an_own_entry_changes(
    entry: dict[str, Any], written: bool
) -> None:
    """Every write wakes every watch of that route, ours among them."""
    route = http("tenant-foo/r", WEB, entries=[entry])
    decision = decide(a_snapshot(route))

    assert written is ("status HTTPRoute r" in writes(decision))


@pytest.mark.parametrize(
    ("status", "moved"),
    [pytest.param("True", False, id="stays"), pytest.param("False", True, id="flips")],
)
def test_the_time_moves_with_the_status(status: str, moved: bool) -> None:
    """5.6: a new message of an old status keeps its time."""
    entry = an_entry(None, status)
    entry["conditions"][0]["message"] = "old words"
    route = http("tenant-foo/r", WEB, entries=[entry])
    (written,) = after(a_snapshot(route), route)

    assert (BORN if moved else EARLIER) == written["conditions"][0]["lastTransitionTime"]


@pytest.mark.parametrize("ours", [an_entry(None, "False"), None], ids=["changes", "comes"])
def test_foreign_entries_survive_byte_for_byte(ours: dict[str, Any] | None) -> None:
    """TG-182: neither changed, moved nor dropped, whatever they hold."""
    odd = {**a_foreign_entry("example.org/b"), "extra": {"deep": [1, None, "x"]}}
    foreign = [a_foreign_entry("example.org/a"), odd]
    before = [foreign[0], *([ours] if ours else []), foreign[1]]
    route = http("tenant-foo/r", WEB, entries=copy.deepcopy(before))
    found = after(a_snapshot(route), route)

    assert foreign == [one for one in found if one["controllerName"] != OWN]
    assert whose(before if ours else [*before, an_entry()]) == whose(found)


def several(*parts: dict[str, Any], entries: Iterable[dict[str, Any]] = ()) -> Route:
    """A route with one parentRef for each of these."""
    found = [a_parent(**one) for one in parts]
    return Route(a_route(api.HTTP_ROUTE, "tenant-foo/r", [WEB], found, list(entries)))


def test_new_entries_follow_in_the_order_of_the_route() -> None:
    """5.6: ours stay where they are, new ones come after everybody's."""
    b = a_parent(sectionName="b")
    route = several(
        {"sectionName": "a"},
        {"sectionName": "b"},
        {"sectionName": "c"},
        entries=[an_entry(b, "False"), a_foreign_entry("x")],
    )
    found = after(a_snapshot(route), route)

    assert ["us", "x", "us", "us"] == whose(found)
    assert ["b", None, "a", "c"] == [one["parentRef"].get("sectionName") for one in found]


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(an_entry(a_parent(sectionName="gone")), id="parent-edited-away"),
        pytest.param(
            an_entry({"name": "cozystack", "namespace": "tenant-foo"}), id="other-spelling"
        ),
    ],
)
def test_an_entry_without_a_unit_goes(entry: dict[str, Any]) -> None:
    """5.6: an entry that speaks of this gateway and belongs to nobody is a lie."""
    route = http("tenant-foo/r", WEB, entries=[entry, a_foreign_entry("x")])
    found = after(a_snapshot(route), route)

    assert ["x", "us"] == whose(found)
    assert a_parent() == found[1]["parentRef"]


def test_a_double_entry_is_one_again() -> None:
    """5.6: the key is controller and parentRef; two of one are one too many."""
    route = http("tenant-foo/r", WEB, entries=[an_entry(), an_entry()])

    assert [an_entry()] == after(a_snapshot(route), route)


def test_entries_of_another_gateway_are_another_passes() -> None:
    """One route, two gateways: each pass writes its own, or they undo each other for ever."""
    other = a_parent(namespace="tenant-x")
    entry = an_entry(other, "False")
    route = Route(a_route(api.HTTP_ROUTE, "tenant-foo/r", [WEB], [a_parent(), other], [entry]))
    found = after(a_snapshot(route), route)

    assert entry == found[0]
    assert [other, a_parent()] == [one["parentRef"] for one in found]


def test_a_route_outside_loses_its_entry() -> None:
    """5.6: a namespace that left the attach set has no say, and hears none."""
    route = http("tenant-x/r", WEB, entries=[an_entry()])

    assert [] == after(a_snapshot(route), route)


def test_a_gateway_that_is_gone_takes_its_entries() -> None:
    """TG-183: on every kind of route, and nothing else of them."""
    one = http("tenant-foo/r", WEB, entries=[an_entry(), a_foreign_entry("x")])
    two = tls("tenant-foo/t", WEB, entries=[an_entry()])
    clean = http("tenant-foo/s", WEB)
    seen = replace(a_snapshot(one, two, clean), asked_for=None)
    decision = decide(seen)

    assert ["x"] == whose(parents(decision, one))
    assert [] == parents(decision, two)
    assert ["status HTTPRoute r", "status TLSRoute t"] == writes(decision)[:2]
    assert decision.status is None


@pytest.mark.parametrize(
    ("foreign", "own", "entries"),
    [
        pytest.param(31, [], 32, id="one-more-fits"),
        pytest.param(32, [], 32, id="no-room"),
        pytest.param(31, [an_entry(None, "False")], 32, id="in-its-place"),
    ],
)
def test_a_list_of_thirty_two_is_full(
    foreign: int, own: list[dict[str, Any]], entries: int
) -> None:
    """5.6: the server refuses more; the claim, its listener and its Certificate stand."""
    others = [a_foreign_entry(f"c{n}") for n in range(foreign)]
    route = http("tenant-foo/r", WEB, entries=[*others, *own])
    seen = a_snapshot(route)
    decision = decide(seen)

    assert entries == len(parents(decision, route))
    assert (foreign < 32) is ("status HTTPRoute r" in writes(decision))
    assert [1] == [1 for want in decision.want if want.kind == api.CERTIFICATE]
    assert "ReconcileError" not in told(decision)


def test_no_route_without_room_stops_another() -> None:
    """5.6: isolation; the next route is told all the same."""
    others = [a_foreign_entry(f"c{n}") for n in range(32)]
    full, free = http("tenant-foo/a", WEB, entries=others), http("tenant-foo/b", WEB)
    seen = a_snapshot(full, free)

    assert ["-", "Accepted"] == reasons(seen)


@pytest.mark.parametrize("turned", [False, True])
def test_a_status_is_written_with_the_version_that_was_read(turned: bool) -> None:
    """5.6: `status.parents` is one value; who writes over a newer one loses others' entries."""
    routes = [http("tenant-foo/r", WEB), tls("tenant-foo/t", WEB)]
    seen = a_snapshot(*(routes[::-1] if turned else routes))
    wants = [want for want in decide(seen).want if want.how is How.STATUS]

    assert ["7", "7"] == [want.body["metadata"]["resourceVersion"] for want in wants]
    assert [route.seen for route in seen.routes] == [want.live for want in wants]


def test_hostname_less_http_routes_get_no_entry() -> None:
    """4.1: the known gap: no claim, no word."""
    route = http("tenant-foo/r")

    assert [] == after(a_snapshot(route), route)


def test_a_status_is_written_at_the_version_that_allows_the_route() -> None:
    """6: what v1 would refuse is written at the version its author used."""
    older = api.TLS_ROUTES[-1]
    route = replace(tls("tenant-foo/t", WEB), status_kind=older)
    (want,) = [one for one in decide(a_snapshot(route)).want if one.how is How.STATUS]

    assert older == want.kind
    assert older.api_version == want.body["apiVersion"]
