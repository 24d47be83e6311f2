"""Views fed from a server that does everything wrong a server can. Source: runtime.md 4 and 6."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from faults import (
    Faults,
    answer,
    bookmark,
    broken,
    drop,
    error,
    live,
    pause,
    raw,
    refuse,
    send,
    stream,
    usual,
    whole,
)
from parts import (
    CANARY,
    CARRIED,
    DATA,
    FEW,
    MAPS,
    NS,
    OWNER,
    SECRETS,
    HandClock,
    Lines,
    Pauses,
    drain,
    engine,
    owners_key,
    thing,
    until,
)
from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.errors import ClusterError, Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, SECRET, Ref
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import Rest
from roadstead.runtime.discovery import DISCOVERY_PERIOD
from roadstead.runtime.feed import DEAD_AFTER, PIECE, Feed, Feeds, freeze
from roadstead.runtime.wire import Page, decode_page
from shelves import Shelf


@dataclass
class Rig:
    """One view fed from one server."""

    server: Faults
    shelf: Shelf
    engine: Engine
    feeds: Feeds
    client: Client
    lines: Lines
    pauses: Pauses
    clock: HandClock
    task: asyncio.Task[None]

    @property
    def feed(self) -> Feed:
        """The feed of the first view."""
        return self.feeds.all[0]

    @property
    def state(self) -> State:
        """The state of its view."""
        return self.engine.stores[self.feed.view].state

    def names(self) -> set[str]:
        """What the view stores; nothing while it cannot answer."""
        store = self.engine.stores[self.feed.view]
        return {seen.meta.name for seen in store.list()} if store.complete else set()

    def there(self) -> set[str]:
        """What the server has."""
        return {name for _, name in self.shelf.objects}

    def right(self) -> bool:
        """Whether the view is live, follows, and holds what the server has."""
        return self.state is State.LIVE and self.shelf.watches == 1 and self.names() == self.there()

    def told(self) -> bytes:
        """Everything that left the process or rests in it."""
        stored = [
            (repr(seen), msgspec.to_builtins(seen))
            for store in self.engine.stores.values()
            for seen in store._objects.values()
        ]
        return self.lines.text + repr(stored).encode()


def fill(shelf: Shelf, names: Iterable[str] = "abc") -> None:
    """Put objects there; a Secret carries the canary in its value and in an annotation."""
    for name in names:
        rest: dict[str, Any] = {"data": DATA} if shelf.kind == SECRET else {"data": {"k": "v"}}
        meta = {"annotations": CARRIED} if shelf.kind == SECRET else {}
        shelf.put(NS, name, labels={OWNER: f"of-{name}"}, meta=meta, **rest)


@asynccontextmanager
async def fed(
    view: View,
    script: Callable[[Faults, Shelf], object] = lambda _server, _shelf: None,
    *,
    watch_list: bool = True,
    rest: Rest | None = None,
    **options: Any,
) -> AsyncIterator[Rig]:
    """Feed a view from a server with a, b and c on it."""
    async with Faults() as server, server.client() as client:
        shelf = server.serve(view.kind, watch_list=watch_list)
        fill(shelf)
        script(server, shelf)
        clock, lines, pauses = HandClock(), Lines(), Pauses()
        of = engine(view, clock=clock, **options)
        feeds = Feeds(
            of,
            client,
            clock,
            lines.log,
            ring=lambda: None,
            jitter=lambda: 0.0,
            settle=lambda: None,
            rest=rest or pauses,
        )
        task = asyncio.create_task(feeds.all[0].run())
        try:
            yield Rig(server, shelf, of, feeds, client, lines, pauses, clock, task)
        finally:
            assert not task.done(), "a feed ended"
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


Script = Callable[[Faults, Shelf, asyncio.Event], object]
"""Sets a server up; b is deleted unheard, then the event is set."""


def expired(server: Faults, _shelf: Shelf, gone: asyncio.Event) -> None:
    """410 in the stream, b deleted meanwhile."""
    server.next("watch", stream(pause(gone), error(410, "Expired")))


def failing(server: Faults, _shelf: Shelf, gone: asyncio.Event) -> None:
    """ERROR 500 in the stream, four times, then the version has expired."""
    answers = [stream(error(500, "InternalError")) for _ in range(4)]
    server.next("watch", stream(pause(gone), error(500, "InternalError")), *answers)


def token_expired(server: Faults, shelf: Shelf, gone: asyncio.Event) -> None:
    """The token of the second page has expired, twice; b goes before the third try."""
    fill(shelf, (f"n{number}" for number in range(600)))

    async def and_b_goes(exchange: Any) -> Any:
        await gone.wait()
        return await refuse(410, "Expired")(exchange)

    server.next("list", usual(), refuse(410, "Expired"), usual(), and_b_goes)


def two_pages(_server: Faults, shelf: Shelf, _gone: asyncio.Event) -> None:
    """More than a page."""
    fill(shelf, (f"n{number}" for number in range(1100)))


def unavailable(server: Faults, _shelf: Shelf, _gone: asyncio.Event) -> None:
    """503 so often that the client's own patience ends twice."""
    server.next("list", *[refuse(503) for _ in range(6)])


