"""Law of the index: a render that has one writes and says what a render without one does."""

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roadstead.cli.main import main
from roadstead.cli.service import index
from roadstead.cli.service.renewed import renew, world_of
from roadstead.cli.service.session import begin
from roadstead.kube.documents import dump, parse

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MOST = min(settings().max_examples // 2, 40)
"""Each is a dozen renders."""
NAMES = ("actions-runner", "gitea", "jellyfin", "qbittorrent", "wiki", "other")


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = parse(path.read_bytes(), path.name).documents[0].value
    return found


@dataclass
class Desk:
    """A catalog somebody works on, its platform file, Secrets and output tree."""

    folder: Path
    flags: list[str] = field(default_factory=list)
    definitions: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            path.stem: _read(path) for path in sorted((EXAMPLES / "services").glob("*.yaml"))
        }
    )
    platform: dict[str, Any] = field(default_factory=lambda: _read(EXAMPLES / "platform.yaml"))

    @property
    def out(self) -> Path:
        """The output tree."""
        return self.folder / "out"

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return self.folder / "cache"

    def write(self) -> None:
        """Put the definitions and the platform file down; an unchanged file is rewritten, too."""
        shutil.rmtree(self.folder / "catalog", ignore_errors=True)
        (self.folder / "catalog").mkdir()
        for name, body in self.definitions.items():
            (self.folder / "catalog" / f"{name}.yaml").write_text(dump([body]))
        (self.folder / "platform.yaml").write_text(dump([self.platform]))

    def rendered(self, cache: Path, out: Path) -> tuple[int, str, str]:
        """Render with this cache: the exit code, what was printed, and what was said."""
        os.environ["XDG_CACHE_HOME"] = str(cache)
        stdout, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            code = main(["service", "render", *self.places(), "--out", str(out), *self.flags])
        said = (one.getvalue().replace(str(out), "OUT") for one in (stdout, stderr))
        return code, next(said), next(said)

    def places(self) -> list[str]:
        """Where the files are, as flags."""
        catalog, platform = self.folder / "catalog", self.folder / "platform.yaml"
        return ["-f", str(catalog), "--platform", str(platform)]


def contents(out: Path) -> dict[str, bytes]:
    """Every file of a tree."""
    return {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }


Act = Callable[[Desk], None]


def stated(name: str, key: str, value: Any) -> Act:
    """A field of a definition is set, or taken away by None."""

    def act(desk: Desk) -> None:
        body = desk.definitions.get(name, {})
        if value is None:
            body.pop(key, None)
        elif body:
            body[key] = value

    return act


def of_platform(*path: str, value: Any) -> Act:
    """A setting of the platform is set."""

    def act(desk: Desk) -> None:
        inner = desk.platform
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        inner[path[-1]] = value

    return act


def gone(name: str) -> Act:
    """A definition is taken out."""

    def act(desk: Desk) -> None:
        desk.definitions.pop(name, None)

    return act


def added(body: dict[str, Any], stem: str) -> Act:
    """A definition comes to the catalog."""

    def act(desk: Desk) -> None:
        desk.definitions[stem] = dict(body)

    return act


def flagged(*flags: str) -> Act:
    """Further renders have these flags."""

    def act(desk: Desk) -> None:
        desk.flags = list(flags)

    return act


def in_tree(number: int, how: Callable[[Path], None]) -> Act:
    """Somebody touches a file of the tree."""

    def act(desk: Desk) -> None:
        found = sorted(path for path in desk.out.rglob("*") if path.is_file())
        if found:
            how(found[number % len(found)])

    return act


def touched(path: Path) -> None:
    """The same content under another time."""
    os.utime(path, ns=(1, 1))


def edited(path: Path) -> None:
    """More in it."""
    path.write_bytes(path.read_bytes() + b"# by hand\n")


def linked(path: Path) -> None:
    """A link in its place to the same content."""
    path.rename(path.parent.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent.parent / "elsewhere")


def moved(desk: Desk) -> None:
    """Automation moves an image."""
    path = desk.out / "wiki/30-workload.yaml"
    if path.is_file():
        text = path.read_text()
        path.write_text(
            text.replace(":2.5.2 # {", ":2.5.9 # {").replace(":2.5.303 # {", ":2.5.309 # {")
        )


def encrypted(desk: Desk) -> None:
    """The Secret of a database is there."""
    place = desk.folder / "secrets/wiki/db.sops.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    sealed = "ENC[AES256_GCM,data:8Q==,iv:AAAA,tag:AAAA,type:str]"
    meta = {"name": "wiki-db", "namespace": "wiki"}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {}}
    body |= {"stringData": {"password": sealed}, "sops": {"mac": sealed}}
    place.write_text(dump([body]))


def unencrypted(desk: Desk) -> None:
    """The Secrets are taken away."""
    shutil.rmtree(desk.folder / "secrets", ignore_errors=True)


def damaged(desk: Desk) -> None:
    """The index is cut short."""
    for path in (desk.cache / "roadstead/renders").glob("*"):
        path.write_bytes(path.read_bytes()[:-7])


