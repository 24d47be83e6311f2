"""The output folder of `service render`: all of a render is written, or nothing of it.

Changed files are staged beside the folder, then moved in one by one, the list of what is ours
last. What was there before is kept until the end: an error or an interrupt puts it back at once,
and after a kill the next run does. Only what the folder's `.manifest` names is ever replaced or
deleted. Source: service-definitions 5.2.
"""

import fcntl
import json
import os
import shutil
import signal
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from roadstead.errors import InputError

MANIFEST = ".manifest"
_JOURNAL = "journal.json"
_STAGED = "new"
_KEPT = "old"


Mark = tuple[int, int, int]
"""What tells a file from another one, or from itself changed: size, time of change in ns, inode."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did, as paths below the folder, sorted.

    foreign: files in the folder that are not ours; they were left alone.
    marks: of each file whose content was compared or written.
    """

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    foreign: tuple[str, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict, repr=False, compare=False)


def owned(out: Path) -> frozenset[str]:
    """The paths that an earlier render wrote there; none where there is no list.

    Raises: InputError for a list that cannot be read or names something outside the folder.
    """
    path = out / MANIFEST
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise InputError(
            f"the list of rendered files cannot be read: {said}", place=str(path)
        ) from None
    for number, line in enumerate(lines, start=1):
        if not _stays_inside(line):
            raise InputError(
                f"`{line}` is no path below the folder; nothing was written",
                place=f"{path}:{number}:1",
                hint="restore the file from version control, or render into an empty folder",
            )
    return frozenset(lines)


def manifest(paths: Iterable[str]) -> bytes:
    """The list of what a render owns, itself included."""
    return "".join(f"{path}\n" for path in sorted({*paths, MANIFEST})).encode()


def write_tree(
    out: Path, files: Mapping[str, bytes], kept: Mapping[str, Mark] | None = None
) -> Written:
    """Make the folder hold exactly these files of ours, and leave all others alone.

    files: content by path below the folder, without the manifest. Equal ones are not rewritten.
    kept: further files of ours that stay as they are.
    Raises: InputError when the folder cannot be written, a file that is not ours stands where one
        of ours belongs, another render is at work, or one that is kept was changed meanwhile; the
        folder is then as it was.
    """
    kept = kept or {}
    out = Path(os.path.abspath(out))  # noqa: PTH100 - a link to the folder is the person's choice
    _make(out)
    with _stage(out) as stage:
        before = owned(out)
        _refuse_foreign(out, files, before)
        _refuse_changed(out, kept)
        wanted = {**files, MANIFEST: manifest([*files, *kept])}
        held = {path: _holds(f"{out}/{path}", content) for path, content in wanted.items()}
        marks = {path: mark for path, mark in held.items() if mark is not None}
        changed = sorted(held.keys() - marks)
        ours = frozenset(wanted).union(kept)
        removed = sorted(path for path in before - ours if os.path.lexists(out / path))
        if changed or removed:
            with _as_input_error(out):
                marks |= _put(stage, {path: wanted[path] for path in changed})
                _exchange(out, stage, changed, removed)
        return Written(
            tuple(path for path in changed if path != MANIFEST),
            tuple(removed),
            foreign(out, ours),
            marks,
        )


def mark_of(found: os.stat_result) -> Mark | None:
    """The mark of a plain file; None for anything else."""
    if not stat.S_ISREG(found.st_mode):
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def stays(out: Path, marks: Mapping[str, Mark]) -> bool:
    """Tell whether every one of these files is what it was."""
    try:
        return all(mark_of(os.lstat(f"{out}/{path}")) == mark for path, mark in marks.items())
    except OSError:
        return False


def _refuse_changed(out: Path, kept: Mapping[str, Mark]) -> None:
    if not stays(out, kept):
        raise InputError(
            "another program changed files there while they were rendered; nothing was written",
            place=str(out),
            hint="render again",
        )


def foreign(out: Path, ours: frozenset[str]) -> tuple[str, ...]:
    """Files below the folder that are not ours; of a folder that holds none of ours its name."""
    homes = set(_homes(ours))
    found: list[str] = []
    for folder, names, files in os.walk(out):
        inside = folder[len(str(out)) + 1 :]
        base = f"{inside}/" if inside else ""
        found += [f"{base}{name}" for name in files if f"{base}{name}" not in ours]
        strange = [name for name in names if f"{base}{name}" not in homes]
        found += [f"{base}{name}/" for name in strange]
        names[:] = [name for name in names if f"{base}{name}" in homes]
    return tuple(sorted(found))


