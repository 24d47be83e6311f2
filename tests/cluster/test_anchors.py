"""Trust anchors end to end: the real process, with the rights it ships with, on a real server.

Source: trust-anchors 15, acceptance; 10 and 12. What was written, and by whom, is read from the
audit log.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from certificates import CERT2, certificate
from live_admin import wait_for
from live_cluster import Cluster
from live_run import Run, grant, running, server_context, through, user_of
from live_scene import (
    ANCHOR,
    NS,
    RELEASE,
    SOURCE,
    carries_a_key,
    data,
    define,
    events,
    fingerprints,
    gone,
    labelled,
    published,
    release,
    secret,
    source,
    told,
)
from live_tap import Tap
from roadstead.capabilities.anchors.api import COPY, TENANT_CA
from roadstead.deploy.rbac import ANCHORS
from roadstead.kube.refs import CRD, HELM_RELEASE, NAMESPACE, SECRET, Kind
from roadstead.sim.quota import QUOTA

pytestmark = pytest.mark.cluster


@contextmanager
def at_work(server: Cluster, *flags: str) -> Iterator[Run]:
    """A process with exactly the rights that ship, ready."""
    with running(grant(server), *flags) as run:
        yield run.wait_ready()


def writes(server: Cluster, since: int, account: str = ANCHORS.name) -> list[str]:
    """Accepted writes of Secrets by one account, `verb namespace/name`, from the audit log."""
    return [
        f"{e['verb']} {e['objectRef'].get('namespace')}/{e['objectRef'].get('name')}"
        for e in server.own.audit_entries(since)
        if e["user"]["username"] == user_of(account)
        and e["objectRef"]["resource"] == "secrets"
        and e["verb"] in {"create", "update", "patch", "delete", "deletecollection"}
        and e["responseStatus"]["code"] < 300
    ]


def test_a_tenant_gets_the_ca_and_never_a_key(server: Cluster) -> None:
    """The acceptance of seed 002: published, rotated, collected; foreign Secrets stay."""
    admin, mark = server.admin, server.own.audit_mark()
    define(admin)
    release(admin)
    made = source(admin)
    foreign = SECRET.ref(NS, "postgres-other.tenant-ca")
    release(admin, name="postgres-other")
    source(admin, SECRET.ref(NS, "postgres-other-ca"))
    before = secret(admin, foreign, data(ca_crt=CERT2, ca_key=certificate("two").key))
    with at_work(server) as run:
        anchor = published(admin)
        assert carries_a_key(made)  # else what follows proves nothing
        assert ["ca.crt"] == sorted(anchor["data"])
        assert fingerprints(made) == fingerprints(anchor)
        assert not carries_a_key(anchor)

        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        published(admin, of="two")
        assert made["metadata"]["uid"] == admin.patched(SOURCE, {})["metadata"]["uid"]

        told(admin, "CACertSecretCollision", foreign)
        left = admin.get(foreign)
        assert left is not None
        assert before["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]

        admin.delete(HELM_RELEASE.ref(NS, RELEASE))
        gone(admin, ANCHOR)
        assert run.stop() == 0
    assert [f"create {NS}/{ANCHOR.name}", f"update {NS}/{ANCHOR.name}"] == writes(server, mark)


def test_only_sources_and_targets_are_ever_read_whole(server: Cluster) -> None:
    """Lists and watches ask for metadata and get no data; every GET is of a source or a target."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    secret(admin, SECRET.ref(NS, "unrelated"), data(password=b"hunter2"))
    mark = server.own.audit_mark()
    with (
        Tap(admin.server, server_context(server)) as tap,
        running(through(server, grant(server), tap.address)) as run,
    ):
        run.wait_ready()
        published(admin)
        admin.patched(SECRET.ref(NS, "unrelated"), {"data": data(password=b"hunter3")})
        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        published(admin, of="two")
        assert run.stop() == 0
    many = [asked for asked in tap.asked if asked.of_many]
    assert {True, False} == {asked.watch for asked in many}
    for asked in many:
        assert asked.accept.startswith("application/json;as=PartialObjectMetadata")
        assert b'"data"' not in asked.body
    read = {asked.path.rpartition("/")[2] for asked in tap.asked if asked.of_one}
    audited = {
        e["objectRef"]["name"]
        for e in server.own.audit_entries(mark)
        if (e["user"]["username"], e["verb"]) == (user_of(ANCHORS.name), "get")
        and e["objectRef"]["resource"] == "secrets"
    }
    assert {SOURCE.name, ANCHOR.name} == read | audited


