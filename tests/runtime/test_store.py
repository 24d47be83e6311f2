"""What a view stores, what it answers, and what its changes wake."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parts import FEW, MAPS, NS, OWNER, SECRETS, controller, drain, engine, owners_key, thing
from roadstead.decision import Cached
from roadstead.engine.engine import Engine
from roadstead.engine.store import Change, State, Store
from roadstead.errors import Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, SECRET, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.wiring import Controller, Watch


def key(name: str) -> Ref:
    """Name a key."""
    return CONFIG_MAP.ref(NS, name)


def fill(store: Store, *objects: Object, version: str = "10") -> list[Change]:
    """List some objects."""
    store.begin_list()
    return [*store.add_page(objects), *store.end_list(version)]


def names(store: Store) -> list[str]:
    """What it answers."""
    return [seen.meta.name for seen in store.list()]


@pytest.mark.parametrize("ask", ["get", "list", "index"])
@pytest.mark.parametrize("state", ["never", "half", State.ABSENT, State.FORBIDDEN])
def test_a_view_that_does_not_know_never_answers_none(ask: str, state: str) -> None:
    """Absent, forbidden and not synced raise, whatever is asked."""
    store = Store(MAPS)
    if state == "half":
        store.begin_list()
        list(store.add_page([thing("a", owner="o")]))
    elif state != "never":
        fill(store, thing("a", owner="o"))
        store.lose(State(state))
    asked: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(NS, "a"),
        "list": store.list,
        "index": lambda: store.list(OWNER, "o"),
    }
    with pytest.raises(Unread) as refused:
        asked[ask]()

    assert refused.value.reason in {"syncing", "absent", "forbidden"}
    assert not store.complete


def test_a_view_whose_refresh_fails_keeps_its_last_answer() -> None:
    """Also while a new list is half way through."""
    store = Store(MAPS)
    fill(store, thing("a"), thing("b"))
    store.lose(State.STALE)
    store.begin_list()
    list(store.add_page([thing("a", 20)]))

    assert store.state is State.STALE
    assert names(store) == ["a", "b"]


def test_a_view_that_was_never_listed_is_not_stale() -> None:
    """Stale means that there is an answer."""
    store = Store(MAPS)
    store.lose(State.STALE)
    before = store.state
    fill(store)
    store.lose(State.STALE)
    store.resume()

    assert before is State.SYNCING
    assert store.state is State.LIVE


def test_a_resumed_watch_does_not_complete_what_was_never_listed() -> None:
    """There is nothing to resume."""
    store = Store(MAPS)
    store.resume()

    assert store.state is State.SYNCING


def test_what_a_list_does_not_bring_is_gone_with_its_last_known_object() -> None:
    """Nobody told of the deletion; the old object names the old owner."""
    store, old = Store(MAPS), thing("b", owner="x")
    fill(store, thing("a"), old)
    changes = fill(store, thing("a"))

    assert changes == [Change(old, None, gone=True)]
    assert store.list(OWNER, "x") == ()


def test_an_interrupted_list_deletes_nothing() -> None:
    """Starting over forgets what the first try brought, and only that."""
    store = Store(MAPS)
    fill(store, thing("a"), thing("b"))
    store.begin_list()
    list(store.add_page([thing("a")]))

    assert fill(store, thing("a"), thing("b")) == []
    assert names(store) == ["a", "b"]


def test_what_is_not_stored_still_tells_of_itself() -> None:
    """Mappers hear of every event, and nothing of it stays; a list tells by who named it."""
    store, seen = Store(FEW), thing("a", kind=SECRET)

    assert fill(store, seen) == []
    assert store.apply("MODIFIED", seen) == Change(None, seen)
    assert store.apply("DELETED", seen) == Change(seen, seen, gone=True)
    assert len(store) == 0


def test_an_object_that_leaves_what_is_stored_is_told_with_its_old_form() -> None:
    """A source whose label is taken away must still wake its old release."""
    store = Store(FEW)
    old, new = thing("a", 1, kind=SECRET, owner="o"), thing("a", 2, kind=SECRET)
    fill(store, old)

    assert store.apply("MODIFIED", new) == Change(old, new)
    assert len(store) == 0


@pytest.mark.parametrize(("version", "news"), [(4, False), (5, False), (6, True)])
def test_old_news_changes_nothing(version: int, news: bool) -> None:
    """A watch that lags behind a list or our own write brings what is known."""
    store = Store(MAPS)
    fill(store, thing("a", 5))
    change = store.apply("MODIFIED", thing("a", version))

    assert (change is not None) is news


def test_our_own_write_is_seen_before_the_watch_tells_of_it() -> None:
    """The watch's older and equal versions change nothing after it."""
    store = Store(MAPS)
    fill(store, thing("a", 5), version="5")
    store.remember_own(thing("a", 8, owner="new"))
    store.remember_own(thing("a", 7))
    store.remember_own(thing("b", 9))

    assert store.apply("MODIFIED", thing("a", 6)) is None
    assert store.apply("MODIFIED", thing("a", 8, owner="new")) is None
    assert names(store) == ["a", "b"]
    assert [seen.meta.name for seen in store.list(OWNER, "new")] == ["a"]


