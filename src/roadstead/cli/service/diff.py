"""`roadstead service diff`: two trees, revisions or catalogs, and what the change risks."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.changes.risk import WORDS
from roadstead.capabilities.services.changes.tree import Difference, compare
from roadstead.cli.main import complain
from roadstead.cli.options import Color, NoColor, Output, Quiet, application, chosen, screen
from roadstead.cli.out import Cell, Screen, counted, machine
from roadstead.cli.service.judged import judge
from roadstead.cli.service.rendering import tree_of
from roadstead.cli.service.session import PlatformFile, SecretsFolder, begin
from roadstead.cli.service.told import lines
from roadstead.cli.service.tree import MANIFEST, owned
from roadstead.errors import InputError

EXAMPLES = (
    "roadstead service diff rendered/ catalog/ --platform platform.yaml",
    "roadstead service diff HEAD~1:rendered rendered/",
)
app = application()

FORMATS = ("table", "json", "yaml")
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_STYLES = {"data": "red", "recreates": "red", "opens": "yellow", "repackaged": "yellow"}
_PLACES = "an output tree, a folder of definitions, or REVISION:PATH"


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="A", help=f"The old side: {_PLACES}.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The new side, of the same forms.")],
    *,
    platform: PlatformFile = "",
    secrets: SecretsFolder = "",
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Tell which objects and fields differ between A and B, and what each difference risks.

    A catalog is rendered first, with --platform; against a tree it keeps the images that
    automation moved there. Exit code 1 when anything differs.
    Risks: data, recreates, opens, repackaged, restarts, closes, none.
    """
    page, form = screen(color, no_color, quiet=quiet), chosen(output, FORMATS)
    before = _side(page, old, platform, secrets, beside=new)
    after = _side(page, new, platform, secrets, beside=old)
    if before is None or after is None:
        return 2
    found = compare(before, after)
    if form == "table":
        _table(page, found)
        page.flush()
        page.talk(_summary(found))
    else:
        page.write(machine(form, "ServiceDiff", {"differences": [_facts(one) for one in found]}))
    return int(bool(found))


def _side(
    page: Screen, given: str, platform: str, secrets: str, *, beside: str
) -> dict[str, bytes] | None:
    """The files of one side; None where a catalog cannot be rendered, which was then told."""
    path = Path(given)
    if path.is_dir() and (path / MANIFEST).exists():
        return {name: (path / name).read_bytes() for name in owned(path) if (path / name).is_file()}
    if path.exists():
        return _rendered(page, given, platform, secrets, Path(beside))
    if ":" in given:
        return _revision(given)
    raise InputError("is not there", place=given, hint=f"name {_PLACES}")


def _rendered(
    page: Screen, catalog: str, platform: str, secrets: str, beside: Path
) -> dict[str, bytes] | None:
    session = begin([catalog], platform, secrets=secrets)
    for problem in session.problems:
        complain(problem)
    tree = beside if (beside / MANIFEST).exists() else None
    result = judge(session, tree)
    if result.stops or session.problems:
        lines(page, [one for one in result.findings if one.severity == "error"])
        return None
    return tree_of(result, session.shown)


def _revision(given: str) -> dict[str, bytes]:
    """The files of a tree in a revision of the repository around the working folder."""
    if given.startswith("-"):
        raise InputError(f"`{given}` is no revision", hint=f"name {_PLACES}")
    done = subprocess.run(  # noqa: S603 - an argument of its own, never a shell's
        ["git", "archive", "--format=tar", given],  # noqa: S607 - the person's git
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else "git could not read it"
        raise InputError(f"cannot be read: {reason}", place=given, hint=f"name {_PLACES}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        found = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        files = {name: file.read() for name, file in found.items() if file is not None}
    if MANIFEST not in files:
        raise InputError("holds no output tree", place=given, hint=f"name {_PLACES}")
    return files


def _table(page: Screen, found: tuple[Difference, ...]) -> None:
    width = max((len(one.key.path) for one in found), default=0)
    for one in found:
        risk = Cell(one.risk, _STYLES.get(one.risk, ""))
        page.columns([(SIGNS[one.how], one.key.path, risk)], least=(1, width))
        for field in one.fields:
            page.line(f"     {field.words}")


def _summary(found: tuple[Difference, ...]) -> str:
    if not found:
        return "no object differs"
    counts = {how: sum(one.how == how for one in found) for how in SIGNS}
    told = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
    graves = [f"{word} ({meaning})" for word, meaning in WORDS.items() if _any(found, word)]
    return f"{counted(len(found), 'object')}: {told}; risks: {', '.join(graves)}"


def _any(found: tuple[Difference, ...], word: str) -> bool:
    return word != "none" and any(one.risk == word for one in found)


def _facts(one: Difference) -> dict[str, Any]:
    return {
        "object": one.key.path,
        "how": one.how,
        "risk": one.risk,
        "file": one.file,
        "fields": [
            {"path": field.path, "old": field.old, "new": field.new} for field in one.fields
        ],
    }
