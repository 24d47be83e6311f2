"""Broken places of attachments, each with words of the cases that are likely to notice."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from roadstead.capabilities.attachments import api, decide, render
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.decide import claims, rendering, resolve, status
from roadstead.capabilities.attachments.render import ports
from roadstead.capabilities.attachments.snapshot import Snapshot, facts
from roadstead.decision import Drop, Finding, How, Telling, Verdict
from roadstead.engine import engine, reader, store, writer
from roadstead.kube.objects import Object
from roadstead.wiring import Controller

Patch = tuple[Any, str, Any]
observe = sys.modules["roadstead.capabilities.attachments.snapshot.observe"]
views = sys.modules["roadstead.capabilities.attachments.snapshot.views"]
report = sys.modules["roadstead.capabilities.attachments.decide.report"]


@dataclass(frozen=True)
class Mutant:
    """One broken place.

    patches: what is put where; a Watch is changed for good, as each mutant has its own process.
    test: who must notice where no case can. area: the capability whose cases are run.
    likely: words in the names of the cases that are run first.
    """

    name: str
    patches: tuple[Patch, ...]
    test: str = ""
    area: str = "anchors"
    likely: tuple[str, ...] = ()


def always(answer: Any) -> Callable[..., Any]:
    """A function that has made up its mind."""
    return lambda *_args, **_more: answer


def passing(rule: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
    """A rule that lets everything through."""

    @wraps(rule)
    def lenient(seen: Any) -> Finding:
        return replace(rule(seen), verdict=Verdict.PASS)

    return lenient


def inverted(rule: Callable[[Any], Finding], reason: str) -> Callable[[Any], Finding]:
    """A rule that says the opposite."""

    @wraps(rule)
    def contrary(seen: Any) -> Finding:
        found = rule(seen)
        if found.verdict is not Verdict.PASS:
            return replace(found, verdict=Verdict.PASS)
        return replace(found, verdict=Verdict.REFUSE, reason=reason)

    return contrary


TABLES = "tests/rules/test_attachments_"
RESOLVE, CLAIMS, EXCLUSIVE = (f"{TABLES}{room}.py" for room in ("resolve", "claims", "exclusive"))
RENDERING, MENDING, STATUS, REPORT, WORDS = (
    f"{TABLES}{room}.py" for room in ("rendering", "mending", "status", "report", "words")
)
BARRIER = "tests/rules/test_engine_barrier.py"
LIKELY = {
    "application_is_found": ("release", "application"),
    "application_is_one": ("two-releases",),
    "incarnation_is_the_same": ("recreated",),
    "endpoint_exists": ("endpoint-does", "deleted-endpoint"),
    "lineage_matches": ("another-application", "without-a-group"),
    "endpoint_is_not_rendered": ("rendered-service",),
    "endpoint_is_tenant_facing": ("internal", "verdict"),
    "datapath_is_declared": ("contract",),
    "backend_is_delegated_once": ("chart", "delegat"),
    "claim_kind_is_served": ("substrate",),
    "class_is_offered": ("offered", "class"),
    "claim_exists": ("claim",),
    "family_agrees": ("family",),
    "address_is_bound": ("bound", "lost"),
    "class_is_known": ("class",),
    "claim_is_free": ("in-use", "holder", "annotated"),
    "endpoint_is_mirrorable": ("mirror", "external-name", "selector"),
    "some_port_exists": ("port",),
    "service_stands": ("service",),
    "backend_is_one": ("backend", "dark"),
    "every_port_exists": ("port",),
}


def broken_rules() -> Iterator[Mutant]:
    """Each rule, lenient and contrary."""
    for rule in decide.RULES:
        reason = "EndpointNotFound" if rule in resolve.RESOLVE else "ClaimPending"
        for way, broken in (("lets all pass", passing(rule)), ("inverted", inverted(rule, reason))):
            rules = tuple(broken if one is rule else one for one in decide.RULES)
            name = f"attachments: rule {rule.__name__}: {way}"
            likely = LIKELY.get(rule.__name__, ())
            patches = ((decide, "RULES", rules),)
            yield Mutant(name, patches, RESOLVE, "attachments", likely)


def unsure_after_a_create(_seen: Any, want: tuple[Any, ...], drop: tuple[Any, ...]) -> bool:
    """No second look."""
    return bool(drop) or any(one.how is not How.REPLACE for one in want)


def blind_stamp(seen: Any, release: Object) -> dict[str, Any]:
    """A stamp that states neither uid nor version."""
    body: dict[str, Any] = real_stamp(seen, release)
    meta = {k: v for k, v in body["metadata"].items() if k not in {"uid", "resourceVersion"}}
    return {**body, "metadata": meta}


def any_claim_is_spare(seen: Any) -> tuple[Drop, ...]:
    """A claim that is referenced is deleted like one of ours."""
    return (Drop(seen.claim.ref, seen.claim.meta.uid),) if seen.claim is not None else ()


def keeps_node_ports(seen: Any, endpoint: Object, live: Object) -> list[dict[str, Any]]:
    """Node ports stay, wanted or not."""
    return real_ports(replace(seen, node_ports=True), endpoint, live)


def copies_node_ports() -> tuple[str, ...]:
    """What is mirrored of a port, and its node port."""
    return (*ports._MIRRORED, "nodePort")


def no_dark_pair(seen: Any, endpoint: Object) -> dict[str, str]:
    """A dark Service without a selector at all."""
    return {} if render.is_dark(seen) else dict(endpoint.body["spec"]["selector"])


def mints_early(seen: Any) -> bool:
    """A claim is minted while the Service of the one before it stands."""
    return not seen.asked.claim_name and seen.claim is None


def says_all(said: str, _namespace: str) -> str:
    """Somebody else's words, whoever they name."""
    return said


