"""Scraping, alerts and the dashboard. Source: contract 3.11; R-OBS-01."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from roadstead.capabilities.services.api.kinds import (
    POD_MONITOR,
    PROMETHEUS_RULE,
    SERVICE_MONITOR,
)
from roadstead.capabilities.services.api.parts import STATEFUL_SET, TCP, Sli
from roadstead.capabilities.services.render import part, roles
from roadstead.capabilities.services.render.part import OBSERVE_FILE, Rendered, rendered, selector
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import CONFIG_MAP

_COLUMNS = 24
_HEIGHT = 8
_NAME = "app.kubernetes.io/name"


def observe(seen: Snapshot) -> Iterator[Rendered]:
    """What is scraped, what alerts, what is drawn."""
    if seen.service.scraped_port is not None:
        yield _monitor(seen, seen.service.scraped_port)
    if seen.service.observability.slis:
        yield _rules(seen)
        yield _dashboard(seen)


def _monitor(seen: Snapshot, port: int) -> Rendered:
    service, settings = seen.service, seen.platform.observability
    served = {(one.port, one.protocol): one for one in seen.catalog.served(service.name)}
    entry = served.get((port, TCP))
    endpoint = {
        "port": entry.entry if entry else f"tcp-{port}",
        "path": service.observability.path,
        "interval": settings.scrape_interval,
    }
    selects = {
        "selector": {"matchLabels": selector(seen)},
        "namespaceSelector": {"matchNames": [service.name]},
    }
    if served:
        kind, spec = SERVICE_MONITOR, {**selects, "endpoints": [endpoint]}
    else:
        # The alerts name the job after the service, as a ServiceMonitor does.
        kind = POD_MONITOR
        spec = {"jobLabel": _NAME, **selects, "podMetricsEndpoints": [endpoint]}
    return rendered(
        seen,
        kind,
        service.name,
        file=OBSERVE_FILE,
        field="observability.metrics",
        role=roles.MONITOR,
        rest={"spec": spec},
        labels=settings.prometheus_labels,
    )


def _rules(seen: Snapshot) -> Rendered:
    name = seen.service.name
    rules = [
        _rule(seen, sli) for sli in sorted(seen.service.observability.slis, key=lambda s: s.name)
    ]
    return rendered(
        seen,
        PROMETHEUS_RULE,
        name,
        file=OBSERVE_FILE,
        field="observability.slis",
        role=roles.RULES,
        rest={"spec": {"groups": [{"name": name, "rules": rules}]}},
        labels=seen.platform.observability.prometheus_labels,
    )


def _rule(seen: Snapshot, sli: Sli) -> dict[str, Any]:
    name = seen.service.name
    alert, expr, wait, severity, summary = _builtin(seen, sli.name) or (
        f"ServiceSli{_camel(sli.name)}",
        sli.expr,
        sli.for_,
        sli.severity,
        sli.summary,
    )
    return {
        "alert": alert,
        "expr": expr,
        "for": wait,
        "labels": {"service": name, "severity": severity},
        **({"annotations": {"summary": summary}} if summary else {}),
    }


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _builtin(seen: Snapshot, name: str) -> tuple[str, str, str, str, str] | None:
    """Alert, expression, wait, severity and summary of a builtin indicator; None for another."""
    service = seen.service.name
    if name == "up":
        return ("ServiceDown", _down(seen), "5m", "critical", f"{service} is down")
    if name == "scrape":
        expr = f'up{{namespace="{service}",job="{service}"}} == 0'
        return ("ServiceScrapeDown", expr, "10m", "warning", f"{service} cannot be scraped")
    if name == "restarts":
        expr = f"increase({_restarts(seen)}[1h]) > 3"
        return ("ServiceRestarting", expr, "0m", "warning", f"{service} restarts again and again")
    if name == "storage":
        chosen = _claims(seen)
        expr = (
            f"kubelet_volume_stats_available_bytes{chosen}"
            f" / kubelet_volume_stats_capacity_bytes{chosen} < 0.1"
        )
        return (
            "ServiceStorageFull",
            expr,
            "15m",
            "warning",
            f"a volume of {service} is nearly full",
        )
    return None


def _available(seen: Snapshot) -> str:
    name = seen.service.name
    if seen.service.is_vm:
        return f'kubevirt_vmi_info{{namespace="{name}",name="{name}",phase="running"}}'
    if seen.service.workload == STATEFUL_SET:
        return f'kube_statefulset_status_replicas_ready{{namespace="{name}",statefulset="{name}"}}'
    return f'kube_deployment_status_replicas_available{{namespace="{name}",deployment="{name}"}}'


def _down(seen: Snapshot) -> str:
    """About replicas, not about the scrape: many applications have no metrics endpoint."""
    series = _available(seen)
    if seen.service.is_vm:
        return f"absent({series})"
    return f"{series} < 1 or absent({series})"


def _container(seen: Snapshot) -> str:
    """The container whose figures count; a machine runs in KubeVirt's."""
    name = seen.service.name
    container = "compute" if seen.service.is_vm else name
    return f'namespace="{name}",container="{container}"'


