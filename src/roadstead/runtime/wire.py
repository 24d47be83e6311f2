"""What goes over the wire: pages, watch lines and written objects, decoded from bytes.

A metadata view's bytes are checked before anything of them is kept: a server may ignore Accept
and send whole Secrets. Their `data` is skipped over, never made into a value.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from roadstead.errors import ClusterError
from roadstead.kube.objects import Meta, Object, without_bulk
from roadstead.kube.refs import Kind
from roadstead.kube.views import Form, View
from roadstead.runtime.refusals import UNREADABLE, Status, cut, quiet, refused

JSON = "application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

LONGEST_LINE_BYTES = 64 << 20
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_PLAIN = re.compile(r"[A-Za-z0-9._:-]+").fullmatch


class Page(msgspec.Struct, frozen=True, gc=False):
    """One page of a list.

    continue_token: empty on the last page. remaining: objects after this page, as far as told.
    """

    objects: tuple[Object, ...]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class WatchEvent(msgspec.Struct, frozen=True, gc=False):
    """One line of a watch.

    type: ADDED, MODIFIED, DELETED or BOOKMARK. object: None for a bookmark.
    initial_end: whether this bookmark ends the initial events of a WatchList.
    """

    type: str
    object: Object | None
    resource_version: str
    initial_end: bool = False


class _ListMeta(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Partial(msgspec.Struct, gc=False, rename="camel"):
    metadata: Meta = msgspec.field(default_factory=Meta)
    kind: str = ""
    api_version: str = ""


class _PartialPage(msgspec.Struct, gc=False, rename="camel", kw_only=True):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    kind: str = ""
    api_version: str = ""
    items: list[_Partial] | None


class _PartialLine(msgspec.Struct, gc=False):
    type: str
    object: _Partial


class _FullPage(msgspec.Struct, gc=False):
    """Without defaults: what lacks one of these is no list, and must not pass for an empty one."""

    kind: str
    metadata: _ListMeta
    items: list[dict[str, Any]] | None


class _FullLine(msgspec.Struct, gc=False):
    type: str
    object: dict[str, Any]


class _ErrorLine(msgspec.Struct, gc=False):
    type: str
    object: Status


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_Version]
    preferred_version: _Version | None = None


class Groups(msgspec.Struct):
    """What `/apis` says: the groups that are served."""

    groups: list[_Group]


class _Resource(msgspec.Struct):
    name: str


class Resources(msgspec.Struct):
    """What one version of a group serves."""

    resources: list[_Resource]


class Release(msgspec.Struct, rename="camel"):
    """What `/version` says."""

    git_version: str


class _Served(msgspec.Struct):
    kind: str = ""


class _ServedResource(msgspec.Struct, rename="camel"):
    resource: str
    scope: str
    response_kind: _Served | None = None


class _ServedVersion(msgspec.Struct):
    version: str
    resources: list[_ServedResource] = []


class _ServedMeta(msgspec.Struct):
    name: str = ""


class _ServedGroup(msgspec.Struct):
    metadata: _ServedMeta
    versions: list[_ServedVersion] = []


class _ServedGroups(msgspec.Struct):
    items: list[_ServedGroup]


_ERROR_LINE = msgspec.json.Decoder(_ErrorLine)
_PARTIAL_ONE = msgspec.json.Decoder(_Partial)
_PARTIAL_PAGE = msgspec.json.Decoder(_PartialPage)
_PARTIAL_LINE = msgspec.json.Decoder(_PartialLine)
_SERVED = msgspec.json.Decoder(_ServedGroups)
_FULL_ONE = msgspec.json.Decoder(dict[str, Any])
_FULL_PAGE = msgspec.json.Decoder(_FullPage)
_FULL_LINE = msgspec.json.Decoder(_FullLine)


def _plain(value: object) -> object:
    """Encode the read-only mappings that decisions are made of."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError


encode = msgspec.json.Encoder(enc_hook=_plain).encode


def decode_object(kind: Kind, content: bytes, about: str) -> Object:
    """Read one whole object; its managed fields are left out.

    Raises: ClusterError when it is cut or malformed.
    """
    try:
        return _whole(kind, _FULL_ONE.decode(content))
    except UNREADABLE:
        raise cut(about) from None


def decode_written(kind: Kind, content: bytes, about: str) -> Object:
    """Read the metadata of what was written, whether or not the server sent more."""
    try:
        return Object(kind, without_bulk(_PARTIAL_ONE.decode(content).metadata))
    except UNREADABLE:
        raise cut(about) from None


def decode_page(view: View, content: bytes, about: str) -> Page:
    """Read one page of a list.

    Raises: ClusterError when it is cut, malformed, no list, or whole where metadata was asked for.
    """
    found: tuple[Object, ...]
    try:
        if view.form is Form.METADATA:
            page = _PARTIAL_PAGE.decode(content)
            _refuse_full(page, "PartialObjectMetadataList", about)
            meta = page.metadata
            found = tuple(_lean(view.kind, item.metadata) for item in page.items or ())
        else:
            whole = _FULL_PAGE.decode(content)
            meta = whole.metadata
            if not whole.kind.endswith("List"):
                raise cut(about)
            found = tuple(_whole(view.kind, item) for item in whole.items or ())
    except UNREADABLE:
        raise cut(about) from None
    if not meta.resource_version:
        raise cut(about)
    return Page(found, meta.resource_version, meta.continue_, meta.remaining_item_count)