def ours_alone(_live: Any, wanted: dict[str, str], _ours: tuple[str, ...]) -> dict[str, str]:
    """Labels and annotations of others are dropped."""
    return dict(wanted)


def other_modes_too(live: Any, wanted: dict[str, str], _ours: tuple[str, ...]) -> dict[str, str]:
    """Keys of another mode stay."""
    return {**live, **wanted}


def by_number(item: Any, port: dict[str, Any]) -> bool:
    """A port is found by its number, whatever protocol was asked for."""
    return bool(port.get("port") == ports.parsed(item)[0])


def retold(self: Any, now: Any) -> Any:
    """An event for every condition in every pass."""
    return self._event(now.reason, now.message, "Normal", Telling.ONCE)


def youngest(minted: tuple[Object, ...]) -> Object | None:
    """The wrong one of several claims."""
    return minted[-1] if minted else None


def versionless(self: Any, body: Any, made: Object) -> None:
    """A writer that does not note which version its own write left."""
    real_remember(self, body, made)
    self._versions.pop(made.ref, None)


def by_age_alone(seen: Object) -> tuple[str, str]:
    """Ties are left to chance."""
    return (seen.meta.creation_timestamp or "", "")


def guard(name: str, *patches: Patch, by: str = "", likely: tuple[str, ...] = ()) -> Mutant:
    """One guard of attachments that is dropped."""
    return Mutant(f"attachments: {name}", patches, by, "attachments", likely)


def silent(mapper: str) -> Mutant:
    """A watch that wakes nobody."""
    (watch,) = (one for one in ATTACHMENTS_CONTROLLER.watches if one.keys.__name__ == mapper)
    likely = LIKELY_OF_WATCHES[mapper]
    return guard(f"{mapper} wakes nobody", (watch, "keys", always(())), likely=likely)


def indifferent(mapper: str) -> Mutant:
    """A watch to which no modification matters."""
    (watch,) = (one for one in ATTACHMENTS_CONTROLLER.watches if one.keys.__name__ == mapper)
    likely = LIKELY_OF_WATCHES[mapper]
    return guard(f"{mapper}: no change matters", (watch, "changed", always(False)), likely=likely)


