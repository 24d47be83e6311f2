"""A real API server that knows the kinds of rendered objects, and one that asks it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from live_admin import Admin, wait_for
from live_cluster import OK
from roadstead.testbed.crds import FLUX, neighbours

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


def prepare(admin: Admin, bodies: Iterable[Body]) -> Server:
    """Make a server know the kinds of objects, and their namespaces; waits until it serves them."""
    bodies = list(bodies)
    kinds = {(one["apiVersion"], one["kind"]) for one in bodies}
    install(admin, definitions(kinds))
    asked = Server(admin)
    for version, kind in sorted(kinds):
        one = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "x"}}
        wait_for(f"{kind} of {version} served", lambda: asked.path(one, fresh=True))  # noqa: B023 - asked at once
        path = asked.path(one)
        listed = path.rpartition("/")[0]
        wait_for(f"{listed} answers", lambda: admin.call("GET", listed).code == OK)  # noqa: B023 - same
    make_namespaces(admin, bodies)
    return asked
