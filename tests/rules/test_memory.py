"""What an engine remembers: events on their edges, drops that are counted, who wakes whom."""

from datetime import timedelta

import pytest

from roadstead.decision import Bound, Event
from roadstead.engine.memory import (
    LEAST,
    REMEMBERED,
    REPEAT,
    WINDOW,
    Edges,
    States,
    Wakes,
    Withdrawals,
)
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref

KEY = HELM_RELEASE.ref("tenant-foo", "postgres-mydb")
OTHER = HELM_RELEASE.ref("tenant-foo", "postgres-other")
EVENT = Event(SECRET.ref("tenant-foo", "source"), "uid-1", "CACertInvalid", "it is not one")


def keys(count: int) -> list[Ref]:
    """As many releases as asked for."""
    return [HELM_RELEASE.ref("tenant-foo", f"postgres-{number}") for number in range(count)]


def tell(edges: Edges, key: Ref, events: tuple[Event, ...], now: float) -> int:
    """Publish what is due and say how much that was."""
    due = edges.due(key, events, now)
    for event, _ in due:
        edges.told(event, now)
    return len(due)


def test_an_event_is_told_once_while_it_stays_true() -> None:
    """A collision warning must not flood at each resync."""
    edges = Edges()

    told = [tell(edges, KEY, (EVENT,), now) for now in (0.0, 300.0, 600.0, REPEAT - 1)]

    assert [1, 0, 0, 0] == told


def test_an_event_that_stays_true_is_told_again_after_an_hour() -> None:
    """Events expire on the server; a fault that lasts must stay visible."""
    edges = Edges()

    assert [1, 1, 0] == [tell(edges, KEY, (EVENT,), now) for now in (0.0, REPEAT, REPEAT + 1)]


def test_an_event_that_clears_and_returns_is_told_again() -> None:
    """A second fault of the same kind is news."""
    edges = Edges()

    told = [tell(edges, KEY, events, 1.0) for events in ((EVENT,), (), (EVENT,))]

    assert [1, 0, 1] == told


def test_one_event_of_two_keys_is_told_once() -> None:
    """Forty releases of one definition warn of it once, not forty times."""
    edges = Edges()

    assert [1, 0] == [tell(edges, key, (EVENT,), 1.0) for key in (KEY, OTHER)]
    assert 0 == tell(edges, KEY, (), 2.0)
    assert 0 == tell(edges, OTHER, (EVENT,), 3.0)


def test_an_event_that_could_not_be_published_stays_due() -> None:
    """An API server that is down must not swallow a refusal."""
    edges = Edges()
    edges.due(KEY, (EVENT,), 0.0)

    assert ((EVENT, 0),) == edges.due(KEY, (EVENT,), 1.0)


def test_the_memory_of_events_is_bounded() -> None:
    """A tenant who makes new faults all day must not fill our memory."""
    edges = Edges()
    for number in range(REMEMBERED + 10):
        key = HELM_RELEASE.ref("tenant-foo", f"r{number}")
        tell(edges, key, (Event(EVENT.about, str(number), "R", "m"),), 1.0)

    assert REMEMBERED == len(edges._told)
    assert 0 == tell(edges, key, (Event(EVENT.about, str(number), "R", "m"),), 2.0)


def test_a_small_group_may_lose_five() -> None:
    """One definition that goes should take a handful with it without asking."""
    guard = Withdrawals()

    admitted = [guard.admit(key, Bound("Postgres", 40), 0.0) for key in keys(40)]

    assert LEAST == sum(admitted)
    assert {"Postgres": 35} == guard.held()


def test_a_large_group_may_lose_a_tenth() -> None:
    """Ten per cent of two hundred are twenty, however the count shrinks on the way."""
    guard = Withdrawals()

    admitted = [
        guard.admit(key, Bound("Postgres", 200 - number), 0.0)
        for number, key in enumerate(keys(200))
    ]

    assert 20 == sum(admitted)


def test_a_release_counts_once_though_its_delete_was_refused() -> None:
    """A conflict repeats the pass; that is no second withdrawal."""
    guard = Withdrawals()

    assert all(guard.admit(KEY, Bound("Postgres", 1), float(now)) for now in range(20))


def test_time_alone_lets_nothing_held_go() -> None:
    """Five every ten minutes would empty a cluster by the evening."""
    guard = Withdrawals()
    for key in keys(6):
        guard.admit(key, Bound("Postgres", 6), 0.0)

    assert not guard.admit(keys(6)[5], Bound("Postgres", 6), WINDOW * 3)


def test_who_was_let_go_and_is_refused_is_not_held_with_the_rest() -> None:
    """The API server refuses five deletions for half an hour; a sixth that waits holds none."""
    guard = Withdrawals()
    for now in (0.0, WINDOW, WINDOW * 3):
        admitted = [guard.admit(key, Bound("Postgres", 6), now) for key in keys(6)]

        assert [True] * 5 + [False] == admitted


def test_a_declaration_that_comes_back_ends_the_hold() -> None:
    """Once nothing wants to go, the next withdrawal is counted from nothing."""
    guard = Withdrawals()
    for key in keys(10):
        guard.admit(key, Bound("Postgres", 10), 0.0)
    for key in keys(10):
        guard.release(key)

    assert {} == guard.held()
    assert guard.admit(keys(10)[9], Bound("Postgres", 10), WINDOW)


def test_groups_are_counted_apart() -> None:
    """A mishap of one engine must not hold back another's."""
    guard = Withdrawals()
    for key in keys(10):
        guard.admit(key, Bound("Postgres", 10), 0.0)

    assert guard.admit(OTHER, Bound("MongoDB", 10), 0.0)


def test_what_a_decision_named_wakes_its_key_until_it_names_something_else() -> None:
    """The old release of a source that was relabelled hears of it; a stale name wakes nobody."""
    wakes = Wakes()
    old, new = SECRET.ref("tenant-foo", "old"), SECRET.ref("tenant-foo", "new")
    wakes.set(KEY, (old,))
    wakes.set(OTHER, (old,))
    wakes.set(KEY, (new,))

    assert ((OTHER,), (KEY,)) == (wakes.keys(old), wakes.keys(new))
    assert ((new, (KEY,)), (old, (OTHER,))) == wakes.of_kind(SECRET)
    wakes.set(KEY, ())
    wakes.set(OTHER, ())
    assert () == wakes.of_kind(SECRET)


@pytest.mark.parametrize(
    ("minutes", "notes"),
    [
        pytest.param(10, [(0.0, "Held")], id="since-it-began"),
        pytest.param(5, [(0.0, "Held"), (300.0, "Published"), (300.0, "Held")], id="anew"),
        pytest.param(10, [(0.0, "Held"), (300.0, "Held")], id="unbroken"),
        pytest.param(0, [(0.0, "Held"), (300.0, "Published")], id="over"),
        pytest.param(0, [(0.0, "Held"), (300.0, "")], id="forgotten"),
    ],
)
def test_a_state_is_timed_from_where_it_began(minutes: int, notes: list[tuple[float, str]]) -> None:
    """A source that is gone for an hour is told of after an hour, not after a resync."""
    states = States()
    for now, state in notes:
        states.note(KEY, state, now)

    state, span = states.present(KEY, 600.0)
    assert (state == "Held") is bool(minutes)
    assert not minutes or timedelta(minutes=minutes) == span