def decode_line(view: View, line: bytes, about: str) -> WatchEvent:
    """Read one line of a watch.

    Raises: ClusterError when it is cut, malformed, whole where metadata was asked for, or when
        it is the server's error.
    """
    try:
        if view.form is Form.METADATA:
            partial = _PARTIAL_LINE.decode(line)
            if partial.type not in {"BOOKMARK", "ERROR"}:
                _refuse_full(partial.object, "PartialObjectMetadata", about)
                seen = _lean(view.kind, partial.object.metadata)
                return WatchEvent(partial.type, seen, seen.meta.resource_version)
            kind, meta = partial.type, partial.object.metadata
        else:
            full = _FULL_LINE.decode(line)
            if full.type not in {"BOOKMARK", "ERROR"}:
                seen = _whole(view.kind, full.object)
                return WatchEvent(full.type, seen, seen.meta.resource_version)
            kind, meta = full.type, Object.of(view.kind, full.object).meta
        if kind == "BOOKMARK":
            ends = (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true"
            return WatchEvent(kind, None, meta.resource_version, ends)
        status = _ERROR_LINE.decode(line).object
    except UNREADABLE:
        raise cut(about) from None
    raise refused(status, status.code or 500, about, f"watch {about}", hush=quiet(view.kind))


def decode_kinds(content: bytes, about: str) -> dict[tuple[str, str], Kind]:
    """Read aggregated discovery: the kinds by `apiVersion` and name; of two the first counts.

    Raises: ClusterError when it is cut, malformed, or in the form before Kubernetes 1.30.
    """
    try:
        groups = _SERVED.decode(content).items
    except UNREADABLE:
        raise cut(about) from None
    found: dict[tuple[str, str], Kind] = {}
    for group in groups:
        for version in group.versions:
            for one in version.resources:
                if one.response_kind is None or not one.response_kind.kind:
                    continue
                name, scoped = group.metadata.name, one.scope == "Namespaced"
                kind = Kind(one.response_kind.kind, name, version.version, one.resource, scoped)
                found.setdefault((kind.api_version, kind.kind), kind)
    return found


def selection_of(view: View) -> dict[str, str]:
    """Give the selectors of a view as a query."""
    query = {"labelSelector": view.labels, "fieldSelector": view.fields}
    return {key: value for key, value in query.items() if value}


def collection_of(kind: Kind, namespace: str = "") -> str:
    """Name a collection in messages."""
    return f"{kind.resource} in {namespace}" if namespace else kind.resource


def path_of(kind: Kind, namespace: str, name: str = "") -> str:
    """Give a path that a name cannot lead out of; of the collection when no name is given.

    Raises: ClusterError for a name that no object can have.
    """
    for part in (namespace, name):
        if part and (part in {".", ".."} or not _PLAIN(part)):
            raise ClusterError(
                f"`{part}` cannot name a {kind.kind}", status=400, reason="Invalid", about=part
            )
    return kind.path(namespace, name)


class Lines:
    """Cuts a stream into lines, whatever its pieces."""

    def __init__(self, about: str) -> None:
        """Hold nothing yet."""
        self._about = about
        self._open: list[bytes] = []
        self._open_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Take a piece; give the lines it completes.

        Raises: ClusterError when a line grows past every size an object may have.
        """
        head, newline, rest = piece.rpartition(b"\n")
        if not newline:
            self._open.append(piece)
            self._open_bytes += len(piece)
            if self._open_bytes > LONGEST_LINE_BYTES:
                raise cut(self._about)
            return []
        lines = b"".join((*self._open, head)).split(b"\n")
        self._open = [rest] if rest else []
        self._open_bytes = len(rest)
        return [line for line in lines if line]

    def end(self) -> None:
        """Take the end of the stream.

        Raises: ClusterError when it comes in the middle of a line.
        """
        if self._open:
            raise cut(self._about)


def _refuse_full(partial: _Partial | _PartialPage, kind: str, about: str) -> None:
    """Refuse whole objects before anything of them is kept."""
    if partial.kind != kind or not partial.api_version.startswith("meta.k8s.io/"):
        raise ClusterError(
            f"the server sent whole objects where only metadata of {about} was asked for",
            reason="FullAnswer",
            about=about,
            hint="a proxy may have dropped the Accept header",
        )


def _lean(kind: Kind, meta: Meta) -> Object:
    if not meta.name:
        raise ValueError("an object without a name")
    return Object(kind, meta if meta.annotations is None else without_bulk(meta))


def _whole(kind: Kind, body: dict[str, Any]) -> Object:
    """Wrap a whole object; items of a list come without their kind, a PUT needs it."""
    body.setdefault("apiVersion", kind.api_version)
    body.setdefault("kind", kind.kind)
    meta = body.get("metadata")
    if not isinstance(meta, dict) or not meta.get("name"):
        raise ValueError("an object without a name")
    # a PUT without them keeps the server's
    meta.pop("managedFields", None)
    return Object.of(kind, body)
