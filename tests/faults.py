"""A scripted API server on 127.0.0.1, for what a healthy one does not do when asked.

It serves kinds from shelves: lists in pages, watches with bookmarks, WatchList, writes with
resourceVersion and preconditions. On top of that, the next answers to a verb can be scripted.

    async with Faults() as server, server.client() as client:
        secrets = server.serve(SECRET)             # unserved kinds answer 404
        secrets.put("ns", "a", data={"k": "dg=="})  # as another writer; open watches hear of it
        server.next("list", refuse(503), usual(), refuse(410, "Expired"))  # one answer each
        server.next(
            "watch",
            stream(send("ADDED", secrets.at("ns", "a")), bookmark("9"), raw(b'{"ty'), drop()),
            stream(error(410, "Expired")),
            stream(silence()),                     # until the client goes away
        )
        server.next("create", lost())              # done, but the answer never arrives
        secrets.remove("ns", "a", quietly=True)    # a deletion that no watch hears of
        secrets.compact()                          # older watches get 410 in the stream
        secrets.end_streams()                      # or `drop=True`: every live watch ends
        assert [seen.verb for seen in server.requests] == ["list", "watch"]
        await server.until(3)                      # wait for three requests, without sleeping

Verbs: get list watch create update update-status patch apply delete, other (discovery, /version),
`*` for any.
Answers: `usual`, `refuse`, `lost`, `broken` (cut before anything is done), `slow`, `whole` (full
objects whatever Accept says), `answer` (any bytes), `stream`. Steps of a stream: `send`,
`bookmark`, `error`, `raw`, `pause`, `silence`, `drop`, `live` (go on as usual). A stream that
comes to its end is closed cleanly. A client of `server.client()` does not really sleep; what it
would have slept is in `server.slept`.
"""

import asyncio
import ssl
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import msgspec
from aiohttp import web

from roadstead.kube.refs import Kind
from roadstead.runtime.access import Config
from roadstead.runtime.client import Client
from roadstead.runtime.credentials import Credentials
from shelves import END, Body, Exchange, Seen, Shelf, Stream, change, status

Answer = Callable[[Exchange], Awaitable[web.StreamResponse]]


Step = Callable[[Stream], Awaitable[None]]


def usual() -> Answer:
    """Answer as if nothing were scripted."""
    return lambda exchange: exchange.usual()


def refuse(
    code: int,
    reason: str = "",
    message: str = "",
    *,
    retry_after: str = "",
    name: str = "",
    causes: tuple[str | tuple[str, str], ...] = (),
) -> Answer:
    """Answer with a Status and do nothing."""
    headers = {"Retry-After": retry_after} if retry_after else None
    body = status(code, reason, message, name=name, causes=causes)
    return answer(msgspec.json.encode(body), code, headers)


