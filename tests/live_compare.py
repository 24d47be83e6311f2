"""The end of a case in the world and on a server, side by side.

What the two call differently (uids, minted names) is put into one language first; what else may
differ is listed in `cluster/ignored.txt`, path by path, and nowhere else. No value of a Secret is
shown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from live_stage import LiveStage
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.capabilities.gateways.api import CERTIFICATE, GATEWAY, HTTP_ROUTE, ISSUER
from roadstead.deploy.rbac import HOME
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, NAMESPACE, SECRET, SERVICE, Kind, Ref
from roadstead.sim.compare import shown
from roadstead.sim.offline import Offline
from roadstead.sim.requests import Told
from roadstead.sim.world import EVERY_CLUSTER_HAS

IGNORED = Path(__file__).parent / "cluster" / "ignored.txt"
_HIDDEN = ("data.", "stringData.", "metadata.annotations.kubectl.kubernetes.io/last-applied")
SLICED_BY, SLICER = "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"
SUFFIX = 5
"""So many characters of a minted name are chance."""
UID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
INDEX = re.compile(r"\[\d+\]")
Leaves = dict[str, Any]
"""What stands at each dotted path; empty maps and lists stand for nothing."""


@dataclass(frozen=True, slots=True)
class State:
    """What is there in the end. objects: their leaves by path of the ref."""

    objects: Mapping[str, Leaves]
    told: tuple[str, ...]


def of_world(stage: Offline, kinds: Iterable[Kind]) -> State:
    """The end of a case in the offline world."""
    uids: dict[str, str] = {}
    for change in stage.world.store.log:
        for seen in (change.old, change.new):
            if seen is not None:
                uids[seen.meta.uid] = seen.ref.path
    found = [seen for kind in kinds for seen in stage.world.store.all(kind)]
    return state_of(found, Words(uids, stage.minted()), stage.events())


def of_server(stage: LiveStage, kinds: Iterable[Kind]) -> State:
    """The end of a case on a server."""
    found = [seen for kind in kinds for seen in stage.objects(kind, "")]
    words = Words(stage.names_by_uid(), stage.minted())
    return state_of(found, words, stage.events())


class Words:
    """What one of the two calls by names of its own, in the language of both."""

    def __init__(self, uids: Mapping[str, str], minted: Iterable[Ref] = ()) -> None:
        """Know the path of each object by its uid, and every minted name in its order."""
        self._uids, self._now = uids, frozenset[str]()
        self._minted: dict[str, str] = {}
        before: Counter[tuple[str, Kind, str]] = Counter()
        for ref in dict.fromkeys(minted):
            prefix = ref.name[:-SUFFIX]
            before[ref.namespace, ref.kind, prefix] += 1
            number = before[ref.namespace, ref.kind, prefix]
            self._minted[ref.name] = f"{prefix}<minted {ref.kind.kind} {number}>"

    def look(self, found: Iterable[Object]) -> None:
        """Know what is there now."""
        self._now = frozenset(seen.meta.uid for seen in found)

    def uid(self, uid: str) -> str:
        """A uid by the object that has it or had it."""
        path = self._uids.get(uid)
        former = "" if uid in self._now else "a former "
        return uid if path is None else self.text(f"<uid of {former}{path}>")

    def text(self, text: str) -> str:
        """A text with every such name replaced."""
        for name, word in self._minted.items():
            text = text.replace(name, word)
        return UID.sub(lambda found: self.uid(found[0]), text)


def state_of(found: Iterable[Object], words: Words, told: Iterable[Told] = ()) -> State:
    """What is there, in one language."""
    every = [seen for seen in found if not _everywhere(seen)]
    words.look(every)
    lines = (f"{t.about.path} {t.type} {t.reason}: {t.message}" for t in told)
    return State(
        {words.text(seen.ref.path): dict(_leaves(seen.body, "", words)) for seen in every},
        tuple(sorted(words.text(line) for line in lines)),
    )


def _everywhere(seen: Object) -> bool:
    """Tell whether an object is there without any case.

    Those of kube-system and its like are, and the namespace of our accounts; so are the slices of
    a controller the world lacks.
    """
    place = seen.meta.namespace
    named = seen.kind == NAMESPACE and seen.meta.name in {*EVERY_CLUSTER_HAS, HOME}
    own = seen.kind in {SERVICE, ENDPOINT_SLICE} and seen.meta.name == "kubernetes"
    if seen.labels.get(SLICED_BY) == SLICER:
        return True
    return named or (place in EVERY_CLUSTER_HAS and (place != "default" or own))


def _leaves(value: Any, path: str, words: Words) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key), words)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _leaves(part, f"{path}[{number}]", words)
    elif path.endswith("deletionTimestamp"):
        yield path, "<set>"
    elif path.rpartition(".")[2] == "uid":
        yield path, words.uid(value)
    elif isinstance(value, str):
        yield path, words.text(value)
    elif value is not None:
        yield path, value


def differences(world: State, server: State, ignored: Iterable[tuple[str, str]]) -> list[str]:
    """Say what differs, one line each: object, path, the world's value, the server's."""
    rules = tuple(ignored)
    lines = []
    for path in sorted({*world.objects, *server.objects}):
        here, there = world.objects.get(path), server.objects.get(path)
        if here is None or there is None:
            lines.append(f"{path}: world {_there(here)}, server {_there(there)}")
            continue
        kind = path.partition("/")[0]
        for leaf in sorted({*here, *there}):
            if here.get(leaf) != there.get(leaf) and not _is_ignored(kind, leaf, rules):
                hidden = kind == SECRET.kind and leaf.startswith(_HIDDEN)
                values = (shown(one.get(leaf), hidden=hidden) for one in (here, there))
                lines.append(f"{path} {leaf}: world {next(values)}, server {next(values)}")
    if world.told != server.told:
        lines += [f"events: only in the world: {one}" for one in _minus(world.told, server.told)]
        lines += [f"events: only on the server: {one}" for one in _minus(server.told, world.told)]
    return lines


def _minus(some: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    left = list(others)
    return [one for one in some if one not in left or left.remove(one)]  # type: ignore[func-returns-value]  # it removes, and is never true


def _there(leaves: Leaves | None) -> str:
    return "lacks it" if leaves is None else "has it"


def _is_ignored(kind: str, path: str, rules: Iterable[tuple[str, str]]) -> bool:
    return any(fnmatchcase(kind, of) and _below(path, stated) for of, stated in rules)


def _below(path: str, stated: str) -> bool:
    if "[]" in stated:
        path = INDEX.sub("[]", path)
    return path == stated or path.startswith((f"{stated}.", f"{stated}["))


def ignored_paths(text: str) -> list[tuple[str, str]]:
    """Read ignored.txt: `Kind path  # why`, one a line; `*` is every kind, `[]` every index."""
    rules = []
    for line in text.splitlines():
        stated, _, why = line.partition("#")
        if not stated.strip():
            continue
        kind, path = stated.split()
        assert why.strip(), f"ignored.txt says no reason for {kind} {path}"
        rules.append((kind, path))
    return rules


def kinds_of_case(refs: Iterable[Ref]) -> tuple[Kind, ...]:
    """The kinds to compare: what we write, and what the case has."""
    written = {SECRET, SERVICE, ATTACHMENT, CLAIM, GATEWAY, CERTIFICATE, ISSUER, HTTP_ROUTE}
    return tuple(sorted({*written, *(ref.kind for ref in refs)}))
