"""Volumes that survive a rebuild. Source: contract 3.12, 3.5; R-STATE-01 to 04, R-ENV-02."""

from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.services.api.kinds import CLAIM, DATA_VOLUME, PERSISTENT_VOLUME
from roadstead.capabilities.services.api.parts import REACQUIRABLE, STATEFUL_SET, Storage
from roadstead.capabilities.services.render import part, roles
from roadstead.capabilities.services.render.part import STORAGE_FILE, Rendered, rendered, tidy
from roadstead.capabilities.services.render.roles import Role
from roadstead.capabilities.services.snapshot import Snapshot

LONGHORN_BACKUP = "longhorn"
_GUARD = {part.PRUNE: part.DISABLED}
_FLUX_ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}
_BIND_NOW = {"cdi.kubevirt.io/storage.bind.immediate.requested": "true"}


def storage(seen: Snapshot) -> Iterator[Rendered]:
    """Claims and bulk volumes of a container, disks of a machine.

    A StatefulSet makes its replicated claims itself.
    """
    if seen.service.is_vm:
        yield from _disks(seen)
        return
    for entry in seen.service.storage:
        if entry.bulk:
            yield from _bulk(seen, entry)
        elif seen.service.workload != STATEFUL_SET:
            yield _claim(seen, entry)


def scheduled(seen: Snapshot) -> str:
    """The backup schedule of a service; empty where nothing is backed up."""
    policy = seen.service.backup
    return "" if policy == REACQUIRABLE else policy


def backup_labels(seen: Snapshot) -> dict[str, str]:
    """What makes Longhorn back a claim up."""
    key = scheduled(seen)
    if not key or seen.platform.backup.mechanism != LONGHORN_BACKUP:
        return {}
    return {
        f"recurring-job-group.longhorn.io/{key}": "enabled",
        # Without it Longhorn ignores labels on a claim.
        "recurring-job.longhorn.io/source": "enabled",
    }


def claim_spec(seen: Snapshot, size: str) -> dict[str, Any]:
    """What a replicated claim asks for."""
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": seen.platform.storage.class_name,
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": size}},
    }


def _backed_up(seen: Snapshot) -> tuple[str, ...]:
    return ("R-STATE-03",) if backup_labels(seen) else ()


def _claim(seen: Snapshot, entry: Storage) -> Rendered:
    return rendered(
        seen,
        CLAIM,
        f"{seen.service.name}-{entry.name}",
        file=STORAGE_FILE,
        field=f"storage[{entry.key}]",
        role=roles.CLAIM,
        rest={"spec": claim_spec(seen, entry.size)},
        labels=backup_labels(seen),
        annotations=_GUARD,
        more=_backed_up(seen),
    )


def _bulk(seen: Snapshot, entry: Storage) -> Iterator[Rendered]:
    """A volume of the external server, and its claim, bound to each other from both ends."""
    name, settings = seen.service.name, seen.platform.storage
    volume, claim = f"{name}.{entry.name}", f"{name}-{entry.name}"
    modes = ["ReadOnlyMany"] if entry.read_only else ["ReadWriteMany"]
    nfs: dict[str, Any] = {"server": settings.bulk_server, "path": entry.export}
    if entry.read_only:
        nfs["readOnly"] = True
    options = list(settings.mount_options)
    spec = {
        "capacity": {"storage": entry.size},
        "accessModes": modes,
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
        **({"mountOptions": options} if options else {}),
        "claimRef": {
            "apiVersion": CLAIM.api_version,
            "kind": CLAIM.kind,
            "namespace": name,
            "name": claim,
        },
        "nfs": nfs,
    }
    where = f"storage[{entry.key}]"
    yield rendered(
        seen,
        PERSISTENT_VOLUME,
        volume,
        file=STORAGE_FILE,
        field=where,
        role=roles.BULK_VOLUME,
        rest={"spec": spec},
    )
    asks = {
        "accessModes": modes,
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "volumeName": volume,
        "resources": {"requests": {"storage": entry.size}},
    }
    yield rendered(
        seen,
        CLAIM,
        claim,
        file=STORAGE_FILE,
        field=where,
        role=roles.BULK_CLAIM,
        rest={"spec": asks},
    )


def _disks(seen: Snapshot) -> Iterator[Rendered]:
    """The root disk from its template, and a blank disk for each volume.

    Never part of the machine: what a machine brings along is deleted with it.
    """
    template = seen.platform.vm_templates.get(seen.service.source.vm_template)
    if template is not None:
        spec = _disk(seen, template.size, tidy(template.source))
        yield _data_volume(seen, "root", "source.vmTemplate", roles.ROOT_DISK, spec)
    for entry in seen.service.longhorn:
        spec = _disk(seen, entry.size, {"blank": {}})
        yield _data_volume(seen, entry.name, f"storage[{entry.key}]", roles.DATA_DISK, spec)


def _disk(seen: Snapshot, size: str, source: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": source,
        "storage": {
            # Stated, since CDI can only guess them for provisioners it knows.
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Filesystem",
            "storageClassName": seen.platform.storage.class_name,
            "resources": {"requests": {"storage": size}},
        },
    }


def _data_volume(
    seen: Snapshot, name: str, field: str, role: Role, spec: Mapping[str, Any]
) -> Rendered:
    return rendered(
        seen,
        DATA_VOLUME,
        f"{seen.service.name}-{name}",
        file=STORAGE_FILE,
        field=field,
        role=role,
        rest={"spec": spec},
        labels=backup_labels(seen),
        # CDI refuses any later change of the spec, so Flux writes it once.
        annotations={**_GUARD, **_FLUX_ONCE, **_BIND_NOW},
        more=_backed_up(seen),
    )
