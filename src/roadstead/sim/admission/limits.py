"""Types and limits of a schema, each problem in the words of the API server.

A message quotes the value, as the server does; no kind that is reviewed here holds a secret.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.kube.schema import INT_OR_STRING, KEYED, UNIQUE, Field
from roadstead.kube.times import parse_time

_META = frozenset({"apiVersion", "kind", "metadata"})
_BLOCKING = frozenset(
    {
        "FieldValueRequired",
        "FieldValueTypeInvalid",
        "FieldValueNotSupported",
        "FieldValueTooLong",
        "FieldValueTooMany",
    }
)
_TYPES: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. field: its path. reason: of the Status cause."""

    field: str
    reason: str
    detail: str

    @property
    def blocks(self) -> bool:
        """Whether CEL rules cannot be asked of an object that has it."""
        return self.reason in _BLOCKING


def problems(top: Field, body: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with an object, but for its metadata; lists' repeats come last."""
    inner = {name: value for name, value in body.items() if name not in _META}
    return [*_object(top, inner, ""), *_repeats(top, inner, "")]


def _value(one: Field, value: Any, path: str) -> Iterator[Problem]:
    allowed = ("integer", "string") if one.type == INT_OR_STRING else (one.type,)
    found = _TYPES.get(type(value), type(value).__name__)
    if found not in allowed and not (found == "integer" and "number" in allowed):
        if one.type:
            says = f"{path} in body must be of type {','.join(allowed)}"
            yield Problem(path, "FieldValueTypeInvalid", _invalid(found, f'{says}: "{found}"'))
        return
    if isinstance(value, str):
        yield from _text(one, value, path)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from _number(one, value, path)
    elif isinstance(value, list):
        yield from _array(one, value, path)
    elif isinstance(value, Mapping):
        yield from _object(one, value, path)


def _text(one: Field, value: str, path: str) -> Iterator[Problem]:
    """Tell of the first limit that a text breaks; the server tells of no second one."""
    if one.choices and value not in one.choices:
        listed = ", ".join(f'"{choice}"' for choice in one.choices)
        says = f'Unsupported value: "{value}": supported values: {listed}'
        yield Problem(path, "FieldValueNotSupported", says)
    elif one.longest and len(value) > one.longest:
        says = f"Too long: may not be more than {one.longest} bytes"
        yield Problem(path, "FieldValueTooLong", says)
    elif len(value) < one.shortest:
        says = f"{path} in body should be at least {one.shortest} chars long"
        yield Problem(path, "FieldValueInvalid", _invalid(value, says))
    elif one.pattern and not _matches(one.pattern, value):
        says = f"{path} in body should match '{one.pattern}'"
        yield Problem(path, "FieldValueInvalid", _invalid(value, says))
    elif one.format == "date-time" and not _is_time(value):
        says = f'{path} in body must be of type date-time: "{value}"'
        yield Problem(path, "FieldValueTypeInvalid", _invalid(value, says))


def _number(one: Field, value: int, path: str) -> Iterator[Problem]:
    if one.least is not None and value < one.least:
        says = f"{path} in body should be greater than or equal to {one.least}"
        yield Problem(path, "FieldValueInvalid", _invalid(value, says))
    elif one.most is not None and value > one.most:
        says = f"{path} in body should be less than or equal to {one.most}"
        yield Problem(path, "FieldValueInvalid", _invalid(value, says))


def _array(one: Field, value: list[Any], path: str) -> Iterator[Problem]:
    for number, item in enumerate(value):
        if one.items is not None:
            yield from _value(one.items, item, f"{path}[{number}]")
    if one.longest_list and len(value) > one.longest_list:
        says = f"Too many: {len(value)}: must have at most {one.longest_list} items"
        yield Problem(path, "FieldValueTooMany", says)


def _object(one: Field, value: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name in one.required:
        if name not in value:
            yield Problem(below(path, name), "FieldValueRequired", "Required value")
    for name, part in sorted(value.items()):
        if name in one.fields:
            yield from _value(one.fields[name], part, below(path, name))


def _repeats(one: Field, value: Any, path: str) -> Iterator[Problem]:
    """Tell of each item of a set, or key of a map, that a list holds again."""
    if isinstance(value, Mapping):
        for name, part in sorted(value.items()):
            if name in one.fields:
                yield from _repeats(one.fields[name], part, below(path, name))
    elif isinstance(value, list) and one.items is not None:
        times: dict[str, int] = {}
        for number, item in enumerate(value):
            place = f"{path}[{number}]"
            key = _key(one, item)
            times[key] = times.get(key, 0) + 1
            if key and times[key] == 2:  # noqa: PLR2004 - a third is not told again
                yield Problem(place, "FieldValueDuplicate", f"Duplicate value: {key}")
            yield from _repeats(one.items, item, place)


def _key(one: Field, item: Any) -> str:
    """What an item is told apart by; empty where it may stand twice."""
    if one.list_type == UNIQUE:
        return _json(item)
    if one.list_type == KEYED and isinstance(item, Mapping):
        return _json({name: item.get(name) for name in one.keys})
    return ""


def below(path: str, name: str) -> str:
    """The path of a field."""
    return f"{path}.{name}" if path else name


def _matches(pattern: str, value: str) -> bool:
    # Go's `$` ends the text; Python's also stands before a last line break.
    return re.search(pattern.removesuffix("$") + r"\Z", value) is not None


def _is_time(value: str) -> bool:
    try:
        parse_time(value)
    except ValueError:
        return False
    return True


def _invalid(value: object, says: str) -> str:
    return f"Invalid value: {_json(value)}: {says}"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
