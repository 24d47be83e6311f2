"""Debian packages without root: resolved by apt from the signed index, kept beside their names."""

import contextlib
import os
import re
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from release.fault import ReleaseError, run
from roadstead.testbed.build import locked, say

STATED: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("debian.toml").read_text(encoding="utf-8")
)
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
_FRESH_SECONDS = 12 * 3600.0  # how old an index may be
_URI = re.compile(r"^'[^']*' (\S+) \d+ SHA256:([0-9a-f]{64})", re.MULTILINE)
_HINT = (
    "the image is built on Debian, or a system with apt, dpkg and debian-archive-keyring; "
    "DEBIAN_MIRROR names the archive where this system's own sources do not"
)


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """One Debian package as it was fetched.

    version: with its epoch. digest: SHA-256 of the file, in hex.
    """

    name: str
    version: str
    architecture: str
    source: str
    digest: str
    file: Path

    @property
    def line(self) -> str:
        """How a list of inputs names it."""
        return f"{self.name} {self.version} {self.architecture} sha256:{self.digest}"

    @classmethod
    def of_line(cls, line: str) -> "Package":
        """Read such a line back; its file is not known any more."""
        name, version, machine, digest = line.split(" ")
        return cls(name, version, machine, name, digest.removeprefix("sha256:"), Path())


def fetched(folder: Path) -> tuple[Package, ...]:
    """Give the stated packages, the newest that the archive's signed index names.

    folder: where apt keeps its index and the packages; nothing else of the system is read or
    written, and root is not needed.
    Raises: ReleaseError when there is no apt, no mirror, or a signature does not hold.
    """
    environment = {**os.environ, "APT_CONFIG": str(_configured(folder)), "LC_ALL": "C.UTF-8"}
    with locked(folder / "lock", "another process asks Debian's archive", say):
        stamp = folder / "updated"
        fresh = stamp.exists() and time.time() - stamp.stat().st_mtime < _FRESH_SECONDS
        if fresh:
            with contextlib.suppress(ReleaseError):  # superseded meanwhile: ask for the index again
                return described(_downloaded(folder, environment))
        run(["apt-get", "update", "-q", "--error-on=any"], _HINT, environment)
        stamp.touch()
        return described(_downloaded(folder, environment))


def _downloaded(folder: Path, environment: Mapping[str, str]) -> list[Path]:
    """Have apt fetch what is not there yet, and hold every file against the index's digest."""
    shelf = folder / "debs"
    shelf.mkdir(exist_ok=True)
    names = list(STATED["packages"])
    # Asked where no package lies: apt is silent on what it finds in the working folder.
    empty = folder / "nothing"
    said = run(["apt-get", "download", "--print-uris", *names], _HINT, environment, empty)
    wanted = {shelf / name: digest for name, digest in _URI.findall(said)}
    if len(wanted) != len(names):
        raise ReleaseError(
            f"apt names {len(wanted)} files for {len(names)} packages: {said}", _HINT
        )
    if not all(path.exists() and _digest(path) == digest for path, digest in wanted.items()):
        run(["apt-get", "download", "-q", *names], _HINT, environment, shelf)
    for path, digest in wanted.items():
        if _digest(path) != digest:
            raise ReleaseError(f"{path} is not what the archive's index names", "remove it")
    return list(wanted)


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def kept(folder: Path) -> tuple[Package, ...]:
    """Give the stated packages from the files of a folder, whatever their versions.

    Raises: ReleaseError when one is missing or there twice.
    """
    found = described(sorted(folder.glob("*.deb")))
    names = [package.name for package in found]
    if sorted(names) != sorted(STATED["packages"]):
        odd = sorted(set(names) ^ set(STATED["packages"])) or sorted(
            name for name in set(names) if names.count(name) > 1
        )
        raise ReleaseError(
            f"{folder} does not hold each stated package once: {', '.join(odd)}",
            "release/debian.toml states them",
        )
    return found


def described(files: Sequence[Path]) -> tuple[Package, ...]:
    """Read what package files say of themselves."""
    return tuple(sorted(_described(path) for path in files))


def control(package: Package) -> str:
    """A package's control file, as dpkg keeps it."""
    return run(["dpkg-deb", "--field", package.file], _HINT)


def extract(package: Package, root: Path) -> None:
    """Lay a package's files below a folder; no script of it runs."""
    run(["dpkg-deb", "--extract", package.file, root], _HINT)


def architecture() -> str:
    """This machine's architecture as Debian and OCI both name it, for example amd64."""
    return run(["dpkg", "--print-architecture"], _HINT).strip()


def _described(path: Path) -> Package:
    wanted = ("Package", "Version", "Architecture", "Source")
    form = "\\n".join(f"${{{name}}}" for name in wanted)
    name, version, machine, source = run(
        ["dpkg-deb", "--show", f"--showformat={form}\\n", path], _HINT
    ).splitlines()
    return Package(name, version, machine, source.split(" ")[0] or name, _digest(path), path)


def _configured(folder: Path) -> Path:
    """Write a configuration of apt that is this folder's alone."""
    if not KEYRING.exists():
        raise ReleaseError(f"{KEYRING} is missing", _HINT)
    mirror, security = _mirrors()
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "state/status").touch()
    (folder / "debian.sources").write_text(
        "\n".join(
            f"Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: main\nSigned-By: {KEYRING}\n"
            for uri, suites in (
                (mirror, " ".join(STATED["suites"])),
                (security, STATED["security"]),
            )
        ),
        encoding="utf-8",
    )
    nothing = folder / "nothing"
    nothing.mkdir(exist_ok=True)
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "state/status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "debian.sources",
        "Dir::Etc::SourceParts": nothing,
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": nothing,
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::Retries": 3,
        "APT::Sandbox::User": "",  # it fetches as whoever runs this
    }
    path = folder / "apt.conf"
    path.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()), "utf-8")
    return path


def _mirrors() -> tuple[str, str]:
    """The archive and its security archive: as given, else as this system's own sources say."""
    if given := os.environ.get("DEBIAN_MIRROR"):
        return given, os.environ.get("DEBIAN_SECURITY_MIRROR") or f"{given.rstrip('/')}-security"
    known = list(_known())
    ordinary = [uri for uri in known if uri.rstrip("/").endswith("/debian")]
    security = [uri for uri in known if uri.rstrip("/").endswith("/debian-security")]
    if not ordinary:
        raise ReleaseError("no source of Debian packages is set up on this system", _HINT)
    return ordinary[0], security[0] if security else f"{ordinary[0].rstrip('/')}-security"


def _known() -> Iterator[str]:
    for place in _SOURCES:
        for path in sorted(place.iterdir()) if place.is_dir() else [place] * place.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith(("deb ", "URIs:")):
                    yield from re.findall(r"https?://[^\s\]]+", line)
