"""The webhook as it ships, before a real API server.

Two things stand in for what a cluster has: the Service is an ExternalName of a loopback address,
where a relay leads to our process, and the bundle is that of the tests' authority. An
ExternalName keeps the port of the registration, 443; where that may not be bound without root,
the registration names the relay's port as well.
"""

import asyncio
import base64
import contextlib
import json
import secrets
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from lineage_objects import (
    Json,
    body,
    definition,
    named,
    namespace,
    pod,
    release,
    triple,
    with_uids,
)
from live_admin import Reply, wait_for
from live_cluster import Cluster
from live_process import LoopThread
from live_run import Run, grant, running
from roadstead.capabilities.lineage import api
from roadstead.deploy.admission import REGISTRATION, registration, service
from roadstead.deploy.rbac import HOME, LINEAGE
from roadstead.kube.refs import CRD, NAMESPACE, SERVICE, Kind, Ref
from roadstead.sim.kinds import Kinds
from webhook_certificates import authority, pair, put

HOST = f"{api.SERVICE_NAME}.{HOME}.svc"
KINDS = Kinds((*api.REVIEWED, api.DEFINITION, api.SCHEDULING_CLASS))
HTTPS = 443
_PIECE = 1 << 16


class Relay:
    """A loopback address of its own whose port leads to other ports, as a Service does.

    address: as the ExternalName states it. asked: its port, 443 where this user may bind that.
    ports: of our processes; each new connection is led to the next one, and one that is open stays
    where it is. closed: nobody is let through.
    """

    def __init__(self, port: int) -> None:
        """Listen nowhere yet. port: of our process."""
        self.address = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(250) + 1}.53"
        self.ports = [port]
        self._turn = 0
        self.asked = HTTPS
        self.closed = False
        self._thread = LoopThread()
        self._open: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._server = self._thread.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """End every connection."""
        self._thread.run(self._stop())
        self._thread.close()

    async def _start(self) -> asyncio.Server:
        try:
            return await asyncio.start_server(self._lead, self.address, HTTPS)
        except PermissionError:
            server = await asyncio.start_server(self._lead, self.address, 0)
            self.asked = server.sockets[0].getsockname()[1]
            return server

    async def _stop(self) -> None:
        self._server.close()

    def cut(self) -> None:
        """End every connection that is open."""
        self._thread.ask(self._cut)

    def _cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if self.closed:
                return
            self._turn += 1
            port = self.ports[self._turn % len(self.ports)]
            there, back = await asyncio.open_connection("127.0.0.1", port)
            try:
                await asyncio.gather(_copy(reader, back), _copy(there, writer))
            finally:
                back.close()
        except OSError:
            pass  # who asks sees the connection end
        finally:
            self._open.discard(writer)
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof() if writer.can_write_eof() else writer.close()


@dataclass
class Place:
    """A cluster whose writes the webhook reviews.

    run: our process. folder: of its certificate. uid: of what was made, by `Kind/name`.
    """

    server: Cluster
    run: Run
    relay: Relay
    folder: Path
    uid: dict[str, str] = field(default_factory=dict)
    made: list[Ref] = field(default_factory=list)
    marks: int = 0

    def make(self, one: Json, **query: str) -> Reply:
        """Create an object as another writer does; query: `dryRun` for one."""
        full = with_uids(one, self.uid)
        kind = kind_of(full)
        reply = self.server.admin.call(
            "POST", kind.path(full["metadata"].get("namespace", "")), full, query=query or None
        )
        if not reply.refused and not query:
            meta = reply.body["metadata"]
            self.uid[named(one)] = meta["uid"]
            self.made.append(kind.ref(meta.get("namespace", ""), meta["name"]))
        return reply

    def stand(self, *there: Json) -> None:
        """Have objects stand there; a namespace that is there is labelled."""
        for one in there:
            if one["kind"] == "Namespace":
                name = one["metadata"]["name"]
                self.server.admin.ensure_namespace(name)
                labels = {api.SCHEDULING: None, api.SYSTEM: None, **one["metadata"]["labels"]}
                ref = NAMESPACE.ref("", name)
                self.server.admin.patched(ref, {"metadata": {"labels": labels}})
            else:
                reply = self.make(one)
                assert not reply.refused, reply.message

    def seen(self) -> None:
        """Wait until the process has seen all that stands: what comes last is seen last."""
        self.marks += 1
        kind, where = f"Mark{self.marks}", "tenant-mark"
        labels = {api.HELM_NAME: f"m-{self.marks}"}
        kept = len(self.made)
        classes = {"apiVersion": api.SCHEDULING_CLASS.api_version, "kind": "SchedulingClass"}
        self.stand(
            definition(kind, "m-"),
            release(f"m-{self.marks}", triple(kind, str(self.marks)), namespace=where),
            {**classes, "metadata": {"name": kind.lower()}},
        )
        self.server.admin.patched(
            NAMESPACE.ref("", where), {"metadata": {"labels": {api.SCHEDULING: kind.lower()}}}
        )
        probe = pod("probe", labels=labels, namespace=where)

        def found() -> bool:
            got = self.make(probe, dryRun="All").body.get("metadata", {}).get("labels", {})
            return (kind, kind.lower()) == (got.get(api.KIND_LABEL), got.get(api.SCHEDULING))

        wait_for(f"{kind} seen by the webhook: {self.run.text()[-1500:]}", found)
        self._remove(kept)

    def clear(self) -> None:
        """Remove all that was made here."""
        self._remove(0)
        self.server.admin.patched(
            NAMESPACE.ref("", "tenant-demo"), {"metadata": {"labels": {api.SCHEDULING: None}}}
        )

    def _remove(self, kept: int) -> None:
        for ref in reversed(self.made[kept:]):
            self.server.admin.delete(ref, {"gracePeriodSeconds": 0})
            if ref.kind[:2] == api.CLAIM[:2]:
                self.server.admin.patch(ref, {"metadata": {"finalizers": None}})
            wait_for(f"{ref} gone", lambda: self.server.admin.get(ref) is None)  # noqa: B023 - asked at once
        del self.made[kept:]


