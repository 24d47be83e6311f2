"""Standard input, apart from what else a command may be given: some need nothing more."""

import sys

from roadstead.errors import InputError


def stdin() -> bytes:
    """All of standard input.

    Raises: InputError when it was closed or cannot be read.
    """
    if sys.stdin is None:
        raise InputError("standard input is closed", place="-")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place="-") from None
