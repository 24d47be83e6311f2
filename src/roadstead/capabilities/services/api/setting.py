"""One field of a definition or of the platform file: everything that is said of it, once.

From these come the reader, the JSON Schema for editors, and the reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from re import Pattern
from re import compile as compiled
from typing import Any

from roadstead.kube.schema import Field


@dataclass(frozen=True)
class Setting(Field):
    """A field with what a definition needs beyond a kind of the API.

    words: what its pattern or `holds` asks, in words; a value breaks it as S-04.
    holds: what no pattern can say of a text.
    fields, items, values: of a mapping with named keys, a list, a mapping with any keys.
    key_pattern, key_holds, key_words: what those keys must be.
    either: what it may be instead, told apart by type.
    one_of: exactly one of these keys is stated.
    unique: the keys by which no two entries of a list are equal; of plain entries empty.
    is_set: the order of the list says nothing.
    extension: no field of the core schema; extension_choices: values that are not.
    since: the version that brought it. private: its value is never shown.
    only_false: of a flag, that `true` says nothing.
    derived: in words, where its default comes from when it is no constant.
    """

    fields: "Mapping[str, Setting]" = field(default_factory=dict)
    items: "Setting | None" = None
    values: "Setting | None" = None
    words: str = ""
    holds: Callable[[str], bool] | None = None
    key_pattern: str = ""
    key_holds: Callable[[str], bool] | None = None
    key_words: str = ""
    either: "tuple[Setting, ...]" = ()
    one_of: tuple[str, ...] = ()
    unique: tuple[str, ...] | None = None
    is_set: bool = False
    extension: bool = False
    extension_choices: tuple[str, ...] = ()
    since: str = ""
    private: bool = False
    only_false: bool = False
    derived: str = ""

    @cached_property
    def matcher(self) -> Pattern[str] | None:
        """Its pattern, ready."""
        return compiled(self.pattern) if self.pattern else None

    @cached_property
    def key_matcher(self) -> Pattern[str] | None:
        """The pattern of its keys, ready."""
        return compiled(self.key_pattern) if self.key_pattern else None

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Every type it may have, in JSON's words."""
        return (self.type, *(one.type for one in self.either))


def text(meaning: str, **more: Any) -> Setting:
    """A text."""
    return Setting(meaning, "string", **more)


def number(meaning: str, least: int, most: int, **more: Any) -> Setting:
    """A whole number between two limits."""
    return Setting(meaning, "integer", least=least, most=most, **more)


def flag(meaning: str, **more: Any) -> Setting:
    """True or false."""
    return Setting(meaning, "boolean", **more)


def choice(meaning: str, *choices: str, **more: Any) -> Setting:
    """One word of several."""
    return Setting(meaning, "string", choices=choices, **more)


def mapping(meaning: str, fields: Mapping[str, Setting], **more: Any) -> Setting:
    """A mapping whose keys are named."""
    return Setting(meaning, "object", fields=fields, **more)


def any_keys(meaning: str, values: Setting, **more: Any) -> Setting:
    """A mapping whose keys are data."""
    return Setting(meaning, "object", values=values, **more)


def list_of(meaning: str, items: Setting, **more: Any) -> Setting:
    """A list. Its default is the empty one unless another is stated."""
    more.setdefault("default", [])
    return Setting(meaning, "array", items=items, **more)
