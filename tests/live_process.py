"""Our process in a live case: the runtime's own engine, feeds and workers, in a thread's loop."""

import asyncio
import os
from collections import Counter
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from live_review import Reviewer
from live_time import Births, CaseClock
from live_wire import Holds, Listened, observed, turn_now
from roadstead.engine.api import Api
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.engine.store import State
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.events import LiveApi
from roadstead.runtime.feed import Feed, Feeds
from roadstead.runtime.kubeconfig import load
from roadstead.runtime.logs import Log, Pipe, open_log
from roadstead.runtime.loop import Loop
from roadstead.runtime.metrics import Metrics
from roadstead.runtime.owners import Owners
from roadstead.settings import Settings
from roadstead.sim.faults import Faults
from roadstead.sim.requests import RequestLog
from roadstead.wiring import Admission, Controller

PATIENCE_SECONDS = 60.0
Value = TypeVar("Value")
EventName = tuple[str, str]
"""Namespace and name of an Event."""


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        """Start it."""
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="live stage", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run a coroutine there and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_SECONDS)

    def ask(self, question: Callable[[], Value]) -> Value:
        """Call a function there, between two turns of the loop."""
        answer: Future[Value] = Future()

        def call() -> None:
            try:
                answer.set_result(question())
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever asked
                answer.set_exception(error)

        self.loop.call_soon_threadsafe(call)
        return answer.result(PATIENCE_SECONDS)

    def close(self) -> None:
        """End it, with every connection that still says farewell."""
        self.run(self._cut())
        self.run(self.loop.shutdown_asyncgens())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self.loop.close()

    async def _cut(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        while open_ones := [one for one in self.loop._transports.values() if one._sock]:  # type: ignore[attr-defined]  # what asyncio keeps to itself
            for transport in open_ones:
                transport.abort()
            await asyncio.sleep(0)


@dataclass
class Shared:
    """What outlives a restart of our process in one case.

    told: the Events that were published, once for each time. run: which process it is.
    """

    kubeconfig: Path
    clock: CaseClock
    births: Births
    faults: Faults = field(default_factory=Faults)
    log: RequestLog = field(default_factory=RequestLog)
    told: list[tuple[int, EventName]] = field(default_factory=list)
    minted: list[Ref] = field(default_factory=list)
    run: int = 0

    def times(self) -> Iterator[tuple[EventName, int]]:
        """Every publication in order, with how often the same was told before."""
        before: Counter[EventName] = Counter()
        for _, name in self.told:
            yield name, before[name]
            before[name] += 1

    def most(self, name: EventName, stated: int) -> int:
        """How many of an Event's publications count, when it states so many itself.

        A process may not read Events, so that a new one cannot count on where the last one ended.
        """
        runs = Counter(run for run, told in self.told if told == name)
        return stated + sum(runs.values()) - max(runs.values())


class Watched(Engine):
    """The engine, with every pass noted.

    last: what the last pass came to. lengths: of the timer each key was last given, in seconds.
    bugs: what our own code raised.
    """

    holds: Holds
    last: Passed | None = None

    def begin(self, holds: Holds, clock: CaseClock) -> None:
        """Start with nothing noted."""
        self.holds, self.clock = holds, clock
        self.lengths: dict[tuple[str, Ref], float] = {}
        self.bugs: list[str] = []

    async def work(self, name: str, key: Ref, api: Api) -> Passed:
        """Run a pass and note it."""
        self.holds.passed()
        turn_now.set(self.holds.passes)
        try:
            self.last = await super().work(name, key, api)
        except Exception as bug:
            self.bugs.append(f"{name} {key}: {type(bug).__name__}")
            raise
        timer = self.desks[name].queue.timer_of(key)
        if timer is not None:
            self.lengths[name, key] = timer[0] - self.clock.steady()
        return self.last


class Process:
    """One run of our controllers, between two restarts. Make it and use it in the loop's thread.

    workers: passes at once; one keeps their order as it is offline.
    reviewer: answers the server where admissions are given.
    """

    def __init__(
        self,
        controllers: Iterable[Controller],
        settings: Settings,
        shared: Shared,
        workers: int = 1,
        admissions: Iterable[Admission] = (),
    ) -> None:
        """Start nothing yet."""
        clock = shared.clock
        self._shared = shared
        self._pipe = Pipe(os.open(os.devnull, os.O_WRONLY))
        log = open_log(self._pipe, level="error", form="json", wall=clock.wall)
        self.engine = Watched(controllers, settings, clock, admissions=admissions, on_bug=self._bug)
        self.holds = Holds()
        self.engine.begin(self.holds, clock)
        config = load(str(shared.kubeconfig), "", {})
        self.client = Client(Credentials(config, environ={}), observe=observed)
        run = shared.run
        self.wire = Listened(
            self.client,
            shared.faults,
            shared.log,
            shared.births,
            self.holds,
            told=lambda name: shared.told.append((run, name)),
            minted=shared.minted.append,
        )
        self.feeds = Feeds(
            self.engine,
            self.wire,
            clock,
            log,
            ring=self.ring,
            jitter=lambda: 0.0,
            on_bug=self._bug,
            settle=lambda: None,
            rest=clock.rest,
        )
        self.reviewer: Reviewer | None = None
        self.loops = self._loops(log, workers)
        self._tasks: list[asyncio.Task[None]] = []

    def _loops(self, log: Log, workers: int) -> tuple[Loop, ...]:
        clock = self._shared.clock
        metrics = Metrics(self.engine, clock, dict.fromkeys(self.engine.desks, workers))
        api = LiveApi(self.wire, clock)
        if metrics.admission is not None:
            owned = LiveApi(self.client, clock, "", Owners(self.client, clock.steady))
            self.reviewer = Reviewer(self.engine, owned, metrics.admission, log, clock)
        return tuple(
            Loop(self.engine, name, api, metrics, log=log, clock=clock, workers=workers)
            for name in self.engine.desks
        )

    async def start(self) -> None:
        """Begin to list, watch, work and answer."""
        if self.reviewer is not None:
            await self.reviewer.start()
        jobs: list[Awaitable[None]] = [self.feeds.run(), *(loop.run() for loop in self.loops)]
        self._tasks = [asyncio.ensure_future(job) for job in jobs]

    async def stop(self) -> None:
        """End at once; passes in work are cut off, as by a kill."""
        for loop in self.loops:
            await loop.join(0.0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.reviewer is not None:
            await self.reviewer.stop()
        await self.client.close()
        self._pipe.close()

    def ring(self) -> None:
        """Have the workers look for keys."""
        for loop in self.loops:
            loop.ring()

    def move(self, steady: float) -> None:
        """Let it be so many seconds after the start of the case."""
        self._shared.clock.move(steady)
        self.ring()

    def next_due(self) -> float | None:
        """When the next timer or the next try of a lost view is due."""
        engine, pauses = self.engine, self._shared.clock.pauses
        timers = [
            desk.queue.next_due() for name, desk in engine.desks.items() if engine.ready(name)
        ]
        tries = [pauses[feed._woken][0] for feed in self.feeds.all if feed._woken in pauses]
        return min((due for due in (*timers, *tries) if due is not None), default=None)

    def wake_lost(self, unserved: Collection[Kind], *, faulted: bool) -> None:
        """Have views that wait for their next try make it now.

        faulted: those too that a fault of the case, or of a kind that is gone, holds up.
        """
        for feed in self.feeds.all:
            held = self.is_faulted(feed) or (
                feed.view.kind in unserved and feed.state is State.ABSENT
            )
            if feed._woken in self._shared.clock.pauses and (faulted or not held):
                feed.wake()

    def is_faulted(self, feed: Feed) -> bool:
        """Tell whether a fault of the case keeps a view from being listed."""
        kind = feed.view.kind.kind
        return any(live.hits("list", kind, "", "") for live in self._shared.faults._live)

    def resting(self, view: View) -> bool:
        """Tell whether a view waits for its next try."""
        feed = next(feed for feed in self.feeds.all if feed.view is view)
        return feed._woken in self._shared.clock.pauses and not feed._woken.is_set()

    def busy(self, listed: Mapping[View, Mapping[tuple[str, str], str] | None]) -> str:
        """Say what still goes on; empty when all is quiet.

        listed: what is there, by view; None for a view that can be told of nothing.
        """
        for task in self._tasks:
            if task.done():
                said = "cancelled" if task.cancelled() else repr(task.exception())
                return f"a part of the process has ended: {task.get_name()}: {said}"
        for name, desk in self.engine.desks.items():
            if running := desk.queue.running():
                return f"a pass of {name} over {min(running)}"
            if len(desk.queue) and self.engine.ready(name):
                return f"{len(desk.queue)} keys of {name} are ready"
        late = (self._late(view, names) for view, names in listed.items())
        return next((one for one in late if one), "")

    def _late(self, view: View, names: Mapping[tuple[str, str], str] | None) -> str:
        """Say what a view has not heard yet."""
        if names is None:
            blind = self.resting(view)
            return "" if blind else f"the view {view.name} has not noticed that it can see nothing"
        if self.wire.seen.get(view) == names:
            return ""
        if self.holds.waiting:
            self.holds.passed()  # nobody works any more: time to let on what was held back
        return f"the view {view.name} lags behind"

    def _bug(self, where: str, bug: Exception) -> None:
        self.engine.bugs.append(f"{where}: {type(bug).__name__}: {bug}")
