"""`roadstead check`: whether a cluster is ready for an installation, or an installation is well."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from roadstead.cli import inputs
from roadstead.cli.options import (
    Color,
    Context,
    Kubeconfig,
    NoColor,
    Output,
    SettingsFile,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import Cell, Screen, counted, machine
from roadstead.cli.reports import Problem, junit
from roadstead.deploy.rbac import HOME
from roadstead.errors import InputError
from roadstead.explain.checks import ERROR, GROUPS, OK, UNASKED, WARNING, Facts, Outcome, judge
from roadstead.explain.checks.facts import Stated
from roadstead.kube.names import is_label

EXAMPLES = (
    "roadstead check --pre",
    "roadstead check --pre --platform-values cozystack-platform.yaml",
    "roadstead check -n roadstead-system",
    "roadstead check -o junit > check.xml",
)
app = application()

FORMATS = ("table", "short", "json", "yaml", "junit")
_SIGNS = {OK: "✔", WARNING: "!", ERROR: "✗", UNASKED: "?"}
_PLAIN = {OK: "+", WARNING: "!", ERROR: "x", UNASKED: "?"}
_STYLES = {OK: "green", WARNING: "yellow", ERROR: "red", UNASKED: "yellow"}
_TITLE = 51
"""Columns keep their place from one group to the next."""
_LEVELS = {ERROR: "error", WARNING: "warning"}

Pre = Annotated[bool, typer.Option("--pre", help="Look before anything is installed.")]
Home = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NAME", help="Where Roadstead is installed.")
]
Values = Annotated[
    str,
    typer.Option("--platform-values", metavar="FILE", help="The platform's values, as YAML."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="A warning, and what could not be checked, fails as well."),
]


@app.command()
def check(
    *,
    pre: Pre = False,
    home: Home = HOME,
    settings: SettingsFile = "",
    platform_values: Values = "",
    strict: Strict = False,
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Check a cluster before an installation, or an installation; 1 when something is wrong.

    Everything is asked with your own rights; what you may not read is `not checked`, never
    absent. Nothing is written: a creation is tried as a dry run, to see whether the webhook
    answers. Formats: table, short, json, yaml, junit.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color)
    if not is_label(home):
        raise InputError(f"`{home}` is no name of a namespace")
    stated = _stated(settings, platform_values)
    outcomes = judge(_facts(home, stated, kubeconfig, context, pre=pre))
    if form in {"json", "yaml"}:
        page.write(machine(form, "Check", facts_of(outcomes, pre=pre)))
    elif form == "junit":
        page.write(_junit(outcomes))
    elif form == "short":
        _short(page, outcomes)
    else:
        _table(page, outcomes)
    failing = {ERROR, WARNING, UNASKED} if strict else {ERROR}
    return 1 if any(one.found.level in failing for one in outcomes) else 0


def _stated(settings: str, platform_values: str) -> Stated:
    """What the files say.

    Raises: InputError.
    """
    told = inputs.given(settings, "", ())
    values = None
    if platform_values:
        found, problems = inputs.platform_values(inputs.read(platform_values), platform_values)
        if found is None:
            raise problems[0]
        values = found.value
    return Stated(values, platform_values, told.settings.attachment_tenant_classes)


def _facts(home: str, stated: Stated, kubeconfig: str, context: str, *, pre: bool) -> Facts:
    from roadstead.cli.session import ask  # noqa: PLC0415 - the HTTP client takes half a second
    from roadstead.cli.survey import Asked, survey  # noqa: PLC0415 - as above

    wanted = Asked(home, pre, stated)
    return ask(kubeconfig, context, lambda client: survey(client, wanted))


def facts_of(outcomes: Sequence[Outcome], *, pre: bool) -> dict[str, Any]:
    """The outcomes as machine formats tell them."""
    return {
        "phase": "before" if pre else "after",
        "checks": [
            {
                "name": one.check.name,
                "group": one.check.group,
                "title": one.title,
                "result": one.found.level,
                "message": one.found.said,
                "details": list(one.found.more),
                "see": one.check.anchor,
            }
            for one in outcomes
        ],
        "counts": {
            "ok": _count(outcomes, OK),
            "errors": _count(outcomes, ERROR),
            "warnings": _count(outcomes, WARNING),
            "notChecked": _count(outcomes, UNASKED),
        },
    }


def _count(outcomes: Sequence[Outcome], level: str) -> int:
    return sum(one.found.level == level for one in outcomes)


def _table(page: Screen, outcomes: Sequence[Outcome]) -> None:
    signs = _SIGNS if page.has_signs else _PLAIN
    for group in GROUPS:
        mine = [one for one in outcomes if one.check.group == group]
        if mine:
            page.line(page.paint(group, "bold"))
        for one in mine:
            _row(page, signs[one.found.level], one)
    page.line()
    page.line(_summary(outcomes))


def _row(page: Screen, sign: str, one: Outcome) -> None:
    level = one.found.level
    said = f"not checked: {one.found.said}" if level == UNASKED else one.found.said
    cells = (Cell(f"{sign} {one.title}", _STYLES[level]), said)
    page.columns([cells], indent="  ", least=(_TITLE,))
    for line in one.found.more:
        page.sentence(line, "      ")
    if level != OK:
        page.line(page.paint(f"      see {one.check.anchor}", "dim"))


def _summary(outcomes: Sequence[Outcome]) -> str:
    errors, warnings = _count(outcomes, ERROR), _count(outcomes, WARNING)
    levels = ((errors, "error"), (warnings, "warning"))
    parts = [counted(count, noun) for count, noun in levels if count]
    found = errors + warnings
    said = f"{counted(found, 'problem')}: {', '.join(parts)}" if found else "no problem"
    gaps = _count(outcomes, UNASKED)
    return f"{said}; {gaps} not checked" if gaps else said


def _short(page: Screen, outcomes: Sequence[Outcome]) -> None:
    """A line for each thing that is wrong or was not checked, and none for what is well."""
    for one in outcomes:
        if one.found.level == OK:
            continue
        said = "; ".join(part for part in (one.title, one.found.said, *one.found.more) if part)
        page.line(f"{one.found.level}: {one.check.name}: {said}")


def _junit(outcomes: Sequence[Outcome]) -> str:
    problems = [
        Problem(
            _LEVELS.get(one.found.level, "note"),
            one.check.name,
            one.check.name,
            one.found.level,
            ": ".join(part for part in (one.title, one.found.said) if part),
            "\n".join((*one.found.more, f"see {one.check.anchor}")),
        )
        for one in outcomes
        if one.found.level != OK
    ]
    return junit("roadstead check", [one.check.name for one in outcomes], problems)
