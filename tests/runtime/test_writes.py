"""Each way to write, at the wire: its preconditions, and what a late or lost one leaves behind.

Source: runtime.md 6, points 7 and 12.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from faults import Faults, lost, refuse, usual
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE
from roadstead.kube.views import Form, View
from roadstead.runtime.client import Client
from shelves import Shelf

MANAGER = "endpoint-attachments"
REF = SERVICE.ref("ns", "app")
SPACES = View("spaces", NAMESPACE)


@pytest.fixture
async def server() -> AsyncIterator[Faults]:
    """Run a server with Services and Secrets."""
    async with Faults() as running:
        running.serve(SERVICE)
        running.serve(SECRET)
        running.serve(NAMESPACE)
        yield running


@pytest.fixture
def services(server: Faults) -> Shelf:
    """Give its Services."""
    return server.shelves["", "v1", "services"]


@pytest.fixture
async def client(server: Faults) -> AsyncIterator[Client]:
    """Give a client of it."""
    async with server.client() as made:
        yield made


def body(**meta: Any) -> dict[str, Any]:
    """Write a Service."""
    head = {"apiVersion": "v1", "kind": "Service"}
    return {**head, "metadata": {"name": "app", "namespace": "ns", **meta}}


def stated(seen: dict[str, Any]) -> dict[str, str]:
    """Give uid and version of what is there, as preconditions."""
    return {key: seen["metadata"][key] for key in ("uid", "resourceVersion")}


async def conflict(write: Awaitable[object]) -> ClusterError:
    """Give the conflict that a write meets."""
    with pytest.raises(ClusterError) as caught:
        await write
    assert caught.value.conflict
    return caught.value


async def test_an_apply_states_its_fields_forced_and_leaves_the_rest(
    server: Faults, client: Client, services: Shelf
) -> None:
    """What others wrote stays; what came back is the metadata after it."""
    live = services.put("ns", "app", labels={"theirs": "1"}, spec={"type": "ClusterIP"})
    made = await client.apply(SERVICE, body(labels={"ours": "1"}, **stated(live)), MANAGER)
    sent = server.requests[-1]

    assert (sent.verb, sent.method, sent.path) == (
        "apply",
        "PATCH",
        "/api/v1/namespaces/ns/services/app",
    )
    assert sent.query == {"fieldManager": MANAGER, "force": "true"}
    assert sent.headers["content-type"] == "application/apply-patch+yaml"
    assert "as=PartialObjectMetadata" in sent.headers["accept"]
    assert services.at("ns", "app")["metadata"]["labels"] == {"theirs": "1", "ours": "1"}
    assert services.at("ns", "app")["spec"] == {"type": "ClusterIP"}
    assert made.meta.resource_version == services.at("ns", "app")["metadata"]["resourceVersion"]
    assert made.body == {}


async def test_a_late_apply_is_refused(server: Faults, client: Client, services: Shelf) -> None:
    """One that a frozen process sends must not hit the successor, nor bring back what is gone."""
    live = services.put("ns", "app")
    services.put("ns", "app", labels={"newer": "1"})
    late = body(**stated(live))
    await conflict(client.apply(SERVICE, late, MANAGER))
    services.remove("ns", "app")
    await conflict(client.apply(SERVICE, late, MANAGER))
    gone = not services.objects
    successor = services.put("ns", "app")
    await conflict(client.apply(SERVICE, late, MANAGER))

    assert gone
    assert services.at("ns", "app") == successor
    assert len(server.asked("apply")) == 3


async def test_a_status_put_changes_the_status_alone(
    server: Faults, client: Client, services: Shelf
) -> None:
    """It goes to its own path, and what else its body says is not taken."""
    live = services.put("ns", "app", spec={"type": "ClusterIP"})
    sent = {**body(**stated(live)), "spec": {"type": "NodePort"}, "status": {"phase": "Attached"}}
    made = await client.replace_status(SERVICE, sent)

    assert server.requests[-1].path == "/api/v1/namespaces/ns/services/app/status"
    assert (server.requests[-1].verb, server.requests[-1].method) == ("update-status", "PUT")
    assert services.at("ns", "app")["status"] == {"phase": "Attached"}
    assert services.at("ns", "app")["spec"] == {"type": "ClusterIP"}
    assert int(made.meta.resource_version) > int(live["metadata"]["resourceVersion"])


async def test_a_status_put_after_an_apply_carries_the_version_that_came_back(
    server: Faults, client: Client, services: Shelf
) -> None:
    """The version read before our own write is stale by then; the one it gave costs no conflict."""
    live = services.put("ns", "app")
    made = await client.apply(SERVICE, body(labels={"ours": "1"}, **stated(live)), MANAGER)
    status = {"status": {"phase": "Attached"}}
    await conflict(client.replace_status(SERVICE, body(**stated(live)) | status))
    uid, version = made.meta.uid, made.meta.resource_version
    await client.replace_status(SERVICE, body(uid=uid, resourceVersion=version) | status)

    assert services.at("ns", "app")["status"] == status["status"]
    assert services.at("ns", "app")["metadata"]["labels"] == {"ours": "1"}
    assert [seen.verb for seen in server.requests] == ["apply", "update-status", "update-status"]


async def test_a_put_over_a_newer_object_is_refused_once(
    server: Faults, client: Client, services: Shelf
) -> None:
    """What was written in between stays, and nothing is sent again behind the decision's back."""
    live = services.put("ns", "app", spec={"type": "ClusterIP"})
    newer = services.put("ns", "app", spec={"type": "LoadBalancer"})
    caught = await conflict(client.replace(SERVICE, body(**stated(live))))

    assert (caught.status, caught.reason, caught.about) == (409, "Conflict", "Service ns/app")
    assert services.at("ns", "app") == newer
    assert len(server.requests) == 1
    assert server.slept == []


