"""`roadstead status`: one row for everything that is owed, with your rights."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from roadstead.capabilities import CONTROLLERS
from roadstead.cli import inputs
from roadstead.cli.offline import offline
from roadstead.cli.options import (
    Allowed,
    Color,
    Context,
    Everywhere,
    Files,
    Kubeconfig,
    Namespace,
    NoColor,
    Output,
    SettingsFile,
    SourcesFile,
    application,
    chosen,
    one_or_all,
    screen,
)
from roadstead.cli.out import Cell, Screen, machine
from roadstead.decision import Decision
from roadstead.errors import InputError
from roadstead.explain.rows import Row, latest
from roadstead.explain.subject import Judged, Subject
from roadstead.explain.subjects import SUBJECTS
from roadstead.explain.trail import stop_of
from roadstead.explain.world import Played
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_age, format_time, parse_duration
from roadstead.sim.settle import drive

EXAMPLES = (
    "roadstead status -A",
    "roadstead status -n tenant-blue -q",
    "roadstead status -A --wait 2m",
)
app = application()

FORMATS = ("table", "wide", "json", "yaml", "name")
PERIOD = 2.0
"""Seconds between two looks of `--watch` and `--wait`."""
WIDEST_AGE = 5
"""Columns keep their place from one look to the next."""
_RESOURCES = {one.kind: one.resource for one in SUBJECTS}
_STYLES = {"True": "green", "False": "red", "Unknown": "yellow", "-": "dim"}

Unready = Annotated[bool, typer.Option("--quiet", "-q", help="Print only what is not ready.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Print again on every change.")]
Wait = Annotated[
    str, typer.Option("--wait", metavar="TIME", help="Wait until all is ready, at most so long.")
]


@app.command()
def status(
    *,
    namespace: Namespace = "",
    everywhere: Everywhere = False,
    files: Files = None,
    quiet: Unready = False,
    watch: Watch = False,
    wait: Wait = "",
    settings: SettingsFile = "",
    ca_sources_file: SourcesFile = "",
    allow_withdrawals: Allowed = None,
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the state of every trust anchor, attachment and gateway; 1 when one is not ready.

    `Pending` is what the controller has still to do, `-` a release that owes nothing, `Unknown`
    what you may not read, or what is not reported yet. Formats: table, wide, json, yaml, name.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color)
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, allow_withdrawals or (), start=start)
    if files and (watch or wait):
        raise InputError("files do not change by themselves", hint="leave out --watch and --wait")
    one_or_all(namespace, everywhere=everywhere)
    patience = _patience(wait)
    if files:
        found = Found(_offline(files, namespace, told))
        _print(page, form, found, told.now, quiet=quiet)
        return _code(found)
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    space = session.space(kubeconfig, context, namespace, everywhere=everywhere)
    place = inputs.Place(kubeconfig, context, space, told.settings)
    found = _live(place)
    if wait:
        found = _until(patience, found, place)
    _print(page, form, found, inputs.wall(), quiet=quiet)
    while watch and not page.closed:
        time.sleep(PERIOD)
        newer = _live(place)
        if _facts_of(newer.rows) != _facts_of(found.rows):
            _print(page, form, newer, inputs.wall(), quiet=quiet)
        found = newer
    return _code(found)


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of one look. notes: what could not be asked."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def _code(found: Found) -> int:
    return 0 if all(one.fine for one in found.rows) else 1


def _patience(wait: str) -> timedelta:
    if not wait:
        return timedelta(0)
    try:
        return parse_duration(wait)
    except ValueError as error:
        raise InputError(f"--wait: {error}") from None


def _until(patience: timedelta, found: Found, place: inputs.Place) -> Found:
    """Look again until all is ready or patience has run out."""
    from roadstead.cli.progress import spinner  # noqa: PLC0415 - only a wait shows one

    end = time.monotonic() + patience.total_seconds()
    with spinner("waiting until all is ready") as turn:
        while not all(one.fine for one in found.rows) and time.monotonic() < end:
            turn(f"{sum(not one.fine for one in found.rows)} of {len(found.rows)} not ready")
            time.sleep(min(PERIOD, max(0.0, end - time.monotonic())))
            found = _live(place)
    return found


def _offline(files: Sequence[str], namespace: str, told: inputs.Given) -> tuple[Row, ...]:
    played = offline(files, told)

    async def look(key: Ref) -> Judged | None:
        found = played.last(key)
        return Judged(_whole(played, key, *found)) if found else None

    rows: list[Row | None] = []
    for subject in SUBJECTS:
        if told.only and subject.controller.name not in told.only:
            continue
        there = filter(subject.view.selects, played.world.store.all(subject.view.kind))
        seen = [one for one in there if namespace in {"", one.meta.namespace}]
        rows += [drive(subject.row(one, look, told.now)) for one in seen]
    return _sorted(rows)


def _whole(played: Played, key: Ref, name: str, decision: Decision) -> Decision:
    """A decision with what it wants: what was done is not remembered, the same is wanted again."""
    if stop_of(decision) is not None:
        return decision
    again = played.again(key, CONTROLLERS[name]).decision
    return again if again.state == decision.state else decision


def _sorted(rows: Iterable[Row | None]) -> tuple[Row, ...]:
    return tuple(sorted((one for one in rows if one is not None), key=lambda one: one.order))


def _live(place: inputs.Place) -> Found:
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    async def question(client: Any) -> Found:
        asked = [one for one in SUBJECTS if _has_rows_in(one, place.namespace)]
        look = session.look(client, place.namespace, place.settings, asked)
        await look.fill(view for subject in asked for view in subject.listed)
        events = await look.events()
        now = look.reader().now
        rows: list[Row | None] = []
        notes = []
        for subject in asked:

            async def judged(key: Ref, about: Any = subject.about) -> Judged | None:
                passed = await look.judge(key)
                if passed.gone:
                    return None
                told = latest(events, about(key, passed.decision))
                return Judged(passed.decision, passed.outcomes, passed.error, told)

            there = look.objects(subject)
            rows += [await subject.row(seen, judged, now) for seen in there]
            if why := look.missing(subject):
                notes.append(f"{_many(len(there), subject)}not asked: {why}")
        return Found(_sorted(rows), tuple(notes))

    return session.ask(place.kubeconfig, place.context, question)


def _has_rows_in(subject: Subject, namespace: str) -> bool:
    """Whether a capability may have a row in a namespace; empty for all."""
    return subject.single is None or namespace in {"", subject.single.namespace}


def _many(count: int, subject: Subject) -> str:
    """How many wait for what is missing; nothing where they are not known themselves."""
    return f"{count} {subject.noun if count == 1 else f'{subject.noun}s'} " if count else ""


def _print(page: Screen, form: str, found: Found, now: datetime, *, quiet: bool) -> None:
    shown = [one for one in found.rows if not (quiet and one.fine)]
    if form in {"json", "yaml"}:
        page.write(machine(form, "Status", {"items": [facts(one, now) for one in shown]}))
    elif form == "name":
        for one in shown:
            page.line(f"{_RESOURCES[one.kind]}/{one.key.name}")
    elif shown or not quiet:
        _table(page, shown, wide=form == "wide")
    if not found.rows and form in {"table", "wide"}:
        page.talk("nothing is owed here: no application release, attachment or tenant gateway")
    for note in () if quiet else found.notes:
        page.talk(note)
    page.flush()


def _table(page: Screen, rows: Sequence[Row], *, wide: bool) -> None:
    headers = ["NAMESPACE", "KIND", "NAME", "READY", "REASON", f"{'AGE':<{WIDEST_AGE}}"]
    headers += ["STATE", "LAST EVENT"] if wide else []
    cells = []
    for one in rows:
        line: list[str | Cell] = [
            one.key.namespace,
            one.kind,
            one.key.name,
            Cell(one.ready, _STYLES[one.ready]),
            one.reason,
            format_age(one.age),
        ]
        line += [one.state, one.event] if wide else []
        cells.append((*line, one.about))
    there = {one.kind for one in rows}
    columns = dict.fromkeys(one.column for one in SUBJECTS if one.kind in there or not there)
    page.table((*headers, "; ".join(columns)), cells)


def _facts_of(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [(one.kind, one.key, one.ready, one.reason, one.about) for one in rows]


def facts(one: Row, now: datetime) -> dict[str, Any]:
    """A row as machine formats tell it."""
    return {
        "kind": one.kind,
        "namespace": one.key.namespace,
        "name": one.key.name,
        "ready": {"True": True, "False": False}.get(one.ready),
        "reason": one.reason,
        "state": one.state,
        "message": one.about,
        "addresses": list(one.addresses),
        "source": one.source or None,
        "expires": one.expires or None,
        "since": format_time(now - one.age),
        "lastEvent": one.event or None,
    }
