"""The figures: names others' dashboards know, labels that stay few, no value of an object."""

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from parts import CANARY, DATA, MAPS, NS, SECRETS, START, HandClock, engine, thing
from roadstead.decision import (
    Bound,
    Decision,
    Did,
    Drop,
    Finding,
    How,
    Outcome,
    Status,
    Verdict,
    Want,
)
from roadstead.engine.passes import Passed
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, HELM_RELEASE, SECRET, Ref
from roadstead.runtime.metrics import Gauges, Metrics
from roadstead.runtime.own_figures import result_of

KEY = CONFIG_MAP.ref(NS, "a")
REF = SECRET.ref(NS, "postgres-shop.tenant-ca")
BODY = {"metadata": {"name": REF.name, "namespace": NS}, "data": DATA}
LIVE = Object.of(SECRET, BODY)


def figures(name: str = "anchors") -> Metrics:
    """Give the metrics of one controller."""
    of = engine(SECRETS, MAPS, name=name)
    made = Metrics(of, HandClock(), {name: 16})
    made.attach(
        Gauges(lambda: {"secrets": 3.0}, lambda: 0.25, lambda: ("roadstead-x", True), lambda: 7)
    )
    return made


def samples(of: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample, by name and label values."""
    found = {}
    for family in text_string_to_metric_families(of.exposition().decode()):
        for sample in family.samples:
            found[sample.name, tuple(sample.labels.values())] = sample.value
    return found


def passed(did: Did = Did.CREATED, **parts: Any) -> Passed:
    """Give a pass with one outcome."""
    outcome = Outcome(REF, did, note=parts.pop("note", ""), reason=parts.pop("reason", ""))
    return Passed(Decision(**parts), (outcome,))


FAMILIES = """
controller_runtime_reconcile_total controller_runtime_reconcile_errors_total
controller_runtime_terminal_reconcile_errors_total controller_runtime_reconcile_panics_total
controller_runtime_reconcile_timeouts_total controller_runtime_reconcile_time_seconds_bucket
controller_runtime_max_concurrent_reconciles controller_runtime_active_workers
workqueue_depth workqueue_adds_total workqueue_queue_duration_seconds_bucket
workqueue_work_duration_seconds_bucket workqueue_unfinished_work_seconds
workqueue_longest_running_processor_seconds workqueue_retries_total
rest_client_requests_total leader_election_master_status
roadstead_findings roadstead_apply_total roadstead_watch_age_seconds roadstead_loop_lag_seconds
roadstead_log_lines_dropped_total roadstead_view_state roadstead_view_objects
roadstead_tenant_ca_releases roadstead_tenant_ca_writes_total roadstead_tenant_ca_refusals_total
roadstead_tenant_ca_watch_age_seconds roadstead_tenant_ca_withdrawals_held
process_cpu_seconds_total
""".split()  # noqa: SIM905 - a list of names reads best as text


def busy() -> Metrics:
    """Give metrics in which everything has happened once."""
    made = figures()
    found = (Finding("no-private-key", Verdict.REFUSE, "CACertPrivateKeyRefused"),)
    made.of("anchors").began(0.5)
    made.passed("anchors", KEY, passed(findings=found, state="Refused"))
    made.of("anchors").ended(0.25, "success")
    made.observe("watch", 200, 0.1)
    made.observe("create", 0, 0.1)
    return made


def test_every_promised_name_is_there() -> None:
    """Dashboards and alerts of controller-runtime find theirs, ours find ours."""
    made = busy()
    for number in range(9):
        _engine(made).desks["anchors"].withdrawals.admit(
            HELM_RELEASE.ref(NS, f"r{number}"), Bound("Postgres", 9), 0.0
        )
    names = {name for name, _ in samples(made)}

    assert set(FAMILIES) <= names
    assert not [name for name in names if name.endswith("_created")]


def _engine(of: Metrics) -> Any:
    """The engine that the metrics read at each scrape."""
    collectors = list(of.registry._collector_to_names)
    return next(found._engine for found in collectors if hasattr(found, "_engine"))


def test_figures_say_what_happened() -> None:
    """One pass with one refusal, two requests."""
    found = samples(busy())

    assert found["controller_runtime_reconcile_total", ("anchors", "success")] == 1
    assert found["controller_runtime_active_workers", ("anchors",)] == 0
    assert found["workqueue_queue_duration_seconds_sum", ("anchors", "anchors")] == 0.5
    assert found["rest_client_requests_total", ("200", "GET")] == 1
    assert found["rest_client_requests_total", ("<error>", "POST")] == 1
    assert found["roadstead_findings", ("no-private-key", "refuse")] == 1
    assert found["roadstead_tenant_ca_releases", ("Refused",)] == 1
    assert found["roadstead_tenant_ca_refusals_total", ("CACertPrivateKeyRefused",)] == 1
    assert found["roadstead_apply_total", ("Secret", "create", "ok")] == 1
    assert found["roadstead_tenant_ca_writes_total", ("create",)] == 1
    assert found["roadstead_watch_age_seconds", ("secrets",)] == 3
    assert found["roadstead_tenant_ca_watch_age_seconds", ("secrets",)] == 3
    assert found["roadstead_loop_lag_seconds", ()] == 0.25
    assert found["roadstead_log_lines_dropped_total", ()] == 7
    assert found["leader_election_master_status", ("roadstead-x",)] == 1


def test_a_key_is_counted_once_and_forgotten_when_it_is_gone() -> None:
    """States and findings are how many keys have them now, not how often they had."""
    made, wait = figures(), (Finding("source-exists", Verdict.WAIT, "SourceAbsent"),)
    for _ in range(3):
        made.passed("anchors", KEY, Passed(Decision(state="SourceAbsent", findings=wait)))
    first = samples(made)
    made.passed("anchors", KEY, Passed(Decision(state="Published")))
    second = samples(made)
    made.passed("anchors", KEY, Passed(Decision(), gone=True))
    third = samples(made)

    assert first["roadstead_tenant_ca_releases", ("SourceAbsent",)] == 1
    assert first["roadstead_findings", ("source-exists", "wait")] == 1
    assert second["roadstead_tenant_ca_releases", ("SourceAbsent",)] == 0
    assert second["roadstead_tenant_ca_releases", ("Published",)] == 1
    assert second["roadstead_findings", ("source-exists", "wait")] == 0
    assert third["roadstead_tenant_ca_releases", ("Published",)] == 0


def test_the_first_anchor_to_expire_is_told() -> None:
    """One that is held keeps its expiry, since it still stands; one that is gone has none."""
    made, other = figures(), HELM_RELEASE.ref(NS, "other")
    name = ("roadstead_anchor_expiry_seconds", ())
    assert name not in samples(made)
    for key, left in ((KEY, 2000), (other, -1000)):
        expiry = int(START.timestamp()) + left
        made.passed("anchors", key, Passed(Decision(figures=(("expiry", expiry),))))
    assert samples(made)[name] == -1000
    made.passed("anchors", other, Passed(Decision(state="HeldAfterSourceLoss")))
    assert samples(made)[name] == -1000

    made.passed("anchors", other, Passed(Decision(state="Withdrawn")))
    assert samples(made)[name] == 2000
    made.passed("anchors", KEY, Passed(Decision(), gone=True))
    assert name not in samples(made)


def test_objects_are_counted_by_their_readiness() -> None:
    """A read that failed changes nothing; an object that is gone is not counted."""
    made, other = figures(), CONFIG_MAP.ref(NS, "b")

    def judged(key: Ref, ready: str) -> None:
        stated = [{"type": "Resolved", "status": "True"}, {"type": "Ready", "status": ready}]
        status = Status(LIVE, {"conditions": stated})
        made.passed("anchors", key, Passed(Decision(status=status)))

    def counted() -> tuple[float, ...]:
        name, found = "roadstead_object_ready", samples(made)
        return tuple(found[name, ("ConfigMap", NS, one)] for one in ("True", "False"))

    judged(KEY, "False")
    judged(other, "False")
    assert counted() == (0, 2)
    judged(KEY, "True")
    assert counted() == (1, 1)
    refused = ClusterError("no", status=500, reason="InternalError")
    made.passed("anchors", KEY, Passed(Decision(backoff=True), error=refused))
    assert counted() == (1, 1)
    made.passed("anchors", KEY, Passed(Decision(), gone=True))
    assert counted() == (0, 1)


def test_a_refusal_is_counted_when_it_begins() -> None:
    """A resync every five minutes is not a new refusal; its return is."""
    made, refused = figures(), Passed(Decision(findings=(Finding("r", Verdict.REFUSE, "Bad"),)))
    for one in (refused, refused, Passed(Decision()), refused):
        made.passed("anchors", KEY, one)

    assert samples(made)["roadstead_tenant_ca_refusals_total", ("Bad",)] == 2


@pytest.mark.parametrize(
    ("did", "note", "want", "op", "result"),
    [
        (Did.CREATED, "", Want.create(SECRET, BODY), "create", "ok"),
        (Did.UPDATED, "", Want.replace(SECRET, BODY, LIVE), "update", "ok"),
        (Did.UPDATED, "readmit", Want.replace(SECRET, BODY, LIVE), "update", "ok"),
        (Did.UNCHANGED, "", Want.replace(SECRET, BODY, LIVE), "update", "unchanged"),
        (Did.FAILED, "", Want.replace(SECRET, BODY, LIVE), "update", "Forbidden"),
        (Did.FAILED, "", Want.create(SECRET, BODY), "create", "Forbidden"),
        (Did.DELETED, "", None, "delete", "ok"),
        (Did.HELD, "", None, "delete", "held"),
        (Did.FAILED, "", None, "delete", "Forbidden"),
    ],
)
def test_writes_are_counted_by_what_was_meant_and_what_came(
    did: Did, note: str, want: Want | None, op: str, result: str
) -> None:
    """A failed one is known by what it would have done."""
    made = figures()
    drop = () if want else (Drop(REF, "u", "1"),)
    wants = (want,) if want else ()
    made.passed("anchors", KEY, passed(did, want=wants, drop=drop, note=note, reason="Forbidden"))
    found = samples(made)
    counted = {name[1][0] for name, value in found.items() if "_writes_" in name[0] and value}

    assert found["roadstead_apply_total", ("Secret", op, result)] == 1
    assert counted == ({note or op} if result == "ok" else set())


@pytest.mark.parametrize(
    ("did", "how", "op", "result"),
    [
        (Did.UPDATED, How.APPLY, "apply", "ok"),
        (Did.FAILED, How.APPLY, "apply", "Forbidden"),
        (Did.CREATED, How.MINT, "mint", "ok"),
        (Did.UNCHANGED, How.MINT, "mint", "unchanged"),
        (Did.SKIPPED, How.MINT, "mint", "skipped"),
        (Did.UPDATED, How.STATUS, "status", "ok"),
        (Did.FAILED, How.STATUS, "status", "Forbidden"),
        (Did.CREATED, How.REPLACE, "create", "ok"),
        (Did.UPDATED, How.RENEW, "update", "ok"),
        (Did.SKIPPED, How.CREATE, "create", "skipped"),
    ],
)
def test_each_way_to_write_is_counted_by_its_name(did: Did, how: How, op: str, result: str) -> None:
    """An apply that fails is not a create that fails; what was skipped was not sent."""
    made = figures("attachments")
    outcome = Outcome(REF, did, reason="Forbidden" if did is Did.FAILED else "", how=how)
    made.passed("attachments", KEY, Passed(Decision(), (outcome,)))

    assert samples(made)["roadstead_apply_total", ("Secret", op, result)] == 1


@pytest.mark.parametrize(
    ("verb", "method"), [("apply", "PATCH"), ("update-status", "PUT"), ("update", "PUT")]
)
def test_requests_are_counted_by_method(verb: str, method: str) -> None:
    """Others' dashboards know HTTP's words."""
    made = figures()
    made.observe(verb, 200, 0.1)

    assert samples(made)["rest_client_requests_total", ("200", method)] == 1


def test_only_anchors_have_the_anchors_figures() -> None:
    """The passes of another controller are no business of theirs."""
    made = figures("wildcards")
    made.passed("wildcards", KEY, passed(findings=(Finding("r", Verdict.REFUSE, "Bad"),)))
    theirs = {name for name, _ in samples(made) if name.startswith("roadstead_tenant_ca_")}

    assert {"roadstead_tenant_ca_watch_age_seconds"} == theirs


@pytest.mark.parametrize(
    ("one", "result"),
    [
        (Passed(Decision()), "success"),
        (Passed(Decision(), gone=True), "success"),
        (Passed(Decision(backoff=True), error=ClusterError("no")), "error"),
        (Passed(Decision(backoff=True), (Outcome(REF, Did.FAILED),)), "error"),
        (Passed(Decision(), (Outcome(REF, Did.FAILED),), conflict=True), "requeue"),
        (Passed(Decision(), (Outcome(REF, Did.CREATED),)), "requeue"),
    ],
)
def test_results_are_controller_runtimes(one: Passed, result: str) -> None:
    """Its alerts ask for `error`."""
    assert result == result_of(one)


def test_no_label_names_an_object() -> None:
    """Few series, and nothing a tenant chose."""
    made = busy()
    _engine(made).begin_list(MAPS)
    _engine(made).add_page(MAPS, [thing("shop-of-blue")])
    text = made.exposition()

    assert b"shop" not in text
    assert NS.encode() + b'"' not in text
    assert CANARY.encode() not in text
    assert DATA["password"].encode() not in text
