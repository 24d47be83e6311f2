"""What a next step of an attachment is worded with: the facts it was judged on, once more.

Read with the reader's own rights; what may not be read stays unknown, and the step is worded
without it.
"""

from dataclasses import dataclass

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.render.ports import choose, is_sentinel
from roadstead.capabilities.attachments.snapshot import SERVICES, Asked, Snapshot, observe
from roadstead.capabilities.attachments.snapshot.views import is_delegated, owner_uid
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import part, text


@dataclass(frozen=True, slots=True)
class Known:
    """What a next step is worded with.

    seen: what the attachment is judged on. offered: Services of its application that it could
    attach instead, by name. holder: the Service of this namespace that holds its claim.
    """

    seen: Snapshot
    offered: tuple[str, ...] = ()
    holder: Object | None = None


async def know(reader: Reader, key: Ref) -> Known | None:
    """Collect what the next step of an attachment is worded with; None where it is unknown."""
    try:
        seen = await observe(reader, key)
        if seen is None:
            return None
        services = reader.list(SERVICES)
        here = [one for one in services if one.meta.namespace == key.namespace]
        offered = tuple(one.meta.name for one in here if _is_offered(one, seen.asked))
        return Known(seen, offered, _holder(seen, here))
    except ClusterError:
        return None


def _is_offered(service: Object, asked: Asked) -> bool:
    """Whether an attachment that asks for this could attach a Service. Source: 3.2, R5 to R8."""
    labels, spec = service.labels, part(service.body, "spec")
    return (
        service.meta.name != asked.service
        and asked.triple.items() <= labels.items()
        and labels.get(api.TENANT_RESOURCE) == "true"
        and not service.deleting
        and not owner_uid(service)
        and not (asked.method and is_delegated(service))
        and text(spec, "type") != "ExternalName"
        and bool(part(spec, "selector"))
        and bool(choose(asked, service).ports)
    )


def _holder(seen: Snapshot, here: list[Object]) -> Object | None:
    """Who holds the claim in this namespace. Source: 5.4."""
    mine = {one.meta.name for one in seen.owned}
    for one in seen.associations:
        if (one.kind, one.namespace) == (SERVICE.kind, seen.namespace) and one.name not in mine:
            return next((other for other in here if other.meta.name == one.name), None)
    return next(iter(seen.rivals), None)


def port_numbers(endpoint: Object | None) -> tuple[int, ...]:
    """The ports of an endpoint by number; none where it only has a headless VM's."""
    if endpoint is None:
        return ()
    ports = choose(_PLAIN, endpoint).ports
    if is_sentinel(ports):
        return ()
    return tuple(dict.fromkeys(port["port"] for port in ports))


_PLAIN = Asked(
    group="",
    kind="",
    name="",
    service="",
    class_name="",
    claim_name="",
    family="",
    ports=(),
    method="",
    allow_icmp=True,
)


def remover(service: Object) -> Ref:
    """What has to go for a Service to stay away: the attachment that rendered it, or itself."""
    owner = service.controller
    if owner_uid(service) and owner is not None:
        return api.ATTACHMENT.ref(service.meta.namespace, owner.name)
    return service.ref
