"""What tells a cluster's monitoring of us: a Service, and objects of the prometheus-operator."""

import json
from typing import Any

from roadstead.deploy.holes import Hole, hole
from roadstead.deploy.monitoring.alerts import rules
from roadstead.deploy.monitoring.dashboard import dashboard
from roadstead.deploy.rbac import document
from roadstead.deploy.workloads import COMPONENT, METRICS, NAME, PROGRAM, labelled, selector

Json = dict[str, Any]
API = "monitoring.coreos.com/v1"
NAMED = f"{PROGRAM}-metrics"
PART = "metrics"
DASHBOARD_FILE = "dashboards/roadstead.json"
"""Below the chart's folder."""


def metrics_service(home: str) -> Json:
    """Every Pod of ours by its own address, those that are not ready among them."""
    return labelled(
        document(
            "Service",
            NAMED,
            api="v1",
            namespace=home,
            spec={
                "clusterIP": "None",
                "publishNotReadyAddresses": True,
                "selector": selector(),
                "ports": [{"name": "metrics", "port": METRICS, "targetPort": "metrics"}],
            },
        ),
        PART,
    )


def service_monitor(home: str) -> Json:
    """Scrape them as the job that the alerts name.

    Our own label `namespace` names a tenant's: without honorLabels it would be renamed.
    """
    return _selected(
        document(
            "ServiceMonitor",
            PROGRAM,
            api=API,
            namespace=home,
            spec={
                "jobLabel": NAME,
                "podTargetLabels": [COMPONENT],
                "selector": {"matchLabels": {NAME: PROGRAM, COMPONENT: PART}},
                "endpoints": [
                    {
                        "port": "metrics",
                        "interval": hole("monitoring.interval"),
                        "honorLabels": True,
                    }
                ],
            },
        )
    )


def prometheus_rule(home: str) -> Json:
    """The alerts for the prometheus-operator."""
    return _selected(document("PrometheusRule", PROGRAM, api=API, namespace=home, spec=rules()))


def dashboard_map(home: str) -> Json:
    """The dashboard where a sidecar of Grafana finds it."""
    body = document(
        "ConfigMap",
        f"{PROGRAM}-dashboard",
        api="v1",
        namespace=home,
        data={
            "roadstead.json": Hole(f'(.Files.Get "{DASHBOARD_FILE}")', dashboard_text()),
        },
    )
    return _selected(body, "monitoring.dashboardLabels")


def dashboard_text() -> str:
    """The dashboard as Grafana imports it."""
    return json.dumps(dashboard(), indent=2, sort_keys=True) + "\n"


def _selected(body: Json, path: str = "monitoring.labels") -> Json:
    """The same object with labels of the installation beside ours."""
    own = body["metadata"]["labels"]
    labels = hole(path)
    stated = " ".join(f'"{key}" "{value}"' for key, value in own.items())
    body["metadata"]["labels"] = Hole(
        f"merge (dict {stated}) {labels.expression}", {**own, **labels.default}
    )
    return body
