"""A tap on the wire between a process of ours and the API server: what it asked, what it got.

It stands in plain HTTP on loopback before the real server, passes everything on as it comes, and
notes of each request its Accept header and, of the answer, its bytes.
"""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import aiohttp
from aiohttp import web

from live_process import LoopThread

_NOT_PASSED = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "content-encoding"}
)
_KEPT_BYTES = 4 << 20


@dataclass
class Asked:
    """One request and its answer so far. size: of the body; body: its first bytes."""

    method: str
    path: str
    query: dict[str, str]
    accept: str
    status: int = 0
    size: int = 0
    body: bytearray = field(default_factory=bytearray, repr=False)

    @property
    def watch(self) -> bool:
        """Whether it is a stream."""
        return self.query.get("watch") in {"1", "true"}

    @property
    def of_many(self) -> bool:
        """Whether it lists or watches Secrets."""
        return self.method == "GET" and self.path.endswith("/secrets")

    @property
    def of_one(self) -> bool:
        """Whether it gets one Secret."""
        return self.method == "GET" and "/secrets/" in self.path


class Tap:
    """The tap.

    asked: every request, in order. refuse: gives the status that answers one in the server's
    place, 0 to pass it on.
    """

    def __init__(self, server: str, context: ssl.SSLContext) -> None:
        """Stand before a server."""
        self.asked: list[Asked] = []
        self.refuse: Callable[[Asked], int] = lambda _asked: 0
        self._server, self._context = server, context
        self._thread = LoopThread()
        self.address = ""

    def __enter__(self) -> Self:
        """Begin to listen."""
        self.address = self._thread.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """End every connection."""
        self._thread.run(self._stop())
        self._thread.close()

    async def _start(self) -> str:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._context, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", "/{rest:.*}", self._pass)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _stop(self) -> None:
        await self._session.close()
        await self._runner.cleanup()
        await asyncio.sleep(0)

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _NOT_PASSED}
        headers["Accept-Encoding"] = "identity"
        noted = Asked(
            request.method, request.path, dict(request.query), request.headers.get("Accept", "")
        )
        self.asked.append(noted)
        if status := self.refuse(noted):
            noted.status = status
            return web.json_response({"kind": "Status", "code": status}, status=status)
        async with self._session.request(
            request.method,
            f"{self._server}{request.raw_path}",
            headers=headers,
            data=await request.read() or None,
            allow_redirects=False,
        ) as answer:
            noted.status = answer.status
            kept = {k: v for k, v in answer.headers.items() if k.lower() not in _NOT_PASSED}
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                noted.size += len(piece)
                if len(noted.body) < _KEPT_BYTES:
                    noted.body += piece
                await response.write(piece)
            await response.write_eof()
            return response
