"""`roadstead service drift`: an output tree against a cluster, read-only.

Secrets are looked for by name; their values are never read.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.api.kinds import BY_NAME
from roadstead.capabilities.services.changes.drift import drift as differences
from roadstead.capabilities.services.changes.fields import Change
from roadstead.capabilities.services.changes.objects import Held, Key, objects_of
from roadstead.cli import session
from roadstead.cli.options import (
    Color,
    Context,
    Kubeconfig,
    NoColor,
    Output,
    Quiet,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import Screen, counted, machine
from roadstead.cli.service.tree import owned
from roadstead.errors import ClusterError, InputError
from roadstead.kube.refs import SECRET, Kind
from roadstead.runtime.client import Client

EXAMPLES = (
    "roadstead service drift rendered/",
    "roadstead service drift rendered/ --context home -o json",
)
app = application()

FORMATS = ("table", "json", "yaml")
MISSING, EXTRA, DIFFERENT, UNREAD = "missing", "extra", "different", "unread"
_AT_ONCE = 16
_FORBIDDEN = 403
_NOT_THERE = 404
_FAILED = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One object. how: missing, extra, different or unread. fields: in what it differs."""

    key: Key
    how: str
    note: str = ""
    fields: tuple[Change, ...] = ()


@app.command()
def drift(
    tree: Annotated[str, typer.Argument(metavar="TREE", help="The output tree.")],
    *,
    kubeconfig: Kubeconfig = "",
    context: Context = "",
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Tell which rendered objects are missing or different in the cluster, and which are extra.

    Only what was rendered is compared; what a server or another writer adds is no difference.
    Exit code 1 when anything differs, 2 when something may not be read.
    """
    page, form = screen(color, no_color, quiet=quiet), chosen(output, FORMATS)
    folder = Path(tree)
    paths = owned(folder)
    if not paths:
        raise InputError("holds no output tree", place=tree, hint="render one with --out")
    files = {path: (folder / path).read_bytes() for path in paths if (folder / path).is_file()}
    held = objects_of(files)
    label = _label(held.values())
    rows = session.ask(kubeconfig, context, lambda client: _rows(client, held, label))
    if form == "table":
        _table(page, rows)
        page.flush()
        page.talk(_summary(rows, len(held)))
    else:
        page.write(machine(form, "ServiceDrift", {"differences": [_facts(one) for one in rows]}))
    if any(one.how == UNREAD for one in rows):
        return _FAILED
    return int(bool(rows))


def _label(objects: Iterable[Held]) -> str:
    """The label of everything that is rendered for a service, whatever the platform's prefix."""
    for one in objects:
        for key in (one.body["metadata"].get("annotations") or {}) if one.body else ():
            if key.endswith("/requirements"):
                return f"{key.rpartition('/')[0]}/service"
    raise InputError("the tree holds no rendered object", hint="render it again")


async def _rows(client: Client, held: Mapping[Key, Held], label: str) -> list[Row]:
    """Ask for every object, some at once, and for what carries the label beside them."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Held) -> Row | None:
        async with gate:
            return await _of_object(client, each)

    asked = await asyncio.gather(*(one(held[key]) for key in sorted(held)))
    rows = [row for row in asked if row is not None]
    for kind in BY_NAME.values():
        rows += await _extra(client, kind, held, label)
    return sorted(rows, key=lambda row: (row.key, row.how))


async def _of_object(client: Client, held: Held) -> Row | None:
    kind = BY_NAME.get((str(held.body.get("apiVersion")), held.key.kind))
    if kind is None:
        return Row(held.key, UNREAD, "of a kind that is not known here")
    try:
        if kind == SECRET:
            found = await client.list_metadata(kind, held.key.namespace)
            names = {one.meta.name for one in found}
            return None if held.key.name in names else Row(held.key, MISSING)
        live = await client.get(kind.ref(held.key.namespace, held.key.name))
    except ClusterError as error:
        return _not_read(held.key, error)
    if live is None:
        return Row(held.key, MISSING)
    fields = differences(held, live.body)
    return Row(held.key, DIFFERENT, fields=fields) if fields else None


def _not_read(key: Key, error: ClusterError) -> Row:
    """What may not be read is unknown; a kind that is not served has no objects.

    Raises: the error, for everything else.
    """
    if error.status == _FORBIDDEN:
        return Row(key, UNREAD, "may not be read by you")
    if error.status == _NOT_THERE:
        return Row(key, MISSING, "its kind is not served")
    raise error


async def _extra(client: Client, kind: Kind, held: Mapping[Key, Held], label: str) -> Sequence[Row]:
    """Live objects of a kind that carry the label and are in no render."""
    try:
        found = await client.list_metadata(kind, labels=label)
    except ClusterError as error:
        if error.status in {_FORBIDDEN, _NOT_THERE}:
            return ()  # what is asked for by name has told of it already
        raise
    rows = []
    for live in found:
        key = Key(live.meta.namespace, kind.kind, live.meta.name, kind.group)
        if key not in held and not any(owner.controller for owner in live.owners):
            rows.append(Row(key, EXTRA))
    return rows


def _table(page: Screen, rows: Sequence[Row]) -> None:
    width = max((len(row.key.path) for row in rows), default=0)
    for row in rows:
        page.columns([(row.how, row.key.path, row.note)], least=(9, width))
        for line in _fields(row):
            page.line(f"           {line}")


def _fields(row: Row) -> Iterator[str]:
    for field in row.fields:
        yield field.words


def _summary(rows: Sequence[Row], objects: int) -> str:
    if not rows:
        return f"{counted(objects, 'object')}: none differs"
    kinds = (MISSING, EXTRA, DIFFERENT, UNREAD)
    counts = {how: sum(row.how == how for row in rows) for how in kinds}
    told = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
    return f"{counted(objects, 'object')}: {told}"


def _facts(row: Row) -> dict[str, Any]:
    return {
        "object": row.key.path,
        "how": row.how,
        "note": row.note,
        "fields": [{"path": one.path, "rendered": one.old, "live": one.new} for one in row.fields],
    }
