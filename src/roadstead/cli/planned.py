"""A plan as a table, as facts, and as findings for other programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.cli import reports
from roadstead.cli.inputs import wall
from roadstead.cli.out import Cell, Screen, counted
from roadstead.cli.streams import stdin
from roadstead.explain.changes import CHANGED, CREATED, GONE, Change, Pass
from roadstead.explain.verdicts import REFUSED, WAITING, WARNED, Verdicted, counts
from roadstead.explain.world import Played, UnreadableWorldError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_time
from roadstead.sim.actors import spoken
from roadstead.sim.load import load

_STYLES = {CREATED: "green", CHANGED: "yellow", GONE: "red"}
_TITLES = ((REFUSED, "Refused"), (WARNED, "Warned"), (WAITING, "Waiting"))
MINTED_CHARACTERS = 5
"""What a generated name ends in."""
_LEVELS = {REFUSED: "error", WARNED: "warning"}


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan came to. passes: empty unless they are to be shown."""

    played: Played
    rows: tuple[Change, ...]
    found: tuple[Verdicted, ...]
    passes: tuple[Pass, ...]

    @property
    def rounds(self) -> int:
        """How many passes the busiest key took."""
        per_key: dict[tuple[str, Ref], int] = {}
        for step in self.played.steps:
            key = (step.controller, step.key)
            per_key[key] = per_key.get(key, 0) + 1
        return max(per_key.values(), default=0)

    def starred(self, text: str) -> str:
        """A text with the end of each minted name left open: it depends on a uid to come."""
        for ref in self.played.world.minted:
            text = text.replace(ref.name, f"{ref.name[:-MINTED_CHARACTERS]}*")
        return text


def baseline_of(path: str, played: Played) -> dict[Ref, Object]:
    """The objects of a folder as they stand.

    Raises: UnreadableWorldError.
    """
    loaded = load([path], played.world.kinds, wall(), stdin)
    if loaded.problems:
        raise UnreadableWorldError(loaded.problems)
    return {one.ref: Object.of(one.ref.kind, one.body) for one in loaded.objects}


def show(page: Screen, plan: Planned) -> None:
    """Print a plan for people."""
    played = plan.played
    objects, files = len(played.placed), played.files
    acting = spoken(played.stand_ins)
    page.line(
        f"World: {counted(objects, 'object')} from {counted(files, 'file')}. Stand-ins: {acting}."
    )
    if plan.rows:
        page.line()
        headers = ("", "KIND", "NAMESPACE/NAME", "BY", "PASS", "")
        page.table(headers, [_cells(row, plan) for row in plan.rows], indent="  ")
    for how, title in _TITLES:
        _section(page, title, plan, [one for one in plan.found if one.how == how])
    if plan.passes:
        page.line()
        page.table(
            ("PASS", "BY", "KEY", "WROTE", "THEN"),
            [
                (
                    str(one.number),
                    one.controller,
                    one.key.path,
                    plan.starred(", ".join(str(write) for write in one.writes)) or "nothing",
                    one.reason,
                )
                for one in plan.passes
            ],
            indent="  ",
        )
    page.line()
    page.line(summary(plan))


def summary(plan: Planned) -> str:
    """The last line of a plan."""
    signs = [row.sign for row in plan.rows]
    tally = counts(plan.found)
    parts = [
        f"{signs.count(CREATED)} to create",
        f"{signs.count(CHANGED)} to change",
        f"{signs.count(GONE)} to delete",
        f"{tally[REFUSED]} refused",
    ]
    parts += [f"{tally[how]} {how}" for how in (WARNED, WAITING) if tally[how]]
    return f"Settled after {counted(plan.rounds, 'pass', 'passes')}: {', '.join(parts)}."


def _cells(row: Change, plan: Planned) -> tuple[str | Cell, ...]:
    sign, name = Cell(row.sign, _STYLES[row.sign]), plan.starred(row.ref.key)
    return (sign, row.ref.kind.kind, name, row.by, row.when, plan.starred(row.note))