def _restarts(seen: Snapshot) -> str:
    return f"kube_pod_container_status_restarts_total{{{_container(seen)}}}"


def _claims(seen: Snapshot) -> str:
    """The replicated claims; a shared bulk pool near its limit is not this service's fault."""
    service = seen.service
    names = [f"{service.name}-{one.name}" for one in service.longhorn]
    if service.workload == STATEFUL_SET and not service.is_vm:
        names = [f"{one.name}-{service.name}-[0-9]+" for one in service.longhorn]
        match = f'=~"{"|".join(names)}"'
    else:
        match = f'="{names[0]}"' if len(names) == 1 else f'=~"{"|".join(names)}"'
    return f'{{namespace="{service.name}",persistentvolumeclaim{match}}}'


def _dashboard(seen: Snapshot) -> Rendered:
    """One row of the service's own: a thousand in one object would pass its size limit."""
    settings = seen.platform.observability
    name = seen.service.name
    text = msgspec.json.format(msgspec.json.encode(_board(seen), order="sorted"), indent=1)
    return rendered(
        seen,
        CONFIG_MAP,
        f"{name}-dashboard",
        file=OBSERVE_FILE,
        field="observability.slis",
        role=roles.DASHBOARD,
        rest={"data": {f"{name}.json": text.decode() + "\n"}},
        labels=settings.dashboard_label,
        annotations={part.SUBSTITUTE: part.DISABLED},
    )


def _board(seen: Snapshot) -> dict[str, Any]:
    name = seen.service.name
    chosen = _container(seen)
    wanted = {
        "availability": _available(seen),
        "CPU": f"sum(rate(container_cpu_usage_seconds_total{{{chosen}}}[5m]))",
        "memory": f"sum(container_memory_working_set_bytes{{{chosen}}})",
        "restarts": f"sum(increase({_restarts(seen)}[1h]))",
    }
    own = {sli.name: sli.expr for sli in seen.service.observability.slis if sli.expr}
    row = {"id": 1, "type": "row", "title": name, "collapsed": False, "panels": []}
    return {
        "uid": name,
        "title": name,
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "panels": [
            {**row, "gridPos": {"x": 0, "y": 0, "w": _COLUMNS, "h": 1}},
            *_panels(list(wanted.items()) + sorted(own.items())),
        ],
    }


def _panels(wanted: list[tuple[str, str]]) -> Iterator[Mapping[str, Any]]:
    half = _COLUMNS // 2
    for number, (title, expr) in enumerate(wanted):
        yield {
            "id": number + 2,
            "type": "timeseries",
            "title": title,
            "gridPos": {
                "x": half * (number % 2),
                "y": 1 + _HEIGHT * (number // 2),
                "w": half,
                "h": _HEIGHT,
            },
            "targets": [{"refId": "A", "expr": expr}],
        }
