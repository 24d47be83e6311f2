"""From a reason to the next step of an attachment: commands that clear it, and what wakes a wait.

Every line can be typed as it stands; a line that needs a new object takes it from a file that the
reader supplies. No line names an object of another namespace. A test runs each of them in the
offline world.
"""

from collections.abc import Callable
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide.claims import overlapping
from roadstead.capabilities.attachments.render.ports import choose
from roadstead.capabilities.attachments.snapshot import age_order
from roadstead.decision import Decision, Finding, Verdict
from roadstead.explain.attachments.known import Known, port_numbers, remover
from roadstead.explain.commands import GRANT, apply, delete, label, more_room, patch
from roadstead.explain.subject import Next
from roadstead.explain.trail import stop_of, warnings, with_recheck
from roadstead.kube.refs import Ref

SUPPLIED = "attachment.yaml"
"""The file a reader supplies where an attachment has to be made anew."""
SUPPLIED_APPLICATION = "application.yaml"
SUPPLIED_SERVICE = "service.yaml"
SUPPLIED_CLAIM = "claim.yaml"
SUPPLIED_CLASS = "class.yaml"

Step = Callable[[Ref, Finding, Known], tuple[Next, ...]]


def next_steps(key: Ref, decision: Decision, known: Known | None) -> tuple[Next, ...]:
    """What a person may do about a refusal, a warning or a wait, the best first."""
    if known is None:
        return ()
    stop = stop_of(decision)
    findings = [stop] if stop is not None else []
    for event in warnings(decision):
        finding = Finding("", Verdict.REFUSE, event.reason, event.message, (event.about,))
        findings.append(finding)
    steps = (STEPS[one.reason](key, one, known) for one in findings if one.reason in STEPS)
    return next((step for step in steps if step), ())


def wakes(decision: Decision) -> str:
    """What will have a key looked at again, in words."""
    stop = stop_of(decision)
    told = WAKES.get(stop.rule if stop is not None else "", "")
    about = stop.refs[0].path if stop is not None and stop.refs else ""
    return with_recheck(told.format(about=about), decision)


WAKES: dict[str, str] = {
    "": "a change of its application, its endpoint, its claim or its Service wakes it",
    "application-found": "a HelmRelease of the application wakes it",
    "endpoint-exists": "the creation of {about} wakes it",
    "claims-served": "an address substrate, which brings the kind IPAddressClaim, wakes it",
    "claim-exists": "a change of {about} wakes it",
    "address-bound": "the address substrate has to bind {about}, which wakes it",
    "class-known": "an IPAddressClass for {about} wakes it",
    "service-stands": "the Service that is made, or the end of the one before it, wakes it",
    "one-backend": "a change of the backends of {about} wakes it",
    "readable": "it is tried again with growing pauses",
}
"""What ends a wait, by its rule; by the empty one, what ends a rest."""


def _recreate(key: Ref, effect: str) -> Next:
    """Make it anew, since a field that cannot change has to."""
    return Next((delete(key), apply(SUPPLIED)), f"{SUPPLIED} {effect}")


def _spec(key: Ref, change: dict[str, Any], effect: str) -> Next:
    return Next((patch(key, {"spec": change}),), effect)


def _balancer(key: Ref, change: dict[str, Any], effect: str) -> Next:
    return _spec(key, {"loadBalancer": change}, effect)


def _plain(key: Ref) -> Next:
    change = {"method": None, "allowICMP": None}
    return _balancer(key, change, "a plain load balancer then serves it")


