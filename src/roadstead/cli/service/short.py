"""`roadstead render PATH...`: the short form of `service render`."""

from typing import Annotated

import typer

from roadstead.cli.options import Color, NoColor, Output, Quiet, application
from roadstead.cli.service.render import Packaged, Stdout
from roadstead.cli.service.render import render as render_services
from roadstead.cli.service.session import Core, Fresh, PlatformFile, SecretsFolder, Tree

EXAMPLES = ("roadstead render catalog/ --platform platform.yaml --out rendered/",)
app = application()


@app.command()
def render(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files or folders of definitions.")
    ],
    *,
    platform: PlatformFile = "",
    out: Tree = "",
    secrets: SecretsFolder = "",
    stdout: Stdout = False,
    packaged: Packaged = False,
    fresh: Fresh = False,
    core: Core = False,
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Render the definitions of files and folders, as `service render -f PATH` does."""
    return render_services(
        files=paths,
        platform=platform,
        out=out,
        secrets=secrets,
        stdout=stdout,
        packaged=packaged,
        fresh=fresh,
        core=core,
        output=output,
        quiet=quiet,
        color=color,
        no_color=no_color,
    )
