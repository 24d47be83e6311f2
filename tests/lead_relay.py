"""A relay between the candidates for a lease and the API server: one may be frozen, or cut off.

A candidate is frozen by SIGSTOP as it sends a request, before it reads an answer, or whenever the
test says. What it was about to send is kept until it thaws, as if the signal had come between the
gate and the socket; it is sent on then and marked late. An Event that comes when it has thawed was
there in truth, since the gate lets nothing pass any more; it is marked as well.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from aiohttp import web

from kill_relay import _REFUSED, Life, Relay, _sent
from kill_writes import Sent
from roadstead.kube.refs import EVENT, LEASE


class Place(StrEnum):
    """Where a leader is frozen."""

    SENDING = "as it sends a write"
    ANSWERED = "before it reads the answer to a write"
    RENEWING = "as it renews the lease"
    ANYWHERE = "at any moment"


class Cut(StrEnum):
    """How a leader is cut off."""

    REFUSED = "every connection ends, and none is made"
    SILENT = "connections are made, and nothing comes through"


@dataclass
class Candidate(Life):
    """One process. freeze: stops it.

    place, nth: where it is to be frozen, at which of the requests that place is about; none yet.
    thawed: cleared while it is frozen. open: cleared while nothing comes through.
    """

    freeze: Callable[[], None] = lambda: None
    place: Place | None = None
    nth: int = 0
    frozen: threading.Event = field(default_factory=threading.Event)
    thawed: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self) -> None:
        """Freeze it here and now."""
        self.place = None
        self.thawed.clear()
        self.freeze()
        self.frozen.set()

    def reached(self, *places: Place) -> bool:
        """Count one request of a place; tell whether it is the one to be frozen at."""
        if self.place not in places:
            return False
        self.nth -= 1
        return self.nth <= 0


class Strait(Relay):
    """The relay; every candidate has a port of its own."""

    def admit(self, one: Candidate) -> None:
        """Listen for a candidate, and pass on what it sends."""
        self.open(one)
        for event in (one.begun, one.thawed, one.open):
            self._thread.ask(event.set)

    def arm(self, one: Candidate, place: Place, nth: int) -> None:  # type: ignore[override]  # a candidate is frozen, not killed
        """Have a candidate frozen at the n-th request of a place from now on."""

        def armed() -> None:
            one.place, one.nth = place, nth

        self._thread.ask(armed)

    def freeze(self, one: Candidate) -> None:
        """Freeze a candidate now."""
        self._thread.ask(one.stop)

    def thaw(self, one: Candidate) -> None:
        """Send on what was kept; the process runs again."""
        self._thread.ask(one.thawed.set)

    def cut(self, one: Candidate, how: Cut) -> None:
        """Let nothing of a candidate through any more."""
        self._thread.run(self._cut(one, how))

    async def _cut(self, one: Candidate, how: Cut) -> None:
        one.open.clear()
        if how is Cut.SILENT or one.runner is None:
            return
        for site in tuple(one.runner.sites):
            await site.stop()
        server = one.runner.server
        for handler in tuple(server.connections) if isinstance(server, web.Server) else ():
            if handler.transport is not None:
                handler.transport.abort()

    def leave(self, one: Candidate) -> None:
        """Let what still waits for a dead candidate end, and close its port."""
        self._thread.ask(one.killed.set)
        for event in (one.thawed, one.open):
            self._thread.ask(event.set)
        self.close(one)

    async def _open_way(self, life: Life) -> None:
        assert isinstance(life, Candidate)
        await life.open.wait()

    async def _pass(self, life: Life, request: web.Request) -> web.StreamResponse:
        assert isinstance(life, Candidate)
        body = await request.read()
        await life.open.wait()
        if life.killed.is_set():
            return web.Response(status=_REFUSED)
        sent = _sent(request.method, request.path, body)
        if sent is None:
            return await self._read(life, request, body)
        life.writes += 1
        try:
            late = life.frozen.is_set() and (sent.verb, sent.resource) == ("create", EVENT.plural)
            if life.reached(_place_of(sent)):
                late = True
                life.stop()
                await life.thawed.wait()
            status, headers, said = await self._write(life, request, body, "late" if late else "")
        finally:
            life.writes -= 1
            if not life.writes:
                life.quiet.set()
        if _place_of(sent) is Place.SENDING and life.reached(Place.ANSWERED):
            life.stop()
        await life.open.wait()
        return web.Response(status=status, headers=headers, body=said)


def _place_of(sent: Sent) -> Place:
    return Place.RENEWING if sent.resource == LEASE.plural else Place.SENDING
