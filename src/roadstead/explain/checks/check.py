"""One check of an installation, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from roadstead.explain.checks.facts import Facts, Unasked

OK, WARNING, ERROR, UNASKED = "ok", "warning", "error", "not checked"
PAGE = "docs/reference/checks.md"
CLUSTER, NEIGHBOURS, SETTINGS, ROADSTEAD = "cluster", "neighbours", "settings", "roadstead"
GROUPS = (CLUSTER, NEIGHBOURS, SETTINGS, ROADSTEAD)
BEFORE, AFTER = "before", "after"


class Found(NamedTuple):
    """What a check found.

    level: one of ok, warning, error, not checked. said: the fact, short; of a problem what is
    wrong and what follows. more: what else is wrong, a line each. title: in place of the check's.
    """

    level: str
    said: str = ""
    more: tuple[str, ...] = ()
    title: str = ""


def unasked(*gaps: Unasked) -> Found:
    """Nothing was found, since something could not be looked at."""
    return Found(UNASKED, "; ".join(dict.fromkeys(gap.why for gap in gaps)))


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a cluster.

    name: also its anchor in the reference. title: what is so when all is well.
    levels: what it may find wrong, `error` where an installation does not work then.
    phases: when it is asked. judge: None where the question does not arise.
    meaning, cause, remedy: for the reference.
    """

    name: str
    group: str
    title: str
    levels: tuple[str, ...]
    judge: Callable[[Facts], Found | None]
    meaning: str
    cause: str
    remedy: str
    phases: tuple[str, ...] = (BEFORE, AFTER)

    @property
    def anchor(self) -> str:
        """Where the reference speaks of it."""
        return f"{PAGE}#{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one check."""

    check: Check
    found: Found

    @property
    def title(self) -> str:
        """What it is called in an answer."""
        return self.found.title or self.check.title

    @property
    def wrong(self) -> bool:
        """Whether somebody should act."""
        return self.found.level in {WARNING, ERROR}
