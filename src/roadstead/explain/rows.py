"""One row of `status` for each release: its anchor's state, where it comes from, when it expires.

An anchor has no object of its own to ask, so the state is what a decision comes to now.
"""

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from roadstead.capabilities.anchors import api
from roadstead.decision import Decision, Did, Outcome, Verdict
from roadstead.errors import ClusterError
from roadstead.explain.trail import NOTHING_OWED, PENDING, is_settled, stop_of
from roadstead.kube.objects import Object
from roadstead.kube.pem import lift
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_time

KIND = "TrustAnchor"
UNKNOWN = "Unknown"
_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class Row:
    """One release.

    ready: None where nothing is owed. reason: the state's own word. about: source and expiry, or
    what stands in the way. event: the latest that was told of the release, where nothing better
    is known.
    """

    key: Ref
    ready: str
    reason: str
    state: str
    about: str
    age: timedelta
    source: str = ""
    expires: str = ""
    event: str = ""

    @property
    def fine(self) -> bool:
        """Whether nobody needs to look."""
        return self.ready in {"True", "-"}


def row(
    release: Object,
    decision: Decision,
    outcomes: Iterable[Outcome],
    now: datetime,
    *,
    error: ClusterError | None = None,
    event: str = "",
) -> Row | None:
    """Lay out one release; None for one that is no application.

    outcomes: what a dry pass would have done; anything but "unchanged" is still to come.
    """
    key = release.ref
    age = release.age(now)
    if decision.state == "Ignored":
        return None
    if error is not None and _forbidden(error):
        reason = f"{UNKNOWN} (may not read {_what(error)})"
        return Row(key, UNKNOWN, reason, UNKNOWN, event, age, event=event)
    if error is not None:
        return Row(key, "False", "ReadFailed", "Error", error.message, age, event=event)
    stop = stop_of(decision)
    source, expires = _anchor(decision)
    reason = _reason(decision)
    ready = "True" if is_settled(decision) else "False"
    about = f"{source}, expires {expires[:10]}" if source and expires else source
    if stop is not None:
        about = stop.message
        reason = stop.reason if stop.verdict is Verdict.REFUSE else decision.state
    elif any(outcome.did is not Did.UNCHANGED for outcome in outcomes):
        ready, reason = "False", PENDING
        about = f"{decision.state}, to be written" if decision.want else "to be withdrawn"
    if decision.state in NOTHING_OWED:
        ready = "-"
    live = decision.want[0].live if decision.want else None
    if live is not None:
        age = live.age(now)
    return Row(key, ready, reason, decision.state, about, age, source, expires, event)


def _reason(decision: Decision) -> str:
    return decision.events[0].reason if decision.events else decision.state


def _forbidden(error: ClusterError) -> bool:
    return error.status == _FORBIDDEN or error.reason == "forbidden"


def _what(error: ClusterError) -> str:
    """What may not be read, as its resource."""
    return "secrets" if "secret" in error.about.lower() else error.about


def _anchor(decision: Decision) -> tuple[str, str]:
    """Where a wanted anchor comes from, and when its first certificate expires."""
    if not decision.want:
        return "", ""
    body = decision.want[0].body
    source = str((body["metadata"].get("annotations") or {}).get(api.SOURCE, ""))
    value = b64decode((body.get("data") or {}).get(api.KEY, ""))
    certificates = lift(value).certificates
    first = min((one.not_after for one in certificates), default=None)
    return source, format_time(first) if first else ""


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
