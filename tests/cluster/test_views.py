"""Lists and watches on the real server: their two ways, their form on the wire, their cost.

Source: trust-anchors 9, memory and secrecy rules, and A-44.
"""

from contextlib import aclosing

import pytest

from live_cluster import Cluster
from live_run import grant, running, server_context, through
from live_scene import ANCHOR, NS, SOURCE, data, define, published, release, secret, source
from live_tap import Asked, Tap
from roadstead.kube.refs import CONFIG_MAP, SECRET
from roadstead.kube.views import Form, View
from roadstead.runtime.client import Client
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.kubeconfig import load
from roadstead.runtime.wire import WatchEvent

pytestmark = pytest.mark.cluster

PAGE = 7
MAPS = 3 * PAGE + 2
CANARY = b"never-on-the-wire"
LOAD, LOAD_BYTES = 300, 50 << 10
MOST_GROWTH = 12 << 20
"""Of resident memory, beside 15 MiB of foreign data; noise of the interpreter included."""
MOST_PER_OBJECT = 3 << 10

Names = dict[tuple[str, str], str]


def names(events: list[WatchEvent]) -> Names:
    """Versions by name."""
    seen = [event.object for event in events if event.object is not None]
    return {(o.meta.namespace, o.meta.name): o.meta.resource_version for o in seen}


@pytest.mark.parametrize("form", Form)
async def test_pages_and_a_watch_list_bring_the_same(server: Cluster, form: Form) -> None:
    """Whichever way a view is filled, it holds what is there, at one version."""
    for number in range(MAPS):
        meta = {"name": f"map-{number:02}", "namespace": NS, "labels": {"of": "this"}}
        server.admin.made(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    view = View("maps", CONFIG_MAP, form, labels="of=this")
    config = load(str(server.kubeconfig), "", {})
    async with Client(Credentials(config, environ={})) as client:
        paged: list[WatchEvent] = []
        token, pages = "", 0
        while token or not pages:
            page = await client.page(view, limit=PAGE, continue_token=token)
            paged += [WatchEvent("ADDED", seen, "") for seen in page.objects]
            token, pages = page.continue_token, pages + 1
        watched: list[WatchEvent] = []
        stream = client.watch(view, "", timeout_seconds=30, send_initial_events=True)
        async with aclosing(stream) as events:
            async for event in events:
                watched.append(event)
                if event.initial_end:
                    break
    there = server.admin.metadata(CONFIG_MAP, labels="of=this")
    assert 4 == pages
    assert names(paged) == names(watched)
    assert names(paged) == {(m["namespace"], m["name"]): m["resourceVersion"] for m in there}


async def test_metadata_is_all_that_comes(server: Cluster) -> None:
    """No byte of a value, and no annotation, passes a metadata view of Secrets."""
    admin = server.admin
    ref = SECRET.ref(NS, "kept-to-itself")
    secret(admin, ref, data(password=CANARY))
    view = View("secrets", SECRET, Form.METADATA)
    with Tap(admin.server, admin.context) as tap:
        config = load(str(through(server, server.kubeconfig, tap.address)), "", {})
        async with Client(Credentials(config, environ={})) as client:
            page = await client.page(view)
            admin.patched(ref, {"metadata": {"annotations": {"note": CANARY.decode()}}})
            admin.delete(ref)
            stream = client.watch(view, page.resource_version, timeout_seconds=30)
            types, notes = [], []
            async with aclosing(stream) as events:
                async for event in events:
                    types.append(event.type)
                    notes.append(dict(event.object.annotations) if event.object else {})
                    if event.type == "DELETED":
                        break
    whole = b"".join(bytes(asked.body) for asked in tap.asked)
    assert ["MODIFIED", "DELETED"] == types
    assert [{}, {}] == notes
    assert b'"data"' not in whole
    assert data(password=CANARY)["password"].encode() not in whole


def test_foreign_load_costs_next_to_nothing(server: Cluster) -> None:
    """A-44 in short: hundreds of foreign Secrets, listed and watched, are not kept."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    kubeconfig = grant(server)
    with Tap(admin.server, server_context(server)) as tap:
        path = through(server, kubeconfig, tap.address)
        with running(path) as run:
            run.wait_ready()
            published(admin)
            before = run.resident_bytes()
            for number in range(LOAD):
                value = data(blob=bytes([number % 256]) * LOAD_BYTES)
                secret(admin, SECRET.ref(f"foreign-{number % 3}", f"load-{number}"), value)
            release(admin, "tenant-bar")
            source(admin, SOURCE._replace(namespace="tenant-bar"))
            published(admin, ANCHOR._replace(namespace="tenant-bar"))
            watched = run.resident_bytes() - before
        with running(path) as run:
            run.wait_ready()
            release(admin, "tenant-baz")
            source(admin, SOURCE._replace(namespace="tenant-baz"))
            published(admin, ANCHOR._replace(namespace="tenant-baz"))
            listed = run.resident_bytes() - before
    many = [asked for asked in tap.asked if asked.of_many]
    assert (watched < MOST_GROWTH, listed < MOST_GROWTH) == (True, True), (watched, listed)
    assert sum(asked.size for asked in many) < 2 * LOAD * MOST_PER_OBJECT
    assert [] == [asked for asked in many if b'"data"' in asked.body]
    assert not _whole(tap.asked)


def _whole(every: list[Asked]) -> list[str]:
    """GETs of Secrets that are neither a source nor a target."""
    single = [asked.path.rpartition("/")[2] for asked in every if asked.of_one]
    return [name for name in single if name not in {SOURCE.name, ANCHOR.name}]
