"""Catalogs of definitions for tests, and what they are rendered to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.effective import Output, render
from roadstead.capabilities.services.snapshot import Snapshot

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Shelf:
    """Files of one catalog. name: what a test that fails is called by."""

    name: str
    platform: Path
    definitions: tuple[Path, ...]

    def __str__(self) -> str:
        """Its name."""
        return self.name


def examples() -> Shelf:
    """The contract's five."""
    found = tuple(sorted((EXAMPLES / "services").glob("*.yaml")))
    return Shelf("examples", EXAMPLES / "platform.yaml", found)


def case_shelves() -> Iterator[Shelf]:
    """The catalogs of all cases that are rendered."""
    for folder in sorted((ROOT / "tests/cases/services").iterdir()):
        if (folder / "want").is_dir():
            found = tuple(sorted((folder / "catalog").rglob("*.yaml")))
            yield Shelf(folder.name, folder / "platform.yaml", found)


def outputs(shelf: Shelf) -> Mapping[str, Output]:
    """What each service of a catalog is rendered to."""
    texts = [Text(str(path), path.read_bytes()) for path in shelf.definitions]
    read = read_catalog(texts, Text(str(shelf.platform), shelf.platform.read_bytes()))
    assert read.catalog is not None, [str(one) for one in read.findings]
    catalog = read.catalog
    return {one.name: render(Snapshot(one, catalog)) for one in catalog.services}


@cache
def rendered(shelf: Shelf) -> tuple[Mapping[str, Any], ...]:
    """The effective set of a whole catalog, as plain objects."""
    bodies = [one.body for output in outputs(shelf).values() for one in output.effective]
    # As any reader of the files gets them: a scalar with a note is a scalar.
    return tuple(yaml.safe_load(yaml.safe_dump_all([plain(body)])) for body in bodies)


def plain(value: Any) -> Any:
    """A tree of nothing but what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def policies(bodies: tuple[Mapping[str, Any], ...]) -> list[Mapping[str, Any]]:
    """The network policies among them."""
    return [one for one in bodies if one["kind"] in {"NetworkPolicy", "CiliumNetworkPolicy"}]
