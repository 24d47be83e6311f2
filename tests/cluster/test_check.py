"""`roadstead check` on Kubernetes' own API server: an installation, and what may be wrong with it.

The webhook is a real process behind the registration as it ships; what no kubelet and no leader
is there to write, Pods' status and Leases, is written by the test.
"""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from cli_command import Ran, run
from lineage_objects import Json, body
from live_accounts import policies
from live_admin import attempts, wait_for
from live_cluster import Cluster
from live_run import kind_of, logged_in
from live_webhook import HOST, Place, reviewed
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.chain.policies import BINDING as HELD_BY
from roadstead.capabilities.gateways.chain.policies import POLICY
from roadstead.capabilities.lineage.api import SERVICE_NAME, SYSTEM
from roadstead.cli.survey import DEPLOYMENT
from roadstead.cli.survey.installed import PODS
from roadstead.deploy.admission import REGISTRATION, SECRET_NAME
from roadstead.deploy.crds import REVISION, REVISION_ANNOTATION
from roadstead.deploy.rbac import HOME, rbac
from roadstead.kube.refs import CRD, LEASE, NAMESPACE, SECRET, SERVICE, Kind, Ref
from roadstead.kube.times import format_micro_time
from webhook_certificates import LONG_AGO, pair, soon

pytestmark = pytest.mark.cluster

LEASES = (
    "roadstead-anchors-wildcards",
    "roadstead-attachments-gateways",
    "roadstead-refresher",
)
ATTACHMENTS = CRD.ref("", ATTACHMENT.resource)
HOOK = REGISTRATION.ref("", "lineage")
POD = PODS.kind.ref(HOME, "roadstead-anchors-1")
RULE, IN_FORCE = (kind.ref("", "roadstead-anchors-secrets") for kind in (POLICY, HELD_BY))
BINDING = kind_of("ClusterRoleBinding").ref("", "roadstead-anchors")


@dataclass
class World:
    """A cluster with everything installed."""

    server: Cluster
    place: Place

    def check(self, *words: str, account: str = "") -> Ran:
        """Run the command. account: a ServiceAccount of `default`; else the administrator."""
        who = logged_in(self.server, account, "default") if account else self.server.kubeconfig
        return run("check", *words, "--kubeconfig", str(who))

    def found(self) -> tuple[Ran, dict[str, tuple[str, str]]]:
        """What came of it, and level and words of each check."""
        ran = self.check("-o", "json")
        return ran, {
            one["name"]: (one["result"], "\n".join((one["message"], *one["details"])))
            for one in json.loads(ran.out)["checks"]
        }

    def whole(self, ref: Ref) -> Json:
        """An object that is there."""
        found = self.server.admin.get(ref)
        assert found is not None
        return found

    def replaced(self, ref: Ref, change: Callable[[Json], None]) -> Json:
        """Write an object anew; give what it was."""
        for _ in attempts():
            before = self.whole(ref)
            after = json.loads(json.dumps(before))
            change(after)
            after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
            reply = self.server.admin.call("PUT", ref.kind.path(ref.namespace, ref.name), after)
            if reply.reason != "Conflict":  # the server's own controllers write, too
                break
        assert not reply.refused, reply.message
        return before

    def put_back(self, ref: Ref, before: Json) -> None:
        """Write an object as it was."""
        self.replaced(ref, lambda one: one.update(before))


@pytest.fixture(scope="module")
def world(shared: Cluster) -> Iterator[World]:
    """An installation on which all is well."""
    admin = shared.admin
    home, *rest = rbac()
    admin.ensure_namespace(HOME)
    admin.patched(NAMESPACE.ref("", HOME), {"metadata": {"labels": home["metadata"]["labels"]}})
    roles = [(kind_of(document["kind"]), document) for document in rest]
    for kind, document in (*roles, *policies()):
        reply = admin.create(kind, document)
        assert not reply.refused or reply.reason == "AlreadyExists", reply.message
    for name in LEASES:
        spec = {
            "holderIdentity": "roadstead-1",
            "renewTime": format_micro_time(soon(0)),
            "leaseDurationSeconds": 3600,
        }
        admin.made(LEASE, body(LEASE, name, namespace=HOME, spec=spec))
    pod_of(shared, "roadstead-anchors-1")
    made = pair(HOST)
    data = {"tls.crt": made.certificate, "tls.key": made.key}
    held = {name: base64.b64encode(value).decode() for name, value in data.items()}
    admin.made(SECRET, body(SECRET, SECRET_NAME, namespace=HOME, data=held))
    try:
        with reviewed(shared, logged_in(shared, "roadstead-lineage")) as place:
            yield World(shared, place)
    finally:
        shared.reset()


