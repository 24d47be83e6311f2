"""The backup schedule of a service's objects, and of its volumes where Velero moves them.

Source: contract 3.12; R-STATE-03.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import SCHEDULE
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import BACKUP_FILE, Rendered, rendered
from roadstead.capabilities.services.render.storage import LONGHORN_BACKUP, scheduled
from roadstead.capabilities.services.snapshot import Snapshot

_MINUTES = 60
_DIGITS = 8


def own_minute(name: str, cron: str) -> str:
    """Put a minute of its own in the place of `H`, so that a thousand backups spread out."""
    minute, blank, rest = cron.partition(" ")
    if minute != "H":
        return cron
    number = int(hashlib.sha256(name.encode()).hexdigest()[:_DIGITS], 16) % _MINUTES
    return f"{number}{blank}{rest}"


def backup(seen: Snapshot) -> Iterator[Rendered]:
    """One Velero schedule in Velero's own namespace."""
    settings = seen.platform.backup
    schedule = settings.schedules.get(scheduled(seen))
    if schedule is None:
        return
    moved = settings.mechanism != LONGHORN_BACKUP
    template: dict[str, Any] = {
        "includedNamespaces": [seen.service.name],
        "snapshotVolumes": moved,
        # Without it a snapshot stays in the cluster and is no backup off it.
        **({"snapshotMoveData": True} if moved else {}),
        "defaultVolumesToFsBackup": False,
        "storageLocation": settings.storage_location,
        "ttl": schedule.ttl,
    }
    spec = {
        "schedule": own_minute(seen.service.name, schedule.cron),
        # True would delete the backups with the schedule.
        "useOwnerReferencesInBackup": False,
        "template": template,
    }
    yield rendered(
        seen,
        SCHEDULE,
        seen.service.name,
        namespace=settings.velero_namespace,
        file=BACKUP_FILE,
        field="backup.policy",
        role=roles.SCHEDULE,
        rest={"spec": spec},
    )
