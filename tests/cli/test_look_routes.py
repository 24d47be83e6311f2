"""`why` and `who` of routes on Kubernetes' own API server, with the rights of whoever asks.

No controller runs: what was reported is put there by hand, and nothing is ever written.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from cli_live import look
from live_summary import VERSION
from roadstead.deploy.crds import crds
from roadstead.testbed.crds import install, neighbours
from roadstead.testbed.server import ControlPlane

pytestmark = pytest.mark.cluster
WORLD = Path(__file__).parent / "worlds" / "routes.yaml"
asked = partial(look, "tenant-green")
SHOP = "shop.blue.example.org"
REPORTED = {
    "parents": [
        {
            "controllerName": "gateway.cozystack.io/tenantgateway-controller",
            "parentRef": {
                "group": "gateway.networking.k8s.io",
                "kind": "Gateway",
                "name": "cozystack",
                "namespace": "tenant-root",
            },
            "conditions": [
                {
                    "type": "Accepted",
                    "status": "False",
                    "reason": "HostnameConflict",
                    "message": "TenantGateway tenant-root/cozystack: "
                    f"{SHOP} is held by a route that comes first",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ],
        }
    ]
}


@pytest.fixture(scope="module")
def plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A server with the world in it but for what admission refuses, and one who reads little."""
    folder = tmp_path_factory.mktemp("plane") / "data"
    world = tmp_path_factory.mktemp("world") / "world.yaml"
    bodies = list(yaml.safe_load_all(WORLD.read_text()))
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("tenant-edge", "tenant-odd", "tenant-grey")
    ]
    world.write_text(yaml.safe_dump_all([*spaces, *bodies]))
    with ControlPlane.start(folder=folder) as running:
        request.config.stash[VERSION] = running.version
        install(running, [*neighbours(["gateway-api", "cert-manager"]), *crds().values()])
        commands = [
            ("apply", "--server-side", "-f", str(world)),
            ("patch", "httproute", "web", "-n", "tenant-green", "--subresource=status",
             "--type=merge", "-p", json.dumps({"status": REPORTED})),
            ("create", "serviceaccount", "viewer", "-n", "tenant-green"),
            ("create", "role", "viewer", "-n", "tenant-green", "--verb=get,list",
             "--resource=httproutes.gateway.networking.k8s.io"),
            ("create", "rolebinding", "viewer", "-n", "tenant-green", "--role=viewer",
             "--serviceaccount=tenant-green:viewer"),
        ]  # fmt: skip
        for command in commands:
            done = running.kubectl(*command)
            assert done.returncode == 0, done.stderr
        yield running


def test_who_may_list_all_routes_is_told_of_the_holder(plane: ControlPlane) -> None:
    """The trail is judged now, by routes of every namespace."""
    ran = asked(plane, "why", "httproute/web", "-n", "tenant-green")
    assert ran.code == 1, ran.err
    assert "https-web-d50b2592" in ran.out
    assert f"{SHOP} is held by HTTPRoute tenant-blue/shop" in ran.out


def test_a_tenant_is_told_what_its_route_was_told(plane: ControlPlane) -> None:
    """The entry is shown, and names no other tenant."""
    ran = asked(plane, "why", "httproute/web", "-n", "tenant-green", account="viewer")
    assert ran.code == 1, ran.err
    assert "Accepted=False  HostnameConflict" in ran.out
    assert "you may not read what it is judged by" in ran.out
    assert "tenant-blue" not in ran.out
    assert f"roadstead who {SHOP}" in ran.out


def test_what_a_tenant_may_not_read_is_held_all_the_same(plane: ControlPlane) -> None:
    """Unknown is not absent."""
    ran = asked(plane, "who", SHOP, "-n", "tenant-green", account="viewer")
    assert ran.code == 0, ran.err
    assert "held, but by an object you may not read\n" in ran.out
    assert "waiting: HTTPRoute/tenant-green/web (HostnameConflict" in ran.out
    assert "tenant-blue" not in ran.out


def test_a_name_that_nobody_seems_to_hold_may_be_held(plane: ControlPlane) -> None:
    """The answer says that not all of it was read."""
    ran = asked(plane, "who", "none.example.org", "-n", "tenant-green", account="viewer")
    assert ran.code == 1, ran.err
    assert "an object you may not read may hold it" in ran.out


def test_the_holder_is_named_to_who_may_read_it(plane: ControlPlane) -> None:
    """With its gateway and its listener."""
    ran = asked(plane, "who", SHOP, "-o", "json")
    found = json.loads(ran.out)
    assert ran.code == 0, ran.err
    assert [("HTTPRoute/tenant-blue/shop", "https-shop-4a43d552")] == [
        (one["object"], one["listener"]) for one in found["holders"]
    ]
    assert ["HTTPRoute/tenant-green/web"] == [one["object"] for one in found["waiting"]]
    assert found["notes"] == []


def test_a_row_says_what_is_not_reported_yet(plane: ControlPlane) -> None:
    """No controller runs here."""
    ran = asked(plane, "status", "-n", "tenant-root", "-o", "json")
    (row,) = json.loads(ran.out)["items"]
    assert ("TenantGateway", "cozystack", None, "Pending") == (
        row["kind"], row["name"], row["ready"], row["reason"]
    )  # fmt: skip


def test_a_route_that_nothing_is_reported_of(plane: ControlPlane) -> None:
    """It is not called served."""
    ran = asked(plane, "why", "httproute/plain", "-n", "tenant-green", account="viewer")
    assert ran.code == 1, ran.err
    assert "nothing is known" in ran.out


def test_everything_is_drawn_for_who_may_read_it(plane: ControlPlane) -> None:
    """Judged now: who holds the name, and who asks for it in vain."""
    ran = asked(plane, "graph", "-A", "--host", SHOP, "-o", "json")
    found = json.loads(ran.out)
    assert ran.code == 0, ran.err
    texts = {one["id"]: one["text"] for one in found["nodes"]}
    refused = {(texts[one["to"]], one["refused"]) for one in found["edges"]}
    assert {("HTTPRoute shop", None), ("HTTPRoute web", "HostnameConflict")} <= refused
    assert [] == [one for one in found["notes"] if "routes" in one]


def test_a_tenant_is_drawn_what_its_routes_were_told(plane: ControlPlane) -> None:
    """Its own routes, up to a Gateway that it may not read; no other tenant's name."""
    ran = asked(plane, "graph", "-n", "tenant-green", account="viewer")
    assert ran.code == 0, ran.err
    assert "Gateway tenant-root/cozystack, which you may not read" in ran.out
    assert "HTTPRoute tenant-green/web  no: HostnameConflict" in ran.out
    assert "HTTPRoute tenant-green/plain  no: Unreported" in ran.out
    assert "tenant-blue" not in ran.out
    assert "routes are drawn by their own status" in ran.err
    assert "attachments are not drawn" in ran.err


def test_who_may_read_nothing_is_drawn_nothing(plane: ControlPlane) -> None:
    """An error, and never an empty picture."""
    ran = asked(plane, "graph", "-n", "tenant-blue", account="viewer")
    assert ran.code == 2
    assert "you may not list" in ran.err
