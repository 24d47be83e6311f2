"""What wakes a capability, as data."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from roadstead.decision import Cached, Decision, Outcome, Reader
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.views import View

Mapper = Callable[[Object, Cached], Iterable[Ref]]
"""Names the keys an object wakes. It is asked for the old and the new form of a change, and may
look into other views; an Unread view is the engine's to handle: it lists every key then."""


def any_change(_old: Object, _new: Object) -> bool:
    """Wake on every modification."""
    return True


@dataclass(frozen=True, slots=True)
class Watch:
    """One view and the keys its events wake.

    changed: whether a modification of a stored object matters; creation and deletion always do.
    """

    view: View
    keys: Mapper
    changed: Callable[[Object, Object], bool] = any_change


@dataclass(frozen=True, slots=True)
class Controller:
    """One capability as the two drivers run it.

    name: as in `--only`, metrics and logs. component: the source of its events.
    observe: collects a snapshot; None when there is nothing to judge.
    decide: judges it. report: lays what became of the writes over the decision.
    workers: keys that run at once, at most.
    """

    name: str
    component: str
    watches: tuple[Watch, ...]
    observe: Callable[[Reader, Ref], Awaitable[Any]]
    decide: Callable[[Any], Decision]
    report: Callable[[Any, Decision, tuple[Outcome, ...]], Decision]
    workers: int = 16

    @property
    def views(self) -> tuple[View, ...]:
        """The views it needs before its first pass."""
        return tuple(dict.fromkeys(watch.view for watch in self.watches))
