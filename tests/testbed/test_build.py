"""The cache, its lock and the errors of a build; the Go modules here are toys."""

import importlib.metadata
import json
import os
import stat
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from roadstead.cache import cache_folder
from roadstead.errors import TestbedError
from roadstead.testbed import build as building
from roadstead.testbed import crds, server

SOURCES = building.sources("controlplane")
HELLO = 'package main\n\nfunc main() { println("hello") }\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own for what is built, beside the user's cache of Go."""
    for name, default in (("GOCACHE", ".cache/go-build"), ("GOMODCACHE", "go/pkg/mod")):
        monkeypatch.setenv(name, os.environ.get(name, str(Path.home() / default)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "roadstead"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A Go module that needs no other."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "go.mod").write_text("module example.org/toy\n\ngo 1.26\n")
    (folder / "main.go").write_text(HELLO)
    return folder


def test_every_input_counts(toy: Path) -> None:
    """A changed source, file name, toolchain or package never gives a program of before."""
    seen = [building.digest(toy, "1.26.6"), building.digest(toy, "1.26.7")]
    (toy / "main.go").write_text(HELLO + "// changed\n")
    seen.append(building.digest(toy, "1.26.6"))
    (toy / "main.go").rename(toy / "other.go")
    seen.append(building.digest(toy, "1.26.6"))
    (toy / "go.sum").write_text("")
    seen.append(building.digest(toy, "1.26.6"))

    assert len(seen) == len(set(seen))


def test_a_module_beside_counts(toy: Path) -> None:
    """What a tool shares with others is a part of each."""
    shared = toy.parent / "shared"
    shared.mkdir()
    (shared / "shared.go").write_text("package shared\n")
    alone = building.digest(toy)
    with (toy / "go.mod").open("a") as module:
        module.write("\nreplace example.org/shared => ../shared\n")
    together = building.digest(toy)
    (shared / "shared.go").write_text("package shared\n\nconst Limit = 1\n")

    assert 3 == len({alone, together, building.digest(toy)})


def test_what_a_build_cannot_read_does_not_count(toy: Path) -> None:
    """A stray file beside the sources never costs another six minutes."""
    before = building.digest(toy)
    (toy / "toy").write_bytes(b"a program somebody built by hand")
    (toy / ".main.go.swp").write_text("")

    assert before == building.digest(toy)


def test_a_folder_without_a_module_is_refused(tmp_path: Path) -> None:
    """A wrong folder is named before anything runs."""
    with pytest.raises(TestbedError) as refused:
        building.build(tmp_path)

    assert ("sources", True) == (refused.value.step, str(tmp_path) in refused.value.message)


def test_a_missing_toolchain_says_how_to_get_it(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra `up` a user reads what to install, not a traceback of Go's absence."""

    def absent(name: str) -> importlib.metadata.Distribution:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    with pytest.raises(TestbedError) as refused:
        building.build(toy)

    assert ("toolchain", True) == (refused.value.step, "roadstead[up]" in refused.value.hint)


def test_a_toolchain_of_the_path_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Go of this environment builds, whatever else a machine has."""
    monkeypatch.setenv("PATH", "/nowhere")
    toolchain = building.find_toolchain()

    assert Path(sys.prefix) in toolchain.go.parents
    assert str(toolchain.go.parent) == building.go_environment()["PATH"].split(os.pathsep)[0]


def test_settings_of_the_users_go_do_not_change_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GOOS or GOFLAGS of the user's shell never makes a program that cannot run here."""
    monkeypatch.setenv("GOOS", "windows")
    monkeypatch.setenv("GOFLAGS", "-race")
    monkeypatch.setenv("GOPROXY", "off")
    env = building.go_environment()

    assert (None, "-mod=readonly", "off") == (env.get("GOOS"), env["GOFLAGS"], env["GOPROXY"])


def test_the_cache_is_outside_the_checkout_without_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user without a usable home still gets a cache, never one relative to the folder."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert tmp_path / f"roadstead-cache-{os.getuid()}" == cache_folder()


@pytest.mark.cluster
def test_a_program_that_nobody_uses_any_more_goes(cache: Path, toy: Path) -> None:
    """Each change of a Go module leaves up to 120 MB; what a checkout still uses stays."""
    shelf = cache / "programs"
    kept = building.build(toy).parent
    (toy / "main.go").write_text(HELLO + "// once\n")
    old = building.build(toy).parent
    for folder in (kept, old):
        os.utime(folder, (0, 0))
    (toy / "main.go").write_text(HELLO)
    assert kept == building.build(toy).parent
    (toy / "main.go").write_text(HELLO + "// twice\n")
    new = building.build(toy).parent

    assert {kept.name, new.name} == {one.name for one in shelf.iterdir() if one.is_dir()}
    assert not list(shelf.glob(f"*{old.name}*"))


def test_the_control_plane_stays_short() -> None:
    """It boots what others wrote; beyond a few pages it would be a program of its own."""
    lines = sum(len(path.read_text().splitlines()) for path in SOURCES.glob("*.go"))

    assert lines <= 300


def test_who_waits_for_a_lock_is_told_why(tmp_path: Path) -> None:
    """A second build is never silent, and goes on when the first is done."""
    told: list[str] = []
    waiting, release = threading.Event(), threading.Event()

    def hear(line: str) -> None:
        told.append(line)
        release.set()

    def hold() -> None:
        with building.locked(tmp_path / "lock", "", lambda _: None):
            waiting.set()
            release.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    waiting.wait(30)
    with building.locked(tmp_path / "lock", "another process builds it", hear):
        holder.join()

    assert ["another process builds it; waiting, 0 s"] == told


