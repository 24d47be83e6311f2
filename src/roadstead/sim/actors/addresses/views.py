"""What the substrate sees, and who holds what in it."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from ipaddress import ip_address
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.decision import Want
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind
from roadstead.kube.shapes import part, text
from roadstead.kube.views import Index, View

CLAIM_PROTECTION = f"{api.GROUP}/claim-protection"
ADDRESS_PROTECTION = f"{api.GROUP}/address-protection"

PENDING, AVAILABLE, BOUND, RELEASED, LOST = "Pending", "Available", "Bound", "Released", "Lost"
DELETE, RETAIN = "Delete", "Retain"


def spec_of(seen: Object) -> Mapping[str, Any]:
    """What is asked of an object."""
    return part(seen.body, "spec")


def status_of(seen: Object) -> Mapping[str, Any]:
    """What is said of an object."""
    return part(seen.body, "status")


def phase_of(seen: Object) -> str:
    """The phase of a claim or an address; empty before it has one."""
    return text(status_of(seen), "phase")


def claim_key(address: Object) -> str:
    """`namespace/name` of the claim an address is for; empty for none."""
    ref = part(spec_of(address), "claimRef")
    return f"{text(ref, 'namespace')}/{text(ref, 'name')}" if ref else ""


def is_for(address: Object, claim: Object) -> bool:
    """Whether an address is bound to this very claim: by its uid, never by its name."""
    return text(part(spec_of(address), "claimRef"), "uid") == claim.meta.uid


def family_of(address: Object) -> str:
    """The family of an address; empty for what is none."""
    try:
        return f"IPv{ip_address(text(spec_of(address), 'address')).version}"
    except ValueError:
        return ""


def pinned_claim(service: Object) -> str:
    """The claim a load balancer Service is pinned to; empty for any other Service."""
    balanced = text(spec_of(service), "type") == "LoadBalancer"
    return service.annotations.get(api.CLAIM_ANNOTATION, "") if balanced else ""


def first_by_age(services: tuple[Object, ...]) -> Object | None:
    """The Service that holds a claim: the oldest, ties by name."""
    return min(
        services,
        key=lambda one: (one.meta.creation_timestamp or "", one.meta.name),
        default=None,
    )


def protected(kind: Kind, live: Object, finalizer: str, *, held: bool = True) -> Want:
    """Want a finalizer on an object, or off it."""
    body = deepcopy(live.body)
    others = [one for one in live.meta.finalizers or () if one != finalizer]
    body["metadata"]["finalizers"] = [*others, finalizer] if held else others
    return Want.replace(kind, body, live)


def _unless_empty(value: Callable[[Object], str]) -> Callable[[Object], tuple[str, ...]]:
    return lambda seen: (found,) if (found := value(seen)) else ()


def _pinned(service: Object) -> tuple[str, ...]:
    claim = pinned_claim(service)
    return (f"{service.meta.namespace}/{claim}",) if claim else ()


def _waiting(claim: Object) -> tuple[str, ...]:
    return () if phase_of(claim) == BOUND else ("true",)


def _kept(service: Object) -> Object | None:
    return service if pinned_claim(service) else None


CLAIMS = View("claims", api.CLAIM, indexes=(Index("waiting", _waiting),))
ADDRESSES = View("addresses", api.ADDRESS, indexes=(Index("claim", _unless_empty(claim_key)),))
CLASSES = View("classes", api.CLASS)
SERVICES = View("balancers", SERVICE, keep=_kept, indexes=(Index("claim", _pinned),))
