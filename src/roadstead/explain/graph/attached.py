"""The paths of attachments: which address leads to which Service, as decisions have it."""

from collections.abc import Iterator

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot import SERVICES, Asked
from roadstead.decision import Decision, Reader
from roadstead.errors import ClusterError
from roadstead.explain.attachments.tell import leading
from roadstead.explain.graph.backends import Backends
from roadstead.explain.graph.model import ROUTE, Path, Spot
from roadstead.explain.trail import PENDING, is_pending, stop_of
from roadstead.kube.conditions import TRUE
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import Json, items, part, text


def of_attachment(
    seen: Object, decision: Decision | None, reader: Reader, behind: Backends
) -> Iterator[Path]:
    """One path an address that is held; one without where none is."""
    decided = decision.status if decision is not None else None
    status: Json = decided.value if decided is not None else part(seen.body, "status")
    asked, space = Asked.of(seen), seen.meta.namespace
    refused = _stop(status, decision)
    box = Spot("attachment", f"attachment:{seen.ref.key}", _called(seen.ref), space, seen.ref)
    service: Spot | None = None
    pods: Spot | None = None
    inner: tuple[tuple[int, str], ...] = ()
    if asked.service:
        rendered = text(status, "serviceName")
        ref = SERVICE.ref(space, asked.service)
        service, pods, inner = behind.of_service(ref, _ports(reader, space, rendered))
    if refused:
        pods, inner = None, ()
    breaks = (((ROUTE, refused),) if refused else ()) + inner
    for address in _addresses(status) or (None,):
        yield Path((address, None, box, service, pods), space, breaks)


def _called(ref: Ref) -> str:
    return f"{api.ATTACHMENT.kind} {ref.name}"


def _addresses(status: Json) -> tuple[Spot | None, ...]:
    stated = status.get("addresses")
    held = stated if isinstance(stated, list | tuple) else ()
    return tuple(Spot("address", f"address:{one}", str(one)) for one in held)


def _stop(status: Json, decision: Decision | None) -> str:
    """The word for why an attachment serves nobody; without a decision its status has it."""
    if decision is None:
        told = leading(status)
        if not told:
            return PENDING
        return "" if told.get("status") == TRUE else text(told, "reason")
    stop = stop_of(decision)
    if stop is not None:
        return stop.reason
    return PENDING if is_pending(decision) else ""


def _ports(reader: Reader, space: str, name: str) -> str:
    """The ports of what was rendered for it; empty where that is unknown."""
    try:
        service = reader.get(SERVICES, space, name) if name else None
    except ClusterError:
        return ""
    ports = items(part(service.body, "spec"), "ports") if service is not None else ()
    return ", ".join(_port(port) for port in ports)


def _port(port: Json) -> str:
    protocol = port.get("protocol", "TCP")
    return f":{port.get('port')}" if protocol == "TCP" else f":{port.get('port')}/{protocol}"
