"""Our client, listened to: what a case counts, delays, spoils and moves to its own time.

Everything goes on to the real server through the real client. Here requests are logged, faults
of a case answer in the server's place, watch events are held back, and times are turned.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from live_time import Births
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, Kind, Ref
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.wire import Page, WatchEvent
from roadstead.sim.faults import Faults
from roadstead.sim.requests import Request, RequestLog

Names = dict[tuple[str, str], str]
"""resourceVersions by namespace and name."""

_Stream = asyncio.Queue[tuple[WatchEvent | BaseException | None, int]]
"""What came, its end or None, each with the pass during which it came."""

turn_now: ContextVar[int] = ContextVar("turn_now", default=0)
"""The pass that asks."""
_answers: ContextVar[list[int] | None] = ContextVar("_answers", default=None)
_NOT_FOUND = 404
_PATIENCE = 5.0
"""Seconds that a deletion waits for its owner's; a view that fails meanwhile never hears of it."""


def observed(_verb: str, status: int, _seconds: float) -> None:
    """Hear of an answer: to the client a 404 of a DELETE is success, a case tells them apart."""
    heard = _answers.get()
    if heard is not None:
        heard.append(status)


class Holds:
    """Which kinds lag behind, by how many passes; `passes` counts them."""

    def __init__(self) -> None:
        """Hold nothing."""
        self.passes = 0
        self.waiting = 0
        self._lags: dict[tuple[str, str], int] = {}
        self._moved = asyncio.Event()

    def hold(self, kind: Kind, passes: int) -> None:
        """Let a kind lag."""
        self._lags[kind.group, kind.kind] = passes
        self._moved.set()

    def passed(self) -> None:
        """One more pass is over."""
        self.passes += 1
        self._moved.set()

    async def release(self, kind: Kind, born: int) -> None:
        """Wait until an event of a kind that came during pass `born` may be known."""
        self.waiting += 1
        try:
            while self.passes < born + self._lags.get((kind.group, kind.kind), 0):
                self._moved.clear()
                await self._moved.wait()
        finally:
            self.waiting -= 1


