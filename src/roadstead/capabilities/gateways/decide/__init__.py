"""What a tenant gateway has others make, who is served by it, and what is said of that.

A pass is labels, claims, Gateway, Issuer, Certificates, redirect, routes, status.
Source: tenant-gateway 8.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import (
    Judged,
    finding_of,
    is_full,
    of_whole_apex,
    written,
)
from roadstead.capabilities.gateways.decide.namespaces import held, labelled
from roadstead.capabilities.gateways.decide.ready import ready, status
from roadstead.capabilities.gateways.decide.report import report
from roadstead.capabilities.gateways.decide.units import is_redirect, units_of
from roadstead.capabilities.gateways.decide.verdicts import Claims, by_verdict
from roadstead.capabilities.gateways.fields import DNS01, EDGE, HTTP01
from roadstead.capabilities.gateways.render import objects
from roadstead.capabilities.gateways.render.listeners import (
    certificate_of,
    children,
    listeners,
    passthrough,
)
from roadstead.capabilities.gateways.render.spec import budget, fault
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import Decision, Drop, Event, Finding, Note, Telling, Verdict, Want
from roadstead.kube.conditions import TRUE
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, Kind, Ref
from roadstead.kube.shapes import items, part

__all__ = ["decide", "report"]

FOREIGN = "not owned by TenantGateway"
UNISSUED = (
    "the cluster does not serve the kinds Issuer and Certificate, which mode {mode} needs: install "
    "cert-manager"
)


@dataclass
class _Plan:
    """What is collected of a decision while it is made.

    faults: what failed, in words. foreign: what has a name of ours. full: routes whose status has
    no room for our entries. listeners: how many the Gateway has or would have.
    claims: hostnames by verdict. judged: every unit that has an entry, in order.
    """

    want: list[Want] = field(default_factory=list)
    drop: list[Drop] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    foreign: list[Ref] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    full: list[Ref] = field(default_factory=list)
    listeners: int = 0
    claims: dict[str, int] = field(default_factory=dict)

    def write(self, kind: Kind, body: dict[str, object], live: Object | None) -> None:
        """Want an object where it differs from what stands."""
        if live is None or body != live.body:
            self.want.append(Want.replace(kind, body, live))


def decide(seen: Snapshot) -> Decision:
    """Judge one tenant gateway, or sweep what one that is gone has left."""
    target = seen.asked_for
    if target is None:
        return _swept(seen)
    said = fault(seen.asked)
    plan = _Plan(faults=[said], listeners=_stored(seen)) if said else _planned(seen)
    told = tuple(dict.fromkeys(plan.faults))
    reported = status(seen, target, told)
    return Decision(
        want=tuple(plan.want),
        drop=tuple(plan.drop),
        status=reported,
        events=_events(seen, target, plan),
        findings=_findings(seen, plan, told),
        state=api.FAULT if told else reported.value["conditions"][0]["reason"],
        recheck=api.RESYNC,
        backoff=bool(told),
        independent=True,
        figures=(("listeners", plan.listeners), *sorted(plan.claims.items())),
        notes=_notes(seen, plan),
    )


def _stored(seen: Snapshot) -> int:
    """How many listeners the Gateway that stands has."""
    return len(items(part(seen.gateway.body, "spec"), "listeners")) if seen.gateway else 0


def _findings(seen: Snapshot, plan: _Plan, faults: tuple[str, ...]) -> tuple[Finding, ...]:
    """Every route that is judged, then the gateway itself: a refused route is no stop of it."""
    routes = tuple(finding_of(seen, one) for one in plan.judged)
    if faults:
        refs = (seen.key, *plan.foreign)
        return (*routes, Finding("renderable", Verdict.REFUSE, api.FAULT, "; ".join(faults), refs))
    return (*routes, Finding("renderable", Verdict.PASS, refs=(seen.key,)), _served(seen))


def _served(seen: Snapshot) -> Finding:
    """Wait until whoever carries the class has taken the Gateway up. Source: 7.1."""
    refs = (api.GATEWAY.ref(seen.namespace, seen.name),)
    said = ready(seen, ())
    if said.status == TRUE:
        return Finding("gateway-served", Verdict.PASS, refs=refs)
    return Finding("gateway-served", Verdict.WAIT, said.reason, said.message, refs)


def _planned(seen: Snapshot) -> _Plan:
    """Steps 3 to 10 of a pass. Source: 8.1."""
    plan = _Plan(want=list(labelled(seen)))
    units = [unit for route in seen.routes for unit in units_of(seen, route)]
    claims = Claims(seen, units, passthrough(seen.asked))
    hostnames = claims.served if seen.asked.mode == HTTP01 else ()
    plan.claims = by_verdict(claims) if seen.asked.mode == HTTP01 else {}
    if not _gateway(seen, plan, hostnames):
        return plan
    if not seen.cert_manager and seen.asked.mode in {HTTP01, DNS01}:
        plan.faults.append(UNISSUED.format(mode=seen.asked.mode))
    else:
        _issuer(seen, plan)
        _certificates(seen, plan, hostnames)
    _redirect(seen, plan)
    if seen.asked.mode == HTTP01:
        plan.judged = [(unit, claims.causes(unit)) for unit in units if claims.names(unit)]
    else:
        plan.judged = of_whole_apex(seen, units)
    by_route: dict[int, list[Judged]] = {}
    for judged in plan.judged:
        by_route.setdefault(id(judged[0].route), []).append(judged)
    for route in seen.routes:
        if not is_redirect(seen, route):
            mine = by_route.get(id(route), [])
            entry = written(seen, route, mine)
            plan.want += [entry] if entry is not None else []
            plan.full += [route.ref] if is_full(seen, route, mine) else []
    return plan


def _gateway(seen: Snapshot, plan: _Plan, hostnames: tuple[str, ...]) -> bool:
    """Plan the Gateway; False where the pass stops."""
    rendered = listeners(seen, hostnames)
    plan.listeners = len(rendered)
    too_many = budget(plan.listeners)
    if too_many:
        plan.faults.append(too_many)
        return False
    unissued = _unissued(seen)
    if unissued:
        plan.faults.append(unissued)
        return False
    if seen.gateway is not None and not seen.owns(seen.gateway):
        plan.faults.append(f"{seen.gateway.ref} is {FOREIGN} {seen.key.key}; delete or rename it")
        plan.foreign.append(seen.gateway.ref)
        return False
    plan.write(api.GATEWAY, objects.gateway(seen, rendered), seen.gateway)
    return True


def _unissued(seen: Snapshot) -> str:
    """Why no Issuer can be made; the Gateway that serves then keeps its certificates. P13."""
    if seen.asked.mode in {HTTP01, DNS01}:
        try:
            objects.issuer(seen)
        except objects.UnrenderableError as error:
            return str(error)
    return ""


def _guarded(seen: Snapshot, plan: _Plan, live: Object | None) -> bool:
    """Whether what stands at a rendered name may be written over. Source: 8.2."""
    if live is None or seen.owns(live):
        return True
    plan.faults.append(f"{live.ref} is {FOREIGN} {seen.key.key}; delete or rename it")
    plan.foreign.append(live.ref)
    return False


def _issuer(seen: Snapshot, plan: _Plan) -> None:
    if seen.asked.mode not in {HTTP01, DNS01}:
        _gone(seen, plan, seen.issuer)
        return
    if _guarded(seen, plan, seen.issuer):
        plan.write(api.ISSUER, objects.issuer(seen), seen.issuer)


def _certificates(seen: Snapshot, plan: _Plan, hostnames: tuple[str, ...]) -> None:
    """The wildcard Certificate, those of single listeners, and what is left over. 3.5, 8.2."""
    wanted: dict[str, tuple[tuple[str, ...], bool]] = {}
    wildcard = f"{seen.name}-gateway-tls"
    if seen.asked.mode == DNS01:
        wanted[wildcard] = (objects.wildcard_names(seen), False)
    for host in hostnames:
        wanted[certificate_of(seen.name, host)] = ((host,), True)
    for name, (names, one_listener) in wanted.items():
        live = seen.certificates.get(name)
        if len(names) > api.MOST_NAMES:
            plan.faults.append(
                f"Certificate {seen.namespace}/{name} would have {len(names)} names, more than "
                f"the {api.MOST_NAMES} a certificate may have"
            )
        elif _guarded(seen, plan, live):
            body = objects.certificate(seen, name, names, one_listener=one_listener)
            plan.write(api.CERTIFICATE, body, live)
    for name, live in seen.certificates.items():
        managed = live.labels.get(api.MANAGED_LABEL) == api.MANAGER
        if name not in wanted and (managed or name == wildcard):
            _gone(seen, plan, live)


def _redirect(seen: Snapshot, plan: _Plan) -> None:
    if seen.asked.mode == EDGE:
        _gone(seen, plan, seen.redirect)
    elif _guarded(seen, plan, seen.redirect):
        plan.write(api.HTTP_ROUTE, objects.redirect(seen), seen.redirect)


def _gone(seen: Snapshot, plan: _Plan, live: Object | None) -> None:
    """Plan the deletion of what is ours and not wanted; a foreign object stays, without a word."""
    if live is not None and seen.owns(live) and not live.deleting:
        plan.drop.append(Drop(live.ref, live.meta.uid, live.meta.resource_version))


def _swept(seen: Snapshot) -> Decision:
    """What a TenantGateway that is gone leaves on namespaces and routes. Source: 8.6."""
    entries = (written(seen, route, ()) for route in seen.routes)
    want = (*labelled(seen), *(one for one in entries if one is not None))
    return Decision(want=want, independent=True)


def _events(seen: Snapshot, target: Object, plan: _Plan) -> tuple[Event, ...]:
    """Warnings, on transition. Source: 10b."""
    return tuple(
        Event(seen.key, target.meta.uid, reason, message, telling=Telling.ONCE)
        for reason, message in _warnings(seen, plan)
    )


def _notes(seen: Snapshot, plan: _Plan) -> tuple[Note, ...]:
    """What is left alone, for the log. Source: 3.4, 4.8 and 5.6."""
    outside = children(seen)[1] if seen.asked.mode != HTTP01 else ()
    return (
        *(Note(NAMESPACE.ref("", name), api.CHILD_OUTSIDE) for name, _ in outside),
        *(Note(NAMESPACE.ref("", name), api.HELD) for name, _ in held(seen)),
        *(Note(route, api.STATUS_FULL) for route in plan.full),
    )


def _warnings(seen: Snapshot, plan: _Plan) -> Iterator[tuple[str, str]]:
    for name, host in children(seen)[1] if seen.asked.mode != HTTP01 else ():
        yield api.CHILD_OUTSIDE, f"Namespace {name} has the host {host}, outside the apex"
    for name, holder in held(seen):
        yield api.HELD, f"Namespace {name} is held by the gateway of {holder}"
    if seen.asked.mode == EDGE and seen.asked.services:
        names = ", ".join(seen.asked.services)
        yield "PassthroughUnpublished", f"mode edge publishes no passthrough service: {names}"
    if seen.class_exists is False:
        name = seen.asked.class_name
        yield "GatewayClassNotFound", f"there is no GatewayClass `{name}`"
    for ref in plan.foreign:
        yield "OwnershipConflict", f"{ref} is {FOREIGN} {seen.key.key}"
    if api.MUCH < plan.listeners <= api.MOST_LISTENERS:
        yield "ListenerBudget", f"{plan.listeners} of {api.MOST_LISTENERS} listeners are used"
    for said in dict.fromkeys(plan.faults):
        yield api.FAULT, said