async def test_a_delete_by_uid_spares_the_successor(
    server: Faults, client: Client, services: Shelf
) -> None:
    """The uid alone: a newer version of the same object goes, another of its name stays."""
    first = services.put("ns", "app")
    services.remove("ns", "app")
    second = services.put("ns", "app")
    services.put("ns", "app", labels={"newer": "1"})
    caught = await conflict(client.delete(REF, first["metadata"]["uid"], ""))
    spared = ("ns", "app") in services.objects
    await client.delete(REF, second["metadata"]["uid"], "")

    assert caught.reason == "Conflict"
    assert spared
    assert services.objects == {}
    assert [seen.json()["preconditions"] for seen in server.requests] == [
        {"uid": first["metadata"]["uid"]},
        {"uid": second["metadata"]["uid"]},
    ]


async def test_a_post_whose_answer_is_lost_leaves_one_object(
    server: Faults, client: Client, services: Shelf
) -> None:
    """Nobody sends it again but the next decision, whose name is the same and meets the first."""
    server.next("create", lost())
    with pytest.raises(ClusterError) as first:
        await client.create(SERVICE, body())
    with pytest.raises(ClusterError) as second:
        await client.create(SERVICE, body())
    there = await client.get(REF)

    assert (first.value.status, first.value.reason, first.value.retry) == (0, "Cut", True)
    assert (second.value.status, second.value.reason) == (409, "AlreadyExists")
    assert there is not None
    assert there.meta.uid == services.at("ns", "app")["metadata"]["uid"]
    assert len(services.objects) == 1
    assert [seen.verb for seen in server.requests] == ["create", "create", "get"]


@pytest.mark.parametrize("way", ["apply", "update-status"])
@pytest.mark.parametrize("fault", [lost(), refuse(500), refuse(503, retry_after="1")])
async def test_neither_apply_nor_status_is_sent_twice(
    server: Faults, client: Client, services: Shelf, way: str, fault: Any
) -> None:
    """Whether it was done is for the next pass to see."""
    services.put("ns", "app")
    ways: dict[str, Callable[[], Awaitable[Object]]] = {
        "apply": lambda: client.apply(SERVICE, body(), MANAGER),
        "update-status": lambda: client.replace_status(SERVICE, body()),
    }
    server.next(way, fault)
    with pytest.raises(ClusterError):
        await ways[way]()

    assert len(server.requests) == 1


async def test_the_gate_and_read_only_hold_for_every_way(server: Faults, services: Shelf) -> None:
    """A rehearsal, or a process that does not lead, writes no status either."""
    services.put("ns", "app")

    def gate(seconds: float) -> None:
        raise ClusterError(f"no lease for {seconds:g} s", reason="NotLeader")

    for options in ({"gate": gate}, {"read_only": True}):
        async with server.client(**options) as client:
            for write in (
                client.apply(SERVICE, body(), MANAGER, deadline=8.0),
                client.replace_status(SERVICE, body(), deadline=8.0),
            ):
                with pytest.raises(ClusterError, match=r"no lease for 8 s|read-only"):
                    await write
    async with server.client(gate=gate) as client:
        await client.apply(SERVICE, body(labels={"a": "b"}), MANAGER, gated=False)
        await client.replace_status(SERVICE, body(), gated=False)

    assert [seen.verb for seen in server.requests] == ["apply", "update-status"]


@pytest.mark.parametrize("form", Form)
async def test_a_view_is_listed_live_in_its_form_and_order(
    server: Faults, client: Client, form: Form
) -> None:
    """Half a list would look like deletions: a token that expires starts it over, once."""
    view = View("keys", SECRET, form, labels="ours", fields="metadata.name!=s7")
    secrets = server.shelves["", "v1", "secrets"]
    for number in range(600):
        secrets.put("ns", f"s{number}", labels={"ours": "1"}, type="Opaque")
    secrets.put("elsewhere", "s", labels={"ours": "1"})
    server.next("list", usual(), refuse(410, "Expired"))
    found = await client.list_view(view, "ns")
    names = [seen.meta.name for seen in found]

    assert len(names) == 600
    assert names == sorted(names)
    assert [seen.body.get("type") for seen in found[:1]] == [
        "Opaque" if form is Form.FULL else None
    ]
    assert {seen.query["labelSelector"] for seen in server.requests} == {"ours"}
    assert {seen.query["fieldSelector"] for seen in server.requests} == {"metadata.name!=s7"}
    assert ["continue" in seen.query for seen in server.requests] == [False, True, False, True]


async def test_a_view_whose_token_expires_twice_is_an_error(server: Faults, client: Client) -> None:
    """Unknown is never none."""
    server.next("list", refuse(410, "Expired"), refuse(410, "Expired"))
    with pytest.raises(ClusterError) as caught:
        await client.list_view(View("keys", SECRET), "ns")

    assert caught.value.status == 410


async def test_a_cluster_scoped_view_has_the_empty_namespace(
    server: Faults, client: Client
) -> None:
    """Its path has none."""
    server.shelves["", "v1", "namespaces"].put("", "blue")
    found = await client.list_view(SPACES, "")

    assert [seen.meta.name for seen in found] == ["blue"]
    assert server.requests[0].path == "/api/v1/namespaces"
