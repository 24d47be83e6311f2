"""`roadstead service render`: every object of every definition, written as files.

An error writes nothing; a Secret in clear text is such an error, and is never printed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.api.findings import ERROR, Finding
from roadstead.cli.main import complain
from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.out import Screen, counted, tell
from roadstead.cli.service.index import load, place_of, save
from roadstead.cli.service.judged import Judged, judge
from roadstead.cli.service.rendering import Row, rows, tree_of
from roadstead.cli.service.renewed import next_index, renew, world_of
from roadstead.cli.service.session import (
    Catalogs,
    Core,
    Fresh,
    PlatformFile,
    SecretsFolder,
    Session,
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


@dataclass(frozen=True, slots=True)
class _Way:
    """How a render was asked for, and where it is told."""

    shown: Screen
    form: str
    out: str
    fresh: bool
    stdout: bool
    packaged: bool


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
    if stdout and form not in {"table", "yaml"}:
        raise InputError(f"--stdout prints YAML, and `-o {form}` does not apply to it")
    if not out and not stdout:
        raise InputError(
            "nowhere to render to", hint="name a folder with --out, or print with --stdout"
        )
    with uncollected():
        session = begin(files or (), platform, secrets=secrets, core=core)
        way = _Way(shown, form, out, fresh=fresh, stdout=stdout, packaged=packaged)
        return _some(way, session, services or ()) if stdout or services else _all(way, session)


def _all(way: _Way, session: Session) -> int:
    """Render a whole tree, as far as the last render of it says too little."""
    out = Path(way.out)
    place, world = place_of(out), world_of(session)
    index = load(place, world)
    result = renew(session, out, index, fresh=way.fresh)
    if _stopped(way, session, result.findings, result.names):
        return FAILED
    written = write_tree(out, result.files, result.staying)
    if result.made or result.kept.keys() != index.services.keys():
        save(place, next_index(result, world, time.time_ns(), written.marks))
    _tell(way, result.findings, result.names, written, list(result.rows()))
    return 0


def _some(way: _Way, session: Session, services: Sequence[str]) -> int:
    """Render a few services into the folder, or print what any are rendered to."""
    result = judge(session, Path(way.out) if way.out else None, fresh=way.fresh)
    if _stopped(way, session, result.findings, list(result.snapshots)):
        return FAILED
    names = [one.name for one in chosen_services(require(result.catalog), services)]
    if way.stdout:
        way.shown.write(_printed(result, names, session.shown, packaged=way.packaged))
        for one in result.findings:
            way.shown.talk(one.line)
        return 0
    out = Path(way.out)
    made = tree_of(result, session.shown, names)
    written = write_tree(out, made | _others(out, names))
    _tell(way, result.findings, list(result.snapshots), written, list(rows(result, names)))
    return 0


def _stopped(
    way: _Way, session: Session, findings: Sequence[Finding], names: Sequence[str]
) -> bool:
    """Tell of what keeps the folder from being written, if anything does."""
    for problem in session.problems:
        complain(problem)
    if not session.problems and not any(one.severity == ERROR for one in findings):
        return False
    if way.stdout:  # what reads the objects must not read this
        for one in findings:
            tell(way.shown.stderr, one.line)
    else:
        show(way.shown, way.form, "render", findings, names)
    way.shown.flush()
    way.shown.talk(f"Nothing was written: {summary(findings)}")
    return True


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
    way: _Way,
    findings: Sequence[Finding],
    names: Sequence[str],
    written: Written,
    told: Sequence[Row],
) -> None:
    shown = way.shown
    if way.form != "table":
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
        show(shown, way.form, "render", findings, names, **body)
    else:
        _table(shown, findings, told, way.out)
    shown.flush()
    shown.talk(_changes(written))
    for path in written.foreign[:_MOST_FOREIGN]:
        shown.talk(f"note: {Path(way.out) / path} is not ours and was left alone")
    if len(written.foreign) > _MOST_FOREIGN:
        shown.talk(f"note: and {len(written.foreign) - _MOST_FOREIGN} more")


def _table(shown: Screen, findings: Sequence[Finding], told: Sequence[Row], out: str) -> None:
    if not shown.quiet:
        shown.columns(
            (row.name, counted(row.objects, "object"), f"wave {row.wave}", ", ".join(row.notes))
            for row in told
        )
        if findings:
            shown.line()
    lines(shown, findings)
    if not shown.quiet:
        if findings:
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
