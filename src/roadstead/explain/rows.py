"""One row of `status`, and what events say of an object."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref

UNKNOWN = "Unknown"
_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class Row:
    """One object.

    kind: as the table has it. ready: True, False, Unknown, or - where nothing is owed.
    reason: the state's own word. about: what it has, or what stands in the way.
    source, expires: of a trust anchor. addresses: that it holds.
    event: the latest that was told of it, where nothing better is known.
    """

    kind: str
    key: Ref
    ready: str
    reason: str
    state: str
    about: str
    age: timedelta
    source: str = ""
    expires: str = ""
    addresses: tuple[str, ...] = ()
    event: str = ""

    @property
    def fine(self) -> bool:
        """Whether nobody needs to look."""
        return self.ready in {"True", "-"}

    @property
    def order(self) -> tuple[str, str, str]:
        """Namespace, kind, name."""
        return (self.key.namespace, self.kind, self.key.name)


def is_forbidden(error: ClusterError) -> bool:
    """Tell whether rights are missing."""
    return error.status == _FORBIDDEN or error.reason == "forbidden"


def latest(events: Iterable[Object], refs: Iterable[Ref]) -> tuple[str, str]:
    """Reason and message of the last event about one of these objects; empty for none."""
    names = {(ref.kind.kind, ref.namespace, ref.name) for ref in refs}
    told = ("", "")
    for event in sorted(events, key=last_time):
        about = event.body.get("involvedObject") or {}
        if (about.get("kind"), about.get("namespace", ""), about.get("name")) in names:
            told = (str(event.body.get("reason", "")), str(event.body.get("message", "")))
    return told


def last_time(event: Object) -> str:
    """When an event was told last, as RFC 3339."""
    body = event.body
    series = body.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        body.get("lastTimestamp"),
        body.get("eventTime"),
        event.meta.creation_timestamp,
    )
    return next((str(time) for time in times if time), "")
