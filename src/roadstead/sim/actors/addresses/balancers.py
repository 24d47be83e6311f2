"""Has the Service that holds a claim announce the claim's addresses.

A load balancer Service without the claim annotation is another driver's and is left alone.
Source: endpoint-attachments 2.1, association.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.decision import Cached, Decision, Reader, Status
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text
from roadstead.sim.actors.addresses.views import (
    BOUND,
    CLAIMS,
    SERVICES,
    first_by_age,
    phase_of,
    pinned_claim,
    status_of,
)
from roadstead.wiring import Controller, Watch


@dataclass(frozen=True, slots=True)
class Seen:
    """One pinned Service. pinned: all of its claim's Services, itself among them."""

    service: Object
    claim: Object | None
    pinned: tuple[Object, ...]


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one Service announces; None for one that is pinned to nothing."""
    service = await reader.see(SERVICES, key.namespace, key.name)
    if service is None or service.deleting:
        return None
    name = pinned_claim(service)
    claim = await reader.see(CLAIMS, key.namespace, name)
    pinned = await reader.see_all(SERVICES, key.namespace, "claim", f"{key.namespace}/{name}")
    return Seen(service, claim, pinned)


def decide(seen: Seen) -> Decision:
    """Announce what the claim holds, in its order, where this Service comes first."""
    before = status_of(seen.service)
    wanted = _ingress(seen)
    if list(part(before, "loadBalancer").get("ingress") or ()) == wanted:
        return Decision()
    value = {**before, "loadBalancer": {"ingress": wanted} if wanted else {}}
    return Decision(status=Status(seen.service, value))


def _ingress(seen: Seen) -> list[dict[str, Any]]:
    claim, holder = seen.claim, first_by_age(seen.pinned)
    first = holder is not None and holder.meta.uid == seen.service.meta.uid
    if claim is None or claim.deleting or phase_of(claim) != BOUND or not first:
        return []
    # What the server would default is stated, or each look would find a difference.
    addresses = items(status_of(claim), "addresses")
    return [{"ip": text(one, "address"), "ipMode": "VIP"} for one in addresses]


def services_of_claim_name(service: Object, cached: Cached) -> Iterator[Ref]:
    """Every Service that is pinned to the same claim, this one first."""
    if claim := pinned_claim(service):
        yield service.ref
        place = f"{service.meta.namespace}/{claim}"
        yield from (one.ref for one in cached.list(SERVICES, "claim", place))


def services_of_claim(claim: Object, cached: Cached) -> Iterator[Ref]:
    """The Services that are pinned to a claim."""
    yield from (one.ref for one in cached.list(SERVICES, "claim", claim.ref.key))


BALANCERS_CONTROLLER = Controller(
    name="stand-in-balancers",
    component="stand-in-addresses",
    watches=(Watch(SERVICES, services_of_claim_name), Watch(CLAIMS, services_of_claim)),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,
    checked=False,
)
