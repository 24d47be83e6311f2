"""Where this program keeps what it can make again: compiled programs, the index of a render."""

import contextlib
import os
import tempfile
from pathlib import Path

from roadstead.errors import TestbedError


def cache_folder() -> Path:
    """Give Roadstead's folder in the user's cache, or in the temporary folder without a home."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = given if given.is_absolute() else Path(os.environ.get("HOME") or "/") / ".cache"
    fallback = Path(tempfile.gettempdir()) / f"roadstead-cache-{os.getuid()}"
    for folder in (base / "roadstead", fallback):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
                return folder
    raise TestbedError(
        f"no folder for the cache: neither {base} nor the temporary folder can be written",
        step="cache",
        hint="set XDG_CACHE_HOME to a folder you may write to",
    )
