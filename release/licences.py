"""Hold the licence of every package that comes with Roadstead against the list of allowed ones.

    python -m release.licences

`release/licences.toml` is the list. Debian's packages in the image keep their copyright files and
are not judged here.
"""

import importlib.metadata
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

from release.fault import ReleaseError, reported
from release.lock import Locked, locked

STATED: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("licences.toml").read_text(encoding="utf-8")
)
_FIELDS = ("License-Expression", "License")
_SPDX = get_spdx_licensing()


def licence(package: Locked) -> str:
    """Say a package's licence as an SPDX expression; its own words where they are none.

    Raises: ReleaseError when it is not installed here at the locked version.
    """
    try:
        about = importlib.metadata.metadata(package.name)
    except importlib.metadata.PackageNotFoundError:
        raise ReleaseError(f"{package.name} is not installed", _HINT) from None
    if about["Version"] != package.version:
        raise ReleaseError(
            f"{package.name} is installed as {about['Version']}, locked as {package.version}", _HINT
        )
    if package.name in STATED["read"]:
        return str(STATED["read"][package.name])
    classifiers = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    words = [*(about[name] for name in _FIELDS if name in about), *classifiers]
    said = [STATED["words"].get(word, word) for word in words if word]
    return next((word for word in said if _known(word)), said[0] if said else "nothing")


def refused(said: Mapping[Locked, str]) -> list[str]:
    """Name each package whose licence is not allowed, and what it says."""
    return [
        f"{package.name} {package.version} says `{expression}`"
        for package, expression in said.items()
        if not (_known(expression) and _allows(_SPDX.parse(expression)))
    ]


def licences(packages: Iterable[Locked]) -> dict[Locked, str]:
    """Say the licence of each package."""
    return {package: licence(package) for package in packages}


_HINT = "uv sync --frozen --all-extras"


def _known(expression: str) -> bool:
    try:
        return not _SPDX.validate(expression).errors
    except ExpressionError:
        return False


def _allows(expression: Any) -> bool:
    """Whether an expression can be met: every part of an AND, any of an OR."""
    if isinstance(expression, _SPDX.AND):
        return all(_allows(part) for part in expression.args)
    if isinstance(expression, _SPDX.OR):
        return any(_allows(part) for part in expression.args)
    return str(expression) in STATED["allowed"]


def check() -> None:
    """Judge all.

    Raises: ReleaseError naming each package that is refused.
    """
    packages = locked()
    if named := refused(licences(packages)):
        raise ReleaseError(
            "; ".join(named), "release/licences.toml lists what is allowed, and who was read"
        )
    sys.stdout.write(f"licences: {len(packages)} packages, each one allowed\n")


if __name__ == "__main__":
    sys.exit(reported(check))
