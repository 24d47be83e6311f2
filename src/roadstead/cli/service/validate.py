"""`roadstead service validate`: what is wrong with definitions as they are written."""

from typing import Annotated

import typer

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import ERROR, Finding, in_order
from roadstead.capabilities.services.decide import decide, judged
from roadstead.capabilities.services.reading.catalog import catalog_of
from roadstead.capabilities.services.reading.definitions import Definitions, read_definitions
from roadstead.capabilities.services.reading.nowhere import no_platform
from roadstead.capabilities.services.reading.platform import read_platform
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.out import counted
from roadstead.cli.service.gather import gather, platform_text
from roadstead.cli.service.session import Catalogs, Core, PlatformFile, uncollected
from roadstead.cli.service.told import FORMATS, Strict, answers_no, ended, show, summary
from roadstead.cli.streams import stdin
from roadstead.errors import InputError

EXAMPLES = (
    "roadstead service validate -f examples/services --platform examples/platform.yaml",
    "roadstead service validate -f services/wiki.yaml --core",
)
app = application()

_WITHOUT_PLATFORM = tuple(one.id for one in CHECKS.values() if one.looks_at == "platform")

Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH...", help="The same as -f PATH.")]


@app.command()
def validate(
    paths: Paths = None,
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
    core: Core = False,
    strict: Strict = False,
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Say what keeps definitions from being rendered: schema and cross-field errors alone.

    Without --platform the checks that need the platform file are left out and named.
    Exit code 1 when anything is wrong. Formats: table, json, yaml, junit, sarif, github.
    """
    form = chosen(output, FORMATS)
    page = screen(color, no_color, quiet=quiet)
    named = [*(paths or ()), *(files or ())]
    if not named:
        raise InputError("no definition is given", hint="name a file or a folder of them")
    with uncollected():
        gathered = gather(named, stdin)
        definitions = read_definitions(gathered.texts, core=core)
        skipped = () if platform else _WITHOUT_PLATFORM
        found = _with_platform(definitions, platform) if platform else _alone(definitions)
    findings = tuple(one for one in found if one.severity == ERROR)
    names = sorted({one.name for one in definitions.fitting} | definitions.broken)
    show(page, form, "validate", findings, names, skipped=list(skipped))
    if skipped:
        page.talk(f"not checked without --platform: {', '.join(skipped)}")
    counts = f"{counted(len(names), 'definition')} in {counted(definitions.files, 'file')}"
    page.talk(f"{counts}: {summary(findings)}")
    return ended(int(answers_no(findings, strict=strict)), gathered.problems)


def _with_platform(definitions: Definitions, file: str) -> tuple[Finding, ...]:
    read = read_platform(platform_text(file))
    findings = (*definitions.findings, *read.findings)
    if read.platform is None:
        return in_order(findings)
    catalog = catalog_of(definitions, read.platform)
    return judged(catalog, [Snapshot(one, catalog) for one in catalog.everyone], findings)


def _alone(definitions: Definitions) -> tuple[Finding, ...]:
    """What can be said without a platform file."""
    catalog = catalog_of(definitions, no_platform())
    found = [one for service in catalog.everyone for one in decide(Snapshot(service, catalog))]
    able = [one for one in found if one.id not in _WITHOUT_PLATFORM]
    return in_order([*definitions.findings, *able])
