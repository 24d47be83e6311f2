"""A view that lists everything again and again, for as long as a process lives."""

import asyncio
import gc
import re
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

from live_cluster import Cluster
from parts import Lines
from roadstead.decision import Cached, Decision, Outcome, Reader
from roadstead.engine.engine import Engine
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, Ref
from roadstead.kube.views import Form, View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.feed import Feeds, freeze
from roadstead.runtime.kubeconfig import load
from roadstead.settings import Settings
from roadstead.wiring import Controller, Watch

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

OBJECTS, WARM, RELISTS = 1_000, 20, 100
MOST_GROWTH = 1.05
"""Of resident memory from the twentieth list to the hundredth: a leak of one list would be 1.5."""
VIEW = View("relisted", CONFIG_MAP, Form.METADATA, labels="of=relists")


def itself(seen: Object, _cached: Cached) -> Iterator[Ref]:
    """An object wakes itself."""
    yield seen.ref


async def observe(reader: Reader, key: Ref) -> Object | None:
    """Look at what is stored."""
    return reader.get(VIEW, key.namespace, key.name)


def decide(_seen: Object) -> Decision:
    """Want nothing."""
    return Decision(state="Seen")


def report(_seen: Object, decision: Decision, _outcomes: tuple[Outcome, ...]) -> Decision:
    """Nothing was written."""
    return decision


LOOK = Controller("look", "test", (Watch(VIEW, itself),), observe, decide, report)


async def refused(status: int, events: tuple[Any, ...] = ()) -> AsyncGenerator[Any]:
    """A stream that ends with an error after some events."""
    for event in events:
        yield event
    raise ClusterError("refused", status=status, reason="Refused")


class Expiring(Client):
    """A client whose every watch is told that its version is too old; lists come in pages."""

    def watch(self, *_: Any, send_initial_events: bool = False, **__: Any) -> AsyncGenerator[Any]:
        """Answer at once."""
        return refused(422 if send_initial_events else 410)


def resident() -> int:
    """KiB of this process."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


async def at_once(_seconds: float, _woken: asyncio.Event) -> None:
    """Spend a pause as a short one."""
    await asyncio.sleep(0.01)


async def test_memory_is_flat_over_a_hundred_relists(server: Cluster) -> None:
    """A process that leaks a list each time its version expires dies within weeks."""
    for number in range(OBJECTS):
        meta = {"name": f"m-{number}", "namespace": "default", "labels": {"of": "relists"}}
        server.admin.made(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    clock, lists, sizes = LiveClock(), 0, {}
    engine = Engine((LOOK,), Settings(), clock)
    done = asyncio.Event()

    def settled() -> None:
        nonlocal lists
        freeze()
        lists += 1
        if lists in {WARM, RELISTS}:
            gc.collect()
            sizes[lists] = resident()
        if lists == RELISTS:
            done.set()

    async with Expiring(Credentials(load(str(server.kubeconfig), "", {}), environ={})) as client:
        feeds = Feeds(
            engine, client, clock, Lines("error").log, ring=lambda: None, jitter=lambda: 0.0,
            settle=settled, rest=at_once,
        )  # fmt: skip
        running = asyncio.create_task(feeds.run())
        await done.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert sizes[RELISTS] <= sizes[WARM] * MOST_GROWTH, sizes
    assert OBJECTS == len(engine.stores[VIEW])
