"""What the lock says: which packages are installed with Roadstead, at which version."""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from release.fault import run

ROOT = Path(__file__).parent.parent
EXTRAS = ("plan", "up")


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """One package of the lock."""

    name: str
    version: str


def uv(*arguments: str | Path) -> str:
    """Run uv in the checkout, the one that set up this environment, and give what it prints."""
    found = shutil.which("uv") or ROOT / ".tools/bin/uv"
    return run([found, "--quiet", *arguments], "`make` sets it up", folder=ROOT)


def locked(extras: Iterable[str] = EXTRAS) -> tuple[Locked, ...]:
    """Give the packages that come with Roadstead on this kind of system, by name.

    extras: of Roadstead; none for what the image has.
    """
    asked = [word for extra in extras for word in ("--extra", extra)]
    form = ("--no-dev", "--no-emit-project", "--no-hashes", "--no-header", "--no-annotate")
    lines = uv("export", "--frozen", *form, *asked).splitlines()
    needed = [Requirement(line) for line in lines if line.strip()]
    return tuple(
        sorted(
            Locked(one.name, next(iter(one.specifier)).version)
            for one in needed
            if one.marker is None or one.marker.evaluate({"python_version": _python()})
        )
    )


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
