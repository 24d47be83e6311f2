"""What a command prints with: tables, colour, sentences, and the machine formats.

stdout is data, stderr is talk. Nothing here knows what it prints; a pipe that is closed early is
not an error, and the exit code does not depend on any of this.
"""

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from roadstead.errors import InputError

API_VERSION = "cli.roadstead/v1"
GAP = "  "
NARROWEST = 24
"""A last column is wrapped, never below this many characters."""

_CONTROL = re.compile(
    r"(?!\x1b\[[0-9]{1,2}m)[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table and its colour; the word alone must say what it means."""

    text: str
    style: str = ""


class Screen:
    """Where output goes, and what the terminal there can show.

    color: paint at all. width: columns of the terminal; None for a pipe, where nothing is cut
        or wrapped.
    """

    def __init__(
        self,
        stdout: TextIO,
        stderr: TextIO,
        *,
        color: bool = False,
        width: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Print there."""
        self.stdout = stdout
        self.stderr = stderr
        self.color = color
        self.width = width
        self.quiet = quiet
        self.closed = False

    @classmethod
    def here(cls, color: str = "auto", *, quiet: bool = False) -> "Screen":
        """Print on this process's own streams. color: `auto`, `always` or `never`."""
        out = sys.stdout
        terminal = out.isatty()
        width = shutil.get_terminal_size().columns if terminal else None
        return cls(
            out,
            sys.stderr,
            color=wants_color(color, os.environ, terminal),
            width=width,
            quiet=quiet,
        )

    @property
    def has_signs(self) -> bool:
        """Whether signs beyond ASCII can be shown there.

        Python writes UTF-8 in a locale that says otherwise; a terminal of that locale shows none.
        """
        encoding = (getattr(self.stdout, "encoding", None) or "utf-8").lower()
        locale = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
        return encoding.startswith("utf") and locale not in {"C", "POSIX"}

    def line(self, text: str = "") -> None:
        """Print one line of data. A reader that has gone away is no error."""
        self.write(f"{text}\n")

    def write(self, text: str) -> None:
        """Print data as it stands."""
        if self.closed:
            return
        try:
            self.stdout.write(_shown(text, self.stdout))
        except OSError as error:
            self._lost(error)

    def flush(self) -> None:
        """Hand over what was printed so far."""
        try:
            self.stdout.flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        """Stop printing; a full disk, unlike a reader that has gone, is told of."""
        self.close()
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"the answer cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Stop printing: the reader has gone."""
        self.closed = True
        silence(self.stdout)

    def talk(self, text: str) -> None:
        """Say something that is no data; `--quiet` leaves it out."""
        if not self.quiet:
            tell(self.stderr, text)

    def paint(self, text: str, style: str) -> str:
        """Colour a text where colour is shown."""
        if not self.color or not style or not text:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def sentence(self, text: str, indent: str = "") -> None:
        """Print a sentence, wrapped on a terminal and whole in a pipe."""
        for line in self._wrapped(text, indent):
            self.line(line)

    def table(
        self, headers: Sequence[str], rows: Iterable[Sequence[str | Cell]], indent: str = ""
    ) -> None:
        """Print rows under headers; only the last column is ever wrapped."""
        cells = [[_cell(cell) for cell in row] for row in rows]
        head = [Cell(header, "bold") for header in headers]
        widths = [
            max(len(row[at].text) for row in [head, *cells]) for at in range(len(headers) - 1)
        ]
        for row in [head, *cells]:
            self._row(row, widths, indent)

    def columns(
        self, rows: Iterable[Sequence[str | Cell]], indent: str = "", least: Sequence[int] = ()
    ) -> None:
        """Print rows without headers, in columns at least as wide as stated."""
        cells = [[_cell(cell) for cell in row] for row in rows]
        if not cells:
            return
        widths = [max(len(row[at].text) for row in cells) for at in range(len(cells[0]) - 1)]
        for at, width in enumerate(least[: len(widths)]):
            widths[at] = max(widths[at], width)
        for row in cells:
            self._row(row, widths, indent)

    def _row(self, row: Sequence[Cell], widths: Sequence[int], indent: str) -> None:
        parts = [
            self.paint(cell.text, cell.style) + " " * (width - len(cell.text))
            for cell, width in zip(row, widths, strict=False)
        ]
        last = row[-1]
        start = len(indent) + sum(widths) + len(GAP) * len(widths)
        lines = [last.text]
        if self.width is not None and self.width - start >= NARROWEST:
            room = self.width - start
            lines = textwrap.wrap(
                last.text, room, break_long_words=False, break_on_hyphens=False
            ) or [""]
        first = GAP.join([*parts, self.paint(lines[0], last.style)])
        self.line(f"{indent}{first}".rstrip())
        for line in lines[1:]:
            self.line(f"{' ' * start}{self.paint(line, last.style)}")

    def _wrapped(self, text: str, indent: str) -> list[str]:
        if self.width is None or self.width - len(indent) < NARROWEST:
            return [f"{indent}{text}"]
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent]


def wants_color(asked: str, environ: Mapping[str, str], terminal: bool) -> bool:
    """Tell whether to paint. Order: the flag, NO_COLOR, FORCE_COLOR, then what stdout is."""
    if asked != "auto":
        return asked == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return terminal and environ.get("TERM") != "dumb"


def as_json(kind: str, facts: Mapping[str, Any]) -> str:
    """Write facts as JSON, with the version of their schema."""
    whole = {"apiVersion": API_VERSION, "kind": kind, **facts}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def as_yaml(kind: str, facts: Mapping[str, Any]) -> str:
    """Write the same facts as YAML."""
    from roadstead.kube.documents import dump  # noqa: PLC0415 - most answers need no YAML

    return dump([{"apiVersion": API_VERSION, "kind": kind, **facts}])


def machine(form: str, kind: str, facts: Mapping[str, Any]) -> str:
    """Write facts in a machine's format: `json`, or `yaml` for anything else."""
    return as_json(kind, facts) if form == "json" else as_yaml(kind, facts)


def tell(stream: TextIO, text: str) -> None:
    """Write one line of talk; a closed stream is no error."""
    try:
        stream.write(_shown(f"{text}\n", stream))
        stream.flush()
    except BrokenPipeError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Point a broken stream at nothing, so that the interpreter can end without complaint."""
    try:
        descriptor = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
    except (OSError, ValueError):
        return


def _shown(text: str, stream: TextIO) -> str:
    """Spell out what the stream's encoding cannot show, and what would steer a terminal.

    Only line ends and our own colours pass: a name or an annotation may hold anything.
    """
    text = _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _cell(cell: str | Cell) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(cell)
