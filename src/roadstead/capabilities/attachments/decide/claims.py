"""Has it an address, and nobody else the same one? Source: endpoint-attachments 3.3.

Two gates come first: an address is never allocated for something that cannot be served.
"""

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide.words import quoted
from roadstead.capabilities.attachments.snapshot import (
    Delegation,
    Snapshot,
    age_order,
    family_of,
    is_bound,
    selector_of,
)
from roadstead.capabilities.attachments.snapshot.views import claim_annotation
from roadstead.decision import Finding, Verdict
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import items, part, text

PENDING = "ClaimPending"


def datapath_is_declared(seen: Snapshot) -> Finding:
    """Refuse a method the platform does not carry. P1."""
    rule, method = "datapath-declared", seen.asked.method
    if method and not seen.contract:
        message = (
            f"method {method} on {seen.endpoint_ref} needs the cozy-proxy contract, which this "
            "platform does not declare; leave spec.loadBalancer.method out"
        )
        reason = "DatapathContractUnavailable"
        return Finding(rule, Verdict.REFUSE, reason, message, (seen.ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.ref,))


def backend_is_delegated_once(seen: Snapshot) -> Finding:
    """Refuse a backend that an older Service delegates. P2; the oldest wins, ties by name. 5.3."""
    rule = "one-delegation-per-pod"
    holder = next((one for one in overlapping(seen) if _goes_first(one, seen)), None)
    if not seen.asked.method or holder is None:
        return Finding(rule, Verdict.PASS, refs=(seen.endpoint_ref,))
    message = (
        f"{holder.service.ref} delegates a backend of {seen.endpoint_ref} already; delete it, or "
        "name the Service of other backends in spec.endpoint"
    )
    refs = (seen.ref, holder.service.ref)
    return Finding(rule, Verdict.REFUSE, "BackendAlreadyDelegated", message, refs)


def overlapping(seen: Snapshot) -> tuple[Delegation, ...]:
    """The other delegations of a backend of the endpoint, oldest first. Source: 5.3, item 3.

    Equal selectors overlap as well: a stopped VM has no endpoints yet.
    """
    selector = selector_of(seen.endpoint) if seen.endpoint is not None else ()
    return tuple(
        one
        for one in seen.delegations
        if one.pods & seen.pods or (selector and one.selector == selector)
    )


def _goes_first(other: Delegation, seen: Snapshot) -> bool:
    return seen.present is None or other.order < age_order(seen.present)


def claim_kind_is_served(seen: Snapshot) -> Finding:
    """Wait for an address substrate. P3."""
    rule = "claims-served"
    if not seen.claim_kind:
        named = seen.asked.claim_name or recorded_claim(seen)
        about = f"{api.CLAIM.ref(seen.namespace, named)}: " if named else ""
        message = (
            f"{about}the kind {api.CLAIM.kind} is not served here; an address substrate has to be "
            "installed"
        )
        return Finding(rule, Verdict.WAIT, PENDING, message, (seen.ref,))
    return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))


def claim_exists(seen: Snapshot) -> Finding:
    """Wait for a claim that is named, or have one minted. P4, P5 and P5a."""
    rule, name, claim = "claim-exists", seen.asked.claim_name, seen.claim
    dying = seen.dying_claim
    if claim is not None and not claim.deleting and dying is None:
        return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))
    if name:
        word = "is being deleted" if claim is not None else "does not exist"
        message = f"{api.CLAIM.ref(seen.namespace, name)} {word}; create it"
    elif claim is not None:
        message = f"{(dying or claim).ref} is being deleted; the next one is used once it is gone"
    else:
        named = seen.asked.class_name
        of = f"of {api.CLASS.kind} {named}" if named else f"of the default {api.CLASS.kind}"
        message = f"no {api.CLAIM.kind} {of} is made for this attachment yet"
    return Finding(rule, Verdict.WAIT, PENDING, message, _claim_refs(seen))


def class_is_offered(seen: Snapshot) -> Finding:
    """Refuse to mint from a class the platform does not offer to tenants. Source: 8.3."""
    rule, wanted = "class-offered", seen.asked.class_name or seen.default_class
    if seen.claim is not None or seen.asked.claim_name or not seen.classes:
        return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))
    if wanted and wanted not in seen.classes:
        message = (
            f"class not offered: `{wanted}`; recreate the attachment with a class that the "
            "platform offers to tenants"
        )
        return Finding(rule, Verdict.REFUSE, PENDING, message, (seen.ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.ref,))


