"""Signs of life on stderr: a spinner on a terminal, nothing anywhere else."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Show that something is going on; gives what says how far it is."""
    if not sys.stderr.isatty() or os.environ.get("ROADSTEAD_NO_PROGRESS"):
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    with Console(stderr=True).status(text) as shown:
        yield lambda more: shown.update(f"{text}: {more}")
