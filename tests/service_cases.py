"""Cases of the renderer: a platform file, a catalog, and the tree that must come of them.

`previous/` is what stands in the folder before, `secrets/` the encrypted Secrets. Where nothing may
be written, `want.findings` holds what is said instead. `python tests/service_cases.py` rewrites the
wanted files; the difference is read before it is committed. Source: contract 5.5.
"""

import io
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from roadstead.cli.main import main
from roadstead.cli.service import bundled

DIGESTS = Path(__file__).parent.parent / "src/roadstead/selftest/digests.json"
CASES = Path(__file__).parent / "cases" / "services"


@dataclass(frozen=True)
class Came:
    """What came of a render: exit code, what was said, the files by their path."""

    code: int
    said: str
    tree: dict[str, bytes]


def folders() -> list[Path]:
    """Every case."""
    return sorted(path.parent for path in CASES.glob("*/platform.yaml"))


def rendered(case: Path, out: Path) -> Came:
    """Render a case into a folder, from within the case so that no path of the machine shows."""
    if (case / "previous").is_dir() and not out.exists():
        shutil.copytree(case / "previous", out)
    said = io.StringIO()
    command = ["service", "render", "-f", "catalog", "--platform", "platform.yaml", "-q"]
    with chdir(case), redirect_stdout(said), redirect_stderr(io.StringIO()):
        code = main([*command, "--out", str(out)])
    return Came(code, said.getvalue(), tree(out))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def wanted(case: Path) -> Came:
    """What a case says must come of it."""
    findings = case / "want.findings"
    if findings.exists():
        return Came(2, findings.read_text(encoding="utf-8"), tree(case / "previous"))
    return Came(0, "", tree(case / "want"))


def accept(case: Path) -> Iterator[str]:
    """Rewrite what a case wants; names what changed."""
    with tempfile.TemporaryDirectory() as scratch:
        came = rendered(case, Path(scratch) / "out")
        if came.code:
            (case / "want.findings").write_text(came.said, encoding="utf-8")
            yield f"{case.name}: {len(came.said.splitlines())} lines of findings"
            return
        before = tree(case / "want") if (case / "want").is_dir() else {}
        shutil.rmtree(case / "want", ignore_errors=True)
        shutil.copytree(Path(scratch) / "out", case / "want")
        changed = {
            path for path in {*before, *came.tree} if before.get(path) != came.tree.get(path)
        }
        if changed:
            yield f"{case.name}: {len(changed)} files"


def accept_digests() -> None:
    """Rewrite what the self-test holds the bundled examples to."""
    came = bundled.digests(bundled.tree(bundled.judged(bundled.texts(), bundled.platform())))
    text = json.dumps(came, indent=1, sort_keys=True)
    DIGESTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    accept_digests()
    for folder in folders():
        for line in accept(folder):
            sys.stdout.write(f"{line}\n")