def family_agrees(seen: Snapshot) -> Finding:
    """Refuse a claim of another family than is asked for; strictly. P6."""
    rule, wanted, claim = "family-agrees", seen.asked.family, seen.claim
    if claim is not None and wanted and family_of(claim) != wanted:
        message = (
            f"{claim.ref} is of the family {family_of(claim)} and spec.loadBalancer.family is "
            f"{wanted}; recreate the attachment with the family of the claim"
        )
        return Finding(rule, Verdict.REFUSE, "FamilyConflict", message, (claim.ref,))
    return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))


def address_is_bound(seen: Snapshot) -> Finding:
    """Wait for the substrate to bind the claim. P7."""
    rule, claim = "address-bound", seen.claim
    if claim is None or is_bound(claim):
        return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))
    phase = text(part(claim.body, "status"), "phase") or "without a phase"
    said = "; ".join(_conditions(claim, seen.namespace))
    message = f"{claim.ref} is {phase}{': ' + said if said else ''}; the substrate has to bind it"
    return Finding(rule, Verdict.WAIT, PENDING, message, (claim.ref,))


def _conditions(claim: Object, namespace: str) -> list[str]:
    """What the substrate says of the claim, as far as a tenant may read it."""
    told = []
    for one in items(part(claim.body, "status"), "conditions"):
        message = quoted(text(one, "message"), namespace)
        if one.get("type") in {"Bound", "ClassResolved"}:
            told.append(message or text(one, "reason"))
    return [word for word in told if word]


def class_is_known(seen: Snapshot) -> Finding:
    """Wait for the class before the Service: it cannot be set later. P8."""
    rule, claim = "class-known", seen.claim
    if claim is None or seen.present is not None or seen.ip_class is not None:
        return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))
    if not seen.class_name:
        message = f"{claim.ref} names no {api.CLASS.kind}; the substrate has to resolve one"
    elif not seen.class_kind:
        message = f"{api.CLASS.kind} {seen.class_name}: {api.CLASS.resource} are not served here"
    else:
        message = f"{api.CLASS.kind} {seen.class_name} of {claim.ref} does not exist; create it"
    return Finding(rule, Verdict.WAIT, PENDING, message, (claim.ref,))


def claim_is_free(seen: Snapshot) -> Finding:
    """Refuse an address that another Service holds; it is not fought over. P9 and 5.4."""
    rule, claim = "claim-free", seen.claim
    if claim is None:
        return Finding(rule, Verdict.PASS, refs=(seen.ref,))
    holder = _holder(seen)
    if not holder:
        return Finding(rule, Verdict.PASS, refs=_claim_refs(seen))
    message = f"{claim.ref} is held by {holder}; delete that or name another claim"
    return Finding(rule, Verdict.REFUSE, "ClaimInUse", message, (claim.ref,))


def _holder(seen: Snapshot) -> str:
    """Who holds the claim, in words for this namespace; empty when it is free or ours."""
    mine = {one.meta.name for one in seen.owned}  # one on its way out is no stranger, either
    place = seen.namespace
    for one in seen.associations:
        if (one.kind, one.namespace) == (SERVICE.kind, place) and one.name in mine:
            return ""
    for one in seen.associations:
        if one.kind != SERVICE.kind or one.exists:
            here = one.namespace == place
            named = f"{one.kind} {place}/{one.name}"
            return named if here else "an object in another namespace"
    for rival in seen.rivals:
        if seen.present is None or age_order(rival) < age_order(seen.present):
            return str(rival.ref)
    return ""


def recorded_claim(seen: Snapshot) -> str:
    """The claim in use where claims cannot be read: as reported, or as the Service is pinned."""
    reported = text(seen.status, "claimName")
    return reported or (claim_annotation(seen.service) if seen.service is not None else "")


def _claim_refs(seen: Snapshot) -> tuple[Ref, ...]:
    if seen.claim is not None:
        return (seen.claim.ref,)
    name = seen.asked.claim_name
    return (api.CLAIM.ref(seen.namespace, name),) if name else (seen.ref,)


CLAIM = (
    datapath_is_declared,
    backend_is_delegated_once,
    claim_kind_is_served,
    class_is_offered,
    claim_exists,
    family_agrees,
    address_is_bound,
    class_is_known,
    claim_is_free,
)
