"""The API server's verbs, as both controllers and commands use them.

All of `engine.api.Api` but `publish`, which `events` adds; the reads are in `reads`. A write is
sent once, with what it was judged on as its precondition. No exception shows a value of an object.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlencode

import msgspec

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.reads import Reads
from roadstead.runtime.refusals import quiet
from roadstead.runtime.transport import DEADLINE_SECONDS, Call, Gate, Limits, Observer, Transport
from roadstead.runtime.wire import (
    APPLY_PATCH,
    JSON,
    MERGE_PATCH,
    PARTIAL,
    decode_written,
    encode,
    path_of,
)


class Client(Reads):
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
        super().__init__(Transport(credentials, limits))

    async def __aenter__(self) -> Self:
        """Give itself; `close` follows."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """Close every connection; running requests end with an error."""
        await self._transport.close()

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

    async def replace_status(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """PUT to `/status`, with the resourceVersion in the body; gives the metadata after it.

        The server takes nothing but the status.
        """
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        path = f"{path_of(kind, ref.namespace, ref.name)}/status"
        call = Call("update-status", "PUT", path, ref, encode(body), gated=gated, deadline=deadline)
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

    async def apply(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        manager: str,
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """Server-side apply, forced; gives the metadata of what is now there.

        body: the fields we own and no other. State both the uid and the resourceVersion seen:
            without the uid, one that is gone meanwhile is made anew; without the resourceVersion,
            a successor's other uid is refused as `Invalid`, not as a conflict.
        manager: in whose name the fields are owned.
        """
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        query = urlencode({"fieldManager": manager, "force": "true"})
        path = f"{path_of(kind, ref.namespace, ref.name)}?{query}"
        call = Call("apply", "PATCH", path, ref, encode(body), gated=gated, deadline=deadline)
        # JSON is YAML
        return await self._write(msgspec.structs.replace(call, content=APPLY_PATCH), ref)

    async def _write(self, call: Call, ref: Ref) -> Object:
        """Send a write; metadata is all that is wanted back."""
        wanted = msgspec.structs.replace(call, accept=PARTIAL, hush=quiet(ref.kind))
        return decode_written(ref.kind, await self._transport.send(wanted), str(ref))

    async def delete(
        self, ref: Ref, uid: str, resource_version: str, *, deadline: float | None = None
    ) -> None:
        """DELETE with preconditions, background propagation; an absent object is success.

        resource_version: empty where the uid alone is the precondition.
        Raises: ClusterError, also when the kind is not served: its objects may well be there.
        """
        stated = {"uid": uid}
        if resource_version:
            stated["resourceVersion"] = resource_version
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": stated,
        }
        path = path_of(ref.kind, ref.namespace, ref.name)
        call = Call(
            "delete", "DELETE", path, ref, encode(body), hush=quiet(ref.kind), deadline=deadline
        )
        try:
            await self._transport.send(call)
        except ClusterError as error:
            if error.status != HTTPStatus.NOT_FOUND or error.reason != "NotFound":
                raise

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
