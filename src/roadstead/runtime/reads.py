"""The API server's reads: one object, lists in pages, watches, and what is served.

It decides nothing and keeps nothing: what an answer holds is given to the caller and dropped.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import aiohttp
import msgspec

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import Form, View
from roadstead.runtime.permission import Access, decode_allowed
from roadstead.runtime.refusals import UNREADABLE, cut, quiet
from roadstead.runtime.transport import Call, Transport
from roadstead.runtime.wire import (
    DISCOVERY,
    JSON,
    PARTIAL,
    PARTIAL_LIST,
    Groups,
    Lines,
    Page,
    Release,
    Resources,
    WatchEvent,
    collection_of,
    decode_kinds,
    decode_line,
    decode_object,
    decode_page,
    decode_written,
    encode,
    path_of,
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


class Reads:
    """Requests that change nothing; the transport may repeat them."""

    def __init__(self, transport: Transport) -> None:
        """Ask through a transport."""
        self._transport = transport

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

    async def metadata(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """The metadata of one object, without its annotations; None when it is not there.

        Raises: ClusterError as `get`.
        """
        path = path_of(ref.kind, ref.namespace, ref.name)
        call = Call(
            "get", "GET", path, ref, accept=PARTIAL, hush=quiet(ref.kind), deadline=deadline
        )
        try:
            content = await self._transport.send(call)
        except ClusterError as error:
            if error.status == _NOT_FOUND and error.reason == "NotFound":
                return None
            raise
        return decode_written(ref.kind, content, str(ref))

    async def may(self, asked: Access) -> bool:
        """Whether somebody may do something, as the API server's authorizers say.

        Raises: ClusterError; status 403 where the caller may not ask it of another.
        """
        kind = "SubjectAccessReview" if asked.account else "SelfSubjectAccessReview"
        path = f"/apis/authorization.k8s.io/v1/{kind.lower()}s"
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": asked.spec}
        about = f"whether {asked.account or 'you'} may {asked}"
        call = Call("create", "POST", path, about, encode(body), gated=False, asks=True)
        return decode_allowed(await self._transport.send(call), about)

    async def rehearse(self, ref: Ref, body: Mapping[str, Any]) -> None:
        """Have the API server go through a creation and store nothing; admission is asked.

        body: holds nothing that must not be shown, so that a refusal may be told whole.
        Raises: ClusterError with the words of whoever refuses.
        """
        path = f"{path_of(ref.kind, ref.namespace)}?dryRun=All"
        call = Call("create", "POST", path, ref, encode(body), gated=False, asks=True)
        await self._transport.send(call)

    async def kinds(self, *, deadline: float | None = None) -> dict[tuple[str, str], Kind]:
        """Every kind that is served, by `apiVersion` and name.

        Cost: two requests, whatever the number of groups. Groups of an aggregated API that is away
        are left out by the server.
        """
        found: dict[tuple[str, str], Kind] = {}
        for base in ("/api", "/apis"):
            about = f"kinds below {base}"
            call = Call("get", "GET", base, about, accept=DISCOVERY, deadline=deadline)
            content = await self._transport.send(call)
            found |= decode_kinds(content, about)
        return found

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches, sorted by name; no annotations."""
        return await self.list_view(
            View(kind.plural, kind, Form.METADATA, labels=labels), namespace
        )

    async def list_view(self, view: View, namespace: str = "") -> tuple[Object, ...]:
        """All objects a view selects in a namespace, or everywhere, in its form, sorted by name.

        What `view.keep` does is left to the caller.
        Raises: ClusterError as `page`; a token that expires once only starts the list over.
        """
        for last in (False, True):
            try:
                found = [seen async for page in self._pages(view, namespace) for seen in page]
            except ClusterError as error:
                if error.status != _GONE or last:
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
        except UNREADABLE:
            raise cut(about) from None
