"""Chromium from Debian's own packages, unpacked once into the cache: no root, nothing installed.

apt resolves what this machine lacks, downloads it and checks it against Debian's signatures; the
packages are only unpacked. A Chromium that is installed already is taken as it is.
`python tests/chromium.py` fetches it and prints where it is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from roadstead.cache import cache_folder
from roadstead.errors import TestbedError
from roadstead.testbed.build import Progress, locked, say

PACKAGE = "chromium"
INSTALLED = ("chromium", "chromium-browser", "google-chrome")
LIMIT_SECONDS = 540.0
DONE = "unpacked"
HINT = "apt-get install chromium, or let this machine reach Debian's package mirror"


@dataclass(frozen=True)
class Chromium:
    """One that can be started. environ: what it needs to find its libraries and fonts."""

    program: Path
    environ: Mapping[str, str] = field(default_factory=dict)


def chromium(progress: Progress = say) -> Chromium:
    """Give a Chromium, fetching it the first time.

    Raises: TestbedError with its step (`apt`, `fetch`, `unpack`) and its log.
    Cost: about 125 MB and two minutes the first time, milliseconds after.
    """
    for name in INSTALLED:
        if (found := shutil.which(name)) is not None:
            return Chromium(Path(found))
    shelf = cache_folder() / PACKAGE
    shelf.mkdir(parents=True, exist_ok=True)
    if not (shelf / DONE).exists():
        with locked(shelf / "lock", "another process fetches Chromium", progress):
            if not (shelf / DONE).exists():
                _fetch(shelf, progress)
    return _unpacked(shelf / "root")


def _unpacked(root: Path) -> Chromium:
    libraries = root / "usr/lib/x86_64-linux-gnu"
    folders = sorted({file.parent for file in libraries.rglob("*.so*")}) or [libraries]
    return Chromium(
        root / "usr/lib/chromium/chromium",
        {"LD_LIBRARY_PATH": ":".join(str(one) for one in folders)},
    )


def _fetch(shelf: Path, progress: Progress) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise TestbedError(
            "there is no Chromium here, and no apt to fetch it", step="apt", hint=HINT
        )
    progress("fetching Chromium from Debian's packages, once")
    log = shelf / "log"
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=shelf, prefix="partial-") as partial:
        work = Path(partial)
        for name in ("lists/partial", "cache/archives/partial", "root"):
            (work / name).mkdir(parents=True)
        # Lists and archives of our own, so that nobody's are touched and no rights are needed.
        options = [
            *("-o", f"Dir::State::lists={work / 'lists'}"),
            *("-o", f"Dir::Cache={work / 'cache'}"),
            *("-o", "Debug::NoLocking=1"),
            *("-o", "APT::Sandbox::User="),
            *("-o", "Acquire::Retries=3"),
        ]
        _run(["apt-get", *options, "-q", "update"], "apt", log)
        wanted = ["-d", "-y", "-q", "--no-install-recommends", "install", PACKAGE]
        _run(["apt-get", *options, *wanted], "fetch", log)
        archives = sorted((work / "cache/archives").glob("*.deb"))
        for archive in archives:
            _run(["dpkg-deb", "-x", str(archive), str(work / "root")], "unpack", log)
        shutil.rmtree(shelf / "root", ignore_errors=True)
        (work / "root").rename(shelf / "root")
    (shelf / DONE).write_text("".join(f"{one.name}\n" for one in archives), encoding="utf-8")


def _run(command: list[str], step: str, log: Path) -> None:
    with log.open("a", encoding="utf-8") as file:
        try:
            done = subprocess.run(  # noqa: S603 - Debian's own programs
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_SECONDS,
                check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            raise TestbedError(
                f"Chromium is not here after {LIMIT_SECONDS:.0f} s",
                step=step,
                log=str(log),
                hint=HINT,
            ) from None
    if done.returncode:
        raise TestbedError(
            f"{command[0]} ended with {done.returncode}", step=step, log=str(log), hint=HINT
        )


if __name__ == "__main__":
    sys.stdout.write(f"{chromium().program}\n")
