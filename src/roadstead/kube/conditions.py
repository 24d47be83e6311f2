"""Conditions as Kubernetes writes them: one of each type, moved only when the status flips."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from roadstead.kube.shapes import Json, items
from roadstead.kube.times import format_time

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
LONGEST_MESSAGE = 32_768


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact of an object. status: True, False or Unknown, as text."""

    type: str
    status: str
    reason: str
    message: str = ""

    @property
    def true(self) -> bool:
        """Whether it holds."""
        return self.status == TRUE


def condition_of(status: Json, type_: str) -> Json:
    """One condition of a status, as anybody wrote it; empty where it has none of the type."""
    return next((one for one in items(status, "conditions") if one.get("type") == type_), {})


def fold(
    before: Iterable[Any], now: Iterable[Condition], at: datetime, generation: int
) -> list[dict[str, Any]]:
    """Write conditions over those of the last status, in the order given.

    before: as they stand in the status; what is of no shape is forgotten, a type that is not
        among `now` is dropped.
    generation: of the object as it was read.
    """
    known = {one["type"]: one for one in before if isinstance(one, Mapping) and one.get("type")}
    written = []
    for one in now:
        old = known.get(one.type, {})
        kept = old.get("lastTransitionTime") if old.get("status") == one.status else None
        written.append(
            {
                "type": one.type,
                "status": one.status,
                "observedGeneration": generation,
                "lastTransitionTime": kept or format_time(at),
                "reason": one.reason,
                "message": one.message[:LONGEST_MESSAGE],
            }
        )
    return written
