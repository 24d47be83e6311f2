"""What a decision is: it looks at a snapshot and says what should be, and why.

READ FIRST. A capability collects a frozen Snapshot through a Reader (`observe`), asks its rules
one after another (`ask`), and returns a Decision: wanted objects in write order, drops, events,
and the trail of findings that `why`, `plan`, events and the status page all print. Nothing here
reads, writes, waits or knows the time; `engine` carries a decision out, `runtime` and `sim` drive
it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings


class Cached(Protocol):
    """Plain reads of what views store.

    Each raises Unread when the view is absent, forbidden or not synced: unknown is never none.
    """

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        """One object by name."""

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """All objects, or those an index holds under a value, sorted by ref."""


class Reader(Cached, Protocol):
    """What `observe` asks.

    now: the time of this pass. settings: the flags of `run`.
    Live reads raise ClusterError for every answer but success and "no such object".
    """

    @property
    def now(self) -> datetime:
        """The time of this pass, UTC."""

    @property
    def settings(self) -> Settings:
        """What the flags of `run` set."""

    def absent(self, view: View, namespace: str, name: str) -> bool:
        """Tell whether a view's word that an object is not there is enough to create over it.

        False as well when this pass repeats one that met a conflict: then only a live read is.
        """

    def since(self, state: str) -> timedelta:
        """How long this key has been in this state without a break; zero when it is not."""

    async def live_get(self, ref: Ref) -> Object | None:
        """One object, whole, from the API server."""

    async def live_list(self, kind: Kind, namespace: str, labels: str) -> tuple[Object, ...]:
        """The metadata of every object a label selector matches, from the API server."""


class Verdict(StrEnum):
    """What a rule says of a snapshot."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WAIT = "wait"
    """Someone else must act first; a watch or a timer wakes us."""
    REFUSE = "refuse"
    """A person must act."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's answer.

    rule: its name, as `why` prints it. reason: the word of events, states and docs.
    message: one sentence; never a Secret's value, never another tenant's names.
    refs: what was looked at, the object judged first.
    """

    rule: str
    verdict: Verdict
    reason: str = ""
    message: str = ""
    refs: tuple[Ref, ...] = ()


Seen = TypeVar("Seen")
Rule = Callable[[Seen], Finding]


def ask(rules: Iterable[Rule[Seen]], seen: Seen) -> tuple[Finding, ...]:
    """Ask rules in order, up to and with the first that does not pass."""
    findings: list[Finding] = []
    for rule in rules:
        findings.append(rule(seen))
        if findings[-1].verdict is not Verdict.PASS:
            break
    return tuple(findings)


def stopped(findings: tuple[Finding, ...]) -> bool:
    """Tell whether the trail ends in a wait or a refusal."""
    return bool(findings) and findings[-1].verdict is not Verdict.PASS


class How(StrEnum):
    """How a wanted object is written."""

    REPLACE = "replace"
    """Absent: POST. Present: PUT with the resourceVersion seen, when anything differs."""
    RENEW = "renew"
    """DELETE with the uid and resourceVersion seen, then POST: it cannot be changed in place."""
    CREATE = "create"
    """POST; one that is already there is left alone."""


@dataclass(frozen=True, slots=True)
class Want:
    """One object that should exist, whole, and how it is written.

    body: for `replace`, the PUT in full; it starts from `live` and keeps what others wrote.
    live: the object as it was read; None when there is none.
    note: why it is written, a word for metrics and `plan` (`readmit`); may be empty.
    """

    how: How
    kind: Kind
    body: Mapping[str, Any] = field(repr=False)
    live: Object | None = None
    note: str = ""

    @classmethod
    def replace(
        cls, kind: Kind, body: Mapping[str, Any], live: Object | None, note: str = ""
    ) -> "Want":
        """Want exactly this object, whatever stray keys the live one has."""
        return cls(How.REPLACE, kind, body, live, note)

    @classmethod
    def renew(cls, kind: Kind, body: Mapping[str, Any], live: Object) -> "Want":
        """Want this object where the live one cannot be changed in place."""
        return cls(How.RENEW, kind, body, live)

    @classmethod
    def create(cls, kind: Kind, body: Mapping[str, Any]) -> "Want":
        """Want an object of this name to exist, whatever it holds."""
        return cls(How.CREATE, kind, body)

    @property
    def ref(self) -> Ref:
        """Its name."""
        meta = self.body["metadata"]
        return self.kind.ref(meta.get("namespace", ""), meta["name"])


@dataclass(frozen=True, slots=True)
class Bound:
    """A drop that is counted: at most max(5, a tenth) of a group within ten minutes.

    group: what is counted together. size: how many the group has, as seen by this pass.
    Source: trust-anchors 6.2, mass withdrawal guard.
    """

    group: str
    size: int


@dataclass(frozen=True, slots=True)
class Drop:
    """One object that should go, deleted only as it was seen.

    bound: the guard against many drops at once; None when the drop is not counted.
    """

    ref: Ref
    uid: str
    resource_version: str
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something a person should hear of, as long as it is true.

    The engine publishes it when (uid, reason, message) becomes true, and again after an hour.
    """

    about: Ref
    uid: str
    reason: str
    message: str
    type: str = "Warning"


@dataclass(frozen=True, slots=True)
class Decision:
    """What should be, and why.

    want: in write order; what is in neither `want` nor `drop` is left alone.
    findings: every rule asked, the stop last.
    state: one word for tables and metrics; empty for a key that is not counted.
    recheck: when to look again if nothing happens; the driver adds jitter.
    backoff: look again with growing pauses instead, since a write failed.
    wakes: objects that must wake this key though no label of theirs says so.
    """

    want: tuple[Want, ...] = ()
    drop: tuple[Drop, ...] = ()
    events: tuple[Event, ...] = ()
    findings: tuple[Finding, ...] = ()
    state: str = ""
    recheck: timedelta | None = None
    backoff: bool = False
    wakes: tuple[Ref, ...] = ()


class Did(StrEnum):
    """What came of one entry of a decision."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    HELD = "held"
    """The guard against mass withdrawal kept a drop back."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one want or drop.

    status, reason, cause: of the API server's refusal when it failed, as ClusterError has them.
    """

    ref: Ref
    did: Did
    status: int = 0
    reason: str = ""
    cause: str = ""
    note: str = ""
