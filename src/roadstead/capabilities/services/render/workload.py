"""The workload of a container service, and its packaging in a HelmRelease.

Source: contract 3.5, 3.10; R-PLAT-02, R-UPD-02, R-UPD-03.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api import kinds
from roadstead.capabilities.services.api.parts import STATEFUL_SET
from roadstead.capabilities.services.render import part, roles
from roadstead.capabilities.services.render.part import (
    MAIN,
    WORKLOAD_FILE,
    Rendered,
    rendered,
    selector,
)
from roadstead.capabilities.services.render.pod import config_keys, pod_template
from roadstead.capabilities.services.render.storage import backup_labels, claim_spec
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import CONFIG_MAP

CHART = "_platform/charts/manifests"
HELM = "helm"


def released(seen: Snapshot) -> bool:
    """Tell whether a failed update is rolled back, which Helm does."""
    service = seen.service
    rollback = seen.platform.update.rollback == HELM
    return not service.is_vm and service.update.auto_rollback and rollback


def workload(seen: Snapshot) -> Iterator[Rendered]:
    """The Deployment or StatefulSet, with its configuration and its account."""
    if seen.service.is_vm:
        return
    if seen.service.config:
        yield _config(seen)
    if seen.service.cluster_api:
        yield _object(seen, kinds.SERVICE_ACCOUNT, "clusterApi", roles.ACCOUNT, {})
    yield _set(seen) if seen.service.workload == STATEFUL_SET else _deployment(seen)


def release(seen: Snapshot, manifests: list[dict[str, Any]]) -> Rendered:
    """The HelmRelease that carries these objects verbatim and rolls back what fails."""
    flux, name = seen.platform.flux, seen.service.name
    source = {
        "kind": flux.source_ref.kind,
        "name": flux.source_ref.name,
        "namespace": flux.namespace,
    }
    spec = {
        "interval": "30m",
        "timeout": seen.platform.update.health_timeout,
        "releaseName": name,
        "targetNamespace": name,
        "storageNamespace": name,
        "maxHistory": 5,
        "chart": {
            "spec": {
                "chart": f"{flux.output_path.rstrip('/')}/{CHART}",
                "sourceRef": source,
                "reconcileStrategy": "ChartVersion",
                "interval": "1h",
            }
        },
        "install": {
            "strategy": {"name": "RemediateOnFailure"},
            "remediation": {"retries": 0, "remediateLastFailure": False},
        },
        "upgrade": {
            # Written out: a feature gate can turn the default into one that never rolls back.
            "strategy": {"name": "RemediateOnFailure"},
            "cleanupOnFail": True,
            "remediation": {"retries": 0, "remediateLastFailure": True, "strategy": "rollback"},
        },
        "rollback": {"cleanupOnFail": True},
        "driftDetection": {"mode": "enabled"},
        "values": {"manifests": manifests},
    }
    return rendered(
        seen,
        kinds.HELM_RELEASE,
        name,
        namespace=flux.namespace,
        file=WORKLOAD_FILE,
        field="update.autoRollbackOnFailedHealth",
        role=roles.RELEASE,
        rest={"spec": spec},
        annotations={part.SUBSTITUTE: part.DISABLED},
    )


def _config(seen: Snapshot) -> Rendered:
    keys = config_keys(seen)
    data = {keys[one.path]: one.content for one in seen.service.config}
    return rendered(
        seen,
        CONFIG_MAP,
        f"{seen.service.name}-config",
        file=WORKLOAD_FILE,
        field="config",
        role=roles.CONFIG,
        rest={"data": part.in_order(data)},
        packaged=released(seen),
    )


def _object(
    seen: Snapshot, kind: Any, field: str, role: roles.Role, rest: dict[str, Any], **more: Any
) -> Rendered:
    return rendered(
        seen,
        kind,
        seen.service.name,
        file=WORKLOAD_FILE,
        field=field,
        role=role,
        rest=rest,
        packaged=released(seen),
        **more,
    )


def _deployment(seen: Snapshot) -> Rendered:
    # A ReadWriteOnce volume cannot follow to another node while the old pod holds it.
    strategy: dict[str, Any] = {"type": "Recreate"}
    if not seen.service.longhorn:
        strategy = rolling()
    spec = {
        "replicas": seen.service.replicas,
        "revisionHistoryLimit": 3,
        "progressDeadlineSeconds": 600,
        "strategy": strategy,
        "selector": {"matchLabels": selector(seen)},
        "template": pod_template(seen),
    }
    return _running(seen, kinds.DEPLOYMENT, spec)


def rolling() -> dict[str, Any]:
    """Replace pods one by one, never with less than there were."""
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def _set(seen: Snapshot) -> Rendered:
    service = seen.service
    labels = backup_labels(seen)
    claims = [
        {
            "apiVersion": kinds.CLAIM.api_version,
            "kind": kinds.CLAIM.kind,
            "metadata": {"name": one.name, **({"labels": labels} if labels else {})},
            "spec": claim_spec(seen, one.size),
        }
        for one in service.longhorn
    ]
    spec = {
        "replicas": service.replicas,
        "revisionHistoryLimit": 3,
        "serviceName": f"{service.name}-headless",
        "updateStrategy": {"type": "RollingUpdate"},
        "selector": {"matchLabels": selector(seen)},
        "template": pod_template(seen),
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        **({"volumeClaimTemplates": claims} if claims else {}),
    }
    return _running(seen, kinds.STATEFUL_SET, spec)


def _running(seen: Snapshot, kind: Any, spec: dict[str, Any]) -> Rendered:
    prefix = seen.platform.label_prefix
    more = []
    if seen.service.egress == "vpn":
        more.append("R-NET-06")
    if kind == kinds.STATEFUL_SET and seen.service.longhorn:
        more += ["R-STATE-01", "R-STATE-02"]
    return _object(
        seen,
        kind,
        "source.image",
        roles.WORKLOAD,
        {"spec": spec},
        component=MAIN,
        annotations={f"{prefix}/authored-image": seen.service.source.image},
        more=more,
    )
