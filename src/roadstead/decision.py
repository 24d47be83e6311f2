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

from roadstead.kube.names import minted_name
from roadstead.kube.objects import Object, Owner
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

    def done(self, once: str) -> bool:
        """Whether this process has written for this already (`Want.once`)."""

    async def see(self, view: View, namespace: str, name: str) -> Object | None:
        """One object of a view: stored, or live once this pass must be sure (`Decision.sure`).

        Raises Unread as `get` does, and ClusterError where the live read fails.
        """

    async def see_all(
        self, view: View, namespace: str, index: str, value: str
    ) -> tuple[Object, ...]:
        """What an index of a view holds in one namespace, stored or live, sorted by name."""

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of what an owner reference names, at the version it states, or None.

        namespace: of what it owns; a cluster-scoped owner is read without one. The uid is the
        caller's to compare; an answer may be half a minute old where it has that uid.
        """

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
    APPLY = "apply"
    """Server-side apply of the fields stated, forced, for what shares an object with others."""
    STATUS = "status"
    """PUT to `/status`: of the object judged, last, or of one that has an entry of ours."""
    PATCH = "patch"
    """Merge patch of named keys, with the resourceVersion seen, on what stays another's."""
    MINT = "mint"
    """POST under a name made of the owner's uid, the role and a number: a lost answer makes no
    second object, since the next try meets the first."""


@dataclass(frozen=True, slots=True)
class Mint:
    """What a minted name is made of.

    owner: uid of the controller owner, by which one that is already there is known as ours.
    role: what it is to the owner (`claim`, `service`); an owner has one of each.
    """

    owner: str
    role: str


@dataclass(frozen=True, slots=True)
class Want:
    """One object that should exist, whole, and how it is written.

    body: for `replace`, the PUT in full; it starts from `live` and keeps what others wrote.
    live: the object as it was read; None when there is none.
    note: why it is written, a word for metrics and `plan` (`readmit`); may be empty.
    needs: objects whose own write must not have failed before this one.
    manager: whose fields an apply states. mint: what a minted name is made of.
    once: what a patch is written for; the reader tells later passes that it was (`done`).
    """

    how: How
    kind: Kind
    body: Mapping[str, Any] = field(repr=False)
    live: Object | None = None
    note: str = ""
    needs: tuple[Ref, ...] = ()
    manager: str = ""
    minted: Mint | None = None
    once: str = ""

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

    @classmethod
    def apply(cls, kind: Kind, body: Mapping[str, Any], live: Object, manager: str) -> "Want":
        """Want these fields on an object that is there, and leave all others to their owners.

        body: with the uid and resourceVersion seen, which are its preconditions.
        """
        return cls(How.APPLY, kind, body, live, manager=manager)

    @classmethod
    def mint(
        cls, kind: Kind, body: Mapping[str, Any], minted: Mint, needs: tuple[Ref, ...] = ()
    ) -> "Want":
        """Want one new object for an owner; `metadata.generateName` is its prefix."""
        return cls(How.MINT, kind, body, minted=minted, needs=needs)

    @classmethod
    def patch(cls, kind: Kind, body: Mapping[str, Any], live: Object, once: str = "") -> "Want":
        """Want these keys of an object that is there, null for those that should go.

        body: with the name and the resourceVersion seen.
        """
        return cls(How.PATCH, kind, body, live, once=once)

    @classmethod
    def status(cls, kind: Kind, body: Mapping[str, Any], live: Object) -> "Want":
        """Want this status of an object that is another's and holds an entry of ours."""
        return cls(How.STATUS, kind, body, live)

    @property
    def ref(self) -> Ref:
        """Its name; of a minted one, the first it may get."""
        meta = self.body["metadata"]
        name = meta.get("name") or ""
        if self.minted is not None:
            name = minted_name(meta["generateName"], self.minted.owner, self.minted.role, 0)
        return self.kind.ref(meta.get("namespace", ""), name)


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

    resource_version: empty where the uid alone is the precondition.
    bound: the guard against many drops at once; None when the drop is not counted.
    """

    ref: Ref
    uid: str
    resource_version: str = ""
    bound: Bound | None = None


class Telling(StrEnum):
    """When an event is published."""

    HOURLY = "hourly"
    """When (uid, reason, message) becomes true, and again after an hour."""
    ONCE = "once"
    """When it becomes true, and not again while it stays so."""
    CHANGE = "change"
    """With the status write that makes it true; a pass that writes no status tells of nothing."""
    FIRST = "first"
    """As CHANGE, of something that stays true: the status that is written says so first."""
    TOLD = "told"
    """It is true still and was told before, as the status says."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something a person should hear of, as long as it is true."""

    about: Ref
    uid: str
    reason: str
    message: str
    type: str = "Warning"
    telling: Telling = Telling.HOURLY


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was left as it is, for the log of every pass. reason: the word of docs."""

    about: Ref
    reason: str


@dataclass(frozen=True, slots=True)
class Status:
    """What an object's status should be; written last, and only when it differs.

    live: the object as it was read. value: the whole of its status.
    """

    live: Object
    value: Mapping[str, Any]

    @property
    def differs(self) -> bool:
        """Whether there is anything to write."""
        return self.value != (self.live.body.get("status") or {})


@dataclass(frozen=True, slots=True)
class Decision:
    """What should be, and why.

    want: in write order; what is in neither `want` nor `drop` is left alone.
    status: written after them, and after what became of them is reported; None leaves it.
    sure: carried out only when it was judged on live reads; the pass looks again before it writes.
    independent: its entries stand each for itself, so that a conflict of one keeps no other from
        being written; all the same the pass is repeated once.
    findings: every rule asked, the stop last.
    state: one word for tables and metrics; empty for a key that is not counted.
    recheck: when to look again if nothing happens; the driver adds jitter.
    backoff: look again with growing pauses instead, since a write failed; the first one is
        `first_pause`.
    wakes: objects that must wake this key though no label of theirs says so.
    inconclusive: it cannot tell whether what earlier passes found is still so: no event of theirs
        is over, and a withdrawal that is held stays held.
    figures: numbers of the key, by name, for metrics and tables.
    notes: what was left alone though somebody may expect it, for the log.
    """

    want: tuple[Want, ...] = ()
    drop: tuple[Drop, ...] = ()
    status: Status | None = None
    sure: bool = False
    independent: bool = False
    events: tuple[Event, ...] = ()
    findings: tuple[Finding, ...] = ()
    state: str = ""
    recheck: timedelta | None = None
    backoff: bool = False
    first_pause: timedelta = timedelta(seconds=1)
    wakes: tuple[Ref, ...] = ()
    inconclusive: bool = False
    figures: tuple[tuple[str, int], ...] = ()
    notes: tuple[Note, ...] = ()


class Did(StrEnum):
    """What came of one entry of a decision."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    HELD = "held"
    """The guard against mass withdrawal kept a drop back."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """Something it needs has failed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one want or drop.

    status, reason, cause, said: of the API server's refusal when it failed, as ClusterError has
        them. message: the whole of its text, for logs alone.
    how: the way it was written; None for a drop.
    retry_after: how long the server asked us to wait before the next try.
    """

    ref: Ref
    did: Did
    status: int = 0
    reason: str = ""
    cause: str = ""
    note: str = ""
    said: str = ""
    message: str = field(default="", repr=False)
    how: How | None = None
    retry_after: timedelta | None = None
