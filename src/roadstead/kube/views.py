"""A view: one watched selection of one kind. Its identity is everything that is stated here."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind
from roadstead.kube.selectors import FieldSelector, LabelSelector


class Form(StrEnum):
    """How much of an object is asked for."""

    FULL = "full"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Index:
    """A second way to look up what a view stores.

    name: how a reader asks for it.
    values: the values under which an object is found; it may have none.
    """

    name: str
    values: Callable[[Object], tuple[str, ...]]


def keep_all(seen: Object) -> Object | None:
    """Store every object as it came."""
    return seen


@dataclass(frozen=True, slots=True)
class View:
    """One selection of one kind, listed and watched once however many use it.

    name: short, for metrics and messages (`secrets`).
    labels, fields: selectors in the form of the wire; empty selects everything.
    keep: what is stored of an object; None stores nothing, the event still wakes the mappers.
    """

    name: str
    kind: Kind
    form: Form = Form.FULL
    labels: str = ""
    fields: str = ""
    keep: Callable[[Object], Object | None] = keep_all
    indexes: tuple[Index, ...] = ()

    def __hash__(self) -> int:
        """By its name: stores are looked up by view with every read and every event."""
        return hash(self.name)

    def selects(self, whole: Object) -> bool:
        """Tell whether an object, read in full, is part of the selection."""
        labels, fields = _selectors(self.labels, self.fields)
        return labels.matches(whole.labels) and fields.matches(whole.body)


@cache
def _selectors(labels: str, fields: str) -> tuple[LabelSelector, FieldSelector]:
    return LabelSelector.parse(labels), FieldSelector.parse(fields)
