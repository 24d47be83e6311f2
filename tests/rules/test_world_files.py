"""Files become objects, and names in them refs."""

from datetime import timedelta
from pathlib import Path

import pytest

from roadstead.errors import InputError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET
from roadstead.sim.load import load, load_text
from roadstead.sim.world import World
from worlds import NOW, SERVICE

WORLD = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: a, namespace: t}
  age: 20m
  stringData: {k: v}
---
apiVersion: v1
kind: Namespace
metadata: {name: t}
"""


def test_files_become_objects_with_their_place() -> None:
    """Lists are opened, texts encoded, ages turned into times."""
    at = World(NOW)
    loaded = load_text(WORLD, "world.yaml", at.kinds, NOW)

    first, second = loaded.objects
    assert ("Secret/t/a", "world.yaml:5:3") == (first.ref.path, str(first.place))
    assert {"k": "dg=="} == first.body["data"]
    assert timedelta(minutes=20) == Object.of(SECRET, first.body).age(NOW)
    assert second.ref.path == "Namespace/t"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("- 1", "w.yaml:1:1", id="a-list"),
        pytest.param("kind: Secret\nmetadata: {name: a}", "w.yaml:1:1", id="no-version"),
        pytest.param("apiVersion: v1\nkind: Secret\nmetadata: {}", "w.yaml:3:1", id="no-name"),
        pytest.param(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: 1}",
            "w.yaml:3:1",
            id="labels",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: a, namespace: t}",
            "w.yaml:3:21",
            id="in-a-namespace",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nage: old", "w.yaml:4:1", id="age"
        ),
    ],
)
def test_what_is_no_object_is_told_with_its_place(text: str, place: str) -> None:
    """Editors jump there."""
    loaded = load_text(text, "w.yaml", World(NOW).kinds, NOW)

    assert [place] == [problem.place for problem in loaded.problems]
    assert not loaded.objects


def test_folders_and_standard_input_are_read(tmp_path: Path) -> None:
    """Every problem of every file is told, and an object in two files is one."""
    kinds = World(NOW).kinds
    (tmp_path / "below").mkdir()
    (tmp_path / "below/a.yaml").write_text(WORLD)
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "notes.txt").write_text("not read")

    loaded = load([str(tmp_path), "-", str(tmp_path / "gone")], kinds, NOW, WORLD.encode)

    assert (4, 3) == (len(loaded.objects), loaded.files)
    told = [str(problem) for problem in loaded.problems]
    assert 4 == len(told)
    assert "b.json:1:1: this is no Kubernetes object" in told[0]
    assert "gone: cannot be read" in told[1]
    assert "already at" in told[2]


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    """A mistyped path must not look like an empty world."""
    (problem,) = load([str(tmp_path)], World(NOW).kinds, NOW, bytes).problems

    assert str(tmp_path) == problem.place


@pytest.mark.parametrize(
    "path", ["Secret/a", "Secret//a", "Namespace/a/b", "Nope/a/b", "Secret.apps/a/b"]
)
def test_a_ref_that_names_nothing_is_told(path: str) -> None:
    """With the form that would do."""
    with pytest.raises(InputError):
        World(NOW).kinds.ref(path)


def test_two_kinds_of_one_name_are_told_apart_by_group() -> None:
    """The one known first has the bare name."""
    kinds = World(NOW).kinds
    other = kinds.of("serving.example.org/v1", "Service", "t")

    assert SERVICE == kinds.named("Service")
    assert other == kinds.named("Service.serving.example.org")


@pytest.mark.parametrize(
    ("said", "paths", "piped"),
    [
        pytest.param("standard input is named twice", ["-", "-"], WORLD, id="twice"),
        pytest.param("no object came", ["-"], "", id="nothing-piped"),
        pytest.param("no object came", ["-"], "---\n", id="empty-documents-piped"),
    ],
)
def test_standard_input_that_says_nothing_is_a_problem(
    said: str, paths: list[str], piped: str
) -> None:
    """A command before the pipe that failed must not pass for a world without objects."""
    loaded = load(paths, World(NOW).kinds, NOW, piped.encode)

    assert [said] == [problem.message for problem in loaded.problems]


def test_a_link_that_leads_nowhere_is_a_missing_file(tmp_path: Path) -> None:
    """A file that is gone must not look like objects that nobody wants."""
    (tmp_path / "a.yaml").write_text(WORLD)
    (tmp_path / "b.yaml").symlink_to(tmp_path / "gone")
    loaded = load([str(tmp_path)], World(NOW).kinds, NOW, bytes)

    assert [str(tmp_path / "b.yaml")] == [problem.place for problem in loaded.problems]