def test_a_quota_denies_and_then_allows(server: Cluster) -> None:
    """The refusal is told on the release, and ends by itself once there is room."""
    admin = server.admin
    define(admin)
    quota = QUOTA.ref(NS, "few")
    meta = {"name": quota.name, "namespace": NS}
    spec = {"hard": {"count/secrets": "1"}}
    admin.ensure_namespace(NS)
    admin.made(QUOTA, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": spec})
    wait_for("a counted quota", lambda: "hard" in (admin.get(quota) or {}).get("status", {}))
    source(admin)
    of = release(admin)
    with at_work(server):
        event = told(admin, "CACertWriteDenied", of)
        assert "403 Forbidden" in event["message"]
        assert admin.get(ANCHOR) is None

        admin.patched(quota, {"spec": {"hard": {"count/secrets": "5"}}})
        published(admin)


def test_an_immutable_anchor_is_made_anew(server: Cluster) -> None:
    """The server refuses to change it; it goes and comes in one pass."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    with at_work(server):
        before = published(admin)
        admin.patched(ANCHOR, {"immutable": True})
        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        after = published(admin, of="two")
    assert before["metadata"]["uid"] != after["metadata"]["uid"]
    assert not after.get("immutable")


def test_a_terminating_namespace_is_left_in_silence(server: Cluster) -> None:
    """The server answers 403 with its cause; nobody is told, and nothing is tried again."""
    admin = server.admin
    define(admin)
    of = release(admin)
    source(admin, pem=b"-")
    with at_work(server) as run, kept_from_deletion(server):
        told(admin, "CACertInvalid", SOURCE)
        admin.delete(NAMESPACE.ref("", NS))
        mark = server.own.audit_mark()
        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        wait_for("an attempt", lambda: attempts_to_create(server, mark))
        source(admin, SECRET.ref("tenant-bar", SOURCE.name))
        release(admin, "tenant-bar")
        published(admin, SECRET.ref("tenant-bar", ANCHOR.name))
        assert run.alive()
    assert [403] == attempts_to_create(server, mark)
    assert [] == events(admin, of)


def attempts_to_create(server: Cluster, since: int) -> list[int]:
    """What our attempts to create a Secret in the namespace were answered."""
    return [
        e["responseStatus"]["code"]
        for e in server.own.audit_entries(since)
        if (e["user"]["username"], e["verb"]) == (user_of(ANCHORS.name), "create")
        and (e["objectRef"]["resource"], e["objectRef"]["namespace"]) == ("secrets", NS)
    ]


@contextmanager
def kept_from_deletion(server: Cluster) -> Iterator[None]:
    """Let nobody delete anything of the namespace, so that it stays on its way out."""
    group, resources = "admissionregistration.k8s.io", [("", "secrets"), (HELM_RELEASE.group, "*")]
    matched = [
        {"apiGroups": [g], "apiVersions": ["*"], "resources": [r], "operations": ["DELETE"]}
        for g, r in resources
    ]
    head = {"apiVersion": f"{group}/v1", "metadata": {"name": "keep"}}
    specs = {
        "validatingadmissionpolicies": {
            "matchConstraints": {"resourceRules": matched},
            "validations": [{"expression": f"request.namespace != '{NS}'"}],
        },
        "validatingadmissionpolicybindings": {"policyName": "keep", "validationActions": ["Deny"]},
    }
    names = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    made = []
    for (plural, spec), name in zip(specs.items(), names, strict=True):
        kind = Kind(name, group, "v1", plural, namespaced=False)
        server.admin.made(kind, {**head, "kind": name, "spec": spec})
        made.append(kind.ref("", "keep"))
    try:
        probe = SECRET.ref(NS, "probe")
        secret(server.admin, probe, {})
        trial = {"dryRun": ["All"]}
        wait_for("the policy", lambda: server.admin.delete(probe, trial).code == 422)
        yield
    finally:
        for ref in reversed(made):
            server.admin.delete(ref)


def test_a_label_withdraws_with_both_preconditions(server: Cluster) -> None:
    """The opt-out deletes what was seen, and nothing that came after it."""
    admin = server.admin
    define(admin, declared=False)
    release(admin)
    source(admin, labels=labelled())
    with at_work(server):
        anchor = published(admin)
        assert "true" == anchor["metadata"]["labels"][TENANT_CA]
        assert "true" == anchor["metadata"]["labels"][COPY]
        mark = server.own.audit_mark()
        admin.patched(
            SOURCE, {"metadata": {"labels": {"internal.cozystack.io/publish-ca-cert": "false"}}}
        )
        gone(admin, ANCHOR)
    assert [f"delete {NS}/{ANCHOR.name}"] == writes(server, mark)


def test_stale_preconditions_are_refused(server: Cluster) -> None:
    """What the withdrawal rests on: the server itself answers 409 to a stale uid or version."""
    admin = server.admin
    made = source(admin)
    meta = made["metadata"]
    admin.patched(SOURCE, {"metadata": {"labels": {"moved": "on"}}})
    stale = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
    other = {"uid": "00000000-0000-4000-8000-000000000000"}

    assert 409 == admin.delete(SOURCE, {"preconditions": stale}).code
    assert 409 == admin.delete(SOURCE, {"preconditions": other}).code
    assert 409 == admin.call("PUT", SECRET.path(NS, SOURCE.name), made).code
    assert admin.get(SOURCE) is not None


def test_kubeconfig_of_the_person_is_not_used(
    server: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that KUBECONFIG names is never touched by a test."""
    monkeypatch.setenv("KUBECONFIG", "/nowhere/at/all")

    assert server.own.kubectl("get", "namespaces").returncode == 0


def test_a_kind_that_comes_late_is_found(server: Cluster) -> None:
    """Without the kind the process says what it lacks, and goes on; then it publishes."""
    admin = server.admin
    crd = taken_away(server)
    define(admin)
    source(admin)
    with running(grant(server)) as run:
        line = run.said("kind absent", kind=HELM_RELEASE.resource)
        assert line["needed_by"] == "anchors"
        wait_for("what is missing", lambda: run.ready()[1].count("absent") == 1)
        assert (False, True) == (run.ready()[0], run.alive())

        brought_back(server, crd)
        release(admin)
        published(admin)
        run.wait_ready()


@pytest.mark.soak
def test_a_kind_that_goes_ends_nothing(server: Cluster) -> None:
    """Its objects go, and the server collects their anchors; the process goes on without it."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    with at_work(server) as run:
        published(admin)
        mark = server.own.audit_mark()
        crd = taken_away(server)
        wait_for("the end of the watch", lambda: "kind absent" in run.text(), patience=300)
        wait_for("what is missing", lambda: "absent" in run.ready()[1])
        assert run.alive()

        brought_back(server, crd)
        run.wait_ready()
        release(admin)
        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        published(admin, of="two")
        assert [] == [one for one in writes(server, mark) if one.startswith("delete")]


def taken_away(server: Cluster) -> dict[str, Any]:
    """Delete the definition of HelmReleases; give it as it can be created again."""
    ref = CRD.ref("", HELM_RELEASE.resource)
    crd = server.admin.get(ref)
    assert crd is not None
    server.admin.delete(ref)
    gone(server.admin, ref)
    wait_for("its end", lambda: server.admin.call("GET", HELM_RELEASE.path()).code == 404)
    named = {"name": ref.name, "annotations": crd["metadata"].get("annotations", {})}
    return {**{k: v for k, v in crd.items() if k != "status"}, "metadata": named}


def brought_back(server: Cluster, crd: dict[str, Any]) -> None:
    """Define HelmReleases again."""
    server.admin.made(CRD, crd)
    wait_for("the kind", lambda: server.admin.call("GET", HELM_RELEASE.path()).code == 200)