def kind_of(one: Json) -> Kind:
    """The kind of an object as it is written out."""
    where = one["metadata"].get("namespace", "")
    found = KINDS.of(one["apiVersion"], one["kind"], where)
    group, _, version = one["apiVersion"].rpartition("/")
    return found._replace(group=group, version=version)


def definitions() -> Iterator[Json]:
    """Kinds of the platform that the webhook meets, as open as they can be."""
    for kind in (api.SCHEDULING_CLASS, api.MONITOR):
        names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()}
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {
            "name": kind.version,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
        }
        spec = {
            "group": kind.group,
            "names": {**names, "listKind": f"{kind.kind}List"},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        }
        yield body(CRD, kind.resource, spec=spec)


def registered(relay: Relay) -> tuple[Json, Json]:
    """The Service and the registration, as tests have them."""
    stands_in = service()
    stands_in["spec"] = {"type": "ExternalName", "externalName": relay.address}
    registers = registration()
    client = registers["webhooks"][0]["clientConfig"]
    client["caBundle"] = base64.b64encode(authority().pem).decode()
    if relay.asked != HTTPS:
        client["service"]["port"] = relay.asked
    return stands_in, registers


def register(server: Cluster, relay: Relay) -> None:
    """Have the API server ask."""
    stands_in, registers = registered(relay)
    server.admin.made(SERVICE, stands_in)
    server.admin.made(REGISTRATION, registers)


def serve_kinds(server: Cluster) -> None:
    """Serve the platform's kinds."""
    for one in definitions():
        server.admin.made(CRD, one)
    for kind in (api.SCHEDULING_CLASS, api.MONITOR):
        path = kind.path()
        wait_for(f"{path} served", lambda: server.admin.call("GET", path).code == 200)  # noqa: B023 - asked at once


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def flags(port: int, folder: Path) -> tuple[str, ...]:
    """What the process is started with."""
    return (
        "--only=lineage",
        f"--webhook-port={port}",
        f"--webhook-cert-dir={folder}",
        f"--leader-election-namespace={HOME}",
    )


@contextmanager
def reviewed(server: Cluster, kubeconfig: Path | None = None) -> Iterator[Place]:
    """A cluster in which every write is reviewed, by a process with exactly the shipped rights."""
    serve_kinds(server)
    granted = kubeconfig or grant(server, LINEAGE.name, LINEAGE)
    with TemporaryDirectory(prefix="roadstead-tls-") as folder:
        tls, port = Path(folder, "tls"), free_port()
        put(tls, pair(HOST))
        with Relay(port) as relay, running(granted, *flags(port, tls)) as run:
            run.wait_ready()
            register(server, relay)
            place = Place(server, run, relay, tls)
            place.stand(namespace(), namespace("tenant-mark"))
            place.seen()
            yield place


def whole(reply: Reply) -> dict[str, Any]:
    """The object of an answer that went through."""
    assert not reply.refused, reply.message
    return reply.body


def asked(address: str, text: bytes) -> tuple[int, dict[str, Any]]:
    """What a process itself answers to any body."""
    tls = ssl.create_default_context(cadata=authority().pem.decode())
    tls.check_hostname = False
    url = f"https://{address}{api.PATH}"
    request = urllib.request.Request(url, data=text, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, context=tls, timeout=15) as answer:  # noqa: S310 - ours
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read())