def pod_of(shared: Cluster, name: str) -> None:
    """A Pod of ours that a kubelet calls ready."""
    labels = {"app.kubernetes.io/name": "roadstead"}
    container = {"name": "manager", "image": "roadstead"}
    one = body(PODS.kind, name, namespace=HOME, labels=labels, spec={"containers": [container]})
    shared.admin.made(PODS.kind, one)
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    shared.admin.patched(PODS.kind.ref(HOME, name), {"status": ready}, "/status")


@contextmanager
def changed(world: World, ref: Ref, change: Callable[[Json], None]) -> Iterator[None]:
    """An object that is otherwise for a while."""
    before = world.replaced(ref, change)
    try:
        yield
    finally:
        world.put_back(ref, before)


@contextmanager
def gone(world: World, ref: Ref) -> Iterator[None]:
    """An object that is away for a while."""
    before = world.whole(ref)
    world.server.admin.delete(ref)
    try:
        yield
    finally:
        before["metadata"] = {
            key: value
            for key, value in before["metadata"].items()
            if key in {"name", "namespace", "labels", "annotations"}
        }
        world.server.admin.made(ref.kind, before)


@contextmanager
def there(world: World, kind: Kind, one: Json) -> Iterator[None]:
    """An object that is there for a while."""
    made = world.server.admin.made(kind, one)
    try:
        yield
    finally:
        ref = kind.ref(made["metadata"].get("namespace", ""), made["metadata"]["name"])
        world.server.admin.delete(ref)
        if kind != NAMESPACE:
            wait_for(f"{ref} gone", lambda: world.server.admin.get(ref) is None)


def revised(number: int) -> Callable[[World], AbstractContextManager[None]]:
    """A definition of another revision."""

    def change(one: Json) -> None:
        one["metadata"].setdefault("annotations", {})[REVISION_ANNOTATION] = str(number)

    return lambda world: changed(world, ATTACHMENTS, change)


def field_away(one: Json) -> None:
    """Somebody edits a definition."""
    schema = one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    del schema["properties"]["status"]["properties"]["serviceName"]


def stale(one: Json) -> None:
    """A leader that has died."""
    one["spec"]["renewTime"] = format_micro_time(soon(-7200))


@contextmanager
def unready(world: World) -> Iterator[None]:
    """A Pod whose probe fails."""
    for_status = {"status": {"conditions": [{"type": "Ready", "status": "False", "message": "no"}]}}
    world.server.admin.patched(POD, for_status, "/status")
    try:
        yield
    finally:
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        world.server.admin.patched(POD, ready, "/status")


@contextmanager
def cut_off(world: World) -> Iterator[None]:
    """The webhook cannot be reached."""
    world.place.relay.closed = True
    world.place.relay.cut()
    try:
        yield
    finally:
        world.place.relay.closed = False


def bundled(pem: bytes) -> Callable[[Json], None]:
    """A registration that trusts somebody else."""

    def change(one: Json) -> None:
        one["webhooks"][0]["clientConfig"]["caBundle"] = base64.b64encode(pem).decode()

    return change


def served_by(host: str, after: timedelta) -> Callable[[Json], None]:
    """Another serving certificate."""

    def change(one: Json) -> None:
        made = pair(host, after=soon(after.total_seconds()))
        one["data"]["tls.crt"] = base64.b64encode(made.certificate).decode()

    return change


def narrowed(one: Json) -> None:
    """A registration that asks about less."""
    one["webhooks"][0]["rules"][0]["resources"] = ["pods"]


def forgiving(one: Json) -> None:
    """A policy that somebody has made an exception in."""
    none = {"name": "but-not-here", "expression": "request.namespace != 'tenant-demo'"}
    one["spec"]["matchConditions"].append(none)


