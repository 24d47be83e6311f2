"""EndpointAttachment on Kubernetes' own API server: every row of the matrix, and how it is shown.

Source: endpoint-attachments 1.5 to 1.7.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from attachment_admission import LISTED, ROWS, Row, attachment, misread
from live_admin import Admin, Reply
from live_cluster import Cluster
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.kube.refs import NAMESPACE
from roadstead.testbed.server import kubectl

pytestmark = pytest.mark.cluster

NS = "tenant-blue"
REF = ATTACHMENT.ref(NS, "a")
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
        assert not space.create(ATTACHMENT, row.old).refused
    try:
        reply = space.create(ATTACHMENT, row.new) if row.old is None else put(space, row.new)
    finally:
        space.delete(REF)

    assert (INVALID if row.problems else 0) == (reply.code if reply.refused else 0)
    assert [] == (misread(reply.message, row.problems) if row.problems else [])


def put(admin: Admin, body: Mapping[str, Any]) -> Reply:
    """Send a whole object over the one that is there."""
    there = admin.get(REF)
    assert there is not None
    meta = {**body["metadata"], "resourceVersion": there["metadata"]["resourceVersion"]}
    return admin.call("PUT", ATTACHMENT.path(NS, "a"), {**body, "metadata": meta})


def lines(server: Cluster, *arguments: str) -> list[list[str]]:
    """What kubectl prints, each line in its words."""
    done = kubectl(server.binary, server.kubeconfig, *arguments, "-n", NS)
    assert (0, "") == (done.returncode, done.stderr)
    return [line.split() for line in done.stdout.splitlines()]


STATUS = {
    "phase": "Detached",
    "serviceName": "a-x2c4v",
    "claimName": "held",
    "addresses": ["203.0.113.7", "2001:db8::7"],
    "conditions": [
        {
            "type": kind,
            "status": "False",
            "reason": reason,
            "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for kind, reason in (("Resolved", "EndpointNotFound"), ("Ready", "Detached"))
    ],
}


@pytest.fixture
def shown(server: Cluster) -> Cluster:
    """A cluster with one attachment that has a status."""
    server.admin.create(NAMESPACE, {"metadata": {"name": NS}})
    server.admin.create(ATTACHMENT, attachment({"className": "public", **LISTED}))
    assert not server.admin.patch(REF, {"status": STATUS}, "/status").refused
    return server


@pytest.mark.parametrize("word", ["epa", "exposure", "roadstead", "endpointattachment"])
def test_kubectl_shows_what_matters(shown: Cluster, word: str) -> None:
    """One line says what is exposed, under which address, and how it stands; by any name."""
    head, line = lines(shown, "get", word)

    assert ["NAME", "KIND", "APPLICATION", "ENDPOINT", "ADDRESSES", "PHASE", "AGE"] == head
    # Of several values the server prints the first; `why` and `-o yaml` have them all.
    # Under a category, which several kinds are in, a name has its kind before it.
    shown_name = line[0].rpartition("/")[2]
    assert ["Postgres", "db", "postgres-db-rw", "203.0.113.7", "Detached"] == line[1:-1]
    assert "a" == shown_name


def test_kubectl_shows_the_rest_when_asked(shown: Cluster) -> None:
    """`-o wide` says why, and which objects are behind it."""
    head, line = lines(shown, "get", "epa", "-o", "wide")

    assert ["REASON", "CLAIM", "SERVICE", "CLASS"] == head[-4:]
    assert ["Detached", "held", "a-x2c4v", "public"] == line[-4:]


def test_the_reserved_member_is_refused_where_fields_are_checked(server: Cluster) -> None:
    """`kubectl apply` asks for strict validation, and so nobody believes in `gateway`."""
    admin = server.admin
    admin.create(NAMESPACE, {"metadata": {"name": NS}})
    reply = admin.call(
        "POST",
        ATTACHMENT.path(NS),
        attachment({}, gateway={}),
        query={"fieldValidation": "Strict"},
    )

    assert 400 == reply.code
    assert reply.message.endswith('strict decoding error: unknown field "spec.gateway"')


def test_a_status_write_changes_no_spec(space: Admin) -> None:
    """Whatever spec comes with it, and a status that does not fit is refused."""
    assert not space.create(ATTACHMENT, attachment({}) | {"status": STATUS}).refused
    there = space.get(REF)
    assert there is not None
    path = ATTACHMENT.path(NS, "a") + "/status"
    done = space.call("PUT", path, there | {"spec": {}, "status": {"phase": "Pending"}})
    bad = space.patch(REF, {"status": {"phase": "Nope"}}, "/status")
    space.delete(REF)

    assert "status" not in there
    assert (there["spec"], "Pending") == (done.body["spec"], done.body["status"]["phase"])
    assert 'status.phase: Unsupported value: "Nope"' in bad.message
