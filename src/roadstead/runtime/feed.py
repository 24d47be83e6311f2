"""Keeps the views of an engine filled: one task a view, whatever the server answers.

No answer and no bug in a mapper ends a feed: the view's state says what is wrong, and it is tried
again. At most two views are listed at a time, and long lists are fed in pieces, so that neither
memory nor the loop suffers from a relist. A view that everybody can do without is asked for only
while discovery lists its kind. No log line holds anything of an object.
"""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Protocol

from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.errors import ClusterError
from roadstead.kube.views import View
from roadstead.runtime.clock import Rest, rest
from roadstead.runtime.discovery import DISCOVERY_PERIOD, Discovery
from roadstead.runtime.logs import Log, place_of
from roadstead.runtime.reads import PAGE_SIZE
from roadstead.runtime.refusals import unserved
from roadstead.runtime.watcher import (
    LONGEST_PAUSES,
    Begin,
    End,
    Follow,
    Happened,
    Listed,
    ListPage,
    Phase,
    Resumed,
    Retry,
    Step,
    Watcher,
)
from roadstead.runtime.wire import Page, WatchEvent

PIECE = 100
"""Objects of a list that are fed before the loop turns."""
EVENTS_A_TURN = 100
LISTS_AT_ONCE = 2
INITIAL_SILENCE = 60.0
"""Seconds a WatchList may be silent before its end mark."""
DEAD_AFTER = 600.0
"""Seconds after which a watch that says nothing fails liveness. Source: trust-anchors 9."""
THRESHOLDS = (50_000, 20, 50)


