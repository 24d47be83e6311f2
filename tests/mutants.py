"""Break the decisions on purpose, one place at a time, and see that somebody notices.

`make mutants` turns the verdict of each rule around, lets each rule pass whatever it sees, and
drops each guard. For every such mutant at least one case must fail; a guard that no case can
reach, since what stands before it is right, names the test that must fail instead.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import attachment_mutants
import gateway_chain_mutants
import gateway_decide_mutants
import gateway_mutants
import lineage_mutants
import service_mutants
import wildcard_mutants
from attachment_mutants import Mutant, always, passing
from roadstead.capabilities.anchors import api, decide, render
from roadstead.capabilities.anchors.decide import rules
from roadstead.capabilities.anchors.snapshot import views
from roadstead.decision import Drop, Finding, Verdict
from roadstead.engine import engine, memory, reader, store, writer
from roadstead.errors import RoadsteadError
from roadstead.kube import pem
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.sim.cases import Case, find_cases, read_case, run_case
from roadstead.wiring import Watch

ROOT = Path(__file__).parent.parent
Known = Case | service_mutants.CheckHolds | service_mutants.TreeHolds
# `snapshot` gives its function `observe` the name of the module it lives in.
observe = sys.modules["roadstead.capabilities.anchors.snapshot.observe"]


def inverted(rule: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
    """A rule that says the opposite."""

    @wraps(rule)
    def contrary(seen: Any) -> Finding:
        found = rule(seen)
        if found.verdict is not Verdict.PASS:
            return replace(found, verdict=Verdict.PASS)
        return replace(found, verdict=Verdict.REFUSE, reason="CACertInvalid")

    return contrary


def broken_rules() -> Iterator[Mutant]:
    """Each rule of each list, lenient and contrary."""
    for rule in dict.fromkeys((*decide.RULES, *decide.WITHDRAWAL)):
        for way, change in (("lets all pass", passing), ("inverted", inverted)):
            patches = tuple(
                (decide, name, tuple(change(r) if r is rule else r for r in getattr(decide, name)))
                for name in ("RULES", "WITHDRAWAL")
            )
            yield Mutant(f"rule {rule.__name__}: {way}", patches)


def first_candidate(self: Any, view: Any, index: str = "", value: str = "") -> Any:
    """List what a view stores, the first alone."""
    return self._stores[view].list(index, value)[:1]


def blind_drop(ref: Ref, _uid: str, _version: str, bound: Any = None) -> Drop:
    """A drop without preconditions."""
    return Drop(ref, "", "", bound)


def trusting(self: Any, view: Any, namespace: str, name: str) -> bool:
    """Believe a view even after a conflict."""
    return self.get(view, namespace, name) is None


def merged_data(seen: Any, source: Any, value: bytes, live: Object) -> dict[str, Any]:
    """An anchor whose stray keys survive."""
    body = render_mended(seen, source, value, live)
    body["data"] = {**(live.body.get("data") or {}), **body["data"]}
    return body


def keeps_last_applied(seen: Any, source: Any, value: bytes, live: Object) -> dict[str, Any]:
    """An anchor that keeps the annotation with a copy of its data."""
    body = render_mended(seen, source, value, live)
    if api.LAST_APPLIED in live.annotations:
        body["metadata"]["annotations"][api.LAST_APPLIED] = live.annotations[api.LAST_APPLIED]
    return body


def own_copies_are_sources(seen: Object) -> tuple[str, ...]:
    """A projection taken for a source."""
    release = seen.labels.get(api.PUBLISH_RELEASE, "")
    if seen.labels.get(api.PUBLISH) != "true" or not release or seen.deleting:
        return ()
    return (f"{seen.meta.namespace}/{release}",)


def any_namespace(target: Object) -> Ref | None:
    """A recorded source followed into another namespace."""
    namespace, _, name = target.annotations.get(api.SOURCE, "").partition("/")
    return target.kind.ref(namespace, name) if name else None


def strict(self: Any, key: Ref, bound: Any, now: float) -> bool:
    """Hold whoever asks again along with the rest."""
    self._admitted.discard(key)
    return bool(admit(self, key, bound, now))


def forgetful(self: Any, key: Ref, events: Any, now: float, **_keep: bool) -> Any:
    """Take every event that is not repeated for over."""
    return due(self, key, events, now, keep=False)


render_mended = render.mended_anchor
admit, due = memory.Withdrawals.admit, memory.Edges.due
PASSES = "tests/rules/test_passes.py"
STORE = "tests/runtime/test_store.py"
VIEWED_BY = (observe, views)

GUARDS = (
    Mutant("gate: private keys are not seen", ((pem, "holds_private_key", always(False)),)),
    Mutant("gate at the canonical name", ((observe, "_holds_key", always(False)),)),
    Mutant("ours: every Secret is", ((rules, "is_ours", always(True)),)),
    Mutant("ours: none is", ((rules, "is_ours", always(False)),)),
    Mutant(
        "owner: whatever stands there is right", ((render, "_owned_as_it_should", always(True)),)
    ),
    Mutant("readmission: never", ((render, "needs_readmission", always(False)),)),
    Mutant("readmission: always", ((render, "needs_readmission", always(True)),)),
    Mutant("data: merged", ((decide, "mended_anchor", merged_data),)),
    Mutant("last-applied: kept", ((decide, "mended_anchor", keeps_last_applied),)),
    Mutant(
        "a projection may be a source",
        tuple((place, "release_opted_into", own_copies_are_sources) for place in VIEWED_BY),
    ),
    Mutant(
        "a recorded source may be elsewhere",
        ((observe, "recorded_source", any_namespace), (decide, "recorded_source", any_namespace)),
    ),
    Mutant("expiry is not told", ((decide, "_expired", always(())),)),
    Mutant("deviations are not told", ((rules, "_deviations", always("")),)),
    Mutant("nothing is woken by name", ((decide, "_wakes", always(())),)),
    Mutant("timers: none", ((decide, "_recheck", always(None)),)),
    Mutant("drops without preconditions", ((decide, "Drop", blind_drop),)),
    Mutant(
        "one labelled source is as good as two", ((reader.PassReader, "list", first_candidate),)
    ),
    Mutant(
        "a view is believed after a conflict", ((reader.PassReader, "absent", trusting),), PASSES
    ),
    Mutant("mass withdrawal goes through", ((memory.Withdrawals, "admit", always(True)),)),
    Mutant("what nobody knows ends a hold", ((decide, "UNDECIDED", frozenset()),)),
    Mutant("what is refused is held with the rest", ((memory.Withdrawals, "admit", strict),)),
    Mutant("a failed write ends what was told", ((memory.Edges, "due", forgetful),)),
    Mutant("events on every pass", ((memory, "REPEAT", 0.0),)),
    Mutant("events never again", ((memory, "REPEAT", float("inf")),)),
    Mutant("states are not timed", ((memory.States, "note", always(None)),)),
    Mutant("wakes are forgotten", ((memory.Wakes, "keys", always(())),)),
    Mutant(
        "no name is unsupported",
        tuple((place, "name_is_supported", always(True)) for place in (observe, rules)),
    ),
    Mutant("every change wakes", ((engine, "_matters", always(True)),)),
    Mutant("no change wakes", ((engine, "_matters", always(False)),)),
    Mutant("own writes are not remembered", ((store.Store, "remember_own", always(None)),), STORE),
    Mutant("what is sent is not guarded", ((writer, "guard", always(None)),), PASSES),
    Mutant("what is sent is not checked", ((writer, "check", always(None)),), PASSES),
)


def cases(area: str) -> list[Known]:
    """Every case of a capability, read once."""
    if area == service_mutants.AREA:
        return [*service_mutants.known()]
    top = ROOT / "tests/cases" / area
    return [read_case(folder, name) for name, folder in find_cases(top)]


def likeliest(known: list[Known], words: tuple[str, ...]) -> list[Known]:
    """Cases in an order in which a mutant should be noticed soon; the order changes no verdict."""
    return sorted(known, key=lambda case: not any(word in case.name for word in words))


def fails(case: Known) -> bool:
    """Whether a case comes out differently."""
    return bool(run_case(case).differences) if isinstance(case, Case) else case.fails()


def case_that_notices(known: list[Known]) -> str:
    """The first case that fails, or nothing."""
    for case in known:
        try:
            failed = fails(case)
        except (AttributeError, RoadsteadError, LookupError, TypeError, ValueError) as error:
            return f"{case.name} ({type(error).__name__})"
        if failed:
            return case.name
    return ""


def test_that_notices(test: str) -> str:
    """The module of tests, where it fails."""
    with redirect_stdout(StringIO()):
        failed = pytest.main(
            ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", str(ROOT / test)]
        )
    return test if failed == pytest.ExitCode.TESTS_FAILED else ""


def judge(number: int) -> tuple[str, str]:
    """Who notices a mutant; nothing where it lives. Runs in a process of its own."""
    mutant = MUTANTS[number]
    known = likeliest(KNOWN[mutant.area], mutant.likely)
    first = sum(1 for case in known if any(word in case.name for word in mutant.likely))
    with ExitStack() as stack:
        for place, name, change in mutant.patches:
            if isinstance(place, Watch):
                object.__setattr__(place, name, change)
            else:
                stack.enter_context(mock.patch.object(place, name, change))
        noticed = case_that_notices(known[:first])
        # What a test is known to notice needs no run of every case.
        if not noticed and mutant.test and mutant.area != "anchors":
            noticed = test_that_notices(mutant.test)
        noticed = noticed or case_that_notices(known[first:])
        if not noticed and mutant.test:
            noticed = test_that_notices(mutant.test)
    return mutant.name, noticed


KNOWN: dict[str, list[Known]] = {}
MUTANTS = (
    *broken_rules(),
    *GUARDS,
    *attachment_mutants.MUTANTS,
    *gateway_mutants.MUTANTS,
    *gateway_decide_mutants.MUTANTS,
    *gateway_chain_mutants.MUTANTS,
    *lineage_mutants.MUTANTS,
    *wildcard_mutants.MUTANTS,
    *service_mutants.MUTANTS,
)


AREAS = tuple(sorted({mutant.area for mutant in MUTANTS}))


def main() -> int:
    """Judge every mutant, or those of one capability; 0 when none lives."""
    parser = argparse.ArgumentParser(prog="mutants")
    parser.add_argument("--only", choices=AREAS, help="the mutants of one capability")
    parser.add_argument("--named", default="", help="those with these words in their names")
    given = parser.parse_args()
    chosen = [
        number
        for number, mutant in enumerate(MUTANTS)
        if given.only in {None, mutant.area} and given.named in mutant.name
    ]
    if not chosen:
        parser.error(f"no mutant is called {given.named!r}")
    for area in sorted({MUTANTS[number].area for number in chosen}):
        KNOWN[area] = cases(area)
        unbroken = case_that_notices(KNOWN[area])
        if unbroken:
            sys.stderr.write(f"error: case {unbroken} fails without any mutant\n")
            return 2
    lives = 0
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        for name, noticed in pool.imap(judge, chosen):
            lives += not noticed
            sys.stdout.write(f"{'LIVES  ' if not noticed else 'noticed'}  {name}  {noticed}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - lives} passed, {lives} failed\n")
    return 1 if lives else 0


if __name__ == "__main__":
    sys.exit(main())
