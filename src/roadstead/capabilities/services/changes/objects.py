"""The objects of an output tree, those inside a HelmRelease among them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from roadstead.capabilities.services.api.kinds import HELM_RELEASE
from roadstead.errors import InputError
from roadstead.kube.documents import parse

_NOT_OBJECTS = ("_trace/", "_platform/charts/")


class Key(NamedTuple):
    """Which object, whatever the version it is written in. Sorts by namespace, kind, name."""

    namespace: str
    kind: str
    name: str
    group: str

    @property
    def path(self) -> str:
        """`Kind/namespace/name`."""
        inside = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind}/{inside}{self.name}"


@dataclass(frozen=True, slots=True)
class Held:
    """One object of a tree. packaged: whether it is inside a HelmRelease."""

    key: Key
    body: Mapping[str, Any] = field(repr=False)
    file: str
    packaged: bool = False


def key_of(body: Mapping[str, Any]) -> Key:
    """Which object a body is."""
    meta = body.get("metadata") or {}
    group = str(body.get("apiVersion", "")).rpartition("/")[0]
    return Key(
        str(meta.get("namespace") or ""),
        str(body.get("kind", "")),
        str(meta.get("name", "")),
        group,
    )


def objects_of(files: Mapping[str, bytes]) -> dict[Key, Held]:
    """Every object of a tree's files, by what it is.

    A HelmRelease is given without the objects it carries, which are given beside it.
    Raises: InputError for a file that is no YAML.
    """
    found: dict[Key, Held] = {}
    for path in sorted(files):
        if not path.endswith(".yaml") or path.startswith(_NOT_OBJECTS):
            continue
        for held in _of_file(path, files[path]):
            found[held.key] = held
    return found


def _of_file(path: str, text: bytes) -> Iterator[Held]:
    parsed = parse(text, path)
    if parsed.problems:
        problem = parsed.problems[0]
        raise InputError(problem.message, place=problem.place, hint=problem.hint)
    for document in parsed.documents:
        body = document.value
        if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
            continue  # a kustomization has no name
        if body.get("kind") == HELM_RELEASE.kind:
            manifests, body = _opened(body)
            yield from (Held(key_of(one), one, path, packaged=True) for one in manifests)
        yield Held(key_of(body), body, path)


def _opened(body: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a HelmRelease carries, and the rest of it."""
    spec = dict(body.get("spec") or {})
    values = dict(spec.get("values") or {})
    manifests = values.pop("manifests", None)
    spec.pop("values", None)
    spec |= {"values": values} if values else {}
    carried = [one for one in manifests or () if isinstance(one, dict)]
    return carried, {**body, "spec": spec}
