"""Events as the API server stores them: one object for each, its count raised by repeats."""

from collections.abc import AsyncIterator

import pytest

from faults import Faults, broken, lost, refuse
from parts import DATA, NS, SECRETS, HandClock, event
from roadstead.errors import ClusterError
from roadstead.kube.refs import EVENT, SECRET, Kind
from roadstead.runtime import events
from roadstead.runtime.events import LiveApi, name_of, shortened
from roadstead.runtime.lease import WRITE_DEADLINE
from shelves import Shelf

DEFINITION = Kind("ApplicationDefinition", "cozystack.io", "v1alpha1", "x", namespaced=False)
COMPONENT = "tenant-ca-controller"


@pytest.fixture
async def server() -> AsyncIterator[Faults]:
    """Run a server that stores events."""
    async with Faults() as running:
        running.serve(EVENT)
        running.serve(SECRET)
        yield running


@pytest.fixture
async def api(server: Faults, clock: HandClock) -> AsyncIterator[LiveApi]:
    """Give the API over a client of it."""
    async with server.client() as client:
        yield LiveApi(client, clock, "pod-1")


@pytest.fixture
def clock() -> HandClock:
    """Give a clock."""
    return HandClock()


@pytest.fixture
def shelf(server: Faults) -> Shelf:
    """Give what the server holds."""
    return server.shelves["", "v1", "events"]


async def test_the_first_telling_is_a_whole_event(api: LiveApi, shelf: Shelf) -> None:
    """Everything `kubectl describe` shows, in the namespace of its object."""
    told = event("CACertInvalid", "no certificate")
    await api.publish(COMPONENT, told, 0)
    (body,) = shelf.objects.values()
    del body["metadata"]

    assert list(shelf.objects) == [(NS, name_of(COMPONENT, told))]
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "a",
            "namespace": NS,
            "uid": "uid-a",
        },
        "type": "Warning",
        "reason": "CACertInvalid",
        "message": "no certificate",
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": "pod-1",
        "firstTimestamp": "2026-03-01T12:00:00Z",
        "lastTimestamp": "2026-03-01T12:00:00Z",
        "count": 1,
    }


async def test_a_repeat_raises_the_count_of_the_same_object(
    api: LiveApi, server: Faults, shelf: Shelf, clock: HandClock
) -> None:
    """A series is one object, written by PATCH."""
    for times in range(3):
        await api.publish(COMPONENT, event(), times)
        clock.now += 3600
    (body,) = shelf.objects.values()

    assert [seen.verb for seen in server.requests] == ["create", "patch", "patch"]
    assert body["count"] == 3
    assert body["firstTimestamp"] == "2026-03-01T12:00:00Z"
    assert body["lastTimestamp"] == "2026-03-01T14:00:00Z"


async def test_a_series_goes_on_after_the_server_dropped_its_object(
    api: LiveApi, shelf: Shelf, clock: HandClock
) -> None:
    """Events live for an hour, which is just when a repeat comes."""
    await api.publish(COMPONENT, event(), 0)
    shelf.objects.clear()
    clock.now = 3600
    await api.publish(COMPONENT, event(), 1)
    (body,) = shelf.objects.values()

    assert (body["count"], body["firstTimestamp"]) == (2, "2026-03-01T12:00:00Z")
    assert body["lastTimestamp"] == "2026-03-01T13:00:00Z"


@pytest.mark.parametrize("how", ["restart", "lost-answer"])
async def test_what_was_told_already_is_not_told_twice(
    api: LiveApi, server: Faults, shelf: Shelf, clock: HandClock, how: str
) -> None:
    """Its name follows from what it says, so that a second POST meets the first."""
    if how == "restart":
        async with server.client() as client:
            await LiveApi(client, clock).publish(COMPONENT, event(), 0)
    else:
        server.next("create", lost())
        with pytest.raises(ClusterError):
            await api.publish(COMPONENT, event(), 0)
    clock.now = 60
    await api.publish(COMPONENT, event(), 0)
    (body,) = shelf.objects.values()

    assert (body["count"], body["lastTimestamp"]) == (1, "2026-03-01T12:01:00Z")


