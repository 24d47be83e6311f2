"""`status` and `why` of attachments on Kubernetes' own API server, with the rights of whoever asks.

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
from roadstead.testbed.crds import FLUX, install, neighbours
from roadstead.testbed.server import ControlPlane

pytestmark = pytest.mark.cluster
WORLD = Path(__file__).parent / "worlds" / "attachments.yaml"
asked = partial(look, "tenant-blue")
REPORTED = {
    "observedGeneration": 1,
    "phase": "Attached",
    "addresses": ["203.0.113.7"],
    "conditions": [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": "as it was put here",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for kind, reason in (
            ("Resolved", "Resolved"), ("Provisioned", "Provisioned"), ("Ready", "Attached"),
        )
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A server with the world in it but for the address classes, and one who reads little."""
    folder = tmp_path_factory.mktemp("plane") / "data"
    world = tmp_path_factory.mktemp("world") / "world.yaml"
    bodies = [
        body
        for body in yaml.safe_load_all(WORLD.read_text())
        if body["kind"] not in {"IPAddressClass", "ApplicationDefinition"}
    ]
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("tenant-blue", "tenant-green")
    ]
    world.write_text(yaml.safe_dump_all([*spaces, *bodies]))
    with ControlPlane.start(folder=folder) as running:
        request.config.stash[VERSION] = running.version
        install(running, [*neighbours([FLUX]), *crds().values()])
        commands = [
            ("apply", "--server-side", "-f", str(world)),
            ("patch", "epa", "shop-db", "-n", "tenant-blue", "--subresource=status",
             "--type=merge", "-p", json.dumps({"status": REPORTED})),
            ("create", "serviceaccount", "viewer", "-n", "tenant-blue"),
            ("create", "clusterrole", "viewer", "--verb=get,list",
             "--resource=endpointattachments.local.sdn.cozystack.io,services"),
            ("create", "clusterrolebinding", "viewer", "--clusterrole=viewer",
             "--serviceaccount=tenant-blue:viewer"),
        ]  # fmt: skip
        for command in commands:
            done = running.kubectl(*command)
            assert done.returncode == 0, done.stderr
        yield running


def test_status_is_the_objects_own(plane: ControlPlane) -> None:
    """A row repeats what was reported, and says where nothing is reported yet."""
    ran = asked(plane, "status", "-A", "-o", "json")
    items = json.loads(ran.out)["items"]
    found = {
        one["name"]: (one["ready"], one["reason"], one["addresses"])
        for one in items
        if one["kind"] == "EndpointAttachment"
    }
    assert found == {
        "shop-db": (True, "Attached", ["203.0.113.7"]),
        "web-ip": (None, "Pending", []),
        "wiki-db": (None, "Pending", []),
    }
    assert ran.code == 1


def test_what_is_not_installed_is_told(plane: ControlPlane) -> None:
    """Without a substrate every attachment waits, and the table says for what."""
    ran = asked(plane, "status", "-A")
    assert "3 endpoint attachments not asked: ipaddressclaims not installed\n" in ran.err
    assert asked(plane, "status", "-A", "-q").err == ""


def test_why_judges_now(plane: ControlPlane) -> None:
    """The trail is of what is there; what is not served is waited for."""
    ran = asked(plane, "why", "epa/wiki-db", "-n", "tenant-green")
    assert ran.code == 1, ran.err
    assert "wait  claims-served" in ran.out
    assert "the kind IPAddressClaim is not served here" in ran.out
    assert "wakes: an address substrate" in ran.out


def test_a_service_names_its_attachment(plane: ControlPlane) -> None:
    """By the same reads as a pass makes."""
    ran = asked(plane, "why", "service/postgres-shop-rw", "-n", "tenant-blue")
    assert "is mirrored by EndpointAttachment tenant-blue/shop-db" in ran.out


def test_who_may_read_attachments_alone_sees_their_status(plane: ControlPlane) -> None:
    """A tenant without rights on releases or Secrets still has a table."""
    ran = asked(plane, "status", "-A", account="viewer")
    assert "shop-db" in ran.out
    assert "TrustAnchor" not in ran.out
    assert "not asked: helmreleases may not be read by you\n" in ran.err
    assert ran.code == 1


def test_why_says_what_you_may_not_read(plane: ControlPlane) -> None:
    """Unknown is not absent: no HelmRelease is claimed to be missing, the last word is given."""
    ran = asked(plane, "why", "epa/shop-db", "-n", "tenant-blue", account="viewer")
    assert ran.code == 1
    assert "helmreleases.helm.toolkit.fluxcd.io: you may not read them" in ran.out
    assert "ReadFailed" in ran.out
    assert "ApplicationNotFound" not in ran.out
    assert "Ready=True  Attached" in ran.out


def test_a_plan_knows_what_was_minted_there(plane: ControlPlane) -> None:
    """The rendered Service of a cluster has a name of its own; it is not made a second time."""
    got = plane.kubectl("get", "epa", "shop-db", "-n", "tenant-blue", "-o", "json")
    owner = {
        "apiVersion": "local.sdn.cozystack.io/v1alpha1",
        "kind": "EndpointAttachment",
        "name": "shop-db",
        "uid": json.loads(got.stdout)["metadata"]["uid"],
        "controller": True,
    }
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "shop-db-77777",
            "namespace": "tenant-blue",
            "ownerReferences": [owner],
        },
        "spec": {"ports": [{"name": "sql", "port": 5432}], "selector": {"app": "another"}},
    }
    made = plane.kubectl("create", "-f", "-", input=json.dumps(body))
    assert made.returncode == 0, made.stderr
    ran = asked(plane, "plan", "-f", str(WORLD), "--against", "cluster", "-o", "json")
    rows = [
        (row["action"], row["object"]["name"])
        for row in json.loads(ran.out)["changes"]
        if row["object"]["kind"] == "Service"
    ]
    assert rows == [("change", "shop-db-77777")]
