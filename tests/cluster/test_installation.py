"""Install, upgrade from 0.1.0 and removal, by the chart's own output on the real API server.

A server of its own, which begins as 0.1.0 left it. The steps are those of the guide.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from lineage_objects import owner
from live_admin import Admin, wait_for
from live_cluster import Cluster, needed
from live_install import (
    NotRenderedError,
    applied,
    deleted,
    pods,
    rendered,
    standing,
    written,
)
from live_run import user_of
from live_summary import VERSION
from live_webhook import HOST, Relay, definitions, free_port
from roadstead.capabilities.anchors import api as anchors
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.capabilities.gateways.api import GATEWAY, TENANT_GATEWAY
from roadstead.capabilities.lineage import api as lineage
from roadstead.deploy.admission import REGISTRATION
from roadstead.deploy.bundle import namespace
from roadstead.deploy.chart import CRDS, KEEP
from roadstead.deploy.crds import REVISION, revision_of
from roadstead.deploy.rbac import ACCOUNTS, HOME
from roadstead.kube.refs import CRD, HELM_RELEASE, LEASE, NAMESPACE, SECRET, SERVICE, Kind
from roadstead.testbed.build import build
from roadstead.testbed.crds import install, neighbours
from roadstead.testbed.server import ControlPlane
from webhook_certificates import authority, pair, put

pytestmark = pytest.mark.cluster

Json = dict[str, Any]
ROOT = Path(__file__).parent.parent.parent
OLD = ROOT / "tests/data/v0.1.0"
EXAMPLES = ROOT / "src/roadstead/examples"
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
LINEAGE = DEPLOYMENT.ref(HOME, "roadstead-lineage")
RELEASE = HELM_RELEASE.ref("tenant-blue", "mongodb-orders")
"""Of the one application that no other example changes."""
ANCHOR = SECRET.ref(RELEASE.namespace, f"{RELEASE.name}{anchors.SUFFIX}")
MONITORING = {"serviceMonitor": True, "rules": True, "dashboard": True}
VALUES: Json = {
    "settings": {"cozyProxyContractImplemented": True},
    "monitoring": MONITORING,
}
OF_PLATFORM = {"applicationDefinition": True}
"""There is no platform here that has its own."""


def documents(path: Path) -> list[Json]:
    """The objects of a file."""
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


@pytest.fixture(scope="module")
def old(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster with its neighbours, and with what 0.1.0 told to apply."""
    binary = build()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="roadstead-tests-")))
        plane = stack.enter_context(ControlPlane.start(binary))
        request.config.stash[VERSION] = plane.version
        theirs = [
            one
            for one in neighbours(("monitoring",))
            if one["spec"]["names"]["kind"] in {"ServiceMonitor", "PrometheusRule"}
        ]
        ours = documents(OLD / "applicationdefinitions.cozystack.io.yaml")
        install(plane, [*needed(), *theirs, *definitions(), *ours])
        admin = Admin(plane.kubeconfig)
        stack.callback(admin.close)
        found = Cluster(binary, plane.kubeconfig, admin, plane.version, folder, plane)
        done = plane.kubectl("apply", "--server-side", "-f", str(OLD / "rbac.yaml"))
        assert done.returncode == 0, done.stderr
        found.baseline()
        yield found


@pytest.fixture
def cluster(old: Cluster) -> Iterator[Cluster]:
    """The cluster as every test finds it."""
    yield old
    old.reset()


def test_a_warning_of_the_server_would_be_seen(cluster: Cluster) -> None:
    """Or its absence below would say nothing."""
    labels = {"app": "x"}
    spec = {
        "containers": [{"name": "x", "image": "x"}],
        "nodeSelector": {"beta.kubernetes.io/arch": "amd64"},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }

    assert "Warning" in applied(cluster, [deployment])


def test_the_chart_refuses_what_would_go_wrong_later(cluster: Cluster) -> None:
    """A namespace within the webhook's reach, older definitions, an early registration."""
    register = {"webhook": {"register": True}}

    with pytest.raises(NotRenderedError, match=r"namespace roadstead-system lacks the label"):
        rendered(cluster)
    applied(cluster, [namespace()], "--force-conflicts")

    served = rendered(cluster, OF_PLATFORM, CRDS)
    for one in served:
        del one["metadata"]["annotations"]
    applied(cluster, served, "--force-conflicts")
    with pytest.raises(NotRenderedError, match=r"served at revision 1 and this version needs 2"):
        rendered(cluster)
    applied(cluster, rendered(cluster, OF_PLATFORM, CRDS), "--force-conflicts")
    newer = rendered(cluster)

    with pytest.raises(NotRenderedError, match=r"no Pod of Deployment roadstead-lineage"):
        rendered(cluster, register)
    applied(cluster, newer, "--force-conflicts")
    with pytest.raises(NotRenderedError, match=r"no Pod of Deployment roadstead-lineage"):
        rendered(cluster, register)
    available(cluster, 1)
    applied(cluster, rendered(cluster, register), "--force-conflicts")
    # Whoever mends a Deployment that is down must not have to take the registration away first.
    available(cluster, 0)
    assert rendered(cluster, register)


