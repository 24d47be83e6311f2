"""The output tree: which bytes stand in which file. Source: contract 5.1, 5.2, 3.13.

Pure: files are values here, and nothing is written. `shown` gives a definition file the name that
the tree calls it by, which never holds a folder of the machine.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

import msgspec

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.render.effective import Output
from roadstead.capabilities.services.render.layer import layer
from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.render.platform import platform_parts
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.documents import dump

Shown = Callable[[str], str]

KUSTOMIZATION = "kustomization.yaml"
TRACE = "_trace"
FLUX = "_flux"
PLATFORM = "_platform"


def service_files(seen: Snapshot, output: Output, shown: Shown) -> dict[str, bytes]:
    """Every file of one service: its folder, its Flux Kustomization, its trace."""
    name = seen.service.name
    head = header(shown(seen.service.origin.file), "definition")
    files: dict[str, bytes] = {}
    for file, group in groupby(output.folder, key=lambda one: one.file):
        files[f"{name}/{file}"] = head + dump(one.body for one in group).encode()
    secrets = secret_files(seen)
    resources = [path.partition("/")[2] for path in (*files, *sorted(secrets))]
    files[f"{name}/{KUSTOMIZATION}"] = head + kustomization(resources)
    files |= secrets
    flux = layer(seen)
    files[f"{FLUX}/{name}.yaml"] = head + dump([flux.body]).encode()
    files[f"{TRACE}/{name}.json"] = trace(seen, (*output.effective, *output.folder, flux), shown)
    return files


def secret_files(seen: Snapshot) -> dict[str, bytes]:
    """The encrypted Secrets, their bytes unchanged. They were verified by the checks."""
    name, found = seen.service.name, seen.secrets or {}
    return {
        f"{name}/secret-{one.name}.sops.yaml": found[one.name].text
        for one in seen.service.required_secrets
        if one.name in found
    }


def platform_files(catalog: Catalog, shown: Shown) -> dict[str, bytes]:
    """Everything that is not of one service."""
    head = header(shown(catalog.platform.origin.file), "platform file")
    parts = platform_parts(catalog)
    files = {
        f"{PLATFORM}/{path}": head + (text if isinstance(text, str) else dump(text)).encode()
        for path, text in parts.files.items()
    }
    files[f"{PLATFORM}/{KUSTOMIZATION}"] = head + kustomization(parts.resources)
    files[f"{FLUX}/_platform.yaml"] = head + dump([parts.layer]).encode()
    names = sorted(f"{service.name}.yaml" for service in catalog.services)
    files[f"{FLUX}/{KUSTOMIZATION}"] = head + kustomization(["_platform.yaml", *names])
    return files


def header(file: str, what: str) -> bytes:
    """The first line of a rendered file."""
    return f"# Generated from {file}. Do not edit; edit the {what}.\n".encode()


def kustomization(resources: Iterable[str]) -> bytes:
    """A kustomization of these files, without any transformer."""
    body = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(resources),
    }
    return dump([body]).encode()


def trace(seen: Snapshot, objects: Iterable[Rendered], shown: Shown) -> bytes:
    """Object by object what caused it, as JSON."""
    found = {one.path: _told(seen, one, shown) for one in objects}
    place = seen.service.place("")
    body = {
        "service": seen.service.name,
        "definition": {"file": shown(place.file), "line": place.line},
        "objects": found,
    }
    return msgspec.json.format(msgspec.json.encode(body, order="sorted"), indent=2) + b"\n"


def _told(seen: Snapshot, one: Rendered, shown: Shown) -> Mapping[str, Any]:
    place = one.cause.place(one.field) if one.field != "platform" else one.cause.place("")
    return {
        "file": file_of(seen.service.name, one),
        "field": one.field if one.cause is seen.service else f"{one.cause.name}:{one.field}",
        "definition": {"file": shown(place.file), "line": place.line},
        "requirements": one.role.requirements,
        "checks": one.role.checks,
    }


def file_of(name: str, one: Rendered) -> str:
    """The path of the file that holds an object."""
    return one.file if "/" in one.file else f"{name}/{one.file}"
