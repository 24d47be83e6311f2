"""`roadstead docs REASON`: what one reason means, why it comes, and what to do."""

from difflib import get_close_matches
from typing import Annotated

import typer

from roadstead.capabilities.anchors.api import REASONS, Reason
from roadstead.cli.options import Color, NoColor, Output, application, chosen, screen
from roadstead.cli.out import Cell, as_json, as_yaml
from roadstead.errors import InputError

EXAMPLES = ("roadstead docs CACertPrivateKeyRefused", "roadstead docs")
app = application()


@app.command()
def docs(
    reason: Annotated[str, typer.Argument(metavar="REASON", help="A reason; without: all.")] = "",
    output: Output = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the page of one reason, or the list of all of them.

    Formats: table, json, yaml.
    """
    form = chosen(output, ("table", "json", "yaml"))
    page = screen(color, no_color)
    found = (find(reason),) if reason else REASONS
    facts = {"reasons": [facts_of(one) for one in found]}
    if form == "json":
        page.write(as_json("Reasons", facts))
    elif form == "yaml":
        page.write(as_yaml("Reasons", facts))
    elif reason:
        page.line(page.paint(found[0].name, "bold"))
        page.columns(_lines(found[0]), indent="  ")
    else:
        rows = [(Cell(one.name), one.state, one.meaning) for one in found]
        page.table(("REASON", "STATE", "MEANING"), rows)
    return 0


def find(name: str) -> Reason:
    """The reason of a name, whatever its letter case.

    Raises: InputError with the nearest there is.
    """
    for reason in REASONS:
        if reason.name.lower() == name.lower():
            return reason
    near = get_close_matches(name, [reason.name for reason in REASONS], n=1, cutoff=0.4)
    raise InputError(
        f"there is no reason `{name}`",
        hint=f"did you mean `{near[0]}`?" if near else "roadstead docs lists all of them",
    )


def facts_of(reason: Reason) -> dict[str, str | None]:
    """A reason as machine formats show it."""
    return {
        "name": reason.name,
        "state": reason.state,
        "eventOn": reason.about or None,
        "meaning": reason.meaning,
        "cause": reason.cause,
        "remedy": reason.remedy,
    }


def _lines(reason: Reason) -> list[tuple[str, str]]:
    on = f"a Warning on the {reason.about}" if reason.about else "none"
    return [
        ("meaning", reason.meaning),
        ("cause", reason.cause),
        ("remedy", reason.remedy),
        ("state", reason.state),
        ("event", on),
    ]
