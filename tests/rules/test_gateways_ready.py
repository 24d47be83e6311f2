"""What a TenantGateway's status says, and what refused writes mean. tenant-gateway 7, 5.6."""

from dataclasses import replace
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    EARLIER,
    GOOD,
    KEY,
    NAME,
    NS,
    a_gateway,
    a_snapshot,
    http,
    owned,
    pl,
    ready,
    served,
    standing,
    told,
    writes,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide, report
from roadstead.capabilities.gateways.decide.ready import listed
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import Did, How, Outcome
from roadstead.kube.refs import NAMESPACE, Ref

HARBOR = http("tenant-foo/h", f"harbor.{APEX}")
SECTION = "https-harbor-760d5a8a"
SEEN = a_snapshot(HARBOR)


def with_conditions(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    """Conditions of a Gateway or a listener."""
    return [{"type": type_, "status": status, "reason": "x"} for type_, status in pairs]


def of_listeners(conditions: list[dict[str, str]]) -> Snapshot:
    """A good Gateway one of whose listeners has these conditions."""
    told_of = [{"name": "http", "conditions": GOOD}, {"name": SECTION, "conditions": conditions}]
    return standing(SEEN, conditions=GOOD, listeners=told_of)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        pytest.param(SEEN, "GatewayNotAccepted", id="no-gateway"),
        pytest.param(standing(SEEN), "GatewayNotAccepted", id="TG-158-no-status"),
        pytest.param(standing(SEEN, conditions=with_conditions(("Accepted", "Unknown"))),
                     "GatewayNotAccepted", id="TG-162-nobody-claims-the-class"),
        pytest.param(standing(SEEN, conditions=with_conditions(("Accepted", "False"))),
                     "GatewayNotAccepted", id="refused"),
        pytest.param(standing(SEEN, conditions=with_conditions(("Programmed", "True"))),
                     "GatewayNotAccepted", id="programmed-alone"),
        pytest.param(standing(SEEN, conditions=with_conditions(("Accepted", "True"))),
                     "GatewayNotProgrammed", id="TG-159-absent"),
        pytest.param(standing(SEEN, conditions=with_conditions(("Accepted", "True"),
                                                               ("Programmed", "Unknown"))),
                     "GatewayNotProgrammed", id="TG-159-unknown"),
        pytest.param(of_listeners([]), "ListenersNotReady", id="listener-without-conditions"),
        pytest.param(of_listeners(with_conditions(("Accepted", "True"), ("Programmed", "False"))),
                     "ListenersNotReady", id="TG-160"),
        pytest.param(of_listeners([*GOOD, *with_conditions(("ResolvedRefs", "False"))]),
                     "Reconciled", id="resolved-refs-are-not-read"),
        pytest.param(served(SEEN), "Reconciled", id="TG-161"),
    ],
)  # fmt: skip
def test_ready_is_the_first_row_that_matches(seen: Snapshot, reason: str) -> None:
    """7.1: each row is one step away from a gateway that serves."""
    said = ready(decide(seen))

    assert (reason, "True" if reason == "Reconciled" else "False") == (
        said["reason"],
        said["status"],
    )
    assert KEY.key in said["message"]


def test_a_reconciled_gateway_tells_how_many_listeners() -> None:
    """TG-161: the number that the budget of 64 is of."""
    assert "2" in ready(decide(served(SEEN)))["message"]


@pytest.mark.parametrize(
    ("seen", "state", "backoff"),
    [
        pytest.param(served(SEEN), "Reconciled", False, id="good"),
        pytest.param(SEEN, "GatewayNotAccepted", False, id="behind"),
        pytest.param(a_snapshot(certMode="existingSecret"), "ReconcileError", True, id="fault"),
    ],
)
def test_when_it_is_looked_at_again(seen: Snapshot, state: str, backoff: bool) -> None:
    """6, 7.1: a fault is tried again with growing pauses, everything else at the resync."""
    decision = decide(seen)

    assert (state, backoff) == (decision.state, decision.backoff)
    assert api.RESYNC == decision.recheck


