"""Case time on a real server: it stands still but for the steps of a case.

Engine and feeds are given this clock; their pauses end when a case lets time pass, or when they
are woken. Times that the server sets are turned into case time on what is read.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec

from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_time


class CaseClock:
    """Both clocks of an engine, and the pauses that wait on them."""

    def __init__(self, start: datetime) -> None:
        """Begin at a case's `now`."""
        self._start = start
        self._steady = 0.0
        self.pauses: dict[asyncio.Event, tuple[float, asyncio.Event]] = {}
        """By the event that ends a pause early: when it is over, and what says so."""

    def wall(self) -> datetime:
        """The case's time."""
        return self._start + timedelta(seconds=self._steady)

    def steady(self) -> float:
        """Seconds since the case began."""
        return self._steady

    def move(self, steady: float) -> None:
        """Let it be so many seconds after the start. From the loop's thread."""
        self._steady = max(self._steady, steady)
        for due, over in self.pauses.values():
            if due <= self._steady:
                over.set()

    async def rest(self, seconds: float, woken: asyncio.Event) -> None:
        """Wait for an event, or for the case to let so much time pass."""
        over = asyncio.Event()
        self.pauses[woken] = (self._steady + seconds, over)
        waits = [asyncio.create_task(event.wait()) for event in (woken, over)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self.pauses[woken]
            for wait in waits:
                wait.cancel()


class Births:
    """Since when objects are there, in case time, by uid; the server's own word for a PUT.

    names: the path of each object that was met, by its uid.
    """

    def __init__(self, clock: CaseClock) -> None:
        """Know of none."""
        self._clock = clock
        self._born: dict[str, str] = {}
        self._served: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def note(self, uid: str, ref: Ref, born: str = "") -> None:
        """Note an object. born: what its case states; empty for now."""
        self.names[uid] = ref.path
        self._born[uid] = born or format_time(self._clock.wall())

    def shifted(self, seen: Object) -> Object:
        """An object with its creation in case time; one not met before was made just now."""
        uid, served = seen.meta.uid, seen.meta.creation_timestamp
        if not uid or not served:
            return seen
        self._served[uid] = served
        if uid not in self._born:
            self.note(uid, seen.ref)
        born = self._born[uid]
        meta = msgspec.structs.replace(seen.meta, creation_timestamp=born)
        body = seen.body
        if body:
            body = {**body, "metadata": {**body["metadata"], "creationTimestamp": born}}
        return Object(seen.kind, meta, body)

    def unshifted(self, body: dict[str, Any]) -> dict[str, Any]:
        """A body as the server knows it: it refuses another creationTimestamp."""
        meta = body["metadata"]
        served = self._served.get(meta.get("uid", ""))
        if served is None or "creationTimestamp" not in meta:
            return body
        return {**body, "metadata": {**meta, "creationTimestamp": served}}
