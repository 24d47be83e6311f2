"""Every object that is rendered is one that Kubernetes' own API server takes, field for field.

A dry run of a server-side apply, with strict validation: an unknown field, a wrong type, a value
that a definition's own rules refuse is an error. The neighbours' definitions are their projects'
own, but for `documented` ones, of which this says no more than that we write what we meant to.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from live_cluster import Cluster
from service_server import NATIVE, Server, prepare
from service_trees import everything, identity, packaged, shelves, write_tree

pytestmark = pytest.mark.cluster

Body = Mapping[str, Any]


@pytest.fixture
def prepared(server: Cluster, tmp_path: Path) -> tuple[Server, list[tuple[str, Body]]]:
    """A server that knows every kind, and all objects of all catalogs."""
    found = [
        (f"{shelf}: {place}", body)
        for shelf in shelves(tmp_path / "catalogs")
        for place, body in everything(write_tree(shelf, tmp_path / f"tree-{shelf}"))
    ]
    bodies = [body for _, body in found]
    return prepare(server.admin, bodies), found


def test_the_server_takes_every_object_of_every_catalog(
    prepared: tuple[Server, list[tuple[str, Body]]],
) -> None:
    """A field that no schema knows, or a value that a rule refuses, names its file here."""
    server, found = prepared
    seen: set[str] = set()
    refused = []
    for place, body in found:
        if (text := repr(body)) in seen:
            continue
        seen.add(text)
        if said := server.refusal(body):
            refused.append(f"{place}: {'/'.join(identity(body)[1:])}: {said}")

    assert [] == refused[:10], f"{len(refused)} of {len(seen)}"
    assert len(seen) > 300
    assert any(packaged(body) for _, body in found)

    # The proof has teeth: one field more, in any custom kind, is refused.
    custom = {identity(body)[:2]: body for _, body in found if body["apiVersion"] not in NATIVE}
    assert len(custom) > 15
    for body in custom.values():
        assert "xTypo" in server.refusal({**body, "spec": {**body["spec"], "xTypo": 1}}), body
