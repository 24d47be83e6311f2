"""One row of `status` for each release: its anchor's state, where it comes from, when it expires.

An anchor has no object of its own to ask, so the state is what a decision comes to now.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from roadstead.capabilities.anchors import api
from roadstead.decision import Decision, Did, Outcome, Verdict
from roadstead.errors import ClusterError
from roadstead.explain.anchors.tell import NOTHING_OWED, is_settled
from roadstead.explain.rows import UNKNOWN, Row, is_forbidden
from roadstead.explain.subject import Look
from roadstead.explain.trail import PENDING, stop_of, warnings
from roadstead.kube.objects import Object
from roadstead.kube.times import format_time

KIND = "TrustAnchor"


async def row(release: Object, look: Look, now: datetime) -> Row | None:
    """Lay out one release; None for one that is no application."""
    judged = await look(release.ref)
    if judged is None:
        return None
    told = ": ".join(part for part in judged.told if part)
    if judged.error is not None:
        return _unread(release, judged.error, told, now)
    return laid_out(release, judged.decision, judged.outcomes, now, event=told)


def _unread(release: Object, error: ClusterError, event: str, now: datetime) -> Row:
    key, age = release.ref, release.age(now)
    if is_forbidden(error):
        reason = f"{UNKNOWN} (may not read {_what(error)})"
        return Row(KIND, key, UNKNOWN, reason, UNKNOWN, event, age, event=event)
    return Row(KIND, key, "False", "ReadFailed", "Error", error.message, age, event=event)


def laid_out(
    release: Object,
    decision: Decision,
    outcomes: Iterable[Outcome],
    now: datetime,
    *,
    event: str = "",
) -> Row | None:
    """Lay out a release by its decision.

    outcomes: what a dry pass would have done; anything but "unchanged" is still to come.
    """
    age = release.age(now)
    if decision.state == "Ignored":
        return None
    stop = stop_of(decision)
    source, expires = _anchor(decision)
    reason = next((one.reason for one in warnings(decision)), decision.state)
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
    key, state = release.ref, decision.state
    return Row(KIND, key, ready, reason, state, about, age, source, expires, event=event)


def _what(error: ClusterError) -> str:
    """What may not be read, as its resource."""
    return "secrets" if "secret" in error.about.lower() else error.about


def _anchor(decision: Decision) -> tuple[str, str]:
    """Where a wanted anchor comes from, and when it has no valid certificate left."""
    ends = dict(decision.figures).get(api.EXPIRY)
    if ends is None:
        return "", ""
    filled = next(one for one in decision.findings if one.rule == "source-filled")
    return filled.refs[0].key, format_time(datetime.fromtimestamp(ends, UTC))
