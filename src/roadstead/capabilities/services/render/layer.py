"""The Flux Kustomization of one service. Source: contract 3.13; R-GITOPS-02."""

from typing import Any

from roadstead.capabilities.services.api.kinds import (
    DEPLOYMENT,
    FLUX_KUSTOMIZATION,
    HELM_RELEASE,
    STATEFUL_SET,
    VIRTUAL_MACHINE,
)
from roadstead.capabilities.services.api.parts import STATEFUL_SET as STATEFUL
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import PLATFORM, Rendered, rendered
from roadstead.capabilities.services.render.workload import released
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import Kind

_READY = "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')"
_NOT_YET = "!has(status.conditions)"


def layer(seen: Snapshot) -> Rendered:
    """What Flux applies, when, and after what.

    It waits for the workload alone: waiting for all would freeze every dependent service while a
    registry is out.
    """
    service, flux = seen.service, seen.platform.flux
    after = [*flux.depends_on]
    after += [f"{flux.kustomization_prefix}{name}" for name in seen.catalog.needs(service.name)]
    kind = _workload(seen)
    namespace = flux.namespace if kind == HELM_RELEASE else service.name
    spec: dict[str, Any] = {
        "interval": flux.interval,
        "retryInterval": flux.retry_interval,
        "timeout": flux.timeout,
        "path": f"{flux.output_path.rstrip('/')}/{service.name}",
        "prune": True,
        "wait": False,
        "sourceRef": {"kind": flux.source_ref.kind, "name": flux.source_ref.name},
        **({"dependsOn": [{"name": name} for name in after]} if after else {}),
        "decryption": {"provider": "sops", "secretRef": {"name": flux.decryption_secret}},
        "postBuild": {
            "substituteFrom": [{"kind": "ConfigMap", "name": flux.vars_config_map}],
        },
        "healthChecks": [
            {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "name": service.name,
                "namespace": namespace,
            }
        ],
    }
    if service.is_vm:
        spec["healthCheckExprs"] = [
            {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "inProgress": _NOT_YET,
                "current": _READY,
            }
        ]
    return rendered(
        seen,
        FLUX_KUSTOMIZATION,
        f"{flux.kustomization_prefix}{service.name}",
        namespace=flux.namespace,
        file=f"_flux/{service.name}.yaml",
        field=PLATFORM,
        role=roles.LAYER,
        rest={"spec": spec},
    )


def _workload(seen: Snapshot) -> Kind:
    if seen.service.is_vm:
        return VIRTUAL_MACHINE
    if released(seen):
        return HELM_RELEASE
    return STATEFUL_SET if seen.service.workload == STATEFUL else DEPLOYMENT
