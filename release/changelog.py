"""The notes of a release, of the fragments in `changes/`.

    python -m release.changelog VERSION [--date YYYY-MM-DD] [--draft]

Writes them to the head of CHANGELOG.md and removes the fragments; `--draft` prints them and changes
nothing. `changes/README.md` says what a fragment is.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from release.fault import ReleaseError, reported
from release.moment import epoch

ROOT = Path(__file__).parent.parent
KINDS = ("added", "changed", "fixed", "removed", "security")
TITLE = "# Changes\n"
_NAME = re.compile(rf"(\d+)\.({'|'.join(KINDS)})\.md")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:rc\d+)?")
_DUTY = "You must do:"
_NOTHING = "nothing."


@dataclass(frozen=True, slots=True, order=True)
class Fragment:
    """One change as it will be told.

    duty: what people who upgrade must do; empty for nothing. news: the rest, whole paragraphs.
    """

    issue: int
    kind: str
    duty: str
    news: str


def fragments(folder: Path) -> list[Fragment]:
    """Read all fragments, in the order of their issues.

    Raises: ReleaseError naming the file that is none.
    """
    paths = sorted(path for path in folder.iterdir() if path.name != "README.md")
    return sorted(_fragment(path) for path in paths)


def notes(version: str, day: date, told: list[Fragment]) -> str:
    """Write the section of a release: first what people must do, then what is new, by kind."""
    parts = [f"## {version} ({day.isoformat()})\n"]
    if duties := [one.duty for one in told if one.duty]:
        parts.append("### What you must do\n")
        parts += [f"{duty}\n" for duty in duties]
    for kind in KINDS:
        if news := [one.news for one in told if one.kind == kind and one.news]:
            parts.append(f"### {kind.capitalize()}\n")
            parts += [f"{text}\n" for text in news]
    return "\n".join(parts)


def released(log: str, section: str) -> str:
    """Put a section on top of a changelog.

    Raises: ReleaseError where the log has that version already.
    """
    head = section.split(" (", 1)[0]
    if any(line.split(" (", 1)[0] == head for line in log.splitlines()):
        raise ReleaseError(f"CHANGELOG.md already has `{head}`", "give the next version")
    return f"{TITLE}\n{section}" + (f"\n{log.removeprefix(TITLE).lstrip()}" if log else "")


def assemble(root: Path, version: str, day: date, *, draft: bool) -> str:
    """Give the notes of a release; unless it is a draft, write them down and drop the fragments.

    Raises: ReleaseError for a version that is none or known, and where nothing changed.
    """
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"`{version}` is no version", "give one like 0.2.0 or 0.2.0rc1")
    told = fragments(root / "changes")
    if not told:
        raise ReleaseError("changes/ holds no fragment, so there is nothing to tell")
    section = notes(version, day, told)
    path = root / "CHANGELOG.md"
    log = released(path.read_text(encoding="utf-8") if path.exists() else "", section)
    if not draft:
        path.write_text(log, encoding="utf-8")
        for fragment in (root / "changes").iterdir():
            if fragment.name != "README.md":
                fragment.unlink()
    return section


def _fragment(path: Path) -> Fragment:
    hint = "changes/README.md says what a fragment is"
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise ReleaseError(f"changes/{path.name} is not named as <number>.<kind>.md", hint)
    text = path.read_text(encoding="utf-8").replace("](../", "](")  # CHANGELOG.md is one folder up
    first, _, news = text.strip().partition("\n\n")
    if not first.startswith(_DUTY) or not first.removeprefix(_DUTY).strip():
        raise ReleaseError(f"changes/{path.name} does not begin with `{_DUTY}` and what", hint)
    duty = first.removeprefix(_DUTY).strip()
    said = "" if duty == _NOTHING else duty[0].upper() + duty[1:]
    return Fragment(int(named[1]), named[2], said, news.strip())


def main() -> int:
    """Assemble and print them."""
    parser = argparse.ArgumentParser(prog="python -m release.changelog")
    parser.add_argument("version")
    parser.add_argument("--date", type=date.fromisoformat)
    parser.add_argument("--draft", action="store_true", help="print them and change nothing")
    asked = parser.parse_args()

    def work() -> None:
        day = asked.date or datetime.fromtimestamp(epoch(), UTC).date()
        sys.stdout.write(assemble(ROOT, asked.version, day, draft=asked.draft))

    return reported(work)


if __name__ == "__main__":
    sys.exit(main())