def _application(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    created = f"{SUPPLIED_APPLICATION} is {known.seen.asked.application}"
    return (
        Next((apply(SUPPLIED_APPLICATION),), created),
        _recreate(key, "names an application that is there"),
    )


def _one_application(_key: Ref, finding: Finding, _known: Known) -> tuple[Next, ...]:
    kept, *others = finding.refs
    commands = tuple(f"{label(ref)} {api.NAME_LABEL}-" for ref in others)
    return (Next(commands, f"{kept.path} is then the application; nothing is uninstalled"),)


def _incarnation(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    effect = "is this attachment; it then belongs to the application that is there"
    if not known.seen.asked.claim_name:
        effect += ", and gets a new address"
    return (_recreate(key, effect),)


def _endpoint(key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    """Another Service of the application, else the Service or the application it belongs to."""
    steps = [
        _spec(key, {"endpoint": {"serviceName": name}}, f"`{name}` is offered to tenants")
        for name in known.offered[:1]
    ]
    if finding.reason == "EndpointNotFound":
        made = f"{SUPPLIED_SERVICE} is {known.seen.endpoint_ref.path}, as its application offers it"
        steps.append(Next((apply(SUPPLIED_SERVICE),), made))
    if finding.reason == "EndpointLineageMismatch":
        steps.append(_recreate(key, "names the application of that Service"))
    if not steps:
        steps.append(Next((delete(key),), "nothing is exposed; no other Service is offered"))
    return tuple(steps)


def _datapath(key: Ref, _finding: Finding, _known: Known) -> tuple[Next, ...]:
    command = "roadstead run --cozy-proxy-contract-implemented"
    return (_plain(key), Next((command,), "where cozy-proxy runs; all other flags as before"))


def _delegated(key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    holder = finding.refs[-1]
    if holder == known.seen.endpoint_ref:
        # The endpoint itself is delegated by its chart: without it there is nothing to attach.
        taken = Next((f"{label(holder)} {api.PROXY_LABEL}-",), "this attachment then takes over")
    else:
        found = [one.service for one in known.seen.delegations if one.service.ref == holder]
        going = remover(found[0]) if found else holder
        taken = Next((delete(going),), "this attachment then takes over")
    return (taken, _plain(key))


def _claim(key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    """What a missing address waits for; a person can do something about some of it."""
    seen = known.seen
    if finding.rule == "class-offered":
        offered = ", ".join(sorted(seen.classes))
        return (_recreate(key, f"names one of the classes {offered}"),)
    if finding.rule == "claim-exists" and seen.asked.claim_name:
        named = f"{SUPPLIED_CLAIM} is {api.CLAIM.kind} {seen.asked.claim_name}"
        made = Next((apply(SUPPLIED_CLAIM),), named)
        return (made, _recreate(key, "names a claim that is there, or none"))
    if finding.rule == "class-known" and seen.class_name:
        effect = f"{SUPPLIED_CLASS} is {api.CLASS.kind} {seen.class_name}; the platform's to do"
        return (Next((apply(SUPPLIED_CLASS),), effect),)
    if finding.rule == "written":
        return more_room(key.namespace, finding.message) or (GRANT,)
    return ()


def _claim_in_use(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    another = _recreate(key, "names another claim, or none to have one made")
    if known.holder is None:
        return (another,)
    gone = Next((delete(remover(known.holder)),), "this attachment then takes the address over")
    return (gone, another)


def _family(key: Ref, _finding: Finding, _known: Known) -> tuple[Next, ...]:
    return (_recreate(key, "asks for the family of the claim, or for none"),)


def _backends(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    ports = list(known.seen.asked.ports or port_numbers(known.seen.endpoint))
    if not ports:
        return (_plain(key),)
    change = {"method": "PortList", "ports": ports}
    return (_balancer(key, change, "these ports then reach every backend"), _plain(key))


def _ports(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    asked, endpoint = known.seen.asked, known.seen.endpoint
    missing = choose(asked, endpoint).missing if endpoint is not None else ()
    kept: list[int | str] = [item for item in asked.ports if item not in missing]
    if not kept and asked.method == "PortList":
        kept = list(port_numbers(endpoint))
    effect = "the endpoint has these" if kept else "all ports of the endpoint are then taken"
    return (_balancer(key, {"ports": kept or None}, effect),)


def _rejected(key: Ref, finding: Finding, _known: Known) -> tuple[Next, ...]:
    changed = _recreate(key, "asks for nothing that the message refuses")
    return (*(more_room(key.namespace, finding.message) or (GRANT,)), changed)


def _mismatch(_key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    service = known.seen.service
    if service is None:
        return ()
    effect = "another one is made for the same address; where that is no help, ask the platform"
    return (Next((delete(service.ref),), effect),)


def _limited(key: Ref, _finding: Finding, _known: Known) -> tuple[Next, ...]:
    return (_plain(key),)


def _contended(_key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    service = known.seen.service
    mine = age_order(service) if service is not None else ("", "")
    younger = [one.service for one in overlapping(known.seen) if one.order > mine]
    commands = tuple(dict.fromkeys(delete(remover(one)) for one in younger))
    return (Next(commands, "this attachment's Service alone is then carried"),) if commands else ()


STEPS: dict[str, Step] = {
    "ApplicationNotFound": _application,
    "ApplicationAmbiguous": _one_application,
    "ApplicationIncarnationChanged": _incarnation,
    "EndpointNotFound": _endpoint,
    "EndpointLineageMismatch": _endpoint,
    "EndpointNotTenantFacing": _endpoint,
    "EndpointNotMirrorable": _endpoint,
    "DatapathContractUnavailable": _datapath,
    "BackendAlreadyDelegated": _delegated,
    "ClaimPending": _claim,
    "ClaimInUse": _claim_in_use,
    "FamilyConflict": _family,
    "MultipleBackends": _backends,
    "PortsNotFound": _ports,
    "ServiceRejected": _rejected,
    "AddressMismatch": _mismatch,
    "DatapathLimited": _limited,
    "BackendContended": _contended,
}
"""The way on for each reason that a person can do something about."""
