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