def test_every_listener_that_is_behind_is_listed_sorted() -> None:
    """7.1: who looks after one certificate wants to know which."""
    seen = standing(a_snapshot(HARBOR, tlsPassthroughServices=["api"]), conditions=GOOD,
                    listeners=[{"name": "tls-api", "conditions": with_conditions(("Accepted", "x"))}])  # fmt: skip
    said = ready(decide(seen))["message"]

    assert said.index("http (Pending)") < said.index(f"{SECTION} (Pending)")
    assert said.index(f"{SECTION} (Pending)") < said.index("tls-api (NotAccepted)")


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        pytest.param([], "NotAccepted", id="none"),
        pytest.param(with_conditions(("Accepted", "False")), "NotAccepted", id="refused"),
        pytest.param(with_conditions(("Programmed", "True")), "NotAccepted", id="programmed-alone"),
        pytest.param(with_conditions(("Accepted", "True")), "NotProgrammed", id="accepted"),
        pytest.param(with_conditions(("Accepted", "True"), ("Programmed", "Unknown")),
                     "NotProgrammed", id="unknown"),
        pytest.param(GOOD, "", id="good"),
    ],
)  # fmt: skip
def test_a_listener_is_ready_or_says_why(conditions: list[dict[str, str]], reason: str) -> None:
    """7.3, TG-160."""
    gateway = of_listeners(conditions).gateway
    assert gateway is not None
    row = listed(gateway)[1]

    assert {
        "name": SECTION,
        "hostname": f"harbor.{APEX}",
        "ready": not reason,
        "certificateName": "cozystack-harbor-760d5a8a-tls",
        "reason": reason,
    } == row


def test_listeners_are_those_of_the_stored_gateway_in_its_order() -> None:
    """TG-163, TG-158: not those of the status, and not those that are wanted."""
    told_of = [{"name": "gone", "conditions": GOOD}, {"name": SECTION, "conditions": GOOD}]
    seen = standing(SEEN, conditions=GOOD, listeners=told_of)
    seen = replace(a_snapshot(http("tenant-foo/h", f"other.{APEX}")), gateway=seen.gateway)
    decision = decide(seen)
    assert decision.status is not None
    rows = decision.status.value["listeners"]

    assert [("http", "Pending"), (SECTION, "")] == [(r["name"], r["reason"]) for r in rows]
    assert "hostname" not in rows[0]
    assert "certificateName" not in rows[0]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"certMode": "existingSecret"}, id="refused-spec"),
        pytest.param({"issuerName": "zerossl"}, id="issuer-that-cannot-be-made"),
        pytest.param({"tlsPassthroughServices": ["a", "a"]}, id="P2"),
    ],
)
def test_a_failed_pass_leaves_the_listeners(spec: dict[str, Any]) -> None:
    """7.1: what was seen last stays, with a cause beside it, and is tried again."""
    rows = [{"name": "kept", "ready": True, "reason": ""}]
    seen = replace(a_snapshot(HARBOR, status={"listeners": rows}, **spec),
                   gateway=served(SEEN).gateway)  # fmt: skip
    decision = decide(seen)
    assert decision.status is not None

    assert rows == decision.status.value["listeners"]
    assert "ReconcileError" == ready(decision)["reason"]
    assert decision.backoff


def test_generations_are_those_of_the_object() -> None:
    """TG-157: a status of an older generation says nothing of this one."""
    decision = decide(SEEN)
    assert decision.status is not None

    assert 3 == decision.status.value["observedGeneration"]
    assert 3 == ready(decision)["observedGeneration"]


@pytest.mark.parametrize(("status", "moved"), [("False", False), ("True", True)])
def test_the_time_of_ready_moves_with_its_status(status: str, moved: bool) -> None:
    """7.1: a changed message is no transition."""
    before = {"type": "Ready", "status": status, "lastTransitionTime": EARLIER, "reason": "x"}
    said = ready(decide(a_snapshot(HARBOR, status={"conditions": [before]})))

    assert moved is (EARLIER != said["lastTransitionTime"])


def test_an_unchanged_status_is_not_written() -> None:
    """7.1, TG-077: or the watch wakes us for ever. Other condition types are not ours to keep."""
    seen = served(SEEN)
    first = decide(seen).status
    assert first is not None
    seen = replace(seen, asked_for=a_gateway(dict(first.value)))
    again = decide(seen).status
    assert again is not None

    assert first.differs
    assert not again.differs


GATEWAY, ISSUER = api.GATEWAY.ref(NS, NAME), api.ISSUER.ref(NS, "cozystack-gateway")
ROUTES = (HARBOR.ref, api.TLS_ROUTES[0].ref(NS, "t"))


def failed(ref: Ref, how: How | None, reason: str = "Forbidden", said: str = "") -> Outcome:
    """A write that the API server refused."""
    return Outcome(ref, Did.FAILED, 403, reason, how=how, said=said)


@pytest.mark.parametrize("ref", ROUTES, ids=["HTTPRoute", "TLSRoute"])
@pytest.mark.parametrize("reason", ["Conflict", "NotFound", "Invalid"])
def test_a_refused_route_status_is_no_failure_of_the_gateway(ref: Ref, reason: str) -> None:
    """5.6: isolation; it is tried again, and Ready says what it would have said."""
    seen = served(SEEN)
    decision = report(seen, decide(seen), (failed(ref, How.STATUS, reason),))

    assert "Reconciled" == ready(decision)["reason"]
    assert "ReconcileError" not in told(decision)
    assert decision.backoff