def _stays_inside(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and path.isprintable() and not {"", ".", ".."} & set(parts)


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError("is a file, not a folder to render into", place=str(out)) from None
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", place=str(out)) from None


@contextmanager
def _stage(out: Path) -> Iterator[Path]:
    """Give a folder on the same file system, for us alone; what a kill left there is undone."""
    beside = out.parent
    inside = beside.stat().st_dev != out.stat().st_dev or not os.access(beside, os.W_OK | os.X_OK)
    stage = (out / ".roadstead-render") if inside else beside / f".{out.name}.roadstead-render"
    with _as_input_error(out):
        stage.mkdir(exist_ok=True)
        lock = os.open(stage, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                "another render writes there", place=str(out), hint="wait until it has ended"
            ) from None
        with _as_input_error(out):
            _undo_what_a_kill_left(out, stage)
        try:
            yield stage
        finally:
            # Without the journal: an exchange that could not be undone is for the next run.
            if not (stage / _JOURNAL).exists():
                shutil.rmtree(stage, ignore_errors=True)
    finally:
        os.close(lock)


@contextmanager
def _as_input_error(out: Path) -> Iterator[None]:
    """Tell of a full disk, or a folder without permission, in words."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}; what was there is unchanged",
            place=str(out),
            hint="make room or mend the permissions, then render again",
        ) from None


def _refuse_foreign(out: Path, files: Mapping[str, bytes], before: frozenset[str]) -> None:
    """Refuse what would overwrite, or reach through, something that is not ours."""
    for home in _homes({*files, *before}):
        where = out / home
        if where.is_symlink() or (where.exists() and not where.is_dir()):
            raise _not_ours(where)
    for path in sorted(files.keys() - before):
        at = f"{out}/{path}"
        if not os.path.lexists(at):
            continue
        if os.path.islink(at) or _holds(at, files[path]) is None:  # noqa: PTH114 - twenty thousand times
            raise _not_ours(out / path)


def _homes(paths: Iterable[str]) -> list[str]:
    """Every folder around the paths, outer ones first."""
    found: set[str] = set()
    for home in {path.rpartition("/")[0] for path in paths}:
        inner = home
        while inner and inner not in found:
            found.add(inner)
            inner = inner.rpartition("/")[0]
    return sorted(found)


def _not_ours(path: Path) -> InputError:
    return InputError(
        "stands where a rendered file belongs, and is not ours; nothing was written",
        place=str(path),
        hint="move it away, or render into another folder",
    )


def _holds(path: str, content: bytes) -> Mark | None:
    """The mark of a file that holds exactly this; None for any other."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - asked twenty thousand times
            found = os.fstat(file.fileno())
            held = found.st_size == len(content) and file.read() == content
    except OSError:
        return None
    return mark_of(found) if held else None


def _put(stage: Path, files: Mapping[str, bytes]) -> dict[str, Mark]:
    """Write files below the stage; gives their marks, which a move does not change."""
    made: set[str] = set()
    marks: dict[str, Mark] = {}
    for path, content in files.items():
        target = f"{stage}/{_STAGED}/{path}"
        folder = os.path.dirname(target)  # noqa: PTH120 - twenty thousand times
        if folder not in made:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - same
            made.add(folder)
        with open(target, "wb") as file:  # noqa: PTH123 - same
            file.write(content)
            file.flush()
            found = os.fstat(file.fileno())
        marks[path] = (found.st_size, found.st_mtime_ns, found.st_ino)
    return marks


def _exchange(out: Path, stage: Path, changed: list[str], removed: list[str]) -> None:
    """Move the staged files in, the manifest last; put everything back when that is cut short."""
    existing = [path for path in (*changed, *removed) if os.path.lexists(f"{out}/{path}")]
    for home in ("", *_homes(existing)):
        (stage / _KEPT / home).mkdir(parents=True, exist_ok=True)
    for path in existing:
        _keep(f"{out}/{path}", f"{stage}/{_KEPT}/{path}")
    folders = _missing_folders(out, changed)
    journal = {"changed": changed, "kept": existing, "made": folders}
    (stage / _JOURNAL).write_text(json.dumps(journal), "utf-8")
    try:
        for path in _moves(changed, folders):
            os.replace(f"{stage}/{_STAGED}/{path}", f"{out}/{path}")  # noqa: PTH105 - cut short by tests
        for path in removed:
            (out / path).unlink()
        if MANIFEST in changed:
            os.replace(stage / _STAGED / MANIFEST, out / MANIFEST)  # noqa: PTH105 - same
    except BaseException:
        with _undisturbed():
            _undo(out, stage)
        raise
    (stage / _JOURNAL).unlink()
    _prune(out, removed)


def _moves(changed: list[str], missing: list[str]) -> list[str]:
    """What is moved: a folder that is not there yet as a whole, else file by file."""
    whole: list[str] = []
    for folder in missing:  # outer ones come first
        if not any(folder.startswith(f"{outer}/") for outer in whole[-1:]):
            whole.append(folder)
    inside = set(missing)
    single = [path for path in changed if os.path.dirname(path) not in inside]  # noqa: PTH120 - text
    return [*whole, *(path for path in single if path != MANIFEST)]


def _keep(path: str, kept: str) -> None:
    """Keep a file under a second name; a copy where the file system has no links."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, kept, follow_symlinks=False)


def _missing_folders(out: Path, paths: list[str]) -> list[str]:
    """The folders that must be made, outer ones first."""
    return [folder for folder in _homes(paths) if not (out / folder).is_dir()]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back interrupts until the folder is whole again."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _undo_what_a_kill_left(out: Path, stage: Path) -> None:
    if (stage / _JOURNAL).exists():
        with _undisturbed():
            _undo(out, stage)
    for name in (_STAGED, _KEPT):
        shutil.rmtree(stage / name, ignore_errors=True)


def _undo(out: Path, stage: Path) -> None:
    """Put the folder back as it was before the exchange; may be run again when it was cut short."""
    journal = json.loads((stage / _JOURNAL).read_text("utf-8"))
    kept = set(journal["kept"])
    for path in journal["changed"]:
        if path not in kept:
            (out / path).unlink(missing_ok=True)
    for path in journal["kept"]:
        if os.path.lexists(stage / _KEPT / path):
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            os.rename(stage / _KEPT / path, out / path)  # noqa: PTH104 - replaces a file as well
    for folder in reversed(journal["made"]):
        if (out / folder).is_dir():
            (out / folder).rmdir()
    (stage / _JOURNAL).unlink()


def _prune(out: Path, removed: list[str]) -> None:
    """Take away the folders that the removed files leave empty."""
    for folder in reversed(_homes(removed)):
        if (out / folder).is_dir() and not any((out / folder).iterdir()):
            (out / folder).rmdir()
