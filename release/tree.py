"""A folder as a layer: the same files give the same bytes, whoever made them and when."""

import shutil
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from release.fault import ReleaseError

FOLDER_MODE = 0o755
PROGRAM_MODE = 0o755
FILE_MODE = 0o644


def prune(root: Path, patterns: list[str]) -> None:
    """Remove what matches below a folder; a pattern that matches nothing is a mistake.

    Raises: ReleaseError naming that pattern.
    """
    for pattern in patterns:
        found = list(root.glob(pattern))
        if not found:
            raise ReleaseError(f"`{pattern}` of release/debian.toml matches nothing")
        for path in found:
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def write_layer(root: Path, to: Path, moment: int) -> None:
    """Write a folder as a tar file that depends on nothing but names, content and who may run it.

    moment: seconds since the epoch; the time of every file. All is root's, nothing is setuid, and
    only the owner may write.
    Raises: ReleaseError for what is neither file, folder nor link.
    """
    with tarfile.open(to, "w", format=tarfile.PAX_FORMAT) as layer:
        for path in _walked(root):
            entry = tarfile.TarInfo(path.relative_to(root).as_posix())
            entry.mtime = moment
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                entry.type, entry.linkname, entry.mode = (
                    tarfile.SYMTYPE,
                    str(path.readlink()),
                    0o777,
                )
                layer.addfile(entry)
            elif stat.S_ISDIR(mode):
                entry.type, entry.mode = tarfile.DIRTYPE, FOLDER_MODE
                layer.addfile(entry)
            elif stat.S_ISREG(mode):
                entry.mode = PROGRAM_MODE if _is_program(path) else FILE_MODE
                entry.size = path.stat().st_size
                with path.open("rb") as content:
                    layer.addfile(entry, content)
            else:
                raise ReleaseError(f"{path} is neither a file, a folder nor a link")


def _is_program(path: Path) -> bool:
    """Whether it is started as such; Debian marks some modules that can be, too."""
    return path.parent.name == "bin" or path.name.startswith("ld-linux")


def _walked(root: Path) -> Iterator[Path]:
    yield from sorted(root.rglob("*"), key=lambda path: path.relative_to(root).as_posix())
