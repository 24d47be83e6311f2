"""How an output tree on disk differs from what is rendered.

Compared are parsed content and automation's marks, so that a file which only looks different, as
image automation leaves it, is no difference. Source: contract 5.3.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roadstead.cli.service.tree import MANIFEST, manifest, owned
from roadstead.errors import InputError
from roadstead.kube.documents import parse

MISSING = "missing"
EXTRA = "extra"
DIFFERENT = "different"
BYTES = "bytes"

_WORDS = {
    MISSING: "is rendered, but not there",
    EXTRA: "is there, but no longer rendered",
    DIFFERENT: "differs from what is rendered",
    BYTES: "has the same content in other bytes",
}
_MARK = re.compile(r'^\s*(?:-\s+)?([^\s#][^#]*?):\s.*#\s*(\{"\$imagepolicy":[^}]*\})\s*$')


@dataclass(frozen=True, slots=True)
class Difference:
    """One file, or one object of it.

    path: as it can be opened. how: one of the words above. about: `Kind/namespace/name`, or empty.
    """

    path: str
    how: str
    about: str = ""

    @property
    def words(self) -> str:
        """What it means."""
        return _WORDS[self.how]


def differences(files: Mapping[str, bytes], out: Path) -> tuple[Difference, ...]:
    """Everything in which a folder differs from what it should hold, by path.

    files: what it should hold, without the manifest.
    Raises: InputError when the folder cannot be read.
    """
    whole = {**files, MANIFEST: manifest(files)}
    found = [one for path in sorted(whole) for one in _of_file(out / path, whole[path])]
    gone = sorted(owned(out) - set(whole))
    found += [Difference(str(out / path), EXTRA) for path in gone if (out / path).exists()]
    return tuple(sorted(found, key=lambda one: (one.path, one.about)))


def _of_file(path: Path, wanted: bytes) -> Iterator[Difference]:
    try:
        held = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        yield Difference(str(path), MISSING)
        return
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from None
    if held == wanted:
        return
    if path.suffix not in {".yaml", ".yml"} or path.name.endswith(".sops.yaml"):
        yield Difference(str(path), DIFFERENT)
        return
    found = list(_of_documents(path, held, wanted))
    yield from found or [Difference(str(path), BYTES)]


def _of_documents(path: Path, held: bytes, wanted: bytes) -> Iterator[Difference]:
    there, here = parse(held, str(path)), parse(wanted, str(path))
    if there.problems:
        yield Difference(str(path), DIFFERENT)
        return
    old = {_name(one.value): one.value for one in there.documents}
    new = {_name(one.value): one.value for one in here.documents}
    for name in sorted({*old, *new}):
        if name not in old:
            yield Difference(str(path), MISSING, name)
        elif name not in new:
            yield Difference(str(path), EXTRA, name)
        elif old[name] != new[name]:
            yield Difference(str(path), DIFFERENT, name)
    same = len(old) == len(there.documents) and old == new
    if same and _marks(held) != _marks(wanted):
        yield Difference(str(path), DIFFERENT, "the mark of image automation")


def _name(value: Any) -> str:
    """What an object is called; a document that is none has one name of its own."""
    if not isinstance(value, dict):
        return "-"
    meta = value.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    parts = (value.get("kind"), meta.get("namespace"), meta.get("name"))
    return "/".join(str(part) for part in parts if part)


def _marks(text: bytes) -> list[tuple[str, str]]:
    """Every mark with the key it stands behind, in order."""
    lines = text.decode("utf-8", "replace").splitlines()
    return [(found[1], found[2]) for found in map(_MARK.match, lines) if found is not None]
