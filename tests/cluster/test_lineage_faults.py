"""The webhook where something is wrong: owners that cannot be read, a role that lacks a right.

What no healthy server shows comes from a tap between our process and the server.
Source: lineage 14, C-21 and C-24.
"""

import json

import pytest

from lineage_cases import offering
from lineage_objects import (
    NS,
    REPLICA_SET,
    Json,
    deployment,
    given,
    owner,
    pod,
    release,
    replica_set,
    secret,
)
from live_admin import wait_for
from live_cluster import Cluster
from live_run import grant, running, through
from live_tap import Tap
from live_webhook import HOST, asked, flags, free_port, reviewed, serve_kinds, whole
from roadstead.capabilities.lineage import api
from roadstead.deploy.rbac import LINEAGE
from roadstead.kube.refs import Kind
from webhook_certificates import pair, put

pytestmark = pytest.mark.cluster


def test_c21_an_owner_that_answers_503_three_times_refuses(server: Cluster) -> None:
    """C-21: the writer is refused with 500, and goes through once the owner can be read."""
    kubeconfig = grant(server, LINEAGE.name, LINEAGE)
    with (
        Tap(server.admin.server, server.admin.context) as tap,
        reviewed(server, through(server, kubeconfig, tap.address)) as at,
    ):
        at.stand(*offering({}), release(), deployment(), replica_set())
        at.seen()
        tap.refuse = lambda one: 503 if one.path.endswith("/replicasets/web") else 0
        one = pod(labels={"app": "web"}, owners=[owner(REPLICA_SET, "web")])

        refused = at.make(one)
        tries = [asked for asked in tap.asked if asked.path.endswith("/replicasets/web")]
        tap.refuse = lambda _one: 0

        assert (500, 3) == (refused.code, len(tries)), refused.message
        assert "try again" in refused.message
        assert given("false").items() <= whole(at.make(one))["metadata"]["labels"].items()


def test_c24_nothing_is_judged_before_all_was_read(server: Cluster) -> None:
    """C-24: without the right to list definitions it is not ready, and refuses what it is asked."""
    serve_kinds(server)
    kubeconfig = grant(server, LINEAGE.name, LINEAGE)
    role = Kind("ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", namespaced=False)
    ref = role.ref("", LINEAGE.name)
    rules = (server.admin.get(ref) or {})["rules"]
    kept = [one for one in rules if api.DEFINITION.plural not in one["resources"]]
    server.admin.patched(ref, {"rules": kept})
    folder = server.folder / "tls-c24"
    put(folder, pair(HOST))
    port = free_port()
    with running(kubeconfig, *flags(port, folder)) as run:
        run.said("view lost", view="lineage-definitions", state="forbidden")
        wait_for("what is missing", lambda: "lineage-definitions" in run.ready()[1])
        here = f"127.0.0.1:{port}"
        code, answer = asked(here, json.dumps(_review()).encode())
        assert (False, 200, 500) == (
            run.ready()[0],
            code,
            answer["response"]["status"]["code"],
        )
        assert "not ready" in answer["response"]["status"]["message"]

        server.admin.patched(ref, {"rules": rules})
        run.wait_ready()
        assert asked(here, json.dumps(_review()).encode())[1]["response"]["allowed"]


def _review() -> Json:
    request = {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "Secret"},
        "operation": "CREATE",
        "namespace": NS,
        "object": secret(),
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
