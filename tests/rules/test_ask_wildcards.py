"""What `why`, `status` and `plan` say of the wildcard replicas, and their figures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli_command import run
from parts import HandClock
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.decision import Decision, Did, Outcome
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.errors import ClusterError
from roadstead.explain.subjects import subject_of
from roadstead.explain.wildcards import STEPS, WAKES, WILDCARD_SUBJECT
from roadstead.kube.refs import SECRET
from roadstead.runtime.metrics import Metrics
from roadstead.settings import Settings
from roadstead.sim.cases import play_case, read_case, stage_of

CASES = Path(__file__).parent.parent / "cases/wildcards"
ALL = "wildcards/cozystack-values"


def world(case: str) -> str:
    """The world of a case."""
    return str(CASES / case / "world.yaml")


@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        ("replica-where-tls-ends", 0, ("Replicated", "2 replicas", "looked at again within 5 min")),
        (
            "foreign-secret-left-alone",
            1,
            (
                "WildcardReplicaSkipped",
                "1 skipped",
                "next:  kubectl delete secret wildcard-tls -n a",
            ),
        ),
        (
            "source-in-another-namespace",
            1,
            ("WildcardSourceMissing", "kubectl create secret tls wildcard-tls -n other-ns"),
        ),
        ("source-without-a-key", 1, ("WildcardSourceInvalid", "kubectl delete secret")),
        (
            "unlabelled-source-survives-being-disabled",
            0,
            ("Disabled", "wakes: a change of Secret/"),
        ),
    ],
)
def test_one_trail_stands_for_all(case: str, code: int, said: tuple[str, ...]) -> None:
    """Whoever asks reads where it stands, why, and the next step."""
    ran = run("why", ALL, "-f", world(case))

    assert (code, "") == (ran.code, ran.err)
    assert [] == [text for text in said if text not in ran.out]


def test_the_values_secret_and_a_replica_lead_to_it() -> None:
    """Whatever a person names, and a tenant's own Secret of that name does not."""
    named = run("why", "secret/cozystack-values", "-f", world("replica-where-tls-ends"))
    replica = run("why", "secret/wildcard-tls", "-n", "b", "-f", world("replica-where-tls-ends"))
    other = run(
        "why", "wildcards/shop", "-n", "cozy-system", "-f", world("owner-without-a-gateway-yet")
    )

    assert "Replicated" in named.out
    assert "is a replica of tenant-root/wildcard-tls; `roadstead why " + ALL in replica.out
    assert (2, "") == (other.code, other.out)
    assert ALL in other.err


def test_status_has_one_row_in_the_namespace_of_the_values() -> None:
    """And none where a tenant looks."""
    flags = ("status", "-f", world("replica-where-tls-ends"), "-o", "json")
    (row,) = (one for one in items(*flags) if one["kind"] == "Wildcards")

    assert ("Wildcards", True, "Replicated", "2 replicas") == tuple(
        row[key] for key in ("kind", "ready", "reason", "message")
    )
    assert "Wildcards" not in {one["kind"] for one in items(*flags, "-n", "b")}


def items(*flags: str) -> list[dict[str, Any]]:
    """The rows of `status`."""
    found: list[dict[str, Any]] = json.loads(run(*flags).out)["items"]
    return found


def test_plan_says_of_a_replica_whose_it_is() -> None:
    """Its row names the source, and no value."""
    ran = run("plan", "-f", world("replica-where-tls-ends"))
    row = next(line for line in ran.out.splitlines() if " b/wildcard-tls " in line)

    assert "wildcards  1     replica of tenant-root/wildcard-tls" in row


def test_the_one_key_is_told_apart_from_other_secrets() -> None:
    """A stray source of an anchor is a key of the same kind."""
    assert WILDCARD_SUBJECT is subject_of(api.VALUES)
    assert WILDCARD_SUBJECT is not subject_of(SECRET.ref("tenant-a", api.VALUES.name))


def test_every_stop_has_a_way_on() -> None:
    """A person must act, or something wakes it."""
    words = {reason.name for reason in api.REASONS} - {api.IS_REPLICA}

    assert words == set(STEPS) | set(WAKES) - {""}


def test_the_figures_follow_the_passes() -> None:
    """Kept, skipped and taken away; a failed read leaves them as they were."""
    case = read_case(CASES / "tenant-stops-ending-tls")
    stage = stage_of(case)
    play_case(case, stage)
    last = stage.settler.last
    assert last is not None
    gone = Outcome(SECRET.ref("a", "wildcard-tls"), Did.DELETED)
    unread = Passed(Decision(backoff=True), error=ClusterError("away"))
    clock = HandClock()
    metrics = Metrics(Engine((WILDCARDS,), Settings(), clock), clock, {"wildcards": 1})
    for passed in (replace(last, outcomes=(gone,)), last, unread):
        metrics.passed("wildcards", api.VALUES, passed)
    value = metrics.registry.get_sample_value

    assert [1, 0, 1] == [
        value("roadstead_wildcard_replicas", {"state": state})
        for state in ("kept", "skipped", "pruned")
    ]
    assert value("roadstead_wildcard_source_usable") == 1
    assert value("roadstead_wildcard_passes_total", {"result": "requeue_after"}) == 1
    assert value("roadstead_wildcard_passes_total", {"result": "error"}) == 1
