"""A relay before the API server that makes a crowd of the few objects there are.

What a program lists, or is told of first by a watch, comes from the server as it is, and then many
times over with other names, namespaces and uids; all else is passed on. So the memory of many
objects is measured without the hours that a server takes to store them.
"""

import itertools
import json
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import aiohttp
from aiohttp import web

from roadstead.capabilities.lineage.api import DEFINITION
from roadstead.kube.documents import dump
from roadstead.runtime.wire import INITIAL_EVENTS_END

PLACES = 1_000
_TOKEN = "crowd-"  # noqa: S105 - of a page
_NOT_PASSED = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "content-encoding"}
)
Json = dict[str, Any]


class Crowd:
    """The relay.

    kubeconfig: leads through it, with the rights of whoever the context belongs to.
    size: so many objects become of each view that has any. told: how many, by request path.
    """

    def __init__(self, server: str, context: ssl.SSLContext | bool, size: int) -> None:
        """Stand before a server."""
        self._server, self._context = server, context
        self.size, self.told = size, dict[str, int]()
        self._folder = tempfile.TemporaryDirectory()
        self.kubeconfig = Path(self._folder.name) / "kubeconfig"

    async def __aenter__(self) -> Self:
        """Listen."""
        timeout = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(ssl=self._context, limit=0)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout)
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", "/{rest:.*}", self._pass)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        here = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(dump([_kubeconfig(here)]))
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every connection and remove the file."""
        await self._runner.cleanup()
        await self._session.close()
        self._folder.cleanup()

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        whole = "fieldSelector" not in request.query
        if whole and request.method == "GET" and "limit" in request.query:
            return await self._page(request)
        stream = whole and "sendInitialEvents" in request.query
        async with self._asked(request, str(request.rel_url), await request.read()) as answer:
            response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
            with suppress(ConnectionError):  # whoever reads may have ended
                await response.prepare(request)
                if stream and answer.status == web.HTTPOk.status_code:
                    await self._told_first(request, answer, response)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
            return response

    async def _told_first(
        self, request: web.Request, answer: aiohttp.ClientResponse, response: web.StreamResponse
    ) -> None:
        """Pass on what a watch begins with, as a crowd; up to the mark that ends it."""
        found: list[Json] = []
        async for line in answer.content:
            event = json.loads(line)
            if event["type"] == "ADDED":
                found.append(event["object"])
                continue
            for copy in self._copies(request, found):
                await response.write(_line({"type": "ADDED", "object": copy}))
            await response.write(line)
            marks = event["object"].get("metadata", {}).get("annotations") or {}
            if event["type"] != "BOOKMARK" or INITIAL_EVENTS_END in marks:
                return
            found = []

    async def _page(self, request: web.Request) -> web.StreamResponse:
        """Answer one page of the crowd of a list."""
        query = {k: v for k, v in request.query.items() if k not in {"limit", "continue"}}
        url = request.rel_url.with_query(query)
        async with self._asked(request, str(url), b"") as answer:
            text = await answer.read()
            if answer.status != web.HTTPOk.status_code:
                headers = _kept(answer.headers)
                return web.Response(status=answer.status, headers=headers, body=text)
        listed = json.loads(text)
        start = int(request.query.get("continue", "").removeprefix(_TOKEN) or 0)
        end = start + int(request.query["limit"])
        copies = self._copies(request, listed.get("items") or [])
        listed["items"] = list(itertools.islice(copies, start, end))
        if end < self.size and listed["items"]:
            listed["metadata"]["continue"] = f"{_TOKEN}{end}"
        return web.json_response(listed)

    def _copies(self, request: web.Request, found: list[Json]) -> Iterator[Json]:
        """So many objects of those that are there; none where none are."""
        if not found:
            return
        self.told[f"{request.path}?{request.query.get('labelSelector', '')}"] = self.size
        for number in range(self.size):
            yield _copy(found[number % len(found)], number)

    def _asked(self, request: web.Request, path: str, body: bytes) -> Any:
        headers = _kept(request.headers) | {"Accept-Encoding": "identity"}
        return self._session.request(
            request.method, self._server + path, headers=headers, data=body, allow_redirects=False
        )


def _copy(one: Json, number: int) -> Json:
    """An object like another, elsewhere."""
    meta = dict(one["metadata"])
    meta["name"] = f"{meta['name']}-{number}"
    meta["uid"] = f"{meta['uid'][:-12]}{number:012}"
    if meta.get("namespace"):
        meta["namespace"] = f"{meta['namespace']}-{number % PLACES}"
    found = {**one, "metadata": meta}
    if one.get("kind") == DEFINITION.kind:
        # Of one kind there is one definition: many for the same would each wake all releases.
        spec = one["spec"]
        application = {**spec["application"], "kind": f"{spec['application']['kind']}{number}"}
        found["spec"] = {**spec, "application": application}
    return found


def _line(event: Json) -> bytes:
    return json.dumps(event).encode() + b"\n"


def _kept(headers: Any) -> dict[str, str]:
    return {k: v for k, v in headers.items() if k.lower() not in _NOT_PASSED}


def _kubeconfig(server: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": {"server": server}}],
        "users": [{"name": "bench", "user": {}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
    }