def _section(page: Screen, title: str, plan: Planned, found: list[Verdicted]) -> None:
    if not found:
        return
    page.line()
    page.line(f"{title} ({len(found)}):")
    style = {"Refused": "red", "Warned": "yellow"}.get(title, "dim")
    widths = [
        max(len(text) for text in column)
        for column in zip(
            *((_line_of(one), plan.starred(one.about.path)) for one in found), strict=True
        )
    ]
    for one in found:
        reason = f"{one.reason} (allowed)" if one.allowed else one.reason
        page.columns(
            [(_line_of(one), plan.starred(one.about.path), Cell(reason, style))],
            indent="  ",
            least=widths,
        )
        page.sentence(plan.starred(one.message), indent="    ")
        if one.hint:
            word = "hint: " if one.trail.refused else ""
            page.line(f"    {word}{plan.starred(one.hint)}")


def _line_of(one: Verdicted) -> str:
    """File and line; `-` for what came of a decision."""
    return one.place.rpartition(":")[0] or "-"


def facts(plan: Planned) -> dict[str, Any]:
    """A plan as machine formats tell it."""
    tally = counts(plan.found)
    signs = [row.sign for row in plan.rows]
    return {
        "world": {
            "objects": len(plan.played.placed),
            "files": plan.played.files,
            "standIns": list(plan.played.stand_ins),
        },
        "changes": [_change(row) for row in plan.rows],
        "findings": [_finding(one) for one in plan.found],
        "passes": [_pass(one) for one in plan.passes],
        "summary": {
            "passes": plan.rounds,
            "create": signs.count(CREATED),
            "change": signs.count(CHANGED),
            "delete": signs.count(GONE),
            **tally,
        },
    }


def name_of(ref: Ref) -> dict[str, str]:
    """An object's name as machine formats tell it."""
    named = {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "name": ref.name}
    return {**named, "namespace": ref.namespace} if ref.namespace else named


def _change(row: Change) -> dict[str, Any]:
    words = {CREATED: "create", CHANGED: "change", GONE: "delete"}
    return {
        "action": words[row.sign],
        "object": name_of(row.ref),
        "generateName": row.minted or None,
        "by": row.by,
        "passes": list(row.passes) if row.passes else [],
        "note": row.note,
        "values": [
            {
                "key": value.key,
                "privateKey": value.private_key,
                "certificates": [
                    {
                        "subject": one.subject,
                        "expires": format_time(one.not_after),
                        "sha256": one.sha256,
                    }
                    for one in value.certificates
                ],
            }
            for value in row.values
        ],
    }


def _finding(one: Verdicted) -> dict[str, Any]:
    return {
        "verdict": one.how,
        "key": name_of(one.key),
        "object": name_of(one.about),
        "reason": one.reason,
        "message": one.message,
        "place": one.place,
        "allowed": one.allowed,
        "next": [{"commands": list(n.commands), "effect": n.effect} for n in one.trail.next],
        "wakes": one.trail.wakes,
    }


def _pass(one: Pass) -> dict[str, Any]:
    return {
        "number": one.number,
        "by": one.controller,
        "key": name_of(one.key),
        "writes": [str(write) for write in one.writes],
        "then": one.reason,
    }


def report(form: str, plan: Planned, meanings: Mapping[str, str]) -> str:
    """The refusals and warnings for another program; what only waits is none of them."""
    problems = [
        reports.Problem(
            "warning" if one.allowed else _LEVELS[one.how],
            one.key.path,
            one.about.path,
            one.reason,
            one.message,
            one.hint,
            one.place,
        )
        for one in plan.found
        if one.how in _LEVELS
    ]
    if form == "junit":
        keys = [key.path for key in plan.played.decisions]
        return reports.junit("roadstead plan", keys, problems)
    if form == "sarif":
        return reports.sarif(problems, dict(meanings))
    return reports.github(problems)
