"""Runs one command line in this process, with streams that a test can read."""

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

from roadstead.cli.main import main

QUIET = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True)
class Ran:
    """What came of it."""

    code: int
    out: str
    err: str


class Stream(io.StringIO):
    """A stream that may be a terminal, and shows what its encoding can."""

    def __init__(self, terminal: bool, encoding: str) -> None:
        """Begin empty."""
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a stand-in for any terminal
        """The encoding that output is spelled for."""
        return self._encoding

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._terminal


def run(
    *args: str,
    env: Mapping[str, str] | None = None,
    width: int = 0,
    stdin: bytes = b"",
    encoding: str = "utf-8",
) -> Ran:
    """Run `roadstead ARGS`. width: of a terminal; 0 for a pipe."""
    environ = {**QUIET, **(env or {})}
    if width:
        environ["COLUMNS"] = str(width)
    out, err = Stream(bool(width), encoding), Stream(False, encoding)
    source = io.TextIOWrapper(io.BytesIO(stdin))
    with mock.patch.dict(os.environ, environ, clear=True), _streams(out, err, source):
        code = main(args)
    return Ran(code, out.getvalue(), err.getvalue())


@contextmanager
def _streams(out: Stream, err: Stream, source: io.TextIOWrapper) -> Iterator[None]:
    before = sys.stdout, sys.stderr, sys.stdin
    sys.stdout, sys.stderr, sys.stdin = out, err, source
    try:
        yield
    finally:
        sys.stdout, sys.stderr, sys.stdin = before
