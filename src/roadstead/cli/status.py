"""`roadstead status`: one row for each application release, judged now and with your rights."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from roadstead.capabilities.anchors.api import PUBLISHED
from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.cli import inputs
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
    screen,
)
from roadstead.cli.out import Cell, Screen, as_json, as_yaml
from roadstead.errors import InputError
from roadstead.explain.rows import KIND, Row, latest, row
from roadstead.explain.trail import anchor_of
from roadstead.explain.world import play
from roadstead.kube.refs import HELM_RELEASE
from roadstead.kube.times import format_age, format_time, parse_duration
from roadstead.settings import Settings

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
_STYLES = {"True": "green", "False": "red", "Unknown": "yellow", "-": "dim"}

Unready = Annotated[bool, typer.Option("--quiet", "-q", help="Print only what is not ready.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Print again on every change.")]
Wait = Annotated[
    str, typer.Option("--wait", metavar="TIME", help="Wait until all is ready, at most so long.")
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cluster is looked at. namespace: empty for all."""

    kubeconfig: str
    context: str
    namespace: str
    settings: Settings


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
    """Print the state of every trust anchor; exit code 1 when one is not ready.

    `Pending` is an anchor that is still to be written, `-` a release that owes none, `Unknown`
    one whose Secrets you may not read. Formats: table, wide, json, yaml, name.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color)
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, allow_withdrawals or (), start=start)
    if files and (watch or wait):
        raise InputError("files do not change by themselves", hint="leave out --watch and --wait")
    if everywhere and namespace:
        raise InputError("--all-namespaces and --namespace exclude each other")
    patience = _patience(wait)
    if files:
        rows = _offline(files, namespace, told)
        _print(page, form, rows, told.now, quiet=quiet)
        return _code(rows)
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    space = "" if everywhere else namespace or session.namespace_of(kubeconfig, context)
    place = Place(kubeconfig, context, space, told.settings)
    rows = _live(place)
    if wait:
        rows = _until(patience, rows, place)
    _print(page, form, rows, inputs.wall(), quiet=quiet)
    while watch and not page.closed:
        time.sleep(PERIOD)
        newer = _live(place)
        if _facts_of(newer) != _facts_of(rows):
            _print(page, form, newer, inputs.wall(), quiet=quiet)
        rows = newer
    return _code(rows)


def _code(rows: Sequence[Row]) -> int:
    return 0 if all(one.fine for one in rows) else 1


def _patience(wait: str) -> timedelta:
    if not wait:
        return timedelta(0)
    try:
        return parse_duration(wait)
    except ValueError as error:
        raise InputError(f"--wait: {error}") from None


def _until(patience: timedelta, rows: tuple[Row, ...], place: Place) -> tuple[Row, ...]:
    """Look again until all is ready or patience has run out."""
    from roadstead.cli.progress import spinner  # noqa: PLC0415 - only a wait shows one

    end = time.monotonic() + patience.total_seconds()
    with spinner("waiting for trust anchors") as turn:
        while not all(one.fine for one in rows) and time.monotonic() < end:
            turn(f"{sum(not one.fine for one in rows)} of {len(rows)} not ready")
            time.sleep(min(PERIOD, max(0.0, end - time.monotonic())))
            rows = _live(place)
    return rows


def _offline(files: Sequence[str], namespace: str, told: inputs.Given) -> tuple[Row, ...]:
    played = play(files, told.settings, told.now, inputs.stdin, only=told.only)
    rows = []
    for key, (_, decision) in played.decisions.items():
        release = played.world.store.get(key) if key.kind == HELM_RELEASE else None
        if release is None or namespace not in {"", key.namespace}:
            continue
        if decision.state == PUBLISHED:
            # What was published is not remembered; what would be published now is the same.
            decision = played.again(key, ANCHORS).decision  # noqa: PLW2901 - the same, whole
        rows.append(row(release, decision, (), told.now))
    return tuple(one for one in rows if one is not None)


def _live(place: Place) -> tuple[Row, ...]:
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    async def question(client: Any) -> tuple[Row, ...]:
        look = await session.look(client, place.namespace, place.settings)
        releases = look.releases()
        events = await look.events()
        now = look.reader().now
        rows = []
        for release in releases:
            passed = await look.judge(release.ref)
            if passed.gone:
                continue
            about = {release.ref, anchor_of(release.ref), *passed.decision.wakes}
            told = ": ".join(part for part in latest(events, about) if part)
            rows.append(
                row(
                    release,
                    passed.decision,
                    passed.outcomes,
                    now,
                    error=passed.error,
                    event=told,
                )
            )
        return tuple(one for one in rows if one is not None)

    return session.ask(place.kubeconfig, place.context, question)


def _print(page: Screen, form: str, rows: tuple[Row, ...], now: datetime, *, quiet: bool) -> None:
    shown = [one for one in rows if not (quiet and one.fine)]
    if form in {"json", "yaml"}:
        write = as_json if form == "json" else as_yaml
        page.write(write("Status", {"items": [facts(one, now) for one in shown]}))
    elif form == "name":
        for one in shown:
            page.line(f"{KIND.lower()}/{one.key.name}")
    elif shown or not quiet:
        _table(page, shown, wide=form == "wide")
    if not rows and form in {"table", "wide"}:
        page.talk("no application release is there")
    page.flush()


def _table(page: Screen, rows: Sequence[Row], *, wide: bool) -> None:
    headers = ["NAMESPACE", "KIND", "NAME", "READY", "REASON", f"{'AGE':<{WIDEST_AGE}}"]
    headers += ["STATE", "LAST EVENT"] if wide else []
    cells = []
    for one in rows:
        line: list[str | Cell] = [
            one.key.namespace,
            KIND,
            one.key.name,
            Cell(one.ready, _STYLES[one.ready]),
            one.reason,
            format_age(one.age),
        ]
        line += [one.state, one.event] if wide else []
        cells.append((*line, one.about))
    page.table((*headers, "SOURCE, EXPIRY"), cells)


def _facts_of(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [(one.key, one.ready, one.reason, one.about) for one in rows]


def facts(one: Row, now: datetime) -> dict[str, Any]:
    """A row as machine formats tell it."""
    return {
        "kind": KIND,
        "namespace": one.key.namespace,
        "name": one.key.name,
        "ready": {"True": True, "False": False}.get(one.ready),
        "reason": one.reason,
        "state": one.state,
        "message": one.about,
        "source": one.source or None,
        "expires": one.expires or None,
        "since": format_time(now - one.age),
        "lastEvent": one.event or None,
    }
