"""The admission server: HTTPS, one answer within its budget, and no body kept or logged.

Every fault of a body is answered in words of our own. Bodies up to 16 MiB are taken, large ones a
few at a time: an UPDATE carries a Secret of a megabyte twice. Source: lineage 3, 4 and 10.
"""

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus

from aiohttp import web

from roadstead.engine.api import Api
from roadstead.engine.engine import Engine
from roadstead.engine.review import Answered, answer, refused
from roadstead.errors import InputError
from roadstead.runtime.certificate import PERIOD, Serving
from roadstead.runtime.health import Health
from roadstead.runtime.lineage_figures import AdmissionFigures
from roadstead.runtime.logs import Log, place_of
from roadstead.runtime.reviews import Asked, MalformedError, decode, encode
from roadstead.wiring import Admission

LARGEST_BODY = 16 << 20
LARGE_BODY = 1 << 20
LARGE_AT_ONCE = 4
LEAVE_SECONDS = 2.0
"""How long a stop goes on answering, so that whoever asks hears of it before a connection ends."""
_QUIET_SECONDS = 0.3
_LOOK_SECONDS = 0.05
_JSON = "application/json"
_REMEMBERED = 1_000
_OK, _ERROR = HTTPStatus.OK, HTTPStatus.INTERNAL_SERVER_ERROR


class Webhook:
    """Answers for every admission of an engine, at the path of each.

    asked: how many requests there were.
    """

    def __init__(
        self,
        engine: Engine,
        api: Api,
        serving: Serving,
        figures: AdmissionFigures,
        log: Log,
    ) -> None:
        """Listen nowhere yet."""
        self._engine, self._api, self._log = engine, api, log
        self._serving, self._figures = serving, figures
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self.asked = 0
        self._told: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._leaving = False
        self._server: web.Server | None = None
        figures.expires(lambda: serving.not_after)

    async def serve(self, stack: AsyncExitStack, port: int, host: str = "") -> int:
        """Serve until the stack closes; give the port.

        port: 0 takes a free one. host: the one IPv4 address to listen on; empty for all there are.
        Raises: InputError when the port cannot be used.
        """
        app = web.Application(client_max_size=LARGEST_BODY)
        longest = 0.0
        for admission in self._engine.admissions.values():
            app.router.add_post(admission.path, self._page(admission))
            longest = max(longest, admission.budget.total_seconds())
        # Requests that are being answered are waited for at the end.
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=longest)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        self.look()
        try:
            site = web.SockSite(runner, listening(port, host), ssl_context=self._serving.context)
            await site.start()
        except OSError as error:
            raise InputError(
                f"--webhook-port: cannot listen on {port}: {error.strerror}",
                hint="give another port",
            ) from None
        self._server = runner.server
        return int(runner.addresses[0][1])

    async def leave(self) -> None:
        """Go on answering, and say in each answer that its connection ends.

        A connection that ends while it waits for the next request fails that request where the two
        cross on their way: nobody may send a POST twice. So it ends with an answer instead; one
        that had none to give in this time is idle, and ends with what `serve` was given.
        """
        self._leaving = True
        now, busy = time.monotonic(), float("-inf")
        end = now + LEAVE_SECONDS
        while self._server is not None and now < end:
            if self._server.connections:
                busy = now
            elif busy + _QUIET_SECONDS <= now:
                return
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()

    async def run(self) -> None:
        """Look after the certificate until cancelled."""
        while True:
            await asyncio.sleep(PERIOD)
            self.look()

    def look(self) -> None:
        """Take over a new certificate if there is one."""
        self._serving.look()

    def check(self) -> Health:
        """Whether the serving certificate is there and good."""
        return Health(self._serving.wrong)

    def _page(self, admission: Admission) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def page(request: web.Request) -> web.Response:
            began, response = time.monotonic(), web.Response(status=_ERROR)
            self.asked += 1
            try:
                response = await self._answered(admission, request)
            except web.HTTPException as error:
                response = error
                raise
            finally:
                if self._leaving:
                    response.force_close()
                spent = time.monotonic() - began
                self._figures.answered(admission.path, response.status, spent)
            return response

        return page

    async def _answered(self, admission: Admission, request: web.Request) -> web.Response:
        """Read one request, judge it, and say so, all within the budget."""
        uid, status, asked = "", _OK, None
        try:
            async with asyncio.timeout(admission.budget.total_seconds()):
                async with self._room(request):
                    asked = decode(await request.read())
                uid = asked.uid
                result = await self._judged(admission, asked)
        except MalformedError as error:
            # A request that says who asks is answered like any other; the rest is no request.
            uid, status = error.uid, _OK if error.uid else HTTPStatus.BAD_REQUEST
            result = refused(HTTPStatus.BAD_REQUEST, str(error))
        except TimeoutError:
            result = refused(_ERROR, "the answer took too long; try again")
            if asked is None:
                status = HTTPStatus.REQUEST_TIMEOUT
        except (web.HTTPException, ConnectionError, asyncio.CancelledError):
            raise
        except Exception as bug:  # noqa: BLE001 - refused, and its text, which may quote, unsaid
            self._log.error("bug in admission", type=type(bug).__name__, place=place_of(bug))
            result = refused(_ERROR, "an internal error kept the object from being judged")
        kind = asked.kind if asked is not None else None
        self._figures.reviewed(kind, asked.operation if asked is not None else "", result)
        return web.Response(body=encode(uid, result), status=status, content_type=_JSON)

    async def _judged(self, admission: Admission, asked: Asked) -> Answered:
        if not self._engine.answers(admission.name):
            return refused(_ERROR, "not ready: what is judged by was not read yet; try again")
        result = await answer(admission, self._engine.reader(self._api), asked.review)
        if result.admitted is None:
            self._log.warning(
                "refused",
                about=asked.review.subject.ref.path,
                code=result.code,
                said=result.message,
            )
        else:
            self._remark(result.admitted.remarks)
        return result

    def _remark(self, remarks: tuple[tuple[str, str], ...]) -> None:
        """Say what is wrong with a definition once for each state of it."""
        for remark in remarks:
            if remark not in self._told:
                self._told[remark] = None
                self._log.warning("definition at fault", said=remark[1])
        while len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)

    @asynccontextmanager
    async def _room(self, request: web.Request) -> AsyncIterator[None]:
        """Wait until there is room for a body, where it is large or nobody says how large."""
        length = request.content_length
        if length is not None and length <= LARGE_BODY:
            yield
        else:
            async with self._large:
                yield


def listening(port: int, host: str = "") -> socket.socket:
    """One socket for every address of both families, so that a free port is one port.

    host: the one IPv4 address to listen on instead.
    Raises: OSError when the port cannot be used.
    """
    if host:
        return socket.create_server((host, port))
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
