"""Reads of other people's objects: whatever shape they have, an answer of ours. Never raises."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]


def part(value: Any, *steps: str) -> Json:
    """A map within a map; empty where there is none."""
    for step in steps:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def text(value: Any, key: str) -> str:
    """A text within a map; empty where there is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def items(value: Any, key: str) -> tuple[Json, ...]:
    """The maps of a list within a map."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return tuple(one for one in found if isinstance(one, Mapping)) if type(found) is list else ()


def texts(value: Any, key: str) -> tuple[str, ...]:
    """The texts of a list within a map."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return tuple(one for one in found if isinstance(one, str)) if type(found) is list else ()
