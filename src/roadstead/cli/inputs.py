"""What a command line is turned into: settings, the time, standard input.

Every problem is an InputError with its place; an engine table read by mistake as empty would
withdraw anchors, so none is ever assumed.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.documents import Document, parse
from roadstead.kube.times import format_time, parse_time
from roadstead.settings import Settings, parse_ca_sources
from roadstead.sim.flags import RUN_ONLY, START, settings_of

OFFLINE_ONLY = frozenset({"now", "capabilities", "standIns", "only"})
"""Keys of a case's settings.yaml that are no flags of `run`."""


@dataclass(frozen=True, slots=True)
class Given:
    """What flags and the settings file say together; a flag wins.

    only: controllers that run; empty for all. now: the time an offline world begins at.
    stand_ins: neighbours that act; None for those that have something to do.
    rest: what concerns the process alone, by its camelCase name.
    """

    settings: Settings
    now: datetime
    only: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cluster is asked.

    namespace: of what is asked about, and where less may be read; empty for all.
    """

    kubeconfig: str
    context: str
    namespace: str
    settings: Settings


def read(path: str) -> bytes:
    """The bytes of a file.

    Raises: InputError naming it.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=path) from None


def as_case(files: Sequence[str] | None, settings_file: str) -> tuple[list[str], str, str]:
    """Take a case's folder for its world, its settings and the time it begins at.

    Gives the files, the settings file and an RFC 3339 time, each as it was given where no folder
    of a case is among the files. Source: cases.md, `exit`.
    """
    found, start = [], ""
    for path in files or ():
        folder = Path(path)
        if not ((folder / "world.yaml").is_file() and (folder / "want.yaml").is_file()):
            found.append(path)
            continue
        found.append(str(folder / "world.yaml"))
        start = format_time(START)
        if not settings_file and (folder / "settings.yaml").is_file():
            settings_file = str(folder / "settings.yaml")
    return found, settings_file, start


def given(
    settings_file: str,
    sources_file: str,
    allowed: Sequence[str],
    *,
    offline: bool = True,
    start: str = "",
) -> Given:
    """Read the settings file and lay the flags over it.

    offline: whether the keys of an offline world may stand in the file.
    start: when an offline world begins where the file does not say; empty for now.
    Raises: InputError.
    """
    flags: dict[str, Any] = {}
    folder = Path()
    if settings_file:
        flags = _flags(settings_file)
        folder = Path(settings_file).parent
    own = {key: flags.pop(key) for key in OFFLINE_ONLY & set(flags)} if offline else {}
    rest = {key: flags.pop(key) for key in RUN_ONLY & set(flags)}
    try:
        settings = settings_of(flags, folder)
    except InputError as error:
        place = error.place or settings_file
        raise InputError(error.message, place=place, hint=error.hint) from None
    if sources_file:
        settings = replace(settings, ca_sources=ca_sources(sources_file))
    if allowed:
        kinds = settings.allow_withdrawals | frozenset(allowed)
        settings = replace(settings, allow_withdrawals=kinds)
    return Given(
        settings,
        _now(own.get("now", start or None), settings_file),
        tuple(own.get("capabilities") or ()),
        _stand_ins(own, start),
        rest,
    )


def _stand_ins(own: Mapping[str, Any], start: str) -> tuple[str, ...] | None:
    """The neighbours that act; in a case none unless it names them. Source: cases.md."""
    if "standIns" not in own:
        return () if start else None
    stated = own["standIns"] or ()
    return (stated,) if isinstance(stated, str) else tuple(stated)


def ca_sources(path: str) -> Any:
    """Read the engine table.

    Raises: InputError, also when it is missing: it is never taken for an empty one.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        message = f"the engine table cannot be read: {error.strerror}"
        raise InputError(message, place=path) from None
    return parse_ca_sources(text, path)


def platform_values(text: bytes, path: str) -> tuple[Document | None, list[InputError]]:
    """The one map of a file of the platform's values, or what is wrong with it."""
    parsed = parse(text, path)
    if parsed.problems:
        return None, list(parsed.problems)
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0].value, dict):
        return None, [InputError("platform values are one map", place=path)]
    return parsed.documents[0], []


def wall() -> datetime:
    """The time of day, whole seconds, UTC."""
    return datetime.fromtimestamp(int(time.time()), UTC)


def _flags(path: str) -> dict[str, Any]:
    parsed = parse(read(path), path)
    if parsed.problems:
        raise parsed.problems[0]
    if len(parsed.documents) > 1 or not all(
        isinstance(document.value, dict) for document in parsed.documents
    ):
        raise InputError("settings are one map of flags in camelCase", place=path)
    return dict(parsed.documents[0].value) if parsed.documents else {}


def _now(stated: object, place: str) -> datetime:
    if stated is None:
        return wall()
    try:
        return parse_time(str(stated))
    except ValueError:
        raise InputError(f"`now: {stated}` is no RFC 3339 time", place=place) from None
