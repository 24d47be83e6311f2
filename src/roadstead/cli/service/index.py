"""What the last render of a folder found out, kept so that the next one need not: its index.

It stands in the user's cache folder, one file for each output folder, and holds no content: only
digests, findings, names, and what tells a file that was changed. One that is damaged, of another
program or of another platform file is no index; without a cache folder there is none.
Source: docs/decisions/index-of-a-render.md.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import msgspec

from roadstead import __version__
from roadstead.cache import cache_folder
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.decide.output import Named
from roadstead.capabilities.services.snapshot import Previous
from roadstead.cli.service.tree import Mark
from roadstead.errors import TestbedError

TICK_NS = 20_000_000
"""A file may change twice within a tick of the clock that stamps it, and show one time for both."""
_OWN = ("capabilities/services", "cli/service", "kube", "schemas")
_FOREIGN = ("jsonschema_rs", "msgspec", "re2", "yaml")
_DIGEST = hashlib.sha256().digest_size
_MOST_FOLDERS = 32


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one service that was rendered.

    mark: of its definition. secrets: a digest of its encrypted Secrets.
    asked: what its rules and builders asked of the catalog and the earlier tree, and the answers.
    rules, outputs: what was found, before waivers, in the definition and in what was rendered.
    names: of the objects in its folder. files: every file of it, by path below the folder.
    before: what the tree now says of it to the next render.
    """

    mark: str
    secrets: str
    asked: tuple[tuple[tuple[str, ...], str], ...]
    rules: tuple[Finding, ...]
    outputs: tuple[Finding, ...]
    names: tuple[Named, ...]
    files: dict[str, Mark]
    before: Previous


class Index(msgspec.Struct, frozen=True, array_like=True):
    """One folder as a render left it.

    world: a digest of all that every service hangs on. until: when it was complete, in
    nanoseconds; a file that is about as young may have been changed unseen.
    """

    world: str = ""
    until: int = 0
    services: dict[str, Kept] = {}

    def settled(self, kept: Kept) -> bool:
        """Tell whether the files of a service are old enough for their marks to be trusted."""
        return all(mark[1] < self.until - TICK_NS for mark in kept.files.values())


EMPTY = Index()


def place_of(out: Path) -> Path | None:
    """The index's file of an output folder; None where there is no place for one."""
    try:
        folder = cache_folder() / "renders"
        folder.mkdir(mode=0o700, exist_ok=True)
    except (TestbedError, OSError):
        return None
    return folder / hashlib.sha256(os.fsencode(os.path.realpath(out))).hexdigest()[:32]


def load(place: Path | None, world: str) -> Index:
    """Read an index; an empty one where there is none for this world."""
    if place is None or not world:
        return EMPTY
    try:
        data = place.read_bytes()
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            return EMPTY
        found = msgspec.msgpack.decode(data[_DIGEST:], type=Index)
    except (OSError, msgspec.MsgspecError):
        return EMPTY
    return found if found.world == world else EMPTY


def save(place: Path | None, index: Index) -> None:
    """Put an index in the place of the one before; a cache that cannot be written stays as it is.

    Of very many folders only those that were rendered last have one.
    """
    if place is None or not index.world:
        return
    body = msgspec.msgpack.encode(index)
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=place.parent, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).digest() + body)
            Path(name).replace(place)
        except OSError:
            Path(name).unlink(missing_ok=True)
        others = sorted(place.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        for one in others[:-_MOST_FOLDERS]:
            one.unlink(missing_ok=True)


def program() -> str:
    """A digest of all code that a rendered byte or a finding may come from; empty for unknown.

    Source text rather than a version: who changes the renderer is never served what it was.
    """
    root = Path(__file__).parent.parent.parent
    seen = hashlib.sha256(f"{__version__} {sys.version}".encode())
    sources = sorted(
        path for folder in _OWN for path in (root / folder).rglob("*") if path.suffix in _CODE
    )
    for path in sources:
        content = path.read_bytes()
        seen.update(f"{path.relative_to(root)} {len(content)}\0".encode())
        seen.update(content)
    for name in _FOREIGN:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            return ""
        found = Path(spec.origin).stat()
        seen.update(f"{name} {spec.origin} {found.st_size} {found.st_mtime_ns}\0".encode())
    return seen.hexdigest() if sources else ""


_CODE = frozenset({".py", ".yaml"})


def digest(parts: Mapping[str, bytes]) -> str:
    """One digest of named contents."""
    seen = hashlib.sha256()
    for name, content in sorted(parts.items()):
        seen.update(f"{len(name)} {name} {len(content)}\0".encode("utf-8", "surrogateescape"))
        seen.update(content)
    return seen.hexdigest()
