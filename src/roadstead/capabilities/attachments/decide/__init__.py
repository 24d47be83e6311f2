"""When an attachment has its address, what is made and withdrawn for it, and in which words.

A pass is Resolve, Claim, Render, Report. Source: endpoint-attachments 3.
"""

from datetime import timedelta

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide.claims import CLAIM
from roadstead.capabilities.attachments.decide.rendering import RENDER
from roadstead.capabilities.attachments.decide.report import laid_over, report
from roadstead.capabilities.attachments.decide.resolve import RESOLVE, holds_stamp
from roadstead.capabilities.attachments.decide.status import Report
from roadstead.capabilities.attachments.render import (
    claim,
    fresh_service,
    is_replaced,
    mended_service,
    stamp,
)
from roadstead.capabilities.attachments.render.ports import choose
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.capabilities.attachments.snapshot.views import claim_annotation
from roadstead.decision import Decision, Drop, Finding, How, Mint, Verdict, Want, ask
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import part, text

__all__ = ["RULES", "decide", "report"]

RULES = (*RESOLVE, *CLAIM, *RENDER)

LEFT_ALONE = frozenset({"claims-served", "family-agrees", "address-bound"})
"""Stops that leave a Service where it is: its traffic goes on, and it goes on being mirrored."""
GATES = frozenset({"datapath-declared", "one-delegation-per-pod"})
"""Stops before any question of addresses: whatever claims there are stay."""
RENDERED = frozenset({"one-backend", "every-port-found"})
"""Stops that say what the Service lacks, and render it all the same."""


def decide(seen: Snapshot) -> Decision:
    """Judge one attachment, and say what is made for it and what goes."""
    findings = ask(RULES, seen)
    stop = findings[-1] if findings[-1].verdict is not Verdict.PASS else None
    resolved = len(findings) > len(RESOLVE) or stop is None
    want, drop = _writes(seen, stop, resolved=resolved)
    withdrawn = {one.ref for one in drop}
    told = Report(
        seen,
        resolved=resolved,
        stop=stop,
        withdrawn=seen.service is not None and seen.service.ref in withdrawn,
    )
    return laid_over(
        Decision(
            want=want,
            drop=drop,
            findings=findings,
            sure=_must_be_sure(seen, want, drop),
            recheck=_recheck(seen, stop),
            wakes=_wakes(seen),
        ),
        told,
    )


def _writes(
    seen: Snapshot, stop: Finding | None, *, resolved: bool
) -> tuple[tuple[Want, ...], tuple[Drop, ...]]:
    """What is written, in order, and what goes. Source: the columns Service and claim of 3.2f."""
    rule = stop.rule if stop is not None else ""
    stamped = _stamp(seen, rule)
    if not resolved:
        return stamped, _withdrawn(seen)
    spare = () if rule in GATES else _spare_claims(seen)
    if rule == "claim-exists" and _mints_a_claim(seen):
        return (*stamped, _claim(seen, stamped)), spare
    if rule == "service-stands" and not seen.owned:
        return (*stamped, *_service(seen, stamped)), spare
    replaced = seen.service is not None and is_replaced(seen, seen.service)
    if rule == "service-stands" and replaced:
        return stamped, (*_withdrawn(seen), *spare)
    if stop is not None and rule not in LEFT_ALONE | RENDERED | {"service-stands"}:
        return stamped, (*_withdrawn(seen), *spare)
    return (*stamped, *_mirrored(seen, rule)), (*_doubles(seen), *spare)


def _stamp(seen: Snapshot, rule: str) -> tuple[Want, ...]:
    """Owner reference and labels, as soon as the application is found and consistent. O1."""
    unknown = rule in {"application-found", "application-unambiguous", "same-incarnation"}
    release = seen.release
    if unknown or release is None or holds_stamp(seen):
        return ()
    body = stamp(seen, release)
    return (Want.apply(api.ATTACHMENT, body, seen.attachment, api.COMPONENT),)


