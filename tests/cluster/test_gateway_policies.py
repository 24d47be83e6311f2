"""The chain's admission policies on Kubernetes' own API server: TG-189 to TG-191.

Each request is sent as somebody who may write everything, so that the policies alone refuse.
Source: tenant-gateway 2.11.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway_policies import LABELLED, LABELS, ROOT_HOST, ROWS, Row
from live_admin import Admin, Reply, wait_for
from live_cluster import BINDING, Cluster
from roadstead.capabilities.gateways.api import HOST_LABEL
from roadstead.capabilities.gateways.chain import issuers, policies
from roadstead.capabilities.gateways.chain.names import TENANT
from roadstead.capabilities.gateways.chain.policies import (
    BINDING as POLICY_BINDING,
)
from roadstead.capabilities.gateways.chain.policies import POLICY
from roadstead.kube.refs import NAMESPACE
from roadstead.testbed.crds import install_into, neighbours

pytestmark = pytest.mark.cluster

TENANTS = Path(__file__).parent.parent / "data/tenants.apps.cozystack.io.yaml"
CREATED, FORBIDDEN = 201, 403
SENDER = "tester"


@pytest.fixture(scope="module")
def guarded(shared: Cluster) -> Iterator[Admin]:
    """A server with the policies in force, and the namespaces of the rows."""
    admin = shared.admin
    crds = [*neighbours(["gateway-api", "cert-manager"]), yaml.safe_load(TENANTS.read_text())]
    install_into(shared.binary, shared.kubeconfig, crds)
    wait_for("tenants", lambda: admin.call("GET", TENANT.path()).code == 200)
    for name, labels in LABELS.items():
        admin.made(NAMESPACE, {"metadata": {"name": name, "labels": labels}})
    admin.made(
        BINDING,
        {
            "metadata": {"name": SENDER},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "User", "name": SENDER, "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )
    for body in policies(ROOT_HOST):
        admin.made(POLICY if body["kind"] == POLICY.kind else POLICY_BINDING, body)
    in_force(shared)
    yield admin
    for body in policies(ROOT_HOST):
        kind = POLICY if body["kind"] == POLICY.kind else POLICY_BINDING
        admin.delete(kind.ref("", body["metadata"]["name"]))
    shared.reset()


def in_force(shared: Cluster) -> None:
    """Wait until each policy refuses what it must: a new one is heard of a little later."""
    for name in sorted({row.policy for row in ROWS}):
        row = next(row for row in ROWS if row.policy == name and row.says and row.old is None)
        wait_for(name, lambda: send(shared.kubeconfig, row).refused)  # noqa: B023 - asked at once


def send(kubeconfig: Path, row: Row) -> Reply:
    """Send a row's object as its sender, as a dry run."""
    sender = Admin(kubeconfig)
    sender._headers |= {"Impersonate-User": SENDER}
    if row.groups:
        # One header alone carries a group, and the client has one of each name.
        sender._headers |= {"Impersonate-Group": row.groups[-1]}
    path = row.kind.path(row.namespace)
    try:
        if row.old is None:
            return sender.call("POST", path, row.body(), query={"dryRun": "All"})
        there = sender.get(row.kind.ref(row.namespace, "probe"))
        assert there is not None
        version = there["metadata"]["resourceVersion"]
        body = row.body()
        body["metadata"] |= {"resourceVersion": version}
        if row.kind is NAMESPACE:
            body["spec"] = there["spec"]
        return sender.call("PUT", f"{path}/probe", body, query={"dryRun": "All"})
    finally:
        sender.close()


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_request_is_judged(guarded: Admin, row: Row) -> None:
    """The server says what the expressions say offline, with reason Forbidden and the policy."""
    ref = row.kind.ref(row.namespace, "probe")
    if row.old is not None:
        guarded.made(row.kind, row.body(old=True))
    try:
        reply = send(guarded.kubeconfig, row)
    finally:
        if row.old is not None:
            forget(guarded, row)

    assert (FORBIDDEN if row.says else 0) == (reply.code if reply.refused else 0), reply.message
    assert row.says in reply.message
    assert not row.says or f"ValidatingAdmissionPolicy '{row.policy}'" in reply.message, ref


def forget(admin: Admin, row: Row) -> None:
    """Delete what a row was laid over, and wait until a name can be used again."""
    ref = row.kind.ref(row.namespace, "probe")
    admin.delete(ref)
    if row.kind is NAMESPACE:
        admin.call("PUT", f"{NAMESPACE.path('', 'probe')}/finalize", unheld(admin))
    wait_for(f"{ref} gone", lambda: admin.get(ref) is None)


def unheld(admin: Admin) -> dict[str, Any]:
    """The namespace as nobody waits for it."""
    there = admin.get(NAMESPACE.ref("", "probe")) or {"metadata": {"name": "probe"}}
    return {**there, "spec": {"finalizers": []}}


def test_a_tenants_own_label_is_what_is_compared(guarded: Admin) -> None:
    """The domain of a tenant need not lie below the platform's."""
    ref = NAMESPACE.ref("", LABELLED)
    row = next(row for row in ROWS if row.id == "TG-191-foreign")
    guarded.patched(ref, {"metadata": {"labels": {HOST_LABEL: "x.org"}}})
    try:
        wait_for("the new label", lambda: "a.foo.example.com" in send_message(guarded, row))
    finally:
        guarded.patched(ref, {"metadata": {"labels": LABELS[LABELLED]}})


def send_message(admin: Admin, row: Row) -> str:
    """What is said of a row."""
    return send(admin.kubeconfig, row).message


def test_the_issuers_are_what_cert_manager_takes(guarded: Admin) -> None:
    """2.10: each solver fits cert-manager's own definition."""
    route53 = {"dns01-provider": "route53", "dns01-route53-region": "eu"}
    rfc = "dns01-rfc2136"
    rfc2136 = {"dns01-provider": "rfc2136", f"{rfc}-nameserver": "10.0.0.1:53"}
    rfc2136 |= {f"{rfc}-tsig-key-name": "k", f"{rfc}-secret-name": "s"}
    worlds = [
        {},
        {"gateway-enabled": "true"},
        *({"solver": "dns01", **more} for more in ({}, route53, rfc2136)),
    ]
    for cluster in worlds:
        for body in issuers(cluster)[0]:
            path = "/apis/cert-manager.io/v1/clusterissuers"
            query = {"dryRun": "All", "fieldValidation": "Strict"}
            reply = guarded.call("POST", path, body, query=query)
            assert CREATED == reply.code, reply.message
