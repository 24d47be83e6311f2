"""A relay between our process and the API server that kills it between two writes of a pass.

Every life of the process has a port of its own here, so that each request the server's audit log
has carries, at the end of its user agent, the number of the life that sent it. What a life sends
after its end is not passed on; what was passed on before runs to its end, as on any network. A
write may also be kept and be sent on once another life has done the same.
"""

import asyncio
import json
import ssl
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

import aiohttp
from aiohttp import web

from kill_writes import NOBODY, Boundary, Key, Meant, Reading, Sent, Step
from live_process import LoopThread

_NOT_PASSED = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "content-encoding"}
)
_REFUSED = web.HTTPServiceUnavailable.status_code


class Way(StrEnum):
    """How a process is killed at a boundary."""

    LOST = "the answer to the first is lost"
    CUT = "the second never leaves"
    LATE = "the second comes late"


@dataclass(frozen=True, slots=True)
class Order:
    """When to kill: at a boundary of a pass over one attachment, or at the n-th request."""

    key: Key = NOBODY
    boundary: Boundary | None = None
    way: Way = Way.CUT
    request: int = 0


@dataclass
class Life:
    """One process. begun: what it sends is passed on; until then it waits.

    requests: how many it has sent. watches: how many of them are streams. writes: under way.
    last: its last accepted write by attachment. untold: events that its last status owes.
    """

    number: int
    kill: Callable[[], None]
    order: Order | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    address: str = ""
    requests: int = 0
    watches: int = 0
    writes: int = 0
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    last: dict[Key, Step] = field(default_factory=dict)
    untold: dict[Key, int] = field(default_factory=dict)
    killed: threading.Event = field(default_factory=threading.Event)
    runner: web.AppRunner | None = None

    def end(self) -> None:
        """Kill the process; nothing more of it is passed on."""
        if not self.killed.is_set():
            self.kill()
            self.killed.set()


@dataclass(frozen=True, slots=True)
class Late:
    """A write that is kept. soon: only until the next life has written; else for long."""

    life: int
    meant: Meant
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def soon(self) -> bool:
        """Whether it is sent on before long."""
        return self.life % 2 == 0