def available(cluster: Cluster, count: int) -> None:
    """Say of the webhook's Deployment how many Pods are available, as its controller would."""
    status = {"replicas": 1, "readyReplicas": count, "availableReplicas": count}
    cluster.admin.patched(LINEAGE, {"status": status}, "/status")


def test_installed_upgraded_and_removed_as_the_guide_says(cluster: Cluster, tmp_path: Path) -> None:
    """From 0.1.0 to a webhook that answers, and away again with tenants' objects left alone."""
    admin = cluster.admin
    before = example(cluster, "anchors")
    definition = anchors.DEFINITION.ref("", "postgres")
    uid = (admin.get(definition) or {})["metadata"]["uid"]

    # Upgrade: definitions, namespace, program.
    crds = rendered(cluster, OF_PLATFORM, CRDS)
    assert "" == applied(cluster, crds, "--force-conflicts")
    for one in crds:
        wait_served(cluster, one)
        served = admin.get(CRD.ref("", one["metadata"]["name"]))
        assert served is not None
        assert (REVISION, "keep") == (revision_of(served), served["metadata"]["annotations"][KEEP])
    assert uid == (admin.get(definition) or {})["metadata"]["uid"]
    assert "" == applied(cluster, [namespace()], "--force-conflicts")
    objects = rendered(cluster, VALUES)
    assert "" == applied(cluster, objects, "--force-conflicts")
    assert "" == applied(cluster, objects)

    (config,) = (one for one in objects if one["metadata"]["name"] == "roadstead-settings")
    folders = {"settings": written(config, tmp_path / "settings"), "certificate": tmp_path / "tls"}
    put(folders["certificate"], pair(HOST))
    port = free_port()
    with (
        Relay(port) as relay,
        pods(cluster, objects, folders, f"--webhook-port={port}", "--leader-elect") as processes,
    ):
        assert {one.name for one in ACCOUNTS} == set(processes)
        for process in processes.values():
            process.wait_ready()
        before += example(cluster, "attachments") + example(cluster, "gateways")
        settled(cluster)
        registered(cluster, relay)
        reviewed(cluster)
        assert leases(cluster) == {
            "roadstead-anchors-wildcards",
            "roadstead-attachments-gateways",
            "roadstead-refresher",
        }
        assert [] == refusals(cluster)
        # Removal: the registration, and of the release the Deployments before their rights.
        deleted(cluster, [rendered_registration(cluster)])
        deleted(cluster, [one for one in objects if one["kind"] == "Deployment"])
        assert {0} == {process.stop() for process in processes.values()}
        deleted(cluster, objects)
    removed(cluster, objects, before)


def example(cluster: Cluster, name: str) -> list[Json]:
    """Apply an example of ours; give its objects."""
    done = cluster.own.kubectl("apply", "--server-side", "-f", str(EXAMPLES / name))
    assert done.returncode == 0, done.stderr
    return [one for path in sorted((EXAMPLES / name).glob("*.yaml")) for one in documents(path)]


def wait_served(cluster: Cluster, crd: Json) -> None:
    """Wait until a definition's kind is served."""
    spec = crd["spec"]
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
    wait_for(f"{path} served", lambda: cluster.admin.call("GET", path).code == 200)


def settled(cluster: Cluster) -> None:
    """Wait until each process has done of the examples what it is there for."""
    admin = cluster.admin
    wait_for("the anchor", lambda: admin.get(ANCHOR))
    wait_for("a claim that was minted", lambda: admin.objects(CLAIM))
    wait_for(
        "a status of every attachment",
        lambda: all(one.get("status") for one in admin.objects(ATTACHMENT)),
    )
    wait_for(
        "a status of every TenantGateway",
        lambda: all(one.get("status") for one in admin.objects(TENANT_GATEWAY)),
    )
    wait_for("a Gateway", lambda: admin.objects(GATEWAY))


