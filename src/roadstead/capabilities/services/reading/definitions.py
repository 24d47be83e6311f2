"""Definitions as they are written: which fit their schema, and what is wrong with the others."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.services.api.fields import DEFINITION, SCHEMA_VERSION
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.api.words import VERSION
from roadstead.capabilities.services.reading.plain import about_of
from roadstead.capabilities.services.reading.texts import Text, opened, origins
from roadstead.capabilities.services.reading.walk import Walk

_SUPPORTED = (1, 5)


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition that fits its schema, before defaults."""

    origin: Origin = field(repr=False)

    @property
    def written(self) -> Mapping[str, Any]:
        """It, as it is written."""
        return self.origin.value

    @property
    def name(self) -> str:
        """The service's name."""
        name: str = self.written["name"]
        return name


@dataclass(frozen=True, slots=True)
class Definitions:
    """What files gave. broken: names of definitions that do not fit, as far as they have one."""

    fitting: tuple[Definition, ...]
    broken: frozenset[str]
    findings: tuple[Finding, ...]
    files: int = 0


def read_definitions(texts: Iterable[Text], *, core: bool = False) -> Definitions:
    """Read every definition of every file, and say all that is wrong. core: no extensions."""
    fitting: list[Definition] = []
    broken: set[str] = set()
    findings: list[Finding] = []
    files = 0
    for text in texts:
        files += 1
        found = opened(text)
        findings += found.findings
        if found.document is None:
            continue
        whole = not found.findings
        for origin in origins(found.document, findings):
            problems = list(_problems(origin, core=core))
            findings += problems
            name = origin.value.get("name")
            if not problems and whole:
                fitting.append(Definition(origin))
            elif isinstance(name, str):
                broken.add(name)
    return Definitions(tuple(fitting), frozenset(broken), tuple(findings), files)


def _problems(origin: Origin, *, core: bool) -> Iterator[Finding]:
    written = origin.value
    walk = Walk(origin, about_of(written.get("name")), core)
    yield from walk.findings(DEFINITION, written)
    yield from _source(walk, written)
    yield from _version(walk, written)


def _source(walk: Walk, written: Mapping[str, Any]) -> Iterator[Finding]:
    """A source without any key; which key it must be is invariant I-1."""
    if written.get("source") == {}:
        wanted = "vmTemplate" if written.get("kind") == "vm" else "image"
        place = walk.origin.key_place("source")
        yield walk.finding("S-03", place, f"`source.{wanted}` is required")


def _version(walk: Walk, written: Mapping[str, Any]) -> Iterator[Finding]:
    """The rules of the contract's 1.5."""
    stated = written.get("schemaVersion", SCHEMA_VERSION)
    if not isinstance(stated, str) or re.fullmatch(VERSION, stated) is None:
        return  # the schema has said so
    version = tuple(int(part) for part in stated.split("."))
    if version[0] != _SUPPORTED[0] or version[:2] > _SUPPORTED:
        message = f"schemaVersion {stated} is not supported; this renderer reads 1.0.0 to 1.5.x"
        yield walk.finding("S-10", walk.origin.place("schemaVersion"), message)
        return
    for key, setting in DEFINITION.fields.items():
        if key not in written or not setting.since:
            continue
        if version < tuple(int(part) for part in setting.since.split(".")):
            message = f"`{key}` needs schemaVersion >= {setting.since}; the file declares {stated}"
            yield walk.finding("S-11", walk.origin.key_place(key), message)
