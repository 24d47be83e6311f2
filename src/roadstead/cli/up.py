"""`roadstead up`: a control plane of its own, an example in it, and the controllers at work."""

from pathlib import Path
from typing import Annotated

import typer

from roadstead.cli.options import Color, NoColor, Quiet, application, screen
from roadstead.errors import InputError
from roadstead.kube.nearest import did_you_mean

EXAMPLES = (
    "roadstead up --example anchors",
    "roadstead up --example attachments --once",
    "roadstead up --example gateways --once",
    "roadstead up --example all --once",
    "roadstead up --example list",
)
app = application()

WORLDS = Path(__file__).parent.parent / "examples"
LATER, ALL = "-later", "all"


@app.command()
def up(
    *,
    example: Annotated[
        str,
        typer.Option(
            "--example",
            metavar="NAME|DIR|all|list",
            help="The world to begin with; DIR-later follows, step by step.",
        ),
    ] = "anchors",
    once: Annotated[
        bool,
        typer.Option("--once", help="End when the example has settled; print what came of it."),
    ] = False,
    keep: Annotated[
        str, typer.Option("--keep", metavar="DIR", help="Save the objects there at the end.")
    ] = "",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The API server's port; 0 for a free one.")
    ] = 0,
    folder: Annotated[
        str, typer.Option("--folder", metavar="DIR", help="Where kubeconfig and logs are put.")
    ] = ".roadstead",
    color: Color = "auto",
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> int:
    """Boot Kubernetes' own API server, apply an example, and run the controllers over it.

    There are no nodes, so no Pod ever runs. KUBECONFIG is ignored. With --once the table is read
    back from the API server; exit code 1 says that something in it came to nothing. The webhook
    answers in the example `lineage`, in a folder of that name, and in `all`.
    """
    page = screen(color, no_color, quiet=quiet)
    if example == "list":
        for name in (*examples(), ALL):
            page.line(name)
        return 0
    worlds = tuple(WORLDS / name for name in examples()) if example == ALL else (world_of(example),)
    from roadstead.cli.demo import Demo, play  # noqa: PLC0415 - it loads the HTTP client

    demo = Demo(worlds, Path(folder), keep, port)
    return play(demo, page, once=once)


def world_of(example: str) -> Path:
    """The folder of an example, by its name or its path.

    Raises: InputError.
    """
    if "/" in example and Path(example).is_dir():
        return Path(example).absolute()
    if example not in examples():
        known = (*examples(), ALL)
        hint = did_you_mean(example, known, f"there are {', '.join(known)}, or give ./FOLDER")
        raise InputError(f"there is no example `{example}`", hint=hint)
    return WORLDS / example


def examples() -> tuple[str, ...]:
    """The worlds there are."""
    folders = (one.name for one in WORLDS.iterdir() if one.is_dir() and one.name[0] not in "_.")
    return tuple(sorted(name for name in folders if not name.endswith(LATER)))
