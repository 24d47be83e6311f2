"""What Flux would make of a rendered tree, said by the programs that Flux is made of."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from roadstead.testbed.foreign import ask
from service_catalogs import Shelf
from service_trees import BUILD, documents, identity, packaged, shelves, write_tree

pytestmark = pytest.mark.foreign

Body = Mapping[str, Any]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Shelf, Path]]:
    """Every catalog, rendered."""
    place = tmp_path_factory.mktemp("trees")
    return [
        (shelf, write_tree(shelf, place / f"tree-{shelf}")) for shelf in shelves(place / "catalogs")
    ]


def read(text: str) -> list[Body]:
    """Documents of a stream."""
    return [one for one in yaml.load_all(text, Loader=yaml.CSafeLoader) if one is not None]


def by_identity(bodies: list[Body]) -> dict[tuple[str, str, str, str], Body]:
    """Objects by what no two may share."""
    found = {identity(one): one for one in bodies}
    assert len(bodies) == len(found), Counter(map(identity, bodies)).most_common(3)
    return found


def listed(folder: Path) -> list[Body]:
    """The objects of the files that a folder's kustomization names."""
    named = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    return [one for name in named for one in read((folder / name).read_text())]


def test_kustomize_builds_each_folder_to_the_objects_that_stand_in_it(
    trees: list[tuple[Shelf, Path]],
) -> None:
    """Nothing is left out, renamed or changed, and no folder needs a file from outside."""
    folders = sorted(path.parent for _, out in trees for path in out.rglob("kustomization.yaml"))
    answers = ask("kustomize", ({"folder": str(folder)} for folder in folders))

    for folder, answer in zip(folders, answers, strict=True):
        assert "" == answer.get("error", ""), folder
        assert by_identity(listed(folder)) == by_identity(read(answer["objects"])), folder
    assert len(folders) > 100


def test_no_object_of_a_service_stands_outside_its_kustomization(
    trees: list[tuple[Shelf, Path]],
) -> None:
    """A file that nothing lists would never reach a cluster."""
    for shelf, out in trees:
        reached = [one for path in out.rglob("kustomization.yaml") for one in listed(path.parent)]
        written = [body for _, body in documents(out)]
        encrypted = [one for one in reached if "sops" in one]
        assert len(written) + len(encrypted) == len(reached), shelf
        assert BUILD not in {one["apiVersion"] for one in reached}


def test_helm_renders_each_release_to_the_objects_it_carries(
    trees: list[tuple[Shelf, Path]],
) -> None:
    """The chart prints what it was given: no line of it is taken for a template."""
    releases = [
        (out, body)
        for _, out in trees
        for _, body in documents(out)
        if body["kind"] == "HelmRelease"
    ]
    answers = ask(
        "helm",
        (
            {
                "chart": str(out / "_platform/charts/manifests"),
                "release": body["spec"]["releaseName"],
                "namespace": body["spec"]["targetNamespace"],
                "values": body["spec"]["values"],
            }
            for out, body in releases
        ),
    )

    for (_, body), answer in zip(releases, answers, strict=True):
        assert "" == answer.get("error", ""), identity(body)
        assert by_identity(packaged(body)) == by_identity(read(answer["manifests"]))
        namespaces = {one["metadata"]["namespace"] for one in packaged(body)}
        assert {body["spec"]["targetNamespace"]} == namespaces
    assert len(releases) > 50
