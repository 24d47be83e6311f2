"""The files that service commands read: definitions, the platform file, the Secrets folder.

Nothing outside a given folder is read through a link in it, and no folder is left out silently.
Source: contract 1.1, 3.9.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from roadstead.capabilities.services.reading.texts import MOST_BYTES, Text
from roadstead.capabilities.services.snapshot import SecretFile
from roadstead.errors import InputError

SUFFIXES = (".yaml", ".yml", ".json")
STANDARD_INPUT = "-"
LEADS_OUT = "a symbolic link leads out of its folder"
SECRET_SUFFIX = ".sops.yaml"  # noqa: S105 - of a file's name


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found.

    texts: by path in byte order. problems: what could not be looked at.
    shown: of each text's name the path below the folder it was found in, which holds nothing of
        the machine.
    """

    texts: tuple[Text, ...] = field(repr=False)
    problems: tuple[InputError, ...]
    shown: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Found:
    """One file. real: where it is, links resolved. linked: whether its last step is a link."""

    path: str
    below: str
    real: str
    linked: bool = False
    refused: str = ""


def gather(paths: Iterable[str], stdin: Callable[[], bytes]) -> Gathered:
    """Read definitions from files, folders and all below them, and `-`.

    A file that two paths lead to is read once. Raises: nothing; problems are returned.
    """
    texts: list[Text] = []
    problems: list[InputError] = []
    found: list[_Found] = []
    piped = False
    for path in paths:
        if path == STANDARD_INPUT:
            piped = True
        elif os.path.isdir(path):  # noqa: PTH112 - text paths all through
            below = list(_below(path, problems))
            if not below and not any(problem.place.startswith(path) for problem in problems):
                problems.append(InputError("no YAML or JSON file in this folder", place=path))
            found += below
        else:
            found.append(_Found(path, os.path.basename(path), os.path.realpath(path)))  # noqa: PTH119 - ten thousand of them, and a Path is slow
    shown: dict[str, str] = {}
    for one in _once(found):
        text = _read(one, problems)
        if text is not None:
            texts.append(text)
            shown[one.path] = one.below
    if piped:
        texts.append(Text("<stdin>", stdin()))
    return Gathered(tuple(texts), tuple(problems), shown)


def platform_text(path: str) -> Text:
    """The platform file.

    Raises: InputError when it cannot be read.
    """
    problems: list[InputError] = []
    text = _read(_Found(path, path, path), problems)
    if text is None:
        raise problems[0]
    return text


def secrets_below(folder: str, problems: list[InputError]) -> dict[str, dict[str, SecretFile]]:
    """The files `SERVICE/NAME.sops.yaml`, by service and by name; none where no folder is.

    problems: what could not be looked at goes there.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - text paths all through
        return {}
    secrets: dict[str, dict[str, SecretFile]] = {}
    for one in sorted(_below(folder, problems), key=lambda found: os.fsencode(found.path)):
        service, slash, file = one.below.partition("/")
        if not slash or "/" in file or not file.endswith(SECRET_SUFFIX):
            continue
        if one.refused:
            problems.append(InputError(one.refused, place=one.path))
            continue
        text = _read(one, problems)
        if text is not None and len(text.data) > MOST_BYTES:
            problems.append(InputError(f"has more than {MOST_BYTES} bytes", place=one.path))
        elif text is not None:
            name = file.removesuffix(SECRET_SUFFIX)
            secrets.setdefault(service, {})[name] = SecretFile(one.path, text.data)
    return secrets


def _below(root: str, problems: list[InputError]) -> Iterator[_Found]:
    """Every YAML or JSON file of a folder; links to folders are not walked, what they lead to is.

    A link out of the folder is given as one that is refused.
    """
    top = os.path.realpath(root)
    inside = len(root.rstrip("/")) + 1
    waiting = [root.rstrip("/") or "/"]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            problems.append(InputError(f"cannot be read: {error.strerror}", place=folder))
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
                continue
            linked = entry.is_symlink()
            if not entry.name.endswith(SUFFIXES) and not (linked and entry.is_dir()):
                continue
            below = entry.path[inside:]
            real = os.path.realpath(entry.path) if linked else f"{top}/{below}"
            if linked and os.path.commonpath([top, real]) != top:
                yield _Found(entry.path, below, real, linked, LEADS_OUT)
            elif not entry.is_dir():
                yield _Found(entry.path, below, real, linked)


def _once(found: list[_Found]) -> list[_Found]:
    """Each file once, by its own path rather than a link's; in byte order of the path."""
    kept: dict[str, _Found] = {}
    for one in sorted(found, key=lambda one: (one.linked, os.fsencode(one.path))):
        kept.setdefault(one.path if one.refused else one.real, one)
    return sorted(kept.values(), key=lambda one: os.fsencode(one.path))


def _read(one: _Found, problems: list[InputError]) -> Text | None:
    if one.refused:
        return Text(one.path, b"", refused=one.refused)
    try:
        # Without waiting: a pipe that nobody writes to would be waited for.
        with open(os.open(one.path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - of a descriptor
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Text(one.path, file.read(MOST_BYTES + 1))
        reason = "is no plain file"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    problems.append(InputError(reason, place=one.path))
    return None


def secrets_folder(platform: str, stated: str) -> str:
    """The folder of encrypted Secrets: the stated one, else `secrets` beside the platform file."""
    return stated or str(Path(platform).parent / "secrets")
