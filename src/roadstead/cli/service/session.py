"""What the service commands start from: files read, defaults filled in, one snapshot a service.

Every problem of every file is kept for the end; a catalog is there as soon as the platform file
can be read.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.previous import previous
from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.part import STORAGE_FILE, WORKLOAD_FILE
from roadstead.capabilities.services.snapshot import Previous, SecretFile, Snapshot
from roadstead.cli.service.gather import (
    Gathered,
    gather,
    platform_text,
    secrets_below,
    secrets_folder,
)
from roadstead.cli.streams import stdin
from roadstead.errors import BugError, InputError
from roadstead.kube.nearest import nearest

Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="PATH",
        help="A file or folder of service definitions, or `-`. Repeatable.",
    ),
]
PlatformFile = Annotated[str, typer.Option("--platform", metavar="FILE", help="The platform file.")]
SecretsFolder = Annotated[
    str,
    typer.Option(
        "--secrets",
        metavar="DIR",
        help="The folder of encrypted Secrets; else `secrets` beside the platform file.",
    ),
]
Core = Annotated[bool, typer.Option("--core", help="Refuse fields beyond schema 1.5.0.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Take no image over from an earlier output tree.")
]
Tree = Annotated[str, typer.Option("--out", metavar="DIR", help="The folder of the output tree.")]


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no reference cycles: a catalog has none, and looking takes a fifth of a run."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Session:
    """What one command works on.

    catalog: None where the platform file cannot be used; the findings say why.
    findings: of reading alone. problems: what could not be looked at.
    """

    catalog: Catalog | None = field(repr=False)
    gathered: Gathered = field(repr=False)
    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...]
    secrets: Mapping[str, Mapping[str, SecretFile]] = field(repr=False, default_factory=dict)
    secrets_folder: str = ""
    platform_file: str = ""
    platform_text: Text = field(default=Text("", b""), repr=False)

    def shown(self, file: str) -> str:
        """What the tree calls a file: its path below the folder it was found in."""
        if file == self.platform_file:
            return Path(file).name
        return self.gathered.shown.get(file, file)

    def snapshot(
        self, catalog: Catalog, service: Service, out: Path | None, *, fresh: bool = False
    ) -> Snapshot:
        """One service with all it may look at.

        out: an earlier tree; None to look at none. fresh: its images do not count.
        """
        before = earlier(catalog, service.name, out) if out is not None else None
        if before is not None and fresh:
            before = without_images(before)
        return Snapshot(
            service,
            catalog,
            secrets=self.secrets.get(service.name, {}),
            secrets_folder=self.secrets_folder,
            previous=before,
        )


def begin(paths: Sequence[str], platform: str, *, secrets: str = "", core: bool = False) -> Session:
    """Read everything a command was pointed at.

    Raises: InputError when it was pointed at nothing, or the platform file cannot be read.
    """
    if not paths:
        raise InputError("no definition is given", hint="name a file or a folder of them with -f")
    if not platform:
        raise InputError(
            "no platform file is given", hint="name it with --platform, such as platform.yaml"
        )
    gathered = gather(paths, stdin)
    problems = list(gathered.problems)
    if secrets and not Path(secrets).is_dir():
        problems.append(InputError("the folder of Secrets is not there", place=secrets))
    folder = secrets_folder(platform, secrets)
    found = secrets_below(folder, problems)
    settings = platform_text(platform)
    read = read_catalog(gathered.texts, settings, core=core)
    return Session(
        read.catalog,
        gathered,
        read.findings,
        tuple(problems),
        found,
        folder,
        platform,
        settings,
    )


def without_images(before: Previous) -> Previous:
    """What an earlier tree says with `--fresh`."""
    return replace(before, image="", authored="")


def earlier(catalog: Catalog, name: str, out: Path) -> Previous | None:
    """What the tree of an earlier render says of a service; None where it is not in there."""
    workload = _bytes(out / name / WORKLOAD_FILE)
    storage = _bytes(out / name / STORAGE_FILE)
    if not workload and not storage:
        return None
    return previous(catalog.platform, name, workload, storage)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from None


def require(catalog: Catalog | None) -> Catalog:
    """The catalog of a result that nothing stops."""
    if catalog is None:
        raise BugError("a catalog that nothing stops is missing")
    return catalog


def chosen(catalog: Catalog, names: Iterable[str]) -> tuple[Service, ...]:
    """The named services, or all of them.

    Raises: InputError for a name the catalog does not have.
    """
    wanted = set(names)
    for name in sorted(wanted):
        if catalog.get(name) is None:
            near = nearest(name, [one.name for one in catalog.services])
            hint = f"did you mean `{near}`?" if near else "service render lists the services"
            raise InputError(f"the catalog has no service `{name}`", hint=hint)
    return tuple(one for one in catalog.services if not wanted or one.name in wanted)
