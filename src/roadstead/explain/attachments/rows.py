"""One row of `status` for each attachment, and what `plan` says of what is made for it.

The row is the object's own status: whoever may read the object may read all of it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot import addresses_of
from roadstead.capabilities.attachments.snapshot.views import claim_annotation
from roadstead.explain.attachments.tell import leading
from roadstead.explain.rows import UNKNOWN, Row
from roadstead.explain.subject import Look
from roadstead.explain.trail import PENDING
from roadstead.kube.conditions import TRUE, condition_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text

Get = Callable[[Ref], Object | None]


async def row(seen: Object, _look: Look, now: datetime) -> Row:
    """Lay out one attachment by what was reported last."""
    status = part(seen.body, "status")
    ready = condition_of(status, "Ready")
    stated = text(ready, "status") or UNKNOWN
    reason, about = text(ready, "reason") or PENDING, text(ready, "message")
    addresses = tuple(str(one) for one in status.get("addresses") or ())
    if not ready:
        about = "the controller has not reported yet"
    elif status.get("observedGeneration") != seen.meta.generation:
        stated, about = UNKNOWN, "reported before the last change of its spec"
    elif stated == TRUE:
        about = ", ".join(addresses)
    return Row(
        api.ATTACHMENT.kind,
        seen.ref,
        stated,
        reason,
        text(status, "phase") or PENDING,
        about,
        seen.age(now),
        addresses=addresses,
    )


def attachment_note(old: Object | None, new: Object, _get: Get) -> str:
    """What is reported of an attachment now; empty where that has not changed."""
    status = part(new.body, "status")
    told = leading(status)
    if not told or (old is not None and part(old.body, "status") == status):
        return ""
    shown = next(
        (one for one in (told, condition_of(status, "Provisioned")) if one.get("status") != TRUE),
        condition_of(status, "Provisioned"),
    )
    reason = "" if shown.get("status") == TRUE else f" {shown.get('reason')}"
    return f"status: {shown.get('type')}={shown.get('status')}{reason}"


def service_note(_old: Object | None, new: Object, get: Get) -> str:
    """What a load balancer serves, and under which address; empty for any other Service."""
    spec = part(new.body, "spec")
    if text(spec, "type") != "LoadBalancer":
        return ""
    ports = ", ".join(_port(one) for one in items(spec, "ports"))
    name = claim_annotation(new)
    claim = get(api.CLAIM.ref(new.meta.namespace, name)) if name else None
    addresses = ", ".join(addresses_of(claim))
    return f"LoadBalancer {ports} -> {addresses}" if addresses else f"LoadBalancer {ports}"


def _port(port: Mapping[str, Any]) -> str:
    protocol = port.get("protocol", "TCP")
    return str(port.get("port")) if protocol == "TCP" else f"{port.get('port')}/{protocol}"