def large(_server: Faults, shelf: Shelf, _gone: asyncio.Event) -> None:
    """An object of 1.4 MB, in one line or on one page."""
    shelf.put(NS, "large", labels={"x" * 63: "y"}, data={"k": "x" * 1_400_000})


def cut_line(server: Faults, _shelf: Shelf, gone: asyncio.Event) -> None:
    """A line cut in the middle, by a broken and by an ended stream; then 410."""
    half = raw(b'{"type":"MODIFIED","object":{"meta')
    expired_at_last = stream(pause(gone), error(410, "Expired"))
    server.next("watch", stream(half, drop()), stream(half), expired_at_last)


ROWS = [
    pytest.param(expired, True, id="410-in-the-stream-and-b-deleted"),
    pytest.param(failing, True, id="error-500-in-the-stream"),
    pytest.param(token_expired, True, id="token-expired-on-page-2"),
    pytest.param(two_pages, False, id="two-pages"),
    pytest.param(unavailable, False, id="list-503"),
    pytest.param(large, False, id="object-of-1.4-MB"),
    pytest.param(cut_line, True, id="line-cut-in-the-middle"),
]


@pytest.mark.parametrize(("script", "deleted"), ROWS)
@pytest.mark.parametrize("view", [SECRETS, MAPS], ids=["secrets", "maps"])
async def test_every_fault_ends_in_the_right_state(
    view: View, script: Script, deleted: bool
) -> None:
    """The process goes on, and the view holds what the server has."""
    gone = asyncio.Event()
    started = "list" if script is token_expired else "watch"
    async with fed(
        view, lambda server, shelf: script(server, shelf, gone), watch_list=False
    ) as rig:
        await rig.server.until(4 if script is token_expired else 1, started)
        if deleted:
            rig.shelf.remove(NS, "b", quietly=True)
        gone.set()
        await until(rig.right)
        rig.shelf.put(NS, "later")
        await until(rig.right)

        assert deleted is ("b" not in rig.names())
        assert CANARY.encode() not in rig.told()


@pytest.mark.parametrize("how", [drop, None], ids=["broken", "ended"])
async def test_a_watch_list_cut_after_one_object_starts_over(
    how: Callable[[], Any] | None,
) -> None:
    """The other objects are listed, not skipped."""

    def script(server: Faults, shelf: Shelf) -> None:
        steps = [how()] if how else []
        server.next("watch", stream(send("ADDED", shelf.at(NS, "a")), *steps))

    async with fed(MAPS, script) as rig:
        await until(rig.right)
        first, second = rig.server.asked("watch")[:2]

        assert first.query["sendInitialEvents"] == "true"
        assert second.query["sendInitialEvents"] == "true"
        assert "resourceVersion" not in second.query


async def test_a_server_without_watch_lists_is_asked_for_pages() -> None:
    """It refuses once; from then on it is not asked again."""
    async with fed(MAPS, watch_list=False) as rig:
        await until(rig.right)

        assert [seen.verb for seen in rig.server.requests] == ["watch", "list", "watch"]
        assert rig.pauses.taken == []


async def test_secrets_always_come_in_pages_of_500() -> None:
    """A WatchList of Secrets is never asked for, nor resourceVersion 0 with pages."""
    async with fed(SECRETS, lambda _s, shelf: fill(shelf, map(str, range(1100)))) as rig:
        await until(rig.right)
        lists, watched = rig.server.asked("list"), rig.server.asked("watch")

        assert [seen.query["limit"] for seen in lists] == ["500"] * 3
        assert not any("resourceVersion" in seen.query for seen in lists)
        assert not any("sendInitialEvents" in seen.query for seen in watched)
        assert 240 <= int(watched[0].query["timeoutSeconds"]) <= 480
        assert watched[0].query["allowWatchBookmarks"] == "true"


