"""From what was judged to the files of the tree, and to what is told of each service."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from roadstead.capabilities.services import package
from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.model import Service
from roadstead.cli.out import counted
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
    catalog = result.catalog
    if catalog is None:
        return
    for name in names:
        yield row(catalog, name, len(result.outputs[name].folder))


def row(catalog: Catalog, name: str, objects: int) -> Row:
    """The line of one service."""
    return Row(name, objects, catalog.wave(name), tuple(notes(catalog, catalog.by_name[name])))


def notes(catalog: Catalog, service: Service) -> Iterator[str]:
    """What stands out about a service, in a few words each."""
    told = list(_notes(catalog, service))
    yield from told
    if not told and service.dependencies:
        yield counted(len(service.dependencies), "dependency", "dependencies")


def _notes(catalog: Catalog, service: Service) -> Iterator[str]:
    if service.is_vm:
        yield "virtual machine"
        yield counted(1 + len(service.longhorn), "disk")
    if service.in_cluster_clients:
        yield counted(len(service.in_cluster_clients), "direct client")
    if callers := catalog.callers_of(service.name):
        yield counted(len(callers), "caller")
    if service.egress != "internet":
        yield "vpn egress" if service.egress == "vpn" else "no egress"
    for one in service.bulk:
        mode = "ReadOnlyMany" if one.read_only else "ReadWriteMany"
        yield f"bulk volume {one.name} ({mode})"
