"""Broken places of lineage, with the tests that must notice."""

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from attachment_mutants import Mutant, always, inverted, passing
from roadstead.capabilities.lineage import api, decide, render
from roadstead.capabilities.lineage.controller import REFRESHER
from roadstead.capabilities.lineage.decide import rules
from roadstead.capabilities.lineage.snapshot import Belonging, ancestry, matching
from roadstead.capabilities.lineage.snapshot.ancestry import Application
from roadstead.engine import memory
from roadstead.errors import ClusterError

CASES = "tests/rules/test_lineage.py"
REFRESH = "tests/rules/test_lineage_refresher.py"
observe = sys.modules["roadstead.capabilities.lineage.snapshot.observe"]
Walk = ancestry._Walk
real_owner, real_along, real_labelled = Walk._owner, Walk.along, Walk._labelled
real_matches, real_scheduling = matching._matches, observe._scheduling
real_named = matching._is_named


def guard(name: str, *patches: tuple[Any, str, Any], by: str = CASES) -> Mutant:
    """A guard that is dropped."""
    return Mutant(f"lineage: {name}", patches, by, "lineage")


def broken_rules() -> Iterator[Mutant]:
    """Each rule, lenient and contrary."""
    for rule in decide.RULES:
        for way, broken in (
            ("lets all pass", passing(rule)),
            ("inverted", inverted(rule, "NotSelected")),
        ):
            every = tuple(broken if one is rule else one for one in decide.RULES)
            yield guard(f"rule {rule.__name__}: {way}", (decide, "RULES", every))


async def nameless(self: Any, owner: Any, namespace: str) -> Any:
    """A reference counts whatever its uid."""
    return await real_owner(self, msgspec.structs.replace(owner, uid=""), namespace)


async def falling_back(self: Any, at: Any, depth: int) -> None:
    """An owned object falls back to its own labels."""
    known = len(self.found)
    await real_along(self, at, depth)
    if at.owners and len(self.found) == known:
        await self._up(self._labelled(at), depth)


async def unbound(self: Any, at: Any) -> Any:
    """The label with the namespace is not looked at."""
    labels = {key: value for key, value in at.labels.items() if key != api.HELM_NAMESPACE}
    meta = msgspec.structs.replace(at.meta, labels=labels)
    return await real_labelled(self, msgspec.structs.replace(at, meta=meta))


class Everything:
    """Holds whatever is asked for."""

    def __contains__(self, _one: object) -> bool:
        """Say yes."""
        return True


def any_name(release: Any, definition: Any) -> Application | None:
    """A release stands for an application whatever its own name."""
    group, kind, name = (release.labels.get(label, "") for label in api.TRIPLE)
    known = definition(kind)
    there = group == api.APPLICATION_GROUP and name and known is not None
    return Application(group, kind, name, release.ref) if there else None


def showing(selector: Any, one: Any, *, broken: bool) -> bool:
    """What cannot be read under `exclude` hides nothing."""
    return real_matches(selector, one, broken=broken and False)


def naming(entry: Any, one: Any, *, broken: bool) -> bool:
    """What has no name yet equals an empty entry."""
    if entry is not None and entry.render(one.variables, strict=False) == one.seen.meta.name:
        return True
    return real_named(entry, one, broken=broken)


async def scheduling_updates(reader: Any, asked: Any) -> str:
    """Updates get a scheduler, too."""
    found: str = await real_scheduling(reader, type(asked)(asked.subject, creating=True))
    return found


async def scheduling_anyhow(reader: Any, asked: Any) -> str:
    """A class that cannot be read is none."""
    try:
        found: str = await real_scheduling(reader, asked)
    except ClusterError:
        return ""
    return found


async def believing(_registry: Any, stored: Any) -> tuple[Belonging, ...]:
    """What an object claims counts for the refresher."""
    claimed = observe._claimed(stored)
    definition = _registry.definition(claimed.kind)
    return () if definition is None else (Belonging(stored, claimed, definition, whole=False),)


def all_entries(name: str, _has: Any, wanted: Any) -> Iterator[Any]:
    """Every label is written, whether or not it is there."""
    for key, value in wanted.items():
        yield {"op": "add", "path": f"/metadata/{name}/{render.pointer(key)}", "value": value}


def whole_map(name: str, has: Any, wanted: Any) -> Iterator[Any]:
    """The map is replaced, and what else was in it lost."""
    if any(has.get(key) != value for key, value in wanted.items()):
        yield {"op": "add", "path": f"/metadata/{name}", "value": dict(wanted)}


MUTANTS = (
    *broken_rules(),
    guard("a reference is a name", (Walk, "_owner", nameless)),
    guard("an owned object falls back", (Walk, "along", falling_back)),
    guard("Helm's namespace is no matter", (Walk, "_labelled", unbound)),
    guard("owners without end", (api, "DEEPEST", 1_000)),
    guard("few owners", (api, "DEEPEST", 2)),
    guard("every error is an answer", (ancestry, "_SKIPPED", Everything())),
    guard("no error is an answer", (ancestry, "_SKIPPED", frozenset({404}))),
    guard("a release of any name", (ancestry, "application_of", any_name)),
    guard("a broken exclude shows", (matching, "_matches", showing)),
    guard("no name is a name", (matching, "_is_named", naming)),
    guard("no anchor is forged", (rules, "anchor_fault", always(""))),
    guard("every anchor is forged", (rules, "anchor_fault", always("is odd"))),
    guard("scheduling on update", (observe, "_scheduling", scheduling_updates)),
    guard("scheduling skips errors", (observe, "_scheduling", scheduling_anyhow)),
    guard("labels are written again", (render, "_entries", all_entries)),
    guard("labels are replaced", (render, "_entries", whole_map)),
    guard("no escape", (render, "pointer", lambda key: key)),
    guard("claims are believed", (observe, "_belonging", believing), by=REFRESH),
    guard("nothing is spent", (memory.Spent, "add", always(None)), by=REFRESH),
    guard("nothing is stale", (observe, "is_stale", always(False)), by=REFRESH),
    guard("what should be hidden is asked about once", (observe, "is_offered", always(True)),
          by=REFRESH),
    guard("everything is stale", (observe, "is_stale", always(True)), by=REFRESH),
    guard("no hour", (decide, "api", type("Api", (), {**vars(api), "RESYNC": None}))),
    guard("a changed definition wakes nobody",
          (REFRESHER.watches[0], "changed", always(False)), by=REFRESH),
)  # fmt: skip