def test_our_own_write_is_a_change_once() -> None:
    """Whoever else watches acts on it then: from the watch it is no news."""
    store = Store(MAPS)
    assert store.remember_own(thing("a", 4)) is None, "nothing is known yet"
    fill(store, thing("a", 5), version="5")
    change = store.remember_own(thing("a", 8))

    assert change is not None
    assert change.old is not None
    assert change.new is not None
    assert ["5", "8"] == [one.meta.resource_version for one in (change.old, change.new)]
    assert store.remember_own(thing("a", 8)) is None


def test_a_deletion_older_than_our_write_is_of_the_object_before_it() -> None:
    """Delete and create of one name: the late DELETED must not take the new one away."""
    store = Store(MAPS)
    fill(store, thing("a", 5, uid="old"), version="5")
    store.remember_own(thing("a", 9, uid="new"))

    assert store.apply("DELETED", thing("a", 7, uid="old")) is None
    assert names(store) == ["a"]
    assert store.apply("DELETED", thing("a", 10, uid="new")) is not None
    assert names(store) == []


def test_our_own_write_that_is_gone_again_is_not_stored() -> None:
    """A pass ends after the watch has told of what it made, and of its deletion."""
    store = Store(MAPS)
    fill(store)
    store.apply("ADDED", thing("a", 11))
    store.apply("DELETED", thing("a", 15))

    assert store.remember_own(thing("a", 11)) is None
    assert names(store) == []
    assert store.remember_own(thing("b", 16)) is not None


def test_our_own_write_survives_a_list_that_was_read_before_it() -> None:
    """The list was asked for, then we wrote, then its page came; the next list decides."""
    store = Store(MAPS)
    fill(store)
    store.remember_own(thing("a", 30))

    assert fill(store, version="20") == []
    assert names(store) == ["a"]
    assert fill(store, version="40") == [Change(thing("a", 30), None, gone=True)]


def test_a_server_that_was_put_back_is_believed() -> None:
    """A backup of etcd has older versions; a list says what is there now."""
    store = Store(MAPS)
    fill(store, thing("a", 1000, owner="new"), thing("b", 900), version="1000")
    fill(store, thing("a", 500, owner="old"), version="510")

    assert [seen.meta.name for seen in store.list(OWNER, "old")] == ["a"]
    assert names(store) == ["a"]
    assert store.apply("MODIFIED", thing("a", 520)) is not None


def test_our_own_write_survives_a_list_that_began_before_it() -> None:
    """A page read before the write does not show it; that is no deletion."""
    store = Store(MAPS)
    fill(store)
    store.begin_list()
    store.remember_own(thing("a", 30))

    assert list(store.end_list("20")) == []
    assert names(store) == ["a"]


OBJECTS = st.builds(
    thing,
    st.sampled_from(["a", "b", "c", "d"]),
    st.integers(1, 9),
    owner=st.sampled_from(["", "x", "y"]),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["list", "ADDED", "MODIFIED", "DELETED"]), st.lists(OBJECTS, max_size=4)
        ),
        max_size=12,
    )
)
def test_an_index_is_what_a_search_would_find(
    history: list[tuple[str, list[Object]]],
) -> None:
    """After whatever lists and events, in whatever order."""
    store = Store(MAPS)
    fill(store)
    for what, objects in history:
        if what == "list":
            fill(store, *{seen.meta.name: seen for seen in objects}.values())
        else:
            for seen in objects:
                store.apply(what, seen)
    for owner in ("x", "y"):
        expected = [seen for seen in store.list() if seen.labels.get(OWNER) == owner]
        assert list(store.list(OWNER, owner)) == expected


def full(*objects: Object, view: View = MAPS) -> Engine:
    """An engine that has listed some objects, with an empty queue."""
    of = engine(view)
    of.begin_list(view)
    of.add_page(view, objects)
    of.end_list(view, "10")
    drain(of)
    return of


