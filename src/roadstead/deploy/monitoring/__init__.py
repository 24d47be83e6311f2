"""What watches us: who is scraped, when somebody is called, and one dashboard."""

from roadstead.deploy.monitoring.alerts import ALERTS, Alert, rules, rules_file
from roadstead.deploy.monitoring.dashboard import dashboard
from roadstead.deploy.monitoring.objects import (
    dashboard_map,
    metrics_service,
    prometheus_rule,
    service_monitor,
)

__all__ = [
    "ALERTS",
    "Alert",
    "dashboard",
    "dashboard_map",
    "metrics_service",
    "prometheus_rule",
    "rules",
    "rules_file",
    "service_monitor",
]
