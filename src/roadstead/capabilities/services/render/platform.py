"""What the whole platform shares: automation, alerts' provider, backup jobs, the chart, the edge.

Nothing here depends on which services there are, but for the edge report, so that a new service
rewrites nobody's files. Source: contract 5.2, 3.7, 3.10, 3.12.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.services.api import kinds
from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.render.backup import own_minute
from roadstead.capabilities.services.render.part import MANAGER
from roadstead.capabilities.services.render.storage import LONGHORN_BACKUP
from roadstead.kube.refs import Kind

NAME = "roadstead"
LAYER_NAME = "roadstead.platform"
"""With a dot, which no service's name has."""
CHART_VERSION = "1.0.0"
"""Raised when the template changes, and only then: every release follows it."""
_TEMPLATE = """\
{{- range .Values.manifests }}
---
{{ toYaml . }}
{{- end }}
"""
_CONCURRENCY = 2
_HTTPS = 443


@dataclass(frozen=True, slots=True)
class PlatformParts:
    """Files below `_platform`: lists of objects, or text. resources: what is applied of them.

    layer: the Flux Kustomization that applies them.
    """

    files: Mapping[str, str | list[dict[str, Any]]]
    resources: tuple[str, ...]
    layer: dict[str, Any]


def platform_parts(catalog: Catalog) -> PlatformParts:
    """Everything that is not of one service."""
    platform = catalog.platform
    applied = {
        "automation.yaml": [_automation(platform)],
        "provider.yaml": [_provider(platform)],
        "recurring-jobs.yaml": _recurring_jobs(platform),
    }
    applied = {path: objects for path, objects in applied.items() if objects}
    chart = {
        "apiVersion": "v2",
        "name": "manifests",
        "description": "Prints the objects it is given, so that Helm can roll them back.",
        "type": "application",
        "version": CHART_VERSION,
    }
    files: dict[str, Any] = {
        **applied,
        "charts/manifests/Chart.yaml": [chart],
        "charts/manifests/templates/manifests.yaml": _TEMPLATE,
    }
    if report := edge(catalog):
        files["edge.txt"] = report
    return PlatformParts(files, tuple(applied), _layer(platform))


def edge(catalog: Catalog) -> str:
    """What the edge router must forward: public hosts, and ports past the Gateway. Sorted."""
    gateway = catalog.platform.gateway
    listener = gateway.public_listener or gateway.https_listener
    target = f"Gateway {gateway.namespace}/{gateway.name}"
    lines = [
        f"{route.host} {_HTTPS}/TCP {target}{f' listener {listener}' if listener else ''}"
        for service in catalog.services
        if service.public
        for route in service.ingress_routes
    ]
    lines += [
        f"{service.name} {one.port}/{one.protocol} Service {service.name}/{service.name}-direct"
        for service in catalog.services
        for one in service.direct_ports
    ]
    return "".join(f"{line}\n" for line in sorted(lines))


def _object(kind: Kind, name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app.kubernetes.io/managed-by": MANAGER}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


def _automation(platform: Platform) -> dict[str, Any]:
    """One for all: it moves every marked image line below the output path."""
    flux, update = platform.flux, platform.update
    branch = {"branch": flux.branch}
    email = update.author_email or f"automation@{platform.domain}"
    exists = {"key": f"{platform.label_prefix}/service", "operator": "Exists"}
    spec = {
        "interval": "30m",
        "sourceRef": {"kind": flux.source_ref.kind, "name": flux.source_ref.name},
        "git": {
            "checkout": {"ref": branch},
            "commit": {"author": {"name": update.author_name, "email": email}},
            "push": branch,
        },
        "policySelector": {"matchExpressions": [exists]},
        "update": {"path": flux.output_path, "strategy": "Setters"},
    }
    return _object(kinds.IMAGE_AUTOMATION, NAME, flux.namespace, spec)


def _provider(platform: Platform) -> dict[str, Any]:
    """The Alertmanager that prometheus-operator's governing Service answers for."""
    home = platform.observability.namespace
    host = f"alertmanager-operated.{home}.svc.{platform.cluster.dns_domain}"
    spec = {"type": "alertmanager", "address": f"http://{host}:9093/api/v2/alerts/"}
    name = platform.update.alert_provider
    return _object(kinds.PROVIDER, name, platform.flux.namespace, spec)


def _recurring_jobs(platform: Platform) -> list[dict[str, Any]]:
    """Longhorn's jobs, one a schedule, which claims join by their labels."""
    if platform.backup.mechanism != LONGHORN_BACKUP:
        return []
    return [
        _object(
            kinds.RECURRING_JOB,
            key,
            platform.storage.namespace,
            {
                "cron": own_minute(key, schedule.cron),
                "task": "backup",
                "groups": [key],
                "retain": schedule.retain,
                "concurrency": _CONCURRENCY,
            },
        )
        for key, schedule in sorted(platform.backup.schedules.items())
    ]


def _layer(platform: Platform) -> dict[str, Any]:
    flux = platform.flux
    spec = {
        "interval": flux.interval,
        "retryInterval": flux.retry_interval,
        "timeout": flux.timeout,
        "path": f"{flux.output_path.rstrip('/')}/_platform",
        "prune": True,
        "wait": False,
        "sourceRef": {"kind": flux.source_ref.kind, "name": flux.source_ref.name},
        **({"dependsOn": [{"name": name} for name in flux.depends_on]} if flux.depends_on else {}),
    }
    return _object(kinds.FLUX_KUSTOMIZATION, LAYER_NAME, flux.namespace, spec)
