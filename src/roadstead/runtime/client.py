"""The API server's verbs, as both controllers and commands use them.

All of `engine.api.Api` but `publish`, which `events` adds. It decides nothing and keeps nothing:
what an answer holds is given to the caller and dropped. No exception shows a value of an object.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

import aiohttp
import msgspec

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import Form, View
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.transport import DEADLINE_SECONDS, Call, Gate, Limits, Observer, Transport
from roadstead.runtime.wire import (
    JSON,
    MERGE_PATCH,
    PARTIAL,
    PARTIAL_LIST,
    Groups,
    Lines,
    Page,
    Release,
    Resources,
    WatchEvent,
    collection_of,
    cut,
    decode_line,
    decode_object,
    decode_page,
    decode_written,
    encode,
    path_of,
    quiet,
    selection_of,
)

PAGE_SIZE = 500
SLACK_SECONDS = 5.0
"""How much longer than the server's own timeout a watch may be silent."""
BOOKMARK_SILENCE_SECONDS = 70.0
"""How long a watch that has had a bookmark may be silent: the server sends one a minute."""
_LINES_A_TURN = 256
_NOT_FOUND, _GONE = HTTPStatus.NOT_FOUND, HTTPStatus.GONE
_T = TypeVar("_T")


class Client:
    """Requests to one API server.

    gate: called with a write's deadline in seconds right before it is sent, and raises
        ClusterError(reason="NotLeader") to refuse it. read_only: refuse every write.
    observe: hears verb, status (0 when no answer came) and seconds of each request.
    qps: requests a second at most, 0 for none of our own. deadline: seconds for one request.
    jitter, sleep: chance and waiting, given by tests.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        gate: Gate | None = None,
        read_only: bool = False,
        observe: Observer | None = None,
        qps: float = 0.0,
        deadline: float = DEADLINE_SECONDS,
        jitter: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Open no connection yet."""
        limits = Limits(gate, read_only, observe, qps, deadline, jitter, sleep)
        self._transport = Transport(credentials, limits)

    async def __aenter__(self) -> Self:
        """Give itself; `close` follows."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """Close every connection; running requests end with an error."""
        await self._transport.close()

    async def get(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """One object, whole but for its managed fields; None when it is not there.

        Raises: ClusterError, with reason `NotServed` when the kind is not served.
        """
        kind = ref.kind
        path = path_of(kind, ref.namespace, ref.name)
        call = Call("get", "GET", path, ref, hush=quiet(kind), deadline=deadline)
        try:
            content = await self._transport.send(call)
        except ClusterError as error:
            if error.status == _NOT_FOUND and error.reason == "NotFound":
                return None
            raise
        return decode_object(kind, content, str(ref))

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches, sorted by name; no annotations."""
        view = View(kind.plural, kind, Form.METADATA, labels=labels)
        for last in (False, True):
            try:
                found = [seen async for page in self._pages(view, namespace) for seen in page]
            except ClusterError as error:
                if error.status != _GONE or last:  # a token may expire once; then from the start
                    raise
            else:
                break
        return tuple(sorted(found, key=lambda seen: (seen.meta.namespace, seen.meta.name)))

    async def _pages(self, view: View, namespace: str) -> AsyncGenerator[tuple[Object, ...], None]:
        token = ""
        while True:
            page = await self.page(view, namespace, continue_token=token)
            yield page.objects
            token = page.continue_token
            if not token:
                return

    async def page(
        self, view: View, namespace: str = "", limit: int = PAGE_SIZE, continue_token: str = ""
    ) -> Page:
        """One page of what a view selects; never resourceVersion 0, which ignores the limit.

        Raises: ClusterError; status 410 when the token has expired, reason `FullAnswer` when
            whole objects came where metadata was asked for.
        """
        query = selection_of(view) | {"limit": str(limit)}
        if continue_token:
            query["continue"] = continue_token
        about = collection_of(view.kind, namespace)
        call = Call(
            "list",
            "GET",
            f"{path_of(view.kind, namespace)}?{urlencode(query)}",
            about,
            accept=PARTIAL_LIST if view.form is Form.METADATA else JSON,
            hush=quiet(view.kind),
        )
        return decode_page(view, await self._transport.send(call), about)

    async def watch(
        self,
        view: View,
        resource_version: str,
        *,
        timeout_seconds: int,
        namespace: str = "",
        bookmarks: bool = True,
        send_initial_events: bool = False,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Follow what a view selects until the server ends the stream.

        resource_version: where to go on; empty together with `send_initial_events`, which asks
            for every object first and a bookmark with `initial_end` after them.
        opened: called once the server has said yes, which may be long before the first event.
        Use it under `contextlib.aclosing`: a stream left alone keeps its connection.
        Raises: ClusterError: the server's ERROR with its code, `Cut` for a broken line or
            connection, `Silent` for a stream that says nothing, and as `page`.
        """
        query = selection_of(view) | {"watch": "1", "timeoutSeconds": str(timeout_seconds)}
        if bookmarks or send_initial_events:
            query["allowWatchBookmarks"] = "true"
        if send_initial_events:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        if resource_version:
            query["resourceVersion"] = resource_version
        about = collection_of(view.kind, namespace)
        call = Call(
            "watch",
            "GET",
            f"{path_of(view.kind, namespace)}?{urlencode(query)}",
            about,
            accept=PARTIAL if view.form is Form.METADATA else JSON,
            hush=quiet(view.kind),
        )
        silence = timeout_seconds + SLACK_SECONDS
        lines, count = Lines(about), 0
        async with self._transport.stream(call) as content:
            if opened:
                opened()
            while piece := await self._next(content, silence, about):
                for line in lines.feed(piece):
                    event = decode_line(view, line, about)
                    if event.type == "BOOKMARK":
                        silence = min(silence, BOOKMARK_SILENCE_SECONDS)
                    yield event
                    count += 1
                    if count % _LINES_A_TURN == 0:
                        await asyncio.sleep(0)  # a full buffer must not hold up everything else
            lines.end()

    async def _next(self, content: aiohttp.StreamReader, silence: float, about: str) -> bytes:
        """Wait for what comes next; empty at the end of the stream."""
        try:
            async with asyncio.timeout(silence):
                return await content.readany()
        except TimeoutError:
            raise ClusterError(
                f"the watch of {about} was silent for {silence:g} s", reason="Silent", about=about
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._transport.broken(error, about) from None

    async def create(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """POST; gives the metadata of what was made.

        gated: False for what is written to become the leader, or without being one.
        """
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta.get("name") or meta.get("generateName", ""))
        path = path_of(kind, ref.namespace)
        call = Call("create", "POST", path, ref, encode(body), gated=gated, deadline=deadline)
        return await self._write(call, ref)

    async def replace(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """PUT, with the resourceVersion in the body; gives the metadata of what is now there."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        path = path_of(kind, ref.namespace, ref.name)
        call = Call("update", "PUT", path, ref, encode(body), gated=gated, deadline=deadline)
        return await self._write(call, ref)

    async def patch(
        self,
        ref: Ref,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """PATCH by RFC 7396; gives the metadata of what is now there."""
        path = path_of(ref.kind, ref.namespace, ref.name)
        call = Call("patch", "PATCH", path, ref, encode(body), gated=gated, deadline=deadline)
        return await self._write(msgspec.structs.replace(call, content=MERGE_PATCH), ref)

    async def _write(self, call: Call, ref: Ref) -> Object:
        """Send a write; metadata is all that is wanted back."""
        wanted = msgspec.structs.replace(call, accept=PARTIAL, hush=quiet(ref.kind))
        return decode_written(ref.kind, await self._transport.send(wanted), str(ref))

    async def delete(
        self, ref: Ref, uid: str, resource_version: str, *, deadline: float | None = None
    ) -> None:
        """DELETE with both preconditions, background propagation; an absent object is success.

        Raises: ClusterError, also when the kind is not served: its objects may well be there.
        """
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": uid, "resourceVersion": resource_version},
        }
        path = path_of(ref.kind, ref.namespace, ref.name)
        call = Call(
            "delete", "DELETE", path, ref, encode(body), hush=quiet(ref.kind), deadline=deadline
        )
        try:
            await self._transport.send(call)
        except ClusterError as error:
            if error.status != _NOT_FOUND or error.reason != "NotFound":
                raise

    async def discover(self) -> dict[str, tuple[str, ...]]:
        """Every group that is served, with its versions, the preferred one first."""
        found: dict[str, tuple[str, ...]] = {"": ("v1",)}
        for group in (await self._read("/apis", "API groups", Groups)).groups:
            versions = [entry.version for entry in group.versions]
            first = group.preferred_version.version if group.preferred_version else ""
            found[group.name] = tuple(sorted(versions, key=lambda version: version != first))
        return found

    async def served(self, group: str) -> dict[str, frozenset[str]]:
        """The plurals each version of a group serves, preferred version first.

        Empty when the group is not served.
        """
        versions = (await self.discover()).get(group, ())
        base = f"/apis/{quote(group, safe='')}" if group else "/api"
        found: dict[str, frozenset[str]] = {}
        for version in versions:
            about = f"kinds of {group}/{version}" if group else f"kinds of {version}"
            try:
                listed = await self._read(f"{base}/{quote(version, safe='')}", about, Resources)
            except ClusterError as error:
                if error.not_found:  # withdrawn since
                    continue
                raise
            names = (resource.name for resource in listed.resources)
            found[version] = frozenset(name for name in names if "/" not in name)
        return found

    async def version(self) -> str:
        """The server's version, as `v1.36.3`."""
        return (await self._read("/version", "the version", Release)).git_version

    async def _read(self, path: str, about: str, form: type[_T]) -> _T:
        content = await self._transport.send(Call("get", "GET", path, about))
        try:
            return msgspec.json.decode(content, type=form)
        except msgspec.DecodeError:
            raise cut(about) from None

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content: str = JSON,
        accept: str = JSON,
        gated: bool = True,
        deadline: float | None = None,
    ) -> bytes:
        """Send anything; give the answer's bytes. Only a GET is ever repeated.

        path: encoded already, below the server's address.
        """
        call = Call(
            "get" if method == "GET" else method.lower(),
            method,
            f"{path}?{urlencode(query)}" if query else path,
            path,
            encode(body) if body is not None else None,
            accept=accept,
            content=content,
            hush="/secrets" in path,
            gated=gated,
            deadline=deadline,
        )
        return await self._transport.send(call)
