"""`roadstead service drift` against a real API server. Source: contract 5.4."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli_command import Ran, run
from live_cluster import Cluster
from service_catalogs import examples
from service_server import APPLY, FORCED, Server, prepare
from service_trees import everything, packaged, write_tree

pytestmark = pytest.mark.cluster

Body = Mapping[str, Any]
SERVER_NFS = "10.0.0.5"


def substituted(body: Body) -> Body:
    """An object as Flux would apply it."""
    text = json.dumps(body).replace("${BULK_NFS_SERVER}", SERVER_NFS)
    found: Body = json.loads(text)
    return found


@pytest.fixture
def applied(server: Cluster, tmp_path: Path) -> tuple[Server, Path]:
    """A server that holds all objects of the examples, and the tree they are from."""
    tree = write_tree(examples(), tmp_path / "tree")
    bodies = [body for _, body in everything(tree)]
    bodies += [one for body in bodies for one in packaged(body)]
    asked = prepare(server.admin, bodies)
    for body in bodies:
        reply = server.admin.call(
            "PATCH", asked.path(body), substituted(body), content=APPLY, query=FORCED
        )
        assert not reply.refused, reply.message
    return asked, tree


def drift(server: Cluster, tree: Path) -> Ran:
    """Ask for it."""
    return run(
        "service", "drift", str(tree), "--kubeconfig", str(server.kubeconfig), "-o", "json"
    )  # fmt: skip


def rows(ran: Ran) -> list[tuple[str, str, list[str]]]:
    """Object, how, and in which fields."""
    found = json.loads(ran.out)["differences"]
    return [(one["object"], one["how"], [f["path"] for f in one["fields"]]) for one in found]


def test_drift_tells_what_somebody_changed_and_nothing_else(
    server: Cluster, applied: tuple[Server, Path]
) -> None:
    """What the server defaults, and an empty list it drops, is no difference."""
    asked, tree = applied
    ran = drift(server, tree)
    assert (0, []) == (ran.code, rows(ran)), ran.err

    gone = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "wiki", "namespace": "wiki"},
    }
    server.admin.call("DELETE", asked.path(gone))
    opened: dict[str, Any] = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "default-deny", "namespace": "wiki"},
    }
    path = asked.path(opened)
    merge = {"spec": {"policyTypes": ["Ingress"]}}
    server.admin.call("PATCH", path, merge, content="application/merge-patch+json")
    extra = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {
            "name": "by-hand",
            "namespace": "wiki",
            "labels": {"roadstead.dev/service": "wiki"},
        },
        "spec": {"endpointSelector": {}, "ingress": [{"fromEntities": ["host"]}]},
    }
    server.admin.call("PATCH", asked.path(extra), extra, content=APPLY, query=FORCED)
    ran = drift(server, tree)
    assert 1 == ran.code
    assert [
        ("CiliumNetworkPolicy/wiki/by-hand", "extra", []),
        ("NetworkPolicy/wiki/default-deny", "different", ["spec.policyTypes"]),
        ("Service/wiki/wiki", "missing", []),
    ] == rows(ran)
