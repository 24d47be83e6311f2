"""What `want.yaml` and `expect` ask, key by key, of a stage; here what they say of objects."""

from collections.abc import Callable, Mapping
from typing import Any

from roadstead.decision import Verdict
from roadstead.errors import InputError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.sim import traces
from roadstead.sim.compare import Difference, compare_exactly, compare_object
from roadstead.sim.placeholders import MINTED
from roadstead.sim.scene import Scene, as_list, unexpected
from roadstead.sim.stage import Stage


def judge(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Every difference between what is wanted and what is there.

    Raises: InputError when a key does not exist or its value cannot be read.
    """
    differences: list[Difference] = []
    for key in sorted(want, key=_order):
        if key not in _KEYS:
            raise InputError(f"want: `{key}` is no key; there are {', '.join(_KEYS)}")
        if key != "of":
            differences += _KEYS[key](want, scene)
    if "refused" not in want and scene.answer is not None and scene.answer.refused:
        differences.append(unexpected(scene.answer))
    return differences


def _order(key: str) -> int:
    # Objects first: they bind the names of minted objects that other keys speak of.
    return list(_KEYS).index(key) if key in _KEYS else -1


def wanted_ref(wanted: Mapping[str, Any], scene: Scene) -> tuple[Kind, str, str]:
    """Kind, namespace and name of a stated object; the name may hold a placeholder.

    Raises: InputError.
    """
    if not isinstance(wanted, Mapping) or not isinstance(wanted.get("metadata"), Mapping):
        raise InputError("want: each of `objects` has `kind` and `metadata.name`")
    meta = wanted["metadata"]
    if "kind" not in wanted or "name" not in meta:
        raise InputError("want: each of `objects` has `kind` and `metadata.name`")
    version = wanted.get("apiVersion")
    kinds = scene.stage.kinds
    kind = kinds.find(version, wanted["kind"]) if version else kinds.named(wanted["kind"])
    if kind is None:
        kind = kinds.named(f"{wanted['kind']}.{str(version).rpartition('/')[0]}")
    namespace = str(meta.get("namespace") or "default") if kind.namespaced else ""
    return kind, namespace, str(meta["name"])


def find_object(wanted: Mapping[str, Any], scene: Scene) -> Object | None:
    """The object that is meant; a minted name that is not bound yet is bound to the best one."""
    kind, namespace, name = wanted_ref(wanted, scene)
    name = scene.named(name)
    found = MINTED.fullmatch(name)
    if found is None:
        return scene.stage.get(kind.ref(namespace, name))
    rest = {**wanted, "metadata": {k: v for k, v in wanted["metadata"].items() if k != "name"}}
    best: tuple[int, Object] | None = None
    for seen in _unbound(kind, namespace, scene):
        count = len(compare_object(rest, seen, scene.names.tried()))
        if best is None or count < best[0]:
            best = (count, seen)
    if best is None:
        return None
    scene.names.mints[found[1]] = best[1].meta.name
    return best[1]


def _unbound(kind: Kind, namespace: str, scene: Scene) -> list[Object]:
    bound = set(scene.names.mints.values())
    minted = [ref for ref in scene.stage.minted() if ref.name not in bound]
    found = (scene.stage.get(ref) for ref in minted if ref[:2] == (namespace, kind))
    return [seen for seen in found if seen is not None]


def _objects(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    differences = []
    for wanted in as_list(want, "objects"):
        seen = find_object(wanted, scene)
        if seen is None:
            kind, namespace, name = wanted_ref(wanted, scene)
            about = kind.ref(namespace, name).path
            differences.append(Difference(about, "", "to be there", "nothing"))
        else:
            tried = scene.names.tried()
            found = compare_object(wanted, seen, tried)
            if not found:
                scene.names.keep(tried)
            differences += found
    return differences


def _exactly(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    stated: dict[Ref, Mapping[str, Any]] = {}
    for wanted in want.get("objects") or ():
        seen = find_object(wanted, scene)
        if seen is not None:
            stated[seen.ref] = wanted
    differences = []
    for entry in as_list(want, "exactly"):
        pairs = entry if isinstance(entry, Mapping) else dict([str(entry).partition(": ")[::2]])
        for path, below in pairs.items():
            ref = scene.ref(path)
            seen = scene.stage.get(ref)
            if seen is None:
                differences.append(Difference(path, "", "to be there", "nothing"))
            elif ref not in stated:
                raise InputError(f"want: `exactly` names {path}, which `objects` does not state")
            else:
                differences += compare_exactly(stated[ref], seen, below, scene.names)
    return differences


def _absent(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    differences = []
    for path in as_list(want, "absent"):
        ref = scene.ref(path)
        found = [scene.stage.get(ref)]
        if MINTED.fullmatch(ref.name):
            found = list(_unbound(ref.kind, ref.namespace, scene))
        differences += [
            Difference(seen.ref.path, "", "to be gone", "it is there")
            for seen in found
            if seen is not None and not seen.deleting
        ]
    return differences


def _untouched(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    return [
        Difference(path, "", "to be as another writer left it", "it was written or is gone")
        for path in as_list(want, "untouched")
        if not scene.stage.as_left(scene.ref(path))
    ]


def _exit(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    got = scene.exit_code
    if got is None or want["exit"] == got:
        return []
    return [Difference("exit", "", str(want["exit"]), str(got))]


def plan_exit(stage: Stage) -> int:
    """What `plan` would end with: 1 when a rule refuses something, else 0. Source: cli 2.2."""
    trails = (stage.trails() or {}).values()
    refused = any(f.verdict is Verdict.REFUSE for trail in trails for f in trail)
    return 1 if refused else 0


_KEYS: Mapping[str, Callable[[Mapping[str, Any], Scene], list[Difference]]] = {
    "objects": _objects,
    "exactly": _exactly,
    "absent": _absent,
    "untouched": _untouched,
    "events": traces.events,
    "writes": traces.writes,
    "reads": traces.reads,
    "atMost": traces.at_most,
    "unread": traces.unread,
    "warnings": traces.warnings,
    "refused": traces.refused,
    "requeue": traces.requeue,
    "findings": traces.findings,
    "of": lambda _want, _scene: [],
    "exit": _exit,
}
