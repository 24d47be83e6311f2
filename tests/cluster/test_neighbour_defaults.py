"""The offline world fills in what the neighbours' own definitions fill in. tenant-gateway 14."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from live_cluster import NEIGHBOURS
from roadstead.sim.neighbour_defaults import ROWS
from roadstead.testbed.crds import neighbours

pytestmark = pytest.mark.cluster

LEFT_OUT = (
    "spec.acme.solvers[].http01.gatewayHTTPRoute.podTemplate",
    "spec.acme.solvers[].http01.ingress",
    "spec.allowedListeners",
    "spec.tls",
    "spec.rules[].backendRefs[].filters",
    "spec.rules[].filters[].cors",
    "spec.rules[].filters[].externalAuth",
    "spec.rules[].filters[].requestMirror",
    "spec.rules[].matches[].headers",
    "spec.rules[].matches[].queryParams",
    "spec.rules[].sessionPersistence",
)
"""Fields that no object of ours and none of a case has."""


@pytest.fixture(scope="module")
def defaults() -> dict[str, list[dict[str, Any]]]:
    """The defaults of each served version, by kind and dotted path."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in neighbours(name for name in NEIGHBOURS if "-" in name):
        kind = one["spec"]["names"]["kind"]
        for version in one["spec"]["versions"]:
            if version["served"]:
                found.setdefault(kind, []).append(dict(stated(version["schema"])))
    return found


def stated(version: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every default of a schema."""
    yield from _below(version["openAPIV3Schema"], "")


def _below(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    if "default" in schema:
        yield path, schema["default"]
    for name, part in (schema.get("properties") or {}).items():
        yield from _below(part, f"{path}.{name}" if path else name)
    if isinstance(schema.get("items"), Mapping):
        yield from _below(schema["items"], f"{path}[]")


@pytest.mark.parametrize("kind", sorted(ROWS))
def test_a_kind_is_filled_in_as_its_definition_says(
    defaults: dict[str, list[dict[str, Any]]], kind: str
) -> None:
    """A row too many, or one that is missing, has the world write what a server does not."""
    for version in defaults[kind]:
        wanted = {at: one for at, one in version.items() if not at.startswith(LEFT_OUT)}

        assert dict(ROWS[kind]) == wanted


def test_no_other_kind_of_ours_has_defaults(defaults: dict[str, list[dict[str, Any]]]) -> None:
    """A Certificate and a ReferenceGrant are stored as they are sent."""
    kinds = ("Certificate", "ReferenceGrant")

    assert [] == [at for kind in kinds for one in defaults[kind] for at in one]
