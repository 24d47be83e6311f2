"""The Grafana dashboard, from a table of panels: an overview, each capability, the runtime.

Panels say what a person at night asks, in the order of asking. Every expression uses metrics of
ours alone, bound to our job where other programs have the same name.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.deploy.monitoring.alerts import JOB

Json = dict[str, Any]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, ROWS_HIGH, HIGH = 24, 1, 8
RATE = "[$__rate_interval]"


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    queries: PromQL by legend. unit: as Grafana names it. width: of 24 columns.
    stat: one number instead of a curve, red from `red` on where it is set.
    """

    title: str
    says: str
    queries: dict[str, str]
    unit: str = "short"
    width: int = 8
    stat: bool = False
    red: float | None = None


def _p99(metric: str, by: str) -> str:
    buckets = f"sum by (le, {by}) (rate({metric}_bucket{{{JOB}}}{RATE}))"
    return f"histogram_quantile(0.99, {buckets})"


OVERVIEW = (
    Panel(
        "Leaders",
        "Leases that somebody holds; three of them in a whole installation.",
        {"leases": f"sum(max by (name) (leader_election_master_status{{{JOB}}}))"},
        width=4,
        stat=True,
    ),
    Panel(
        "Oldest watch",
        "Seconds since the most silent watch was heard of; liveness fails at 600.",
        {"age": f"max(roadstead_watch_age_seconds{{{JOB}}})"},
        "s",
        width=4,
        stat=True,
        red=480,
    ),
    Panel(
        "Failed passes",
        "Passes that fail, by controller, each second.",
        {
            "{{controller}}": "sum by (controller)"
            f" (rate(controller_runtime_reconcile_errors_total{{{JOB}}}{RATE}))"
        },
        "ops",
    ),
    Panel(
        "Refusals",
        "Keys that a rule refuses now.",
        {"{{rule}}": 'max by (rule) (roadstead_findings{verdict="refuse"}) > 0'},
    ),
)
ANCHORS = (
    Panel(
        "Releases by state",
        "What stands for how many applications.",
        {"{{state}}": "max by (state) (roadstead_tenant_ca_releases)"},
    ),
    Panel(
        "Writes of anchors",
        "By what was done.",
        {"{{op}}": f"sum by (op) (rate(roadstead_tenant_ca_writes_total{RATE}))"},
        "ops",
    ),
    Panel(
        "First anchor to expire",
        "Time until the first published CA has no valid certificate left.",
        {"left": "min(roadstead_anchor_expiry_seconds)"},
        "s",
        width=4,
        stat=True,
    ),
    Panel(
        "Withdrawals held",
        "By the guard against mass withdrawal.",
        {"{{kind}}": "max by (kind) (roadstead_tenant_ca_withdrawals_held)"},
        width=4,
        stat=True,
        red=1,
    ),
)
WILDCARDS = (
    Panel(
        "Replicas",
        "Kept, skipped since a foreign Secret has the name, pruned.",
        {"{{state}}": "max by (state) (roadstead_wildcard_replicas)"},
        width=16,
    ),
    Panel(
        "Source can be copied",
        "1 while the platform's wildcard is usable.",
        {"usable": "max(roadstead_wildcard_source_usable)"},
        stat=True,
    ),
)
GATEWAYS = (
    Panel(
        "Listeners",
        "Of 64 that a Gateway can have; the ten fullest.",
        {
            "{{namespace}}/{{gateway}}": "topk(10, max by (namespace, gateway)"
            " (roadstead_listener_budget))"
        },
        red=57,
    ),
    Panel(
        "Hostname claims",
        "By what was said of them.",
        {"{{verdict}}": "max by (verdict) (roadstead_hostname_claims)"},
    ),
    Panel(
        "TenantGateways that are not ready",
        "By namespace.",
        {"{{namespace}}": 'max by (namespace) (roadstead_tenantgateway_ready{status="False"}) > 0'},
    ),
)
ATTACHMENTS = (
    Panel(
        "Attachments that are not ready",
        "By namespace.",
        {
            "{{namespace}}": "max by (namespace)"
            ' (roadstead_object_ready{kind="EndpointAttachment",status="False"}) > 0'
        },
    ),
    Panel(
        "Writes",
        "Of claims, Services and attachments, by what came of them.",
        {
            "{{kind}} {{op}} {{result}}": "sum by (kind, op, result) (rate(roadstead_apply_total"
            f'{{kind=~"IPAddressClaim|Service|EndpointAttachment"}}{RATE}))'
        },
        "ops",
    ),
    Panel(
        "Verdicts of all rules",
        "Keys by verdict; a rise of `wait` is a neighbour that does not answer.",
        {"{{verdict}}": "sum by (verdict) (max by (rule, verdict) (roadstead_findings))"},
    ),
)
LINEAGE = (
    Panel(
        "Objects under review",
        "By what came of them.",
        {"{{outcome}}": f"sum by (outcome) (rate(roadstead_lineage_requests_total{RATE}))"},
        "reqps",
    ),
    Panel(
        "Answers, 99th percentile",
        "Writes of tenants wait that long.",
        {
            "p99": "histogram_quantile(0.99, sum by (le)"
            f" (rate(roadstead_lineage_duration_seconds_bucket{RATE})))"
        },
        "s",
    ),
    Panel(
        "Verdicts",
        "`true` is for the tenant to see.",
        {
            "{{kind}} {{verdict}}": "sum by (kind, verdict)"
            f" (rate(roadstead_lineage_verdict_total{RATE}))"
        },
        "ops",
    ),
    Panel(
        "Owners asked for",
        "Where the answer came from.",
        {"{{result}}": f"sum by (result) (rate(roadstead_lineage_owner_fetch_total{RATE}))"},
        "ops",
    ),
    Panel(
        "Certificate",
        "Time until the serving certificate expires.",
        {"left": "min(roadstead_webhook_certificate_expiry_timestamp_seconds > 0) - time()"},
        "s",
        stat=True,
    ),
    Panel(
        "Visible without an owner",
        "Secrets that tenants see though no application owns them.",
        {"secrets": "max(roadstead_lineage_unowned_visible_secrets)"},
        stat=True,
    ),
)
RUNTIME = (
    Panel(
        "Passes",
        "By controller and result.",
        {
            "{{controller}} {{result}}": "sum by (controller, result)"
            f" (rate(controller_runtime_reconcile_total{{{JOB}}}{RATE}))"
        },
        "ops",
    ),
    Panel(
        "Length of passes, 99th percentile",
        "By controller.",
        {"{{controller}}": _p99("controller_runtime_reconcile_time_seconds", "controller")},
        "s",
    ),
    Panel(
        "Keys that wait",
        "By queue.",
        {"{{name}}": f"max by (name) (workqueue_depth{{{JOB}}})"},
    ),
    Panel(
        "Time in the queue, 99th percentile",
        "By queue.",
        {"{{name}}": _p99("workqueue_queue_duration_seconds", "name")},
        "s",
    ),
    Panel(
        "Requests to the API server",
        "By status.",
        {"{{code}}": f"sum by (code) (rate(rest_client_requests_total{{{JOB}}}{RATE}))"},
        "reqps",
    ),
    Panel(
        "Objects in views",
        "By watch.",
        {"{{watch}}": "max by (watch) (roadstead_view_objects)"},
    ),
    Panel(
        "Loop",
        "The longest stand-still of the last minute.",
        {"{{pod}}": f"max by (pod) (roadstead_loop_lag_seconds{{{JOB}}})"},
        "s",
        red=2,
    ),
    Panel(
        "Memory",
        "Resident, by Pod.",
        {"{{pod}}": f"max by (pod) (process_resident_memory_bytes{{{JOB}}})"},
        "bytes",
    ),
    Panel(
        "CPU",
        "By Pod.",
        {"{{pod}}": f"sum by (pod) (rate(process_cpu_seconds_total{{{JOB}}}{RATE}))"},
    ),
)
SECTIONS = {
    "Overview": OVERVIEW,
    "Trust anchors": ANCHORS,
    "Wildcard replicas": WILDCARDS,
    "Attachments": ATTACHMENTS,
    "Tenant gateways": GATEWAYS,
    "Lineage": LINEAGE,
    "Runtime": RUNTIME,
}


