"""A whole tree, of which only that is rendered anew which may have changed.

Every service is judged and rendered before witnesses of what it asks. One that has the same
definition and Secrets, is told the same, and whose files nobody touched is taken from the index;
for a tree without an index that is none. There is no other way of rendering a whole tree, so both
kinds of run are one code; where anything is an error, all is judged anew, so that all is told.
Source: docs/decisions/index-of-a-render.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roadstead.capabilities.services import package
from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import ERROR, Finding, in_order
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.asked import Questions, Witness, still_so
from roadstead.capabilities.services.decide import decide, judged
from roadstead.capabilities.services.decide.output import (
    Named,
    judge_output,
    names_of,
    repeated_objects,
)
from roadstead.capabilities.services.previous import previous
from roadstead.capabilities.services.render.effective import Output, render
from roadstead.capabilities.services.render.part import STORAGE_FILE, WORKLOAD_FILE
from roadstead.capabilities.services.snapshot import Previous, SecretFile, Snapshot
from roadstead.cli.service.fitting import unfit
from roadstead.cli.service.index import EMPTY, Index, Kept, digest, program
from roadstead.cli.service.rendering import Row, row
from roadstead.cli.service.session import Session, earlier, without_images
from roadstead.cli.service.tree import Mark, owned, stays


@dataclass(frozen=True, slots=True)
class Fresh:
    """One service that is rendered anew. secrets: a digest of them."""

    seen: Snapshot
    asked: Questions = field(repr=False)
    mark: str
    secrets: str
    rules: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """What a service was rendered to."""

    files: Mapping[str, bytes] = field(repr=False)
    found: tuple[Finding, ...]
    names: tuple[Named, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Renewed:
    """What came of a catalog.

    findings: of everything, sorted, with the platform's waivers.
    names: every service, sorted; none where an error keeps them from being rendered.
    fresh, made: what was rendered anew, by name; kept: the others.
    shared: the files that are of no service.
    """

    findings: tuple[Finding, ...]
    catalog: Catalog | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    fresh: Mapping[str, Fresh] = field(default_factory=dict, repr=False)
    made: Mapping[str, Made] = field(default_factory=dict, repr=False)
    kept: Mapping[str, Kept] = field(default_factory=dict, repr=False)
    shared: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def stops(self) -> bool:
        """Whether anything keeps it from being rendered."""
        return any(one.severity == ERROR for one in self.findings)

    @property
    def files(self) -> dict[str, bytes]:
        """Every file of the tree but those that stay as they are."""
        found = dict(self.shared)
        for one in self.made.values():
            found |= one.files
        return found

    @property
    def staying(self) -> dict[str, Mark]:
        """Those."""
        return {path: mark for one in self.kept.values() for path, mark in one.files.items()}

    def rows(self) -> Iterator[Row]:
        """One line a service."""
        if self.catalog is not None:
            for name in self.names:
                of = self.made[name].names if name in self.made else self.kept[name].names
                yield row(self.catalog, name, len(of))


def world_of(session: Session) -> str:
    """A digest of all that every service hangs on: the program, the platform file, the folder."""
    code, text = program(), session.platform_text
    if not code:
        return ""
    parts = (code, text.name, session.shown(text.name), session.secrets_folder)
    return digest({**{f"{at}": part.encode() for at, part in enumerate(parts)}, "text": text.data})


class _Marks:
    """The marks of definitions: a digest of the file, its names, and the place within."""

    def __init__(self, session: Session) -> None:
        """Look at every file once."""
        self._of_file = {
            one.name: digest(
                {"": one.data, "name": f"{one.name}\0{session.shown(one.name)}".encode()}
            )
            for one in session.gathered.texts
        }

    def __call__(self, service: Service | None) -> str:
        if service is None:
            return ""
        return f"{self._of_file[service.origin.file]}/{service.origin.path}"


def renew(session: Session, out: Path, index: Index, *, fresh: bool = False) -> Renewed:
    """Judge and render a catalog, but for what the index knows.

    fresh: carry no image over from the folder.
    """
    catalog = session.catalog
    if catalog is None:
        return Renewed(in_order(session.findings))
    marks = _Marks(session)
    kept = dict(_kept(session, catalog, marks, out, index, fresh=fresh))
    rest = [
        _looked_at(session, catalog, marks, one, out, fresh=fresh)
        for one in catalog.everyone
        if one.name not in kept
    ]
    rules = [found for one in kept.values() for found in one.rules]
    rules += [found for one in rest for found in one.rules]
    findings = judged(catalog, (), [*session.findings, *rules])
    if any(one.severity == ERROR for one in findings):
        return renew(session, out, EMPTY, fresh=fresh) if kept else Renewed(findings)
    anew = {one.seen.service.name: one for one in rest}
    outputs = {name: render(anew[name].seen) for name in sorted(anew)}
    made = {name: _made(session, anew[name].seen, one) for name, one in outputs.items()}
    twice = _repeats(made.values(), kept.values())
    of_output = [one for each in made.values() for one in each.found]
    of_output += [one for each in kept.values() for one in each.outputs]
    of_output += list(repeated_objects(outputs.values())) if twice else []
    findings = in_order((*findings, *of_output))
    if kept and (twice or any(one.severity == ERROR for one in findings)):
        return renew(session, out, EMPTY, fresh=fresh)
    names = tuple(one.name for one in catalog.services)
    shared = package.platform_files(catalog, session.shown)
    return Renewed(findings, catalog, names, anew, made, kept, shared)


def _kept(
    session: Session, catalog: Catalog, marks: _Marks, out: Path, index: Index, *, fresh: bool
) -> Iterator[tuple[str, Kept]]:
    """The services that need not be looked at again."""
    if not index.services or catalog.repeated:
        return
    ours = owned(out)
    for service in catalog.services:
        one = index.services.get(service.name)
        if (
            one is not None
            and one.mark == marks(service)
            and one.secrets == _digest(session.secrets.get(service.name, {}))
            and ours.issuperset(one.files)
            and index.settled(one)
            and stays(out, one.files)
        ):
            before = without_images(one.before) if fresh else one.before
            if still_so(one.asked, Witness(catalog, marks, before)):
                yield service.name, one


def _digest(secrets: Mapping[str, SecretFile]) -> str:
    return digest({f"{name}\0{one.path}": one.text for name, one in secrets.items()})


def _looked_at(
    session: Session, catalog: Catalog, marks: _Marks, service: Service, out: Path, *, fresh: bool
) -> Fresh:
    """Ask every rule of one service."""
    before = earlier(catalog, service.name, out)
    if before is not None and fresh:
        before = without_images(before)
    witness = Witness(catalog, marks, before)
    secrets = session.secrets.get(service.name, {})
    seen = Snapshot(service, witness, secrets, session.secrets_folder, witness)
    return Fresh(seen, witness.asked, marks(service), _digest(secrets), decide(seen))


def _made(session: Session, seen: Snapshot, output: Output) -> Made:
    found = (*judge_output(seen, output), *unfit(output))
    files = package.service_files(seen, output, session.shown)
    return Made(files, found, tuple(names_of(output)))


def _repeats(made: Iterable[Made], kept: Iterable[Kept]) -> bool:
    """Tell whether two objects of the tree are the same one."""
    names = [name for one in made for name in one.names]
    names += [name for one in kept for name in one.names]
    return len(set(names)) != len(names)


def next_index(result: Renewed, world: str, until: int, marks: Mapping[str, Mark]) -> Index:
    """What the next render may know.

    until: when the tree was complete, in nanoseconds. marks: of the files that were written.
    """
    services = dict(result.kept)
    for name, one in result.fresh.items():
        made = result.made[name]
        if made.files.keys() <= marks.keys():
            services[name] = Kept(
                one.mark,
                one.secrets,
                tuple(one.asked.items()),
                one.rules,
                made.found,
                made.names,
                {path: marks[path] for path in made.files},
                _says(one.seen, made.files),
            )
    return Index(world, until, services)


def _says(seen: Snapshot, files: Mapping[str, bytes]) -> Previous:
    """What the files of a service will say to the next render."""
    name = seen.service.name
    of: Sequence[bytes] = [
        files.get(f"{name}/{file}", b"") for file in (WORKLOAD_FILE, STORAGE_FILE)
    ]
    return previous(seen.platform, name, *of)