async def test_a_metadata_view_asks_for_metadata_and_refuses_more() -> None:
    """A server may ignore Accept; nothing of what it sends then is kept."""

    def script(server: Faults, shelf: Shelf) -> None:
        server.next("list", whole(), usual())
        server.next("watch", stream(send("MODIFIED", shelf.at(NS, "a"), full=True), live()))

    async with fed(SECRETS, script) as rig:
        await until(lambda: rig.server.asked("watch")[1:] and rig.right())
        asked = rig.server.asked("list", "watch")
        stored = list(rig.engine.stores[SECRETS]._objects.values())

        assert all("as=PartialObjectMetadata" in seen.headers["accept"] for seen in asked)
        assert {line["reason"] for line in rig.lines.all("view lost")} == {"FullAnswer"}
        assert all(seen.body == {} and seen.meta.annotations is None for seen in stored)
        assert CANARY.encode() not in rig.told()


@pytest.mark.parametrize(
    ("status", "state"), [(403, State.FORBIDDEN), (404, State.ABSENT)], ids=["403", "404"]
)
async def test_a_view_that_may_not_be_read_answers_nothing_until_it_can(
    status: int, state: State
) -> None:
    """That view alone is lost, its pauses grow, and it comes back by itself."""
    states: list[State] = []

    async def rest(seconds: float, _woken: asyncio.Event) -> None:
        states.append(rig.state)
        with pytest.raises(Unread):
            rig.engine.stores[SECRETS].list()
        rig.pauses.taken.append(seconds)
        await asyncio.sleep(0)

    async with fed(
        SECRETS, lambda server, _shelf: server.next("list", *[refuse(status)] * 3), rest=rest
    ) as rig:
        await until(rig.right)

        assert states == [state] * 3
        assert rig.pauses.taken == [0.8, 1.6, 3.2]
        assert len(rig.lines.all("kind absent" if status == 404 else "view lost")) == 1


async def test_a_lost_watch_right_empties_the_view() -> None:
    """What cannot be followed is not shown as if it could."""
    gone = asyncio.Event()
    seen: list[State] = []

    async def rest(_seconds: float, _woken: asyncio.Event) -> None:
        seen.append(rig.state)
        await asyncio.sleep(0)

    async with fed(
        SECRETS,
        lambda server, _shelf: server.next("watch", stream(pause(gone)), refuse(403)),
        rest=rest,
    ) as rig:
        await rig.server.until(1, "watch")
        rig.clock.now = 20
        gone.set()
        await until(lambda: seen)
        await until(rig.right)

        assert seen == [State.FORBIDDEN]


async def test_a_kind_that_appears_is_found_by_discovery() -> None:
    """Its view waits minutes by then, and is woken within seconds."""
    look = asyncio.Event()

    async def rest(seconds: float, woken: asyncio.Event) -> None:
        await (look if seconds == DISCOVERY_PERIOD else woken).wait()
        look.clear()

    async with Faults() as server, server.client() as client:
        lines = Lines()
        of = engine(MAPS)
        feeds = Feeds(
            of,
            client,
            HandClock(),
            lines.log,
            ring=lambda: None,
            jitter=lambda: 0.0,
            settle=lambda: None,
            rest=rest,
        )
        task = asyncio.create_task(feeds.run())
        await until(lambda: of.stores[MAPS].state is State.ABSENT)
        look.set()
        await server.until(2, "other")
        await until(lambda: not look.is_set())
        before = len(server.asked("watch"))
        fill(server.serve(CONFIG_MAP))
        look.set()
        await until(lambda: of.stores[MAPS].state is State.LIVE)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert before == 1
        assert [line["needed_by"] for line in lines.all("kind absent")] == ["probe"]


async def test_a_kind_that_goes_is_absent_and_comes_back() -> None:
    """A CRD that is deleted ends its watches; its view must not go on answering."""
    states: list[State] = []

    async def rest(_seconds: float, _woken: asyncio.Event) -> None:
        states.append(rig.state)
        if rig.state is State.ABSENT:
            rig.shelf = rig.server.serve(SECRET)
            fill(rig.shelf, "xy")
        await asyncio.sleep(0)

    async with fed(SECRETS, rest=rest) as rig:
        await until(rig.right)
        rig.server.withdraw(SECRET)
        await until(lambda: State.ABSENT in states and rig.right())

        assert rig.names() == {"x", "y"}