LIKELY_OF_WATCHES = {
    "attachment_itself": ("changed", "method"),
    "attachments_of_service": ("deleted", "edited", "endpoint"),
    "attachments_of_slice": ("backend", "recovers", "dark"),
    "attachments_of_release": ("release", "application"),
    "attachments_of_claim": ("claim",),
    "attachments_of_address": ("set-free", "taken", "in-use"),
    "attachments_that_wait": ("class",),
}
real_stamp, real_ports = render.stamp, render._ports
real_remember = writer.Writer._remember
SPARE = "_spare_claims"
GUARDS = (
    guard("never sure", (decide, "_must_be_sure", always(False)), by=CLAIMS),
    guard("always sure", (decide, "_must_be_sure", always(True)), by=CLAIMS, likely=("steady",)),
    guard("no second look", (decide, "_must_be_sure", unsure_after_a_create), by=CLAIMS),
    guard("a pass is never sure", (reader.PassReader, "be_sure", always(None)), by=BARRIER),
    guard("stamped: all are", (decide, "holds_stamp", always(True)), likely=("lineage",)),
    guard("stamped: none is", (decide, "holds_stamp", always(False)), likely=("steady",)),
    guard("the stamp is blind", (decide, "stamp", blind_stamp), by=RESOLVE),
    guard("one name to mint", (writer, "NONCES", 1), by=BARRIER, likely=("name",)),
    guard("minted: all is ours", (writer, "_same_controller", always(True)), by=BARRIER),
    guard("minted: none is ours", (writer, "_same_controller", always(False)), by=BARRIER),
    guard("nothing is dark", (render, "is_dark", always(False)), (rendering, "is_dark", always(False)),
          likely=("dark", "backend")),
    guard("dark by no selector", (render, "_selector", no_dark_pair), by=RENDERING, likely=("dark",)),
    guard("a referenced claim is ours", (decide, SPARE, any_claim_is_spare), likely=("claim",)),
    guard("spare claims stay", (decide, SPARE, always(())), by=CLAIMS, likely=("several", "spare")),
    guard("doubles stay", (decide, "_doubles", always(())), by=MENDING, likely=("several",)),
    guard("a withdrawal is none", (decide, "_withdrawn", always(())), likely=("deleted", "detach")),
    guard("node ports stay", (render, "_ports", keeps_node_ports), by=MENDING, likely=("node",)),
    guard("node ports are copied", (ports, "_MIRRORED", copies_node_ports()), by=RENDERING),
    guard("never replaced", (decide, "is_replaced", always(False)),
          (rendering, "is_replaced", always(False)), by=MENDING, likely=("replaced", "type")),
    guard("always replaced", (decide, "is_replaced", always(True)),
          (rendering, "is_replaced", always(True)), likely=("steady",)),
    guard("no claim is on record", (render, "recorded", always("")), by=MENDING),
    guard("nothing is left alone", (decide, "LEFT_ALONE", frozenset()), likely=("lost", "family")),
    guard("nothing is rendered short", (decide, "RENDERED", frozenset()), likely=("dark", "port")),
    guard("all is left alone", (decide, "LEFT_ALONE", frozenset(
        {"claims-served", "family-agrees", "address-bound", "claim-exists", "claim-free",
         "datapath-declared", "one-delegation-per-pod"})), likely=("deleted-claim", "contract")),
    guard("words are quoted whole", (claims, "quoted", says_all), (report, "quoted", says_all),
          by=REPORT, likely=("words", "quota")),
    guard("never attached", (Snapshot, "was_attached", property(always(False))), likely=("detach",)),
    guard("ever attached", (Snapshot, "was_attached", property(always(True))), likely=("endpoint-does",)),
    guard("mints beside a Service", (decide, "_mints_a_claim", mints_early), by=CLAIMS,
          likely=("replaced-once",)),
    guard("no view is optional", (Controller, "optional", property(always(frozenset()))), by=BARRIER,
          likely=("substrate",)),
    guard("absent is not ready", (engine, "_DECIDED", frozenset()), by=BARRIER, likely=("substrate",)),
    guard("what is not served is asked", (reader.PassReader, "_check_served", always(None)), by=BARRIER),
    guard("no incarnation is known", (resolve, "known_uids", always(())), likely=("recreated",)),
    guard("no delegation overlaps", (claims, "overlapping", always(())), likely=("chart",)),
    guard("any delegation wins", (claims, "_goes_first", always(True)), by=EXCLUSIVE, likely=("younger",)),
    guard("no delegation wins", (claims, "_goes_first", always(False)), likely=("chart",)),
    guard("ties are left to chance", (claims, "age_order", by_age_alone),
          (facts, "age_order", by_age_alone), by=EXCLUSIVE, likely=("tie",)),
    guard("nobody holds a claim", (claims, "_holder", always("")), likely=("in-use",)),
    guard("the youngest claim is kept", (facts, "best_claim", youngest),
          (observe, "best_claim", youngest), by=CLAIMS, likely=("several",)),
    guard("every claim is bound", (claims, "is_bound", always(True)), likely=("bound", "lost")),
    guard("keys of others are dropped", (render, "_merged", ours_alone), by=MENDING, likely=("edited",)),
    guard("keys of another mode stay", (render, "_merged", other_modes_too), likely=("method-removed",)),
    guard("ports by number alone", (ports, "_is", by_number), likely=("number",)),
    guard("no sentinel", (ports, "is_sentinel", always(False)), likely=("sentinel",)),
    guard("long groups as they are", (views, "truncated", lambda group: group),
          (facts, "truncated", lambda group: group), by=RESOLVE, likely=("long-group",)),
    guard("an event in every pass", (status.Report, "_flip", retold), by=STATUS, likely=("steady",)),
    guard("no event", (status.Report, "_flip", always(None)), by=STATUS),
    guard("addresses compare as text", (status, "_parsed", str), by=STATUS),
    guard("oddities are not told", (status, "oddities", always(())), by=STATUS),
    guard("asked every half minute", (api, "RESYNC", api.RECHECK), by=CLAIMS),
    guard("asked every ten minutes", (api, "RECHECK", api.RESYNC), by=CLAIMS, likely=("substrate",)),
    guard("every failure is a refusal", (report, "_is_refused", always(True)), by=REPORT),
    guard("no failure is a refusal", (report, "_is_refused", always(False)), likely=("quota",)),
    guard("what ends is an error", (report, "_is_awaited", always(False)), by=REPORT),
    guard("our word stays in the store", (store.Store, "_complete", always(None)), by=BARRIER),
    guard("the status is of an old version", (writer.Writer, "_remember", versionless), by=BARRIER),
    *(silent(mapper) for mapper in LIKELY_OF_WATCHES),
    indifferent("attachment_itself"),
    indifferent("attachments_of_release"),
)  # fmt: skip
MUTANTS = (*broken_rules(), *GUARDS)
