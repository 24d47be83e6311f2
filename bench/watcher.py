"""What a client sees of one collection, and since when."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from bench.server import Bare, bare
from roadstead.testbed.server import ControlPlane

Json = dict[str, Any]
Told = Callable[[Json], tuple[str, Any]]
"""Of an object: what it is remembered under, and what it says that matters."""
LONGEST = 1_200.0
"""Seconds after which it is given up."""


class Watcher:
    """Of each object of a collection what it says, and since when."""

    def __init__(self, path: str, told: Told) -> None:
        """Have seen nothing. path: of the collection, with a selector where there is one."""
        self.seen: dict[str, tuple[Any, float]] = {}
        self._path, self._told = path, told
        self._changed = asyncio.Event()

    async def follow(self, client: Bare, opened: asyncio.Event) -> None:
        """Watch until cancelled."""
        base = f"{client.server}{self._path}{'&' if '?' in self._path else '?'}"
        async with client.session.get(base) as answer:
            listed = await answer.json()
        for body in listed["items"]:
            self._take(body)
        version = listed["metadata"]["resourceVersion"]
        async with client.session.get(
            f"{base}watch=1&resourceVersion={version}", timeout=None
        ) as answer:
            opened.set()
            async for line in answer.content:
                self._take(json.loads(line)["object"])

    def _take(self, body: Json) -> None:
        name, says = self._told(body)
        if name not in self.seen or self.seen[name][0] != says:
            self.seen[name] = (says, time.perf_counter())
            self._changed.set()

    async def until(self, names: Iterable[str], says: Any) -> float:
        """Wait until all of these say something; gives when the last one did."""
        wanted = left = set(names)
        async with asyncio.timeout(LONGEST):
            while left := {name for name in left if self.seen.get(name, (None, 0))[0] != says}:
                self._changed.clear()
                await self._changed.wait()
        return max(self.seen[name][1] for name in wanted)


@asynccontextmanager
async def watching(plane: ControlPlane, path: str, told: Told) -> AsyncIterator[Watcher]:
    """A watcher with connections of its own."""
    watcher, opened = Watcher(path, told), asyncio.Event()
    async with bare(plane) as client:
        task = asyncio.create_task(watcher.follow(client, opened))
        try:
            await opened.wait()
            yield watcher
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
