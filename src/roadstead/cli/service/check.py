"""`roadstead service check`: every finding, and whether the tree on disk is what is rendered."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.out import Screen
from roadstead.cli.reports import Problem
from roadstead.cli.service.compare import BYTES, Difference, differences
from roadstead.cli.service.judged import judge
from roadstead.cli.service.rendering import tree_of
from roadstead.cli.service.session import (
    Catalogs,
    Core,
    PlatformFile,
    SecretsFolder,
    begin,
    uncollected,
)
from roadstead.cli.service.told import FORMATS, Strict, answers_no, ended, show, summary

EXAMPLES = (
    "roadstead service check -f examples/services --platform examples/platform.yaml",
    "roadstead service check -f catalog/ --platform platform.yaml --out rendered/ --strict",
)
app = application()

TREE = "tree"
"""What a difference of the tree has in the place of a check's id."""

Compared = Annotated[
    str, typer.Option("--out", metavar="DIR", help="The output tree that is compared.")
]
Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH...", help="The same as -f PATH.")]


@app.command()
def check(
    paths: Paths = None,
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
    secrets: SecretsFolder = "",
    out: Compared = "",
    core: Core = False,
    strict: Strict = False,
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Say everything that is found, and with --out whether the tree there is up to date.

    The tree is compared by content and automation's marks; a file that only looks different is
    told as info. Exit code 1 on an error or policy finding, or when the tree differs.
    Formats: table, json, yaml, junit, sarif, github.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color, quiet=quiet)
    with uncollected():
        session = begin([*(paths or ()), *(files or ())], platform, secrets=secrets, core=core)
        made = judge(session, Path(out) if out else None)
        compared = bool(out) and not made.stops
        found = differences(tree_of(made, session.shown), Path(out)) if compared else ()
    told = {"differences": [_facts(one) for one in found]} if out else {}
    show(
        page,
        form,
        "check",
        made.findings,
        list(made.snapshots),
        further=[_problem(one) for one in found],
        **told,
    )
    if form == "table":
        _table(page, found)
    page.talk(summary(made.findings))
    if out:
        page.talk(_compared(out, found, stopped=made.stops))
    different = any(one.how != BYTES for one in found)
    answer = answers_no(made.findings, strict=strict) or different
    return ended(int(answer), session.problems)


def _compared(out: str, found: Sequence[Difference], *, stopped: bool) -> str:
    if stopped:
        return f"{out} was not compared, since an error stops the rendering"
    count = sum(one.how != BYTES for one in found)
    if not count:
        return f"{out} is up to date"
    return f"{out} differs in {count} {'places' if count > 1 else 'place'}"


def _facts(one: Difference) -> dict[str, str]:
    return {"path": one.path, "how": one.how, "object": one.about}


def _problem(one: Difference) -> Problem:
    level = "note" if one.how == BYTES else "error"
    about = one.about or one.path
    return Problem(level, one.path, about, TREE, f"{about} {one.words}", place=one.path)


def _table(page: Screen, found: Sequence[Difference]) -> None:
    for one in found:
        severity = "info" if one.how == BYTES else "different"
        about = f" {one.about}" if one.about else ""
        style = "dim" if one.how == BYTES else "yellow"
        page.line(f"{one.path}: {page.paint(severity, style)}:{about} {one.words}")
