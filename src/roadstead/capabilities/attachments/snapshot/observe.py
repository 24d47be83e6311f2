"""How a snapshot is collected, from views or live: the pass decides which.

Source: endpoint-attachments 2.2, 3 and 5.
"""

from collections.abc import Iterable
from dataclasses import replace

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot.facts import (
    Asked,
    Association,
    Delegation,
    Snapshot,
    age_order,
    best_claim,
    pins,
    selector_of,
)
from roadstead.capabilities.attachments.snapshot.views import (
    ADDRESSES,
    ATTACHMENTS,
    CLAIMS,
    CLASSES,
    RELEASES,
    SERVICES,
    SLICES,
    truncated,
)
from roadstead.decision import Reader
from roadstead.errors import ClusterError, Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import items, part, text

_FORBIDDEN, _NOT_FOUND = 403, 404


async def observe(reader: Reader, key: Ref) -> Snapshot | None:
    """Collect what one attachment is judged on; None when there is nothing to judge.

    One that is being deleted is left to garbage collection.
    Raises: ClusterError when a read fails; nothing is written then.
    """
    attachment = await reader.see(ATTACHMENTS, key.namespace, key.name)
    if attachment is None or attachment.deleting:
        return None
    settings = reader.settings
    seen = Snapshot(
        attachment,
        reader.now,
        contract=settings.cozy_proxy_contract_implemented,
        node_ports=settings.endpoint_attachment_allocate_node_ports,
        classes=settings.attachment_tenant_classes,
        kstatus=settings.kstatus_conditions,
    )
    seen = await _with_application(seen, reader)
    seen = await _with_claim(seen, reader)
    return await _with_backends(seen, reader) if seen.asked.method else seen


async def _with_application(seen: Snapshot, reader: Reader) -> Snapshot:
    place, asked = seen.namespace, seen.asked
    # The Services come first: a live pass lists them once and finds the endpoint among them.
    owned = await reader.see_all(SERVICES, place, "owner", seen.attachment.meta.uid)
    releases = await _releases(reader, place, asked)
    endpoint = await reader.see(SERVICES, place, asked.service)
    holder = endpoint.controller if endpoint is not None else None
    rendered = holder is not None and holder.is_a(api.ATTACHMENT)
    return replace(
        seen,
        owned=tuple(sorted(owned, key=age_order)),
        releases=releases,
        endpoint=endpoint,
        endpoint_holder=holder.name if holder is not None and rendered else "",
    )


async def _releases(reader: Reader, place: str, asked: Asked) -> tuple[Object, ...]:
    """HelmReleases of the application; their group label holds the value untouched."""
    found: dict[str, Object] = {}
    for group in sorted({asked.group, truncated(asked.group)}):
        value = f"{place}/{group}/{asked.kind}/{asked.name}"
        for seen in await reader.see_all(RELEASES, place, "application", value):
            found[seen.meta.name] = seen
    return tuple(found[name] for name in sorted(found))


async def _with_claim(seen: Snapshot, reader: Reader) -> Snapshot:
    place, asked = seen.namespace, seen.asked
    minted: tuple[Object, ...] = ()
    try:
        if asked.claim_name:
            claim = await reader.see(CLAIMS, place, asked.claim_name)
        else:
            minted = await reader.see_all(CLAIMS, place, "owner", seen.attachment.meta.uid)
            claim = best_claim(minted)
    except Unread as error:
        if error.reason != "absent":
            raise
        return replace(seen, claim_kind=False)
    seen = replace(seen, claim=claim, minted=minted)
    if claim is None:
        limited = seen.classes and not asked.claim_name and not asked.class_name
        return await _with_default(seen, reader) if limited else seen
    seen = await _with_addresses(seen, reader, claim)
    pinned = await reader.see_all(SERVICES, place, "claim", claim.ref.key)
    mine = {owned.meta.uid for owned in seen.owned}
    rivals = (other for other in pinned if other.meta.uid not in mine)
    return replace(seen, rivals=tuple(sorted(rivals, key=age_order)))


async def _with_default(seen: Snapshot, reader: Reader) -> Snapshot:
    """The class a claim gets that names none. Source: 2.1, class resolution."""
    try:
        found = await reader.see_all(CLASSES, "", "default", "true")
    except Unread:
        return seen
    return replace(seen, default_class=found[0].meta.name if len(found) == 1 else "")


