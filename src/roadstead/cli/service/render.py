"""`roadstead service render`: every object of every definition, written as files.

An error writes nothing; a Secret in clear text is such an error, and is never printed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.cli.main import complain
from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.out import Screen
from roadstead.cli.service.judged import Judged, judge
from roadstead.cli.service.rendering import Row, counted, rows, tree_of
from roadstead.cli.service.session import (
    Catalogs,
    Core,
    Fresh,
    PlatformFile,
    SecretsFolder,
    Tree,
    begin,
    require,
    uncollected,
)
from roadstead.cli.service.session import chosen as chosen_services
from roadstead.cli.service.told import FORMATS, lines, show, summary
from roadstead.cli.service.tree import MANIFEST, Written, owned, write_tree
from roadstead.errors import InputError
from roadstead.kube.documents import dump

EXAMPLES = (
    "roadstead service render -f catalog/ --platform platform.yaml --out rendered/",
    "roadstead service render gitea -f catalog/ --platform platform.yaml --stdout",
)
app = application()

FAILED = 2
SOPS_RULE = """\
creation_rules:
- path_regex: \\.sops\\.yaml$
  encrypted_regex: ^(data|stringData)$
"""
_MOST_FOREIGN = 10

Stdout = Annotated[
    bool, typer.Option("--stdout", help="Print the objects the definitions stand for instead.")
]
Packaged = Annotated[
    bool, typer.Option("--packaged", help="With --stdout: print the files, as Flux reads them.")
]
SopsRule = Annotated[
    bool,
    typer.Option("--print-sops-rule", help="Print the rule that Secrets are encrypted by."),
]


@app.command()
def render(
    services: Annotated[
        list[str] | None, typer.Argument(metavar="[SERVICE]...", help="Only these services.")
    ] = None,
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
    out: Tree = "",
    secrets: SecretsFolder = "",
    stdout: Stdout = False,
    packaged: Packaged = False,
    fresh: Fresh = False,
    core: Core = False,
    print_sops_rule: SopsRule = False,
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Render service definitions into a folder, or print what they are rendered to.

    Images that automation has moved in the folder stay, unless --fresh is given. An error in any
    definition leaves the folder as it is, and the exit code is 2.
    """
    shown = screen(color, no_color, quiet=quiet)
    form = chosen(output, FORMATS)
    if print_sops_rule:
        shown.write(SOPS_RULE)
        return 0
    if not out and not stdout:
        raise InputError(
            "nowhere to render to", hint="name a folder with --out, or print with --stdout"
        )
    with uncollected():
        session = begin(files or (), platform, secrets=secrets, core=core)
        result = judge(session, Path(out) if out else None, fresh=fresh)
    for problem in session.problems:
        complain(problem)
    if result.stops or session.problems:
        show(shown, form, "render", result.findings, list(result.snapshots))
        shown.flush()
        shown.talk(f"Nothing was written: {summary(result.findings)}")
        return FAILED
    catalog = require(result.catalog)
    names = [one.name for one in chosen_services(catalog, services or ())]
    if stdout:
        shown.write(_printed(result, names, session.shown, packaged=packaged))
        for one in result.findings:
            shown.talk(one.line)
        return 0
    folder = Path(out)
    with uncollected():
        made = tree_of(result, session.shown, names if services else ())
    written = write_tree(folder, made | (_others(folder, names) if services else {}))
    _tell(shown, result, written, list(rows(result, names)), (out, form))
    return 0


def _others(out: Path, names: Sequence[str]) -> dict[str, bytes]:
    """What an earlier render wrote there for other services, and for the platform."""
    left = {f"{name}/" for name in names}
    left |= {f"_flux/{name}.yaml" for name in names} | {f"_trace/{name}.json" for name in names}
    return {
        path: (out / path).read_bytes()
        for path in owned(out)
        if path != MANIFEST and not path.startswith(tuple(left)) and (out / path).is_file()
    }


def _printed(
    result: Judged, names: Sequence[str], shown: Callable[[str], str], *, packaged: bool
) -> str:
    """The effective set as one stream of documents, or the files as Flux reads them."""
    if not packaged:
        return dump(one.body for name in names for one in result.outputs[name].effective)
    made = tree_of(result, shown, names)
    texts = [
        content.decode()
        for path, content in sorted(made.items())
        if path.endswith(".yaml") and not path.endswith("kustomization.yaml")
    ]
    return "---\n".join(texts)


def _tell(
    shown: Screen, result: Judged, written: Written, told: Sequence[Row], way: tuple[str, str]
) -> None:
    out, form = way
    if form != "table":
        body: dict[str, Any] = {
            "services": [
                {
                    "name": row.name,
                    "objects": row.objects,
                    "wave": row.wave,
                    "notes": list(row.notes),
                }
                for row in told
            ],
            "changed": list(written.changed),
            "removed": list(written.removed),
            "foreign": list(written.foreign),
        }
        show(shown, form, "render", result.findings, list(result.snapshots), **body)
    else:
        _table(shown, result, told, out)
    shown.flush()
    shown.talk(_changes(written))
    for path in written.foreign[:_MOST_FOREIGN]:
        shown.talk(f"note: {Path(out) / path} is not ours and was left alone")
    if len(written.foreign) > _MOST_FOREIGN:
        shown.talk(f"note: and {len(written.foreign) - _MOST_FOREIGN} more")


def _table(shown: Screen, result: Judged, told: Sequence[Row], out: str) -> None:
    if not shown.quiet:
        shown.columns(
            (row.name, counted(row.objects, "object"), f"wave {row.wave}", ", ".join(row.notes))
            for row in told
        )
        if result.findings:
            shown.line()
    lines(shown, result.findings)
    if not shown.quiet:
        if result.findings:
            shown.line()
        objects = sum(row.objects for row in told)
        shown.line(
            f"Wrote {counted(objects, 'object')} of {counted(len(told), 'service')} to {out}"
        )


def _changes(written: Written) -> str:
    if not written.changed and not written.removed:
        return "nothing changed"
    removed = f", {len(written.removed)} removed" if written.removed else ""
    return f"{counted(len(written.changed), 'file')} changed{removed}"
