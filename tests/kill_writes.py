"""What a write of ours means for an attachment, as a relay sees it come and an audit log has it.

The steps of a pass in the decisions' words, and the boundaries between two of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.kube.refs import EVENT, SERVICE

Json = Mapping[str, Any]
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_FLIPPING = ("Resolved", "Provisioned")


class Step(StrEnum):
    """One kind of write."""

    STAMP = "stamp"
    MINT = "mint claim"
    CREATE = "create Service"
    UPDATE = "update Service"
    DELETE = "delete Service"
    DROP = "delete claim"
    STATUS = "status"
    EVENT = "event"


class Boundary(NamedTuple):
    """Between two writes of one pass."""

    first: Step
    then: Step

    def __str__(self) -> str:
        """Name it, as in the table."""
        return f"{self.first} → {self.then}"


BOUNDARIES = tuple(
    Boundary(first, then)
    for first, second in (
        (Step.STAMP, (Step.MINT, Step.CREATE, Step.UPDATE, Step.DELETE, Step.DROP, Step.STATUS)),
        (Step.MINT, (Step.STATUS,)),
        (Step.CREATE, (Step.DROP, Step.STATUS)),
        (Step.UPDATE, (Step.DELETE, Step.DROP, Step.STATUS)),
        (Step.DELETE, (Step.DELETE, Step.DROP, Step.STATUS)),
        (Step.DROP, (Step.DROP, Step.STATUS)),
        (Step.STATUS, (Step.EVENT,)),
        (Step.EVENT, (Step.EVENT,)),
    )
    for then in second
)
"""Every place where a pass over an attachment can be cut in two.

A claim is dropped, and a Service deleted beside another, only where somebody has put a second one
beside ours; a stamp comes before an update where somebody has taken it away.
"""


class Key(NamedTuple):
    """One attachment by name."""

    namespace: str
    name: str


NOBODY = Key("", "")


@dataclass(frozen=True, slots=True)
class Sent:
    """One write as it was sent. part: the subresource."""

    verb: str
    resource: str
    part: str
    namespace: str
    name: str
    body: Json

    @classmethod
    def of_request(cls, method: str, path: str, body: Json) -> "Sent | None":
        """Read a request line; None for what is no write of a namespaced object."""
        parts = path.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        if method not in VERBS or len(rest) < 3 or rest[0] != "namespaces":
            return None
        name = rest[3] if len(rest) > 3 else str((body.get("metadata") or {}).get("name", ""))
        part = rest[4] if len(rest) > 4 else ""
        return cls(VERBS[method], rest[2], part, rest[1], name, body)

    @classmethod
    def of_audit(cls, entry: Json) -> "Sent":
        """Read an event of the audit log."""
        about, body = entry.get("objectRef") or {}, entry.get("requestObject") or {}
        name = about.get("name") or (body.get("metadata") or {}).get("name", "")
        return cls(
            str(entry["verb"]),
            str(about.get("resource", "")),
            str(about.get("subresource", "")),
            str(about.get("namespace", "")),
            str(name),
            body,
        )


@dataclass(frozen=True, slots=True)
class Meant:
    """What a write is for an attachment. told: so many events follow a status by the decision."""

    step: Step
    key: Key
    uid: str
    told: int = 0


class Reading:
    """Makes out what writes mean; it remembers who owns what, and what was reported last."""

    def __init__(self) -> None:
        """Know of nothing."""
        self._owners: dict[tuple[str, str, str], tuple[str, str]] = {}
        self._reported: dict[str, Json] = {}

    def note(self, sent: Sent) -> None:
        """Remember a write that the server has accepted, whoever sent it."""
        if sent.verb == "create" and (owner := controller(sent.body)):
            self._owners[sent.resource, sent.namespace, sent.name] = owner
        if sent.resource == ATTACHMENT.plural and sent.part == "status":
            self._reported[str(sent.body["metadata"].get("uid", ""))] = sent.body

    def owner(self, sent: Sent) -> tuple[str, str]:
        """Name and uid of the attachment that controls what a write is about."""
        stated = controller(sent.body) or ()
        known = self._owners.get((sent.resource, sent.namespace, sent.name), ("", ""))
        return stated or known

    def read(self, sent: Sent) -> Meant | None:
        """Make out one write; None for what is about no attachment."""
        meta = sent.body.get("metadata") or {}
        match sent.resource, sent.verb, sent.part:
            case ATTACHMENT.plural, "patch", "":
                return Meant(Step.STAMP, Key(sent.namespace, sent.name), str(meta.get("uid", "")))
            case ATTACHMENT.plural, "update", "status":
                uid = str(meta.get("uid", ""))
                told = flips(self._reported.get(uid, {}), sent.body)
                return Meant(Step.STATUS, Key(sent.namespace, sent.name), uid, told)
            case EVENT.plural, "create" | "patch", "":
                about = sent.body.get("involvedObject") or {}
                name = about.get("name") or sent.name.rpartition(".")[0]
                return Meant(Step.EVENT, Key(sent.namespace, name), str(about.get("uid", "")))
        step = _OWNED.get((sent.resource, sent.verb))
        name, uid = self.owner(sent)
        return Meant(step, Key(sent.namespace, name), uid) if step and name else None


_OWNED = {
    (CLAIM.plural, "create"): Step.MINT,
    (CLAIM.plural, "delete"): Step.DROP,
    (SERVICE.plural, "create"): Step.CREATE,
    (SERVICE.plural, "update"): Step.UPDATE,
    (SERVICE.plural, "delete"): Step.DELETE,
}


def controller(body: Json) -> tuple[str, str] | None:
    """Name and uid of the attachment that controls an object."""
    for owner in (body.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") == ATTACHMENT.kind:
            return str(owner["name"]), str(owner["uid"])
    return None


def flips(before: Json, after: Json) -> int:
    """How many events one status owes after another. Source: endpoint-attachments 3.7."""
    return sum(_flips(before, after, kind) for kind in _FLIPPING)


def _flips(before: Json, after: Json, kind: str) -> bool:
    old, new = _condition(before, kind), _condition(after, kind)
    return old != new and not (new[0] == old[0] == "True")


def _condition(body: Json, kind: str) -> tuple[str, str]:
    stated = (body.get("status") or {}).get("conditions") or ()
    found: Json = next((one for one in stated if one.get("type") == kind), {})
    return str(found.get("status", "")), str(found.get("reason", ""))
