"""Which Secrets of applications their tenants see, told by readings of an API server.

What a tenant sees is what the platform's `tenantsecrets` lists; only metadata is looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.tenantsecrets import Selection, listed
from roadstead.explain.results import Result
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref

VISIBLE, HIDDEN, GONE = "visible", "hidden", "gone"


@dataclass(frozen=True, slots=True)
class Sight:
    """One Secret that the webhook has judged. application: its kind and name."""

    application: str
    visible: bool


def sights(secrets: Iterable[Object]) -> dict[Ref, Sight]:
    """What the webhook has judged of some Secrets, by name."""
    judged = [one for one in secrets if api.MANAGED_BY in one.labels]
    seen = {
        SECRET.ref(one["metadata"]["namespace"], one["metadata"]["name"])
        for one in listed(judged, Selection())
    }
    return {one.ref: Sight(_application(one), one.ref in seen) for one in judged}


def _application(secret: Object) -> str:
    return " ".join(secret.labels.get(key, "") for key in (api.KIND_LABEL, api.NAME_LABEL))


def outcomes(readings: Sequence[Mapping[Ref, Sight]]) -> tuple[Result, ...]:
    """A line for each Secret, and another one whenever that changes; sorted."""
    found: list[Result] = []
    for ref in sorted({ref for reading in readings for ref in reading}):
        before: Sight | None = None
        for reading in readings:
            now = reading.get(ref)
            if now is not None and (before is None or now.visible != before.visible):
                found.append(_told(ref, now))
            elif now is None and before is not None:
                found.append(Result(ref, GONE, "-", f"deleted; it was {before.application}'s"))
            before = now
    return tuple(found)


def _told(ref: Ref, now: Sight) -> Result:
    lists = "tenantsecrets lists it" if now.visible else "tenantsecrets does not list it"
    return Result(ref, VISIBLE if now.visible else HIDDEN, "-", f"of {now.application}: {lists}")
