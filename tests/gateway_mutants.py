"""Broken places of tenant gateways, with words of the cases that are likely to notice."""

import sys
from dataclasses import replace
from typing import Any

from attachment_mutants import Mutant, Patch, always
from gateway_row_mutants import CLAIMS, ROWS, VERDICTS, guard
from roadstead.capabilities.gateways import api, decide
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.gateways.decide import entries, namespaces, units
from roadstead.capabilities.gateways.render import listeners, objects, spec
from roadstead.capabilities.gateways.snapshot import Asked, Snapshot, views
from roadstead.kube.objects import Object
from roadstead.kube.shapes import part

observe = sys.modules["roadstead.capabilities.gateways.snapshot.observe"]
ready = sys.modules["roadstead.capabilities.gateways.decide.ready"]
report = sys.modules["roadstead.capabilities.gateways.decide.report"]
TABLES = "tests/rules/test_gateways_"
SPEC, LISTENERS, RENDERING, ENTRIES, NAMESPACES, READY, WATCHES = (
    f"{TABLES}{room}.py"
    for room in ("spec", "listeners", "rendering", "entries", "namespaces", "ready", "watches")
)


def owned_by_name(self: Any, seen: Object) -> bool:
    """Ownership by the name of the owner, whatever its uid."""
    return any(owner.controller and owner.name == self.name for owner in seen.owners)


def owned_by_any(self: Any, seen: Object) -> bool:
    """Any owner reference is ownership."""
    return any(owner.uid == self.uid for owner in seen.owners)


def holder(self: Any, name: str, *, chart: bool = True, lists: bool = True) -> str:
    """Who holds a namespace. chart: whether a bare label counts. lists: whether it must list it."""
    seen = self.namespaces.get(name)
    if seen is None or name == self.namespace:
        return ""
    by = str(seen.annotations.get(api.ATTACHED_BY, ""))
    if by:
        there = by in self.holders.get(name, frozenset()) or not lists
        return by if there and by != self.namespace else ""
    label = str(seen.labels.get(api.ATTACH_LABEL, ""))
    return label if chart and label != self.namespace else ""


def without_charts(self: Any, name: str) -> str:
    """A label that a chart wrote holds nothing."""
    return holder(self, name, chart=False)


def for_ever(self: Any, name: str) -> str:
    """Who held a namespace once holds it for ever."""
    return holder(self, name, lists=False)


def labels_alone(self: Any) -> frozenset[str]:
    """The list of the spec attaches nothing before it is labelled."""
    found = {n for n, one in self.namespaces.items() if _label(one) == self.namespace}
    return frozenset({self.namespace} | found)


def list_alone(self: Any) -> frozenset[str]:
    """Labels attach nothing."""
    return frozenset({self.namespace} | {n for n in self.asked.attached if not self.holder_of(n)})


def held_too(self: Any) -> frozenset[str]:
    """What another holds is attached all the same."""
    return frozenset({*labels_alone(self), *self.asked.attached})


def _label(seen: Object) -> str:
    return str(seen.labels.get(api.ATTACH_LABEL, ""))


def alone(self: Any) -> frozenset[str]:
    """Only what this gateway lists is expected."""
    return frozenset({self.namespace, *self.asked.attached}) if self.asked_for else frozenset()


def label_goes_too(namespace: Object, _label: str | None, _holder: str | None) -> Any:
    """The label goes with the annotation, whoever wrote it."""
    return real_patch(namespace, None if _holder is None else _label, _holder)


def unlabelled_too(seen: Any) -> Any:
    """A label without our annotation is ours."""
    for name, there in seen.namespaces.items():
        if _label(there) == seen.namespace and name not in seen.expected:
            yield real_patch(there, None, None)


def ours_first(seen: Any, route: Any, before: list[Any], judged: list[Any]) -> list[Any]:
    """Own entries move to the front."""
    found = real_parents(seen, route, before, judged)
    return sorted(found, key=lambda one: one["controllerName"] != api.COMPONENT)


def ours_alone(seen: Any, route: Any, before: list[Any], judged: list[Any]) -> list[Any]:
    """Entries of others are dropped."""
    found = real_parents(seen, route, before, judged)
    return [one for one in found if one["controllerName"] == api.COMPONENT]


def never_removed(seen: Any, route: Any, before: list[Any], judged: list[Any]) -> list[Any]:
    """An own entry stays, whatever became of its unit."""
    found = real_parents(seen, route, before, judged)
    return [*found, *(one for one in before if _of_nobody(one, found))]


def _of_nobody(entry: Any, found: list[Any]) -> bool:
    same = [one for one in found if one["parentRef"] == entry["parentRef"]]
    return entry["controllerName"] == api.COMPONENT and not same


