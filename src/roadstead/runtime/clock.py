"""The two clocks of a live process, and how it waits."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Counts while the machine sleeps, where there is such a clock: a lease runs out meanwhile."""


class LiveClock:
    """The machine's time."""

    def wall(self) -> datetime:
        """The time of day, UTC; it may jump."""
        return datetime.fromtimestamp(time.time(), UTC)

    def steady(self) -> float:
        """Seconds since the machine started; never goes back."""
        return time.clock_gettime(_STEADY)


Rest = Callable[[float, asyncio.Event], Awaitable[None]]
"""Waits so many seconds at most, or until an event is set."""


async def rest(seconds: float, woken: asyncio.Event) -> None:
    """Wait for an event, but not for ever."""
    try:
        async with asyncio.timeout(seconds):
            await woken.wait()
    except TimeoutError:
        pass


class Turns:
    """Gives turns, so many a second at most; 0 gives them at once."""

    def __init__(self, rate: float, steady: Callable[[], float]) -> None:
        """Have the first turn free."""
        self._rate, self._steady = rate, steady
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for a turn."""
        if not self._rate:
            return
        now = self._steady()
        turn = max(now, self._next)
        self._next = turn + 1 / self._rate
        if turn > now:
            await asyncio.sleep(turn - now)
