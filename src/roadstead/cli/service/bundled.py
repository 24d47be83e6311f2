"""The bundled examples, whole or changed, as the self-test renders them. No other file is read."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from roadstead.capabilities.services import package
from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.snapshot import Previous, Snapshot
from roadstead.cli.service.judged import Judged, judge_snapshots
from roadstead.errors import BugError
from roadstead.kube.documents import dump, parse
from roadstead.sim.merge import merged

PLATFORM = "platform.yaml"
Changes = Mapping[str, Mapping[str, Any]]
_HOME = "selftest"


@cache
def texts() -> tuple[Text, ...]:
    """The five definitions, sorted by name."""
    folder = files("roadstead").joinpath(_HOME, "services")
    found = sorted((one.name, one.read_bytes()) for one in folder.iterdir())
    return tuple(Text(name, data) for name, data in found if name.endswith(".yaml"))


@cache
def platform() -> bytes:
    """The platform file."""
    return files("roadstead").joinpath(_HOME, PLATFORM).read_bytes()


def changed(
    services: Changes | None = None, settings: Mapping[str, Any] | None = None
) -> tuple[tuple[Text, ...], bytes]:
    """The examples with merges laid over them, a None taking a key away.

    services: by name; one that is no example is a definition of its own.
    """
    bodies = {one.name.removesuffix(".yaml"): _value(one.data) for one in texts()}
    for name, change in (services or {}).items():
        bodies[name] = merged(bodies.get(name, {"name": name}), change)
    made = tuple(Text(f"{name}.yaml", dump([bodies[name]]).encode()) for name in sorted(bodies))
    return made, dump([merged(_value(platform()), settings or {})]).encode()


def _value(data: bytes) -> Any:
    return parse(data, "", decimal=True).documents[0].value


def judged(
    definitions: tuple[Text, ...],
    settings: bytes,
    previous: Callable[[str], Previous | None] = lambda _: None,
) -> Judged:
    """What comes of definitions on a platform.

    Raises: BugError where they cannot be rendered: the examples can.
    """
    read = read_catalog(definitions, Text(PLATFORM, settings))
    if read.catalog is None:
        raise BugError("the bundled platform file does not fit its schema")
    seen = [
        Snapshot(one, read.catalog, secrets={}, previous=previous(one.name))
        for one in read.catalog.everyone
    ]
    result = judge_snapshots(read.catalog, seen, read.findings)
    if result.stops:
        errors = [one.line for one in result.findings if one.severity == "error"]
        raise BugError(f"the bundled examples are refused: {errors[0]}")
    return result


def tree(result: Judged) -> dict[str, bytes]:
    """Every file of a rendered catalog."""
    found: dict[str, bytes] = {}
    for name, output in result.outputs.items():
        found |= package.service_files(result.snapshots[name], output, str)
    if result.catalog is not None:
        found |= package.platform_files(result.catalog, str)
    return found


def objects(result: Judged) -> Iterator[Rendered]:
    """Every object of a rendered catalog, packaged ones among them, each once."""
    for output in result.outputs.values():
        yield from {id(one): one for one in (*output.effective, *output.folder)}.values()


def digests(files_: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file, as hex."""
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files_.items())}