def dashboard() -> Json:
    """The dashboard as Grafana imports it."""
    return {
        "uid": "roadstead",
        "title": "Roadstead",
        "description": "What the controllers and the admission webhook do, and what holds them up.",
        "tags": ["roadstead"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {
            "list": [
                {
                    "name": "datasource",
                    "label": "Data source",
                    "type": "datasource",
                    "query": "prometheus",
                }
            ]
        },
        "panels": list(_panels()),
    }


def _panels() -> Iterator[Json]:
    """Every panel with its place: rows one below the other, panels from left to right."""
    number, top = 0, 0
    for section, panels in SECTIONS.items():
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": section,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": ROWS_HIGH},
        }
        top, left = top + ROWS_HIGH, 0
        for panel in panels:
            if left + panel.width > WIDTH:
                top, left = top + HIGH, 0
            number += 1
            yield _panel(panel, number, {"x": left, "y": top, "w": panel.width, "h": HIGH})
            left += panel.width
        top += HIGH


def _panel(panel: Panel, number: int, place: Json) -> Json:
    steps: list[Json] = [{"color": "green", "value": None}]
    if panel.red is not None:
        steps.append({"color": "red", "value": panel.red})
    return {
        "id": number,
        "type": "stat" if panel.stat else "timeseries",
        "title": panel.title,
        "description": panel.says,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "options": {"reduceOptions": {"calcs": ["lastNotNull"]}}
        if panel.stat
        else {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": SOURCE, "expr": query, "legendFormat": name}
            for at, (name, query) in enumerate(panel.queries.items())
        ],
    }
