"""What the status says and whom it tells: endpoint-attachments 3.4 to 3.8."""

import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from attachment_objects import (
    AFTER,
    BARE,
    BORN,
    MINTED,
    MINTING,
    NOW,
    SEEN,
    a_claim,
    an_attachment,
    an_endpoint,
    asking,
    delegation,
    reported,
    stated,
    with_service,
    words,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.decision import Event, Telling
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE
from roadstead.kube.times import format_time

Json = dict[str, Any]
LATER = NOW + timedelta(hours=1)


def value(seen: Snapshot) -> Json:
    """The status of a decision."""
    status = decide(seen).status
    assert status is not None
    return dict(status.value)


def with_ingress(*addresses: str, key: str = "ip") -> Snapshot:
    """Attached, with these addresses on the load balancer."""
    body = copy.deepcopy(SEEN.owned[0].body)
    body["status"] = {"loadBalancer": {"ingress": [{key: one} for one in addresses]}}
    return replace(SEEN, owned=(Object.of(SERVICE, body),))


def holding(seen: Snapshot, *addresses: str) -> Snapshot:
    """With a claim of these addresses."""
    stated_ = [{"name": f"ip-{at}", "address": one} for at, one in enumerate(addresses)]
    return replace(seen, claim=a_claim(status={"addresses": stated_}))


def test_the_status_of_what_works() -> None:
    """Everything a tenant reads, once."""
    told = value(replace(BARE, owned=SEEN.owned))
    conditions = told.pop("conditions")
    assert {
        "observedGeneration": 1,
        "phase": "Attached",
        "serviceName": "shop-db-abcde",
        "claimName": "held",
        "addresses": ["203.0.113.5"],
    } == told
    assert [
        ("Resolved", "True", "Resolved"),
        ("Provisioned", "True", "Provisioned"),
        ("AddressAssigned", "True", "AddressAssigned"),
        ("Ready", "True", "Attached"),
    ] == [(one["type"], one["status"], one["reason"]) for one in conditions]
    assert all((1, BORN) == (c["observedGeneration"], c["lastTransitionTime"]) for c in conditions)


def test_a_status_that_says_the_same_is_not_written() -> None:
    """3.7: at steady state a pass writes nothing, however late it is."""
    for seen in (SEEN, MINTED, replace(SEEN, now=LATER)):
        status = decide(seen).status
        assert status is not None
        assert not status.differs


@pytest.mark.parametrize(
    ("seen", "moved"),
    [
        pytest.param(replace(SEEN, endpoint=None), {"Resolved", "Provisioned"}, id="flip"),
        pytest.param(
            replace(SEEN, claim=a_claim(status={"phase": "Lost"})), {"Provisioned"}, id="one"
        ),
        pytest.param(
            replace(
                reported(replace(SEEN, endpoint=None, owned=())),
                endpoint=an_endpoint(labels={api.NAME_LABEL: "x"}),
            ),
            set(),
            id="reason-alone",
        ),
    ],
)
def test_a_time_moves_only_when_a_condition_flips(seen: Snapshot, moved: set[str]) -> None:
    """3.7: a new reason does not make an outage look shorter."""
    conditions = value(replace(seen, now=LATER))["conditions"]
    late = {c["type"] for c in conditions if c["lastTransitionTime"] == format_time(LATER)}
    assert moved == late & {"Resolved", "Provisioned"}


def test_a_new_generation_is_in_every_condition() -> None:
    """3.7: of what the user wrote last, or it is not yet answered."""
    body = copy.deepcopy(SEEN.attachment.body)
    body["metadata"]["generation"] = 5
    told = value(replace(SEEN, attachment=Object.of(api.ATTACHMENT, body)))
    assert 5 == told["observedGeneration"]
    assert {5} == {one["observedGeneration"] for one in told["conditions"]}


@pytest.mark.parametrize(
    ("seen", "status", "reason"),
    [
        pytest.param(BARE, "Unknown", "NoService", id="no-service"),
        pytest.param(replace(SEEN, endpoint=None), "Unknown", "NoService", id="withdrawn"),
        pytest.param(SEEN, "True", "AddressAssigned", id="assigned"),
        pytest.param(with_ingress(), "False", "AddressNotAssigned", id="none"),
        pytest.param(with_ingress("203.0.113.9"), "False", "AddressMismatch", id="another"),
        pytest.param(
            with_ingress("203.0.113.5", "203.0.113.9"), "False", "AddressMismatch", id="one-more"
        ),
        pytest.param(
            with_ingress("lb.example.org", key="hostname"), "False", "AddressNotAssigned", id="name"
        ),
        pytest.param(
            holding(with_ingress("203.0.113.5"), "203.0.113.5", "2001:db8::5"),
            "False",
            "AddressNotAssigned",
            id="one-of-two",
        ),
        pytest.param(
            holding(with_ingress("2001:db8:0:0::5"), "2001:DB8::5"),
            "True",
            "AddressAssigned",
            id="compared-as-addresses",
        ),
        pytest.param(
            replace(with_ingress(), claim=a_claim(status={"phase": "Lost", "addresses": []})),
            "False",
            "AddressNotAssigned",
            id="nothing-held",
        ),
        pytest.param(
            replace(SEEN, claim=None, claim_kind=False),
            "True",
            "AddressAssigned",
            id="from-the-last-report",
        ),
    ],
)
def test_what_is_announced_is_compared_with_what_is_held(
    seen: Snapshot, status: str, reason: str
) -> None:
    """A moved address must show at once, and a missing one must not look assigned."""
    told = stated(decide(seen), "AddressAssigned")
    assert (status, reason) == (told["status"], told["reason"])


def test_a_mismatch_names_both_sides() -> None:
    """3.4: one cannot tell which one to look at from one side alone."""
    message = stated(decide(with_ingress("203.0.113.9")), "AddressAssigned")["message"]
    assert "203.0.113.9" in message
    assert "203.0.113.5" in message


@pytest.mark.parametrize(
    ("seen", "phase"),
    [
        pytest.param(SEEN, "Attached", id="attached"),
        pytest.param(BARE, "Pending", id="pending"),
        pytest.param(replace(MINTING, endpoint=None), "Pending", id="never-resolved"),
        pytest.param(replace(SEEN, endpoint=None), "Detached", id="detached"),
        pytest.param(asking(SEEN, claimName="held", ports=[5432, 1]), "Pending", id="port-missing"),
    ],
)
def test_the_phase_is_a_projection_of_the_conditions(seen: Snapshot, phase: str) -> None:
    """3.6: whoever reads the phase alone is told nothing else."""
    assert phase == value(seen)["phase"]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(SEEN, ("True", "Attached"), id="attached"),
        pytest.param(BARE, ("False", "ServicePending"), id="provisioned"),
        pytest.param(replace(SEEN, endpoint=None), ("False", "EndpointNotFound"), id="resolved"),
    ],
)
def test_ready_repeats_the_first_that_is_not_true(
    seen: Snapshot, expected: tuple[str, str]
) -> None:
    """3.4: `kubectl wait` and GitOps look at Ready alone."""
    ready = stated(decide(seen), "Ready")
    assert expected == (ready["status"], ready["reason"])
    if expected[0] == "False":
        names = ("Resolved", "Provisioned")
        first = next(c for name in names if (c := stated(decide(seen), name))["status"] != "True")
        assert first["message"] == ready["message"]


