"""How a stated object is compared with a real one. Values of Secrets are never shown."""

import hashlib
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import CONFIG_MAP, SECRET
from roadstead.sim.placeholders import Names

KEYED: Mapping[str, tuple[str, ...]] = {
    "listeners": ("name",),
    "ports": ("name", "port", "protocol"),
    "ownerReferences": ("kind", "name"),
    "containers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "conditions": ("type",),
}
"""Lists that are matched by key, whatever their order."""

_LONGEST_SHOWN = 200
_SECRET_PATHS = ("data", "stringData")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as wanted.

    about: the object, or the key of want.yaml. path: below it; may be empty.
    """

    about: str
    path: str
    wanted: str
    got: str

    def __str__(self) -> str:
        """One line."""
        where = f"{self.about} {self.path}".strip()
        return f"{where}: wanted {self.wanted}, got {self.got}"


def shown(value: Any, *, hidden: bool = False) -> str:
    """A value as a difference shows it: short, or only its size and fingerprint."""
    if value is None:
        return "nothing"
    if hidden:
        raw = value.encode() if isinstance(value, str) else canonical(value)
        return f"<{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()[:8]}>"
    text = canonical(value).decode()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


class Comparison:
    """Compares one stated object, field by field, and collects every difference."""

    def __init__(self, about: str, names: Names, *, secret: bool = False) -> None:
        """Compare something of this name.

        secret: whether it is a Secret, whose values no difference may show.
        """
        self._about = about
        self._names = names
        self._secret = secret
        self.differences: list[Difference] = []

    def compare(self, wanted: Any, got: Any, path: str = "", *, exact: bool = False) -> None:
        """Note where a value is not what is wanted.

        exact: nothing more may be there than is wanted.
        """
        if wanted is None or wanted in ({}, []):
            if got is not None and got not in ("", {}, []):
                self._differ(path, wanted, got)
        elif isinstance(wanted, Mapping):
            self._maps(wanted, {} if got is None else got, path, exact=exact)
        elif isinstance(wanted, list):
            self._lists(wanted, [] if got is None else got, path, exact=exact)
        elif isinstance(wanted, str):
            text = got if isinstance(got, str) else None
            if wanted == "${any}" and got is not None:
                return
            if text is None or not self._names.matches(wanted, text):
                self._differ(path, wanted, got)
        elif wanted != got or isinstance(wanted, bool) is not isinstance(got, bool):
            self._differ(path, wanted, got)

    def _maps(self, wanted: Mapping[str, Any], got: Any, path: str, *, exact: bool) -> None:
        if not isinstance(got, Mapping):
            self._differ(path, dict(wanted), got)
            return
        for key, part in wanted.items():
            self.compare(part, got.get(key), _below(path, key), exact=exact)
        if exact:
            for key in got:
                if key not in wanted:
                    self.compare(None, got[key], _below(path, key))

    def _lists(self, wanted: list[Any], got: Any, path: str, *, exact: bool) -> None:
        if not isinstance(got, list):
            self._differ(path, wanted, got)
            return
        name = re.split(r"[.\]]", path)[-1]
        keys = KEYED.get(name, ())
        left = list(enumerate(got))
        for number, part in enumerate(wanted):
            place = f"{path}[{_label(part, keys, number)}]"
            found = self._find(part, left, keys, number)
            if found is None:
                self._differ(place, part, None)
                continue
            left.remove(found)
            self.compare(part, found[1], place, exact=exact)
        if name == "conditions" and not exact:
            return
        for number, part in left:
            self._differ(f"{path}[{_label(part, keys, number)}]", None, part)

    def _find(
        self, wanted: Any, left: Sequence[tuple[int, Any]], keys: Sequence[str], number: int
    ) -> tuple[int, Any] | None:
        stated = [key for key in keys if isinstance(wanted, Mapping) and key in wanted]
        if not stated:
            # By position, among those that no earlier entry took.
            return next((entry for entry in left if entry[0] == number or keys), None)
        same = [
            entry
            for entry in left
            if isinstance(entry[1], Mapping)
            and all(self._equal(wanted[key], entry[1].get(key)) for key in stated)
        ]
        return next((entry for entry in same if self._equal(wanted, entry[1])), None) or next(
            iter(same), None
        )

    def _equal(self, wanted: Any, got: Any) -> bool:
        trial = Comparison(self._about, self._names.tried())
        trial.compare(wanted, got)
        return not trial.differences

    def _differ(self, path: str, wanted: Any, got: Any) -> None:
        hidden = self._secret and (
            path.split(".", maxsplit=1)[0] in _SECRET_PATHS or _LAST_APPLIED in path
        )
        if self._secret and not path:
            hidden = True
        if self._secret and isinstance(got, Mapping) and _LAST_APPLIED in got:
            hidden = True
        self.differences.append(
            Difference(self._about, path, shown(wanted, hidden=hidden), shown(got, hidden=hidden))
        )


def compare_object(wanted: Mapping[str, Any], got: Object, names: Names) -> list[Difference]:
    """Every stated field of an object that is not as stated."""
    comparison = Comparison(got.ref.path, names, secret=got.kind == SECRET)
    texts = wanted.get("stringData")
    for key, part in wanted.items():
        if key not in {"apiVersion", "kind", "stringData"}:
            comparison.compare(part, got.body.get(key), key)
    if texts is not None:
        comparison.compare(texts, data_as_text(got), "data")
    return comparison.differences


def compare_exactly(
    wanted: Mapping[str, Any], got: Object, path: str, names: Names
) -> list[Difference]:
    """What is at a path but not as stated, or is there and not stated."""
    comparison = Comparison(got.ref.path, names, secret=got.kind == SECRET)
    body = got.body
    if "stringData" in wanted and path.split(".", maxsplit=1)[0] in _SECRET_PATHS:
        stated = Object(got.kind, got.meta, {"data": wanted.get("data") or {}})
        wanted = {"data": {**data_as_text(stated), **wanted["stringData"]}}
        body = {"data": data_as_text(got)}
        path = path.replace("stringData", "data", 1)
    comparison.compare(lookup(wanted, path), lookup(body, path), path, exact=True)
    return comparison.differences


def data_as_text(seen: Object) -> dict[str, str]:
    """The values of a Secret or ConfigMap as text; bytes that are none are replaced."""
    data: Mapping[str, str] = seen.body.get("data") or {}
    if seen.kind == CONFIG_MAP:
        return dict(data)
    return {key: b64decode(value or "").decode(errors="replace") for key, value in data.items()}


def lookup(value: Any, path: str) -> Any:
    """What stands at a dotted path; a key that has dots itself is found too."""
    if not path:
        return value
    if isinstance(value, list):
        head, _, rest = path.lstrip("[").replace("]", "", 1).partition(".")
        at = int(head) if head.isdecimal() else -1
        return lookup(value[at], rest) if 0 <= at < len(value) else None
    if not isinstance(value, Mapping):
        return None
    if path in value:
        return value[path]
    for end in (found.start() for found in reversed(list(re.finditer(r"[.\[]", path)))):
        if path[:end] in value:
            return lookup(value[path[:end]], path[end:].lstrip("."))
    return None


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _label(part: Any, keys: Sequence[str], number: int) -> str:
    if isinstance(part, Mapping):
        named = [str(part[key]) for key in keys if key in part]
        if named:
            return " ".join(named)
    return str(number)
