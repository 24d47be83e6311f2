"""The client against a server that does everything wrong that a server can."""

import asyncio
import gzip
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from faults import (
    Faults,
    answer,
    bookmark,
    broken,
    drop,
    error,
    live,
    lost,
    raw,
    refuse,
    send,
    silence,
    slow,
    stream,
    usual,
    whole,
)
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, HELM_RELEASE, LEASE, SECRET
from roadstead.kube.views import Form, View
from roadstead.runtime.access import Config, Material
from roadstead.runtime.client import Client
from roadstead.runtime.permission import Access
from roadstead.runtime.wire import WatchEvent
from shelves import Shelf

CANARY = "c4n4ry-of-a-secret-value"
DATA = {"password": b64encode(CANARY.encode()).decode()}
SECRETS = View("secrets", SECRET, Form.METADATA)
MAPS = View("maps", CONFIG_MAP)
REF = SECRET.ref("ns", "a")


@pytest.fixture
async def server() -> AsyncIterator[Faults]:
    """Run a server with Secrets and ConfigMaps."""
    async with Faults() as running:
        running.serve(SECRET)
        running.serve(CONFIG_MAP)
        yield running


@pytest.fixture
def secrets(server: Faults) -> Shelf:
    """Give its Secrets."""
    return server.shelves["", "v1", "secrets"]


@pytest.fixture
async def client(server: Faults) -> AsyncIterator[Client]:
    """Give a client of it."""
    async with server.client() as made:
        yield made


def body(name: str = "a", **meta: Any) -> dict[str, Any]:
    """Write a Secret."""
    head = {"apiVersion": "v1", "kind": "Secret", "data": DATA}
    return {**head, "metadata": {"name": name, "namespace": "ns", **meta}}


async def watched(client: Client, view: View = SECRETS, **options: Any) -> list[WatchEvent]:
    """Follow a watch to its end."""
    options = {"timeout_seconds": 300, **options}
    async with aclosing(client.watch(view, "100", **options)) as events:
        return [event async for event in events]


def names(objects: tuple[Object, ...]) -> list[str]:
    """Give the names."""
    return [seen.meta.name for seen in objects]


async def refused(server: Faults, client: Client, *answers: Any, verb: str = "get") -> ClusterError:
    """Script a refusal and give the error it becomes."""
    server.next(verb, *answers)
    with pytest.raises(ClusterError) as caught:
        await (client.get(REF) if verb == "get" else client.create(SECRET, body()))
    return caught.value


async def test_a_get_gives_the_whole_object(client: Client, secrets: Shelf) -> None:
    """A live read must see every field but the managed ones, or a PUT from it loses some."""
    secrets.put("ns", "a", data=DATA, type="Opaque", meta={"managedFields": [{"manager": "x"}]})
    seen = await client.get(REF)

    assert seen is not None
    assert CANARY.encode() == seen.decoded("password")
    assert seen.body["type"] == "Opaque"
    assert "managedFields" not in seen.body["metadata"]


async def test_an_absent_object_is_none_and_an_unserved_kind_is_an_error(client: Client) -> None:
    """Were the two alike, a CRD that is gone would look like objects that are gone."""
    assert await client.get(REF) is None
    with pytest.raises(ClusterError) as caught:
        await client.get(HELM_RELEASE.ref("ns", "a"))

    assert (caught.value.status, caught.value.reason) == (404, "NotServed")


