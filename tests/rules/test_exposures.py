"""The table of attachments is the difference of readings, for every way an attachment can end."""

from typing import Any

import pytest

from roadstead.capabilities.attachments import api
from roadstead.explain.exposures import Exposure, failed, outcomes
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE

SERVED = {"Ready": ("True", "Attached"), "AddressAssigned": ("True", "AddressAssigned")}
UNSERVED = {"Ready": ("True", "Attached"), "AddressAssigned": ("False", "AddressNotAssigned")}
LOST = {
    "Resolved": ("False", "EndpointNotFound"),
    "Ready": ("False", "EndpointNotFound"),
    "Reconciling": ("True", "EndpointNotFound"),
}
PENDING = {"Ready": ("False", "ClaimPending"), "Reconciling": ("True", "ClaimPending")}


def refused(reason: str) -> dict[str, tuple[str, str]]:
    """What a refusal says."""
    return {"Ready": ("False", reason), "Stalled": ("True", reason)}


def exposure(
    conditions: dict[str, tuple[str, str]],
    *addresses: str,
    name: str = "a",
    phase: str = "Pending",
    of: str = "shop",
) -> Exposure:
    """An attachment as the server shows it, with the Service its status names."""
    stated = [
        {"type": kind, "status": status, "reason": reason, "message": f"{reason} it is; mend it"}
        for kind, (status, reason) in conditions.items()
    ]
    body: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "t"},
        "spec": {"applicationRef": {"kind": "Postgres", "name": of}},
        "status": {"phase": phase, "addresses": list(addresses), "conditions": stated},
    }
    service = {
        "metadata": {"name": f"{name}-x", "namespace": "t"},
        "spec": {"ports": [{"port": 5}]},
    }
    served = conditions is SERVED
    return Exposure(
        Object.of(api.ATTACHMENT, body), Object.of(SERVICE, service) if served else None
    )


def attached(*addresses: str, name: str = "a", of: str = "shop") -> Exposure:
    """One that serves."""
    return exposure(SERVED, *(addresses or ("1.1.1.1",)), name=name, phase="Attached", of=of)


DETACHED = exposure(LOST, "1.1.1.1", phase="Detached")


def told(*moments: tuple[Exposure, ...]) -> list[tuple[str, str, str]]:
    """Name, word and reason of each line."""
    readings = [{one.attachment.ref: one for one in moment} for moment in moments]
    return [(one.about.name, one.word, one.reason) for one in outcomes(readings)]


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        pytest.param([(attached(),)], ["attached"], id="attached"),
        pytest.param([(attached(),), (attached(),)], ["attached"], id="unchanged"),
        pytest.param(
            [(attached(),), (DETACHED,), (attached(),)], ["attached", "detached", "kept"], id="kept"
        ),
        pytest.param(
            [(attached(),), (DETACHED,), (attached("1.1.1.2"),)],
            ["attached", "detached", "renumbered"],
            id="renumbered",
        ),
        pytest.param([(attached(),), ()], ["attached", "gone"], id="gone"),
        pytest.param(
            [(exposure(refused("BackendAlreadyDelegated")),), (attached(),)],
            ["waits", "took over"],
            id="took-over",
        ),
        pytest.param(
            [(exposure(refused("ClaimInUse"), "1.1.1.1"),)], ["waits"], id="waits-for-a-claim"
        ),
        pytest.param([(exposure(refused("FamilyConflict")),)], ["refused"], id="refused"),
        pytest.param([(exposure(PENDING),)], ["waiting"], id="pending"),
        pytest.param([(exposure(PENDING),), (attached(),)], ["waiting", "attached"], id="late"),
        pytest.param([(exposure({}),)], ["waiting"], id="no-word"),
        pytest.param([(exposure(UNSERVED, "1.1.1.1"),)], ["waiting"], id="not-announced"),
    ],
)
def test_each_end_has_its_word(moments: list[tuple[Exposure, ...]], words: list[str]) -> None:
    """The word follows from what the server showed, nothing else."""
    readings = [{one.attachment.ref: one for one in moment} for moment in moments]
    found = outcomes(readings)

    assert words == [one.word for one in found]
    assert failed(found) is bool({"waiting", "renumbered"} & set(words))


def test_an_address_that_serves_another_application_has_moved() -> None:
    """The attachment may have any name; the same application is no move."""
    other, same = attached(name="b", of="next"), attached(name="b")
    cases = [("a", "attached", "Attached"), ("a", "gone", "-")]

    assert [*cases, ("b", "moved", "Attached")] == told((attached(),), (), (other,))
    assert [*cases, ("b", "attached", "Attached")] == told((attached(),), (same,))


def test_a_line_names_address_service_ports_and_application() -> None:
    """Where to look and what for."""
    (line,) = outcomes([{api.ATTACHMENT.ref("t", "a"): attached("1.1.1.1", "::1")}])

    assert line.what == "1.1.1.1, ::1 at t/a-x:5, for Postgres shop"
