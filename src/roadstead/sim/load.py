"""Files, folders and standard input to objects, each with the place it stands at.

Every problem of every file is collected; none is fatal to the others. Values of Secrets are in
the objects and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.documents import Document, Place, parse
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_time, parse_duration
from roadstead.sim.kinds import Kinds
from roadstead.sim.validity import with_string_data

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Placed:
    """One object of a file.

    body: `stringData` folded into `data`, `age` turned into a creationTimestamp.
    place: where it begins.
    """

    ref: Ref
    body: dict[str, Any] = field(repr=False)
    place: Place


@dataclass(frozen=True, slots=True)
class Loaded:
    """What files gave: objects in their order, problems in theirs, and how many files were read."""

    objects: tuple[Placed, ...]
    problems: tuple[InputError, ...]
    files: int = 0


def load(paths: Iterable[str], kinds: Kinds, now: datetime, stdin: Callable[[], bytes]) -> Loaded:
    """Read objects from files, folders (everything below them) and `-`.

    now: what an `age` counts back from.
    stdin: gives standard input; asked only for `-`.
    Raises: nothing; what cannot be read is among the problems.
    """
    objects: list[Placed] = []
    problems: list[InputError] = []
    files = 0
    paths = list(paths)
    if paths.count(STANDARD_INPUT) > 1:
        problems.append(InputError("standard input is named twice", place=STANDARD_INPUT))
        paths = list(dict.fromkeys(paths))
    for path in paths:
        for name, text in _texts(path, stdin, problems):
            files += 1
            loaded = load_text(text, name, kinds, now)
            objects += loaded.objects
            problems += loaded.problems
            if path == STANDARD_INPUT and not loaded.objects and not loaded.problems:
                # A command before the pipe that failed must not pass for an empty world.
                problems.append(InputError("no object came", place=name))
    problems += _repeats(objects)
    return Loaded(tuple(objects), tuple(problems), files)


def load_text(text: bytes | str, name: str, kinds: Kinds, now: datetime) -> Loaded:
    """Read the objects of one file; repeats are left to the caller that knows all files."""
    parsed = parse(text, name)
    objects: list[Placed] = []
    problems = list(parsed.problems)
    for document in parsed.documents:
        for value, path in _flattened(document.value, ()):
            try:
                objects.append(_placed(document, value, path, kinds, now))
            except InputError as error:
                problems.append(error)
    return Loaded(tuple(objects), tuple(problems), 1)


def _texts(
    path: str, stdin: Callable[[], bytes], problems: list[InputError]
) -> Iterator[tuple[str, bytes]]:
    if path == STANDARD_INPUT:
        yield "<stdin>", stdin()
        return
    top = Path(path)
    found = [top]
    if top.is_dir():
        # A link that leads nowhere is a file that is missing, and is told as one.
        found = sorted(
            file
            for file in top.rglob("*")
            if file.suffix in SUFFIXES and (file.is_file() or file.is_symlink())
        )
        if not found:
            problems.append(InputError("no YAML or JSON file in this folder", place=path))
    for file in found:
        try:
            yield str(file), file.read_bytes()
        except OSError as error:
            problems.append(InputError(f"cannot be read: {error.strerror}", place=str(file)))


def _flattened(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[Any, tuple[str | int, ...]]]:
    """Give the objects of a List, however deep, or the value itself."""
    listed = isinstance(value, dict) and str(value.get("kind", "")).endswith("List")
    if not listed or not isinstance(value.get("items"), list):
        yield value, path
        return
    for number, item in enumerate(value["items"]):
        yield from _flattened(item, (*path, "items", number))


def _placed(
    document: Document, value: Any, path: tuple[str | int, ...], kinds: Kinds, now: datetime
) -> Placed:
    place = document.place_of(*path)
    if not isinstance(value, dict):
        raise InputError("this is no Kubernetes object, but a list or a scalar", place=str(place))
    for name in ("apiVersion", "kind"):
        if not isinstance(value.get(name), str) or not value[name]:
            raise InputError(
                f"this is no Kubernetes object: `{name}` is missing or no text",
                place=str(document.place_of(*path, name)),
            )
    meta = value.get("metadata")
    named = meta.get("name") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or not isinstance(named, str) or not named:
        raise InputError(
            f"this {value['kind']} has no `metadata.name`",
            place=str(document.place_of(*path, "metadata")),
        )
    namespace = meta.get("namespace") or ""
    if not isinstance(namespace, str):
        raise InputError("a namespace is text", place=str(document.place_of(*path, "metadata")))
    kind = kinds.of(value["apiVersion"], value["kind"], namespace)
    if namespace and not kind.namespaced:
        raise InputError(
            f"{kind.kind} {named} is in no namespace; remove `metadata.namespace`",
            place=str(document.place_of(*path, "metadata", "namespace")),
        )
    ref = kind.ref(namespace or "default", named)
    body = _aged(document, value, path, now)
    if kind.namespaced:
        body["metadata"] = {**body["metadata"], "namespace": ref.namespace}
    body = with_string_data(kind, body)
    try:
        Object.of(kind, body)
    except ValueError as error:
        raise InputError(str(error), place=str(document.place_of(*path, "metadata"))) from None
    return Placed(ref, body, place)


def _aged(
    document: Document, value: dict[str, Any], path: tuple[str | int, ...], now: datetime
) -> dict[str, Any]:
    body = {key: part for key, part in value.items() if key != "age"}
    if "age" in value:
        try:
            made = now - parse_duration(str(value["age"]))
        except (ValueError, OverflowError) as error:
            place = str(document.place_of(*path, "age"))
            raise InputError(str(error), place=place) from None
        body["metadata"] = {**body["metadata"], "creationTimestamp": format_time(made)}
    return body


def _repeats(objects: Iterable[Placed]) -> Iterator[InputError]:
    first: dict[tuple[str, ...], Placed] = {}
    for placed in objects:
        ref = placed.ref
        known = first.setdefault((ref.kind.group, ref.kind.kind, *ref[::2]), placed)
        if known is not placed:
            yield InputError(
                f"{ref} is already at {known.place}",
                place=str(placed.place),
                hint="keep one of the two",
            )
