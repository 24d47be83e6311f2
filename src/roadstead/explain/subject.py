"""What explain must know of one capability: what people call it, and its own sentences.

A capability is one module that fills in a Subject, and one entry in `subjects`.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from roadstead.decision import Decision, Finding, Outcome, Reader
from roadstead.errors import ClusterError
from roadstead.explain.rows import Row
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View
from roadstead.wiring import Controller


@dataclass(frozen=True, slots=True)
class Next:
    """One way on. commands: typed in order. effect: what comes of them."""

    commands: tuple[str, ...]
    effect: str


@dataclass(frozen=True, slots=True)
class Listener:
    """One listener of a Gateway, as a route meets it.

    hostname: empty for any. allowed: whether it admits routes of the route's namespace.
    admits: which it does. matches: whether it answers a hostname of the route, in words.
    """

    name: str
    port: int
    hostname: str
    allowed: bool
    admits: str
    matches: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a capability says of a decision beside its findings.

    state: one word for where the object stands. headline: the state as a trail's first line has
    it. settled: whether all is as it should be, or nothing is owed, as far as no rule stopped.
    because: the sentence under a trail.
    next: what a person may do, the best first; empty where nobody can do anything.
    wakes: what will have it looked at again; empty where a person must act.
    notes: facts that are no rule's.
    parent: what a route attaches to, with its listeners; empty for anything else.
    """

    state: str
    headline: str
    settled: bool
    because: str
    next: tuple[Next, ...] = ()
    wakes: str = ""
    notes: tuple[str, ...] = ()
    parent: Ref | None = None
    listeners: tuple[Listener, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What a decision says of an object beside its key, with its own findings."""

    about: Ref
    findings: tuple[Finding, ...]
    told: Told


@dataclass(frozen=True, slots=True)
class Judged:
    """What a look at one key came to.

    outcomes: what a dry pass would have done. error: of a read that failed before it.
    told: reason and message of the latest event; empty for none.
    """

    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    error: ClusterError | None = None
    told: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Found:
    """What a name stands for.

    keys: what is judged for it. notes: facts of the object itself. part: whether a decision is
    asked for what it says of this object alone. parts: what is said of it beside any key.
    """

    about: Ref
    keys: tuple[Ref, ...]
    notes: tuple[str, ...] = ()
    part: bool = False
    parts: tuple[Part, ...] = ()


Judge = Callable[[Ref], Awaitable[Decision | None]]
"""The decision about one key; None when there is nothing to judge."""
Look = Callable[[Ref], Awaitable[Judged | None]]
"""The same with what the pass came to, for tables."""
Find = Callable[[str, str, Reader, Judge], Awaitable[Found]]
"""What a name in a namespace (empty: the only one that has it) stands for.

Raises: InputError when it is not there; ClusterError.
"""
Note = Callable[[Object | None, Object, Callable[[Ref], Object | None]], str]
"""What `plan` says of an object that is made or changed: before, after, and others by name."""


@dataclass(frozen=True, slots=True)
class Word:
    """A kind that a person may name. find: what one name of it stands for."""

    kind: Kind
    find: Find


def no_event(_key: Ref, decision: Decision, _told: tuple[str, str]) -> Decision:
    """Learn nothing from events."""
    return decision


def the_key(key: Ref, _decision: Decision) -> frozenset[Ref]:
    """Name the key alone."""
    return frozenset({key})


async def no_parts(
    _reader: Reader, _key: Ref, _decision: Decision, _about: Ref | None
) -> tuple[Part, ...]:
    """Say nothing of other objects."""
    return ()


@dataclass(frozen=True, slots=True)
class Subject:
    """One capability, as `why`, `status` and `plan` speak of it.

    kind: of its rows in `status`; column: what their last column holds; noun: a row in words.
    resource: what stands before a name in `-o name`.
    view: whose objects have rows; listed: every view that rows are made from; missed: the one
        without which they wait, as `status` tells.
    keys: the kinds its controller has keys of. words: what a person may name, in lower case.
    single: its key where there is only one, whatever kind that has: it is judged from all
        namespaces, and has its row in its own.
    quiet: reasons of a wait in which nobody waits for anything.
    rules: the names of the rules that those asked belong to, in order.
    tell: its own part of a trail. row: of one object; None where the object is not concerned.
    learn: lay over a decision what only the running controller can know, as its event tells it.
    about: whose events tell of a key. notes: what `plan` says of a kind.
    parts: what a decision says of the objects it judges beside its key, each for itself; of one
        alone where it is named.
    wide: whether an object is judged by objects of other namespaces, so that all are looked at.
    reported: an answer from what an object's status says, for who may not read all that.
    """

    controller: Controller
    kind: str
    column: str
    noun: str
    resource: str
    view: View
    listed: tuple[View, ...]
    keys: frozenset[Kind]
    words: Mapping[str, Word]
    rules: Callable[[Collection[str]], tuple[str, ...]]
    tell: Callable[[Reader, Ref, Decision], Coroutine[Any, Any, Told]]
    row: Callable[[Object, Look, datetime], Coroutine[Any, Any, Row | None]]
    single: Ref | None = None
    missed: View | None = None
    quiet: frozenset[str] = frozenset()
    learn: Callable[[Ref, Decision, tuple[str, str]], Decision] = no_event
    about: Callable[[Ref, Decision], frozenset[Ref]] = the_key
    notes: Mapping[Kind, Note] = field(default_factory=dict)
    parts: Callable[[Reader, Ref, Decision, Ref | None], Coroutine[Any, Any, tuple[Part, ...]]] = (
        no_parts
    )
    wide: bool = False
    reported: Callable[[Reader, Ref], Coroutine[Any, Any, tuple[Part, ...]]] | None = None

    def is_judged_itself(self, key: Ref) -> bool:
        """Whether a key is the object a person wrote, so that every finding is about it."""
        return key.kind.kind == self.kind

    def judges(self, key: Ref) -> bool:
        """Whether a key is one of its controller's; the one of a single key is tried first."""
        return key.kind in self.keys if self.single is None else key == self.single
