"""The steps of a case: what each means, played on a stage."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.documents import Place
from roadstead.kube.refs import Ref
from roadstead.kube.times import parse_duration
from roadstead.settings import Settings
from roadstead.sim.compare import Difference
from roadstead.sim.faults import VERBS, Fault
from roadstead.sim.scene import Scene, unexpected
from roadstead.sim.validity import with_string_data
from roadstead.sim.wants import judge
from roadstead.sim.world import Serving


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of steps.yaml. place: where it stands."""

    word: str
    value: Any = field(repr=False)
    place: Place


Flags = Callable[[Mapping[str, Any]], Settings]
"""Gives the settings of a process that is started with changed flags; raises InputError."""


def play(step: Step, scene: Scene, flags: Flags) -> list[Difference]:
    """Do one step, and let passes run after it; gives what was not as expected.

    Raises: InputError when the step cannot be read; DoesNotSettleError.
    """
    try:
        return _played(step, scene, flags)
    except InputError as error:
        if error.place:
            raise
        raise InputError(error.message, place=str(step.place), hint=error.hint) from None


def _played(step: Step, scene: Scene, flags: Flags) -> list[Difference]:
    if step.word == "expect":
        return [replace(one, about=f"{step.place} {one.about}") for one in _expect(step, scene)]
    missed = _unjudged(step, scene)
    scene.stage.begin()
    if step.word == "restart":
        scene.stage.restart(flags(_map(step.value)))
    else:
        _ACTS[step.word](step.value, scene)
    if step.word not in {"fault", "hold", "tick"}:
        scene.stage.settle()
    return missed


def _expect(step: Step, scene: Scene) -> list[Difference]:
    differences = judge(_map(step.value), scene)
    if scene.answer is not None and scene.answer.refused:
        # It has been judged; what comes later need not speak of it again.
        scene.answer = None
    return differences


def _unjudged(step: Step, scene: Scene) -> list[Difference]:
    """A refusal that no `expect` has spoken of before the next write replaces it."""
    if step.word not in {"apply", "patch", "delete"} or scene.answer is None:
        return []
    answer, scene.answer = scene.answer, None
    return [replace(unexpected(answer), about=str(step.place))] if answer.refused else []


def _settle(value: Any, _scene: Scene) -> None:
    _map(value)


def _apply(value: Any, scene: Scene) -> None:
    body = scene.names.resolved(_map(value))
    ref = ref_of(body, scene)
    stated = with_string_data(ref.kind, body)
    if ref.namespace:
        stated = {**stated, "metadata": {**stated["metadata"], "namespace": ref.namespace}}
    scene.answer = scene.stage.apply(ref, stated)


def _patch(value: Any, scene: Scene) -> None:
    stated = _map(value, {"of", "merge"})
    ref = _ref(stated.get("of"), scene)
    merge = with_string_data(ref.kind, scene.names.resolved(_map(stated.get("merge"))))
    scene.answer = scene.stage.patch(ref, merge)


def _delete(value: Any, scene: Scene) -> None:
    stated = {"of": value} if isinstance(value, str) else _map(value, {"of", "collect"})
    collect = stated.get("collect", True)
    scene.answer = scene.stage.delete(_ref(stated.get("of"), scene), collect=collect is not False)


def _tick(value: Any, scene: Scene) -> None:
    scene.stage.tick(_span(value))


def _fault(value: Any, scene: Scene) -> None:
    types = typing.get_type_hints(Fault)
    stated = _map(value, {one.name for one in fields(Fault)})
    for name, part in stated.items():
        if not isinstance(part, types[name]) or (isinstance(part, bool) and name != "lost"):
            raise InputError(f"`{name}` of `fault` has a value of another type")
    if stated.get("verb", "") not in VERBS:
        raise InputError(f"`verb` of `fault` is one of {', '.join(sorted(filter(None, VERBS)))}")
    if stated.get("kind"):
        scene.stage.kinds.named(stated["kind"])
    if stated.get("name"):
        stated["name"] = scene.named(stated["name"])
    scene.stage.fault(Fault(**stated))


def _hold(value: Any, scene: Scene) -> None:
    stated = _map(value, {"kind", "for"})
    passes = stated.get("for", 1)
    if not isinstance(passes, int):
        raise InputError("`for` of `hold` is a number of passes")
    scene.stage.hold(scene.stage.kinds.named(str(stated.get("kind"))), passes)


def _serve(value: Any, scene: Scene) -> None:
    stated = _map(value, {"kind", "now", "versions"})
    kind = scene.stage.kinds.named(str(stated.get("kind")))
    versions = stated.get("versions")
    now = stated.get("now", True)
    if now not in {True, False, "created"}:
        raise InputError("`now` of `serve` is true, false or created")
    # A CRD that is not Established yet is listed by nobody and answers like one that is absent.
    scene.stage.serve(kind, Serving(now is True, None if versions is None else tuple(versions)))


_ACTS: Mapping[str, Callable[[Any, Scene], None]] = {
    "settle": _settle,
    "apply": _apply,
    "patch": _patch,
    "delete": _delete,
    "tick": _tick,
    "fault": _fault,
    "hold": _hold,
    "serve": _serve,
}
WORDS = (*_ACTS, "restart", "expect")


def ref_of(body: Mapping[str, Any], scene: Scene) -> Ref:
    """The ref of an object that is written out.

    Raises: InputError when it is none.
    """
    meta = body.get("metadata")
    named = isinstance(meta, Mapping) and isinstance(meta.get("name"), str)
    if not named or not isinstance(meta, Mapping) or not body.get("kind"):
        raise InputError("an object has `apiVersion`, `kind` and `metadata.name`")
    if not body.get("apiVersion"):
        raise InputError(f"the {body['kind']} has no `apiVersion`")
    namespace = str(meta.get("namespace") or "")
    kind = scene.stage.kinds.of(str(body["apiVersion"]), str(body["kind"]), namespace)
    return kind.ref(namespace or "default", str(meta["name"]))


def _ref(value: Any, scene: Scene) -> Ref:
    if not isinstance(value, str):
        raise InputError("this step names an object as `Kind/namespace/name`")
    return scene.ref(value)


def _span(value: Any) -> timedelta:
    try:
        return parse_duration(str(value))
    except ValueError as error:
        raise InputError(str(error)) from None


def _map(value: Any, known: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("the value of this step is a map")
    for key in value:
        if known is not None and key not in known:
            raise InputError(
                f"`{key}` is no key of this step; there are {', '.join(sorted(known))}"
            )
    return dict(value)
