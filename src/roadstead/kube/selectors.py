"""Label and field selectors, as they stand on the wire and in objects.

A selector is parsed once and asked often. Nothing here reads an object beyond what it is handed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from roadstead.errors import InputError
from roadstead.kube.names import is_label_key, is_label_value


class Operator(StrEnum):
    """What a label requirement asks, spelt as in `matchExpressions`."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


_SETS = frozenset({Operator.IN, Operator.NOT_IN})
_PARTS = frozenset({"matchLabels", "matchExpressions"})
_TERM = re.compile(
    r"""\s*(?:
        !\s*(?P<absent>[^\s,()=!<>]+)
        | (?P<key>[^\s,()=!<>]+)
          (?: \s*(?P<equals>==|=|!=)\s*(?P<value>[^\s,()=!<>]*)
            | \s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\)
          )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that is asked of an object's labels.

    values: sorted, without duplicates; at least one for In and NotIn, none otherwise.
    """

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what the API server refuses.

        Raises: InputError, which names the key or the value.
        """
        if not is_label_key(self.key):
            raise InputError(f"label selector: {self.key!r} is not a label key")
        if self.operator in _SETS and not self.values:
            raise InputError(f"label selector: {self.operator} for {self.key!r} needs a value")
        if self.operator not in _SETS and self.values:
            raise InputError(f"label selector: {self.operator} for {self.key!r} takes no value")
        for value in self.values:
            if not is_label_value(value):
                raise InputError(
                    f"label selector: {value!r} is not a label value, for {self.key!r}"
                )

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet the requirement; NotIn is also met by an absent key."""
        if self.operator is Operator.EXISTS:
            return self.key in labels
        if self.operator is Operator.DOES_NOT_EXIST:
            return self.key not in labels
        listed = self.key in labels and labels[self.key] in self.values
        return listed if self.operator is Operator.IN else not listed

    def __str__(self) -> str:
        """Spell it as on the wire."""
        if self.operator is Operator.EXISTS:
            return self.key
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        if len(self.values) == 1:
            return f"{self.key}{'=' if self.operator is Operator.IN else '!='}{self.values[0]}"
        word = "in" if self.operator is Operator.IN else "notin"
        return f"{self.key} {word} ({','.join(self.values)})"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all be met; without any it matches everything.

    requirements: sorted by their spelling, without duplicates.
    """

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the wire form: `a=b,c!=d,e,!f,g in (x,y),h notin (z)`.

        Raises: InputError, which names the part that cannot be read.
        """
        found: list[Requirement] = []
        at = 0
        while at < len(text) and text[at:].strip():
            term = _TERM.match(text, at)
            if term is None:
                raise InputError(
                    f"label selector: cannot read {_part(text, at)!r}",
                    hint="write key=value, key!=value, key, !key, key in (a,b) or key notin (a,b)",
                )
            found.append(_requirement(term))
            at = term.end()
            if text[at - 1] == "," and not text[at:].strip():
                raise InputError(f"label selector: nothing follows the last comma of {text!r}")
        return cls(_sorted(found))

    @classmethod
    def of(cls, selector: Mapping[str, Any]) -> Self:
        """Read the structured form: `matchLabels` and `matchExpressions`, both optional.

        selector: those two keys only; {} matches everything. What an absent selector means
            differs from field to field and is the caller's to say.
        Raises: InputError, which names the part that cannot be read.
        """
        for part in selector:
            if part not in _PARTS:
                raise InputError(f"label selector: unknown field {part!r}")
        labels = selector.get("matchLabels") or {}
        expressions = selector.get("matchExpressions") or ()
        if not isinstance(labels, Mapping):
            raise InputError("label selector: matchLabels is not a mapping")
        if isinstance(expressions, str) or not isinstance(expressions, Sequence):
            raise InputError("label selector: matchExpressions is not a list")
        found = [
            Requirement(_text(key, "a key of matchLabels"), Operator.IN, (_text(value, key),))
            for key, value in labels.items()
        ]
        found += [_expression(one, at) for at, one in enumerate(expressions)]
        return cls(_sorted(found))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object's labels meet every requirement."""
        return all(one.matches(labels) for one in self.requirements)

    def __str__(self) -> str:
        """Spell it as on the wire; equal selectors are spelt the same."""
        return ",".join(str(one) for one in self.requirements)


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One field that must have a value, or must not.

    path: the field's path, split at its dots.
    """

    path: tuple[str, ...]
    equal: bool
    value: str

    def matches(self, body: Mapping[str, Any]) -> bool:
        """Tell whether an object meets the term; an absent field is the empty string."""
        found: Any = body
        for step in self.path:
            found = found.get(step) if isinstance(found, Mapping) else None
        return (_spelt(found) == self.value) is self.equal

    def __str__(self) -> str:
        """Spell it as on the wire."""
        value = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{'.'.join(self.path)}{'=' if self.equal else '!='}{value}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Terms that must all be met; without any it matches everything."""

    terms: tuple[FieldTerm, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        r"""Read the wire form: `type!=helm.sh/release.v1,metadata.name=x`.

        text: in a value `\\`, `\,` and `\=` stand for the character itself.
        Raises: InputError, which names the part that cannot be read.
        """
        parts = re.findall(r"(?:[^\\,]|\\.|\\$)+", text, re.DOTALL)
        return cls(tuple(_field_term(part) for part in parts))

    def matches(self, body: Mapping[str, Any]) -> bool:
        """Tell whether an object meets every term."""
        return all(one.matches(body) for one in self.terms)

    def __str__(self) -> str:
        """Spell it as on the wire."""
        return ",".join(str(one) for one in self.terms)


def _requirement(term: re.Match[str]) -> Requirement:
    """Make the requirement of one term of the wire form."""
    if term["absent"] is not None:
        return Requirement(term["absent"], Operator.DOES_NOT_EXIST)
    if term["equals"] is not None:
        operator = Operator.NOT_IN if term["equals"] == "!=" else Operator.IN
        return Requirement(term["key"], operator, (term["value"],))
    if term["set"] is None:
        return Requirement(term["key"], Operator.EXISTS)
    operator = Operator.IN if term["set"] == "in" else Operator.NOT_IN
    listed = (
        {value.strip() for value in term["values"].split(",")} if term["values"].strip() else ()
    )
    return Requirement(term["key"], operator, tuple(sorted(listed)))


def _expression(one: Any, at: int) -> Requirement:
    """Make the requirement of one entry of `matchExpressions`."""
    where = f"matchExpressions[{at}]"
    if not isinstance(one, Mapping):
        raise InputError(f"label selector: {where} is not a mapping")
    for part in one:
        if part not in {"key", "operator", "values"}:
            raise InputError(f"label selector: unknown field {part!r} in {where}")
    key = _text(one.get("key"), f"the key of {where}")
    try:
        operator = Operator(str(one.get("operator")))
    except ValueError:
        raise InputError(
            f"label selector: {one.get('operator')!r} in {where} is not an operator",
            hint=f"use one of {', '.join(Operator)}",
        ) from None
    values = one.get("values") or ()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"label selector: the values of {where} are not a list")
    listed = {_text(value, f"a value of {where}") for value in values}
    return Requirement(key, operator, tuple(sorted(listed)))


def _text(value: Any, what: str) -> str:
    """Give a string back, and refuse what YAML made a number or a boolean of."""
    if not isinstance(value, str):
        raise InputError(f"label selector: {what} is not a string", hint="quote it")
    return value


def _sorted(found: list[Requirement]) -> tuple[Requirement, ...]:
    """Order requirements by their spelling, each once."""
    return tuple(sorted(set(found), key=str))


def _part(text: str, at: int) -> str:
    """Give the part of a selector that begins at `at`, for a message."""
    return text[at : at + 1] + re.split(r",(?![^(]*\))", text[at + 1 :], maxsplit=1)[0]


def _field_term(part: str) -> FieldTerm:
    """Make one term of a field selector."""
    found = re.fullmatch(
        r"\s*([A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*)(!=|==|=)((?:[^\\=]|\\[\\,=])*)",
        part,
        re.DOTALL,
    )
    if found is None:
        raise InputError(
            f"field selector: cannot read {part!r}", hint="write path=value or path!=value"
        )
    value = re.sub(r"\\(.)", r"\1", found[3], flags=re.DOTALL)
    return FieldTerm(tuple(found[1].split(".")), found[2] != "!=", value)


def _spelt(value: Any) -> str | None:
    """Spell a field's value as a selector would; None for a map or a list, which equals nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None
