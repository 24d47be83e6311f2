"""When a release is made: one moment for everything in it, so that it can be made again."""

import os
from datetime import UTC, datetime
from pathlib import Path

from release.fault import ReleaseError, run

ROOT = Path(__file__).parent.parent
_HINT = "set SOURCE_DATE_EPOCH to seconds since the epoch"


def epoch() -> int:
    """The moment in seconds since the epoch: SOURCE_DATE_EPOCH, else that of the last commit.

    Raises: ReleaseError where there is neither.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH") or run(
        ["git", "log", "-1", "--format=%ct"], _HINT, folder=ROOT
    )
    if not given.strip().isdecimal():
        raise ReleaseError(f"`{given.strip()}` is no moment", _HINT)
    return int(given)


def instant(moment: int) -> str:
    """A moment as RFC 3339 writes it."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def revision() -> str:
    """The commit, where this is a checkout whose files are those of the commit; else nothing."""
    if not (ROOT / ".git").exists():
        return ""
    if run(["git", "status", "--porcelain", "--untracked-files=no"], folder=ROOT):
        return ""
    return run(["git", "rev-parse", "HEAD"], folder=ROOT).strip()