def test_an_unknown_neighbour_is_named_with_the_known_ones() -> None:
    """A misspelt neighbour is an error before anything is fetched."""
    with pytest.raises(TestbedError, match=r"fluxx.*flux, addresses, gateway-api"):
        crds.neighbours(["fluxx"])


def test_the_neighbours_pins_are_complete() -> None:
    """Each neighbour has a version and a sum, or types of a pinned module, so it cannot change."""
    module = building.sources("tools/crds")
    pins = tomllib.loads((module / "neighbours.toml").read_text())
    pinned = {line.split()[0] for line in (module / "go.sum").read_text().splitlines()}

    assert set(crds.NAMES) - set(crds.OURS) == set(pins)
    for name, pin in pins.items():
        if "types" in pin:
            for package in pin["types"]:
                assert package.rpartition("/")[0] in pinned, name
        else:
            whole = {**pins.get(pin.get("like"), {}), **pin}
            assert {"module", "version", "sum", "files"} == set(whole) - {"like"}, name


def test_the_address_controllers_kinds_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are published nowhere, so nothing is fetched for them."""
    monkeypatch.setattr(crds, "run_go", pytest.fail)

    assert [
        "ipaddressclaims.local.sdn.cozystack.io",
        "ipaddressclasses.local.sdn.cozystack.io",
        "ipaddresses.local.sdn.cozystack.io",
    ] == [one["metadata"]["name"] for one in crds.neighbours([crds.ADDRESSES])]


def test_no_other_cluster_is_used_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's KUBECONFIG is never what a test runs against."""
    monkeypatch.setenv("KUBECONFIG", "/etc/passwd")
    monkeypatch.delenv(server.OTHER_CLUSTER, raising=False)

    assert server.selected_cluster(Path("/nonexistent")) is None


def test_a_selected_cluster_must_be_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong path is named together with the variable that named it."""
    monkeypatch.setenv(server.OTHER_CLUSTER, "/nonexistent/kubeconfig")
    with pytest.raises(TestbedError, match="ROADSTEAD_TEST_KUBECONFIG names /nonexistent"):
        server.selected_cluster(Path("/nonexistent"))


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """What a person keeps in the folder he names is never removed."""
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(TestbedError, match="not an empty folder"):
        server.ControlPlane.start(Path("/nonexistent"), tmp_path)

    assert "keep" == (tmp_path / "mine").read_text()


@pytest.mark.cluster
def test_a_program_is_built_once_and_found_again(toy: Path, cache: Path) -> None:
    """The second build of the same sources does no work and says nothing."""
    told: list[str] = []
    first = building.build(toy, told.append)
    lines = len(told)

    assert first == building.build(toy, told.append)
    assert (True, lines) == (first.is_relative_to(cache), len(told))
    hello = subprocess.run([first], capture_output=True, text=True, check=True)  # noqa: S603 - our own program

    assert "hello\n" == hello.stderr


@pytest.mark.cluster
def test_two_builds_at_once_compile_once(toy: Path, cache: Path) -> None:
    """Two processes that start together end with one program, each with the same path."""
    program = (
        "import sys; from pathlib import Path; from roadstead.testbed.build import build;"
        "print(build(Path(sys.argv[1])))"
    )
    both = [
        subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", program, str(toy)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [one.communicate(timeout=300) for one in both]

    assert 1 == sum(err.count("building ") for _, err in said)
    assert 1 == len({out for out, _ in said}) == len(list(cache.glob("programs/*/*")))
    assert [] == list(cache.glob("programs/partial-*"))


@pytest.mark.cluster
def test_a_failing_build_names_its_step_and_its_log(toy: Path, cache: Path) -> None:
    """Whoever broke a source reads what Go said, and nothing half built is left to be run."""
    (toy / "main.go").write_text("package main\n\nfunc main() { undefined() }\n")
    with pytest.raises(TestbedError) as failed:
        building.build(toy)

    assert "compile" == failed.value.step
    assert "undefined: undefined" in Path(failed.value.log).read_text()
    assert [] == list(cache.glob("programs/*/*"))


@pytest.mark.cluster
def test_a_module_that_cannot_be_fetched_is_another_step(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without network reads that fetching failed, not that the code is wrong."""
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(toy.parent / "empty"))
    (toy / "go.mod").write_text(
        "module example.org/toy\n\ngo 1.26\n\nrequire example.org/absent v1.0.0\n"
    )
    (toy / "main.go").write_text(
        'package main\n\nimport _ "example.org/absent"\n\nfunc main() {}\n'
    )
    with pytest.raises(TestbedError) as failed:
        building.build(toy)

    assert "fetch" == failed.value.step


@pytest.mark.cluster
def test_flux_is_made_of_its_own_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """HelmRelease is what its project's types say, and asking again reads a file."""
    monkeypatch.delenv("XDG_CACHE_HOME")  # this one takes a minute; share the user's
    (flux,) = crds.neighbours([crds.FLUX])
    again: list[str] = []

    assert "helmreleases.helm.toolkit.fluxcd.io" == flux["metadata"]["name"]
    assert json.dumps(flux) == json.dumps(crds.neighbours([crds.FLUX], again.append)[0])
    assert [] == again


@pytest.mark.cluster
def test_the_cache_is_the_users_alone(toy: Path, cache: Path) -> None:
    """Another user of the machine never replaces a program that we run."""
    building.build(toy)

    assert 0o700 == stat.S_IMODE(cache.stat().st_mode)
