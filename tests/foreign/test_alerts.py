"""The alerts and the dashboard, as Prometheus itself reads them: each fires, and does not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from roadstead.deploy.monitoring import ALERTS, dashboard
from roadstead.deploy.shipped import files_of
from roadstead.testbed.foreign import ask
from test_docs import metrics

pytestmark = pytest.mark.foreign

ROOT = Path(__file__).parent.parent.parent
RULES = str(ROOT / "deploy/alerts/roadstead.rules.yaml")
DAY = 86400
LEADS = 'leader_election_master_status{job="roadstead",name="roadstead-refresher",pod="%s"}'
OTHERS = 'leader_election_master_status{job="flux",name="kustomize-controller"}'
EXPIRY = 'roadstead_webhook_certificate_expiry_timestamp_seconds{job="roadstead",pod="%s"}'
FINDING = 'roadstead_findings{job="roadstead",rule="%s",verdict="%s"}'
ANCHOR = "roadstead_anchor_expiry_seconds"
HELD = 'roadstead_tenant_ca_withdrawals_held{kind="Postgres"}'
LISTENERS = 'roadstead_listener_budget{namespace="tenant-blue",gateway="cozystack"}'
READY = 'roadstead_tenantgateway_ready{namespace="tenant-blue",status="%s"}'
ERRORS = 'controller_runtime_reconcile_errors_total{job="%s",controller="anchors"}'
PANICS = 'controller_runtime_reconcile_panics_total{job="roadstead",controller="anchors"}'
LAG = 'roadstead_loop_lag_seconds{job="roadstead",pod="a"}'
WATCH = 'roadstead_watch_age_seconds{job="roadstead",pod="%s",watch="secrets"}'


@dataclass(frozen=True)
class Trial:
    """What is measured each minute, and when it is looked at. labels: of what fires."""

    alert: str
    fires: bool
    series: Mapping[str, str]
    at: str = "30m"
    labels: Mapping[str, str] = field(default_factory=dict)


def fires(alert: str, series: Mapping[str, str], at: str = "30m", **labels: str) -> Trial:
    """One that must fire."""
    return Trial(alert, True, series, at, labels)


def quiet(alert: str, series: Mapping[str, str], at: str = "30m") -> Trial:
    """One that must not."""
    return Trial(alert, False, series, at)


TRIALS = (
    fires(
        "RoadsteadNotLeader", {LEADS % "a": "0x60", LEADS % "b": "0x60"}, name="roadstead-refresher"
    ),
    fires("RoadsteadNotLeader", {OTHERS: "1x60"}),
    quiet("RoadsteadNotLeader", {LEADS % "a": "0x60", LEADS % "b": "1x60"}),
    # A takeover: one lets go, the other has it a minute later.
    quiet("RoadsteadNotLeader", {LEADS % "a": "1x10 0x60", LEADS % "b": "0x11 1x60"}, "12m"),
    fires("RoadsteadWebhookDown", {LEADS % "a": "1x60"}),
    fires("RoadsteadWebhookDown", {EXPIRY % "a": "0x60"}),
    fires("RoadsteadWebhookDown", {EXPIRY % "a": "60x60"}),
    quiet("RoadsteadWebhookDown", {EXPIRY % "a": "0x60", EXPIRY % "b": f"{90 * DAY}x60"}),
    fires("RoadsteadWebhookCertificateExpiring", {EXPIRY % "a": f"{6 * DAY}x120"}, "90m"),
    quiet("RoadsteadWebhookCertificateExpiring", {EXPIRY % "a": f"{30 * DAY}x120"}, "90m"),
    quiet("RoadsteadWebhookCertificateExpiring", {EXPIRY % "a": "0x120"}, "90m"),
    fires("RoadsteadWatchStale", {WATCH % "a": "0+60x60"}, "12m", watch="secrets"),
    quiet("RoadsteadWatchStale", {WATCH % "a": "0+60x7 0x60"}),
    fires("RoadsteadReconcileErrors", {ERRORS % "roadstead": "0+1x60"}, controller="anchors"),
    quiet("RoadsteadReconcileErrors", {ERRORS % "roadstead": "0+1x5 5x60"}),
    quiet("RoadsteadReconcileErrors", {ERRORS % "flux": "0+1x60"}),
    fires("RoadsteadBug", {PANICS: "0x10 1x50"}, controller="anchors"),
    quiet("RoadsteadBug", {PANICS: "0x60"}),
    fires("RoadsteadLoopLag", {LAG: "3x60"}, pod="a"),
    quiet("RoadsteadLoopLag", {LAG: "3x3 0x60"}),
    fires("RoadsteadPrivateKeyRefused", {FINDING % ("no-private-key", "refuse"): "0x5 1x60"}),
    quiet("RoadsteadPrivateKeyRefused", {FINDING % ("no-private-key", "refuse"): "1x5 0x60"}),
    quiet("RoadsteadPrivateKeyRefused", {FINDING % ("no-private-key", "pass"): "9x60"}),
    fires("RoadsteadAnchorExpiring", {ANCHOR: f"{20 * DAY}x120"}, "90m"),
    quiet("RoadsteadAnchorExpiring", {ANCHOR: f"{40 * DAY}x120"}, "90m"),
    fires("RoadsteadWithdrawalsHeld", {HELD: "35x60"}, kind="Postgres"),
    quiet("RoadsteadWithdrawalsHeld", {HELD: "0x60"}),
    fires("RoadsteadListenerBudget", {LISTENERS: "57x60"}, namespace="tenant-blue"),
    quiet("RoadsteadListenerBudget", {LISTENERS: "56x60"}),
    fires("RoadsteadGatewayNotReady", {READY % "False": "1x60"}, namespace="tenant-blue"),
    quiet("RoadsteadGatewayNotReady", {READY % "False": "0x60", READY % "True": "1x60"}),
    quiet("RoadsteadGatewayNotReady", {READY % "False": "1x10 0x60"}),
)


@pytest.fixture(scope="module")
def answers() -> dict[int, list[dict[str, str]]]:
    """What fires in each trial, by one call."""
    asked = [
        {
            "rules": RULES,
            "series": [{"series": name, "values": of} for name, of in one.series.items()],
            "interval": "1m",
            "at": one.at,
        }
        for one in TRIALS
    ]
    said = ask("promtool", asked)
    assert [] == [one["error"] for one in said if one.get("error")]
    return {id(trial): one.get("firing") or [] for trial, one in zip(TRIALS, said, strict=True)}


@pytest.mark.parametrize(
    "trial", TRIALS, ids=[f"{one.alert}-{one.fires}-{at}" for at, one in enumerate(TRIALS)]
)
def test_an_alert_fires_when_it_should(trial: Trial, answers: Mapping[int, Any]) -> None:
    """And is quiet when it should be, as Prometheus evaluates it minute by minute."""
    found = [one for one in answers[id(trial)] if one["alertname"] == trial.alert]

    assert trial.fires == bool(found)
    for name, value in trial.labels.items():
        assert {value} == {one[name] for one in found}


def test_every_alert_is_tried_both_ways() -> None:
    """One that cannot fire, or always does, is no alert."""
    names = {one.name for one in ALERTS}

    assert names == {one.alert for one in TRIALS if one.fires}
    assert names == {one.alert for one in TRIALS if not one.fires}


def test_an_alert_says_what_it_is_about() -> None:
    """Its words are templates of Prometheus; a label that is not there renders as nothing."""
    trial = fires("RoadsteadListenerBudget", {LISTENERS: "57x60"})
    series = [{"series": name, "values": of} for name, of in trial.series.items()]

    (said,) = ask("promtool", [{"rules": RULES, "series": series, "interval": "1m", "at": "30m"}])

    told = dict(zip((one["alertname"] for one in said["firing"]), said["annotations"], strict=True))
    summary = told[trial.alert]["summary"]
    assert "Gateway tenant-blue/cozystack needs 57 of 64 listeners." == summary


def served() -> set[str]:
    """Every series that `/metrics` has."""
    found: set[str] = set()
    for name, kind in metrics().items():
        found |= {name}
        if kind == "histogram":
            found |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    return found


def test_the_alerts_use_metrics_that_exist() -> None:
    """In the file and in the PrometheusRule alike, which hold the same rules."""
    (said,) = ask("promtool", [{"rules": RULES}])
    assert said["metrics"]
    assert set() == set(said["metrics"]) - served()

    file = yaml.safe_load(files_of("alerts")["alerts/roadstead.rules.yaml"])
    rule = yaml.safe_load(files_of("kustomize")["kustomize/monitoring/rules.yaml"])
    assert file == rule["spec"]


def test_every_expression_of_the_dashboard_is_promql_over_metrics_that_exist() -> None:
    """A panel that can only be empty is worse than none."""
    queries = [
        target["expr"].replace("$__rate_interval", "5m")
        for panel in dashboard()["panels"]
        for target in panel.get("targets", ())
    ]

    (said,) = ask("promtool", [{"expressions": queries}])

    assert not said.get("error"), said
    assert set() == set(said["metrics"]) - served()


def test_what_is_no_promql_is_refused() -> None:
    """The judge is awake."""
    wrong, fine = ask("promtool", [{"expressions": ["sum by (a"]}, {"expressions": ["up"]}])

    assert wrong["error"]
    assert ["up"] == fine["metrics"]
