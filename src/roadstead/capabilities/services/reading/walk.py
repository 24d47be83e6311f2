"""Holds a value against its setting, and says what does not fit. Nothing is coerced.

Source: contract 1.1, 1.2 and the schema findings of 1.6.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.services.api.findings import Finding, Severity
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.api.setting import Setting
from roadstead.capabilities.services.reading.plain import shown
from roadstead.kube.documents import Place
from roadstead.kube.nearest import nearest

MERGE_KEY = "<<"
_FARTHEST = 2

Path = tuple[str | int, ...]

_NAMES = {
    "object": "mapping",
    "array": "list",
    "number": "number",
    "boolean": "boolean",
    "string": "string",
    "integer": "integer",
}


def type_of(value: Any) -> str:
    """The JSON type of a value; a whole number is an integer only when written as one."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def spelt(path: Path) -> str:
    """A path as messages name it: `storage[0].size`."""
    parts = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            parts.append(f".{shown(step)}" if parts else shown(step))
    return "".join(parts)


@dataclass(slots=True)
class Walk:
    """One definition, or the platform file, while it is looked through.

    about: the name that findings carry. core: whether extensions are refused.
    """

    origin: Origin
    about: str
    core: bool = False

    def findings(self, setting: Setting, value: Any) -> Iterator[Finding]:
        """Everything that does not fit."""
        yield from self._value(setting, value, ())

    def finding(self, rule: str, place: Place, message: str, hint: str = "") -> Finding:
        """One schema finding; all of them are errors."""
        return Finding(Severity.ERROR, rule, self.about, message, place, hint)

    def _value(self, setting: Setting, value: Any, path: Path) -> Iterable[Finding]:
        kind = type_of(value)
        if kind != setting.type:
            other = next((one for one in setting.either if one.type == kind), None)
            if other is None:
                return (self._wrong_type(setting, value, path),)
            setting = other
        if kind == "string":
            return self._text(setting, value, path)
        if kind == "object":
            return self._mapping(setting, value, path)
        if kind == "array":
            return self._list(setting, value, path)
        return (
            self._number(setting, value, path)
            if kind == "integer"
            else self._flag(setting, value, path)
        )

    def _flag(self, setting: Setting, value: bool, path: Path) -> Iterator[Finding]:
        if setting.only_false and value:
            message = f"`{spelt(path)}`: true is not one of false, or a mapping"
            yield self.finding("S-05", self.origin.place(*path), message)

    def _wrong_type(self, setting: Setting, value: Any, path: Path) -> Finding:
        wanted = " or ".join(_NAMES[one] for one in setting.types)
        kind = type_of(value)
        found = _NAMES.get(kind, kind)
        raw = self.origin.document.raw(*self.origin.path, *path)
        hint = ""
        if "string" in setting.types and raw:
            hint = "quote the value" if setting.private else f'quote the value: "{raw}"'
        message = f"`{spelt(path)}`: expected {wanted}, got {found}"
        return self.finding("S-02", self.origin.place(*path), message, hint)

    def _text(self, setting: Setting, value: str, path: Path) -> Iterator[Finding]:
        if setting.choices:
            if value not in setting.choices:
                yield self._not_a_choice(setting, value, path)
            elif self.core and value in setting.extension_choices:
                message = f"`{spelt(path)}: {value}` is an extension and --core was given"
                yield self.finding("S-13", self.origin.place(*path), message)
            return
        matcher = setting.matcher
        fits = (
            len(value) >= setting.shortest
            and (not setting.longest or len(value) <= setting.longest)
            and (matcher is None or matcher.fullmatch(value) is not None)
            and (setting.holds is None or setting.holds(value))
        )
        if not fits:
            rule = setting.words or "a text that is not empty"
            if setting.longest and len(value) > setting.longest and "at most" not in rule:
                rule += f", of at most {setting.longest} characters"
            message = f"`{spelt(path)}`: {_shown(setting, value)} does not match {rule}"
            yield self.finding("S-04", self.origin.place(*path), message)

    def _not_a_choice(self, setting: Setting, value: str, path: Path) -> Finding:
        listed = ", ".join(setting.choices)
        near = nearest(value.lower(), setting.choices, _FARTHEST)
        return self.finding(
            "S-05",
            self.origin.place(*path),
            f"`{spelt(path)}`: {_shown(setting, value)} is not one of {listed}",
            f"did you mean `{near}`?" if near else "",
        )

    def _number(self, setting: Setting, value: int, path: Path) -> Iterator[Finding]:
        least, most = setting.least, setting.most
        if (least is not None and value < least) or (most is not None and value > most):
            shown = str(value) if abs(value) < 10**18 else "the number"
            message = f"`{spelt(path)}`: {shown} is outside {least}..{most}"
            yield self.finding("S-06", self.origin.place(*path), message)

    def _list(self, setting: Setting, value: list[Any], path: Path) -> Iterator[Finding]:
        item = setting.items
        if item is None:
            return
        for number, one in enumerate(value):
            yield from self._value(item, one, (*path, number))
        if setting.unique is not None:
            yield from self._repeats(setting, value, path)

    def _repeats(self, setting: Setting, value: list[Any], path: Path) -> Iterator[Finding]:
        """Entries that equal an earlier one in the keys that tell them apart."""
        keys = setting.unique or ()
        first: dict[tuple[Any, ...], int] = {}
        for number, one in enumerate(value):
            known = first.setdefault(_identity(setting, keys, one, number), number)
            if known != number:
                line = self.origin.place(*path, known).line
                message = (
                    f"`{spelt((*path, number))}`: entry equals the entry at line {line}"
                    f" in {', '.join(keys) or 'value'}"
                )
                yield self.finding("S-09", self.origin.place(*path, number), message)

    def _mapping(self, setting: Setting, value: Mapping[str, Any], path: Path) -> Iterator[Finding]:
        if setting.values is not None:
            yield from self._any_keys(setting, setting.values, value, path)
            return
        meant: set[str] = set()
        for key, one in value.items():
            part = setting.fields.get(key)
            if part is None:
                finding, near = self._unknown(setting, value, path, key)
                meant.add(near)
                yield finding
            elif self.core and part.extension:
                message = f"`{spelt((*path, key))}` is an extension and --core was given"
                yield self.finding("S-13", self.origin.key_place(*path, key), message)
            else:
                yield from self._value(part, one, (*path, key))
        for key in setting.required:
            if key not in value and key not in meant:
                place = self.origin.key_place(*path)
                yield self.finding("S-03", place, f"`{spelt((*path, key))}` is required")
        if setting.one_of and sum(key in value for key in setting.one_of) != 1:
            listed = ", ".join(setting.one_of)
            message = f"`{spelt(path)}`: the mapping does not match exactly one of {listed}"
            if not meant & set(setting.one_of):
                yield self.finding("S-04", self.origin.key_place(*path), message)

    def _unknown(
        self, setting: Setting, value: Mapping[str, Any], path: Path, key: str
    ) -> tuple[Finding, str]:
        """A key that is no field, with the one that was probably meant."""
        place = self.origin.key_place(*path, key)
        if key == MERGE_KEY:
            message = "not a definition: a merge key; write the keys out"
            return self.finding("S-12", place, message), ""
        near = nearest(key, (one for one in setting.fields if one not in value), _FARTHEST)
        near = near or nearest(key, setting.fields, _FARTHEST)
        hint = f"did you mean `{near}`?" if near else ""
        message = f"unknown field `{shown(key)}`" + (f" in `{spelt(path)}`" if path else "")
        return self.finding("S-01", place, message, hint), near

    def _any_keys(
        self, setting: Setting, values: Setting, value: Mapping[str, Any], path: Path
    ) -> Iterator[Finding]:
        for key, one in value.items():
            place = self.origin.key_place(*path, key)
            if key == MERGE_KEY:
                message = "not a definition: a merge key; write the keys out"
                yield self.finding("S-12", place, message)
                continue
            matcher, holds = setting.key_matcher, setting.key_holds
            if (matcher is not None and matcher.fullmatch(key) is None) or (
                holds is not None and not holds(key)
            ):
                message = f'`{spelt(path)}`: "{shown(key)}" does not match {setting.key_words}'
                yield self.finding("S-04", place, message)
            yield from self._value(values, one, (*path, key))


def _identity(setting: Setting, keys: tuple[str, ...], one: Any, number: int) -> tuple[Any, ...]:
    """What an entry is told apart by; one without its keys equals nothing."""
    if not isinstance(one, dict):
        return ("", one) if isinstance(one, str | int) else (number,)
    item = setting.items
    choices = [item, *item.either] if item else []
    fields = next((part.fields for part in choices if part.type == "object"), {})
    found = []
    for key in keys:
        default = fields[key].default if key in fields else None
        part = one.get(key, default)
        if not isinstance(part, str | int):
            return (number,)
        found.append(part)
    return ("", *found) if keys else (number,)


def _shown(setting: Setting, value: str) -> str:
    return "the value" if setting.private else f'"{shown(value)}"'