def _mints_a_claim(seen: Snapshot) -> bool:
    """A claim is minted once nothing of the one before it is left. Source: P4, P5, O6."""
    return not seen.asked.claim_name and seen.claim is None and not seen.owned


def _claim(seen: Snapshot, stamped: tuple[Want, ...]) -> Want:
    needs = tuple(one.ref for one in stamped)
    return Want.mint(api.CLAIM, claim(seen), Mint(seen.attachment.meta.uid, "claim"), needs)


def _service(seen: Snapshot, stamped: tuple[Want, ...]) -> tuple[Want, ...]:
    if seen.endpoint is None or seen.claim is None:
        return ()
    body = fresh_service(seen, seen.endpoint, seen.claim)
    needs = tuple(one.ref for one in stamped)
    return (Want.mint(SERVICE, body, Mint(seen.attachment.meta.uid, "service"), needs),)


def _mirrored(seen: Snapshot, rule: str) -> tuple[Want, ...]:
    """The Service put right in place, where there is something to mirror and something differs.

    One that is left alone stays pinned to the claim it has.
    """
    live, endpoint = seen.service, seen.endpoint
    if live is None or endpoint is None or not _mirrorable(seen, endpoint):
        return ()
    if is_replaced(seen, live):
        return ()
    pinned = rule in LEFT_ALONE and bool(claim_annotation(live))
    body = mended_service(seen, endpoint, live, None if pinned else seen.claim)
    return (Want.replace(SERVICE, body, live),) if body != live.body else ()


def _mirrorable(seen: Snapshot, endpoint: Object) -> bool:
    spec = part(endpoint.body, "spec")
    external = text(spec, "type") == "ExternalName"
    chosen = choose(seen.asked, endpoint).ports
    return not external and bool(part(spec, "selector")) and bool(chosen)


def _withdrawn(seen: Snapshot) -> tuple[Drop, ...]:
    return tuple(_drop(one) for one in seen.standing)


def _doubles(seen: Snapshot) -> tuple[Drop, ...]:
    return tuple(_drop(one) for one in seen.standing[1:])


def _spare_claims(seen: Snapshot) -> tuple[Drop, ...]:
    """Minted claims beside the one that is kept. Source: P5b."""
    kept = seen.claim.meta.uid if seen.claim is not None else ""
    return tuple(_drop(one) for one in seen.minted if not one.deleting and one.meta.uid != kept)


def _drop(one: Object) -> Drop:
    return Drop(one.ref, one.meta.uid)


def _must_be_sure(seen: Snapshot, want: tuple[Want, ...], drop: tuple[Drop, ...]) -> bool:
    """Whether this rests on live reads: all that makes or deletes, and the look right after it.

    Source: O3, O5 and O8. Only a Service put right in place may rest on what was stored: its PUT
    carries the version seen.
    """
    if drop or any(one.how is not How.REPLACE for one in want):
        return True
    service = seen.service
    return service is not None and text(seen.status, "serviceName") != service.meta.name


def _recheck(seen: Snapshot, stop: Finding | None) -> timedelta:
    """When to look again if nothing happens. Source: 6.2, safety net, and 6.3."""
    reason = stop.reason if stop is not None else ""
    blind = {
        "ClaimPending": not seen.claim_kind or not seen.class_kind,
        "ClaimInUse": not seen.address_kind,
    }
    return api.RECHECK if blind.get(reason) else api.RESYNC


def _wakes(seen: Snapshot) -> tuple[Ref, ...]:
    """The Services that addresses of the claim name: their coming and going decides who holds it.

    Nothing on them says so, where their driver has not pinned them by an annotation. Source: 5.4.
    """
    mine = {one.ref for one in seen.owned}
    named = {
        SERVICE.ref(one.namespace, one.name)
        for one in seen.associations
        if one.kind == SERVICE.kind and one.name
    }
    return tuple(sorted(named - mine))
