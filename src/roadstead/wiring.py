"""What wakes a capability, as data."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from roadstead.decision import Cached, Decision, Finding, Outcome, Reader
from roadstead.kube.objects import Object
from roadstead.kube.reasons import Reason
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View

Mapper = Callable[[Object, Cached], Iterable[Ref]]
"""Names the keys an object wakes. It is asked for the old and the new form of a change, and may
look into other views; an Unread view is the engine's to handle: it lists every key then."""


def any_change(_old: Object, _new: Object) -> bool:
    """Wake on every modification."""
    return True


def identity_changed(old: Object, new: Object) -> bool:
    """Wake on identity, labels and deletion alone: Flux rewrites the status all the time."""
    return (old.meta.uid, old.labels, old.deleting) != (new.meta.uid, new.labels, new.deleting)


@dataclass(frozen=True, slots=True)
class Watch:
    """One view and the keys its events wake.

    changed: whether a modification of a stored object matters; creation and deletion always do.
    optional: passes run without the view where its kind is not served; reading it raises Unread.
    awaited: whether passes wait until it was listed; without, an optional one whose first list
        has failed holds up nothing, and reading it raises Unread.
    """

    view: View
    keys: Mapper
    changed: Callable[[Object, Object], bool] = any_change
    optional: bool = False
    awaited: bool = True


@dataclass(frozen=True, slots=True)
class Review:
    """One object that is about to be written, as admission is asked about it.

    subject: as submitted, whole but for what nobody judges. creating: False for an update.
    """

    subject: Object = field(repr=False)
    creating: bool = True


@dataclass(frozen=True, slots=True)
class Admitted:
    """What becomes of an object under review; it is let through, with changes.

    patch: operations of a JSON patch (RFC 6902). warnings: for whoever writes it.
    outcome, verdict: one word each, for figures; the verdict may be empty.
    remarks: for the log, each under a key; of a key it is told once.
    """

    patch: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    outcome: str = ""
    verdict: str = ""
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Admission:
    """One capability that answers admission, as both drivers ask it.

    name: as in `--only`, metrics and logs. path: where the API server asks; service: at whom.
    views: every view it reads; it answers once all were listed. reviewed: kinds it is asked about.
    asked: kinds it reads one object of.
    namespaces, objects: label selectors, in the form of the wire, of those it is asked about; an
        update is asked about where the object matches before it or after it.
    observe, decide: as of a Controller; a read that fails refuses the request.
    budget: how long an answer may take. reasons: every word its findings use.
    """

    name: str
    path: str
    service: str
    views: tuple[View, ...]
    reviewed: tuple[Kind, ...]
    asked: tuple[Kind, ...]
    namespaces: str
    objects: str
    observe: Callable[[Reader, Review], Awaitable[Any]]
    decide: Callable[[Any], Admitted]
    budget: timedelta
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Controller:
    """One capability as the two drivers run it.

    name: as in `--only`, metrics and logs. component: the source of its events.
    observe: collects a snapshot; None when there is nothing to judge.
    decide: judges it. report: lays what became of the writes over the decision.
    reasons: every word its findings, conditions and events use.
    workers: keys that run at once, at most.
    pause: the least time from the start of one pass to that of the next, for a controller with
        one key; the live driver keeps it, offline no time passes between passes.
    rate: writes a second at most, 0 for no limit of its own; the live driver keeps it.
    checked: whether what it writes is held against our schemas; a stand-in's is not.
    views: every view it reads. optional: those it can do without. unawaited: those of them whose
        failed list holds up nothing. They are asked for with every event and every key, so they
        are put together once.
    """

    name: str
    component: str
    watches: tuple[Watch, ...]
    observe: Callable[[Reader, Ref], Awaitable[Any]]
    decide: Callable[[Any], Decision]
    report: Callable[[Any, Decision, tuple[Outcome, ...]], Decision]
    reasons: tuple[Reason, ...] = ()
    workers: int = 16
    checked: bool = True
    pause: timedelta = timedelta(0)
    rate: float = 0.0
    views: tuple[View, ...] = field(init=False, compare=False)
    optional: frozenset[View] = field(init=False, compare=False)
    unawaited: frozenset[View] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Put the views together."""
        views = tuple(dict.fromkeys(watch.view for watch in self.watches))
        optional = frozenset(watch.view for watch in self.watches if watch.optional)
        object.__setattr__(self, "views", views)
        object.__setattr__(self, "optional", optional)
        unawaited = frozenset(watch.view for watch in self.watches if not watch.awaited)
        object.__setattr__(self, "unawaited", unawaited & optional)