async def test_a_deletion_in_a_gap_wakes_the_owner_it_had() -> None:
    """Nobody told of it; the last known object does."""
    gone = asyncio.Event()
    async with fed(
        SECRETS,
        lambda server, _s: server.next("watch", stream(pause(gone), error(410, "Expired"))),
    ) as rig:
        await rig.server.until(1, "watch")
        drain(rig.engine)
        rig.shelf.remove(NS, "b", quietly=True)
        gone.set()
        await until(rig.right)

        assert drain(rig.engine) == [CONFIG_MAP.ref(NS, "of-b"), SECRET.ref(NS, "b")]


async def test_what_a_view_does_not_store_wakes_the_keys_that_named_it_after_a_relist() -> None:
    """Its deletion leaves no trace in the view; the decision's word is all there is."""
    gone = asyncio.Event()
    named, key = SECRET.ref(NS, "unowned"), CONFIG_MAP.ref(NS, "asks")

    def script(server: Faults, shelf: Shelf) -> None:
        shelf.put(NS, "unowned")
        server.next("watch", stream(pause(gone), error(410, "Expired")))

    async with fed(FEW, script) as rig:
        await rig.server.until(1, "watch")
        rig.engine.desks["probe"].wakes.set(key, (named,))
        drain(rig.engine)
        rig.shelf.remove(NS, "unowned", quietly=True)
        gone.set()
        await rig.server.until(2, "watch")
        await until(lambda: rig.state is State.LIVE and rig.shelf.watches)

        assert key in drain(rig.engine)
        assert rig.names() == {"a", "b", "c"}


async def test_a_view_whose_refresh_fails_keeps_its_last_answer() -> None:
    """Stale is not unknown."""
    gone, back = asyncio.Event(), asyncio.Event()

    async def rest(_seconds: float, _woken: asyncio.Event) -> None:
        await back.wait()

    def script(server: Faults, _shelf: Shelf) -> None:
        server.next("watch", stream(pause(gone), error(410, "Expired")))
        server.next("list", usual(), *[refuse(500)] * 3)

    async with fed(SECRETS, script, rest=rest) as rig:
        await rig.server.until(1, "watch")
        gone.set()
        await until(lambda: rig.lines.all("view lost")[1:])
        await until(lambda: rig.state is State.STALE)

        assert rig.names() == {"a", "b", "c"}
        back.set()
        await until(rig.right)


async def test_a_resumed_watch_is_live_before_it_brings_anything() -> None:
    """A quiet kind has no events for hours; its view is not stale for so long."""
    async with fed(
        SECRETS, lambda server, _s: server.next("watch", stream(bookmark("150"), drop()))
    ) as rig:
        await rig.server.until(2, "watch")
        await until(rig.right)

        assert rig.lines.all("view lost")[0]["reason"] == "Cut"
        assert rig.server.asked("list")[1:] == []


async def test_a_watch_is_heard_when_it_delivers_or_is_established_again() -> None:
    """Ten minutes without either fail liveness."""
    async with fed(SECRETS) as rig:
        await until(rig.right)
        rig.clock.now = DEAD_AFTER - 1
        assert rig.feeds.dead() == ()
        rig.clock.now = DEAD_AFTER
        assert rig.feeds.dead() == ("secrets",)
        rig.shelf.bookmark()
        rig.shelf.put(NS, "d")
        await until(rig.right)
        assert rig.feeds.ages() == {"secrets": 0.0}
        rig.clock.now += DEAD_AFTER
        rig.shelf.end_streams()
        await until(lambda: not rig.feeds.dead())

        assert rig.feeds.ages() == {"secrets": 0.0}


async def test_a_server_that_is_away_for_ten_minutes_fails_liveness() -> None:
    """Refusals say that the server lives; silence does not."""

    async def rest(seconds: float, _woken: asyncio.Event) -> None:
        rig.clock.now += seconds
        await asyncio.sleep(0)

    async with fed(
        SECRETS, lambda server, _s: server.next("list", *[broken()] * 10_000), rest=rest
    ) as rig:
        await until(rig.feeds.dead)

        assert rig.state is State.SYNCING