@pytest.mark.parametrize(
    ("seen", "types"),
    [
        pytest.param(SEEN, [], id="well"),
        pytest.param(BARE, ["Reconciling"], id="waits"),
        pytest.param(
            replace(SEEN, contract=False, endpoint_holder="web"), ["Stalled"], id="refused"
        ),
        pytest.param(replace(BARE, kstatus=False), [], id="switched-off"),
    ],
)
def test_who_must_act_is_said_while_all_is_not_well(seen: Snapshot, types: list[str]) -> None:
    """kstatus: `Stalled` calls a person, `Reconciling` asks for patience."""
    told = [one["type"] for one in value(seen)["conditions"]]
    assert types == [one for one in told if one in {"Stalled", "Reconciling"}]


@pytest.mark.parametrize(
    ("seen", "name", "addresses"),
    [
        pytest.param(MINTING, "", [], id="before-minting"),
        pytest.param(MINTED, "mine", ["203.0.113.5"], id="minted"),
        pytest.param(replace(SEEN, claim=None), "held", [], id="referenced-and-missing"),
        pytest.param(
            replace(SEEN, claim=None, claim_kind=False),
            "held",
            ["203.0.113.5"],
            id="kind-not-served",
        ),
        pytest.param(
            replace(MINTED, claim=None, minted=(), claim_kind=False),
            "mine",
            ["203.0.113.5"],
            id="minted-and-kind-not-served",
        ),
        pytest.param(
            holding(SEEN, "2001:db8::5", "203.0.113.5"),
            "held",
            ["2001:db8::5", "203.0.113.5"],
            id="in-the-claims-order",
        ),
        pytest.param(
            replace(asking(SEEN, claimName="held", method="WholeIP"), contract=False),
            "held",
            ["203.0.113.5"],
            id="at-a-gate",
        ),
    ],
)
def test_claim_and_addresses_come_from_the_claim_alone(
    seen: Snapshot, name: str, addresses: list[str]
) -> None:
    """3.7: an address on the Service that the claim does not hold is not ours to promise."""
    told = value(seen)
    assert (name, addresses) == (told["claimName"], told["addresses"])