@pytest.mark.parametrize(
    ("ref", "how"),
    [
        pytest.param(GATEWAY, How.REPLACE, id="Gateway"),
        pytest.param(ISSUER, How.REPLACE, id="Issuer"),
        pytest.param(api.HTTP_ROUTE.ref(NS, "cozystack-http-redirect"), How.REPLACE, id="redirect"),
        pytest.param(api.CERTIFICATE.ref(NS, "x"), None, id="a-drop"),
        pytest.param(NAMESPACE.ref("", "cozy-x"), How.PATCH, id="a-label"),
    ],
)
def test_a_refused_write_is_told_in_the_servers_words(ref: Ref, how: How | None) -> None:
    """7.1, TG-193: any step that failed is a ReconcileError, with an event and a retry."""
    seen = served(SEEN)
    decision = report(seen, decide(seen), (failed(ref, how, said="exceeded quota: q"),))
    said = ready(decision)

    assert ("ReconcileError", "False") == (said["reason"], said["status"])
    assert "exceeded quota: q" in said["message"]
    assert str(ref) in said["message"]
    assert "ReconcileError" in told(decision)
    assert "ReconcileError" == decision.state
    assert decision.backoff


def test_a_conflict_is_told_nobody() -> None:
    """7.1: what was judged has changed since; the pass is repeated before anything is said."""
    seen = served(SEEN)
    decision = report(seen, decide(seen), (failed(ISSUER, How.REPLACE, "Conflict"),))

    assert decision.status is None
    assert [] == told(decision)
    assert decision.backoff


def test_a_conflict_hides_no_refusal_beside_it() -> None:
    """8.2: the refusal is told, and it alone."""
    seen = served(SEEN)
    stale, refused = failed(ISSUER, How.REPLACE, "Conflict"), failed(GATEWAY, How.REPLACE)
    said = ready(report(seen, decide(seen), (stale, refused)))["message"]

    assert str(GATEWAY) in said
    assert str(ISSUER) not in said


def test_failures_of_judging_and_of_writing_are_joined() -> None:
    """8.2: neither hides the other, nor a second failure the first."""
    foreign = owned(api.ISSUER, "cozystack-gateway", "")
    seen = replace(SEEN, issuer=foreign)
    outcomes = (failed(GATEWAY, How.REPLACE, said="no"), failed(NAMESPACE.ref("", "x"), How.PATCH))
    said = ready(report(seen, decide(seen), outcomes))["message"]

    assert "not owned by TenantGateway" in said
    assert str(GATEWAY) in said
    assert "Forbidden" in said


def test_writes_that_worked_change_nothing_of_the_decision() -> None:
    """A report that always tells something is a status that never settles."""
    decision = decide(SEEN)
    fine = (Outcome(GATEWAY, Did.CREATED), Outcome(ISSUER, Did.UNCHANGED))

    assert decision == report(SEEN, decision, fine)


def test_a_sweep_that_fails_is_tried_again() -> None:
    """8.6: there is no status left to tell it in."""
    seen = replace(SEEN, asked_for=None)
    decision = report(seen, decide(seen), (failed(ROUTES[0], How.STATUS),))

    assert decision.backoff
    assert decision.status is None


@pytest.mark.parametrize(
    ("seen", "event"),
    [
        pytest.param(replace(SEEN, class_exists=False), "GatewayClassNotFound", id="no-class"),
        pytest.param(a_snapshot(certMode="edge", tlsPassthroughServices=["api"]),
                     "PassthroughUnpublished", id="edge-drops-services"),
        pytest.param(a_snapshot(certMode="dns01", tlsPassthroughListeners=[pl("pg", 1)]),
                     "ReconcileError", id="refused-spec"),
        pytest.param(replace(SEEN, class_exists=None), "", id="class-that-cannot-be-read"),
        pytest.param(replace(SEEN, class_exists=True), "", id="class-that-is-there"),
        pytest.param(a_snapshot(certMode="edge"), "", id="edge-without-services"),
    ],
)  # fmt: skip
def test_a_warning_is_told_on_the_gateway(seen: Snapshot, event: str) -> None:
    """10b, 9: and nothing is told of a gateway that is well."""
    decision = decide(seen)

    assert ([event] if event else []) == told(decision)
    assert all(one.about == KEY and one.type == "Warning" for one in decision.events)
    assert writes(decision) or event == "ReconcileError"