async def test_a_forbidden_view_does_not_fail_liveness() -> None:
    """A restart would not change a role."""
    tries: list[float] = []

    async def rest(seconds: float, _woken: asyncio.Event) -> None:
        rig.clock.now += seconds
        tries.append(seconds)
        await asyncio.sleep(0)

    async with fed(
        SECRETS, lambda server, _s: server.next("list", *[refuse(403)] * 40), rest=rest
    ) as rig:
        await until(lambda: len(tries) == 40)

        assert rig.feeds.dead() == ()
        assert rig.clock.now > DEAD_AFTER


async def test_a_bug_in_a_mapper_costs_no_object() -> None:
    """It is told by type and place; what it raised may hold anything."""
    bugs: list[tuple[str, Exception]] = []

    def odd(seen: Object, cached: Any) -> Iterable[Ref]:
        if seen.meta.name == "b":
            raise KeyError(CANARY)
        return owners_key(seen, cached)

    async with fed(MAPS, on_bug=lambda name, bug: bugs.append((name, bug))) as rig:
        desk = rig.engine.desks["probe"]
        watch = desk.controller.watches[0]
        object.__setattr__(watch, "keys", odd)
        await until(rig.right)

        assert {name for name, _ in bugs} == {"probe"}
        assert CONFIG_MAP.ref(NS, "c") in drain(rig.engine)
        assert CANARY.encode() not in rig.told()


async def test_a_bug_in_what_a_view_keeps_makes_it_unknown_not_empty() -> None:
    """An object that cannot be taken in must not look like one that is not there."""
    broken_once = [True, True]

    def keep(seen: Object) -> Object | None:
        if broken_once:
            broken_once.pop()
            raise ValueError(CANARY)
        return seen

    view = View("odd", CONFIG_MAP, keep=keep)
    async with fed(view) as rig:
        await until(rig.right)

        told = rig.lines.all("bug in a view")
        assert {line["type"] for line in told} == {"ValueError"}
        assert CANARY.encode() not in rig.lines.text


class Lists:
    """Views whose pages come when a test says so. now, most: lists that run, at once at most."""

    def __init__(self) -> None:
        """List nothing yet."""
        self.now = self.most = 0
        self.go = asyncio.Event()

    async def page(self, _view: View, *_: Any, **__: Any) -> Page:
        """Wait for the word."""
        self.now += 1
        self.most = max(self.most, self.now)
        await self.go.wait()
        self.now -= 1
        return Page((), "5")

    async def watch(self, *_: Any, **options: Any) -> AsyncIterator[Any]:
        """Say nothing."""
        options["opened"]()
        await asyncio.Event().wait()
        yield None

    async def served(self, _group: str) -> dict[str, frozenset[str]]:
        """Serve nothing."""
        return {}


def quiet_feeds(of: Engine, source: Any, **options: Any) -> Feeds:
    """Feeds that ring nobody."""
    return Feeds(
        of,
        source,
        HandClock(),
        Lines().log,
        **{"ring": lambda: None, "jitter": lambda: 0.0, "settle": lambda: None, **options},
    )


async def test_at_most_two_views_list_at_a_time() -> None:
    """Two relists at once are what memory is planned for."""
    views = [View(f"v{number}", SECRET) for number in range(5)]
    of, lists = engine(*views), Lists()
    feeds = quiet_feeds(of, lists)
    task = asyncio.create_task(feeds.run())
    await until(lambda: lists.now == 2)
    waiting = feeds.ages()
    lists.go.set()
    await until(lambda: of.ready("probe"))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert lists.most == 2
    assert set(waiting.values()) == {0.0}


async def test_a_full_page_is_fed_in_pieces() -> None:
    """The loop turns between them, so that the lease and the probes are served."""
    of, lists = engine(SECRETS), Lists()
    lists.go.set()
    objects = tuple(thing(f"n{number}", kind=SECRET) for number in range(500))
    sizes: list[int] = []

    async def page(*_: Any, **__: Any) -> Page:
        return Page(objects, "5")

    async def beside() -> None:
        while not of.ready("probe"):
            sizes.append(len(of.stores[SECRETS]))
            await asyncio.sleep(0)

    lists.page = page  # type: ignore[method-assign]  # a fault is put in its place
    feeds = quiet_feeds(of, lists)
    task = asyncio.create_task(feeds.all[0].run())
    await beside()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    steps = {after - before for before, after in pairwise(sizes)}
    assert max(steps) == PIECE
    assert sizes[-1] == 500