def of_the_parent(seen: Any, route: Any, entry: Any) -> bool:
    """Whoever speaks of our gateway is us."""
    named = views.gateway_of(part(entry, "parentRef"), route.ref.namespace)
    return bool(named == seen.key.key)


def of_the_controller(_seen: Any, _route: Any, entry: Any) -> bool:
    """Every own entry is of this gateway."""
    return bool(entry.get("controllerName") == api.COMPONENT)


def any_group(ref: Any, namespace: str) -> str:
    """Whatever a parentRef names is a Gateway."""
    return f"{ref.get('namespace') or namespace}/{ref.get('name')}"


def by_label(seen: Any, route: Any) -> bool:
    """A redirect is known by its label."""
    return bool(route.seen.labels.get(api.TENANT_GATEWAY_LABEL) == seen.name)


def all_children(seen: Any) -> Any:
    """A child outside the apex is a child."""
    inside, outside = real_children(seen)
    return tuple(sorted({*inside, *(host for _, host in outside)})), ()


def children_of_none(seen: Any) -> Any:
    """No child is told of."""
    return (real_children(seen)[0], ())


def from_all(_seen: Any) -> dict[str, Any]:
    """A listener admits every namespace."""
    return {"from": "All"}


def one_kind(*_kinds: str) -> list[dict[str, Any]]:
    """Every listener declares HTTPRoute alone."""
    return [{"group": api.GATEWAY_API, "kind": "HTTPRoute"}]


def upper_case(gateway: Object) -> Asked:
    """The apex as it is written."""
    found = real_of(gateway)
    return replace(found, apex=found.written_apex)


def our_labels(*parts: Any) -> dict[str, Any]:
    """Labels of others are dropped."""
    body = real_laid_over(*parts)
    body["metadata"] = {**body["metadata"], "labels": parts[3]}
    return body


def fault_of_none(_asked: Any) -> Any:
    """No fault at all."""
    return iter(())


def row(rule: str, broken: Any = fault_of_none) -> Patch:
    """One group of faults that is not asked of."""
    return (spec, rule, broken)