class Listened:
    """`runtime.client.Client` as feeds and passes use it.

    log: our requests. told: hears namespace and name of each Event that was published.
    minted: hears what the server has named for us.
    seen: what each view has been told of, to the last word the engine has taken in.
    left: the resourceVersion of each object as this client wrote it last.
    """

    def __init__(
        self,
        client: Client,
        faults: Faults,
        log: RequestLog,
        births: Births,
        holds: Holds,
        *,
        told: Callable[[tuple[str, str]], None],
        minted: Callable[[Ref], None],
    ) -> None:
        """Pass everything on."""
        self._client, self._faults, self.log = client, faults, log
        self._births, self._holds = births, holds
        self._told, self._minted = told, minted
        self.seen: dict[View, Names] = {}
        self.left: dict[Ref, str] = {}
        self._paging: dict[View, Names] = {}
        self._streams: dict[View, _Stream] = {}
        self._noted = asyncio.Event()

    def end_streams(self, kind: Kind) -> None:
        """End the watches of a kind, as the server does a while after it stops serving it."""
        for view, stream in self._streams.items():
            if view.kind == kind:
                stream.put_nowait((None, 0))

    # what feeds ask

    async def page(
        self, view: View, namespace: str = "", limit: int = 500, continue_token: str = ""
    ) -> Page:
        """One page of a view's own list."""
        if not continue_token:
            self.seen.pop(view, None)
            self._paging[view] = {}
            self._strike_list(view)
        page = await self._client.page(view, namespace, limit, continue_token)
        self._paging[view].update(_versions(page.objects))
        objects = tuple(self._births.shifted(seen) for seen in page.objects)
        return Page(objects, page.resource_version, page.continue_token, page.remaining)

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
        """One stream; an event counts as seen when the engine asks for the next."""
        if send_initial_events:
            self.seen.pop(view, None)
            self._paging[view] = {}
            self._strike_list(view)
        elif view in self._paging:
            self.seen[view] = self._paging.pop(view)
        stream = self._client.watch(
            view,
            resource_version,
            timeout_seconds=timeout_seconds,
            namespace=namespace,
            bookmarks=bookmarks,
            send_initial_events=send_initial_events,
            opened=opened,
        )
        async with aclosing(self._delayed(view, stream)) as events:
            async for event in events:
                yield event
                self._note(view, event)

    async def _delayed(
        self, view: View, stream: AsyncGenerator[WatchEvent, None]
    ) -> AsyncGenerator[WatchEvent, None]:
        """Give events in order, each when its kind's lag lets it be known."""
        queue: _Stream = asyncio.Queue()

        async def pump() -> None:
            end: BaseException | None = None
            try:
                async with aclosing(stream) as events:
                    async for event in events:
                        queue.put_nowait((event, self._holds.passes))
            except Exception as error:  # noqa: BLE001 - it belongs to whoever reads the stream
                end = error
            queue.put_nowait((end, self._holds.passes))

        pumping = asyncio.create_task(pump())
        self._streams[view] = queue
        try:
            while isinstance(event := (got := await queue.get())[0], WatchEvent):
                if event.object is not None and view not in self._paging:
                    await self._holds.release(view.kind, got[1])
                if event.object is not None:
                    if event.type == "DELETED":
                        await self._after_owners(event.object)
                    shifted = self._births.shifted(event.object)
                    event = WatchEvent(event.type, shifted, event.resource_version)
                yield event
            if event is not None:
                raise event
        finally:
            pumping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await pumping

    async def _after_owners(self, gone: Object) -> None:
        """Let what was collected be known after the owner that took it along.

        Two watches have no common order. A release that is still in its view gets a new anchor,
        which is collected as well: harmless, but not what the offline world tells.
        """
        for owner in gone.owners:
            for view in [view for view in self.seen if owner.is_a(view.kind)]:
                ref = view.kind.ref(gone.meta.namespace, owner.name)
                # A list, since an account need not have the right to `get` what it watches.
                there = await self._client.list_metadata(view.kind, ref.namespace, view.labels)
                if owner.uid not in {one.meta.uid for one in there}:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_PATIENCE):
                            await self._forgotten(view, ref)

    async def _forgotten(self, view: View, ref: Ref) -> None:
        while (ref.namespace, ref.name) in self.seen.get(view, {}):
            self._noted.clear()
            await self._noted.wait()

    def _note(self, view: View, event: WatchEvent) -> None:
        self._noted.set()
        if event.initial_end:
            self.seen[view] = self._paging.pop(view, {})
        if event.object is None:
            return
        names = self._paging.get(view, self.seen.get(view, {}))
        name = (event.object.meta.namespace, event.object.meta.name)
        if event.type == "DELETED":
            names.pop(name, None)
        else:
            names[name] = event.object.meta.resource_version

    def _strike_list(self, view: View) -> None:
        fault = self._faults.strike("list", view.kind.kind, "", "")
        if fault is not None:
            raise fault.error("list", view.kind.resource)

    async def served(self, group: str) -> dict[str, frozenset[str]]:
        """What a group serves."""
        fault = self._faults.strike("discover", "", "", "")
        if fault is not None:
            raise fault.error("discover", group)
        return await self._client.served(group)

    # what passes ask

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole."""
        with self._asking("get", ref):
            seen = await self._client.get(ref)
            return None if seen is None else self._births.shifted(seen)

    async def metadata(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """The metadata of one object."""
        with self._asking("get", ref):
            seen = await self._client.metadata(ref, deadline=deadline)
            return None if seen is None else self._births.shifted(seen)

    async def kinds(self, *, deadline: float | None = None) -> dict[tuple[str, str], Kind]:
        """What is served."""
        return await self._client.kinds(deadline=deadline)

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of a selection."""
        with self._asking("list", kind.ref(namespace, "")):
            found = await self._client.list_metadata(kind, namespace, labels)
            return tuple(self._births.shifted(seen) for seen in found)

    async def list_view(self, view: View, namespace: str = "") -> tuple[Object, ...]:
        """What a view selects; always fresh, whatever is held back."""
        with self._asking("list", view.kind.ref(namespace, "")):
            found = await self._client.list_view(view, namespace)
            return tuple(self._births.shifted(seen) for seen in found)

    async def create(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """POST."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta.get("name", ""))
        with self._asking("create", ref) as note:
            made = await self._client.create(kind, body, deadline=deadline)
            note(made.ref)
            if meta.get("generateName"):  # a name that we chose beside it looks minted, too
                self._minted(made.ref)
            return self._made(made)

    async def replace(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """PUT."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        with self._asking("update", ref, meta):
            sent = self._births.unshifted(dict(body))
            return self._made(await self._client.replace(kind, sent, deadline=deadline))

    async def replace_status(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """PUT to the status."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        with self._asking("update-status", ref, meta):
            sent = self._births.unshifted(dict(body))
            made = await self._client.replace_status(kind, sent, deadline=deadline)
            return self._made(made)

    async def apply(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        manager: str,
        *,
        deadline: float | None = None,
    ) -> Object:
        """Server-side apply."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        with self._asking("apply", ref, meta):
            return self._made(await self._client.apply(kind, body, manager, deadline=deadline))

    async def patch(
        self, ref: Ref, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """Merge patch."""
        with self._asking("patch", ref, body.get("metadata") or {}):
            return self._made(await self._client.patch(ref, body, deadline=deadline))

    async def delete(
        self, ref: Ref, uid: str, resource_version: str, *, deadline: float | None = None
    ) -> None:
        """DELETE."""
        with self._asking("delete", ref, {"uid": uid, "resourceVersion": resource_version}):
            await self._client.delete(ref, uid, resource_version, deadline=deadline)

    def _made(self, made: Object) -> Object:
        self.left[made.ref] = made.meta.resource_version
        return self._births.shifted(made)

    @contextlib.contextmanager
    def _asking(
        self, verb: str, ref: Ref, stated: Mapping[str, Any] | None = None
    ) -> Iterator[Callable[[Ref], None]]:
        """Log one request, past the faults."""
        asked = Request(
            verb,
            ref.kind,
            ref.namespace,
            ref.name,
            accepted=False,
            preconditions=tuple(
                name for name in ("uid", "resourceVersion") if (stated or {}).get(name)
            ),
            turn=turn_now.get(),
        )
        named = [ref]
        fault = self._faults.strike(verb, ref.kind.kind, ref.namespace, ref.name)
        about = str(ref) if ref.name else ref.kind.resource
        if fault is not None and not fault.lost:
            self.log.add(asked)
            raise fault.error(verb, about)
        heard: list[int] = []
        token = _answers.set(heard)
        accepted = False
        try:
            yield named.append
            accepted = verb != "delete" or heard[-1:] != [_NOT_FOUND]
        finally:
            _answers.reset(token)
            at = named[-1]
            self.log.add(replace(asked, namespace=at.namespace, name=at.name, accepted=accepted))
            if accepted and ref.kind == EVENT:
                self._told((at.namespace, at.name))
        if fault is not None:
            raise fault.error(verb, about)


def _versions(objects: tuple[Object, ...]) -> Names:
    return {(o.meta.namespace, o.meta.name): o.meta.resource_version for o in objects}
