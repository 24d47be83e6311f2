"""One request at a time over two pools of connections: deadlines, limits, retries, the gate.

A write is never sent twice but after a 429 or a 401, which both say that nothing was done.
aiohttp would send a PUT or DELETE again by itself when a kept connection breaks; that is off.
No error here carries aiohttp's own: its repr shows the headers, and they hold the token.
"""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

from roadstead import __version__
from roadstead.errors import ClusterError, InputError
from roadstead.runtime.credentials import Auth, Credentials
from roadstead.runtime.refusals import refusal
from roadstead.runtime.wire import JSON

IN_FLIGHT = 32
DEADLINE_SECONDS = 30.0
CONNECT_SECONDS = 10.0
KEEP_SECONDS = 30.0
READ_RETRIES = 2
THROTTLED_RETRIES = 5
LONGEST_WAIT_SECONDS = 10.0
"""A longer Retry-After is the caller's to wait for: no slot and no worker sleeps that long."""
_FIRST_PAUSE_SECONDS = 0.1
_LARGE_BYTES = 1 << 20
_READS = frozenset({"get", "list"})

Gate = Callable[[float], None]
Observer = Callable[[str, int, float], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How requests are sent.

    gate: called with a write's deadline in seconds before it is sent; raises to refuse it.
    read_only: refuse every write. observe: hears verb, status (0 for none) and seconds.
    qps: requests a second at most; 0 for no limit of ours. deadline: seconds for one request.
    jitter: gives 0 to 1. sleep: waits.
    """

    gate: Gate | None = None
    read_only: bool = False
    observe: Observer | None = None
    qps: float = 0.0
    deadline: float = DEADLINE_SECONDS
    jitter: Callable[[], float] = lambda: 0.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Call(msgspec.Struct, frozen=True, gc=False):
    """One request.

    verb: for logs and figures, as RBAC has it but for `apply` and `update-status`; `get` and
        `list` may be repeated. about: the object or collection.
    hush: keep the server's sentence out of errors. gated: whether the gate is asked.
    asks: a POST that stores nothing, such as an access review; sent by a read-only run, too.
    """

    verb: str
    method: str
    path: str
    about: object
    body: bytes | None = None
    accept: str = JSON
    content: str = JSON
    hush: bool = False
    gated: bool = True
    deadline: float | None = None
    asks: bool = False

    def __repr__(self) -> str:
        """Name it; the body stays out of sight."""
        return f"<{self.verb} {self.about}>"


@dataclass(slots=True)
class _Tally:
    """What one call has been through."""

    failed: int = 0
    throttled: int = 0
    renewed: bool = False


class Transport:
    """Sends calls to one server."""

    def __init__(self, credentials: Credentials, limits: Limits) -> None:
        """Open nothing yet."""
        self._credentials = credentials
        self._limits = limits
        self._base = credentials.config.server
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._sessions: dict[str, aiohttp.ClientSession] = {}
        self._headers: dict[tuple[str, str], CIMultiDict[str]] = {}
        self._headers_for: Auth | None = None
        self._timeout = _timeout(limits.deadline)
        self._next_at = 0.0
        self._closed = False

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        sessions = tuple(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.close()
        await self._credentials.close()

    async def send(self, call: Call) -> bytes:
        """Send one call, again where that is safe; give the answer's body.

        Raises: ClusterError.
        """
        write = call.verb not in _READS
        if write and self._limits.read_only and not call.asks:
            raise ClusterError(
                f"{call.verb} {call.about}: not sent, this run is read-only",
                reason="ReadOnly",
                about=str(call.about),
            )
        tally = _Tally()
        while True:
            auth = self._credentials.fresh() or await self._refresh()
            if self._limits.qps:
                await self._pace()
            try:
                return await self._once(call, auth, write)
            except ClusterError as error:
                pause = self._pause(error, tally, write)
                if pause is None:
                    raise
                if error.status == HTTPStatus.UNAUTHORIZED:
                    await self._refresh(auth)
            if pause:
                await self._limits.sleep(pause)

    async def _once(self, call: Call, auth: Auth, write: bool) -> bytes:
        limits = self._limits
        timeout = self._timeout if call.deadline is None else _timeout(call.deadline)
        headers = self._headers_of(auth, call.accept, call.content if call.body else "")
        body = call.body
        async with self._slots:
            if write and call.gated and limits.gate:
                limits.gate(call.deadline or limits.deadline)
            started, code = time.monotonic(), 0
            try:
                async with self._session("requests", IN_FLIGHT).request(
                    call.method,
                    URL(self._base + call.path, encoded=True),
                    # aiohttp warns of large bytes, not of a file that holds them
                    data=io.BytesIO(body) if body and len(body) > _LARGE_BYTES else body,
                    headers=headers,
                    ssl=auth.tls or True,
                    server_hostname=self._credentials.config.server_name or None,
                    timeout=timeout,
                    allow_redirects=False,
                ) as answer:
                    content = await answer.read()
                    code = answer.status
            except (TimeoutError, aiohttp.ClientError, OSError) as error:
                raise self.broken(error, call.about) from None
            finally:
                if limits.observe:
                    limits.observe(call.verb, code, time.monotonic() - started)
        if HTTPStatus.OK <= code < HTTPStatus.MULTIPLE_CHOICES:
            return content
        raise _refused(call, answer, content)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[aiohttp.StreamReader]:
        """Open one watch; it takes no slot and has no deadline once it is answered.

        Raises: ClusterError.
        """
        auth = self._credentials.fresh() or await self._refresh()
        answer = await self._open(call, auth)
        try:
            if answer.status == HTTPStatus.UNAUTHORIZED:
                answer.close()
                answer = await self._open(call, await self._refresh(auth))
            if answer.status != HTTPStatus.OK:
                raise _refused(call, answer, await self._rest(call, answer))
            yield answer.content
        finally:
            answer.close()

    async def _open(self, call: Call, auth: Auth) -> aiohttp.ClientResponse:
        started, code = time.monotonic(), 0
        try:
            async with asyncio.timeout(self._limits.deadline):
                answer = await self._session("watches", 0).request(
                    call.method,
                    URL(self._base + call.path, encoded=True),
                    headers=self._headers_of(auth, call.accept, ""),
                    ssl=auth.tls or True,
                    server_hostname=self._credentials.config.server_name or None,
                    allow_redirects=False,
                )
            code = answer.status
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self.broken(error, call.about) from None
        finally:
            if self._limits.observe:
                self._limits.observe(call.verb, code, time.monotonic() - started)
        return answer

    async def _rest(self, call: Call, answer: aiohttp.ClientResponse) -> bytes:
        """Read the body of a refused watch."""
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await answer.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self.broken(error, call.about) from None

    def _session(self, name: str, connections: int) -> aiohttp.ClientSession:
        """Give one of the two pools, made when it is first needed."""
        if session := self._sessions.get(name):
            return session
        if self._closed:
            raise ClusterError("the client is closed", reason="Closed")
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEP_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self._credentials.proxy or None,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        )
        session._retry_connection = False  # noqa: SLF001 - no public switch; a test holds it
        self._sessions[name] = session
        return session

    def _headers_of(self, auth: Auth, accept: str, content: str) -> CIMultiDict[str]:
        """Give prepared headers; they change with the credentials only."""
        if auth is not self._headers_for:
            self._headers.clear()
            self._headers_for = auth
        headers = self._headers.get((accept, content))
        if headers is None:
            headers = CIMultiDict(auth.headers)
            headers["User-Agent"] = f"roadstead/{__version__}"
            headers["Accept"] = accept
            if content:
                headers["Content-Type"] = content
            self._headers[accept, content] = headers
        return headers

    async def _refresh(self, refused: Auth | None = None) -> Auth:
        try:
            return await self._credentials.refresh(refused)
        except InputError as error:
            raise ClusterError(str(error), reason="Credentials", hint=error.hint) from error

    async def _pace(self) -> None:
        """Wait for our turn under `--kube-api-qps`."""
        now = time.monotonic()
        turn = max(now, self._next_at)
        self._next_at = turn + 1 / self._limits.qps
        if turn > now:
            await self._limits.sleep(turn - now)

    def _pause(self, error: ClusterError, tally: _Tally, write: bool) -> float | None:
        """Say how long to wait before the call is sent again; None to give up."""
        asked = error.retry_after.total_seconds() if error.retry_after else 0.0
        spread = 1 + self._limits.jitter() / 2
        if error.status == HTTPStatus.UNAUTHORIZED and not tally.renewed:
            tally.renewed = True
            return 0.0
        if asked > LONGEST_WAIT_SECONDS:
            return None
        if error.status == HTTPStatus.TOO_MANY_REQUESTS and tally.throttled < THROTTLED_RETRIES:
            tally.throttled += 1
            return (asked or 1.0) * spread
        passing = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR or error.reason in {
            "Cut",
            "Unreachable",
        }
        if passing and not write and tally.failed < READ_RETRIES:
            tally.failed += 1
            return float(max(asked, _FIRST_PAUSE_SECONDS * 4 ** (tally.failed - 1)) * spread)
        return None

    def broken(self, error: Exception, about: object) -> ClusterError:
        """Say in our words what broke between us and the server."""
        config = self._credentials.config
        where, why = f"the API server {config.server}", getattr(error, "strerror", None)
        hint = f"its address is from {config.source}" if config.source else ""
        match error:
            case TimeoutError():
                reason, said = "Timeout", f"{where} did not answer in time"
            case aiohttp.ClientSSLError():
                reason = "Certificate"
                said = f"no TLS with {where}: {_certificate_fault(error)}"
            case aiohttp.ClientProxyConnectionError():
                reason, said = "Unreachable", f"the proxy to {where} cannot be reached"
            case aiohttp.ClientHttpProxyError():
                reason, said = "Proxy", f"the proxy to {where} answered {error.status}"
            case aiohttp.ClientConnectorError():
                reason, said = "Unreachable", f"{where} cannot be reached: {why or 'no route'}"
            case aiohttp.ClientConnectionError() | aiohttp.ClientPayloadError() | OSError():
                reason, said, hint = "Cut", f"the connection to {where} broke", ""
            case _:
                reason, said = "Malformed", f"{where} does not speak HTTP as expected"
        return ClusterError(said, reason=reason, about=str(about), hint=hint)


def _refused(call: Call, answer: aiohttp.ClientResponse, content: bytes) -> ClusterError:
    return refusal(
        answer.status,
        content,
        verb=call.verb,
        about=str(call.about),
        hush=call.hush,
        retry_after=answer.headers.get("Retry-After", ""),
    )


def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    # aiohttp rounds long timeouts up to whole seconds unless they are under the threshold
    return aiohttp.ClientTimeout(
        total=seconds, sock_connect=CONNECT_SECONDS, ceil_threshold=seconds + 1
    )


def _certificate_fault(error: aiohttp.ClientSSLError) -> str:
    fault = getattr(error, "certificate_error", None) or error.os_error
    said = getattr(fault, "verify_message", None) or getattr(fault, "reason", None)
    return str(said or "the handshake failed")
