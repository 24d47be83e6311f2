"""Rules of volumes and paths. Source: contract 3.12, 4.2."""

import posixpath
from collections.abc import Iterator

from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.parts import DEPLOYMENT
from roadstead.capabilities.services.decide.saying import said
from roadstead.capabilities.services.snapshot import Snapshot, Volume
from roadstead.kube.quantities import parse_quantity

_LONGEST_SERIAL = 20


def export_belongs_to_bulk(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-01."""
    for one in seen.service.storage:
        path = ("storage", one.index, "export")
        if one.bulk == ("export" in seen.service.origin.value["storage"][one.index]):
            continue
        message = (
            f"volume {one.name} of class bulk needs `export`, the path on the bulk server"
            if one.bulk
            else f"volume {one.name} of class longhorn has no `export`"
        )
        yield said(seen, "P-STO-01", path, message)


def fault_of_path(path: str, *, absolute: bool, root: bool = False) -> str:
    """What is wrong with a path; empty for nothing. root: whether `/` itself will do.

    Source: contract 4.2, P-STO-02.
    """
    faults = (
        (absolute and not path.startswith("/"), "it is not absolute"),
        (not absolute and path.startswith("/"), "it is not relative"),
        (not path.isprintable(), "it holds a control character"),
        (":" in path, "it holds `:`"),
        (".." in path.split("/"), "it holds `..`"),
        (path == "/" and not root, "it is the root"),
    )
    for wrong, fault in faults:
        if wrong:
            return fault
    normal = posixpath.normpath(path).replace("//", "/")
    return "" if normal == path and path != "." else f"it is not normalised; write `{normal}`"


def paths_are_plain(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-02, of mount paths, exports, subtrees and files."""
    service = seen.service
    for one in service.storage:
        written = service.origin.value["storage"][one.index]
        asked = [("mountPath", one.mount_path, True, False)]
        asked += [("export", one.export, True, True)] if "export" in written else []
        asked += [("subPath", one.sub_path, False, False)] if "subPath" in written else []
        for name, path, absolute, root in asked:
            fault = fault_of_path(path, absolute=absolute, root=root)
            if fault:
                message = f"`storage[{one.index}].{name}`: `{_shown(path)}` cannot be used: {fault}"
                yield said(seen, "P-STO-02", ("storage", one.index, name), message)
    for file in service.config:
        fault = fault_of_path(file.path, absolute=True)
        if fault:
            message = f"`config[{file.index}].path`: `{_shown(file.path)}` cannot be used: {fault}"
            yield said(seen, "P-STO-02", ("config", file.index, "path"), message)


def _shown(path: str) -> str:
    return path if path.isprintable() else path.encode("unicode_escape").decode()


def mounts_are_apart(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-03; a path that is not normalised is P-STO-02's already."""
    service = seen.service
    first: dict[str, str] = {}
    for one in sorted(service.storage, key=lambda volume: volume.index):
        other = first.setdefault(one.mount_path, f"volume {one.name}")
        if other != f"volume {one.name}":
            message = f"volume {one.name} and {other} are both mounted at {one.mount_path}"
            yield said(seen, "P-STO-03", ("storage", one.index, "mountPath"), message)
    for file in service.config:
        if file.path in first:
            message = f"the file and {first[file.path]} are both mounted at {file.path}"
            yield said(seen, "P-STO-03", ("config", file.index, "path"), message)


def exports_are_mounted_once(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-05: link() between two mounts of one export fails."""
    first: dict[str, tuple[str, str]] = {}
    for one in sorted(seen.service.bulk, key=lambda volume: volume.index):
        if not one.export:
            continue
        other, sub_path = first.setdefault(one.export, (one.name, one.sub_path))
        if other != one.name and sub_path != one.sub_path:
            message = (
                f"{one.export} is mounted twice, as {other} and as {one.name}: hardlinks and"
                " atomic moves between them fail"
            )
            path = ("storage", one.index, "subPath")
            yield said(seen, "P-STO-05", path, message, hint="mount the common ancestor once")


def fs_group_is_not_relied_on(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-06."""
    if "fsGroup" not in seen.service.pod_security_context:
        return
    for one in seen.service.bulk:
        if not one.read_only:
            message = (
                f"fsGroup does nothing on the NFS volume {one.name}: the container's uid and gid"
                " must own the export"
            )
            yield said(seen, "P-STO-06", ("podSecurityContext", "fsGroup"), message)


def one_pod_holds_a_volume(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-08."""
    service = seen.service
    if service.is_vm or service.workload != DEPLOYMENT or service.replicas <= 1:
        return
    if service.longhorn:
        names = ", ".join(one.name for one in service.longhorn)
        message = f"{service.replicas} replicas cannot share the longhorn volume {names}"
        hint = "set `workload: StatefulSet`"
        yield said(seen, "P-STO-08", ("replicas",), message, hint=hint)


def vm_disks_are_block_storage(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-09 and P-VM-05."""
    if not seen.service.is_vm:
        return
    for one in seen.service.storage:
        if one.bulk:
            message = f"volume {one.name}: a vm has no volumes of class bulk"
            yield said(seen, "P-STO-09", ("storage", one.index, "class"), message)
        if len(one.name) > _LONGEST_SERIAL:
            message = (
                f"volume {one.name} has {len(one.name)} characters; as the serial of a disk it"
                f" may have {_LONGEST_SERIAL}"
            )
            yield said(seen, "P-VM-05", ("storage", one.index, "name"), message)


def volumes_stay(seen: Snapshot) -> Iterator[Finding]:
    """P-STO-11 and P-STO-12, against the tree as it was."""
    if seen.previous is None:
        return
    now = {one.name: one for one in seen.service.storage}
    stated = tuple(Volume(one.name, one.storage_class, one.size) for one in now.values())
    for name, was, size in seen.previous.changes(stated):
        one = now.get(name)
        if one is None:
            if was == "longhorn":
                message = (
                    f"volume {name} is no longer defined: its claim stays in the cluster, unmanaged"
                )
                yield said(seen, "P-STO-12", ("storage",), message)
        elif one.storage_class != was:
            message = f"volume {name} was of class {was} and cannot become {one.storage_class}"
            yield said(seen, "P-STO-11", ("storage", one.index, "class"), message)
        elif not one.bulk and size and parse_quantity(one.size) < parse_quantity(size):
            message = f"volume {name} cannot shrink from {size} to {one.size}"
            yield said(seen, "P-STO-11", ("storage", one.index, "size"), message)
