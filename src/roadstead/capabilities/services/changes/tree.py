"""Two trees side by side: added, removed and changed objects, each with its risk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.services.changes.fields import Change, changes
from roadstead.capabilities.services.changes.objects import Held, Key, objects_of
from roadstead.capabilities.services.changes.risk import risk

_HOW = {(False, True): "added", (True, False): "removed", (True, True): "changed"}
_BOOKKEEPING = ("/authored-image", "/field", "/requirements")
_MANAGER = "app.kubernetes.io/managed-by"


@dataclass(frozen=True, slots=True)
class Difference:
    """One object. how: added, removed or changed. fields: in what, of a changed one."""

    key: Key
    how: str
    risk: str
    file: str
    fields: tuple[Change, ...] = field(repr=False, default=())


def compare(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[Difference, ...]:
    """Everything in which the objects of two trees differ, by namespace, kind and name.

    What only says where an object comes from is no difference.
    Raises: InputError for a file that is no YAML.
    """
    before, after = objects_of(old), objects_of(new)
    return tuple(_differences(before, after))


def _differences(before: Mapping[Key, Held], after: Mapping[Key, Held]) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        found: tuple[Change, ...] = ()
        if old is not None and new is not None:
            found = tuple(_hidden(key, one) for one in changes(_bare(old), _bare(new)))
            if not found and old.packaged == new.packaged:
                continue
        how = _HOW[old is not None, new is not None]
        held = new or old
        yield Difference(key, how, risk(old, new, found), held.file if held else "", found)


def _hidden(key: Key, one: Change) -> Change:
    """Never show what a Secret holds, encrypted or not."""
    if key.kind != "Secret" or not one.path.startswith(("data", "stringData", "sops")):
        return one
    shown = ("absent" if value is None else "a value" for value in (one.old, one.new))
    return Change(one.path, *shown)


def _bare(held: Held) -> dict[str, Any]:
    """An object without the notes about where it comes from, and who applies it."""
    meta = dict(held.body.get("metadata") or {})
    notes, labels = meta.get("annotations") or {}, meta.get("labels") or {}
    meta["annotations"] = {
        key: value for key, value in notes.items() if not key.endswith(_BOOKKEEPING)
    }
    meta["labels"] = {key: value for key, value in labels.items() if key != _MANAGER}
    return {**held.body, "metadata": meta}
