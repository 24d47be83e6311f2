"""What a TenantGateway's status says. Source: tenant-gateway 1.4, 7.1 and 7.3."""

from collections.abc import Iterable
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import Status
from roadstead.kube.conditions import FALSE, TRUE, Condition, condition_of, fold
from roadstead.kube.objects import Object
from roadstead.kube.shapes import Json, items, part, text


def ready(seen: Snapshot, faults: tuple[str, ...]) -> Condition:
    """The one condition. faults: what failed in this pass, in words; the first is the loudest."""
    about = f"Gateway {seen.key.key}"
    if faults:
        return Condition("Ready", FALSE, api.FAULT, "; ".join(faults))
    if seen.gateway is None or not _is_true(seen.gateway, "Accepted"):
        said = f"{about} is not accepted by its class `{seen.asked.class_name}`"
        missing = seen.class_exists is False
        hint = "; there is no such GatewayClass" if missing else ""
        return Condition("Ready", FALSE, api.NOT_ACCEPTED, said + hint)
    if not _is_true(seen.gateway, "Programmed"):
        return Condition("Ready", FALSE, api.NOT_PROGRAMMED, f"{about} is not programmed yet")
    behind = sorted(
        f"{one['name']} ({one['reason']})" for one in listed(seen.gateway) if not one["ready"]
    )
    if behind:
        said = f"{about}: listeners are not ready: {', '.join(behind)}"
        return Condition("Ready", FALSE, api.NOT_READY, said)
    count = len(listed(seen.gateway))
    return Condition("Ready", TRUE, api.RECONCILED, f"{about} serves {count} listeners")


def status(seen: Snapshot, target: Object, faults: tuple[str, ...]) -> Status:
    """The whole status. A failed pass leaves the listeners as they were."""
    generation = target.meta.generation
    before = part(target.body, "status")
    condition = ready(seen, faults)
    rows: Iterable[Json] = items(before, "listeners") if faults else _rows(seen.gateway)
    value: dict[str, Any] = {
        "observedGeneration": generation,
        "conditions": fold(items(before, "conditions"), (condition,), seen.now, generation),
    }
    if rows := list(rows):
        value["listeners"] = rows
    return Status(target, value)


def _rows(gateway: Object | None) -> list[dict[str, Any]]:
    return listed(gateway) if gateway is not None else []


def listed(gateway: Object) -> list[dict[str, Any]]:
    """One row for each listener of the stored Gateway, in its order. Source: 7.3."""
    told = {text(one, "name"): one for one in items(part(gateway.body, "status"), "listeners")}
    rows = []
    for one in items(part(gateway.body, "spec"), "listeners"):
        name = text(one, "name")
        reason = _reason(told.get(name))
        row: dict[str, Any] = {"name": name, "ready": not reason, "reason": reason}
        if hostname := text(one, "hostname"):
            row["hostname"] = hostname
        refs = items(part(one, "tls"), "certificateRefs")
        if refs:
            row["certificateName"] = text(refs[0], "name")
        rows.append(row)
    return rows


def _reason(told: Json | None) -> str:
    if told is None:
        return "Pending"
    conditions = {text(one, "type"): text(one, "status") for one in items(told, "conditions")}
    if conditions.get("Accepted") != TRUE:
        return "NotAccepted"
    return "" if conditions.get("Programmed") == TRUE else "NotProgrammed"


def _is_true(gateway: Object, type_: str) -> bool:
    return condition_of(part(gateway.body, "status"), type_).get("status") == TRUE
