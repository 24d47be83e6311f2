"""Binds a claim to addresses of its class, and lets it go once they are free.

Source: endpoint-attachments 2.1.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.decision import Cached, Decision, Reader, Status, Want
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, text
from roadstead.sim.actors.addresses.pool import name_of, next_free
from roadstead.sim.actors.addresses.views import (
    ADDRESS_PROTECTION,
    ADDRESSES,
    AVAILABLE,
    BOUND,
    CLAIM_PROTECTION,
    CLAIMS,
    CLASSES,
    LOST,
    PENDING,
    RELEASED,
    RETAIN,
    claim_key,
    family_of,
    is_for,
    phase_of,
    protected,
    spec_of,
    status_of,
)
from roadstead.wiring import Controller, Watch

_FAMILIES = {"IPv4": ("IPv4",), "IPv6": ("IPv6",), "Dual": ("IPv4", "IPv6")}


@dataclass(frozen=True, slots=True)
class Seen:
    """One claim. addresses: every address there is. classes: every class there is."""

    claim: Object
    addresses: tuple[Object, ...]
    classes: tuple[Object, ...]

    @property
    def mine(self) -> tuple[Object, ...]:
        """The addresses that are bound to this claim, by name."""
        return tuple(one for one in self.addresses if is_for(one, self.claim))

    @property
    def missing(self) -> tuple[str, ...]:
        """The families that no address of this claim has."""
        wanted = _FAMILIES.get(text(spec_of(self.claim), "family") or "IPv4", ())
        there = {family_of(one) for one in self.mine}
        return tuple(family for family in wanted if family not in there)

    @property
    def lost(self) -> bool:
        """Whether an address that was bound is gone: the claim never takes another instead."""
        recorded = {text(one, "name") for one in items(status_of(self.claim), "addresses")}
        gone = recorded - {one.meta.name for one in self.mine}
        return bool(gone) or (phase_of(self.claim) == LOST and bool(self.missing))

    @property
    def class_name(self) -> str:
        """The class asked for, else the one recorded, else the only default; empty for none."""
        stated = text(spec_of(self.claim), "className")
        default = self.default_classes
        only = default[0] if len(default) == 1 else ""
        return stated or text(status_of(self.claim), "className") or only

    @property
    def default_classes(self) -> tuple[str, ...]:
        """The classes that are marked as the default."""
        marked = (
            one for one in self.classes if one.annotations.get(api.DEFAULT_ANNOTATION) == "true"
        )
        return tuple(one.meta.name for one in marked)

    @property
    def ip_class(self) -> Object | None:
        """The class of that name."""
        name = self.class_name
        return next((one for one in self.classes if one.meta.name == name), None)


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one claim is bound by."""
    claim = await reader.see(CLAIMS, key.namespace, key.name)
    if claim is None:
        return None
    return Seen(claim, reader.list(ADDRESSES), reader.list(CLASSES))


def decide(seen: Seen) -> Decision:
    """Protect a claim and bind what it lacks, or let it go."""
    claim = seen.claim
    held = CLAIM_PROTECTION in (claim.meta.finalizers or ())
    if claim.deleting:
        free = all(phase_of(one) == RELEASED for one in seen.mine)
        gone = protected(api.CLAIM, claim, CLAIM_PROTECTION, held=False)
        return Decision(want=(gone,) if held and free else ())
    guarded = () if held else (protected(api.CLAIM, claim, CLAIM_PROTECTION),)
    bindings = () if seen.lost else tuple(_bindings(seen))
    return Decision(want=(*guarded, *bindings), status=Status(claim, _status(seen)))


def _bindings(seen: Seen) -> Iterator[Want]:
    """An address for each family that lacks one: one that is there, else the next of the pool."""
    if seen.ip_class is None:
        return
    asked = text(spec_of(seen.claim), "addressName")
    for family in seen.missing:
        spare = next((one for one in _spare(seen, family) if asked in {"", one.meta.name}), None)
        if spare is not None:
            body = deepcopy(spare.body)
            body["spec"]["claimRef"] = _reference(seen.claim)
            yield Want.replace(api.ADDRESS, body, spare)
        elif not asked and (address := next_free(seen.ip_class, family, seen.addresses)):
            yield Want.create(api.ADDRESS, _address(seen.claim, seen.ip_class, address))