class Source(Protocol):
    """What a feed asks the server for."""

    async def page(
        self, view: View, namespace: str = "", limit: int = PAGE_SIZE, continue_token: str = ""
    ) -> Page:
        """One page of a list."""

    def watch(
        self,
        view: View,
        resource_version: str,
        *,
        timeout_seconds: int,
        namespace: str = "",
        bookmarks: bool = True,
        send_initial_events: bool = False,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """One stream."""

    async def served(self, group: str) -> dict[str, frozenset[str]]:
        """The plurals of each version of a group."""


def raise_thresholds() -> None:
    """Have the collector run seldom: what a view stores is not made of cycles."""
    gc.set_threshold(*THRESHOLDS)


def freeze() -> None:
    """Collect once and keep what is left out of every later collection."""
    gc.collect()
    gc.freeze()


class Feed:
    """One view's list and watch.

    optional: nobody needs the view, so that discovery is asked before its collection is.
    """

    def __init__(self, view: View, feeds: "Feeds") -> None:
        """Ask for nothing yet."""
        self.view = view
        self.optional = feeds.engine.optional(view)
        self.state = State.SYNCING
        self.reason = ""
        self._feeds = feeds
        self._watcher = Watcher(view, feeds.jitter)
        self._woken = asyncio.Event()
        self._heard = feeds.clock.steady()
        self._waits: float | None = None
        self._turn = False
        self._listed: bool | None = None
        self._scope: asyncio.Timeout | None = None
        self._withdrawn = False

    @property
    def age(self) -> float:
        """Seconds since the server last said something about this view."""
        now = self._feeds.clock.steady() if self._waits is None else self._waits
        return now - self._heard

    def wake(self) -> None:
        """Try again now; a kind that is waited for is looked up now."""
        self._watcher.woken()
        self._woken.set()
        if self.optional and not self._listed:
            self._feeds.looking.set()

    def found(self, *, listed: bool) -> None:
        """Hear whether discovery lists the kind."""
        before, self._listed = self._listed, listed
        if not listed:
            if self.optional:
                self._heard = self._feeds.clock.steady()  # nothing else is asked meanwhile
            if before and self._scope and not self._scope.expired():
                self._withdrawn = True
                self._scope.reschedule(asyncio.get_running_loop().time())
        if (self.optional and listed is not before) or (listed and self.state is State.ABSENT):
            self._watcher.woken()
            self._woken.set()

    async def run(self) -> None:
        """List and watch until cancelled."""
        try:
            while True:
                if self.optional and not self._listed:
                    await self._wait_for_kind()
                else:
                    await self._try()
                self._woken.clear()
        finally:
            self._give_turn()

    async def _wait_for_kind(self) -> None:
        """Ask for nothing until discovery lists the kind."""
        if self._listed is False and self.state is not State.ABSENT:
            self._failed(unserved(self.view.kind), self._feeds.clock.steady())
            self._lose(State.ABSENT)
        await self._feeds.rest(LONGEST_PAUSES[State.ABSENT], self._woken)

    async def _try(self) -> None:
        retry = await self._attempt()
        self._give_turn()
        if retry.lost is not None:
            self._lose(retry.lost)
        if retry.seconds > 0:
            await self._feeds.rest(retry.seconds, self._woken)

    async def _attempt(self) -> Retry:
        """Make one request, or a list's row of them; say how to go on."""
        started = self._feeds.clock.steady()
        try:
            if self._watcher.listing:
                await self._take_turn()
            started = self._feeds.clock.steady()
            while isinstance(asked := self._watcher.request(), ListPage):
                await self._page(asked)
                if not self._watcher.listing:
                    return Retry(0.0)
            delivered = await self._follow(asked)
            return self._watcher.ended(self._feeds.clock.steady() - started, delivered=delivered)
        except ClusterError as error:
            return self._failed(error, started)
        except Exception as bug:  # noqa: BLE001 - nothing may end a feed; it is counted and told
            self._feeds.on_bug(self.view.name, bug)
            about = self.view.kind.resource
            return self._failed(ClusterError(about, reason="Bug", about=about), started)

    def _failed(self, error: ClusterError, started: float) -> Retry:
        retry = self._watcher.failed(error, self._feeds.clock.steady() - started)
        if retry.lost in {State.ABSENT, State.FORBIDDEN}:
            self._heard = self._feeds.clock.steady()
        if retry.lost is State.ABSENT and self._listed:
            self._listed = False
            self._feeds.discovery.gone(self.view.kind)
        if self.reason != error.reason or retry.lost not in {None, State.STALE, self.state}:
            self._feeds.log.warning(
                "kind absent" if retry.lost is State.ABSENT else "view lost",
                view=self.view.name,
                kind=self.view.kind.resource,
                needed_by=self._feeds.needed_by(self.view),
                state=str(retry.lost or self.state),
                status=error.status,
                reason=error.reason,
                said=error.message,
                hint=error.hint,
            )
        self.reason = error.reason
        return retry

    async def _page(self, asked: ListPage) -> None:
        page = await self._feeds.source.page(self.view, limit=PAGE_SIZE, continue_token=asked.token)
        for step in self._watcher.page(page):
            await self._carry_out(step)

    async def _follow(self, asked: Follow) -> bool:
        """Read one stream to its end; tell whether a line came."""
        count, self._withdrawn = 0, False
        stream = self._feeds.source.watch(
            self.view,
            asked.resource_version,
            timeout_seconds=asked.timeout_seconds,
            send_initial_events=asked.initial,
            opened=self._opened,
        )
        bound = INITIAL_SILENCE if asked.initial else None
        try:
            async with asyncio.timeout(bound) as self._scope, aclosing(stream) as events:
                async for event in events:
                    count += 1
                    self._heard = self._feeds.clock.steady()
                    step = self._watcher.event(event)
                    if step is not None:
                        await self._carry_out(step)
                    if asked.initial and not self._withdrawn:
                        self._scope.reschedule(self._initial_bound())
                    if count % EVENTS_A_TURN == 0:
                        await asyncio.sleep(0)
        except TimeoutError:
            about = self.view.kind.resource
            if self._withdrawn:
                raise unserved(self.view.kind) from None
            raise ClusterError(
                f"the list of {about} stopped coming", reason="Silent", about=about
            ) from None
        finally:
            self._scope = None
        return count > 0

    def _initial_bound(self) -> float | None:
        listing = self._watcher.phase is Phase.INITIAL
        return asyncio.get_running_loop().time() + INITIAL_SILENCE if listing else None

    def _opened(self) -> None:
        self._apply(self._watcher.opened())

    async def _carry_out(self, step: Step) -> None:
        """Tell the engine, letting the loop turn within what is long."""
        if isinstance(step, Listed) and len(step.objects) > PIECE:
            for start in range(0, len(step.objects), PIECE):
                self._apply(Listed(step.objects[start : start + PIECE]))
                await asyncio.sleep(0)
        elif isinstance(step, End):
            await self._end(step.resource_version)
        else:
            self._apply(step)

    async def _end(self, version: str) -> None:
        ending = self._feeds.engine.ending(self.view, version)
        for count, _ in enumerate(ending, 1):
            if count % PIECE == 0:
                self._feeds.ring()
                await asyncio.sleep(0)
        self._heard = self._feeds.clock.steady()
        self._found()
        self._give_turn()
        self._feeds.settle()
        self._feeds.ring()

    def _apply(self, step: Step) -> None:
        """Tell the engine, and whoever waits for keys."""
        engine, view = self._feeds.engine, self.view
        self._heard = self._feeds.clock.steady()
        match step:
            case Happened(kind, seen):
                engine.happened(view, kind, seen)
            case Listed(objects):
                engine.add_page(view, objects)
            case Begin():
                engine.begin_list(view)
            case Resumed():
                engine.resumed(view)
                self._found()
        self._feeds.ring()

    def _found(self) -> None:
        if self.state is not State.LIVE:
            self._feeds.log.info("view live", view=self.view.name, kind=self.view.kind.resource)
        self.state = State.LIVE
        self.reason = ""

    def _lose(self, state: State) -> None:
        self._feeds.engine.lost(self.view, state)
        self.state = self._feeds.engine.stores[self.view].state
        self._feeds.ring()

    async def _take_turn(self) -> None:
        """Wait until another list may run; that time is nobody's silence."""
        if self._turn:
            return
        since = self._feeds.clock.steady()
        self._waits = since
        try:
            await self._feeds.turns.acquire()
        finally:
            self._waits = None
            self._heard += self._feeds.clock.steady() - since
        self._turn = True

    def _give_turn(self) -> None:
        if self._turn:
            self._turn = False
            self._feeds.turns.release()


class Feeds:
    """The feeds of all views, and what they share.

    source: the server. ring: called when keys may be ready. settle: called after each full list.
    on_bug: hears the view and what our own code raised. rest: how pauses are spent.
    """

    def __init__(
        self,
        engine: Engine,
        source: Source,
        clock: Clock,
        log: Log,
        *,
        ring: Callable[[], None],
        jitter: Callable[[], float],
        on_bug: Callable[[str, Exception], None] | None = None,
        settle: Callable[[], None] = freeze,
        rest: Rest = rest,
    ) -> None:
        """Start nothing yet."""
        self.engine = engine
        self.source = source
        self.clock = clock
        self.log = log
        self.ring = ring
        self.jitter = jitter
        self.on_bug = on_bug or self._tell_bug
        self.settle = settle
        self.rest = rest
        self.turns = asyncio.Semaphore(LISTS_AT_ONCE)
        self.discovery, self.looking = Discovery(self._served), asyncio.Event()
        self.all = tuple(Feed(view, self) for view in engine.stores)

    async def run(self) -> None:
        """Feed every view until cancelled."""
        async with asyncio.TaskGroup() as group:
            for feed in self.all:
                group.create_task(feed.run(), name=f"feed {feed.view.name}")
            group.create_task(self._discover(), name="discovery")

    def ages(self) -> dict[str, float]:
        """Seconds since each watch last delivered or was established again."""
        return {feed.view.name: feed.age for feed in self.all}

    def dead(self) -> tuple[str, ...]:
        """The watches that have been silent for so long that only a restart can help."""
        return tuple(sorted(name for name, age in self.ages().items() if age >= DEAD_AFTER))

    def missing(self, views: Iterable[View]) -> tuple[str, ...]:
        """What some views lack before they can answer, as `view state`, in order."""
        stores = self.engine.stores
        return tuple(
            f"{view.name} {stores[view].state}" for view in views if not stores[view].complete
        )

    def needed_by(self, view: View) -> str:
        """The capabilities that wait for a view."""
        users = {name: desk.controller.views for name, desk in self.engine.desks.items()}
        users |= {name: one.views for name, one in self.engine.admissions.items()}
        return " ".join(name for name, views in users.items() if view in views)

    async def _discover(self) -> None:
        """Ask again and again about the kinds that may come and go."""
        while True:
            self.looking.clear()
            groups = {f.view.kind.group for f in self.all if f.optional or f.state is State.ABSENT}
            asked = [feed for feed in self.all if feed.view.kind.group in groups]
            told = await self.discovery.look(feed.view.kind for feed in asked)
            for feed in asked:
                if feed.view.kind in told:
                    feed.found(listed=told[feed.view.kind])
            await self.rest(DISCOVERY_PERIOD, self.looking)

    async def _served(self, group: str) -> Mapping[str, frozenset[str]]:
        return await self.source.served(group)

    def _tell_bug(self, view: str, bug: Exception) -> None:
        self.log.error("bug in a view", view=view, type=type(bug).__name__, place=place_of(bug))