async def test_a_metadata_list_asks_for_metadata_and_keeps_no_annotation(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """An annotation can hold a whole Secret, and `data` must not even be asked for."""
    noted = {"annotations": {"last-applied": CANARY}, "managedFields": [{"manager": "x"}]}
    secrets.put("ns", "a", data=DATA, meta=noted)
    page = await client.page(SECRETS)

    assert names(page.objects) == ["a"]
    assert page.objects[0].meta.annotations is None
    assert page.objects[0].body == {}
    wanted = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert server.requests[0].headers["accept"] == wanted


async def test_a_metadata_list_refuses_whole_objects(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """A server or proxy that ignores Accept must not put Secrets into our memory."""
    secrets.put("ns", "a", data=DATA)
    server.next("list", whole())
    with pytest.raises(ClusterError) as caught:
        await client.page(SECRETS)

    assert caught.value.reason == "FullAnswer"


async def test_a_metadata_watch_refuses_whole_objects(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """The watch has its own Accept, and a server may ignore that one alone."""
    server.next("watch", stream(send("ADDED", secrets.put("ns", "a", data=DATA), full=True)))
    with pytest.raises(ClusterError) as caught:
        await watched(client)

    assert caught.value.reason == "FullAnswer"
    wanted = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert server.requests[0].headers["accept"] == wanted


async def test_pages_hang_together_and_never_ask_for_version_0(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """ResourceVersion 0 makes the server ignore the limit and send everything at once."""
    for name in "abc":
        secrets.put("ns", name)
    first = await client.page(SECRETS, limit=2)
    second = await client.page(SECRETS, limit=2, continue_token=first.continue_token)

    assert (names(first.objects), first.remaining) == (["a", "b"], 1)
    assert (names(second.objects), second.continue_token) == (["c"], "")
    assert all("resourceVersion" not in seen.query for seen in server.requests)


async def test_list_metadata_starts_over_once_when_its_token_expires(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """Half a list would look like deletions."""
    for number in range(600):
        secrets.put("ns", f"s{number:03}", labels={"ca": "true"})
    server.next("list", usual(), refuse(410, "Expired"))
    found = await client.list_metadata(SECRET, "ns", "ca=true")

    assert len(found) == 600
    assert [seen.query["labelSelector"] for seen in server.requests] == ["ca=true"] * 4


async def test_items_of_a_full_list_carry_their_kind(client: Client, server: Faults) -> None:
    """The API server leaves it out of lists, and a PUT without it is refused."""
    server.shelves["", "v1", "configmaps"].put("ns", "m", data={"k": "v"})
    page = await client.page(MAPS)

    assert page.objects[0].body["kind"] == "ConfigMap"
    assert page.objects[0].body["apiVersion"] == "v1"


async def test_a_gzipped_page_is_read(server: Faults, client: Client) -> None:
    """The API server compresses long lists for whoever accepts that, as aiohttp does."""
    listed = {"kind": "ConfigMapList", "metadata": {"resourceVersion": "7"}, "items": []}
    server.next(
        "list",
        answer(gzip.compress(msgspec.json.encode(listed)), headers={"Content-Encoding": "gzip"}),
    )

    assert (await client.page(MAPS)).resource_version == "7"


async def test_a_watch_gives_events_and_bookmarks_in_order(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """Every kind of line has its own shape; the end of the stream is no error."""
    thing = secrets.put("ns", "a", meta={"annotations": {"x": CANARY}})
    steps = (send("ADDED", thing), send("DELETED", thing), bookmark("120"))
    server.next("watch", stream(*steps, bookmark("121", initial_end=True)))
    events = await watched(client)

    assert [event.type for event in events] == ["ADDED", "DELETED", "BOOKMARK", "BOOKMARK"]
    assert [event.resource_version for event in events[2:]] == ["120", "121"]
    assert [event.initial_end for event in events] == [False, False, False, True]
    assert events[0].object is not None
    assert events[0].object.meta.annotations is None
    assert events[2].object is None


async def test_a_full_watch_gives_bodies(server: Faults, client: Client) -> None:
    """A full view needs what its objects hold."""
    thing = server.shelves["", "v1", "configmaps"].put("ns", "m", data={"k": "v"})
    server.next("watch", stream(send("ADDED", thing), bookmark("9")))
    events = await watched(client, MAPS)

    assert events[0].object is not None
    assert events[0].object.body["data"] == {"k": "v"}
    assert events[1].resource_version == "9"


async def test_a_watch_list_asks_for_initial_events_and_hears_of_changes(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """Without resourceVersionMatch the server refuses; without bookmarks there is no end mark."""
    secrets.put("ns", "a")
    seen = []
    follow = client.watch(SECRETS, "", timeout_seconds=300, send_initial_events=True)
    async with aclosing(follow) as events:
        async for event in events:
            seen.append(event.type)
            if event.initial_end:
                secrets.put("ns", "b")
            elif len(seen) == 3:
                break

    assert seen == ["ADDED", "BOOKMARK", "ADDED"]
    query = server.requests[0].query
    assert query["resourceVersionMatch"] == "NotOlderThan"
    assert query["sendInitialEvents"] == query["allowWatchBookmarks"] == "true"


async def test_a_line_of_1_4_mb_is_one_event(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """The largest object comes in many pieces."""
    big = secrets.put("ns", "a", data={"k": "A" * 1_400_000})
    full = View("whole", SECRET)
    server.next("watch", stream(send("ADDED", big), send("DELETED", big)))
    events = await watched(client, full)

    assert [event.type for event in events] == ["ADDED", "DELETED"]
    assert events[0].object is not None
    assert len(events[0].object.body["data"]["k"]) == 1_400_000


@pytest.mark.parametrize("end", [(), (drop(),)], ids=["closed", "broken"])
async def test_a_line_cut_in_the_middle_is_an_error(
    server: Faults, client: Client, secrets: Shelf, end: tuple[Any, ...]
) -> None:
    """An event that half arrived must not be taken for the end of the stream."""
    thing = secrets.put("ns", "a")
    half = b'{"type":"ADDED","object":{"data":"' + CANARY.encode()
    server.next("watch", stream(send("ADDED", thing), raw(half), *end))
    seen = []

    async def follow() -> None:
        async with aclosing(client.watch(SECRETS, "1", timeout_seconds=300)) as events:
            async for event in events:
                seen.append(event.type)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ClusterError) as caught:
        await follow()

    assert seen == ["ADDED"]
    assert (caught.value.status, caught.value.reason) == (0, "Cut")
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "line",
    [
        b"<html>\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"MODIFIED","object":{"metadata":{"name":3}}}\n',
        b'{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}}\n',
    ],
)
@pytest.mark.parametrize("view", [SECRETS, MAPS], ids=["metadata", "full"])
async def test_a_line_that_is_no_event_is_an_error(
    server: Faults, client: Client, view: View, line: bytes
) -> None:
    """A proxy's error page or a broken object ends the stream, not the process."""
    server.next("watch", stream(raw(line)))
    with pytest.raises(ClusterError) as caught:
        await watched(client, view)

    assert caught.value.reason == "Cut"


@pytest.mark.parametrize("code", [410, 500])
@pytest.mark.parametrize("view", [SECRETS, MAPS], ids=["metadata", "full"])
async def test_an_error_in_the_stream_keeps_its_code(
    server: Faults, client: Client, view: View, code: int
) -> None:
    """410 asks for a new list, 500 for patience: the watcher must tell them apart."""
    server.next("watch", stream(error(code, "Expired", "too old")))
    with pytest.raises(ClusterError) as caught:
        await watched(client, view)

    assert (caught.value.status, caught.value.reason) == (code, "Expired")


async def test_a_silent_watch_ends(
    server: Faults, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead connection looks like a quiet cluster; only a limit tells them apart."""
    monkeypatch.setattr("roadstead.runtime.reads.SLACK_SECONDS", -299.99)
    server.next("watch", stream(silence()))
    with pytest.raises(ClusterError) as caught:
        await watched(client)

    assert (caught.value.reason, caught.value.retry) == ("Silent", True)


async def test_a_watch_that_has_had_a_bookmark_may_be_silent_for_less(
    server: Faults, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bookmarks come once a minute, so a stream that sends them shows sooner that it is dead."""
    monkeypatch.setattr("roadstead.runtime.reads.BOOKMARK_SILENCE_SECONDS", 0.01)
    server.next("watch", stream(bookmark("9"), silence()))
    with pytest.raises(ClusterError, match=r"silent for 0.01 s"):
        await watched(client)


async def test_a_refused_watch_is_an_error(server: Faults, client: Client) -> None:
    """A role without `watch` is told as it is."""
    server.next("watch", refuse(403, "Forbidden"))
    with pytest.raises(ClusterError) as caught:
        await watched(client)

    assert (caught.value.status, caught.value.about) == (403, "secrets")


async def test_watches_take_no_slot_of_requests(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """Forty open watches must not keep the first request from being sent."""

    async def follow() -> None:
        await watched(client)

    async with asyncio.TaskGroup() as group:
        for _ in range(40):
            group.create_task(follow())
        await server.until(40, "watch")
        assert await client.get(REF) is None
        while secrets.watches < 40:  # noqa: ASYNC110 - the server opens them in its own time
            await asyncio.sleep(0)
        secrets.end_streams()


async def test_at_most_32_requests_are_in_flight(server: Faults, client: Client) -> None:
    """The whole process is one client to the API server's fairness."""
    free = asyncio.Event()
    server.next("get", *[slow(free)] * 40)
    async with asyncio.TaskGroup() as group:
        for _ in range(40):
            group.create_task(client.get(REF))
        await server.until(32)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(server.requests) == 32
        free.set()

    assert len(server.requests) == 40


async def test_writes_ask_for_the_metadata_of_their_answer(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """The answer to a write need not carry the Secret back."""
    made = await client.create(SECRET, body())
    changed = await client.replace(
        SECRET, body(resourceVersion=made.meta.resource_version) | {"type": "Opaque"}
    )

    assert (made.meta.uid, made.body) == (secrets.at("ns", "a")["metadata"]["uid"], {})
    assert int(changed.meta.resource_version) > int(made.meta.resource_version)
    assert secrets.at("ns", "a")["type"] == "Opaque"
    partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert [seen.headers["accept"] for seen in server.requests] == [partial] * 2
    assert server.requests[0].headers["user-agent"].startswith("roadstead/")


async def test_a_patch_merges(client: Client, secrets: Shelf) -> None:
    """An Event's series is continued without reading it first."""
    secrets.put("ns", "a", series={"count": 1})
    await client.patch(REF, {"metadata": {}, "series": {"count": 2}})

    assert secrets.at("ns", "a")["series"] == {"count": 2}


async def test_a_secret_of_1_4_mb_is_sent(client: Client, secrets: Shelf) -> None:
    """Aiohttp warns of large bodies given as bytes, and warnings are errors."""
    await client.create(SECRET, body() | {"data": {"k": "A" * 1_400_000}})

    assert len(secrets.at("ns", "a")["data"]["k"]) == 1_400_000


async def test_a_delete_states_what_it_saw(server: Faults, client: Client, secrets: Shelf) -> None:
    """A delete by name alone could hit the successor of what was judged."""
    meta = secrets.put("ns", "a")["metadata"]
    with pytest.raises(ClusterError) as caught:
        await client.delete(REF, meta["uid"], "1")
    await client.delete(REF, meta["uid"], meta["resourceVersion"])
    await client.delete(REF, meta["uid"], meta["resourceVersion"])

    assert caught.value.conflict
    assert secrets.objects == {}
    assert server.requests[0].json()["propagationPolicy"] == "Background"


async def test_a_delete_of_an_unserved_kind_is_no_success(client: Client) -> None:
    """A kind that is away for a while keeps its objects."""
    with pytest.raises(ClusterError, match="NotServed"):
        await client.delete(HELM_RELEASE.ref("ns", "a"), "u", "1")


@pytest.mark.parametrize("fault", [broken(), lost()], ids=["before", "after"])
@pytest.mark.parametrize("verb", ["create", "update", "delete", "patch"])
async def test_a_write_is_never_sent_twice(
    server: Faults, client: Client, secrets: Shelf, verb: str, fault: Any
) -> None:
    """Nobody knows whether a write without an answer was done; aiohttp would repeat a PUT."""
    if verb != "create":
        secrets.put("ns", "a")
    await client.page(MAPS)  # a kept connection is what aiohttp repeats on
    server.next(verb, fault)
    writes: dict[str, Callable[[], Awaitable[object]]] = {
        "create": lambda: client.create(SECRET, body()),
        "update": lambda: client.replace(SECRET, body()),
        "patch": lambda: client.patch(REF, {"metadata": {}}),
        "delete": lambda: client.delete(REF, "", ""),
    }
    with pytest.raises(ClusterError) as caught:
        await writes[verb]()

    assert (caught.value.status, caught.value.reason) == (0, "Cut")
    assert len(server.asked(verb)) == 1


async def test_a_write_is_not_repeated_after_500(server: Faults, client: Client) -> None:
    """A 500 may come after the write was stored."""
    caught = await refused(server, client, refuse(500, "InternalError"), verb="create")

    assert caught.status == 500
    assert len(server.requests) == 1


async def test_a_read_is_repeated_a_few_times(
    server: Faults, client: Client, secrets: Shelf
) -> None:
    """One restart of an API server must not fail a pass; a dead one must not hold it."""
    secrets.put("ns", "a")
    server.next("get", refuse(503), broken(), usual())
    seen = await client.get(REF)
    caught = await refused(server, client, *[refuse(503, "ServiceUnavailable")] * 9)

    assert seen is not None
    assert caught.status == 503
    assert len(server.requests) == 6
    assert server.slept == pytest.approx([0.1, 0.4, 0.1, 0.4])


async def test_a_429_is_obeyed_also_for_a_write(server: Faults, client: Client) -> None:
    """It says that nothing was done, and when to come again."""
    server.next("create", refuse(429, retry_after="3"), refuse(429), usual())
    await client.create(SECRET, body())

    assert server.slept == [3.0, 1.0]


async def test_a_429_without_end_or_with_a_long_wait_is_the_callers(
    server: Faults, client: Client
) -> None:
    """A worker must not be held for an hour because a header says so."""
    endless = await refused(server, client, *[refuse(429, retry_after="1")] * 9)
    pauses = len(server.slept)
    server._scripts.clear()
    long = await refused(server, client, refuse(429, "TooManyRequests", retry_after="3600"))

    assert (endless.status, pauses) == (429, 5)
    assert long.retry_after == timedelta(hours=1)
    assert len(server.slept) == pauses


async def test_a_401_is_tried_once_more(server: Faults, client: Client) -> None:
    """A token that was rotated is read again; one that stays bad is an error."""
    server.next("get", refuse(401, "Unauthorized"))
    first = await client.get(REF)
    caught = await refused(server, client, *[refuse(401, "Unauthorized")] * 2)

    assert first is None
    assert (caught.status, len(server.requests)) == (401, 4)


async def test_a_watch_that_gets_401_is_tried_once_more(server: Faults, client: Client) -> None:
    """Watches outlive tokens, so they meet rotated ones first."""
    server.next("watch", refuse(401), stream(bookmark("9")))

    assert len(await watched(client)) == 1


async def test_refusals_keep_what_a_caller_decides_on(server: Faults, client: Client) -> None:
    """A terminating namespace is told by its cause, a quota by its reason."""
    causes = ("NamespaceTerminating",)
    caught = await refused(
        server, client, refuse(403, "Forbidden", "x", causes=causes), verb="create"
    )

    assert (caught.status, caught.reason, caught.cause) == (403, "Forbidden", causes[0])
    assert (caught.about, caught.retry) == ("Secret ns/a", False)


@pytest.mark.parametrize("verb", ["get", "create"])
@pytest.mark.parametrize("word", [CANARY, f"denied {CANARY}", "Invalid"])
async def test_what_the_server_says_of_a_secret_is_not_repeated(
    server: Faults, client: Client, verb: str, word: str
) -> None:
    """A validation error or a webhook's refusal quotes the value, even where a word belongs."""
    said = f"Invalid value: {CANARY}"
    caught = await refused(server, client, refuse(422, word, said, causes=(word,)), verb=verb)
    shown = "".join(traceback.format_exception(caught)) + repr(vars(caught))

    assert CANARY not in shown


async def test_what_the_server_says_of_others_is_capped(server: Faults, client: Client) -> None:
    """A message is a sentence, not a page."""
    server.next("get", refuse(422, "Invalid", "because " + "x" * 5000))
    with pytest.raises(ClusterError, match="because") as caught:
        await client.get(CONFIG_MAP.ref("ns", "m"))

    assert len(caught.value.message) < 1100


async def test_no_error_shows_the_token(server: Faults) -> None:
    """Aiohttp's own errors show the request's headers in their repr."""
    config = Config(server=server.url, token=Material("t", CANARY.encode()))
    async with server.client(config) as client:
        for fault in (broken(), refuse(400), answer(b"{")):
            caught = await refused(server, client, *[fault] * 3)

            assert CANARY not in "".join(traceback.format_exception(caught)) + repr(vars(caught))
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


async def test_the_gate_is_asked_before_every_write_that_is_sent(server: Faults) -> None:
    """A leader that lost its lease while it waited for a slot or a 429 must not write."""
    asked: list[float] = []

    def gate(deadline: float) -> None:
        asked.append(deadline)
        if len(asked) == 2:
            raise ClusterError("no longer the leader", reason="NotLeader")

    async with server.client(gate=gate, deadline=7.0) as client:
        server.next("create", refuse(429))
        with pytest.raises(ClusterError, match="no longer"):
            await client.create(SECRET, body())
        await client.get(REF)
        server.serve(LEASE)
        lease = {"metadata": {"name": "l", "namespace": "ns"}}
        await client.create(LEASE, lease, gated=False, deadline=2.0)

    assert asked == [7.0, 7.0]
    assert [seen.verb for seen in server.requests] == ["create", "get", "create"]


async def test_a_read_only_client_sends_no_write(server: Faults) -> None:
    """A rehearsal on a live cluster must not touch it."""
    async with server.client(read_only=True) as client:
        with pytest.raises(ClusterError, match="read-only"):
            await client.create(SECRET, body())
        with pytest.raises(ClusterError, match="read-only"):
            await client.delete(REF, "u", "1")
        await client.get(REF)

    assert [seen.verb for seen in server.requests] == ["get"]


async def test_a_read_only_client_may_ask_what_is_allowed(server: Faults) -> None:
    """An access review is a POST that stores nothing, and is sent once."""
    said = {"status": {"allowed": True}}
    server.next("create", answer(msgspec.json.encode(said)), answer(b"{}"), refuse(503))
    mine, theirs = Access("get", "", "pods/log", "ns"), Access("list", "apps", "x", "", "home/me")
    async with server.client(read_only=True) as client:
        assert await client.may(mine)
        with pytest.raises(ClusterError, match="cut or malformed"):
            await client.may(theirs)
        with pytest.raises(ClusterError):
            await client.may(theirs)

    paths = [seen.path.rpartition("/")[2] for seen in server.requests]
    assert ["selfsubjectaccessreviews", "subjectaccessreviews", "subjectaccessreviews"] == paths
    assert ("get pods/log", "list x.apps") == (str(mine), str(theirs))
    assert "log" == mine.spec["resourceAttributes"]["subresource"]
    assert "system:serviceaccount:home:me" == theirs.spec["user"]


async def test_a_creation_is_rehearsed_as_a_dry_run(server: Faults) -> None:
    """Nothing is stored, by a read-only client as well; the refusal is told whole."""
    said = 'failed calling webhook "x"'
    server.next("create", refuse(500, "InternalError", said))
    async with server.client(read_only=True) as client:
        with pytest.raises(ClusterError, match=said):
            await client.rehearse(REF, body())

    (sent,) = server.requests
    assert ("create", "All") == (sent.verb, sent.query["dryRun"])


async def test_the_observer_hears_every_request(server: Faults) -> None:
    """Metrics count what was sent, retries and losses too."""
    heard: list[tuple[str, int]] = []
    async with server.client(observe=lambda verb, code, _: heard.append((verb, code))) as client:
        server.next("get", broken(), refuse(503))
        await client.get(REF)
        server.next("watch", stream())
        await watched(client)

    assert heard == [("get", 0), ("get", 503), ("get", 404), ("watch", 200)]


async def test_a_slow_server_meets_the_deadline(server: Faults, client: Client) -> None:
    """A hanging request must not hold a worker, and a read that hung is not tried again."""
    server.next("get", slow(asyncio.Event()))
    with pytest.raises(ClusterError) as caught:
        await client.get(REF, deadline=0.01)

    assert (caught.value.reason, len(server.requests)) == ("Timeout", 1)


async def test_a_server_that_is_down_is_named(server: Faults) -> None:
    """The sentence says which address was tried, and where it comes from."""
    down = Config(server="http://127.0.0.1:1", source="context `dev` of x")
    async with server.client(down) as client:
        with pytest.raises(ClusterError) as caught:
            await client.get(REF)

    assert (caught.value.status, caught.value.reason) == (0, "Unreachable")
    assert "http://127.0.0.1:1" in caught.value.message
    assert "context `dev`" in caught.value.hint


async def test_qps_spreads_requests(server: Faults) -> None:
    """The flag sets a limit where somebody asks for one."""
    async with server.client(qps=0.5) as client:
        for _ in range(3):
            await client.get(REF)

    assert [1.5 < pause for pause in server.slept] == [True, True]


async def test_discovery_tells_what_is_served(server: Faults, client: Client) -> None:
    """Optional kinds are asked for before they are watched."""
    server.serve(HELM_RELEASE)

    assert await client.discover() == {"": ("v1",), HELM_RELEASE.group: ("v2",)}
    assert await client.served(HELM_RELEASE.group) == {"v2": frozenset({"helmreleases"})}
    assert await client.served("") == {"v1": frozenset({"secrets", "configmaps"})}
    assert await client.served("absent.example.org") == {}
    assert await client.version() == "v1.36.3"


async def test_the_raw_request_gives_bytes(client: Client, server: Faults) -> None:
    """Commands ask for what has no verb here."""
    content = await client.request("GET", "/api/v1/secrets", query={"limit": "1"})

    assert b"SecretList" in content
    assert server.requests[0].query == {"limit": "1"}


@pytest.mark.parametrize("name", ["..", "a/b", "a?x=1", "a%2fb", "a b"])
async def test_a_name_cannot_lead_out_of_its_path(
    server: Faults, client: Client, name: str
) -> None:
    """A name from a template or a flag must not reach another object."""
    with pytest.raises(ClusterError):
        await client.get(SECRET.ref("ns", name))

    assert server.requests == []


async def test_a_redirect_is_not_followed(server: Faults, client: Client) -> None:
    """A token and a Secret go to the server that was named, and to no other."""
    server.next("create", answer(b"", 307, {"Location": "/elsewhere"}))
    with pytest.raises(ClusterError) as caught:
        await client.create(SECRET, body())

    assert (caught.value.status, len(server.requests)) == (307, 1)


async def test_a_closed_client_says_so(server: Faults) -> None:
    """A request after the stop is an error of ours, not a new connection."""
    client = server.client()
    await client.close()
    with pytest.raises(ClusterError, match="closed"):
        await client.get(REF)


async def test_a_server_behind_a_path_is_reached(server: Faults) -> None:
    """Some clusters stand behind a gateway that serves many."""
    async with server.client(Config(server=f"{server.url}/k8s/clusters/c-1")) as client:
        with pytest.raises(ClusterError):
            await client.get(REF)

    assert server.requests[0].path == "/k8s/clusters/c-1/api/v1/namespaces/ns/secrets/a"


async def test_a_watch_follows_the_world(server: Faults, client: Client, secrets: Shelf) -> None:
    """The server's own stream, as the next layer's tests use it: compaction and broken ends."""
    thing = secrets.put("ns", "a")
    server.next("watch", stream(send("ADDED", thing), live()))
    seen = []

    async def follow() -> None:
        async with aclosing(client.watch(SECRETS, "101", timeout_seconds=300)) as events:
            async for event in events:
                seen.append(event.type)
                if event.type == "ADDED":
                    secrets.remove("ns", "a")
                else:
                    secrets.end_streams(drop=True)

    with pytest.raises(ClusterError):
        await follow()
    secrets.compact()
    with pytest.raises(ClusterError) as caught:
        await watched(client)

    assert seen == ["ADDED", "DELETED"]
    assert caught.value.status == 410
