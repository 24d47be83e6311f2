"""`roadstead plan`: what the controllers would do to a world of files, and what they refuse."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from roadstead.cli import inputs, planned
from roadstead.cli.offline import offline
from roadstead.cli.options import (
    Allowed,
    Color,
    Context,
    Files,
    Kubeconfig,
    Namespace,
    NoColor,
    Output,
    Quiet,
    SettingsFile,
    SourcesFile,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import machine, tell
from roadstead.errors import InputError
from roadstead.explain.changes import GONE, Change, changes, passes_of
from roadstead.explain.subjects import MEANINGS
from roadstead.explain.verdicts import REFUSED, WARNED, verdicts
from roadstead.explain.world import Played
from roadstead.kube.nearest import did_you_mean
from roadstead.sim.actors import STAND_INS, ordered
from roadstead.sim.settle import DoesNotSettleError

EXAMPLES = (
    "roadstead plan -f tenant-blue/ -f platform.yaml",
    "kubectl get helmrelease,applicationdefinition -A -o yaml | roadstead plan -f -",
    "roadstead plan -f next/ --against current/ --exit-code -o json",
)
app = application()

FORMATS = ("table", "json", "yaml", "junit", "sarif", "github")
FAIL_ON = {"refuse": (REFUSED,), "warn": (REFUSED, WARNED), "never": ()}
CLUSTER = "cluster"

FailOn = Annotated[
    str, typer.Option("--fail-on", metavar="LEVEL", help="Exit with 1: refuse, warn or never.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="REASON=NS/NAME",
        help="Accept this refusal of this object. Repeatable.",
    ),
]
Against = Annotated[
    str,
    typer.Option("--against", metavar="DIR|cluster", help="Show changes relative to that."),
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 on any change.")]
Observed = Annotated[
    list[str] | None,
    typer.Option("--observed", metavar="DIR", help="Objects that are there already. Repeatable."),
]
StandIns = Annotated[
    str,
    typer.Option(
        "--stand-ins",
        metavar="NAMES",
        help="Neighbours that act; else all with something to do. `none` leaves them silent.",
    ),
]
Steps = Annotated[bool, typer.Option("--steps", help="Print every pass.")]


@app.command()
def plan(
    *,
    files: Files = None,
    observed: Observed = None,
    against: Against = "",
    namespace: Namespace = "",
    settings: SettingsFile = "",
    ca_sources_file: SourcesFile = "",
    allow_withdrawals: Allowed = None,
    stand_ins: StandIns = "",
    allow: Allow = None,
    fail_on: FailOn = "refuse",
    exit_code: ExitCode = False,
    steps: Steps = False,
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> int:
    """Play files in the offline world and print what changes and what is refused.

    Nothing is written and no socket is opened; --against cluster alone reads, with your rights.
    Formats: table, json, yaml, junit, sarif, github.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color, quiet=quiet)
    if not files:
        raise InputError("nothing to plan", hint="give files or folders with -f, or `-f -`")
    levels = _levels(fail_on)
    accepted = _accepted(allow or ())
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, allow_withdrawals or (), start=start)
    if stand_ins:
        told = replace(told, stand_ins=_acting(stand_ins))
    try:
        played = offline(files, told, observed=observed or ())
    except DoesNotSettleError as error:
        return _endless(error)
    rows = _rows(played, against, kubeconfig, context, namespace)
    found = tuple(one for one in verdicts(played, accepted) if namespace in {"", one.key.namespace})
    result = planned.Planned(played, rows, found, passes_of(played) if steps else ())
    if form in {"json", "yaml"}:
        page.write(machine(form, "Plan", planned.facts(result)))
    elif form == "table":
        planned.show(page, result)
    else:
        page.write(planned.report(form, result, MEANINGS))
    met = {(one.reason, ref.key) for one in found for ref in (one.key, one.about)}
    for reason, name in accepted:
        if (reason, name) not in met:
            page.talk(f"note: `--allow {reason}={name}` allows nothing that was met")
    refused = any(one.how in levels and not one.allowed for one in found)
    return 1 if refused or (exit_code and rows) else 0


def _levels(fail_on: str) -> tuple[str, ...]:
    if fail_on not in FAIL_ON:
        hint = did_you_mean(fail_on, FAIL_ON, f"use {', '.join(FAIL_ON)}")
        raise InputError(f"`--fail-on {fail_on}` is unknown", hint=hint)
    return FAIL_ON[fail_on]


def _accepted(allow: Sequence[str]) -> list[tuple[str, str]]:
    """Read `REASON=namespace/name`."""
    pairs = []
    for one in allow:
        reason, equals, name = one.partition("=")
        if not equals or not name:
            raise InputError(
                f"`--allow {one}` names no object", hint="write it as REASON=namespace/name"
            )
        if reason not in MEANINGS:
            hint = did_you_mean(reason, MEANINGS, "roadstead docs lists the reasons")
            raise InputError(f"`--allow {one}` names no reason", hint=hint)
        pairs.append((reason, name))
    return pairs


def _acting(stand_ins: str) -> tuple[str, ...]:
    """Read `--stand-ins`."""
    names = [name for name in stand_ins.split(",") if name and name != "none"]
    for name in names:
        if name not in STAND_INS:
            known = ", ".join(["none", *STAND_INS])
            hint = did_you_mean(name, STAND_INS, f"use {known}")
            raise InputError(f"there is no stand-in `{name}`", hint=hint)
    return ordered(names)


def _rows(
    played: Played, against: str, kubeconfig: str, context: str, namespace: str
) -> tuple[Change, ...]:
    if not against:
        imagined = played.imagined  # what a stand-in does; what goes because of ours is not
        every = changes(played)
        rows = tuple(row for row in every if row.sign == GONE or row.ref not in imagined)
    elif against == CLUSTER:
        from roadstead.cli.session import baseline  # noqa: PLC0415 - slow to load

        rows = changes(played, baseline(played, kubeconfig, context))
    else:
        rows = changes(played, planned.baseline_of(against, played))
    return tuple(row for row in rows if namespace in {"", row.ref.namespace})


def _endless(error: DoesNotSettleError) -> int:
    tell(sys.stderr, "error: the world does not settle")
    tell(sys.stderr, f"  {error.message}")
    for step in error.steps:
        for write in step.writes:
            tell(sys.stderr, f"  pass {step.number}: {step.controller} {write}")
    return 2
