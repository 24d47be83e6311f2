"""Trees as `service render` writes them, read back as another program would read them."""

import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import yaml

from roadstead.cli.main import main
from service_catalogs import Shelf, case_shelves
from service_variants import VARIANTS, written

Body = Mapping[str, Any]
BUILD = "kustomize.config.k8s.io/v1beta1"


def write_tree(shelf: Shelf, out: Path) -> Path:
    """Render a catalog into a folder with the command that people use."""
    folder = shelf.definitions[0].parent
    said = io.StringIO()
    command = ["service", "render", "-q", "--out", str(out)]
    places = ["-f", str(folder), "--platform", str(shelf.platform)]
    with redirect_stdout(said), redirect_stderr(said):
        code = main([*command, *places])
    assert code in {0, 1}, said.getvalue()
    return out


def shelves(folder: Path) -> Iterator[Shelf]:
    """Every catalog there is: the cases, and the variants, written below a folder."""
    yield from case_shelves()
    for variant in VARIANTS:
        yield written(variant, folder / variant.name)


def documents(out: Path) -> Iterator[tuple[str, Body]]:
    """Every object of a tree that a cluster is meant to get, with its file.

    An encrypted Secret is none: Flux decrypts it first, so a server never sees what stands there.
    """
    for path in sorted(out.rglob("*.yaml")):
        place = path.relative_to(out).as_posix()
        if "/charts/" in place or ".sops." in place:
            continue
        for body in yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader):
            if body["apiVersion"] != BUILD:
                yield place, body


def packaged(body: Body) -> list[Body]:
    """What a HelmRelease carries."""
    if body["kind"] != "HelmRelease":
        return []
    found: list[Body] = body["spec"]["values"]["manifests"]
    return found


def everything(out: Path) -> list[tuple[str, Body]]:
    """The objects of a tree, those inside HelmReleases too."""
    found = list(documents(out))
    return [*found, *((place, one) for place, body in found for one in packaged(body))]


def identity(body: Body) -> tuple[str, str, str, str]:
    """What two objects may not share."""
    meta = body["metadata"]
    return body["apiVersion"], body["kind"], meta.get("namespace", ""), meta["name"]