async def test_an_event_about_a_cluster_scoped_object_lives_in_default(
    api: LiveApi, shelf: Shelf
) -> None:
    """The API server takes it nowhere else."""
    await api.publish(COMPONENT, event(ref=DEFINITION.ref("", "postgres")), 0)
    ((namespace, _), body), *_ = shelf.objects.items()

    assert namespace == "default"
    assert "namespace" not in body["involvedObject"]


@pytest.mark.parametrize("answer", [refuse(403), refuse(500), broken()])
async def test_a_telling_that_fails_says_so(api: LiveApi, server: Faults, answer: object) -> None:
    """The engine tells again with the next pass."""
    server.next("create", answer)  # type: ignore[arg-type]  # a stand-in
    with pytest.raises(ClusterError):
        await api.publish(COMPONENT, event(), 0)
    await api.publish(COMPONENT, event(), 0)

    assert [seen.verb for seen in server.requests] == ["create", "create"]


async def test_a_repeat_that_fails_says_so(api: LiveApi, server: Faults) -> None:
    """Only an event that is gone is written anew."""
    await api.publish(COMPONENT, event(), 0)
    server.next("patch", refuse(403, "Forbidden"))
    with pytest.raises(ClusterError):
        await api.publish(COMPONENT, event(), 1)

    assert [seen.verb for seen in server.requests] == ["create", "patch"]


def test_messages_are_cut_at_what_an_event_holds() -> None:
    """1,024 characters; a longer one ends in an ellipsis."""
    assert shortened("x" * 1024) == "x" * 1024
    assert shortened("x" * 1025) == "x" * 1023 + "…"


def test_a_name_is_one_for_what_is_said() -> None:
    """Another uid, reason, message or component is another event; long names still fit."""
    other = [event(uid="u2"), event("Other"), event(message="m"), event(name="b")]
    names = {name_of(COMPONENT, told) for told in [event(), event(), *other]}

    assert len(names | {name_of("x", event())}) == 6
    assert len(name_of(COMPONENT, event(name="n" * 253))) == 253
    assert ".-" not in name_of(COMPONENT, event(name="n" * 235 + "-" + "n" * 17))


async def test_the_memory_of_series_is_bounded(
    api: LiveApi, monkeypatch: pytest.MonkeyPatch, server: Faults
) -> None:
    """The oldest is forgotten, and begins a new series."""
    monkeypatch.setattr(events, "REMEMBERED", 2)
    for name in "abc":
        await api.publish(COMPONENT, event(name=name), 0)
    await api.publish(COMPONENT, event(name="c"), 1)
    await api.publish(COMPONENT, event(name="a"), 1)

    assert [seen.verb for seen in server.requests] == ["create"] * 3 + ["patch", "create", "patch"]


async def test_writes_have_a_deadline_that_the_lease_covers(
    server: Faults, clock: HandClock
) -> None:
    """The gate is told eight seconds for each way to write, and may say no."""
    asked: list[float] = []
    async with server.client(gate=asked.append) as client:
        api = LiveApi(client, clock)
        body = {"metadata": {"name": "s", "namespace": NS}}
        made = await api.create(SECRET, body)
        body["metadata"]["resourceVersion"] = made.meta.resource_version
        again = await api.replace(SECRET, body)
        body["metadata"].pop("resourceVersion")
        await api.apply(SECRET, body, COMPONENT)
        await api.replace_status(SECRET, body)
        await api.delete(SECRET.ref(NS, "s"), again.meta.uid, "")
        await api.publish(COMPONENT, event(), 0)
        await api.publish(COMPONENT, event(), 1)

    assert asked == [WRITE_DEADLINE] * 7


async def test_a_view_is_read_live_in_its_form(api: LiveApi, server: Faults) -> None:
    """A pass that must be sure reads what the view would hold, and nothing of other namespaces."""
    secrets = server.shelves["", "v1", "secrets"]
    for namespace, name in ((NS, "b"), (NS, "a"), ("other", "c")):
        secrets.put(namespace, name, data=DATA)
    found = await api.list_view(SECRETS, NS)

    assert [(seen.meta.name, seen.body) for seen in found] == [("a", {}), ("b", {})]
