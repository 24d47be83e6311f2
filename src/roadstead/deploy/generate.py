"""Writes every generated file of the repository, or tells which are stale.

`python -m roadstead.deploy.generate [--check]`, from the repository's root. A part is a module
with `generated() -> {path: text}`; it is found by name, since some stand above this package.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

PARTS = (
    "roadstead.cli.reference",
    "roadstead.deploy.fields",
    "roadstead.deploy.permissions",
    "roadstead.deploy.services",
    "roadstead.deploy.shipped",
)


def generated() -> dict[str, str]:
    """Every generated file, by its path below the root."""
    found: dict[str, str] = {}
    for name in PARTS:
        found |= importlib.import_module(name).generated()
    return dict(sorted(found.items()))


def stale(root: Path) -> tuple[str, ...]:
    """The files that are missing or hold something else."""
    return tuple(path for path, text in generated().items() if _held(root / path) != text)


def _held(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


def main(arguments: Sequence[str]) -> int:
    """Write, or with `--check` only tell; gives the exit code."""
    root = Path.cwd()
    old = stale(root)
    if "--check" in arguments:
        for path in old:
            sys.stderr.write(f"error: {path} is stale\nhint: make manifests\n")
        return 1 if old else 0
    for path in old:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(generated()[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
