"""`roadstead graph`: what is exposed, by which way, and where a way is broken."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from roadstead.capabilities.gateways.snapshot.views import HTTP_ROUTES
from roadstead.cli import inputs
from roadstead.cli.offline import offline
from roadstead.cli.options import (
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
    one_or_all,
    screen,
)
from roadstead.cli.out import Screen, machine
from roadstead.decision import Decision
from roadstead.engine.store import State
from roadstead.errors import ClusterError
from roadstead.explain.attachments import ATTACHMENT_SUBJECT
from roadstead.explain.gateways import GATEWAY_SUBJECT
from roadstead.explain.graph import COLUMNS, Choice, Graph, Spot, drawn, reported
from roadstead.explain.graph import chosen as chosen_paths
from roadstead.explain.graph.page import page as html
from roadstead.explain.graph.svg import STYLE, no_link, svg
from roadstead.explain.graph.texts import ASCII, UNICODE, dot, mermaid, tree
from roadstead.explain.palette import PALETTE
from roadstead.explain.rows import is_forbidden
from roadstead.kube.refs import Ref
from roadstead.sim.settle import drive

EXAMPLES = (
    "roadstead graph -n tenant-blue",
    "roadstead graph -A --problems",
    "roadstead graph --host shop.blue.example.org -o mermaid",
    "roadstead graph -f world/ -o html > exposure.html",
)
app = application()

FORMATS = ("tree", "json", "yaml", "mermaid", "dot", "svg", "html")
SUBJECTS = (GATEWAY_SUBJECT, ATTACHMENT_SUBJECT)

Host = Annotated[
    str, typer.Option("--host", metavar="HOSTNAME|ADDRESS", help="Only the paths from there.")
]
Problems = Annotated[bool, typer.Option("--problems", help="Only the paths that are broken.")]


@app.command()
def graph(
    *,
    namespace: Namespace = "",
    everywhere: Everywhere = False,
    host: Host = "",
    problems: Problems = False,
    files: Files = None,
    settings: SettingsFile = "",
    ca_sources_file: SourcesFile = "",
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Draw every path from a hostname or an address to pods, and where one is broken.

    From files with -f, else from the cluster, with your rights. A refused line is dashed and
    carries its reason. With --problems exit code 1 says that there is one, with --host that no
    path begins there. Formats: tree, json, yaml, mermaid, dot, svg, html.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color)
    one_or_all(namespace, everywhere=everywhere)
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, (), start=start)
    if files:
        space = namespace
        found = _offline(files, told)
    else:
        from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

        space = session.space(kubeconfig, context, namespace, everywhere=everywhere)
        found = _live(inputs.Place(kubeconfig, context, space, told.settings))
    name = host.lower().rstrip(".")
    shown = chosen_paths(found, Choice(space, name, problems))
    _print(page, form, shown, space)
    page.flush()
    if problems:
        return 1 if shown.broken else 0
    return 1 if host and not shown.paths else 0


def _offline(files: Sequence[str], told: inputs.Given) -> Graph:
    played = offline(files, told)
    return drive(drawn(played.reader(), played.judge))[0]


def _live(place: inputs.Place) -> Graph:
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    return session.ask(place.kubeconfig, place.context, lambda client: _drawn(client, place))


async def _drawn(client: Any, place: inputs.Place) -> Graph:
    """Look everywhere, and where that is not allowed, at one namespace and what it is told.

    Raises: ClusterError where nothing may be read.
    """
    whole, found = await _looked(client, place, "")
    if whole or not place.namespace:
        return found
    return (await _looked(client, place, place.namespace))[1]


async def _looked(client: Any, place: inputs.Place, namespace: str) -> tuple[bool, Graph]:
    """Look in one namespace, or in all; and whether all of it could be read.

    The routes of one namespace are not judged: those of others may come before them.
    Raises: ClusterError for anything but missing rights.
    """
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    look = session.look(client, namespace, place.settings, SUBJECTS)
    try:
        await look.fill()
    except ClusterError as error:
        if is_forbidden(error) and place.namespace and not namespace:
            return False, Graph(())
        if not is_forbidden(error) or look.state(HTTP_ROUTES) in {State.FORBIDDEN, State.ABSENT}:
            raise

    async def judge(key: Ref) -> Decision | None:
        passed = await look.judge(key)
        return None if passed.gone else passed.decision

    if namespace:
        return True, await reported(look.reader(), judge)
    found, whole = await drawn(look.reader(), judge)
    return whole, found


def _print(page: Screen, form: str, found: Graph, namespace: str) -> None:
    if form == "tree":
        _tree(page, found)
    elif form in {"json", "yaml"}:
        page.write(machine(form, "Graph", facts(found)))
    elif form == "svg":
        page.write(f"{svg(found, no_link, PALETTE + STYLE)}\n")
    elif form == "html":
        page.write(html(found))
    else:
        lines = mermaid(found, namespace) if form == "mermaid" else dot(found)
        page.write("".join(f"{line}\n" for line in lines))
    if form not in {"json", "yaml", "html"}:
        for note in found.notes:
            page.talk(f"note: {note}")


def _tree(page: Screen, found: Graph) -> None:
    for branch in tree(found, UNICODE if page.has_signs else ASCII):
        refused = page.paint(branch.refused, "red")
        said = f"{branch.lead}{branch.text}"
        if not branch.lead:
            said = page.paint(branch.text, "bold")
        page.line(f"{said}  no: {refused}" if refused else said)
    if not found.paths:
        page.talk("there is no path to draw")


def facts(found: Graph) -> dict[str, Any]:
    """A drawing as machine formats tell it."""
    names = found.names
    return {
        "columns": list(COLUMNS),
        "nodes": [
            _node(names[spot.key], at, spot)
            for at, spots in enumerate(found.columns)
            for spot in spots
        ],
        "edges": [
            {
                "from": names[edge.start.key],
                "to": names[edge.end.key],
                "refused": edge.refused or None,
            }
            for edge in found.edges
        ],
        "paths": [
            {
                "namespace": path.namespace,
                "nodes": [names[spot.key] for _, spot in path.steps],
                "refused": [word for _, word in path.breaks],
            }
            for path in found.paths
        ],
        "notes": list(found.notes),
    }


def _node(name: str, column: int, spot: Spot) -> dict[str, Any]:
    return {
        "id": name,
        "kind": spot.kind,
        "column": column,
        "text": spot.text,
        "place": spot.place or None,
        "object": spot.about.path if spot.about is not None else None,
        "readable": not spot.unread,
    }
