"""Wants that speak of what was done and said: events, writes, reads, timers, findings, answers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from roadstead.decision import Finding
from roadstead.errors import InputError
from roadstead.kube.times import parse_duration
from roadstead.sim.compare import Comparison, Difference, shown
from roadstead.sim.placeholders import Names
from roadstead.sim.requests import Request, Told
from roadstead.sim.scene import Scene, as_list, as_map, unexpected
from roadstead.sim.stage import Answer, Timer

JITTER = 0.1
"""The share by which a live timer may differ from the contract's figure."""


def events(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Events of each object, in order, all since the start; a repeat counts as one more."""
    wanted: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in as_list(want, "events"):
        if not isinstance(entry, Mapping) or "about" not in entry:
            raise InputError("want: each of `events` has `about`, the object it is on")
        wanted[scene.ref(entry["about"]).path].append(entry)
    got: dict[str, list[Told]] = defaultdict(list)
    for told in scene.stage.events():
        got[told.about.path].append(told)
    differences = []
    for about in sorted({*wanted, *got}):
        if _event_list_differs(wanted[about], got[about], scene):
            stated = "; ".join(_spelt(entry) for entry in wanted[about]) or "no event"
            seen = "; ".join(f"{t.type} {t.reason}: {t.message}" for t in got[about])
            differences.append(Difference("events", about, stated, seen or "no event"))
    return differences


def _event_list_differs(
    wanted: Sequence[Mapping[str, Any]], got: Sequence[Told], scene: Scene
) -> bool:
    """Tell whether two lists of events differ."""
    if len(wanted) != len(got):
        return True
    return not all(
        entry.get("type", told.type) == told.type
        and entry.get("reason", told.reason) == told.reason
        and scene.names.matches(str(entry.get("message", "")), told.message, search=True)
        for entry, told in zip(wanted, got, strict=True)
    )


def _spelt(entry: Mapping[str, Any]) -> str:
    words = f"{entry.get('type', '')} {entry.get('reason', '')}".strip()
    return f"{words}: {entry['message']}" if "message" in entry else words


def writes(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Accepted writes since the step began."""
    got = [r for r in scene.stage.requests(since_step=True) if r.write and r.accepted]
    wanted = want["writes"]
    spelt = ", ".join(_written(request) for request in got) or "no write"
    if isinstance(wanted, int):
        return [] if len(got) == wanted else [Difference("writes", "", str(wanted), spelt)]
    left = list(enumerate(got))
    places: dict[str, int] = {}
    wrong = False
    for entry in _whole(as_list(want, "writes")):
        found = next((one for one in left if _is_write(entry, one[1], scene.names)), None)
        if found is None:
            wrong = True
            break
        left.remove(found)
        # Several writes to one object keep their order; across objects it is free.
        path = found[1].ref.path
        wrong = wrong or places.get(path, -1) > found[0]
        places[path] = found[0]
    if wrong or left:
        stated = ", ".join(str(entry) for entry in wanted) or "no write"
        return [Difference("writes", "", stated, spelt)]
    return []


def _whole(entries: Iterable[object]) -> list[str]:
    """Put together what the comma of `uid,resourceVersion` has parted in a list in brackets."""
    whole: list[str] = []
    for entry in entries:
        if whole and isinstance(entry, str) and entry in {"uid", "resourceVersion"}:
            whole[-1] += f",{entry}"
        else:
            whole.append(str(entry))
    return whole


def _written(request: Request) -> str:
    stated = ",".join(request.preconditions)
    return f"{request} with {stated}" if stated else str(request)


def _is_write(wanted: str, got: Request, names: Names) -> bool:
    text, _, stated = wanted.partition(" with ")
    preconditions = {part.strip() for part in stated.split(",") if part.strip()}
    return preconditions <= set(got.preconditions) and names.matches(text.strip(), str(got))


def reads(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Live reads of the last pass."""
    got = scene.stage.reads()
    return [
        Difference("reads", verb, str(count), str(got.get(verb, 0)))
        for verb, count in as_map(want, "reads").items()
        if got is not None and got.get(verb, 0) != count
    ]


def at_most(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Requests of a verb and kind since the step began, refused ones counted."""
    differences = []
    for words, limit in as_map(want, "atMost").items():
        verb, _, kind = words.partition(" ")
        asked = [
            request
            for request in scene.stage.requests(since_step=True)
            if request.verb == verb and request.kind == scene.stage.kinds.named(kind)
        ]
        if len(asked) > limit:
            differences.append(Difference("atMost", words, f"{limit}", f"{len(asked)}"))
    return differences


def unread(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """Objects that no request of ours has named."""
    named = {r.ref: r for r in scene.stage.requests(since_step=False) if r.verb != "list"}
    refs = {path: scene.ref(path) for path in as_list(want, "unread")}
    return [
        Difference("unread", path, "no request", f"a {named[ref].verb}")
        for path, ref in refs.items()
        if ref in named
    ]


def warnings(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """What admission said of the last write of another writer."""
    got = scene.answer.warnings if scene.answer else ()
    wanted = [str(entry) for entry in as_list(want, "warnings")]
    same = len(wanted) == len(got) and all(
        scene.names.matches(one, other, search=True) for one, other in zip(wanted, got, strict=True)
    )
    return [] if same else [Difference("warnings", "", shown(wanted), shown(list(got)))]


def refused(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """How the last write of another writer was refused."""
    wanted = want["refused"]
    answer = scene.answer or Answer()
    if not wanted:
        return [unexpected(answer)] if answer.refused else []
    code, message = wanted.get("code", answer.code), str(wanted.get("message", ""))
    matches = scene.names.matches(message, answer.message, search=True)
    if answer.refused and code == answer.code and matches:
        return []
    got = f"{answer.code}: {answer.message}" if answer.refused else "it went through"
    return [Difference("refused", "", f"{code}: {message}", got)]


def requeue(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """The next timer of each key."""
    timers = scene.stage.timers()
    if timers is None:
        return []
    differences = []
    for name, stated in as_map(want, "requeue").items():
        found = [timer for (_, key), timer in timers.items() if name in {key.key, key.path, "-"}]
        candidates: list[Timer | None] = [*found] or [None]
        if not any(_is_timer(stated, timer) for timer in candidates):
            got = ", ".join(_clocked(timer) for timer in found) or "none"
            differences.append(Difference("requeue", name, str(stated), got))
    return differences


def _is_timer(wanted: object, got: Timer | None) -> bool:
    """Tell whether a timer is as stated: by its length when it was set, or by what is left."""
    if wanted in {None, "none"} or got is None:
        return wanted in {None, "none"} and got is None
    if wanted == "backoff" or got.backoff:
        return wanted == "backoff" and got.backoff
    try:
        span = parse_duration(str(wanted))
    except ValueError as error:
        raise InputError(f"want: `requeue`: {error}") from None
    return any(abs(span - one) <= span * JITTER for one in (got.length, got.left))


def _clocked(timer: Timer) -> str:
    left = timedelta(seconds=round(timer.left.total_seconds()))
    return f"{'backoff ' if timer.backoff else ''}{left}"


def findings(want: Mapping[str, Any], scene: Scene) -> list[Difference]:
    """The last trail of a key."""
    trails = scene.stage.trails()
    if trails is None:
        return []
    differences = []
    for of, entries in _asked_findings(want):
        found = {
            key.path: trail
            for (_, key), trail in trails.items()
            if (of is None and trail) or of in {key.path, key.key}
        }
        if len(found) != 1:
            got = ", ".join(sorted(found)) or "no trail"
            differences.append(Difference("findings", of or "", "one key", got))
            continue
        ((path, trail),) = found.items()
        got_list = [
            {"rule": f.rule, "verdict": f.verdict.value, "reason": f.reason, "message": f.message}
            for f in trail
        ]
        if not _in_order(entries, got_list, scene.names):
            about = f"findings {path}"
            differences.append(Difference(about, "", shown(list(entries)), _trail(trail)))
    return differences


def _in_order(
    wanted: Sequence[Mapping[str, Any]], got: Iterable[Mapping[str, Any]], names: Names
) -> bool:
    """Tell whether the stated findings stand in a trail in order; none means an empty one."""
    left = iter(got)
    if not wanted:
        return next(left, None) is None
    return all(any(_is_finding(one, other, names) for other in left) for one in wanted)


def _is_finding(wanted: Mapping[str, Any], got: Mapping[str, Any], names: Names) -> bool:
    comparison = Comparison("findings", names)
    comparison.compare(wanted, got)
    return not comparison.differences


def _trail(trail: Sequence[Finding]) -> str:
    words = (f"{f.rule} {f.verdict.value} {f.reason}".strip() for f in trail)
    return "; ".join(words) or "no finding"


def _asked_findings(
    want: Mapping[str, Any],
) -> Iterable[tuple[str | None, list[Mapping[str, Any]]]]:
    """Findings by the key they are of: `of` beside them, in each, or as the head of a map."""
    stated = want["findings"]
    of = want.get("of")
    if isinstance(stated, Mapping) and not {"rule", "verdict", "reason"} & set(stated):
        of = stated.get("of", of)
        stated = next((part for key, part in stated.items() if key != "of"), [])
    grouped: dict[str | None, list[Mapping[str, Any]]] = {}
    for entry in stated if isinstance(stated, list) else [stated]:
        of = entry.get("of", of)
        rest = {key: part for key, part in entry.items() if key != "of"}
        grouped.setdefault(of, []).extend([rest] if rest else [])
    return (grouped or {of: []}).items()
