"""Reads a body by a schema: nulls without a meaning and unknown fields go, defaults come."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.kube.schema import Field
from roadstead.sim.admission.limits import below

_META = ("apiVersion", "kind", "metadata")


def decoded(top: Field, body: Mapping[str, Any]) -> dict[str, Any]:
    """An object as it would be stored, were it valid; what is of the wrong type stays as it is."""
    rest = {name: value for name, value in body.items() if name not in _META}
    return {name: body[name] for name in _META if name in body} | _object(top, rest)


def unknown(top: Field, body: Mapping[str, Any]) -> Iterator[str]:
    """The paths of the fields that decoding takes away, but for those below metadata."""
    yield from _unknown(top, {name: part for name, part in body.items() if name not in _META}, "")


def _unknown(one: Field, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name in one.fields:
                yield from _unknown(one.fields[name], part, below(path, name))
            elif not one.open:
                yield below(path, name)
    elif isinstance(value, list) and one.items is not None:
        for number, item in enumerate(value):
            yield from _unknown(one.items, item, f"{path}[{number}]")


def _value(one: Field, value: Any) -> Any:
    if isinstance(value, Mapping) and (one.fields or one.open):
        return _object(one, value)
    if isinstance(value, list) and one.items is not None:
        return [_value(one.items, item) for item in value]
    # JSON has one kind of number, and the server writes a whole one as an integer.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _object(one: Field, value: Mapping[str, Any]) -> dict[str, Any]:
    made = {}
    for name, part in value.items():
        field = one.fields.get(name)
        if field is None:
            if one.open:
                made[name] = part
        elif part is not None:
            made[name] = _value(field, part)
    for name, field in one.fields.items():
        if name not in made and field.default is not None:
            made[name] = copy.deepcopy(field.default)
    return made
