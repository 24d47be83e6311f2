"""The judge of the runs of leaders notices what it is there for, in logs of a few lines."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lead_judge import Reigns
from roadstead.kube.refs import EVENT, LEASE, SECRET, SERVICE
from roadstead.runtime.lease import Terms

OURS, LOCK, TERMS = "ours", LEASE.ref("home", "roadstead-anchors"), Terms.lasting(3)
START = datetime(2026, 3, 1, tzinfo=UTC)


def held(life: int, at: float, holder: str = "somebody", code: int = 200) -> dict[str, Any]:
    """The lease is taken or renewed; without a holder it is released."""
    spec = {"holderIdentity": holder} if holder else {}
    return {**line(life, at, LEASE.plural, code), "requestObject": {"spec": spec}}


def wrote(
    life: int, at: float, code: int = 200, *, took: float = 0.1, late: bool = False
) -> dict[str, Any]:
    """Anything else is written."""
    mark = " late" if late else ""
    return line(life, at, SERVICE.plural, code, took=took, mark=mark)


def told(life: int, at: float, *, late: bool = False) -> dict[str, Any]:
    """An Event is created."""
    return {**line(life, at, EVENT.plural, 201, mark=" late" if late else ""), "verb": "create"}


def line(
    life: int, at: float, plural: str, code: int, *, took: float = 0.1, mark: str = ""
) -> dict[str, Any]:
    """One event of an audit log; at: seconds from the start, took: until the answer."""
    moments = [(START + timedelta(seconds=s)).isoformat() for s in (at, at + took)]
    return {
        "verb": "update",
        "user": {"username": OURS},
        "userAgent": f"roadstead/1 life/{life}{mark}",
        "objectRef": {"resource": plural, "namespace": "home", "name": "x"},
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": moments[0],
        "stageTimestamp": moments[1],
    }


TAKEN = (held(1, 0), held(1, 2), held(2, 5.5))
CHANGED = (held(1, 0), held(1, 2), held(1, 2.5, ""), held(2, 2.8))


@pytest.mark.parametrize(
    ("log", "found"),
    [
        pytest.param(TAKEN, ("", "", ""), id="runs-out"),
        pytest.param(CHANGED, ("", "", ""), id="released"),
        pytest.param((held(1, 0), held(2, 2.9)), ("together", "", ""), id="too-early"),
        pytest.param((held(1, 0), held(2, 2.9, code=409)), ("", "", ""), id="refused"),
        pytest.param((held(1, 0), held(2, 9)), ("", "slow", ""), id="too-late"),
        pytest.param((*CHANGED[:3], held(2, 6)), ("", "slow", ""), id="waits-for-a-release"),
        pytest.param((*TAKEN, wrote(1, 1)), ("", "", ""), id="writes-while-leading"),
        pytest.param((*TAKEN, wrote(2, 4)), ("", "", "write"), id="writes-before"),
        pytest.param((*TAKEN, wrote(1, 5.2)), ("", "", "write"), id="writes-after"),
        pytest.param((*TAKEN, wrote(1, 4.9, took=0.2)), ("", "", "write"), id="ends-after"),
        pytest.param((*TAKEN, wrote(1, 6, 409)), ("", "", ""), id="refused-after"),
        pytest.param((*CHANGED, wrote(1, 2.6)), ("", "", "write"), id="writes-once-released"),
        pytest.param((*TAKEN, wrote(1, 5.2, late=True)), ("", "", ""), id="late-and-alone"),
        pytest.param((*TAKEN, wrote(1, 6, late=True)), ("", "", "write"), id="late"),
        pytest.param((*TAKEN, told(1, 6, late=True)), ("", "", ""), id="tells-late"),
        pytest.param((*TAKEN, told(1, 6)), ("", "", "write"), id="tells-after"),
        pytest.param((*TAKEN, wrote(3, 1)), ("", "", "write"), id="never-led"),
    ],
)
def test_two_leaders_a_slow_one_and_a_write_too_many_are_found(
    log: tuple[dict[str, Any], ...], found: tuple[str, str, str]
) -> None:
    """Each line of a log is one step away from one in which nothing is wrong."""
    judged = Reigns.read(log, LOCK, OURS, TERMS)
    said = (judged.together(), judged.slow(), judged.without_lease())

    assert tuple(map(bool, found)) == tuple(map(bool, said)), said


def test_somebody_elses_writes_and_leases_are_nobodys_reign() -> None:
    """Only the candidates' own count, and of leases only theirs."""
    other = {**wrote(0, 1), "user": {"username": "admin"}}
    read = {**wrote(1, 1), "verb": "get", "objectRef": {"resource": SECRET.plural}}
    apart = held(1, 1)
    apart["objectRef"] = {**apart["objectRef"], "namespace": "elsewhere"}

    assert ((), ()) == (
        Reigns.read((other, read, apart), LOCK, OURS, TERMS).history,
        Reigns.read((other, read, apart), LOCK, OURS, TERMS).writes,
    )
