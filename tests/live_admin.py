"""The other writer: a client of its own for the API server, as no part of ours.

It speaks through the standard library alone, with the credentials of a kubeconfig, so that what
our client gets wrong is not got wrong the same way on the other side of a comparison.
"""

import base64
import http.client
import json
import re
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

from roadstead.kube.refs import NAMESPACE, Kind, Ref

JSON = "application/json"
MERGE = "application/merge-patch+json"
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.01
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_NOT_FOUND, _CONFLICT = 404, 409
_TOO_EARLY = 429
"""So the server answers while it gets a kind's storage ready; nothing was carried out."""


class RefusedError(Exception):
    """The API server refused what a test needs. reply: its answer."""

    def __init__(self, doing: str, reply: "Reply") -> None:
        """Keep the answer."""
        super().__init__(f"{doing}: {reply.code} {reply.message}")
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. code: of HTTP. body: decoded JSON."""

    code: int
    body: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether it did not go through."""
        return self.code >= 400

    @property
    def message(self) -> str:
        """What the server says of a refusal."""
        return str(self.body.get("message", "")) if self.refused else ""

    @property
    def reason(self) -> str:
        """The Status reason of a refusal."""
        return str(self.body.get("reason", "")) if self.refused else ""


class Admin:
    """A client with all rights; one connection, kept open."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect at the first request."""
        self.kubeconfig = kubeconfig
        server, self._context, self._headers = _credentials(kubeconfig)
        parts = urlsplit(server)
        self.server, self._base = server, parts.path.rstrip("/")
        self._address = (parts.hostname or "", parts.port or 443)
        self._connection: http.client.HTTPSConnection | None = None
        self._lock = threading.Lock()

    @property
    def context(self) -> ssl.SSLContext:
        """How it proves itself to the server, and the server to it."""
        return self._context

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        content: str = JSON,
        accept: str = JSON,
        query: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request, whatever is answered; one that comes too early is sent again."""
        target = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {**self._headers, "Accept": accept, "Content-Type": content}
        sent = None if body is None else json.dumps(body).encode()
        with self._lock:
            answer, text = self._send(method, target, sent, headers)
            for _ in attempts():
                if answer.status != _TOO_EARLY:
                    break
                answer, text = self._send(method, target, sent, headers)
        warnings = tuple(
            found.replace('\\"', '"')
            for header in answer.headers.get_all("Warning") or ()
            for found in _WARNING.findall(header)
        )
        return Reply(answer.status, json.loads(text) if text[:1] == b"{" else {}, warnings)

    def _send(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        for again in (True, False):
            if self._connection is None:
                self._connection = http.client.HTTPSConnection(
                    *self._address, context=self._context, timeout=PATIENCE_SECONDS
                )
            try:
                self._connection.request(method, target, body, dict(headers))
                answer = self._connection.getresponse()
                return answer, answer.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                # An idle connection that the server has closed; nothing was carried out.
                self.close()
                if not again:
                    raise
        raise AssertionError

    def get(self, ref: Ref) -> dict[str, Any] | None:
        """One object without its managed fields; None when it, or its kind, is not there."""
        reply = self.call("GET", ref.kind.path(ref.namespace, ref.name))
        if reply.code == _NOT_FOUND:
            return None
        return _lean(self._done(f"get {ref}", reply))

    def objects(self, kind: Kind, namespace: str = "", **query: str) -> tuple[dict[str, Any], ...]:
        """All objects of a kind; none when it is not served."""
        reply = self.call("GET", kind.path(namespace), query=query or None)
        if reply.code == _NOT_FOUND:
            return ()
        first = {"apiVersion": kind.api_version, "kind": kind.kind}
        return tuple(_lean({**first, **item}) for item in self._items(kind, reply))

    def metadata(self, kind: Kind, labels: str = "", fields: str = "") -> list[dict[str, Any]]:
        """The metadata of a selection, all namespaces; none when the kind is not served."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        stated = {key: value for key, value in query.items() if value}
        reply = self.call("GET", kind.path(), accept=METADATA, query=stated or None)
        if reply.code == _NOT_FOUND:
            return []
        return [item["metadata"] for item in self._items(kind, reply)]

    def _items(self, kind: Kind, reply: Reply) -> list[dict[str, Any]]:
        return self._done(f"list {kind.resource}", reply).get("items") or []

    def create(self, kind: Kind, body: Mapping[str, Any]) -> Reply:
        """POST, in a namespace that is made when it is missing."""
        namespace = (body.get("metadata") or {}).get("namespace", "")
        if namespace and kind.namespaced:
            self.ensure_namespace(namespace)
        return self.call("POST", kind.path(namespace), body)

    def made(self, kind: Kind, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create what must be there; give it.

        Raises: RefusedError.
        """
        return self._done(f"create {kind.kind} {body['metadata']['name']}", self.create(kind, body))

    def patch(self, ref: Ref, merge: Mapping[str, Any], part: str = "") -> Reply:
        """Merge patch; part: `/status` for the subresource."""
        path = ref.kind.path(ref.namespace, ref.name) + part
        return self.call("PATCH", path, merge, content=MERGE)

    def patched(self, ref: Ref, merge: Mapping[str, Any], part: str = "") -> dict[str, Any]:
        """Patch what must be there; give it.

        Raises: RefusedError.
        """
        return self._done(f"patch {ref}", self.patch(ref, merge, part))

    def delete(self, ref: Ref, options: Mapping[str, Any] | None = None) -> Reply:
        """DELETE, background propagation."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            **(options or {}),
        }
        return self.call("DELETE", ref.kind.path(ref.namespace, ref.name), body)

    def ensure_namespace(self, name: str) -> None:
        """Make a namespace unless it is there."""
        ref = NAMESPACE.ref("", name)
        if self.call("GET", NAMESPACE.path("", name)).code == _NOT_FOUND:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            reply = self.call("POST", NAMESPACE.path(), body)
            if reply.code != _CONFLICT:
                self._done(f"create {ref}", reply)

    def version(self) -> str:
        """The server's version, as `v1.36.3`."""
        return str(self._done("version", self.call("GET", "/version"))["gitVersion"])

    def _done(self, doing: str, reply: Reply) -> dict[str, Any]:
        if reply.refused:
            raise RefusedError(doing, reply)
        return reply.body