async def _with_addresses(seen: Snapshot, reader: Reader, claim: Object) -> Snapshot:
    associations: list[Association] = []
    address_class = ""
    for one in items(part(claim.body, "status"), "addresses"):
        address, readable = await _readable(reader, text(one, "name"))
        seen = replace(seen, address_kind=readable)
        if address is None:
            continue
        address_class = address_class or text(part(address.body, "spec"), "className")
        stated = part(address.body, "status", "associatedTo")
        if stated:
            associations.append(await _association(stated, reader))
    name = text(part(claim.body, "status"), "className")
    name = name or text(part(claim.body, "spec"), "className") or address_class
    seen = replace(seen, associations=tuple(associations), class_name=name)
    if not name or (seen.service is not None and pins(seen.service, claim)):
        return seen  # a class matters only to a Service that is to be created
    try:
        return replace(seen, ip_class=await reader.see(CLASSES, "", name))
    except Unread as error:
        if error.reason != "absent":
            raise
        return replace(seen, class_kind=False)


async def _readable(reader: Reader, name: str) -> tuple[Object | None, bool]:
    """An address and whether addresses can be read; it is no fault that they cannot.

    Source: 3.3, the last sentence.
    """
    try:
        return await reader.see(ADDRESSES, "", name), True
    except ClusterError as error:
        absent = isinstance(error, Unread) and error.reason in {"absent", "forbidden"}
        if absent or error.status in {_FORBIDDEN, _NOT_FOUND}:
            return None, False
        raise


async def _association(stated: object, reader: Reader) -> Association:
    kind, place, name = (text(stated, key) for key in ("kind", "namespace", "name"))
    exists = kind == SERVICE.kind and await reader.see(SERVICES, place, name) is not None
    return Association(kind, place, name, exists)


async def _with_backends(seen: Snapshot, reader: Reader) -> Snapshot:
    """Who stands behind the endpoint, and who else delegates it. Source: 5.3."""
    place = seen.namespace
    slices = await _slices(reader, place, seen.asked.service)
    mine = {owned.meta.uid for owned in seen.owned}
    delegations = []
    for service in await reader.see_all(SERVICES, place, "delegated", place):
        if service.meta.uid not in mine:
            behind = await _behind(service, reader)
            pods = pods_of(await _slices(reader, place, behind))
            delegations.append(Delegation(service, pods, selector_of(service)))
    return replace(
        seen,
        pods=pods_of(slices),
        ready=len(pods_of(slices, ready=True)),
        delegations=tuple(sorted(delegations, key=lambda one: one.order)),
    )


async def _slices(reader: Reader, place: str, service: str) -> tuple[Object, ...]:
    return await reader.see_all(SLICES, place, "service", f"{place}/{service}")


async def _behind(service: Object, reader: Reader) -> str:
    """The Service whose slices tell a delegation's backends: of a rendered one, its endpoint.

    A dark Service has no slices of its own and must still hold its slot.
    """
    place, owner = service.meta.namespace, service.controller
    if owner is None or not owner.is_a(api.ATTACHMENT):
        return service.meta.name
    holder = await reader.see(ATTACHMENTS, place, owner.name)
    if holder is None or holder.meta.uid != owner.uid:
        return service.meta.name
    return Asked.of(holder).service


def pods_of(slices: Iterable[Object], *, ready: bool = False) -> frozenset[str]:
    """The backends in slices, each once, by the uid of its Pod.

    ready: only those that are; without it readiness is ignored, so that a flapping pod moves no
    slot, and those that are terminating are left out.
    Source: 5.3, item 1.
    """
    found = set()
    for one in slices:
        for endpoint in items(one.body, "endpoints"):
            stated = part(endpoint, "conditions")
            left_out = stated.get("ready") is False if ready else stated.get("terminating") is True
            if not left_out:
                found.add(_pod(endpoint))
    return frozenset(found - {""})


def _pod(endpoint: object) -> str:
    target = part(endpoint, "targetRef")
    if target:
        named = f"{text(target, 'namespace')}/{text(target, 'name')}"
        return text(target, "uid") or named
    addresses = endpoint.get("addresses") if isinstance(endpoint, dict) else None
    return str(addresses[0]) if isinstance(addresses, list) and addresses else ""
