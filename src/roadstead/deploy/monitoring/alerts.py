"""When somebody is called, as a table. Each alert has a runbook of its name.

Expressions use only metrics that `/metrics` has. Names that other programs export as well are
bound to our job. A gauge of what is so is preferred to a counter of what happened: a counter that
appears with its first increment shows no increase, and an alert should last as long as its cause.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roadstead.deploy.holes import Hole, filled
from roadstead.deploy.values import default_of

Json = dict[str, Any]
JOB = 'job="roadstead"'
WARNING, CRITICAL = "warning", "critical"


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert.

    expression: PromQL. lasts: how long it must hold, as Prometheus writes it.
    summary: one line. says: what it means for tenants.
    """

    name: str
    expression: str
    lasts: str
    severity: str
    summary: str
    says: str

    @property
    def anchor(self) -> str:
        """Of its section in the runbooks."""
        return self.name.lower()


ALERTS = (
    Alert(
        "RoadsteadNotLeader",
        f"max by (name) (leader_election_master_status{{{JOB}}}) < 1"
        f" or absent(leader_election_master_status{{{JOB}}})",
        "2m",
        CRITICAL,
        "Nobody holds the Lease {{ $labels.name }}.",
        "Nothing is written for what these controllers care for; what stands stays.",
    ),
    Alert(
        "RoadsteadWebhookDown",
        f"(count(roadstead_webhook_certificate_expiry_timestamp_seconds{{{JOB}}} > time())"
        " or vector(0)) < 1",
        "2m",
        CRITICAL,
        "No process of the lineage webhook has a valid certificate.",
        "Writes in tenants' namespaces are refused while the webhook cannot answer.",
    ),
    Alert(
        "RoadsteadWebhookCertificateExpiring",
        f"min(roadstead_webhook_certificate_expiry_timestamp_seconds{{{JOB}}} > 0) - time()"
        " < 7 * 86400",
        "1h",
        WARNING,
        "The webhook's certificate expires within a week.",
        "It was not renewed; at its end, writes in tenants' namespaces are refused.",
    ),
    Alert(
        "RoadsteadWatchStale",
        f"max by (watch) (roadstead_watch_age_seconds{{{JOB}}}) > 480",
        "1m",
        WARNING,
        "The watch {{ $labels.watch }} has been silent for 8 minutes.",
        "Changes may go unseen; at 10 minutes the process is started again.",
    ),
    Alert(
        "RoadsteadReconcileErrors",
        f"sum by (controller) (rate(controller_runtime_reconcile_errors_total{{{JOB}}}[10m])) > 0",
        "15m",
        WARNING,
        "Passes of {{ $labels.controller }} keep failing.",
        "Some object is not what its owner asked for; each is tried again.",
    ),
    Alert(
        "RoadsteadBug",
        "sum by (controller)"
        f" (increase(controller_runtime_reconcile_panics_total{{{JOB}}}[1h])) > 0",
        "0m",
        WARNING,
        "A pass of {{ $labels.controller }} met a bug.",
        "The object is passed over until it is tried again.",
    ),
    Alert(
        "RoadsteadLoopLag",
        f"max by (pod) (roadstead_loop_lag_seconds{{{JOB}}}) > 2",
        "5m",
        WARNING,
        "The process {{ $labels.pod }} stands still for seconds at a time.",
        "It is short of CPU or hangs; its Lease may go to another.",
    ),
    Alert(
        "RoadsteadPrivateKeyRefused",
        'max(roadstead_findings{rule="no-private-key",verdict="refuse"}) > 0',
        "0m",
        WARNING,
        "{{ $value }} sources of anchors hold a private key.",
        "Nothing was copied; the tenants of these applications have no CA, or the old one.",
    ),
    Alert(
        "RoadsteadAnchorExpiring",
        "min(roadstead_anchor_expiry_seconds) < 21 * 86400",
        "1h",
        WARNING,
        "A published CA runs out within three weeks.",
        "Clients that trust this anchor will fail to connect when it does.",
    ),
    Alert(
        "RoadsteadWithdrawalsHeld",
        "max by (kind) (roadstead_tenant_ca_withdrawals_held) > 0",
        "5m",
        WARNING,
        "Withdrawals of {{ $labels.kind }} anchors are held.",
        "Many would go at once: most often a declaration was lost.",
    ),
    Alert(
        "RoadsteadListenerBudget",
        "max by (namespace, gateway) (roadstead_listener_budget) > 56",
        "10m",
        WARNING,
        "Gateway {{ $labels.namespace }}/{{ $labels.gateway }} needs {{ $value }} of 64 listeners.",
        "Beyond 64, further hostnames of this tenant are not served.",
    ),
    Alert(
        "RoadsteadGatewayNotReady",
        'max by (namespace) (roadstead_tenantgateway_ready{status="False"}) > 0',
        "15m",
        WARNING,
        "The TenantGateway of {{ $labels.namespace }} is not ready.",
        "Hostnames of this tenant may not be served.",
    ),
)
RUNBOOKS = "monitoring.runbooks"


def rules() -> Json:
    """The rules in Prometheus' own form; the address of the runbooks is a hole."""
    return {"groups": [{"name": "roadstead", "rules": [_rule(one, _runbook) for one in ALERTS]}]}


def rules_file() -> Json:
    """The rules as Prometheus reads them from a file."""
    found: Json = filled(rules())
    return found


def _rule(one: Alert, runbook: Callable[[Alert], Hole]) -> Json:
    return {
        "alert": one.name,
        "expr": one.expression,
        "for": one.lasts,
        "labels": {"severity": one.severity},
        "annotations": {
            "summary": one.summary,
            "description": one.says,
            "runbook_url": runbook(one),
        },
    }


def _runbook(one: Alert) -> Hole:
    default = f"{default_of(RUNBOOKS)}#{one.anchor}"
    return Hole(f'printf "%s#{one.anchor}" .Values.{RUNBOOKS}', default)
