"""How the tools of a release say why they cannot go on."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class ReleaseError(Exception):
    """Something a release needs is missing or wrong; the message names it, `hint` the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        """State what is wrong, and the next step where there is one."""
        super().__init__(message)
        self.message = message
        self.hint = hint


def run(
    command: Sequence[str | Path],
    hint: str = "",
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    given: str | None = None,
) -> str:
    """Run a program and give what it wrote to stdout.

    given: what it reads from stdin; nothing when None.
    Raises: ReleaseError with its last words when it fails or is not there.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            words,
            env=None if env is None else dict(env),
            cwd=folder,
            input="" if given is None else given,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise ReleaseError(f"the program `{words[0]}` is missing", hint) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-1500:]
        raise ReleaseError(
            f"`{' '.join(words[:4])} ...` ended with {done.returncode}: {said}", hint
        )
    return done.stdout


def reported(work: Callable[[], None]) -> int:
    """Run a tool's work and give its exit code; 2 where it could not be done, and why on stderr."""
    try:
        work()
    except ReleaseError as error:
        sys.stderr.write(f"error: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"hint: {error.hint}\n")
        return 2
    return 0
