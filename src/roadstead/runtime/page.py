"""The status page's server: what is asked, by whom, and under which headers it is answered.

It knows no page: whoever starts it brings them. It answers GET and HEAD alone, on loopback alone,
and to whoever calls it by a name of loopback: a foreign Host header is what a rebound DNS name
looks like. It has no way to write.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple, Protocol

import prometheus_client
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.errors import InputError
from roadstead.runtime import health
from roadstead.runtime.client import Client
from roadstead.runtime.health import Check, Health
from roadstead.runtime.history import History
from roadstead.runtime.logs import Log, place_of

FLAG = "--page-bind-address"
DEADLINE, AT_ONCE, WAITING = 15.0, 2, 16
"""Seconds for one answer, answers that are made at the same time, and those that may wait."""
METHODS = frozenset({"GET", "HEAD"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "roadstead",
}
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """What is sent back. kind: its content type."""

    status: int
    body: str
    kind: str = HTML


class Pages(Protocol):
    """Whoever makes pages."""

    async def answer(self, path: str, query: Mapping[str, str]) -> Answer:
        """The page of a path; never raises for what a person may type."""

    def refusal(self, status: int, words: str, hint: str = "") -> Answer:
        """A page that says no."""


@dataclass(frozen=True, slots=True)
class Source:
    """What pages are made of: one process's part of the world.

    client: for reads; whoever makes pages has no business to write with it.
    leads: whether it holds its lease; None without election. dry: it writes nothing.
    """

    engine: Engine
    client: Client
    clock: Clock
    history: History
    live: Mapping[str, Check]
    ready: Mapping[str, Check]
    registry: CollectorRegistry
    leads: Callable[[], bool | None]
    dry: bool = False


Maker = Callable[[Sequence[Source]], Pages]
"""Makes the pages of one process, or of several that are looked at together."""


def page_app(pages: Pages, sources: Sequence[Source], log: Log) -> web.Application:
    """Serve pages, and beside them what probes and Prometheus read."""
    app = web.Application(middlewares=[guarded(pages, log)])
    checks = {
        "healthz": together(source.live for source in sources),
        "readyz": together(source.ready for source in sources),
    }
    turns, queue = asyncio.Semaphore(AT_ONCE), _Queue()

    async def asked(request: web.Request) -> web.Response:
        what, _, one = request.path.removeprefix("/").partition("/")
        if what == "metrics" and not one:
            registries = [source.registry for source in sources]
            return web.Response(
                body=exposition(registries), headers={"Content-Type": health.EXPOSITION}
            )
        if what in checks and (not one or one in checks[what]):
            chosen = {one: checks[what][one]} if one else checks[what]
            good, said = health.judged(chosen, what, verbose="verbose" in request.query)
            status = HTTPStatus.OK if good else HTTPStatus.INTERNAL_SERVER_ERROR
            return web.Response(text=said, status=status)
        if queue.length >= WAITING:
            return _response(pages.refusal(503, "too many pages are asked for at once"))
        with queue:
            async with asyncio.timeout(DEADLINE), turns:
                return _response(await pages.answer(request.path, request.query))

    app.router.add_route("*", "/{path:.*}", asked)
    return app


class _Queue:
    """How many requests are in work or wait."""

    def __init__(self) -> None:
        self.length = 0

    def __enter__(self) -> None:
        self.length += 1

    def __exit__(self, *_: object) -> None:
        self.length -= 1


def _response(answer: Answer) -> web.Response:
    return web.Response(
        text=answer.body,
        status=answer.status,
        content_type=answer.kind.partition(";")[0],
        charset="utf-8",
    )


def guarded(pages: Pages, log: Log) -> Middleware:
    """Refuse foreign names and other methods, and put the headers on every answer."""

    @web.middleware
    async def guard(
        request: web.Request,
        handler: Handler,
    ) -> web.StreamResponse:
        answer: web.StreamResponse
        if not is_loopback(named(request.headers.get("Host", ""))):
            answer = _response(
                pages.refusal(
                    HTTPStatus.MISDIRECTED_REQUEST,
                    "this page answers to localhost, 127.0.0.1 and [::1] alone",
                    "kubectl port-forward, then open http://127.0.0.1:8080/",
                )
            )
        elif request.method not in METHODS:
            answer = _response(
                pages.refusal(
                    HTTPStatus.METHOD_NOT_ALLOWED, "this page is read-only", "use GET or HEAD"
                )
            )
            answer.headers["Allow"] = "GET, HEAD"
        else:
            answer = await _tried(request, handler, pages, log)
        answer.headers.update(HEADERS)
        return answer

    return guard


async def _tried(
    request: web.Request,
    handler: Handler,
    pages: Pages,
    log: Log,
) -> web.StreamResponse:
    """Answer; a bug costs one page, and says nothing of what it choked on."""
    try:
        return await handler(request)
    except TimeoutError:
        return _response(pages.refusal(503, "the answer took too long", "ask for less of it"))
    except Exception as bug:  # noqa: BLE001 - the controllers must not end with a page
        log.error("bug in a page", type=type(bug).__name__, place=place_of(bug))  # noqa: TRY400 - the text may quote a value
        return _response(pages.refusal(500, "internal error; the log says where"))


def named(header: str) -> str:
    """The host of a Host header, without its port, in lower case; empty for none."""
    host = header.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is this machine's own, and no name that DNS answers."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def together(checks: Iterable[Mapping[str, Check]]) -> dict[str, Check]:
    """Checks of several processes under one name each; one that fails fails it."""
    found: dict[str, list[Check]] = {}
    for some in checks:
        for name, check in some.items():
            found.setdefault(name, []).append(check)
    return {name: _all_of(several) for name, several in found.items()}


def _all_of(checks: Sequence[Check]) -> Check:
    def check() -> Health:
        found = [one() for one in checks]
        wrong = "; ".join(one.wrong for one in found if one.wrong)
        return Health(wrong, "; ".join(one.without for one in found if one.without))

    return check


def exposition(registries: Sequence[CollectorRegistry]) -> bytes:
    """The metrics of several processes as one page; what they share is told once."""
    if len(registries) == 1:
        return prometheus_client.generate_latest(registries[0])
    families: dict[str, Metric] = {}
    for registry in registries:
        for metric in registry.collect():
            known = families.get(metric.name)
            if known is None:
                families[metric.name] = metric
                continue
            there = {(one.name, tuple(sorted(one.labels.items()))) for one in known.samples}
            known.samples += [
                one
                for one in metric.samples
                if (one.name, tuple(sorted(one.labels.items()))) not in there
            ]
    return prometheus_client.generate_latest(_Merged(list(families.values())))


class _Merged(CollectorRegistry):
    """Families that were collected already."""

    def __init__(self, families: Sequence[Metric]) -> None:
        super().__init__()
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Give them."""
        return self._families


def loopback_of(text: str) -> str:
    """An address to serve the page at; one without a host is 127.0.0.1's.

    Raises: InputError for any other machine's to reach: the page asks nobody who they are.
    """
    address = health.address_of(text, FLAG)
    if address is None:
        return health.OFF
    host, port = address
    if host is None:
        return f"127.0.0.1:{port}"
    if not is_loopback(host.lower()):
        raise InputError(
            f"{FLAG}: `{text}` can be reached from other machines",
            hint="give 127.0.0.1:8080, and reach it by kubectl port-forward",
        )
    return text


def url_of(text: str, port: int) -> str:
    """Where a person opens the page. text: the address that was asked for; port: the one it has."""
    return f"http://{loopback_of(text).rpartition(':')[0]}:{port}/"


async def serve_page(
    stack: AsyncExitStack, pages: Pages, sources: Sequence[Source], text: str, log: Log
) -> int:
    """Serve pages until the stack closes; give the port, 0 when it is off.

    Raises: InputError when the address cannot be used.
    """
    return await health.serve(stack, page_app(pages, sources, log), loopback_of(text), FLAG)
