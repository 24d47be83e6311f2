"""Every object that is rendered is one that Kubernetes' own API server takes, field for field.

A dry run of a server-side apply, with strict validation: an unknown field, a wrong type, a value
that a definition's own rules refuse is an error. The neighbours' definitions are their projects'
own, but for `documented` ones, of which this says no more than that we write what we meant to.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from live_admin import Admin, wait_for
from live_cluster import OK, Cluster
from roadstead.testbed.crds import FLUX, neighbours
from service_trees import everything, identity, packaged, shelves, write_tree

pytestmark = pytest.mark.cluster

Body = Mapping[str, Any]
NEIGHBOURS = (
    FLUX,
    "cert-manager",
    "cilium",
    "documented",
    "envoy-gateway",
    "flux-services",
    "gateway-api",
    "monitoring",
    "velero",
)
FORCED = {"fieldManager": "test", "force": "true"}
STRICT = {**FORCED, "dryRun": "All", "fieldValidation": "Strict"}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APPLY = "application/apply-patch+yaml"
NATIVE = {"v1", "apps/v1", "networking.k8s.io/v1"}


class Server:
    """The API server, as one who knows nothing of ours asks it."""

    def __init__(self, admin: Admin) -> None:
        """Discover nothing yet."""
        self._admin = admin
        self._served: dict[str, dict[str, tuple[str, bool]]] = {}

    def path(self, body: Body, *, fresh: bool = False) -> str:
        """Where an object is written, from the server's own discovery; empty where nowhere."""
        version = body["apiVersion"]
        root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        if fresh or version not in self._served:
            reply = self._admin.call("GET", root)
            self._served[version] = {
                one["kind"]: (one["name"], one["namespaced"])
                for one in reply.body.get("resources", ())
                if "/" not in one["name"]
            }
        found = self._served[version].get(body["kind"])
        if found is None:
            return ""
        meta = body["metadata"]
        inside = f"/namespaces/{meta['namespace']}" if found[1] else ""
        return f"{root}{inside}/{found[0]}/{meta['name']}"

    def refusal(self, body: Body) -> str:
        """What it says against an object; empty when it would take it as it is."""
        path = self.path(body)
        if not path:
            return "the kind is not served"
        reply = self._admin.call("PATCH", path, body, content=APPLY, query=STRICT)
        return reply.message or "; ".join(reply.warnings)


def definitions(kinds: Iterable[tuple[str, str]]) -> Iterator[Body]:
    """Those definitions of neighbours that hold one of the kinds; each costs a server time."""
    wanted = set(kinds)
    for one in neighbours(NEIGHBOURS):
        spec = one["spec"]
        served = {(f"{spec['group']}/{v['name']}", spec["names"]["kind"]) for v in spec["versions"]}
        if served & wanted:
            yield one


def install(admin: Admin, crds: Iterable[Body]) -> None:
    """Make the server know kinds; a client that validates first would wait for its OpenAPI."""
    for one in crds:
        reply = admin.call(
            "PATCH", f"{DEFINITIONS}/{one['metadata']['name']}", one, content=APPLY, query=FORCED
        )
        assert not reply.refused, reply.message


def make_namespaces(admin: Admin, bodies: Iterable[Body]) -> None:
    """Nothing can be tried in a namespace that is not there."""
    for name in sorted({one["metadata"].get("namespace", "") for one in bodies} - {""}):
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        admin.call("POST", "/api/v1/namespaces", made)


@pytest.fixture
def prepared(server: Cluster, tmp_path: Path) -> tuple[Server, list[tuple[str, Body]]]:
    """A server that knows every kind, and all objects of all catalogs."""
    found = [
        (f"{shelf}: {place}", body)
        for shelf in shelves(tmp_path / "catalogs")
        for place, body in everything(write_tree(shelf, tmp_path / f"tree-{shelf}"))
    ]
    bodies = [body for _, body in found]
    kinds = {(one["apiVersion"], one["kind"]) for one in bodies}
    install(server.admin, definitions(kinds))
    asked = Server(server.admin)
    for version, kind in sorted(kinds):
        one = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "x"}}
        wait_for(f"{kind} of {version} served", lambda: asked.path(one, fresh=True))  # noqa: B023 - asked at once
        path = asked.path(one)
        listed = path.rpartition("/")[0]
        wait_for(f"{listed} answers", lambda: server.admin.call("GET", listed).code == OK)  # noqa: B023 - same
    make_namespaces(server.admin, bodies)
    return asked, found


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
    assert len(seen) > 400
    assert any(packaged(body) for _, body in found)

    # The proof has teeth: one field more, in any custom kind, is refused.
    custom = {identity(body)[:2]: body for _, body in found if body["apiVersion"] not in NATIVE}
    assert len(custom) > 15
    for body in custom.values():
        assert "unknown" in server.refusal({**body, "spec": {**body["spec"], "xTypo": 1}}), body
