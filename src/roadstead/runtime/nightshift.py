"""What an operator needs at night: is the loop alive, where does it hang, what is everybody at.

Shows code locations, names of tasks and counts only; never a local variable or a source line.
"""

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import walk_stack
from types import FrameType

from roadstead.engine.engine import Engine
from roadstead.runtime.logs import Log

BEAT = 0.25
"""Seconds between two turns of the loop that are measured."""
STALL = 2.0
LAG_WINDOW = 60.0
DEEPEST = 40
TASKS = 200


class Watchdog:
    """Measures how late the loop turns, and says where it hangs when it does not turn at all."""

    def __init__(self, log: Log, steady: Callable[[], float] = time.monotonic) -> None:
        """Measure nothing yet. steady: may be called from any thread."""
        self._log = log
        self._steady = steady
        self._beat_at = steady()
        self._stalled = False
        self._lags: deque[tuple[float, float]] = deque()
        self._watched = threading.get_ident()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    async def run(self) -> None:
        """Beat until cancelled, watched by a thread."""
        self._watched = threading.get_ident()
        self._beat_at = self._steady()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()
        try:
            while True:
                await asyncio.sleep(BEAT)
                self.beat()
        finally:
            self._end.set()
            self._thread.join()

    def beat(self) -> None:
        """Note a turn of the loop."""
        now = self._steady()
        self._lags.append((now, max(0.0, now - self._beat_at - BEAT)))
        self._beat_at = now
        while self._lags and self._lags[0][0] < now - LAG_WINDOW:
            self._lags.popleft()

    def lag(self) -> float:
        """The longest the loop stood still within the last minute, in seconds."""
        return max((lag for _, lag in self._lags), default=0.0)

    def look(self, frame: FrameType | None) -> None:
        """Tell once of a stall, and once of its end. frame: where the loop's thread is."""
        silent = self._steady() - self._beat_at
        if silent >= STALL and not self._stalled:
            self._stalled = True
            self._log.error("loop stalled", seconds=round(silent, 1), stack=tuple(stack_of(frame)))
        elif silent < STALL and self._stalled:
            self._stalled = False
            self._log.warning("loop turns again")

    def _watch(self) -> None:
        while not self._end.wait(BEAT):
            self.look(sys._current_frames().get(self._watched))  # noqa: SLF001 - the documented way


def stack_of(frame: FrameType | None) -> Iterator[str]:
    """Where a thread is, innermost first, as `file.py:12 function`."""
    for depth, (at, line) in enumerate(walk_stack(frame)):
        if depth == DEEPEST or frame is None:
            return
        yield f"{Path(at.f_code.co_filename).name}:{line} {at.f_code.co_qualname}"


def report(engine: Engine, ages: dict[str, float], log: Log) -> None:
    """Print tasks, queues and views, as SIGUSR1 asks for."""
    tasks = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    for task in tasks[:TASKS]:
        stack = task.get_stack(limit=1)
        log.info("task", task=task.get_name(), at=next(stack_of(stack[0]), "") if stack else "")
    for name, desk in engine.desks.items():
        log.info(
            "queue",
            controller=name,
            ready=len(desk.queue),
            running=len(desk.queue.running()),
            adds=desk.queue.adds,
            retries=desk.queue.retries,
        )
    for view, store in engine.stores.items():
        log.info(
            "view",
            view=view.name,
            state=str(store.state),
            objects=len(store),
            age=round(ages.get(view.name, 0.0), 1),
        )
