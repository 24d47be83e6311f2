"""From what was judged to the files of the tree, and to what is told of each service."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from roadstead.capabilities.services import package
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.cli.service.judged import Judged


@dataclass(frozen=True, slots=True)
class Row:
    """What is told of one service. objects: in its folder. notes: what stands out."""

    name: str
    objects: int
    wave: int
    notes: tuple[str, ...]


def tree_of(
    result: Judged, shown: Callable[[str], str], names: Sequence[str] = ()
) -> dict[str, bytes]:
    """Every file of the tree by its path, or those of a few services alone.

    shown: what the tree calls a definition file. Empty where an error stops the rendering.
    """
    catalog = result.catalog
    if catalog is None or result.stops:
        return {}
    files: dict[str, bytes] = {}
    for name in names or result.outputs:
        files |= package.service_files(result.snapshots[name], result.outputs[name], shown)
    return files if names else files | package.platform_files(catalog, shown)


def rows(result: Judged, names: Iterable[str]) -> Iterator[Row]:
    """One line a service."""
    for name in names:
        seen = result.snapshots[name]
        objects = len(result.outputs[name].folder)
        yield Row(name, objects, seen.catalog.wave(name), tuple(notes(seen)))


def notes(seen: Snapshot) -> Iterator[str]:
    """What stands out about a service, in a few words each."""
    told = list(_notes(seen))
    yield from told
    if not told and seen.service.dependencies:
        yield counted(len(seen.service.dependencies), "dependency", "dependencies")


def _notes(seen: Snapshot) -> Iterator[str]:
    service = seen.service
    if service.is_vm:
        yield "virtual machine"
        yield counted(1 + len(service.longhorn), "disk")
    if service.in_cluster_clients:
        yield counted(len(service.in_cluster_clients), "direct client")
    if callers := seen.catalog.callers_of(service.name):
        yield counted(len(callers), "caller")
    if service.egress != "internet":
        yield "vpn egress" if service.egress == "vpn" else "no egress"
    for one in service.bulk:
        mode = "ReadOnlyMany" if one.read_only else "ReadWriteMany"
        yield f"bulk volume {one.name} ({mode})"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"
