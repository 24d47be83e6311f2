"""Automation of images, and word of a failed update. Source: contract 3.10; R-UPD-01 to 03.

All of it lives in Flux's namespace: an ImageUpdateAutomation sees the policies of its own alone.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import ALERT, IMAGE_POLICY, IMAGE_REPOSITORY
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import UPDATE_FILE, Rendered, rendered
from roadstead.capabilities.services.render.workload import released
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.images import parse_image
from roadstead.kube.refs import Kind

_SEMVER = "semver"


def update(seen: Snapshot) -> Iterator[Rendered]:
    """Where new versions are looked for, which may be chosen, and who hears of a failure."""
    service, flux = seen.service, seen.platform.flux
    if not service.is_vm and not service.update.pinned:
        repository = parse_image(service.source.image).repository
        spec: dict[str, Any] = {"image": repository, "interval": service.update.cadence}
        yield _made(seen, IMAGE_REPOSITORY, "update.cadence", roles.IMAGES, spec)
        yield _made(seen, IMAGE_POLICY, "update.range", roles.VERSIONS, _policy(seen))
    if released(seen):
        spec = {
            "providerRef": {"name": seen.platform.update.alert_provider},
            "eventSeverity": "error",
            "eventSources": [
                {"kind": "HelmRelease", "name": service.name},
                {"kind": "Kustomization", "name": f"{flux.kustomization_prefix}{service.name}"},
            ],
        }
        yield _made(seen, ALERT, "update.autoRollbackOnFailedHealth", roles.ALERT, spec)


def _policy(seen: Snapshot) -> dict[str, Any]:
    wanted = seen.service.update
    chosen: dict[str, Any] = {wanted.order: {"order": "asc"}}
    if wanted.order == _SEMVER:
        chosen = {_SEMVER: {"range": wanted.range}}
    spec: dict[str, Any] = {"imageRepositoryRef": {"name": seen.service.name}}
    if wanted.filter is not None:
        spec["filterTags"] = {"pattern": wanted.filter.pattern}
        if wanted.filter.extract:
            spec["filterTags"]["extract"] = wanted.filter.extract
    return {**spec, "policy": chosen}


def _made(
    seen: Snapshot, kind: Kind, field: str, role: roles.Role, spec: dict[str, Any]
) -> Rendered:
    return rendered(
        seen,
        kind,
        seen.service.name,
        namespace=seen.platform.flux.namespace,
        file=UPDATE_FILE,
        field=field,
        role=role,
        rest={"spec": spec},
    )
