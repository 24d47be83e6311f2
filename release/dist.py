"""Build wheel and source archive, then install and try each where nothing else is.

    python -m release.dist [--to dist]

Each is installed in an environment of its own, without anything for development, and used from an
empty folder: `version`, `plan`, `service render` of a catalog and `up --once` on the compiled
control plane. What is installed beside it is what the lock names. The wheel that the source archive
builds is the wheel byte for byte, and the same sources and SOURCE_DATE_EPOCH give the same files.
"""

import argparse
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from release.fault import ReleaseError, reported, run
from release.lock import ROOT, uv
from release.moment import epoch
from roadstead import __version__

EXTRAS = "plan,up"
ALLOWED = re.compile(
    r"(src|controlplane|tools|examples|roadstead|roadstead-[\w.]+\.dist-info)/.+"
    r"|LICENSE|README\.md|pyproject\.toml|PKG-INFO|\.gitignore"
)
KEY = re.compile(rb"-----BEGIN (?:\w+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}")
HOME = re.compile(rb"/(?:home|root|Users)/(?!roadstead/)[a-z][\w.-]*/")
SHOWS_KEYS = "examples/"
"""Folders of examples, whose Secrets hold keys made for them: the anchors refuse those."""
SAID = {
    "version": f"roadstead {__version__}",
    "plan": "Settled after",
    "render": "",  # it speaks on stderr; what it wrote is looked at
    "up": "READ FROM THE API SERVER",
}
"""What each command prints when it did its work."""


def built(to: Path) -> tuple[Path, Path]:
    """Build both; give the wheel and the source archive.

    Raises: ReleaseError where the archive builds another wheel than the checkout does.
    """
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    with tempfile.TemporaryDirectory(prefix="roadstead-dist-") as place:
        direct, through = Path(place, "direct"), Path(place, "through")
        uv("build", "--wheel", "--out-dir", direct)
        uv("build", "--out-dir", through)  # the archive, and the wheel of what it holds
        (wheel,), (archive,) = direct.glob("*.whl"), through.glob("*.tar.gz")
        if wheel.read_bytes() != (through / wheel.name).read_bytes():
            raise ReleaseError("the source archive builds another wheel", _differ(wheel, through))
        to.mkdir(parents=True, exist_ok=True)
        for path in (wheel, archive):
            shutil.copyfile(path, to / path.name)
    return to / wheel.name, to / archive.name


def holds_nothing_private(path: Path) -> None:
    """Look through an archive.

    Raises: ReleaseError naming a file that does not belong there, or holds a key or a home folder.
    """
    for name, content in _files(path):
        if not ALLOWED.fullmatch(name):
            raise ReleaseError(f"{path.name} holds {name}", "pyproject.toml says what goes in")
        if KEY.search(content) and SHOWS_KEYS not in name:
            raise ReleaseError(f"{path.name}: {name} holds a private key")
        if found := HOME.search(content):
            raise ReleaseError(f"{path.name}: {name} names the folder {found[0].decode()}")


def tried(archive: Path) -> None:
    """Install an archive in an empty environment and use it from an empty folder.

    Raises: ReleaseError naming the command that failed and what it said.
    """
    with tempfile.TemporaryDirectory(prefix="roadstead-tried-") as place:
        folder = Path(place)
        stated = folder / "locked.txt"
        form = ("--no-dev", "--no-emit-project", "--no-hashes", "--all-extras")
        uv("export", "--frozen", *form, "-o", stated)
        uv("venv", "--no-project", "--python", sys.executable, folder / "venv")
        python = folder / "venv/bin/python"
        uv("pip", "install", "--python", python, "-c", stated, f"{archive}[{EXTRAS}]")
        work = folder / "work"
        shutil.copytree(ROOT / "examples", work / "examples")
        catalog = ("examples/services", "--platform", "examples/platform.yaml")
        environment = _environment(folder)
        program = folder / "venv/bin/roadstead"
        package = Path(run([python, "-c", _WHERE], env=environment, folder=work).strip())
        if not package.is_relative_to(folder.resolve()):
            raise ReleaseError(f"{archive.name} runs what stands in {package}")
        commands = {
            "version": (program, "version"),
            "plan": (program, "plan", "-f", package / "examples/anchors", "--fail-on", "never"),
            "render": (program, "render", *catalog, "--out", "rendered"),
            "up": (program, "up", "--example", "anchors", "--once"),
        }
        for name, command in commands.items():
            spoken = run(command, env=environment, folder=work)
            if SAID[name] not in spoken:
                raise ReleaseError(f"{archive.name}: `roadstead {name}` says {spoken[-500:]}")
            sys.stdout.write(f"{archive.name}: roadstead {name} ended with 0\n")
        if not list((work / "rendered").rglob("*.yaml")):
            raise ReleaseError(f"{archive.name}: `roadstead render` wrote nothing")


_WHERE = "import roadstead, pathlib; print(pathlib.Path(roadstead.__file__).resolve().parent)"


def _environment(folder: Path) -> Mapping[str, str]:
    """Nothing of the checkout; the cache of compiled programs stays the user's."""
    kept = ("HOME", "XDG_CACHE_HOME", "TMPDIR", "GOPROXY", "SSL_CERT_FILE", "HTTPS_PROXY")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    return {**known, "PATH": f"{folder / 'venv/bin'}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Each file of an archive by its name below the archive's own folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                yield name, wheel.read(name)
        return
    with tarfile.open(path) as source:
        for entry in source:
            if file := source.extractfile(entry):
                yield entry.name.partition("/")[2], file.read()


def _differ(wheel: Path, through: Path) -> str:
    ours, theirs = (dict(_files(path)) for path in (wheel, through / wheel.name))
    odd = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
    return f"they differ in {', '.join(odd[:8])}" if odd else "they differ in times or modes"


def main() -> int:
    """Do all of it and print the digests."""
    parser = argparse.ArgumentParser(prog="python -m release.dist")
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    asked = parser.parse_args()

    def work() -> None:
        archives = built(asked.to)
        for path in archives:
            holds_nothing_private(path)
            tried(path)
        for path in archives:
            sys.stdout.write(f"{sha256(path.read_bytes()).hexdigest()}  {path}\n")

    return reported(work)


if __name__ == "__main__":
    sys.exit(main())
