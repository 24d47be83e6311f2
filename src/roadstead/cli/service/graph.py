"""`roadstead service graph`: who calls whom, and in which wave each service comes."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import ERROR
from roadstead.cli.main import complain
from roadstead.cli.options import Color, NoColor, Output, application, chosen, screen
from roadstead.cli.out import Screen, machine
from roadstead.cli.service.session import (
    Catalogs,
    Core,
    PlatformFile,
    Session,
    begin,
    uncollected,
)
from roadstead.cli.service.told import lines

EXAMPLES = (
    "roadstead service graph -f catalog/ --platform platform.yaml",
    "roadstead service graph -f catalog/ --platform platform.yaml -o dot | dot -Tsvg > graph.svg",
)
app = application()

FORMATS = ("text", "dot", "json", "yaml")
FAILED = 2

Problems = Annotated[bool, typer.Option("--quiet", "-q", help="Leave findings out.")]


@app.command()
def graph(
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
    core: Core = False,
    quiet: Problems = False,
    output: Output = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print each service with its wave and what it depends on.

    The waves are for people: Flux goes by each service's own `dependsOn`. Formats: text, dot,
    json, yaml. Services in a cycle share a wave.
    """
    page, form = screen(color, no_color, quiet=quiet), chosen(output, FORMATS)
    with uncollected():
        session = begin(files or (), platform, core=core)
        return _told(page, form, session)


def _told(page: Screen, form: str, session: Session) -> int:
    for problem in session.problems:
        complain(problem)
    if session.catalog is None:
        lines(page, session.findings)
        return FAILED
    for one in session.findings:
        page.talk(one.line)
    if form == "text":
        page.columns(_rows(session.catalog))
    elif form == "dot":
        page.write("".join(f"{line}\n" for line in _dot(session.catalog)))
    else:
        page.write(machine(form, "ServiceGraph", _facts(session.catalog)))
    broken = any(one.severity == ERROR for one in session.findings)
    return FAILED if broken or session.problems else 0


def _rows(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    ordered = sorted(catalog.services, key=lambda one: (catalog.wave(one.name), one.name))
    for service in ordered:
        needs = ", ".join(one.key for one in service.dependencies)
        yield f"wave {catalog.wave(service.name)}", service.name, needs and f"-> {needs}"


def _dot(catalog: Catalog) -> Iterator[str]:
    yield "digraph services {"
    yield "  rankdir=LR;"
    for service in catalog.services:
        yield f'  "{service.name}" [label="{service.name}\\nwave {catalog.wave(service.name)}"];'
    outside = sorted(
        {one.to for each in catalog.services for one in each.dependencies}
        - {each.name for each in catalog.services}
    )
    for name in outside:
        yield f'  "{name}" [shape=box];'
    for service in catalog.services:
        for one in service.dependencies:
            yield f'  "{service.name}" -> "{one.to}" [label="{one.port}/{one.protocol}"];'
    yield "}"


def _facts(catalog: Catalog) -> dict[str, Any]:
    return {
        "services": [
            {
                "name": service.name,
                "wave": catalog.wave(service.name),
                "dependencies": [
                    {
                        "to": one.to,
                        "port": one.port,
                        "protocol": one.protocol,
                        "catalog": catalog.get(one.to) is not None,
                    }
                    for one in service.dependencies
                ],
            }
            for service in catalog.services
        ]
    }
