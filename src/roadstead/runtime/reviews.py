"""AdmissionReviews as they come and go: only what is judged is decoded, nothing is kept.

The body of a Secret holds key material. Its values are decoded where the anchor guard looks at
them and nowhere else; what is wrong with a body is said without a byte of it.
Source: lineage 4, H1 and H6.
"""

from base64 import b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.engine.review import Answered
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import SECRET, Kind
from roadstead.wiring import Review

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
OPERATIONS = frozenset({"CREATE", "UPDATE"})
_REASONS = {
    HTTPStatus.BAD_REQUEST: "BadRequest",
    HTTPStatus.INTERNAL_SERVER_ERROR: "InternalError",
}
_NULL = msgspec.Raw(b"null")


class MalformedError(Exception):
    """A body cannot be answered as it should be. uid: of the request; empty where none is known."""

    def __init__(self, said: str, uid: str = "") -> None:
        """Say what is wrong, in words of our own."""
        super().__init__(said)
        self.uid = uid


class Asked(msgspec.Struct, frozen=True):
    """One request. kind, operation: as the API server spells them, for figures."""

    uid: str
    kind: Kind
    operation: str
    review: Review

    def __repr__(self) -> str:
        """Name it; the object stays out of sight."""
        return f"<{self.operation} {self.review.subject.ref}>"


class _Gvk(msgspec.Struct):
    kind: str
    version: str
    group: str = ""


class _Gvr(msgspec.Struct):
    resource: str = ""


class _Request(msgspec.Struct):
    uid: str
    kind: _Gvk
    operation: str
    resource: _Gvr = msgspec.field(default_factory=_Gvr)
    namespace: str = ""
    object: msgspec.Raw = _NULL


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: _Request


class _Uid(msgspec.Struct):
    uid: str = ""


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: _Uid | None = None


class _Bare(msgspec.Struct):
    metadata: Meta


class _Secret(msgspec.Struct, rename="camel"):
    type: str | None = None
    data: dict[str, str] | None = None
    string_data: dict[str, str] | None = None


class _Scheduled(msgspec.Struct, rename="camel"):
    scheduler_name: str | None = None


class _Pod(msgspec.Struct):
    spec: _Scheduled | None = None


_REVIEW = msgspec.json.Decoder(_Review)
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_BARE = msgspec.json.Decoder(_Bare)
_SECRET = msgspec.json.Decoder(_Secret)
_POD = msgspec.json.Decoder(_Pod)
_FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def decode(body: bytes) -> Asked:
    """Read one AdmissionReview.

    Raises: MalformedError; nothing of the body is in it, nor in its context.
    """
    asked, fault = _decoded(body)
    if asked is None:
        raise fault  # out here no parser's exception is its context
    return asked


def _decoded(body: bytes) -> tuple[Asked | None, MalformedError]:
    try:
        found = _REVIEW.decode(body)
    except _FAULTS:
        return None, _what_is_wrong(body)
    if (found.api_version, found.kind) != (API_VERSION, KIND):
        return None, _what_is_wrong(body)
    asked = found.request
    if asked.operation not in OPERATIONS:
        return None, MalformedError("neither a CREATE nor an UPDATE is asked about", asked.uid)
    stated = asked.kind
    kind = Kind(stated.kind, stated.group, stated.version, asked.resource.resource)
    try:
        subject = _subject(kind, bytes(asked.object), asked.namespace)
    except _FAULTS:
        return None, MalformedError("the object under review cannot be read", asked.uid)
    review = Review(subject, creating=asked.operation == "CREATE")
    return Asked(asked.uid, kind, asked.operation, review), MalformedError("")


def _what_is_wrong(body: bytes) -> MalformedError:
    """Say why a body is no review that can be answered."""
    try:
        envelope = _ENVELOPE.decode(body)
    except _FAULTS:
        return MalformedError("the body is no AdmissionReview")
    uid = envelope.request.uid if envelope.request is not None else ""
    if (envelope.api_version, envelope.kind) != (API_VERSION, KIND):
        return MalformedError(f"the body is no {KIND} of {API_VERSION}", uid)
    return MalformedError("the request of the review is incomplete", uid)


def _subject(kind: Kind, text: bytes, namespace: str) -> Object:
    """The object under review, with no more of its body than is judged."""
    meta = _BARE.decode(text).metadata
    if not meta.namespace and namespace:
        meta = msgspec.structs.replace(meta, namespace=namespace)
    body: dict[str, Any] = {}
    if kind[:2] == SECRET[:2] and (meta.labels or {}).get(TENANT_CA) == "true":
        secret = _SECRET.decode(text)
        body = {"type": secret.type, "data": secret.data, "stringData": secret.string_data}
    elif (kind.group, kind.kind) == ("", "Pod"):
        spec = _POD.decode(text).spec
        body = {"spec": {"schedulerName": spec.scheduler_name if spec else None}}
    return Object(kind, meta, body)


def encode(uid: str, answered: Answered) -> bytes:
    """Write the answer to one request."""
    response: dict[str, Any] = {"uid": uid, "allowed": answered.admitted is not None}
    admitted = answered.admitted
    if admitted is None:
        response["status"] = _status(answered)
    else:
        if admitted.patch:
            patch = msgspec.json.encode([dict(one) for one in admitted.patch])
            response |= {"patchType": "JSONPatch", "patch": b64encode(patch).decode()}
        if admitted.warnings:
            response["warnings"] = list(admitted.warnings)
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def _status(answered: Answered) -> Mapping[str, Any]:
    reason = _REASONS.get(HTTPStatus(answered.code), "InternalError")
    return {"code": int(answered.code), "reason": reason, "message": answered.message}
