"""The fields in which two objects differ; entries of keyed lists are told by their key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_KEYS = ("name", "mountPath", "containerPort", "port", "cidr", "host", "key", "alert")
"""What tells the entries of a list of objects apart, as far as all of them have it."""
_ABSENT = object()
_LONGEST = 80


class Change(NamedTuple):
    """One field. old, new: None where it is absent there."""

    path: str
    old: Any
    new: Any

    @property
    def words(self) -> str:
        """The change in one line; long values are cut."""
        return f"{self.path}: {_short(self.old)} -> {_short(self.new)}"


def changes(old: Any, new: Any, path: str = "") -> Iterator[Change]:
    """Every leaf that differs, in the order of the old object, then of the new one."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(key for key in new if key not in old)]:
            yield from _entry(old, new, name, f"{path}.{name}" if path else str(name))
        return
    key = list_key(old, new)
    if key:
        before, after = ({one[key]: one for one in side} for side in (old, new))
        for name in [*before, *(one for one in after if one not in before)]:
            yield from _entry(before, after, name, f"{path}[{name}]")
        return
    yield Change(path, old, new)


def _entry(
    old: Mapping[Any, Any], new: Mapping[Any, Any], name: Any, path: str
) -> Iterator[Change]:
    before, after = old.get(name, _ABSENT), new.get(name, _ABSENT)
    if before is _ABSENT:
        yield Change(path, None, after)
    elif after is _ABSENT:
        yield Change(path, before, None)
    else:
        yield from changes(before, after, path)


def list_key(*sides: Any) -> str:
    """The key that tells the entries of lists apart; empty where there is none."""
    entries: list[Any] = []
    for side in sides:
        if not isinstance(side, Sequence) or isinstance(side, str):
            return ""
        entries += side
    if not entries or not all(isinstance(one, Mapping) for one in entries):
        return ""
    for key in _KEYS:
        unique = all(len({one.get(key) for one in side}) == len(side) for side in sides)
        if unique and all(isinstance(one.get(key), str | int) for one in entries):
            return key
    return ""


def _short(value: Any) -> str:
    if value is None:
        return "absent"
    text = value if isinstance(value, str) else _flow(value)
    line = text.replace("\n", "\\n")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)