@contextmanager
def unfit(world: World) -> Iterator[None]:
    """An attachment that was stored while its definition took anything."""
    admin = world.server.admin

    def loosened(one: Json) -> None:
        any_at_all = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        one["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = any_at_all

    bad = body(ATTACHMENT, "old", namespace="tenant-demo", spec={"applicationRef": 7})
    with changed(world, ATTACHMENTS, loosened):
        wait_for("a bad attachment taken", lambda: not admin.create(ATTACHMENT, bad).refused)
    try:
        yield
    finally:
        admin.delete(ATTACHMENT.ref("tenant-demo", "old"))


@contextmanager
def crowded(world: World) -> Iterator[None]:
    """A Gateway that is nearly full."""
    admin, name = world.server.admin, "tenant-demo"
    wanted = body(api.TENANT_GATEWAY, "cozystack", namespace=name, spec={"apex": "a.example.org"})
    asked = admin.made(api.TENANT_GATEWAY, wanted)
    owner = {
        "apiVersion": api.TENANT_GATEWAY.api_version,
        "kind": api.TENANT_GATEWAY.kind,
        "name": asked["metadata"]["name"],
        "uid": asked["metadata"]["uid"],
        "controller": True,
    }
    listeners = [{"name": f"l{n}", "port": 1000 + n, "protocol": "HTTP"} for n in range(57)]
    spec = {"gatewayClassName": "cilium", "listeners": listeners}
    one = body(api.GATEWAY, "cozystack", namespace=name, spec=spec)
    one["metadata"]["ownerReferences"] = [owner]
    try:
        with there(world, api.GATEWAY, one):
            yield
    finally:
        admin.delete(api.TENANT_GATEWAY.ref(name, asked["metadata"]["name"]))


def unlabelled(one: Json) -> None:
    """A system namespace without its label."""
    del one["metadata"]["labels"][SYSTEM]


def cluster_ip(one: Json) -> None:
    """A Service as it ships, behind which nobody is ready."""
    one["spec"] = {"ports": [{"port": 443, "targetPort": 9443}], "selector": {"a": "b"}}


@contextmanager
def owning(world: World) -> Iterator[None]:
    """A cert-manager whose Secrets go with their Certificates."""
    labels = {"app.kubernetes.io/name": "cert-manager"}
    words = ["--v=2", "--enable-certificate-owner-ref=true"]
    container = {"name": "controller", "image": "cert-manager", "args": words}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    one = body(DEPLOYMENT, "cert-manager", namespace="tenant-mark", labels=labels, spec=spec)
    with there(world, DEPLOYMENT, one):
        yield


Change = Callable[[World], AbstractContextManager[None]]
LEASE_REF, SECRET_REF = LEASE.ref(HOME, LEASES[0]), SECRET.ref(HOME, SECRET_NAME)
SERVICE_REF = SERVICE.ref(HOME, SERVICE_NAME)
EXPIRED = pair(HOST, after=LONG_AGO + timedelta(days=1)).certificate
ROWS: dict[str, tuple[Change, str, str, str]] = {
    "role-missing": (lambda w: gone(w, BINDING), "rights", "error", "anchors: list secrets"),
    "policy-missing": (
        lambda w: gone(w, IN_FORCE),
        "account-policies",
        "warning",
        f"{IN_FORCE} is not there",
    ),
    "policy-softened": (
        lambda w: changed(w, RULE, forgiving),
        "account-policies",
        "warning",
        f"{RULE} is not what ships",
    ),
    "secrets-owned": (owning, "cert-manager", "warning", "tenant-mark/cert-manager"),
    "definition-older": (revised(REVISION - 1), "definitions", "error", "is older"),
    "definition-newer": (revised(REVISION + 1), "definitions", "warning", "is newer"),
    "definition-edited": (
        lambda w: changed(w, ATTACHMENTS, field_away),
        "definitions",
        "error",
        "lacks v1alpha1.status.serviceName",
    ),
    "lease-stale": (lambda w: changed(w, LEASE_REF, stale), "leaders", "error", "renewed it 2h"),
    "lease-gone": (lambda w: gone(w, LEASE_REF), "leaders", "error", "nobody has ever led"),
    "pod-unready": (unready, "pods-ready", "error", "roadstead-anchors-1: no"),
    "object-unfit": (unfit, "stored-objects", "error", "spec"),
    "listeners-many": (crowded, "listener-budget", "warning", "57 of 64"),
    "system-unlabelled": (
        lambda w: changed(w, NAMESPACE.ref("", HOME), unlabelled),
        "system-namespaces",
        "warning",
        f"kubectl label namespace {HOME}",
    ),
    "webhook-down": (cut_off, "webhook-answers", "error", "failed calling webhook"),
    "webhook-unregistered": (
        lambda w: gone(w, HOOK),
        "webhook-registered",
        "error",
        "nobody asks",
    ),
    "webhook-narrowed": (
        lambda w: changed(w, HOOK, narrowed),
        "webhook-registered",
        "error",
        "rules is not what ships",
    ),
    "bundle-expired": (
        lambda w: changed(w, HOOK, bundled(EXPIRED)),
        "webhook-bundle",
        "error",
        "expired",
    ),
    "bundle-of-another": (
        lambda w: changed(w, HOOK, bundled(pair(HOST).certificate)),
        "webhook-answers",
        "error",
        "x509",
    ),
    "service-missing": (lambda w: gone(w, SERVICE_REF), "webhook-service", "error", "no Service"),
    "endpoints-missing": (
        lambda w: changed(w, SERVICE_REF, cluster_ip),
        "webhook-service",
        "error",
        "no ready endpoint",
    ),
    "certificate-expired": (
        lambda w: changed(w, SECRET_REF, served_by(HOST, timedelta(days=-1))),
        "webhook-certificate",
        "error",
        "expired",
    ),
    "certificate-of-another": (
        lambda w: changed(w, SECRET_REF, served_by("a.b", timedelta(days=90))),
        "webhook-certificate",
        "error",
        "is for a.b",
    ),
}


def test_all_is_well_and_nothing_is_written(world: World) -> None:
    """What is installed as it ships passes every check; the audit log has no write that stays."""
    plane = world.server.own
    mark = plane.audit_mark()
    ran = world.check()
    every = [
        entry
        for entry in plane.audit_entries(mark)
        if entry.get("userAgent", "").startswith("roadstead/")
        and "serviceaccount" not in entry["user"]["username"]
    ]
    asked = [entry for entry in every if entry["verb"] not in {"get", "list"}]
    stays = [
        entry["requestURI"]
        for entry in asked
        if not entry["requestURI"].endswith(("accessreviews", "dryRun=All"))
    ]

    assert (0, "") == (ran.code, ran.err), ran.out
    assert ran.out.endswith("\nno problem\n"), ran.out
    assert [] == stays
    assert "PRIVATE" not in ran.out
    assert asked


SECOND = frozenset(
    {"lease-gone", "policy-missing", "webhook-narrowed", "bundle-of-another"}
    | {"endpoints-missing", "certificate-of-another"}
)
"""Second worlds of a check, for the long runs."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.soak] * (one in SECOND)) for one in ROWS]
)
def test_each_fault_is_found_and_named(world: World, name: str) -> None:
    """One thing is wrong; the check that is for it says so, and it is gone with its cause."""
    change, wanted, level, said = ROWS[name]

    with change(world):
        ran, found = world.found()

    assert level == found[wanted][0], found
    assert said in found[wanted][1]
    assert ran.code == ("error" in {one[0] for one in found.values()})


def test_who_may_read_little_is_told_what_was_not_checked(world: World) -> None:
    """Nothing is called absent for want of a right; with --strict it is no success."""
    ran = world.check("-o", "json", account="default")
    found = {one["name"]: one for one in json.loads(ran.out)["checks"]}
    gaps = {name for name, one in found.items() if one["result"] == "not checked"}

    assert (0, 1) == (ran.code, world.check("--strict", account="default").code)
    assert {"accounts", "rights", "definitions", "leaders", "pods-ready"} <= gaps
    assert {"stored-objects", "webhook-registered", "system-namespaces"} <= gaps
    assert all("you may not" in found[name]["message"] for name in gaps)
    assert {"ok"} == {one["result"] for name, one in found.items() if name not in gaps}


def test_names_that_no_class_has_are_told(world: World, tmp_path: Any) -> None:
    """What a person states is held against what is installed."""
    values = tmp_path / "platform.yaml"
    values.write_text("gateway: {tenantSelectableClasses: [edge-tunel]}\n", encoding="utf-8")
    classes = [
        body(api.GATEWAY_CLASS, name, spec={"controllerName": "example.org/x"})
        for name in ("edge-tunnel", "cilium")
    ]
    with (
        there(world, api.GATEWAY_CLASS, classes[0]),
        there(world, api.GATEWAY_CLASS, classes[1]),
    ):
        ran = world.check("--pre", "--platform-values", str(values))

    assert 1 == ran.code
    assert "names `edge-tunel`" in ran.out
    assert "did you mean `edge-tunnel`?" in ran.out
