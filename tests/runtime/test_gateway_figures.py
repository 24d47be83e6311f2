"""The figures of tenant gateways: listeners, claimed hostnames, readiness."""

from dataclasses import replace
from pathlib import Path

import pytest

from parts import HandClock
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.decision import Decision
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.errors import ClusterError
from roadstead.runtime.metrics import Metrics
from roadstead.settings import Settings
from roadstead.sim.cases import play_case, read_case, stage_of

CASES = Path(__file__).parent.parent / "cases/gateways"
KEY = api.TENANT_GATEWAY.ref("tenant-foo", "cozystack")
OTHER = api.TENANT_GATEWAY.ref("tenant-foo", "second")


def last_of(name: str) -> Passed:
    """What the last pass of a case came to."""
    case = read_case(CASES / name)
    stage = stage_of(case)
    play_case(case, stage)
    assert stage.settler.last is not None
    return stage.settler.last


def figures() -> Metrics:
    """The metrics of a process that runs tenant gateways alone."""
    clock = HandClock()
    return Metrics(Engine((GATEWAYS_CONTROLLER,), Settings(), clock), clock, {"gateways": 16})


def claims(of: Metrics) -> dict[str, float]:
    """Claimed hostnames by verdict, those that there are none of left out."""
    name = "roadstead_hostname_claims"
    found = {
        one: of.registry.get_sample_value(name, {"verdict": one}) or 0.0 for one in api.VERDICTS
    }
    return {one: count for one, count in found.items() if count}


def test_the_figures_say_what_the_last_pass_saw() -> None:
    """Listeners and claims of a gateway with a conflict; a failed read leaves them as they were."""
    made = figures()
    made.passed("gateways", KEY, last_of("platform-wins-a-hostname"))
    made.passed("gateways", KEY, Passed(Decision(backoff=True), error=ClusterError("away")))
    value = made.registry.get_sample_value
    budget = {"namespace": "tenant-foo", "gateway": "cozystack"}

    assert value("roadstead_listener_budget", budget) == 2
    assert {"Accepted": 1, "HostnameConflict": 1} == claims(made)


def test_readiness_is_counted_by_namespace() -> None:
    """One ready, one not; a row stays at 0 when nothing is in it, so that alerts end."""
    made = figures()
    passed = last_of("platform-wins-a-hostname")
    made.passed("gateways", OTHER, replace(passed, decision=replace(passed.decision, state="x")))
    of = [{"namespace": "tenant-foo", "status": status} for status in ("True", "False")]

    def counted() -> list[float | None]:
        return [made.registry.get_sample_value("roadstead_tenantgateway_ready", one) for one in of]

    assert [0, 1] == counted()
    ready = replace(passed, decision=replace(passed.decision, state=api.RECONCILED))
    made.passed("gateways", KEY, ready)
    assert [1, 1] == counted()
    for gone in (Passed(Decision(), gone=True), Passed(Decision())):
        made.passed("gateways", OTHER, gone)
        assert [1, 0] == counted()


def test_no_figure_says_more_than_is_known() -> None:
    """Before the first pass every verdict is there at 0, and no namespace is."""
    made = figures()

    assert {} == claims(made)
    assert b'roadstead_hostname_claims{verdict="Accepted"} 0.0' in made.exposition()
    assert b"roadstead_tenantgateway_ready{" not in made.exposition()


@pytest.mark.parametrize(
    ("case", "noted"),
    [
        ("route-without-room-for-our-entries", [("harbor", "RouteStatusFull")]),
        ("namespace-that-a-chart-has-labelled", [("cozy-harbor", "NamespaceHeld")]),
        ("child-outside-the-apex-is-dropped", [("tenant-eve", "ChildHostOutsideApex")]),
        ("good-gateway-tells-nothing", []),
    ],
)
def test_what_is_left_alone_is_noted_for_the_log(case: str, noted: list[tuple[str, str]]) -> None:
    """Nothing of it is written and nothing failed, so the log alone could tell of it."""
    notes = last_of(case).decision.notes

    assert noted == [(note.about.name, note.reason) for note in notes]