def rendered_registration(cluster: Cluster) -> Json:
    """The registration of the chart's second step."""
    values = {**VALUES, "webhook": {"register": True}}
    (found,) = (one for one in rendered(cluster, values) if one["kind"] == REGISTRATION.kind)
    return found


def registered(cluster: Cluster, relay: Relay) -> None:
    """Have the API server ask, by the chart's second step.

    Two things stand in for what a cluster has: the Service leads to our process, and the bundle
    is put in as cert-manager would.
    """
    available(cluster, 1)
    body = rendered_registration(cluster)
    assert "" == applied(cluster, [body])
    bundle = base64.b64encode(authority().pem).decode()
    client = {"caBundle": bundle}
    webhook = json.loads(json.dumps(body["webhooks"][0]))
    webhook["clientConfig"] |= client
    webhook["clientConfig"]["service"]["port"] = relay.asked
    ref = REGISTRATION.ref("", body["metadata"]["name"])
    cluster.admin.patched(ref, {"webhooks": [webhook]})
    service = SERVICE.ref(HOME, lineage.SERVICE_NAME)
    cluster.admin.delete(service)
    stands_in = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service.name, "namespace": HOME},
        "spec": {"type": "ExternalName", "externalName": relay.address},
    }
    cluster.admin.made(SERVICE, stands_in)


def reviewed(cluster: Cluster) -> None:
    """Wait until what an application makes carries its labels."""
    release = cluster.admin.get(RELEASE)
    assert release is not None
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "made-by-an-application",
            "namespace": "tenant-blue",
            "ownerReferences": [owner(HELM_RELEASE, RELEASE.name, release["metadata"]["uid"])],
        },
    }
    path = SECRET.path("tenant-blue")

    def labelled() -> bool:
        reply = cluster.admin.call("POST", path, secret, query={"dryRun": "All"})
        labels = reply.body["metadata"].get("labels", {})
        return bool("orders" == labels.get(lineage.NAME_LABEL))

    wait_for("the lineage of a Secret", labelled)


def leases(cluster: Cluster) -> set[str]:
    """The Leases that are held."""
    found = cluster.admin.objects(LEASE, HOME)
    return {one["metadata"]["name"] for one in found if one["spec"].get("holderIdentity")}


def refusals(cluster: Cluster) -> list[str]:
    """What the API server refused our accounts for want of a right."""
    users = {user_of(one.name) for one in ACCOUNTS}
    found = []
    for line in cluster.own.audit.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["user"]["username"] in users and event["responseStatus"].get("code") == 403:
            found.append(f"{event['user']['username']} {event['verb']} {event['requestURI']}")
    return found


def removed(cluster: Cluster, objects: list[Json], before: list[Json]) -> None:
    """What the guide says stays, and nothing else of the release."""
    admin = cluster.admin
    assert [] == standing(cluster, objects)
    assert admin.get(REGISTRATION.ref("", "lineage")) is None

    assert admin.get(NAMESPACE.ref("", HOME))
    assert admin.get(ANCHOR)
    assert minted(cluster)
    assert owned_gateways(cluster)
    assert 3 == len(admin.objects(LEASE, HOME))
    kinds = {"EndpointAttachment", "TenantGateway", "HelmRelease", "ApplicationDefinition"}
    theirs = {named(one): one for one in before if one["kind"] in kinds}
    assert len(theirs) == len(standing(cluster, list(theirs.values())))

    # Objects before definitions: what was made for them is collected with them.
    for one in admin.objects(ATTACHMENT):
        admin.delete(ATTACHMENT.ref(one["metadata"]["namespace"], one["metadata"]["name"]))
    wait_for("minted claims gone", lambda: not minted(cluster))
    for one in admin.objects(TENANT_GATEWAY):
        admin.delete(TENANT_GATEWAY.ref(one["metadata"]["namespace"], one["metadata"]["name"]))
    wait_for("Gateways gone", lambda: not owned_gateways(cluster))


def named(one: Json) -> tuple[str, str, str]:
    """What tells an object from the others."""
    return (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"])


def minted(cluster: Cluster) -> list[Json]:
    """Claims that an attachment owns."""
    return [one for one in cluster.admin.objects(CLAIM) if one["metadata"].get("ownerReferences")]


def owned_gateways(cluster: Cluster) -> list[Json]:
    """Gateways that a TenantGateway owns."""
    return [one for one in cluster.admin.objects(GATEWAY) if one["metadata"].get("ownerReferences")]
