"""Reasons: the words of conditions, events and tables, each with what a person makes of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One word of findings, conditions, events and tables.

    state: the state of the object while it holds, or the condition that carries it.
    about: what its event is on; empty for none.
    meaning, cause, remedy: one sentence each, for the reference and for `roadstead docs`.
    """

    name: str
    state: str
    about: str
    meaning: str
    cause: str
    remedy: str