ALL = set(NAMES) - {"other"}
OTHER = {"name": "other", "source": {"image": "docker.io/library/other:1.2.3"}}
HOSTED = {**OTHER, "ingressRoutes": [{"host": "wiki.home.example.net", "port": 80}]}
CALLS = [{"to": "gitea", "port": 3000}]
ACTS = st.one_of(
    st.builds(stated, st.sampled_from(NAMES), st.just("replicas"), st.sampled_from([0, 1, None])),
    st.builds(
        stated,
        st.sampled_from(NAMES),
        st.just("dependencies"),
        st.sampled_from([CALLS, [{"to": "wiki", "port": 3000}], [{"to": "nobody", "port": 1}], []]),
    ),
    st.builds(
        stated,
        st.sampled_from(["other", "gitea"]),
        st.just("storage"),
        st.sampled_from([[{"name": "data", "size": size}] for size in ("5Gi", "50Gi")] + [None]),
    ),
    st.builds(
        stated, st.sampled_from(NAMES), st.just("exposure"), st.sampled_from(["public", "x"])
    ),
    st.builds(
        stated, st.just("wiki"), st.just("name"), st.sampled_from(["wiki", "gitea", "other"])
    ),
    st.builds(gone, st.sampled_from(NAMES)),
    st.builds(added, st.sampled_from([OTHER, HOSTED]), st.sampled_from(["other", "a-file"])),
    st.builds(
        lambda value: of_platform("flux", "interval", value=value), st.sampled_from(["1m", "9m"])
    ),
    st.builds(
        lambda value: of_platform("waivers", value=value),
        st.sampled_from(
            [[], [{"check": "P-SEC-01", "service": "wiki", "reason": "it is being made"}]]
        ),
    ),
    st.builds(in_tree, st.integers(0, 99), st.sampled_from([touched, edited, linked, Path.unlink])),
    st.builds(
        flagged, st.sampled_from(["-q", "--fresh", "-o=json", "-o=junit", "--core", "--no-color"])
    ),
    st.sampled_from([moved, encrypted, unencrypted, damaged]),
)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust files of any age: every edit here changes a size or a time."""
    monkeypatch.setattr(index, "TICK_NS", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", "/nonexistent")


@given(st.lists(ACTS, min_size=1, max_size=5))
@settings(deadline=None, max_examples=MOST)
@pytest.mark.slow
def test_an_index_changes_no_byte_and_no_word(acts: list[Act]) -> None:
    """After every edit, the tree and what is printed are those of a render without an index."""
    with tempfile.TemporaryDirectory() as place:
        desk = Desk(Path(place))
        desk.write()
        desk.rendered(desk.cache, desk.out)
        for number, act in enumerate(acts):
            act(desk)
            desk.write()
            copy = desk.folder / f"cold-{number}"
            shutil.copytree(desk.out, copy, symlinks=True)

            assert desk.rendered(desk.folder / f"none-{number}", copy) == desk.rendered(
                desk.cache, desk.out
            )
            assert contents(copy) == contents(desk.out)


def again(desk: Desk) -> set[str]:
    """What the next render would work out anew."""
    desk.write()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(desk.cache))
        session = begin([str(desk.folder / "catalog")], str(desk.folder / "platform.yaml"))
        known = index.load(index.place_of(desk.out), world_of(session))
        return set(renew(session, desk.out, known).made)


@pytest.mark.parametrize(
    ("act", "anew"),
    [
        pytest.param(flagged(), set(), id="nothing"),
        pytest.param(stated("jellyfin", "replicas", 0), {"jellyfin"}, id="of-no-neighbour"),
        pytest.param(stated("wiki", "replicas", 0), {"wiki", "gitea"}, id="and-whom-it-calls"),
        pytest.param(gone("wiki"), {"gitea"}, id="whom-it-called"),
        pytest.param(of_platform("flux", "interval", value="9m"), ALL, id="the-platform"),
        pytest.param(in_tree(-1, edited), {"wiki"}, id="a-file-of-the-tree"),
        pytest.param(in_tree(-1, Path.unlink), {"wiki"}, id="a-file-that-is-gone"),
        pytest.param(moved, {"wiki"}, id="an-image"),
        pytest.param(encrypted, {"wiki"}, id="a-secret"),
        pytest.param(damaged, ALL, id="a-damaged-index"),
    ],
)
def test_what_is_rendered_anew(tmp_path: Path, act: Act, anew: set[str]) -> None:
    """An edit costs the services it may concern, and no others."""
    desk = Desk(tmp_path)
    desk.write()
    desk.rendered(desk.cache, desk.out)
    act(desk)

    assert anew == again(desk)


def test_an_edit_within_a_tick_is_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file as young as its index is looked at: its time may be that of an edit unseen."""
    monkeypatch.setattr(index, "TICK_NS", 10**18)
    desk = Desk(tmp_path)
    desk.write()
    desk.rendered(desk.cache, desk.out)

    assert ALL == again(desk)


def test_a_changed_program_is_another_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who changes the renderer is not served what it was."""
    desk = Desk(tmp_path)
    desk.write()
    desk.rendered(desk.cache, desk.out)
    monkeypatch.setattr(index, "__version__", "another")

    assert ALL == again(desk)


def test_without_a_cache_folder_it_renders(tmp_path: Path) -> None:
    """A cache is no condition: neither its folder nor its file need be writable."""
    desk = Desk(tmp_path)
    desk.write()
    (tmp_path / "cache/roadstead").mkdir(parents=True)
    (tmp_path / "cache/roadstead/renders").write_text("a file in its place")
    first = desk.rendered(desk.cache, desk.out)

    assert first == desk.rendered(desk.cache, desk.out)[:2] + first[2:]
    assert "wiki/30-workload.yaml" in contents(desk.out)


def test_an_index_holds_no_content(tmp_path: Path) -> None:
    """Nothing of a Secret or a definition's values is in it, and nobody else may read it."""
    desk = Desk(tmp_path)
    desk.definitions["wiki"]["env"] = {"CANARY": "a-value-of-the-definition"}
    encrypted(desk)
    desk.write()
    desk.rendered(desk.cache, desk.out)
    (place,) = (desk.cache / "roadstead/renders").iterdir()

    assert b"a-value-of-the-definition" not in place.read_bytes()
    assert b"ENC[" not in place.read_bytes()
    assert 0o600 == place.stat().st_mode & 0o777
