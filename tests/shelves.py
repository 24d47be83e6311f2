"""What the scripted server of `faults` keeps: the objects of its kinds, and who watches them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from aiohttp import web

from roadstead.kube.refs import Kind

Body = dict[str, Any]
END = "k8s.io/initial-events-end"


class Counter(Protocol):
    """The server, as far as a shelf knows it."""

    version: int

    def tick(self) -> int:
        """Give the next resourceVersion."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came. headers: names in lower case. resource: the plural, or empty."""

    verb: str
    resource: str
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Its body, decoded."""
        return msgspec.json.decode(self.body)


@dataclass(slots=True)
class Exchange:
    """One request while it is answered."""

    handler: "Callable[[Exchange], Awaitable[web.StreamResponse]]" = field(repr=False)
    shelf: "Shelf | None"
    request: web.Request
    seen: Seen
    namespace: str = ""
    name: str = ""
    whole: bool = False

    async def usual(self) -> web.StreamResponse:
        """Answer as a healthy server does."""
        return await self.handler(self)

    def shape(self, body: Body) -> Body:
        """Give an object as Accept asks for it."""
        if self.whole or "as=PartialObjectMetadata" not in self.seen.headers.get("accept", ""):
            return body
        kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        return {**kind, "metadata": body.get("metadata", {})}

    def cut(self) -> web.Response:
        """Break the connection."""
        if self.request.transport:
            self.request.transport.abort()
        return web.Response()


class Stream:
    """One watch while it is written."""

    def __init__(self, exchange: Exchange, response: web.StreamResponse) -> None:
        """Keep both ends."""
        self.exchange = exchange
        self.response = response

    async def line(self, kind: str, body: Body) -> None:
        """Write one event."""
        await self.response.write(msgspec.json.encode({"type": kind, "object": body}) + b"\n")


def status(
    code: int,
    reason: str = "",
    message: str = "",
    *,
    name: str = "",
    causes: tuple[str | tuple[str, str], ...] = (),
) -> Body:
    """Give a Status as the API server writes it.

    name: of the object it is about. causes: reasons, or pairs of a field and what is wrong with it.
    """
    details: Body = {"name": name} if name else {}
    if causes:
        details["causes"] = [
            {"reason": cause, "message": message}
            if isinstance(cause, str)
            else {"reason": "FieldValueInvalid", "field": cause[0], "message": cause[1]}
            for cause in causes
        ]
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**body, "code": code, "reason": reason, "message": message, "details": details}


@dataclass(slots=True, eq=False)
class Shelf:
    """The objects of one kind. watch_list: whether `sendInitialEvents` is understood."""

    server: Counter
    kind: Kind
    watch_list: bool = True
    objects: dict[tuple[str, str], Body] = field(default_factory=dict)
    log: list[tuple[int, str, Body]] = field(default_factory=list)
    compacted: int = 0
    _pages: dict[str, list[Body]] = field(default_factory=dict)
    _open: set[asyncio.Queue[tuple[str, Body] | None]] = field(default_factory=set)

    def at(self, namespace: str, name: str) -> Body:
        """One object as it is now."""
        return self.objects[namespace, name]

    def put(
        self,
        namespace: str,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        quietly: bool = False,
        meta: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> Body:
        """Create or replace an object. quietly: no open watch hears of it, the log does not."""
        found = {"name": name, "namespace": namespace, "labels": dict(labels or {}), **(meta or {})}
        if not self.kind.namespaced:
            del found["namespace"]
        return self.store({"metadata": found, **rest}, quietly=quietly)

    def store(self, body: Body, *, quietly: bool = False) -> Body:
        """Keep an object under the next version."""
        meta = dict(body["metadata"])
        key = (meta.get("namespace", ""), meta["name"])
        old = self.objects.get(key)
        version = self.server.tick()
        meta["uid"] = old["metadata"]["uid"] if old else f"uid-{version}"
        meta["resourceVersion"] = str(version)
        meta.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        made = {"apiVersion": self.kind.api_version, "kind": self.kind.kind, **body}
        self.objects[key] = made = {**made, "metadata": meta}
        self._tell("MODIFIED" if old else "ADDED", made, quietly)
        return made

    def remove(self, namespace: str, name: str, *, quietly: bool = False) -> Body:
        """Delete an object. quietly: no watch ever hears of it."""
        gone = self.objects.pop((namespace, name))
        gone["metadata"] = {**gone["metadata"], "resourceVersion": str(self.server.tick())}
        self._tell("DELETED", gone, quietly)
        return gone

    def compact(self) -> None:
        """Forget the log: a watch from an older version gets 410, a list token too."""
        self.compacted = self.server.version
        self.log.clear()
        self._pages.clear()

    def bookmark(self) -> None:
        """Send a bookmark to every live watch."""
        body: Body = {"metadata": {"resourceVersion": str(self.server.version)}}
        for queue in self._open:
            queue.put_nowait(("BOOKMARK", body))

    def end_streams(self, *, drop: bool = False) -> None:
        """End every live watch, cleanly or by breaking its connection."""
        for queue in tuple(self._open):
            queue.put_nowait(("DROP", {}) if drop else None)

    @property
    def watches(self) -> int:
        """How many live watches are open."""
        return len(self._open)

    def _tell(self, kind: str, body: Body, quietly: bool) -> None:
        if quietly:
            return
        self.log.append((self.server.version, kind, body))
        for queue in self._open:
            queue.put_nowait((kind, body))

    def select(self, exchange: Exchange) -> Iterator[Body]:
        """Give what a list or watch selects, sorted by name."""
        return (body for _, body in sorted(self.objects.items()) if self._wanted(exchange, body))

    def _wanted(self, exchange: Exchange, body: Body) -> bool:
        meta = body["metadata"]
        if exchange.namespace and meta.get("namespace") != exchange.namespace:
            return False
        labels = meta.get("labels") or {}
        for term in filter(None, exchange.seen.query.get("labelSelector", "").split(",")):
            key, equals, value = term.replace("==", "=").partition("=")
            if key not in labels or (equals and labels[key] != value):
                return False
        wanted = exchange.seen.query.get("fieldSelector", "")
        return not wanted.startswith("metadata.name=") or wanted == f"metadata.name={meta['name']}"

    def page(self, exchange: Exchange) -> web.Response:
        """Answer a list, in pages when a limit is set."""
        query = exchange.seen.query
        token, _, offset = query.get("continue", "").partition(":")
        if token and token not in self._pages:
            return web.json_response(status(410, "Expired"), status=410)
        version = token or str(self.server.version)
        found = self._pages[token] if token else list(self.select(exchange))
        start, limit = int(offset or 0), int(query.get("limit", 0)) or len(found) or 1
        meta: Body = {"resourceVersion": version}
        if start + limit < len(found):
            self._pages[version] = found
            meta["continue"] = f"{version}:{start + limit}"
            meta["remainingItemCount"] = len(found) - start - limit
        items = [exchange.shape(body) for body in found[start : start + limit]]
        head = {"apiVersion": self.kind.api_version, "kind": f"{self.kind.kind}List"}
        if exchange.shape({}):
            head = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList"}
        else:  # a list's items come without their kind, as the server's own kinds do
            items = [{k: v for k, v in i.items() if k not in {"apiVersion", "kind"}} for i in items]
        return web.json_response({**head, "metadata": meta, "items": items})

    async def follow(self, at: Stream) -> None:
        """Send what a watch asks for, until it is ended."""
        query, queue = at.exchange.seen.query, asyncio.Queue[tuple[str, Body] | None]()
        since = int(query.get("resourceVersion") or 0)
        if query.get("sendInitialEvents") == "true":
            for body in self.select(at.exchange):
                queue.put_nowait(("ADDED", body))
            meta = {"resourceVersion": str(self.server.version), "annotations": {END: "true"}}
            queue.put_nowait(("BOOKMARK", {"metadata": meta}))
        elif since < self.compacted:
            await at.line("ERROR", status(410, "Expired", "too old resource version"))
            return
        else:
            for version, kind, body in self.log:
                if version > since:
                    queue.put_nowait((kind, body))
        self._open.add(queue)
        try:
            while event := await queue.get():
                if event[0] == "DROP":
                    at.exchange.cut()
                    return
                if event[0] == "BOOKMARK" or self._wanted(at.exchange, event[1]):
                    await at.line(event[0], at.exchange.shape(event[1]))
        finally:
            self._open.discard(queue)


def change(at: Exchange, shelf: Shelf) -> web.Response:
    """Read or write one object."""
    if at.seen.verb == "create":
        return _create(at, shelf)
    live = shelf.objects.get((at.namespace, at.name))
    if at.seen.verb == "apply":
        return _apply(at, shelf, live)
    if live is None:
        return _status(404, "NotFound", at.name)
    return web.json_response(at.shape(live)) if at.seen.verb == "get" else _write(at, shelf, live)


def _write(at: Exchange, shelf: Shelf, live: Body) -> web.Response:
    """Change or delete what is there."""
    body = at.seen.json() if at.seen.body else {}
    if _stale(live, body.get("preconditions" if at.seen.verb == "delete" else "metadata", {})):
        return _status(409, "Conflict", at.name)
    if at.seen.verb == "delete":
        shelf.remove(at.namespace, at.name)
        return web.json_response({"kind": "Status", "status": "Success"})
    made = body
    if at.seen.verb == "patch":
        made = _merge(live, body)
    elif at.seen.verb == "update-status":
        made = {**live, "status": body.get("status", {})}
        if made == live:  # no new version
            return web.json_response(at.shape(live))
    return web.json_response(at.shape(shelf.store(made)))


def _stale(live: Body, stated: Mapping[str, Any]) -> bool:
    """Tell whether what a write was judged on is not what is there."""
    keys = ("uid", "resourceVersion")
    return any(stated.get(key) and stated[key] != live["metadata"][key] for key in keys)


def _apply(at: Exchange, shelf: Shelf, live: Body | None) -> web.Response:
    """Lay fields over what is there; nobody keeps track of whose they are."""
    body = at.seen.json()
    if not at.seen.query.get("fieldManager"):
        return _status(400, "BadRequest", at.name)
    stated = body.get("metadata", {})
    version, uid = stated.get("resourceVersion"), stated.get("uid")
    if version and live and version != live["metadata"]["resourceVersion"]:
        return _status(409, "Conflict", at.name)
    if uid and live is None:
        return _status(409, "Conflict", at.name)
    if uid and live and uid != live["metadata"]["uid"]:
        return _status(422, "Invalid", at.name)  # no precondition there, a field that is immutable
    made = _merge(live or {"metadata": {"namespace": at.namespace}}, body)
    if made != live:
        made = shelf.store(made)
    return web.json_response(at.shape(made), status=200 if live else 201)


def _create(at: Exchange, shelf: Shelf) -> web.Response:
    body = at.seen.json()
    meta = body["metadata"]
    if not meta.get("name"):
        meta["name"] = f"{meta['generateName']}{shelf.server.tick()}"
    if at.namespace:
        meta["namespace"] = at.namespace
    if (at.namespace, meta["name"]) in shelf.objects:
        return _status(409, "AlreadyExists", meta["name"])
    return web.json_response(at.shape(shelf.store(body)), status=201)


def _status(code: int, reason: str, name: str) -> web.Response:
    return web.json_response(status(code, reason, f"{name}: {reason}", name=name), status=code)


def _merge(live: Any, patch: Any) -> Any:
    """Apply a merge patch, RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(live) if isinstance(live, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged
