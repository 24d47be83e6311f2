"""`roadstead docs WORD`: what a reason or a check means, why it comes, and what to do."""

from difflib import get_close_matches
from typing import Annotated

import typer

from roadstead.cli.options import Color, NoColor, Output, application, chosen, screen
from roadstead.cli.out import Cell, as_json, as_yaml
from roadstead.errors import InputError
from roadstead.explain.subjects import CHECKS, REASONS
from roadstead.kube.reasons import Reason

EXAMPLES = ("roadstead docs CACertPrivateKeyRefused", "roadstead docs P-SEC-01", "roadstead docs")
app = application()

WORDS = (*REASONS, *CHECKS)


@app.command()
def docs(
    reason: Annotated[
        str, typer.Argument(metavar="REASON", help="A reason or a check; without: all.")
    ] = "",
    output: Output = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the page of one reason or check, or the list of all of them.

    Formats: table, json, yaml.
    """
    form = chosen(output, ("table", "json", "yaml"))
    page = screen(color, no_color)
    found = find(reason) if reason else WORDS
    facts = {"reasons": [facts_of(*one) for one in found]}
    if form == "json":
        page.write(as_json("Reasons", facts))
    elif form == "yaml":
        page.write(as_yaml("Reasons", facts))
    elif reason:
        for number, (capability, one) in enumerate(found):
            if number:
                page.line()
            page.line(page.paint(one.name, "bold"))
            page.columns(_lines(capability, one), indent="  ")
    else:
        rows = [(Cell(one.name), name, one.state or "-", one.meaning) for name, one in found]
        page.table(("REASON", "CAPABILITY", "STATE", "MEANING"), rows)
    return 0


def find(name: str) -> tuple[tuple[str, Reason], ...]:
    """The reasons of a name, whatever its letter case, each with its capability.

    Raises: InputError with the nearest there is.
    """
    found = tuple(one for one in WORDS if one[1].name.lower() == name.lower())
    if found:
        return found
    names = list(dict.fromkeys(reason.name for _, reason in WORDS))
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    raise InputError(
        f"there is no reason or check `{name}`",
        hint=f"did you mean `{near[0]}`?" if near else "roadstead docs lists all of them",
    )


def facts_of(capability: str, reason: Reason) -> dict[str, str | None]:
    """A reason as machine formats show it."""
    return {
        "name": reason.name,
        "capability": capability,
        "state": reason.state,
        "eventOn": reason.about or None,
        "meaning": reason.meaning,
        "cause": reason.cause,
        "remedy": reason.remedy,
    }


def _lines(capability: str, reason: Reason) -> list[tuple[str, str]]:
    return [
        ("meaning", reason.meaning),
        ("cause", reason.cause),
        ("remedy", reason.remedy),
        ("of", capability),
        *_state(reason),
    ]


def _state(reason: Reason) -> list[tuple[str, str]]:
    """What carries the word: a state and an event, or the severity of a check's findings."""
    if any(reason is one for _, one in CHECKS):
        return [("severity", reason.state)]
    return [
        ("state", reason.state or "none"),
        ("event", f"on the {reason.about}" if reason.about else "none"),
    ]
