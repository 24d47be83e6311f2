"""Rewrite a want.yaml so that it says what came of its case. Read the diff before you commit it.

Only what is stated is rewritten: fields of stated objects, events, writes and what else a trace
holds. What says that something must not be (`absent`, `untouched`, `unread`, `atMost`) stays as
it is, and goes on failing. Comments inside the file are lost, those at its head are kept.
"""

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from roadstead.kube.documents import dump
from roadstead.kube.objects import Object
from roadstead.sim.compare import KEYED, Comparison, compare_object, data_as_text
from roadstead.sim.scene import Scene
from roadstead.sim.wants import find_object, judge


def rewrite(path: Path, want: Mapping[str, Any], scene: Scene) -> None:
    """Bring one file in line with a case that has been played."""
    text = path.read_text()
    head = "".join(takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    path.write_text(head + dump([accepted(want, scene)]))


def accepted(want: Mapping[str, Any], scene: Scene) -> dict[str, Any]:
    """A want that holds, as far as it can be made to, in the order of the given one."""
    made: dict[str, Any] = {}
    for key, value in want.items():
        alone = {key: value} | ({"of": want["of"]} if "of" in want else {})
        if key == "objects":
            made[key] = [_object(wanted, scene) for wanted in value]
        elif key in _TRACES and judge({"refused": None, **alone}, scene):
            made[key] = _TRACES[key](value, scene)
        else:
            made[key] = value
    return made


def _object(wanted: Mapping[str, Any], scene: Scene) -> Mapping[str, Any]:
    seen = find_object(wanted, scene)
    if seen is None or not compare_object(wanted, seen, scene.names.tried()):
        return wanted
    made = {}
    for key, part in wanted.items():
        if key in {"apiVersion", "kind"}:
            made[key] = part
        else:
            made[key] = _value(part, _got(key, seen), key, scene)
    return made


def _got(key: str, seen: Object) -> Any:
    return data_as_text(seen) if key == "stringData" else seen.body.get(key)


def _value(wanted: Any, got: Any, name: str, scene: Scene) -> Any:
    """The wanted value where it holds, else the real one, no wider than it was stated."""
    trial = Comparison("", scene.names.tried())
    trial.compare(wanted, got, name)
    if not trial.differences:
        return wanted
    if isinstance(wanted, Mapping) and isinstance(got, Mapping) and wanted:
        return {key: _value(part, got.get(key), key, scene) for key, part in wanted.items()}
    if isinstance(wanted, list) and isinstance(got, list) and name in KEYED and wanted:
        return _keyed(wanted, got, name, scene)
    return got


def _keyed(wanted: list[Any], got: list[Any], name: str, scene: Scene) -> list[Any]:
    made = []
    for entry in got:
        same = [
            one
            for one in wanted
            if isinstance(one, Mapping)
            and isinstance(entry, Mapping)
            and all(one.get(key, entry.get(key)) == entry.get(key) for key in KEYED[name])
        ]
        if same:
            made.append(_value(same[0], entry, "", scene))
        elif name != "conditions":
            made.append(entry)
    return made


def _events(_wanted: Any, scene: Scene) -> list[dict[str, str]]:
    return [
        {
            "about": told.about.path,
            "type": told.type,
            "reason": told.reason,
            "message": re.escape(told.message)
            if "}" in told.message
            else f"${{has:{told.message}}}",
        }
        for told in scene.stage.events()
    ]


def _writes(wanted: Any, scene: Scene) -> Any:
    got = [r for r in scene.stage.requests(since_step=True) if r.write and r.accepted]
    return len(got) if isinstance(wanted, int) else [str(request) for request in got]


def _reads(_wanted: Any, scene: Scene) -> dict[str, int]:
    return dict(scene.stage.reads() or {})


def _requeue(wanted: Mapping[str, Any], scene: Scene) -> dict[str, str]:
    timers = scene.stage.timers() or {}
    made = {}
    for name in wanted:
        found = [t for (_, key), t in timers.items() if name in {key.key, key.path, "-"}]
        if not found:
            made[name] = "none"
        else:
            seconds = round(found[0].length.total_seconds())
            made[name] = "backoff" if found[0].backoff else f"{seconds}s"
    return made


def _findings(wanted: Any, scene: Scene) -> Any:
    if not isinstance(wanted, list) or any("of" in entry for entry in wanted):
        return wanted
    trails = [trail for trail in (scene.stage.trails() or {}).values() if trail]
    if len(trails) != 1:
        return wanted
    return [
        {"rule": f.rule, "verdict": f.verdict.value, **({"reason": f.reason} if f.reason else {})}
        for f in trails[0]
    ]


def _exit(_wanted: Any, scene: Scene) -> Any:
    return scene.exit_code


_TRACES: Mapping[str, Callable[[Any, Scene], Any]] = {
    "events": _events,
    "writes": _writes,
    "reads": _reads,
    "requeue": _requeue,
    "findings": _findings,
    "exit": _exit,
}