class Relay:
    """The relay. late: writes it still keeps.

    paid: which life has written about which attachment, with success.
    """

    def __init__(self, server: str, context: ssl.SSLContext) -> None:
        """Stand before a server."""
        self.late: list[Late] = []
        self.paid: set[tuple[int, Key]] = set()
        self._server, self._context = server, context
        self._reading = Reading()
        self._thread = LoopThread()

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """End every connection."""
        self._thread.run(self._stop())
        self._thread.close()

    async def _start(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._context, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        self._session._retry_connection = False  # what is sent twice here would be our fault

    async def _stop(self) -> None:
        await self._session.close()
        await asyncio.sleep(0)

    def open(self, life: Life) -> None:
        """Listen for a life; its address is known from then on."""
        self._thread.run(self._open(life))

    async def _open(self, life: Life) -> None:
        app = web.Application(client_max_size=16 << 20)

        async def answer(request: web.Request) -> web.StreamResponse:
            return await self._pass(life, request)

        app.router.add_route("*", "/{rest:.*}", answer)
        life.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await life.runner.setup()
        await web.TCPSite(life.runner, "127.0.0.1", 0).start()
        life.address = f"http://127.0.0.1:{life.runner.addresses[0][1]}"

    def close(self, life: Life) -> None:
        """Let a dead life's writes run to their end, and close its port."""
        self._thread.run(self._close(life))

    async def _close(self, life: Life) -> None:
        if life.writes:
            life.quiet.clear()
            await life.quiet.wait()
        if life.runner is not None:
            await life.runner.cleanup()

    def begin(self, life: Life) -> None:
        """Pass on what a life sends."""
        self._thread.ask(life.begun.set)

    def arm(self, life: Life, order: Order) -> None:
        """Say when a life ends."""
        self._thread.ask(lambda: setattr(life, "order", order))

    def end(self, life: Life) -> None:
        """Kill a life now."""
        self._thread.ask(life.end)

    def note(self, sent: Sent) -> None:
        """Hear of a write that does not come by here."""
        self._thread.ask(lambda: self._reading.note(sent))

    def deliver(self) -> None:
        """Send on every write that is still kept."""
        self._thread.run(self._deliver(lambda _: True))

    async def _deliver(self, chosen: Callable[[Late], bool]) -> None:
        for kept in [one for one in self.late if chosen(one)]:
            self.late.remove(kept)
            async with self._session.request(
                kept.method,
                f"{self._server}{kept.path}",
                headers=kept.headers,
                data=kept.body,
                allow_redirects=False,
            ) as answer:
                await answer.read()
            if answer.ok and (sent := _sent(kept.method, kept.path.partition("?")[0], kept.body)):
                self._reading.note(sent)

    async def _pass(self, life: Life, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        await life.begun.wait()
        sent = _sent(request.method, request.path, body)
        meant = self._reading.read(sent) if sent else None
        if self._ends(life, request, body, meant):
            life.end()
        if life.killed.is_set():
            return web.Response(status=_REFUSED)
        if sent is None:
            return await self._read(life, request, body)
        life.writes += 1
        try:
            status, headers, said = await self._write(life, request, body)
            if status < web.HTTPMultipleChoices.status_code:
                self._reading.note(sent)
                if meant is not None:
                    await self._accepted(life, meant)
        finally:
            life.writes -= 1
            if not life.writes:
                life.quiet.set()
        if life.killed.is_set():
            return web.Response(status=_REFUSED)
        return web.Response(status=status, headers=headers, body=said)

    def _ends(self, life: Life, request: web.Request, body: bytes, meant: Meant | None) -> bool:
        """Tell whether a life ends before this request of it is passed on."""
        life.requests += 1
        order = life.order
        if order is None or life.killed.is_set():
            return False
        if order.request:
            return life.requests >= order.request
        if meant is None or order.boundary is None or order.way is Way.LOST:
            return False
        at = (life.last.get(order.key), meant.step)
        if meant.key != order.key or at != order.boundary:
            return False
        if order.way is Way.LATE:
            headers = _headers(request, f"life/{life.number} late")
            path = request.raw_path
            self.late.append(Late(life.number, meant, request.method, path, headers, body))
        return True

    async def _accepted(self, life: Life, meant: Meant) -> None:
        """Note what the server took; the life ends here when its answer is to be lost."""
        life.last[meant.key] = meant.step
        if meant.step is Step.EVENT:
            life.untold[meant.key] = life.untold.get(meant.key, 0) - 1
        else:
            life.untold[meant.key] = meant.told
            self.paid.add((life.number, meant.key))
            await self._deliver(
                lambda kept: kept.soon and kept.meant.key == meant.key and kept.life < life.number
            )
        order = life.order
        if order is None or order.boundary is None or order.way is not Way.LOST:
            return
        told = order.boundary.then is not Step.EVENT or life.untold[meant.key] > 0
        if meant.key == order.key and meant.step is order.boundary.first and told:
            life.end()

    async def _open_way(self, life: Life) -> None:
        """Wait until a life can be reached; here it always can."""

    async def _write(
        self, life: Life, request: web.Request, body: bytes, mark: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        async with self._asked(life, request, body, mark) as answer:
            return answer.status, _kept(answer.headers), await answer.read()

    async def _read(self, life: Life, request: web.Request, body: bytes) -> web.StreamResponse:
        async with self._asked(life, request, body) as answer:
            life.watches += "watch" in request.query
            response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
            with suppress(ConnectionError):  # whoever reads may be dead
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await self._open_way(life)
                    await response.write(piece)
                await response.write_eof()
            return response

    def _asked(
        self, life: Life, request: web.Request, body: bytes, mark: str = ""
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Pass a request on. mark: stands behind the life's number."""
        return self._session.request(
            request.method,
            f"{self._server}{request.raw_path}",
            headers=_headers(request, f"life/{life.number} {mark}".rstrip()),
            data=body,
            allow_redirects=False,
        )


def _sent(method: str, path: str, body: bytes) -> Sent | None:
    stated: Any = json.loads(body) if body else {}
    return Sent.of_request(method, path, stated)


def _headers(request: web.Request, who: str) -> dict[str, str]:
    kept = _kept(request.headers)
    return kept | {
        "Accept-Encoding": "identity",
        "User-Agent": f"{request.headers.get('User-Agent', '')} {who}",
    }


def _kept(headers: Any) -> dict[str, str]:
    return {k: v for k, v in headers.items() if k.lower() not in _NOT_PASSED}
