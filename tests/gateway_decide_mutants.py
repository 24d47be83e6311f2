"""Broken steps of a pass over a tenant gateway: tenant-gateway 5.6, 7 and 8; each fault of 7.2."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from attachment_mutants import Mutant, Patch, always
from gateway_row_mutants import CLAIMS, VERDICTS, guard
from roadstead.capabilities.gateways import api, decide
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.gateways.decide import entries, namespaces, units
from roadstead.capabilities.gateways.decide.verdicts import Cause, Claims
from roadstead.capabilities.gateways.render import listeners, objects, spec
from roadstead.decision import Decision, Drop, Want
from roadstead.kube.hostnames import is_within
from roadstead.kube.names import is_subdomain
from roadstead.kube.objects import Object

observe, ready, report = (
    sys.modules[f"roadstead.capabilities.gateways.{name}"]
    for name in ("snapshot.observe", "decide.ready", "decide.report")
)
TABLES = "tests/rules/test_gateways_"
SPEC, LISTENERS, RENDERING, ENTRIES, NAMESPACES, READY, WATCHES, VERSIONS = (
    f"{TABLES}{room}.py"
    for room in (
        *("spec", "listeners", "rendering", "entries", "namespaces", "ready", "watches"),
        "versions",
    )
)

FIGURES, ASKED = "tests/runtime/test_gateway_figures.py", "tests/rules/test_ask_gateways.py"

# rows of verdicts, the other way round

CONTRARY = {
    "_parent_missing": VERDICTS,
    "_hostname_missing": VERDICTS,
    "_before_race": VERDICTS,
    "of_http": VERDICTS,
    "of_tls": VERDICTS,
    "_nameless": VERDICTS,
    "_on_listeners": VERDICTS,
    "_unanswered": VERDICTS,
}


def contrary(method: str) -> Patch:
    """Rows that refuse what they let through, and let through what they refuse."""
    judge: Callable[..., Cause | None] = getattr(Claims, method)

    @wraps(judge)
    def other(self: Any, *about: Any) -> Cause | None:
        found = judge(self, *about)
        return None if found is not None else Cause(api.NO_HOSTNAME, "the contrary")

    return (Claims, method, other)


# faults of a spec, one by one

FAULTS = {
    "P1": "are for mode http01 alone",
    "P2": "twice",
    "P3": "is no lower-case DNS name",
    "P4, the listener": "the listener of",
    "P4, the hostname": "the hostname of",
    "P5": "need an apex in lower case",
    "P6, the label": "the name is no lower-case DNS label",
    "P6, the duplicate": "the name is used twice",
    "P6, the service": "has the same name",
    "P7, the range": "is outside 1 to 65535",
    "P7, 80 and 443": "is taken by the gateway itself",
    "P7, the duplicate": "is used twice",
    "P8": "is no hostname",
    "P9": "is outside the apex",
    "P10": "overlaps",
    "P12": "needs wildcardSecretRef",
    "the apex": "is no DNS name",
    "the length of the apex": "`*.<apex>` would be longer",
}


def silent_fault(words: str) -> tuple[Patch, ...]:
    """One fault, known by words of it, that is not found."""
    faults = spec._faults

    @wraps(faults)
    def lenient(asked: Any) -> Iterator[str]:
        return (said for said in faults(asked) if words not in said)

    return ((spec, "_faults", lenient),)


# steps of a pass


def goes_on(seen: Any, plan: Any, hostnames: Any) -> bool:
    """A pass whose Gateway cannot be made goes on."""
    real_gateway(seen, plan, hostnames)
    return True


def all_surplus(seen: Any, plan: Any, hostnames: Any) -> None:
    """A Certificate of ours goes though nobody manages it."""
    real_certificates(seen, plan, hostnames)
    wanted = {want.ref.name for want in plan.want} | {drop.ref.name for drop in plan.drop}
    for name, live in seen.certificates.items():
        if name not in wanted and not live.labels.get(api.MANAGED_LABEL):
            decide._gone(seen, plan, live)


def no_wildcard_surplus(seen: Any, plan: Any, hostnames: Any) -> None:
    """The wildcard Certificate stays in every mode."""
    real_certificates(seen, plan, hostnames)
    plan.drop = [one for one in plan.drop if not one.ref.name.endswith("-gateway-tls")]


def dying_too(seen: Any, plan: Any, live: Any) -> None:
    """What is on its way out is deleted again."""
    if live is not None and seen.owns(live):
        plan.drop.append(Drop(live.ref, live.meta.uid, live.meta.resource_version))


def blind_drop(ref: Any, _uid: str, _version: str) -> Any:
    """A drop without preconditions."""
    return real_drop(ref, "", "")


def deciding(**parts: Any) -> Patch:
    """Every decision with these parts."""
    return (decide, "Decision", lambda **given: Decision(**{**given, **parts}))


def unsaid(reason: str) -> Mutant:
    """A warning that nobody hears."""
    warnings = decide._warnings

    def silent(seen: Any, plan: Any) -> Iterator[tuple[str, str]]:
        return (one for one in warnings(seen, plan) if one[0] != reason)

    by = {"OwnershipConflict": RENDERING, "NamespaceHeld": NAMESPACES}.get(reason, READY)
    return guard(f"{reason} is not told", (decide, "_warnings", silent), by=by)


def unnoted(reason: str) -> Mutant:
    """A line of the log that is missing."""
    notes = decide._notes

    def silent(seen: Any, plan: Any) -> Any:
        return tuple(one for one in notes(seen, plan) if one.reason != reason)

    return guard(f"{reason} is not noted", (decide, "_notes", silent), by=FIGURES)


def writes_always(seen: Any, route: Any, judged: Any) -> Any:
    """An entry is written though nothing differs."""
    found = real_written(seen, route, judged)
    return found or Want.status(route.seen.kind, dict(route.seen.body), route.seen)


def at_the_read_version(seen: Any, route: Any, judged: Any) -> Any:
    """A status goes through the version it was read at, whatever that allows."""
    return real_written(seen, replace(route, status_kind=None), judged)


def labels_the_dying(seen: Any) -> Iterator[Want]:
    """A namespace on its way out is labelled."""
    alive = {name: _alive(one) for name, one in seen.namespaces.items()}
    yield from real_marked(replace(seen, namespaces=alive))


def unlabels_the_dying(seen: Any) -> Iterator[Want]:
    """A namespace on its way out loses its label."""
    alive = {name: _alive(one) for name, one in seen.namespaces.items()}
    yield from real_unmarked(replace(seen, namespaces=alive))


def _alive(one: Object) -> Object:
    body = {**one.body, "metadata": {**one.body["metadata"]}} if one.body else {}
    if not one.deleting:
        return one
    body["metadata"].pop("deletionTimestamp", None)
    return Object.of(one.kind, body)


def by_name(seen: Any, route: Any) -> bool:
    """A redirect is known by its name alone."""
    place = (seen.namespace, f"{seen.name}-http-redirect")
    return (route.ref.namespace, route.ref.name) == place


def unfailed(_seen: Any, decision: Decision, _outcomes: Any) -> Decision:
    """No failed write is told."""
    return decision


def only(type_: str) -> Any:
    """One condition of a Gateway always holds."""
    return lambda gateway, asked: asked == type_ or real_is_true(gateway, asked)


def forgets_listeners(seen: Any, target: Any, faults: Any) -> Any:
    """A failed pass tells of the listeners anew."""
    found = real_status(seen, target, faults)
    rows = ready._rows(seen.gateway)
    return replace(found, value={**found.value, "listeners": rows}) if rows else found


def generation_of_none(seen: Any, target: Any, faults: Any) -> Any:
    """The generation is not told."""
    found = real_status(seen, target, faults)
    return replace(found, value={**found.value, "observedGeneration": 0})


def children_with(
    *, own: bool = False, lower: bool = True, apex: bool = False
) -> tuple[Patch, ...]:
    """Children with one of their guards dropped.

    own: its own namespace is one. lower: hosts are folded. apex: one on the apex itself is one.
    """

    def children(seen: Any) -> Any:
        inside, outside = set(), set()
        for name, one in seen.namespaces.items():
            host = one.labels.get(api.HOST_LABEL, "")
            host = host.lower() if lower else host
            mine = one.labels.get(api.ATTACH_LABEL) == seen.namespace
            left = (name == seen.namespace and not own) or (host == seen.asked.apex and not apex)
            if not mine or left or not host:
                continue
            if is_within(host, seen.asked.apex) and is_subdomain(host):
                inside.add(host)
            else:
                outside.add((name, host))
        return tuple(sorted(inside)), tuple(sorted(outside))

    return tuple((place, "children", children) for place in (decide, listeners, objects))


def taken_for_absent(name: str) -> Patch:
    """A view that cannot be read is taken for a kind that is not served."""
    judge = getattr(observe, name)

    @wraps(judge)
    def lenient(*about: Any) -> Any:
        try:
            return judge(*about)
        except observe.Unread:
            return (None, ()) if name == "_of_cert_manager" else False

    return (observe, name, lenient)


def of_itself(seen: Any, plan: Any, told: Any) -> Any:
    """What is found of routes is left out."""
    return real_findings(seen, replace(plan, judged=[]), told)


real_gateway, real_certificates = decide._gateway, decide._certificates
real_written, real_drop, real_findings = entries.written, Drop, decide._findings
real_marked, real_unmarked = namespaces._marked, namespaces._unmarked
real_is_true, real_status = ready._is_true, ready.status
WARNED = (
    *("ChildHostOutsideApex", "NamespaceHeld", "PassthroughUnpublished", "GatewayClassNotFound"),
    *("OwnershipConflict", "ListenerBudget", api.FAULT),
)
WATCHED = {one.view.name: one for one in GATEWAYS_CONTROLLER.watches}
GUARDS = (
    guard("a pass without a Gateway goes on", (decide, "_gateway", goes_on), by=SPEC),
    guard("what nobody manages goes", (decide, "_certificates", all_surplus), by=RENDERING,
          likely=("surplus",)),
    guard("the wildcard stays", (decide, "_certificates", no_wildcard_surplus), by=RENDERING),
    guard("what is dying is deleted", (decide, "_gone", dying_too), by=RENDERING),
    guard("a drop is blind", (decide, "Drop", blind_drop), by=RENDERING),
    guard("no issuer is made", (decide, "_issuer", always(None)), by=RENDERING),
    guard("no redirect is made", (decide, "_redirect", always(None)), by=RENDERING),
    guard("edge redirects", (decide, "EDGE", "x"), by=RENDERING),
    guard("nothing is swept", (decide, "_swept", always(Decision())), by=NAMESPACES),
    guard("figures are not told", (decide, "by_verdict", always({})),
          by=FIGURES),
    guard("a fault waits for the resync", deciding(backoff=False), by=READY),
    guard("nothing is looked at again", deciding(recheck=None), by=READY),
    guard("a conflict ends it", deciding(independent=False), by=ENTRIES,
          likely=("conflict", "isolat")),
    guard("state is not told", deciding(state=""), by=READY),
    guard("findings of routes are lost", (decide, "_findings", of_itself), by=ASKED),
    *(unsaid(reason) for reason in WARNED),
    *(unnoted(reason) for reason in (api.CHILD_OUTSIDE, api.HELD, api.STATUS_FULL)),
    guard("what is the same is written", (decide, "written", writes_always), by=ENTRIES),
    guard("a status at the read version", (decide, "written", at_the_read_version), by=VERSIONS),
    guard("no route is full", (decide, "is_full", always(False)), by=FIGURES),
    guard("the dying are labelled", (namespaces, "_marked", labels_the_dying), by=NAMESPACES),
    guard("the dying lose labels", (namespaces, "_unmarked", unlabels_the_dying), by=NAMESPACES),
    guard("a redirect by its name", *((place, "is_redirect", by_name) for place in (decide, units)),
          by=CLAIMS, likely=("foreign-route-of-the",)),
    guard("no failure is told", (decide, "report", unfailed), by=READY),
    guard("accepted without a word", (ready, "_is_true", only("Accepted")), by=READY),
    guard("programmed without a word", (ready, "_is_true", only("Programmed")), by=READY),
    guard("a fault forgets listeners", (decide, "status", forgets_listeners), by=READY),
    guard("no generation is told", (decide, "status", generation_of_none), by=READY),
    guard("its own namespace is a child", *children_with(own=True), by=LISTENERS),
    guard("children keep their letters", *children_with(lower=False), by=LISTENERS),
    guard("the apex is a child", *children_with(apex=True), by=LISTENERS),
    guard("a class that cannot be read is missing", (observe, "_class_exists", always(False)),
          by=WATCHES, likely=("class",)),
    guard("no older version is asked", (observe, "_status_kind", always(None)), by=VERSIONS),
    guard("certificates that cannot be read", taken_for_absent("_of_cert_manager"), by=WATCHES),
    guard("grants that cannot be read", taken_for_absent("_is_granted"), by=WATCHES),
    guard("routes that cannot be read", taken_for_absent("_is_served"), by=WATCHES),
    guard("our own status wakes", (WATCHED["tenantgateways-asked"], "changed", always(True)),
          by=WATCHES),
    guard("no change of a gateway wakes",
          (WATCHED["tenantgateways-asked"], "changed", always(False)), by=WATCHES,
          likely=("spec-that-is-put",)),
    guard("every change of a Namespace wakes", (WATCHED["namespaces"], "changed", always(True)),
          by=WATCHES),
    guard("no change of a Namespace wakes", (WATCHED["namespaces"], "changed", always(False)),
          by=WATCHES, likely=("label-that", "child-that-moves")),
    guard("whoever has held holds", (observe, "_listed_by", lambda _reader, by, _name:
          frozenset({by})), by=WATCHES, likely=("holder",)),
    guard("nobody who lists holds", (observe, "_listed_by", always(frozenset())), by=WATCHES,
          likely=("holder",)),
)  # fmt: skip
MUTANTS = (
    *(guard(f"fault {name}: is not found", *silent_fault(words), by=SPEC) for name, words in
      FAULTS.items()),
    *(guard(f"rows of {name}: inverted", contrary(name), by=by) for name, by in CONTRARY.items()),
    *GUARDS,
)  # fmt: skip
