"""`roadstead service schema`: the JSON Schema of definitions, for editors."""

import json
from typing import Annotated

import typer

from roadstead.capabilities.services.api.editor import definition_schema, platform_schema
from roadstead.capabilities.services.api.findings import in_order
from roadstead.capabilities.services.reading.definitions import read_definitions
from roadstead.capabilities.services.reading.platform import read_platform
from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.service.gather import gather, platform_text
from roadstead.cli.service.session import Catalogs, PlatformFile
from roadstead.cli.service.told import ended
from roadstead.cli.streams import stdin
from roadstead.errors import InputError

EXAMPLES = (
    "roadstead service schema > service.schema.json",
    "roadstead service schema -f examples/services --platform examples/platform.yaml",
    "roadstead service schema --of platform",
)
app = application()

KINDS = ("service", "platform")
MODELINE = "# yaml-language-server: $schema=service.schema.json"

Of = Annotated[str, typer.Option("--of", metavar="|".join(KINDS), help="Whose schema is printed.")]


@app.command()
def schema(
    *,
    of: Of = "service",
    files: Catalogs = None,
    platform: PlatformFile = "",
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the JSON Schema 2020-12 of definitions, or of the platform file.

    With --platform its domain, schedules, templates and namespaces are filled in, and with -f
    the names of the catalog's services. Format: json.
    """
    chosen(output, ("json",))
    page = screen(color, no_color, quiet=quiet)
    if of not in KINDS:
        raise InputError(f"there is no schema of `{of}`", hint=f"use {' or '.join(KINDS)}")
    if of == "platform":
        page.write(_json(platform_schema()))
        page.talk("in the file: # yaml-language-server: $schema=platform.schema.json")
        return 0
    gathered = gather(files or (), stdin)
    definitions = read_definitions(gathered.texts)
    names = {one.name for one in definitions.fitting} | definitions.broken
    read = read_platform(platform_text(platform)) if platform else None
    if read is not None and read.platform is None:
        first = in_order(read.findings)[0]
        raise InputError(first.message, place=str(first.place), hint=first.hint)
    found = read.platform if read is not None else None
    page.write(_json(definition_schema(found, names)))
    page.talk(f"in each definition: {MODELINE}")
    return ended(0, gathered.problems)


def _json(schema: dict[str, object]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
