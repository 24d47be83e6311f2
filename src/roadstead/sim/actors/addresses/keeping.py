"""Says of each address whose it is and which Service has it, and frees it by its own policy.

Source: endpoint-attachments 2.1, claim deletion and association.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.decision import Cached, Decision, Drop, Reader, Status
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import text
from roadstead.sim.actors.addresses.views import (
    ADDRESS_PROTECTION,
    ADDRESSES,
    AVAILABLE,
    BOUND,
    CLAIMS,
    DELETE,
    RELEASED,
    SERVICES,
    claim_key,
    first_by_age,
    is_for,
    pinned_claim,
    protected,
    spec_of,
)
from roadstead.wiring import Controller, Watch


@dataclass(frozen=True, slots=True)
class Seen:
    """One address. claim: what stands at the name it is for. pinned: Services of that claim."""

    address: Object
    claim: Object | None
    pinned: tuple[Object, ...]

    @property
    def phase(self) -> str:
        """Whose it is: nobody's, its claim's, or that of one that is gone or on its way out."""
        if not claim_key(self.address):
            return AVAILABLE
        claim = self.claim
        mine = claim is not None and is_for(self.address, claim) and not claim.deleting
        return BOUND if mine else RELEASED


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one address is judged on."""
    address = await reader.see(ADDRESSES, "", key.name)
    if address is None:
        return None
    place = claim_key(address)
    if not place:
        return Seen(address, None, ())
    namespace, _, name = place.partition("/")
    claim = await reader.see(CLAIMS, namespace, name)
    return Seen(address, claim, await reader.see_all(SERVICES, namespace, "claim", place))


def decide(seen: Seen) -> Decision:
    """Protect an address and say whose it is; one that is free and not to be kept goes."""
    address, phase = seen.address, seen.phase
    held = ADDRESS_PROTECTION in (address.meta.finalizers or ())
    if address.deleting and phase != BOUND:
        gone = protected(api.ADDRESS, address, ADDRESS_PROTECTION, held=False)
        return Decision(want=(gone,) if held else ())
    status = Status(address, _status(seen))
    if address.deleting:
        return Decision(status=status)
    if phase == RELEASED and text(spec_of(address), "reclaimPolicy") == DELETE:
        return Decision(drop=(Drop(address.ref, address.meta.uid),), sure=True)
    guarded = () if held else (protected(api.ADDRESS, address, ADDRESS_PROTECTION),)
    return Decision(want=guarded, status=status)


def _status(seen: Seen) -> dict[str, Any]:
    holder = first_by_age(seen.pinned) if seen.phase == BOUND else None
    if holder is None:
        return {"phase": seen.phase}
    meta = holder.meta
    named = {"kind": holder.kind.kind, "namespace": meta.namespace, "name": meta.name}
    return {"phase": seen.phase, "associatedTo": named}


def address_itself(address: Object, _cached: Cached) -> Iterator[Ref]:
    """An address wakes itself."""
    yield address.ref


def addresses_of_claim(claim: Object, cached: Cached) -> Iterator[Ref]:
    """The addresses that are for a claim of this name."""
    yield from (one.ref for one in cached.list(ADDRESSES, "claim", claim.ref.key))


def addresses_of_service(service: Object, cached: Cached) -> Iterator[Ref]:
    """The addresses of the claim a Service is pinned to."""
    if claim := pinned_claim(service):
        place = f"{service.meta.namespace}/{claim}"
        yield from (one.ref for one in cached.list(ADDRESSES, "claim", place))


KEEPING_CONTROLLER = Controller(
    name="stand-in-addresses",
    component="stand-in-addresses",
    watches=(
        Watch(ADDRESSES, address_itself),
        Watch(CLAIMS, addresses_of_claim),
        Watch(SERVICES, addresses_of_service),
    ),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,
    checked=False,
)