def test_a_deletion_in_a_gap_wakes_the_old_owner() -> None:
    """Through the mappers, as an event would have."""
    of = full(thing("a", owner="x"), thing("b"))
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing("b")])
    of.end_list(MAPS, "20")

    assert drain(of) == [key("a"), key("x")]


def test_a_change_of_owner_wakes_both() -> None:
    """Without the old object the former owner is never told."""
    of = full(thing("a", 1, owner="x"))
    of.happened(MAPS, "MODIFIED", thing("a", 2, owner="y"))

    assert set(drain(of)) == {key("a"), key("x"), key("y")}


def test_a_view_that_stores_nothing_of_an_object_wakes_who_named_it_after_a_relist() -> None:
    """Every key the index knows for it, since its deletion would leave no trace."""
    of = full(thing("s", kind=SECRET), view=FEW)
    of.desks["probe"].wakes.set(key("asks"), (SECRET.ref(NS, "s"),))
    of.desks["probe"].wakes.set(key("too"), (SECRET.ref(NS, "s"), SECRET.ref(NS, "t")))
    of.begin_list(FEW)
    of.end_list(FEW, "20")

    assert drain(of) == [key("asks"), key("too")]


def test_an_event_wakes_who_named_its_object() -> None:
    """No label of the object says so; the last decision did."""
    of = full(view=SECRETS)
    of.desks["probe"].wakes.set(key("asks"), (SECRET.ref(NS, "s"),))
    of.happened(SECRETS, "ADDED", thing("s", kind=SECRET))

    assert set(drain(of)) == {SECRET.ref(NS, "s"), key("asks")}


def test_a_mapper_that_could_not_look_is_asked_again_once_it_can() -> None:
    """A key that a view not yet listed would have named is owed, not lost."""

    def of_all(_seen: Object, cached: Cached) -> tuple[Ref, ...]:
        return tuple(seen.ref for seen in cached.list(MAPS))

    watches = (Watch(MAPS, owners_key, lambda _old, _new: False), Watch(SECRETS, of_all))
    plain: Controller = controller()
    both = Controller("probe", "c", watches, plain.observe, plain.decide, plain.report)
    of = Engine((both,), Settings(), engine(MAPS)._clock)
    of.begin_list(SECRETS)
    of.add_page(SECRETS, [thing("s", kind=SECRET)])
    of.end_list(SECRETS, "5")
    before = drain(of)
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing("a")])
    of.end_list(MAPS, "6")

    assert before == []
    assert drain(of) == [key("a")]


def test_a_controller_is_not_ready_while_one_of_its_views_is_unknown() -> None:
    """And takes no key."""
    of = engine(MAPS, SECRETS)
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing("a")])
    of.end_list(MAPS, "5")
    before = (of.ready("probe"), of.take("probe"))
    of.begin_list(SECRETS)
    of.end_list(SECRETS, "5")
    taken = of.take("probe")
    of.lost(SECRETS, State.FORBIDDEN)

    assert before == (False, None)
    assert taken is not None
    assert not of.ready("probe")


def test_a_mapper_that_raises_costs_its_own_key_only() -> None:
    """The rest of the list is taken in; without a listener the bug ends everything."""

    def odd(seen: Object, cached: Cached) -> tuple[Ref, ...]:
        if seen.meta.name == "b":
            raise KeyError(seen.meta.name)
        return tuple(owners_key(seen, cached))

    plain = controller()
    odd_one = Controller(
        "probe", "c", (Watch(MAPS, odd),), plain.observe, plain.decide, plain.report
    )
    bugs: list[str] = []
    of = Engine(
        (odd_one,), Settings(), engine(MAPS)._clock, on_bug=lambda name, _bug: bugs.append(name)
    )
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing(name) for name in "abc"])
    of.end_list(MAPS, "5")

    assert bugs == ["probe"]
    assert drain(of) == [key("a"), key("c")]
    with pytest.raises(KeyError):
        Engine((odd_one,), Settings(), engine(MAPS)._clock).add_page(MAPS, [thing("b")])


@pytest.mark.parametrize("awaited", [True, False])
def test_an_optional_view_that_nobody_awaits_may_fail(awaited: bool) -> None:
    """Its first failure lets passes run; before it nobody knows whether there is a list to come."""
    watches = (Watch(MAPS, owners_key), Watch(SECRETS, owners_key, optional=True, awaited=awaited))
    of = engine(MAPS, SECRETS, watches=watches)
    of.begin_list(MAPS)
    of.end_list(MAPS, "5")
    before = of.ready("probe")
    of.lost(SECRETS, State.STALE)

    assert not before
    assert of.ready("probe") is not awaited
    assert not of.stores[SECRETS].complete
