"""A view: one watched selection of one kind. Its identity is everything that is stated here."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind


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