def told(seen: Snapshot) -> list[tuple[str, str]]:
    """Type and reason of each event."""
    return [(event.type, event.reason) for event in decide(seen).events]


DETACHED = reported(replace(SEEN, endpoint=None, owned=()))
PORTLIST = reported(with_service(asking(BARE, claimName="held", method="PortList", ports=[9187])))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(SEEN, [], id="steady"),
        pytest.param(replace(SEEN, now=LATER), [], id="later"),
        pytest.param(
            replace(SEEN, attachment=an_attachment({"claimName": "held"})),
            [("Normal", "Resolved"), ("Normal", "Provisioned")],
            id="two-flips-to-true",
        ),
        pytest.param(
            replace(SEEN, endpoint=None),
            [("Warning", "EndpointNotFound"), ("Warning", "Detached")],
            id="two-new-reasons",
        ),
        pytest.param(
            replace(DETACHED, endpoint=an_endpoint(labels={api.NAME_LABEL: "x"})),
            [("Warning", "EndpointLineageMismatch")],
            id="one-new-reason",
        ),
        pytest.param(
            replace(
                reported(replace(SEEN, claim=None, owned=())), claim=a_claim(status={"phase": ""})
            ),
            [],
            id="a-new-message-alone",
        ),
        pytest.param(with_ingress("203.0.113.9"), [("Warning", "AddressMismatch")], id="mismatch"),
        pytest.param(with_ingress(), [], id="no-address-is-no-event"),
        pytest.param(PORTLIST, [], id="carried"),
        pytest.param(
            reported(with_service(asking(BARE, claimName="held", method="PortList", ports=[5432]))),
            [],
            id="a-named-target-tells-nothing",
        ),
        pytest.param(
            replace(PORTLIST, delegations=(delegation("z", "pod-1", born=AFTER, vm="x"),)),
            [("Warning", "BackendContended")],
            id="younger-delegation",
        ),
    ],
)
def test_events_are_told_of_flips_and_new_reasons(
    seen: Snapshot, expected: list[tuple[str, str]]
) -> None:
    """3.7: never one per pass."""
    assert expected == told(seen)


@pytest.mark.parametrize(
    ("family", "port", "word"),
    [
        pytest.param("IPv6", {"port": 22, "protocol": "TCP"}, "IPv6", id="IPv6"),
        pytest.param("Dual", {"port": 22, "protocol": "TCP"}, "Dual", id="Dual"),
        pytest.param("", {"port": 22, "protocol": "SCTP"}, "SCTP port 22", id="SCTP"),
        pytest.param(
            "", {"port": 22, "protocol": "TCP", "targetPort": 2222}, "22 to 2222", id="moved"
        ),
        pytest.param("IPv4", {"port": 22, "protocol": "TCP"}, "", id="carried"),
    ],
)
def test_what_the_proxy_does_not_carry_is_told_and_not_refused(
    family: str, port: Json, word: str
) -> None:
    """4.2: it skips them in silence."""
    balancer: Json = {"claimName": "held", "method": "PortList", "ports": [22], "family": family}
    seen = asking(BARE, **balancer)
    claim = a_claim(spec={"family": family} if family else {})
    seen = replace(seen, claim=claim, endpoint=an_endpoint({"ports": [port]}))
    seen = reported(with_service(seen))
    events: tuple[Event, ...] = decide(seen).events
    assert ([("Warning", "DatapathLimited")] if word else []) == told(seen)
    assert all(word in event.message for event in events)
    assert all(Telling.ONCE is event.telling for event in events)
    assert "Resolved Provisioned Attached" == words(decide(seen))


def test_changes_are_told_with_the_status_write_alone() -> None:
    """What was not written is told when it is."""
    events = decide(replace(SEEN, endpoint=None)).events
    assert {Telling.CHANGE} == {event.telling for event in events}


def test_every_reason_is_a_word_of_the_reference() -> None:
    """Docs and `why` know each word."""
    for seen in (SEEN, BARE, MINTING, DETACHED, PORTLIST, with_ingress("192.0.2.1")):
        decision = decide(seen)
        spoken = {one["reason"] for one in value(seen)["conditions"]}
        spoken |= {event.reason for event in decision.events}
        assert spoken <= set(api.BY_NAME)
