"""The shapes of rendered objects, `roadstead/schemas/rendered.yaml`, as JSON Schemas.

The compact form of that file is told at its head.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs
import msgspec

from roadstead.errors import BugError
from roadstead.kube.documents import parse
from roadstead.kube.refs import Kind

_TYPES: Mapping[str, dict[str, Any]] = {
    "any": {},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer"},
    "string": {"type": "string"},
    "text": {"type": "string", "minLength": 1},
}
_METADATA = {
    "name!": "dns",
    "labels!": "map string",
    "annotations!": "map string",
}


def violation(kind: Kind, body: Mapping[str, Any]) -> str | None:
    """The place in a rendered object that its kind's shape refuses; None where it fits.

    Raises: BugError for a kind that has no shape.
    """
    error = next(iter(_validator(kind).iter_errors(_plain(body))), None)
    return None if error is None else "/".join(str(part) for part in error.instance_path) or "."


def fits(kind: Kind, body: Mapping[str, Any]) -> bool:
    """The same as a question alone, which costs less."""
    validator = _validator(kind)
    try:
        valid: bool = validator.is_valid(body)
    except ValueError:  # the validator knows no text with a note
        valid = validator.is_valid(_plain(body))
    return valid


def _plain(body: Mapping[str, Any]) -> Any:
    """A copy of plain values."""
    return msgspec.json.decode(msgspec.json.encode(body, enc_hook=str))


@cache
def _shapes() -> Mapping[str, Any]:
    source = files("roadstead").joinpath("schemas", "rendered.yaml")
    parsed = parse(source.read_bytes(), "rendered.yaml")
    if parsed.problems:
        raise BugError(str(parsed.problems[0]))
    found: Mapping[str, Any] = parsed.documents[0].value
    return found


@cache
def _validator(kind: Kind) -> Any:
    return jsonschema_rs.Draft202012Validator(schema_of(kind))


def schema_of(kind: Kind) -> dict[str, Any]:
    """The JSON Schema 2020-12 of one kind.

    Raises: BugError for one that has no shape.
    """
    whole = _shapes()
    stated = whole["kinds"].get(f"{kind.api_version} {kind.kind}")
    if stated is None:
        raise BugError(f"{kind.api_version} {kind.kind} has no bundled shape")
    metadata = dict(_METADATA) | ({"namespace!": "label"} if kind.namespaced else {})
    fields = {
        "apiVersion!": f"one of {kind.api_version}",
        "kind!": f"one of {kind.kind}",
        "metadata!": metadata,
        **stated,
    }
    shapes = {name: _schema(one) for name, one in whole["shapes"].items()}
    return {**_schema(fields), "$defs": shapes}


def _schema(stated: Any) -> dict[str, Any]:
    if isinstance(stated, list):
        return {"type": "array", "items": _schema(stated[0])}
    if isinstance(stated, Mapping):
        return {
            "type": "object",
            "properties": {key.removesuffix("!"): _schema(one) for key, one in stated.items()},
            "required": [key.removesuffix("!") for key in stated if key.endswith("!")],
            "additionalProperties": False,
        }
    return _word(stated)


def _word(stated: str) -> dict[str, Any]:
    """What one word of the compact form stands for."""
    first, _, rest = stated.partition(" ")
    if stated.startswith("/"):
        return {"type": "string", "pattern": f"^(?:{stated[1:-1]})$"}
    if stated.startswith("one of "):
        return {"enum": stated.removeprefix("one of ").split(" ")}
    if first == "map":
        return {"type": "object", "additionalProperties": _word(rest)}
    if first == "integer":
        limits = zip(("minimum", "maximum"), map(int, rest.split()), strict=False)
        return {"type": "integer", **dict(limits)}
    return _TYPES.get(stated) or {"$ref": f"#/$defs/{stated}"} if stated != "any" else {}
