"""Workers of one controller: take a key, work it, tell metrics and log, over and over.

A pass that takes too long is cut off, a pass that meets a bug backs off; neither ends anything.
"""

import asyncio
from collections.abc import Callable
from itertools import count

from roadstead.decision import Did
from roadstead.engine.api import Api
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.engine.queue import Taken
from roadstead.runtime.clock import rest
from roadstead.runtime.history import History, PassNote
from roadstead.runtime.logs import Log, begin_pass, place_of
from roadstead.runtime.metrics import Metrics
from roadstead.runtime.own_figures import result_of

LONGEST_PASS = 120.0
_numbers = count(1)


class Loop:
    """The passes of one controller, so many at once.

    longest: seconds after which a pass is cut off. dry: the engine writes nothing.
    pause: least seconds from the start of a pass to that of the next by the same worker.
    history: hears of every pass. stopping: no key is taken any more.
    wrote: is told after a pass that wrote, since its objects may wake keys of other controllers.
    """

    def __init__(
        self,
        engine: Engine,
        name: str,
        api: Api,
        metrics: Metrics,
        *,
        log: Log,
        clock: Clock,
        workers: int,
        longest: float = LONGEST_PASS,
        pause: float = 0.0,
        dry: bool = False,
        history: History | None = None,
        wrote: Callable[[], None] = lambda: None,
    ) -> None:
        """Take no key yet."""
        self._history, self._wrote = history, wrote
        self._engine, self._name, self._api, self._clock = engine, name, api, clock
        self._metrics, self._figures, self._log = metrics, metrics.of(name), log
        self._workers, self._longest, self._pause = workers, longest, pause
        self._done_word = "object would be" if dry else "object"
        self._bell, self._stopped = asyncio.Event(), asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()
        self.stopping = False

    def ring(self) -> None:
        """Say that a key may be ready."""
        self._bell.set()

    async def run(self) -> None:
        """Hand out keys until `stop`; those in work are for `join`."""
        while not self.stopping:
            self._bell.clear()
            while len(self._running) < self._workers:
                taken = self._engine.take(self._name)
                if taken is None:
                    break
                task = asyncio.create_task(self._work(taken), name=f"{self._name} pass")
                self._running.add(task)
                task.add_done_callback(self._done)
            await self._rest()

    def stop(self) -> None:
        """Take no key any more."""
        self.stopping = True
        self._stopped.set()
        self.ring()

    async def join(self, deadline: float) -> int:
        """Wait for the passes in work, so many seconds at most; give how many were cut off."""
        if not self._running:
            return 0
        _, late = await asyncio.wait(self._running, timeout=deadline)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return len(late)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self.ring()

    async def _rest(self) -> None:
        """Wait for a key, a free worker or the next timer."""
        due = self._engine.desks[self._name].queue.next_due()
        if due is None or len(self._running) >= self._workers or not self._engine.ready(self._name):
            await self._bell.wait()
        else:
            await rest(max(0.0, due - self._clock.steady()), self._bell)

    async def _work(self, taken: Taken) -> None:
        key, began, result = taken.key, self._clock.steady(), "error"
        self._figures.began(taken.waited)
        begin_pass(self._name, key, next(_numbers))
        scope = asyncio.timeout(self._longest)
        try:
            async with scope:
                passed = await self._engine.work(self._name, key, self._api)
            result = result_of(passed)
            self._metrics.passed(self._name, key, passed)
            if passed.made:
                self._wrote()
            if self._history is not None:
                spent = self._clock.steady() - began
                said = PassNote.of(passed, self._clock.wall(), spent, result)
                self._history.note(self._name, key, said)
            self._tell(passed)
        except Exception as bug:  # noqa: BLE001 - a rule's bug costs its key a pause, no more
            if scope.expired():
                self._figures.timeouts.inc()
                self._log.warning("pass cut off", seconds=self._longest)
            else:
                self._figures.panics.inc()
                self._log.error("bug", type=type(bug).__name__, place=place_of(bug))
        finally:
            self._figures.ended(self._clock.steady() - began, result)
        if self._pause:
            await rest(max(0.0, began + self._pause - self._clock.steady()), self._stopped)

    def _tell(self, passed: Passed) -> None:
        if passed.error is not None:
            self._log.warning(
                "read failed",
                about=passed.error.about,
                status=passed.error.status,
                reason=passed.error.reason,
                said=passed.error.message,
            )
        for outcome in passed.outcomes:
            if outcome.did is Did.FAILED:
                self._log.warning(
                    "write failed",
                    about=outcome.ref.path,
                    status=outcome.status,
                    reason=outcome.reason,
                    said=outcome.message,
                )
            elif outcome.did is not Did.UNCHANGED:
                self._log.info(f"{self._done_word} {outcome.did}", about=outcome.ref.path)
        for note in passed.decision.notes:
            self._log.info("left alone", about=note.about.path, reason=note.reason)