async def test_memory_is_collected_and_frozen_after_each_list() -> None:
    """What a view stores is left out of every later collection."""
    settled: list[int] = []
    of, lists = engine(SECRETS, MAPS), Lists()
    lists.go.set()
    task = asyncio.create_task(
        quiet_feeds(of, lists, settle=lambda: settled.append(len(of.stores))).all[0].run()
    )
    await until(lambda: settled)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    before = gc.get_freeze_count()
    try:
        freeze()
        frozen = gc.get_freeze_count()
    finally:
        gc.unfreeze()

    assert settled == [2]
    assert frozen > before


async def test_structs_are_not_tracked_by_the_collector() -> None:
    """20,000 objects would make every full collection take a fifth of a second."""
    assert not gc.is_tracked(thing("a", kind=SECRET).meta)
    assert not gc.is_tracked(thing("a"))


async def test_a_watch_list_that_stops_coming_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that hangs in the middle must not keep the turn of others."""
    monkeypatch.setattr("roadstead.runtime.feed.INITIAL_SILENCE", 0.01)
    gone = asyncio.Event()
    async with fed(
        MAPS,
        lambda server, shelf: server.next(
            "watch", stream(send("ADDED", shelf.at(NS, "a")), pause(gone))
        ),
    ) as rig:
        await until(rig.right)
        gone.set()

        assert rig.lines.all("view lost")[0]["reason"] == "Silent"


async def test_junk_instead_of_an_answer_is_one_more_fault() -> None:
    """A proxy's page of HTML is no list."""
    async with fed(
        SECRETS, lambda server, _s: server.next("list", answer(b"<html>no</html>"), answer(b"{}"))
    ) as rig:
        await until(rig.right)

        assert rig.lines.all("view lost")


LISTS = {MAPS: "ConfigMapList", SECRETS: "PartialObjectMetadataList"}


@pytest.mark.parametrize("view", LISTS, ids=["full", "metadata"])
def test_what_is_no_list_is_never_an_empty_one(view: View) -> None:
    """An answer with 200 from something in between would empty a view, and all hangs on it."""
    versions = {"apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "9"}}
    whole: dict[str, Any] = {**versions, "kind": LISTS[view], "items": []}
    junk = [
        {"message": "upstream is being replaced"},
        {key: value for key, value in whole.items() if key != "items"},
        {**whole, "metadata": {}},
        {**whole, "kind": "Status"},
        msgspec.Raw(b'{"x":' + b"[" * 200_000),
    ]

    assert decode_page(view, msgspec.json.encode(whole), "things") == Page((), "9")
    for one in junk:
        with pytest.raises(ClusterError):
            decode_page(view, msgspec.json.encode(one), "things")


async def test_many_deletions_of_a_relist_let_the_loop_turn() -> None:
    """Half of a large view gone in a gap is no reason to stand still."""
    of, lists = engine(SECRETS), Lists()
    lists.go.set()
    pages = [tuple(thing(f"n{n}", kind=SECRET) for n in range(500)), ()]
    again = asyncio.Event()
    sizes: list[int] = []

    async def page(*_: Any, **__: Any) -> Page:
        return Page(pages.pop(0), "5")

    async def watch(*_: Any, **options: Any) -> AsyncIterator[Any]:
        options["opened"]()
        for nothing in list[None]():
            yield nothing
        await again.wait()
        again.clear()
        raise ClusterError("too old", status=410, reason="Expired")

    lists.page = page  # type: ignore[method-assign]  # a fault is put in its place
    lists.watch = watch  # type: ignore[method-assign]  # a fault is put in its place
    task = asyncio.create_task(quiet_feeds(of, lists).all[0].run())
    await until(lambda: of.ready("probe"))
    again.set()
    while len(of.stores[SECRETS]):
        sizes.append(len(of.stores[SECRETS]))
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert max(before - after for before, after in pairwise([*sizes, 0])) <= PIECE


async def test_discovery_that_fails_ends_nothing() -> None:
    """The feed itself goes on trying."""
    looks = 0

    async def rest(seconds: float, woken: asyncio.Event) -> None:
        nonlocal looks
        looks += seconds == DISCOVERY_PERIOD
        if looks < 4:
            await asyncio.sleep(0)
        else:
            await woken.wait()

    async with Faults() as server, server.client() as client:
        server.next("other", *[refuse(500)] * 20)
        of = engine(MAPS)
        task = asyncio.create_task(quiet_feeds(of, client, rest=rest).run())
        await until(lambda: looks == 4 and of.stores[MAPS].state is State.ABSENT)
        ended = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert not ended
