"""The end of a case in the world and on a server, side by side.

What the two may call differently (uids) is put into one language first; what else may differ is
listed in `cluster/ignored.txt`, path by path, and nowhere else. No value of a Secret is shown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from live_stage import LiveStage
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, Kind, Ref
from roadstead.sim.compare import shown
from roadstead.sim.offline import Offline
from roadstead.sim.requests import Told
from roadstead.sim.world import EVERY_CLUSTER_HAS

IGNORED = Path(__file__).parent / "cluster" / "ignored.txt"
_HIDDEN = ("data.", "stringData.", "metadata.annotations.kubectl.kubernetes.io/last-applied")
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
    return state_of(found, uids, stage.events())


def of_server(stage: LiveStage, kinds: Iterable[Kind]) -> State:
    """The end of a case on a server."""
    found = [seen for kind in kinds for seen in stage.objects(kind, "")]
    return state_of(found, stage.names_by_uid(), stage.events())


def state_of(found: Iterable[Object], uids: Mapping[str, str], told: Iterable[Told] = ()) -> State:
    """What is there, in one language. uids: the path of each object by its uid."""
    every = [seen for seen in found if not _everywhere(seen)]
    now = {seen.meta.uid for seen in every}

    def name(uid: str) -> str:
        path = uids.get(uid)
        return uid if path is None else f"<uid of {'' if uid in now else 'a former '}{path}>"

    return State(
        {seen.ref.path: dict(_leaves(seen.body, "", name)) for seen in every},
        tuple(sorted(f"{t.about.path} {t.type} {t.reason}: {t.message}" for t in told)),
    )


def _everywhere(seen: Object) -> bool:
    """Tell whether an object is there without any case: those of kube-system and its like."""
    place = seen.meta.namespace
    named = seen.kind == NAMESPACE and seen.meta.name in EVERY_CLUSTER_HAS
    return named or (place in EVERY_CLUSTER_HAS and place != "default")


def _leaves(value: Any, path: str, name: Callable[[str], str]) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key), name)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _leaves(part, f"{path}[{number}]", name)
    elif path.endswith("deletionTimestamp"):
        yield path, "<set>"
    elif path.rpartition(".")[2] == "uid":
        yield path, name(value)
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
    return [one for one in some if one not in left or left.remove(one)]  # type: ignore[func-returns-value]


def _there(leaves: Leaves | None) -> str:
    return "lacks it" if leaves is None else "has it"


def _is_ignored(kind: str, path: str, rules: Iterable[tuple[str, str]]) -> bool:
    return any(fnmatchcase(kind, of) and _below(path, stated) for of, stated in rules)


def _below(path: str, stated: str) -> bool:
    return path == stated or path.startswith((f"{stated}.", f"{stated}["))


def ignored_paths(text: str) -> list[tuple[str, str]]:
    """Read ignored.txt: `Kind path  # why`, one a line; `*` is every kind."""
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
    return tuple(sorted({SECRET, *(ref.kind for ref in refs)}))
