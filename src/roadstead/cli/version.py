"""`roadstead version`: which program this is, and which server a kubeconfig leads to."""

from roadstead import __version__
from roadstead.cli.options import (
    Color,
    Context,
    Kubeconfig,
    NoColor,
    Output,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import as_json, as_yaml
from roadstead.errors import RoadsteadError

EXAMPLES = ("roadstead version", "roadstead version --kubeconfig .roadstead/kubeconfig -o json")
app = application()


@app.command()
def version(
    output: Output = "",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the version of this program; with --kubeconfig or --context the server's as well.

    Formats: table, json, yaml.
    """
    form = chosen(output, ("table", "json", "yaml"))
    page = screen(color, no_color)
    server, problem = "", None
    if kubeconfig or context:
        try:
            server = _server(kubeconfig, context)
        except RoadsteadError as error:
            problem = error
    facts = {"client": __version__, "server": server or None}
    if form == "json":
        page.write(as_json("Version", facts))
    elif form == "yaml":
        page.write(as_yaml("Version", facts))
    else:
        page.line(f"roadstead {__version__}")
        if server:
            page.line(f"server {server}")
    if problem is not None:
        raise problem
    return 0


def _server(kubeconfig: str, context: str) -> str:
    from roadstead.cli.session import ask  # noqa: PLC0415 - the HTTP client takes half a second

    return ask(kubeconfig, context, lambda client: client.version())