def answer(body: bytes, code: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer with any bytes."""

    async def give(_: Exchange) -> web.StreamResponse:
        return web.Response(
            body=body, status=code, headers=headers, content_type="application/json"
        )

    return give


def lost() -> Answer:
    """Do what was asked, and break the connection instead of saying so."""

    async def give(exchange: Exchange) -> web.StreamResponse:
        await exchange.usual()
        return exchange.cut()

    return give


def broken() -> Answer:
    """Break the connection and do nothing."""

    async def give(exchange: Exchange) -> web.StreamResponse:
        return exchange.cut()

    return give


def slow(until: asyncio.Event) -> Answer:
    """Answer as usual, but not before an event."""

    async def give(exchange: Exchange) -> web.StreamResponse:
        await until.wait()
        return await exchange.usual()

    return give


def whole() -> Answer:
    """Answer with full objects, whatever Accept says."""
    return lambda exchange: replace(exchange, whole=True).usual()


def stream(*steps: Step) -> Answer:
    """Answer a watch step by step."""

    async def give(exchange: Exchange) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(exchange.request)
        for step in steps:
            await step(Stream(exchange, response))
        return response

    return give


def send(kind: str, body: Body, *, full: bool = False) -> Step:
    """Send one event. full: whole, whatever Accept says."""
    return lambda at: at.line(kind, body if full else at.exchange.shape(body))


def bookmark(version: str, *, initial_end: bool = False) -> Step:
    """Send a bookmark. initial_end: the one that ends a WatchList's initial events."""
    meta: Body = {"resourceVersion": version}
    if initial_end:
        meta["annotations"] = {END: "true"}
    return lambda at: at.line("BOOKMARK", at.exchange.shape({"metadata": meta}))


def error(code: int, reason: str = "", message: str = "") -> Step:
    """Send an ERROR inside the stream."""
    return lambda at: at.line("ERROR", status(code, reason, message))


def raw(piece: bytes) -> Step:
    """Send bytes as they are: half a line, or no JSON."""
    return lambda at: at.response.write(piece)


def pause(until: asyncio.Event) -> Step:
    """Wait for an event."""

    async def step(_: Stream) -> None:
        await until.wait()

    return step


def silence() -> Step:
    """Say nothing until the client goes away."""
    return pause(asyncio.Event())


def drop() -> Step:
    """Break the connection."""

    async def step(at: Stream) -> None:
        await asyncio.sleep(0)  # what was written before leaves first
        at.exchange.cut()

    return step


def live() -> Step:
    """Go on as usual."""

    async def step(at: Stream) -> None:
        if at.exchange.shelf:
            await at.exchange.shelf.follow(at)

    return step


class Faults:
    """The server. requests: what came, in order. slept: what its clients would have slept."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Serve nothing yet."""
        self.requests: list[Seen] = []
        self.slept: list[float] = []
        self.version = 100
        self.shelves: dict[tuple[str, str, str], Shelf] = {}
        self._tls = tls
        self._scripts: dict[str, deque[Answer]] = defaultdict(deque)
        self._came = asyncio.Condition()
        self._running: set[asyncio.Task[Any]] = set()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        """Listen on a free port."""
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End what still runs."""
        for task in self._running:
            task.cancel()
        if self._runner:
            await self._runner.cleanup()

    def client(self, config: Config | None = None, **options: Any) -> Client:
        """Make a client of this server; its pauses are recorded, not slept."""

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.sleep(0)

        credentials = Credentials(config or Config(server=self.url), environ={})
        return Client(credentials, **{"sleep": sleep, "jitter": lambda: 0.0, **options})

    def serve(self, kind: Kind, *, watch_list: bool = True) -> Shelf:
        """Serve a kind."""
        shelf = Shelf(self, kind, watch_list)
        self.shelves[kind.group, kind.version, kind.plural] = shelf
        return shelf

    def withdraw(self, kind: Kind, *, lingering: bool = False) -> Shelf:
        """Serve a kind no longer, as after its CRD is deleted; give what it held.

        lingering: its watches stay open, as they do for a while.
        """
        shelf = self.shelves.pop((kind.group, kind.version, kind.plural))
        if not lingering:
            shelf.end_streams()
        return shelf

    def next(self, verb: str, *answers: Answer, kind: Kind | None = None) -> None:
        """Script the next answers to a verb, or to a verb on one kind."""
        self._scripts[f"{verb} {kind.plural}" if kind else verb].extend(answers)

    def tick(self) -> int:
        """Give the next resourceVersion."""
        self.version += 1
        return self.version

    def asked(self, *verbs: str) -> list[Seen]:
        """What came of some verbs."""
        return [seen for seen in self.requests if seen.verb in verbs]

    async def until(self, count: int, *verbs: str) -> None:
        """Wait until so many requests (of some verbs) have come."""
        async with self._came:
            await self._came.wait_for(
                lambda: len(self.asked(*verbs) if verbs else self.requests) >= count
            )

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        exchange = await self._exchange(request)
        async with self._came:
            self.requests.append(exchange.seen)
            self._came.notify_all()
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            verb, resource = exchange.seen.verb, exchange.seen.resource
            for script in (f"{verb} {resource}", verb, "*"):
                if self._scripts[script]:
                    return await self._scripts[script].popleft()(exchange)
            return await self.usual(exchange)
        finally:
            self._running.discard(task)

    async def _exchange(self, request: web.Request) -> Exchange:
        parts = request.path.strip("/").split("/")
        group, rest = ("", parts[1:]) if parts[0] == "api" else ("/".join(parts[1:2]), parts[2:])
        version, rest = "/".join(rest[:1]), rest[1:]
        namespace = ""
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        plural, name = "/".join(rest[:1]), "/".join(rest[1:2])
        shelf = self.shelves.get((group, version, plural))
        query = dict(request.query)
        by_method = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        verb = by_method.get(request.method, "get" if name else "list")
        if rest[2:3] == ["status"]:
            verb = f"{verb}-status"
        if request.content_type == "application/apply-patch+yaml":
            verb = "apply"
        if query.get("watch"):
            verb = "watch"
        seen = Seen(
            verb if plural else "other",
            plural,
            request.method,
            request.path,
            query,
            {name.lower(): value for name, value in request.headers.items()},
            await request.read(),
        )
        return Exchange(self.usual, shelf, request, seen, namespace, name)

    async def usual(self, at: Exchange) -> web.StreamResponse:
        """Answer as a healthy server does."""
        if at.seen.verb == "other":
            return self._discovery(at.request.path.strip("/"))
        if at.shelf is None:
            return web.Response(text="404 page not found\n", status=404)
        if at.seen.verb == "list":
            return at.shelf.page(at)
        if at.seen.verb == "watch":
            if "sendInitialEvents" in at.seen.query and not at.shelf.watch_list:
                return web.json_response(status(422, "Invalid"), status=422)
            return await stream(live())(at)
        return change(at, at.shelf)

    def _discovery(self, path: str) -> web.Response:
        if path == "version":
            return web.json_response({"gitVersion": "v1.36.3"})
        groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for group, version, plural in self.shelves:
            groups[group][version].append(plural)
        if path == "apis":
            listed = [
                {"name": group, "versions": [{"version": version} for version in versions]}
                for group, versions in groups.items()
                if group
            ]
            return web.json_response({"groups": listed})
        group, _, version = path.removeprefix("apis/").rpartition("/")
        plurals = groups["" if path.startswith("api/") else group].get(version, [])
        return web.json_response({"resources": [{"name": plural} for plural in plurals]})
