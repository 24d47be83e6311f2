"""Broken places of the wildcard replicas, with words of the cases that are likely to notice."""

import sys
from collections.abc import Iterator
from typing import Any

from attachment_mutants import Mutant, always, inverted, passing
from roadstead.capabilities.wildcards import api, decide
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.capabilities.wildcards.decide import rules
from roadstead.capabilities.wildcards.snapshot import Tls, Word, channel, facts
from roadstead.decision import Decision, Drop
from roadstead.engine.store import Store
from roadstead.errors import ClusterError
from roadstead.kube.refs import Ref

TABLE = "tests/rules/test_wildcards.py"
PASSES = "tests/rules/test_passes.py"
observe = sys.modules["roadstead.capabilities.wildcards.snapshot.observe"]
report = sys.modules["roadstead.capabilities.wildcards.decide.report"]
real_goes, real_want = decide._goes, decide._want
RealChannel = channel.Channel


def guard(
    name: str, *patches: tuple[Any, str, Any], by: str = TABLE, likely: tuple[str, ...] = ()
) -> Mutant:
    """A guard that is dropped."""
    return Mutant(f"wildcards: {name}", patches, by, "wildcards", likely)


def broken_rules() -> Iterator[Mutant]:
    """Each rule, lenient and contrary."""
    for rule in decide.RULES:
        for way, broken in (
            ("lets all pass", passing(rule)),
            ("inverted", inverted(rule, api.MISSING)),
        ):
            every = tuple(broken if one is rule else one for one in decide.RULES)
            yield guard(f"rule {rule.__name__}: {way}", (decide, "RULES", every))


def blind_drop(ref: Ref, _uid: str, _version: str) -> Drop:
    """A drop without preconditions."""
    return Drop(ref, "", "")


def unknown_goes(seen: Any, copy: Any, tls: Tls | None) -> bool:
    """What is unknown is taken for a no."""
    return real_goes(seen, copy, Tls.NOT if tls in {None, Tls.UNKNOWN} else tls)


def sourceless_goes(seen: Any, copy: Any, tls: Tls | None) -> bool:
    """An old name goes although the new source cannot be used."""
    return copy.meta.name != seen.channel.name or real_goes(seen, copy, tls)


def unknown_makes(seen: Any, place: Any) -> Any:
    """What is unknown is taken for a yes."""
    tls = Tls.TERMINATES if place.tls is Tls.UNKNOWN else place.tls
    return real_want(seen, facts.Place(place.namespace, tls, place.ending, place.holder))


def absence_disables(word: Word, *named: str, **rest: Any) -> channel.Channel:
    """What is absent is taken for the empty text."""
    word = Word.DISABLED if word is Word.UNKNOWN else word
    return RealChannel(word, *named, **rest)


def dependent(**parts: Any) -> Decision:
    """A decision whose first conflict ends it."""
    return Decision(**{**parts, "independent": False})


WATCHES = {watch.view.name: watch for watch in WILDCARDS.watches}
GUARDS = (
    guard("a drop is blind", (decide, "Drop", blind_drop), likely=("stops-ending",)),
    guard("the unknown goes", (decide, "_goes", unknown_goes), likely=("not-served",)),
    guard("old names go early", (decide, "_goes", sourceless_goes), likely=("renamed",)),
    guard("the unknown is made", (decide, "_want", unknown_makes), likely=("not-served",)),
    guard("nothing goes", (decide, "_goes", always(False)), likely=("stops-ending",)),
    guard("all goes", (decide, "_goes", always(True)), likely=("second-pass",)),
    guard("everything is ours", (decide, "is_copy", always(True)), (rules, "is_copy", always(True)),
          likely=("foreign",)),
    guard("nothing is ours", (decide, "is_copy", always(False)), likely=("changed",)),
    guard("nothing is made anew", (decide, "is_made_anew", always(False)), likely=("anew",)),
    guard("all is made anew", (decide, "is_made_anew", always(True)), likely=("second-pass",)),
    guard("everything is copied", (facts, "usable", always({"tls.crt": "eA==", "x": "eA=="})),
          (observe, "usable", always({"tls.crt": "eA==", "x": "eA=="}))),
    guard("an empty key will do", (api, "REQUIRED", ()), likely=("without-a-key",)),
    guard("more keys are copied", (api, "COPIED", (*api.COPIED, "combined.pem")),
          likely=("says-whose",)),
    guard("lineage stays", (api, "FOREIGN_PREFIXES", ()), likely=("lineage",)),
    guard("applied stays", (api, "LAST_APPLIED", "x"), likely=("lineage",)),
    guard("absence disables", (channel, "Channel", absence_disables), likely=("deleted-values",)),
    guard("edge is a mode like others", (api, "EDGE", "x"), likely=("edge",)),
    guard("nothing is unsure", (decide, "_lacks_an_answer", always(False)), likely=("cannot",)),
    guard("what failed is counted", (report, "_counted", lambda decision, _failed: decision)),
    guard("a conflict ends it", (decide, "Decision", dependent), likely=("conflict",)),
    guard("a conflict is forgotten", (ClusterError, "conflict", property(always(False))),
          by=PASSES, likely=("conflict",)),
    guard("a failed list holds all up", (Store, "lose", always(None)), likely=("cannot-be-listed",)),
    *(
        guard(f"{name}: wakes nobody", (watch, "keys", always(())))
        for name, watch in WATCHES.items()
    ),
)  # fmt: skip
MUTANTS = (*broken_rules(), *GUARDS)
