"""The judge of the kill runs notices what it is there for, in logs of a few lines."""

from collections.abc import Mapping
from typing import Any

import pytest

from kill_judge import Judge, Kill
from kill_writes import Boundary, Key, Step
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.kube.names import minted_name
from roadstead.kube.refs import SERVICE, Kind

OURS, UID, NS = "system:serviceaccount:home:ours", "uid-a", "tenant-blue"
KEY = Key(NS, "a")
TENANTS = CLAIM.ref(NS, "own")
MINTED = minted_name("a-", UID, "claim", 0)
OWNER = {"kind": ATTACHMENT.kind, "name": "a", "uid": UID, "controller": True}
ONCE: dict[str, Any] = {"metadata": {"uid": UID, "resourceVersion": "7"}}


def made(kind: Kind, name: str, life: int) -> dict[str, Any]:
    """An object of ours is created."""
    meta = {"name": name, "generateName": "a-", "ownerReferences": [OWNER]}
    return line(kind, "create", name, life, {"metadata": meta}, code=201)


def dropped(kind: Kind, name: str, life: int) -> dict[str, Any]:
    """An object is deleted."""
    return line(kind, "delete", name, life, {"preconditions": {"uid": "uid-of-it"}})


def told(life: int, body: Mapping[str, Any] = ONCE) -> dict[str, Any]:
    """A status is written."""
    return line(ATTACHMENT, "update", "a", life, body, part="status")


def line(
    kind: Kind,
    verb: str,
    name: str,
    life: int,
    body: Mapping[str, Any],
    *,
    part: str = "",
    code: int = 200,
) -> dict[str, Any]:
    """One event of an audit log; life 0 is somebody else."""
    return {
        "verb": verb,
        "user": {"username": OURS if life else "somebody"},
        "userAgent": f"roadstead/1 life/{life}" if life else "kubectl",
        "objectRef": {"resource": kind.plural, "namespace": NS, "name": name, "subresource": part},
        "requestObject": body,
        "responseStatus": {"code": code},
    }


def judged(*log: dict[str, Any]) -> Judge:
    """Judge a log."""
    judge = Judge(OURS, {TENANTS}, {"a-zz-0"})
    judge.read(log)
    return judge


CUT = Kill(1, KEY, Boundary(Step.MINT, Step.STATUS))


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        pytest.param([made(CLAIM, MINTED, 1), told(2)], True, id="made-up-for"),
        pytest.param([made(CLAIM, MINTED, 1), told(1), told(2)], False, id="not-cut"),
        pytest.param([made(CLAIM, MINTED, 1)], False, id="nothing-owed"),
        pytest.param([told(2)], False, id="never-begun"),
    ],
)
def test_a_cut_pass_is_one_that_another_life_ends(log: list[dict[str, Any]], shown: bool) -> None:
    """What our own notes call a kill between two writes counts only where the log shows one."""
    assert shown is not bool(judged(*log).unshown([CUT]))


def test_two_at_a_time_are_double_and_two_in_turn_are_not() -> None:
    """A duplicate that is gone in the end is one all the same."""
    first, second = made(SERVICE, "a-1", 1), made(SERVICE, "a-2", 2)
    assert not judged(first, dropped(SERVICE, "a-1", 0), second).duplicates()
    assert judged(first, second, dropped(SERVICE, "a-1", 2)).duplicates()
    assert {"services": set(), "ipaddressclaims": {f"{NS}/{MINTED}"}} == judged(
        made(CLAIM, MINTED, 1), first, dropped(SERVICE, "a-1", 0)
    ).alive()


def test_a_claim_is_lost_when_it_is_made_anew_for_no_reason() -> None:
    """Only what somebody else has deleted is minted again."""
    one, gone = made(CLAIM, MINTED, 1), dropped(CLAIM, MINTED, 0)
    assert not judged(one, gone, one).minted_again()
    assert judged(one, one).minted_again()


@pytest.mark.parametrize(
    ("entry", "meddles"),
    [
        pytest.param(made(CLAIM, MINTED, 1), False, id="ours"),
        pytest.param(dropped(CLAIM, "a-zz-0", 1), False, id="planted"),
        pytest.param(dropped(CLAIM, MINTED, 1), True, id="dropped"),
        pytest.param(line(CLAIM, "update", "own", 1, ONCE), True, id="of-a-tenant"),
        pytest.param(line(CLAIM, "update", "own", 0, ONCE), False, id="by-the-tenant"),
    ],
)
def test_what_is_written_about_claims(entry: dict[str, Any], meddles: bool) -> None:
    """A tenant's claim is never written, ours only made."""
    assert meddles is bool(judged(entry).meddling())


@pytest.mark.parametrize(
    ("entry", "safe"),
    [
        pytest.param(made(CLAIM, MINTED, 1), True, id="deterministic-name"),
        pytest.param(made(CLAIM, "a-other", 1), False, id="any-name"),
        pytest.param(told(1), True, id="version"),
        pytest.param(told(1, {"metadata": {"uid": UID}}), False, id="no-version"),
        pytest.param(dropped(SERVICE, "a-1", 1), True, id="uid"),
        pytest.param(line(SERVICE, "delete", "a-1", 1, {}), False, id="no-uid"),
        pytest.param(line(SERVICE, "patch", "app", 1, ONCE), False, id="not-ours"),
    ],
)
def test_a_write_is_safe_to_come_late(entry: dict[str, Any], safe: bool) -> None:
    """It carries a uid, a resourceVersion or a name that is always the same."""
    assert safe is not bool(judged(entry).unsafe())
