"""TenantGateway on Kubernetes' own API server: every row of the matrix, and tightened limits.

Source: tenant-gateway 1, TG-001 to TG-013.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway_admission import APEX, ROWS, Row, gateway, listener, misread
from live_admin import Admin, Reply, wait_for
from live_cluster import Cluster
from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.capabilities.gateways.chain import Release, render
from roadstead.capabilities.gateways.fields import TENANT_GATEWAY_DEFINITION
from roadstead.kube.refs import CRD, NAMESPACE, Ref
from roadstead.kube.schema import definition_of
from roadstead.testbed.crds import install_into
from roadstead.testbed.server import kubectl

pytestmark = pytest.mark.cluster

NS = "tenant-foo"
REF = TENANT_GATEWAY.ref(NS, "cozystack")
INVALID = 422


@pytest.fixture(scope="module")
def space(shared: Cluster) -> Iterator[Admin]:
    """A namespace for all rows, since none leaves anything behind."""
    admin = shared.admin
    admin.create(NAMESPACE, {"metadata": {"name": NS}})
    yield admin
    shared.reset()


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row_of_the_matrix(space: Admin, row: Row) -> None:
    """The server admits and refuses what the contract says, in its words and at its field."""
    if row.old is not None:
        assert not space.create(TENANT_GATEWAY, row.old).refused
    try:
        reply = (
            space.create(TENANT_GATEWAY, row.new) if row.old is None else put(space, REF, row.new)
        )
    finally:
        space.delete(REF)

    assert (INVALID if row.problems else 0) == (reply.code if reply.refused else 0)
    assert [] == (misread(reply.message, row.problems) if row.problems else [])
    assert row.stored == tuple((name, reply.body["spec"][name]) for name, _ in row.stored)


def put(admin: Admin, ref: Ref, body: Mapping[str, Any], **query: str) -> Reply:
    """Send a whole object over the one that is there."""
    there = admin.get(ref)
    assert there is not None
    meta = {**body["metadata"], "resourceVersion": there["metadata"]["resourceVersion"]}
    path = ref.kind.path(ref.namespace, ref.name)
    return admin.call("PUT", path, {**body, "metadata": meta}, query=query)


def test_the_definition_is_established_without_a_finding(shared: Cluster) -> None:
    """TG-012: install-time validation, the cost of the rules included."""
    there = shared.admin.get(CRD.ref("", TENANT_GATEWAY.resource))
    assert there is not None
    states = {one["type"]: one["status"] for one in there["status"]["conditions"]}

    assert {"Established": "True", "NamesAccepted": "True"} == {
        name: states[name] for name in ("Established", "NamesAccepted")
    }
    assert "NonStructuralSchema" not in states


STATUS = {
    "observedGeneration": 1,
    "conditions": [
        {
            "type": "Ready",
            "status": "False",
            "reason": "GatewayNotAccepted",
            "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ],
    "listeners": [{"name": "http", "ready": False, "reason": "Pending"}],
}


@pytest.mark.parametrize("word", ["tgw", "tenantgateway", "exposure", "roadstead"])
def test_kubectl_shows_what_matters(server: Cluster, word: str) -> None:
    """TG-013: one line says which domain, in which mode, and whether it is ready."""
    server.admin.create(NAMESPACE, {"metadata": {"name": NS}})
    server.admin.create(TENANT_GATEWAY, gateway(certMode="edge"))
    assert not server.admin.patch(REF, {"status": STATUS}, "/status").refused
    done = kubectl(server.binary, server.kubeconfig, "get", word, "-n", NS)
    head, line = (text.split() for text in done.stdout.splitlines())

    assert ["NAME", "APEX", "MODE", "READY", "AGE"] == head
    # Under a category, which several kinds are in, a name has its kind before it.
    assert ["cozystack", APEX, "edge", "False"] == [line[0].rpartition("/")[2], *line[1:-1]]


def applied(server: Cluster, body: Mapping[str, Any]) -> str:
    """Apply what a release renders as Helm does, by what it held before; give the refusal."""
    arguments = ("apply", "-f", "-")
    done = kubectl(server.binary, server.kubeconfig, *arguments, input=json.dumps(body))
    return done.stderr if done.returncode else ""


def test_a_list_set_by_hand_survives_upgrades_and_blocks_the_move(server: Cluster) -> None:
    """TG-195: neither manifest has the list; the move to edge waits until a person empties it."""
    server.admin.create(NAMESPACE, {"metadata": {"name": NS}})
    classes = {"gateway-class-name": "x", "gateway-edge-classes": "x"}
    terminating, edge = (render(Release(NS, cluster, APEX)).gateway for cluster in ({}, classes))
    assert terminating is not None
    assert edge is not None
    listeners = [listener("postgres", 5432)]
    assert "" == applied(server, terminating)
    server.admin.patched(REF, {"spec": {"tlsPassthroughListeners": listeners}})
    upgrades = [applied(server, terminating) for _ in range(2)]
    kept = server.admin.get(REF)
    moved = applied(server, edge)
    server.admin.patched(REF, {"spec": {"tlsPassthroughListeners": []}})
    after = applied(server, edge)
    there = server.admin.get(REF)
    back = applied(server, terminating)

    assert (["", ""], "", "") == (upgrades, after, back)
    assert kept is not None
    assert listeners == kept["spec"]["tlsPassthroughListeners"]
    assert "must be empty or absent unless certMode is http01" in moved
    assert there is not None
    assert ("edge", False) == (
        there["spec"]["certMode"],
        "tlsPassthroughServices" in there["spec"],
    )


OLDER = TENANT_GATEWAY._replace(group="older.example.org")
"""A kind with the same schema, whose limits are tightened while objects are stored."""
STORED = OLDER.ref(NS, "cozystack")


def loosened(schema: Any) -> Any:
    """A schema without any limit or rule."""
    limits = {"pattern", "maxLength", "minLength", "maximum", "minimum", "maxItems", "enum"}
    limits |= {"x-kubernetes-validations"}
    if isinstance(schema, list):
        return [loosened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # A field may be called as a limit is; only what is no schema itself is a limit.
    return {
        name: loosened(part)
        for name, part in schema.items()
        if name not in limits or isinstance(part, dict)
    }


def older(**spec: Any) -> dict[str, Any]:
    """An object of the older kind."""
    return {**gateway(**spec), "apiVersion": OLDER.api_version}


@pytest.fixture(scope="module")
def ratchet(shared: Cluster) -> Iterator[Admin]:
    """A server with one object of the older kind that breaks each limit, and the tight limits."""
    tight = definition_of(replace(TENANT_GATEWAY_DEFINITION, kind=OLDER, categories=()))
    tight["spec"]["names"].pop("shortNames")
    install_into(shared.binary, shared.kubeconfig, [loosened(tight)])
    admin = shared.admin
    wait_for("the kind", lambda: admin.call("GET", OLDER.path()).code == 200)
    assert not admin.create(OLDER, older(**BROKEN)).refused
    install_into(shared.binary, shared.kubeconfig, [tight])
    bad = {**older(apex=""), "metadata": {"name": "probe", "namespace": NS}}

    def tightened() -> bool:
        reply = admin.call("POST", OLDER.path(NS), bad, query={"dryRun": "All"})
        return reply.code == INVALID

    wait_for("the tight limits", tightened)
    yield admin
    shared.reset()


BROKEN = {
    "issuerName": "zerossl",
    "tlsPassthroughServices": ["API_X"],
    "tlsPassthroughListeners": [listener("pg", 443, f"PG.{APEX}"), listener("mysql", 443)],
}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param({**BROKEN, "gatewayClassName": "ext"}, "", id="what-is-broken-stays"),
        pytest.param(
            {**BROKEN, "tlsPassthroughServices": ["API_X", "api"]},
            "spec.tlsPassthroughServices[0]",
            id="a-plain-list-is-judged-whole",
        ),
        pytest.param(
            {**BROKEN, "tlsPassthroughListeners": [listener("pg", 443, f"PG.{APEX}")]},
            "",
            id="an-item-is-known-by-its-key",
        ),
        pytest.param({**BROKEN, "tlsPassthroughServices": []}, "", id="what-is-broken-goes"),
        pytest.param(
            {**BROKEN, "issuerName": "another"}, "spec.issuerName: Unsupported", id="enum"
        ),
        pytest.param(
            {**BROKEN, "tlsPassthroughServices": ["API_X", "API_Y"]},
            "spec.tlsPassthroughServices",
            id="service",
        ),
        pytest.param(
            {**BROKEN, "tlsPassthroughListeners": [listener("pg", 80, f"PG.{APEX}")]},
            "must be neither 80 nor 443",
            id="port",
        ),
        pytest.param({**BROKEN, "certMode": "edge"}, "unless certMode is http01", id="mode"),
        pytest.param({**BROKEN, "apex": "example.org"}, "must be apex or end with", id="apex"),
    ],
)
def test_what_is_newly_broken_is_refused(ratchet: Admin, spec: dict[str, Any], says: str) -> None:
    """1.3: what was broken before and stays locks nobody out; a new violation is refused."""
    reply = put(ratchet, STORED, older(**spec), dryRun="All")

    assert (bool(says), True) == (reply.refused, says in reply.message), reply.message


def test_metadata_and_status_can_always_be_changed(ratchet: Admin) -> None:
    """1.3: neither label nor status asks what the spec was like."""
    labelled = ratchet.patch(STORED, {"metadata": {"labels": {"team": "blue"}}})
    status = ratchet.patch(STORED, {"status": STATUS}, "/status")

    assert ("", "") == (labelled.message, status.message)