def wait_for(
    what: str, answer: Callable[[], Any], patience: float = PATIENCE_SECONDS, pause: float = 0.02
) -> Any:
    """Ask until the answer is true, and give it.

    Raises: TimeoutError that says what never came.
    """
    end = time.monotonic() + patience
    while not (found := answer()):
        if time.monotonic() > end:
            raise TimeoutError(f"never came: {what}")
        threading.Event().wait(pause)
    return found


def attempts(patience: float = PATIENCE_SECONDS) -> Iterator[float]:
    """Turns of a wait, with a short pause between two; gives what is left, in seconds."""
    end = time.monotonic() + patience
    while (left := end - time.monotonic()) > 0:
        yield left
        threading.Event().wait(_PAUSE_SECONDS)


def _lean(body: dict[str, Any]) -> dict[str, Any]:
    body["metadata"].pop("managedFields", None)
    return body


def _credentials(kubeconfig: Path) -> tuple[str, ssl.SSLContext, dict[str, str]]:
    """Server, TLS and headers of a kubeconfig's current context."""
    stated = yaml.safe_load(kubeconfig.read_text())
    context = _named(stated["contexts"], stated["current-context"])["context"]
    cluster = _named(stated["clusters"], context["cluster"])["cluster"]
    user = _named(stated["users"], context["user"])["user"]
    tls = ssl.create_default_context(cadata=_pem(cluster, "certificate-authority").decode())
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if certificate := _pem(user, "client-certificate"):
        with tempfile.TemporaryDirectory() as folder:
            both = Path(folder, "client.pem")
            both.touch(mode=0o600)
            both.write_bytes(certificate + b"\n" + _pem(user, "client-key"))
            tls.load_cert_chain(both)
    token = {"Authorization": f"Bearer {user['token']}"} if user.get("token") else {}
    return cluster["server"].rstrip("/"), tls, token


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _pem(stated: Mapping[str, Any], field: str) -> bytes:
    if inline := stated.get(f"{field}-data"):
        return base64.b64decode(inline)
    return Path(stated[field]).read_bytes() if stated.get(field) else b""