def _spare(seen: Seen, family: str) -> Iterator[Object]:
    """Addresses of the class that nobody has had, by name."""
    for one in seen.addresses:
        fits = (text(spec_of(one), "className"), family_of(one)) == (seen.class_name, family)
        free = not claim_key(one) and phase_of(one) in {"", AVAILABLE}
        if fits and free and not one.deleting:
            yield one


def _address(claim: Object, ip_class: Object, address: str) -> dict[str, Any]:
    return {
        "apiVersion": api.ADDRESS.api_version,
        "kind": api.ADDRESS.kind,
        "metadata": {"name": name_of(address), "finalizers": [ADDRESS_PROTECTION]},
        "spec": {
            "className": ip_class.meta.name,
            "address": address,
            "reclaimPolicy": text(spec_of(ip_class), "reclaimPolicy") or RETAIN,
            "claimRef": _reference(claim),
            "source": {"fromClass": {}},
        },
    }


def _reference(claim: Object) -> dict[str, str]:
    meta = claim.meta
    return {"namespace": meta.namespace, "name": meta.name, "uid": meta.uid}


def _status(seen: Seen) -> dict[str, Any]:
    """What is so, and while the claim is not bound, why."""
    # A bound claim keeps the class it was bound by, whatever becomes of its spec or of the class.
    bound_by = text(spec_of(seen.mine[0]), "className") if seen.mine else ""
    name = {"className": known} if (known := bound_by or seen.class_name) else {}
    if seen.lost:
        said = _because("Bound", "AddressLost", "an address of this claim is gone")
        return {"phase": LOST, **name, "conditions": [said]}
    if seen.missing:
        return {"phase": PENDING, **name, "conditions": [_obstacle(seen)]}
    listed = [
        {"name": one.meta.name, "address": text(spec_of(one), "address")} for one in seen.mine
    ]
    return {"phase": BOUND, **name, "addresses": listed}


def _obstacle(seen: Seen) -> dict[str, str]:
    name = seen.class_name
    if not name and len(seen.default_classes) > 1:
        marked = ", ".join(seen.default_classes)
        message = f"several classes are the default ({marked}) and the claim names none"
        return _because("ClassResolved", "ClassAmbiguous", message)
    if not name:
        message = f"no {api.CLASS.kind} is the default and the claim names none"
        return _because("ClassResolved", "ClassNotFound", message)
    if seen.ip_class is None:
        message = f"there is no {api.CLASS.kind} {name}"
        return _because("ClassResolved", "ClassNotFound", message)
    if asked := text(spec_of(seen.claim), "addressName"):
        message = f"{api.ADDRESS.kind} {asked} is not available in class {name}"
        return _because("Bound", "AddressNotAvailable", message)
    if not all(next_free(seen.ip_class, family, seen.addresses) for family in seen.missing):
        families = ", ".join(seen.missing)
        return _because("Bound", "PoolExhausted", f"class {name} has no free {families} address")
    return _because("Bound", "Binding", f"an address of class {name} is being bound")


def _because(type_: str, reason: str, message: str) -> dict[str, str]:
    return {"type": type_, "status": "False", "reason": reason, "message": message}


def claim_itself(claim: Object, _cached: Cached) -> Iterator[Ref]:
    """A claim wakes itself."""
    yield claim.ref


def claims_of_address(address: Object, cached: Cached) -> Iterator[Ref]:
    """The claim an address is for; one that is for none, or on its way out, whoever waits."""
    namespace, _, name = claim_key(address).partition("/")
    if name:
        yield api.CLAIM.ref(namespace, name)
    if not name or address.deleting or phase_of(address) != BOUND:
        yield from (claim.ref for claim in cached.list(CLAIMS, "waiting", "true"))


def claims_that_wait(_class: Object, cached: Cached) -> Iterator[Ref]:
    """Every claim that is not bound."""
    yield from (claim.ref for claim in cached.list(CLAIMS, "waiting", "true"))


CLAIMS_CONTROLLER = Controller(
    name="stand-in-claims",
    component="stand-in-addresses",
    watches=(
        Watch(CLAIMS, claim_itself),
        Watch(ADDRESSES, claims_of_address),
        Watch(CLASSES, claims_that_wait),
    ),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,  # two claims never reach for the same address
    checked=False,
)