real_patch, real_parents = namespaces._patch, entries._parents
real_children, real_of, real_laid_over = listeners.children, Asked.of, objects._laid_over
CHILDREN = tuple((place, "children", all_children) for place in (decide, listeners, objects))
UNHEARD = ((decide, "children", children_of_none),)
REDIRECT = tuple((place, "is_redirect", always(False)) for place in (decide, units))
GUARDS = (
    guard("every object is ours", (Snapshot, "owns", always(True)), by=RENDERING),
    guard("no object is ours", (Snapshot, "owns", always(False)), by=RENDERING),
    guard("ours by the owner's name", (Snapshot, "owns", owned_by_name), by=RENDERING),
    guard("ours by any reference", (Snapshot, "owns", owned_by_any), by=RENDERING,
          likely=("plain-owner",)),
    guard("P13 leaves no Gateway", (decide, "_unissued", always("")), by=SPEC),
    guard("what is foreign is written over", (decide, "_guarded", always(True)), by=RENDERING),
    guard("nothing is deleted", (decide, "_gone", always(None)), by=RENDERING),
    guard("a spec is not judged", (decide, "fault", always("")), by=SPEC),
    guard("the builder judges nothing", (objects, "fault", always("")), by=LISTENERS),
    guard("the builder counts nothing", (objects, "budget", always("")), by=LISTENERS),
    guard("P3, P4 are not asked", row("_of_services"), by=SPEC),
    guard("the apex is not asked of", row("_of_apex"), by=SPEC),
    guard("P6 to P10 are not asked", row("_of_listener", lambda *_: iter(())), by=SPEC),
    guard("P8 to P10 are not asked", row("_of_hostname", lambda *_: iter(())), by=SPEC),
    guard("P9 is not asked", row("is_within", always(True)), by=SPEC),
    guard("P10 is not asked", row("overlap", always(False)), by=SPEC),
    guard("65 listeners are sent", (api, "MOST_LISTENERS", 65), by=LISTENERS),
    guard("63 listeners are too many", (api, "MOST_LISTENERS", 63), by=LISTENERS),
    guard("the budget never runs low", (api, "MUCH", 64), by=LISTENERS),
    guard("the budget runs low early", (api, "MUCH", 55), by=LISTENERS),
    guard("102 names are asked for", (api, "MOST_NAMES", 102), by=RENDERING),
    guard("98 names are too many", (api, "MOST_NAMES", 98), by=RENDERING),
    guard("33 entries are sent", (api, "MOST_ENTRIES", 33), by=ENTRIES),
    guard("31 entries are too many", (api, "MOST_ENTRIES", 31), by=ENTRIES),
    guard("children are anywhere", *CHILDREN, by=LISTENERS, likely=("outside",)),
    guard("children outside are not told of", *UNHEARD, by=LISTENERS),
    guard("children are any text", (listeners, "is_subdomain", always(True)), by=LISTENERS),
    guard("listeners admit all", (listeners, "_by_label", from_all), by=LISTENERS),
    guard("443 in different kinds", (listeners, "_kinds", one_kind), by=LISTENERS),
    guard("the apex as it is written", (Asked, "of", upper_case), by=VERDICTS),
    guard("labels of others go", (objects, "_laid_over", our_labels), by=RENDERING),
    guard("staging is production", (objects, "SERVERS", dict.fromkeys(objects.SERVERS, "x")),
          by=RENDERING),
    guard("nobody holds a namespace", (Snapshot, "holder_of", always("")), by=NAMESPACES),
    guard("everybody holds one", (Snapshot, "holder_of", always("tenant-x")), by=NAMESPACES),
    guard("charts hold nothing", (Snapshot, "holder_of", without_charts), by=NAMESPACES),
    guard("holders hold for ever", (Snapshot, "holder_of", for_ever), by=NAMESPACES),
    guard("labels alone attach", (Snapshot, "attach_set", property(labels_alone)), by=CLAIMS),
    guard("the list alone attaches", (Snapshot, "attach_set", property(list_alone)), by=CLAIMS),
    guard("what is held attaches", (Snapshot, "attach_set", property(held_too)), by=NAMESPACES),
    guard("siblings expect nothing", (Snapshot, "expected", property(alone)), by=NAMESPACES),
    guard("no label is written", (namespaces, "_marked", lambda _seen: iter(())), by=NAMESPACES),
    guard("no label is taken", (namespaces, "_unmarked", lambda _seen: iter(())), by=NAMESPACES),
    guard("charts' labels are taken", (namespaces, "_unmarked", unlabelled_too), by=NAMESPACES),
    guard("its own label is taken", (namespaces, "_patch", label_goes_too), by=NAMESPACES),
    guard("ours come first", (entries, "_parents", ours_first), by=ENTRIES),
    guard("entries of others go", (entries, "_parents", ours_alone), by=ENTRIES),
    guard("entries of nobody stay", (entries, "_parents", never_removed), by=ENTRIES),
    guard("who speaks of us is us", (entries, "_is_ours", of_the_parent), by=ENTRIES),
    guard("every own entry is of this one", (entries, "_is_ours", of_the_controller), by=ENTRIES),
    guard("edge keeps no entry", (decide, "of_whole_apex", always([])), by=VERDICTS),
    guard("any group is a Gateway", (units, "gateway_of", any_group), by=CLAIMS),
    guard("the redirect claims", *REDIRECT, by=CLAIMS),
    guard("a redirect by its label", (units, "is_redirect", by_label), by=CLAIMS),
    guard("every condition holds", (ready, "_is_true", always(True)), by=READY),
    guard("every listener is ready", (ready, "_reason", always("")), by=READY),
    guard("routes fail gateways", (report, "_ROUTES", frozenset()), by=READY),
    guard("a conflict is told", (report, "_STALE", ""), by=READY, likely=("conflict",)),
    guard("every backend resolves", (observe, "_resolves", always(True)), by=CLAIMS,
          likely=("backend", "withdraw")),
    guard("no backend resolves", (observe, "_resolves", always(False)), by=WATCHES,
          likely=("withdraw", "forward")),
    guard("every grant is given", (observe, "_is_granted", always(True)), by=WATCHES,
          likely=("grant",)),
    guard("no grant is given", (observe, "_is_granted", always(False)), by=WATCHES,
          likely=("grant",)),
    guard("no TLSRoute is read", (observe, "tls_view", always(None)), by=WATCHES,
          likely=("tls-route",)),
    guard("a namespace never holds itself", (observe, "_owner_of", always(frozenset())),
          by=WATCHES, likely=("holder", "namespace")),
    guard("every class is there", (observe, "_class_exists", always(True)), by=WATCHES,
          likely=("class",)),
)  # fmt: skip

# watches

LIKELY = {
    "gateway_itself": ("spec-that-is-put", "mode"),
    "gateways_of_owned": ("goes-and-ours", "edited", "deleted"),
    "gateways_of_route": ("route-that", "entry-follows"),
    "gateways_of_service": ("backend",),
    "gateways_of_grant": ("grant",),
    "gateways_of_namespace": ("namespace", "child"),
    "gateways_of_class": ("class",),
}


def silent(mapper: str) -> Mutant:
    """Watches that wake nobody."""
    found = [one for one in GATEWAYS_CONTROLLER.watches if one.keys.__name__ == mapper]
    patches = tuple((watch, "keys", always(())) for watch in found)
    return guard(f"{mapper} wakes nobody", *patches, by=WATCHES, likely=LIKELY[mapper])


MUTANTS = (*ROWS, *GUARDS, *(silent(mapper) for mapper in LIKELY))
