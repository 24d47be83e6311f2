"""Twenty thousand objects listed, watched and judged from memory, on the real server.

The measured process is a child: `python -m bench.watches KUBECONFIG` prints one JSON line.
"""

import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

from bench import worlds
from bench.rows import Row, at_most
from bench.server import bare
from roadstead.decision import Cached, Decision, Outcome, Reader
from roadstead.engine.engine import Engine
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, Ref
from roadstead.kube.views import Form, View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.events import LiveApi
from roadstead.runtime.feed import Feeds, freeze
from roadstead.runtime.kubeconfig import load
from roadstead.runtime.loop import Loop
from roadstead.runtime.metrics import Metrics
from roadstead.settings import Settings
from roadstead.testbed.server import ControlPlane
from roadstead.wiring import Controller, Watch

OBJECTS = 20_000
ROUNDS = 3
VIEW = View("watched", CONFIG_MAP, Form.METADATA, labels="bench.example/label-0")


def itself(seen: Object, _cached: Cached) -> Iterator[Ref]:
    """An object wakes itself."""
    yield seen.ref


async def observe(reader: Reader, key: Ref) -> Object | None:
    """Look at the stored object."""
    return reader.get(VIEW, key.namespace, key.name)


def decide(_seen: Object) -> Decision:
    """Want nothing."""
    return Decision(state="Seen")


def report(_seen: Object, decision: Decision, _outcomes: tuple[Outcome, ...]) -> Decision:
    """Nothing was written."""
    return decision


JUDGE = Controller("judge", "bench", (Watch(VIEW, itself),), observe, decide, report)


class Broken(Client):
    """A client whose next watch answers 410 when told so, which makes the view list again."""

    expire = False

    async def watch(self, *args: Any, **more: Any) -> AsyncGenerator[Any]:
        """Break a running stream as soon as `expire` is set."""
        async for event in super().watch(*args, **more):
            if self.expire:
                self.expire = False
                raise ClusterError("too old", status=410, reason="Expired")
            yield event


class Lag:
    """The longest time the loop went without a turn."""

    def __init__(self) -> None:
        """Measure from now on."""
        self.longest = 0.0

    async def measure(self) -> None:
        """Ask for a turn every millisecond."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.perf_counter() - before - 0.001)

    def take(self) -> float:
        """The longest since last asked, in milliseconds."""
        longest, self.longest = self.longest, 0.0
        return longest * 1e3


def memory_kib(field: str = "VmRSS") -> float:
    """Resident memory of this process."""
    status = Path("/proc/self/status").read_text()
    return float(next(line.split()[1] for line in status.splitlines() if line.startswith(field)))


class _Silent:
    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_more: None


async def child(kubeconfig: str) -> dict[str, float]:
    """List, judge, measure, list again."""
    clock = LiveClock()
    engine = Engine((JUDGE,), Settings(), clock)
    listed = asyncio.Event()
    lists: list[float] = []
    bell = asyncio.Event()

    def settle() -> None:
        lists.append(time.perf_counter())
        freeze()
        listed.set()

    async with Broken(Credentials(load(kubeconfig, "", {}))) as client:
        feeds = Feeds(
            engine, client, clock, _Silent(), ring=bell.set, jitter=random.random, settle=settle
        )
        gc.collect()
        before, lag = memory_kib(), Lag()
        tasks = [asyncio.create_task(feeds.run()), asyncio.create_task(lag.measure())]
        await listed.wait()
        first = lists[0]
        lag.take()
        await _judge_all(engine, client, clock)
        judged = time.perf_counter() - first
        block = lag.take()
        each = (memory_kib() - before) / OBJECTS
        steady, collecting = memory_kib(), time.perf_counter()
        gc.collect()
        collection = time.perf_counter() - collecting
        lag.take()
        listed.clear()
        client.expire = True
        await _touch(client)
        await listed.wait()
        await asyncio.sleep(0.2)
        answer = {
            "judged": judged,
            "block": block,
            "each": each,
            "collection": collection * 1e3,
            "relist_block": lag.take(),
            "relist_peak": memory_kib("VmHWM") / steady,
        }
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return answer


async def _judge_all(engine: Engine, client: Client, clock: LiveClock) -> None:
    """Let the loop of `run`, metrics and all, work every key that waits."""
    metrics = Metrics(engine, clock, {JUDGE.name: JUDGE.workers})
    api = LiveApi(client, clock, "bench")
    loop = Loop(engine, JUDGE.name, api, metrics, log=_Silent(), clock=clock, workers=JUDGE.workers)
    running = asyncio.create_task(loop.run())
    queue = engine.desks[JUDGE.name].queue
    while len(queue) or queue.running():
        await asyncio.sleep(0.01)
    loop.stop()
    await running


async def _touch(client: Client) -> None:
    """Change one object, so that the stream delivers something."""
    ref = CONFIG_MAP.ref(worlds.namespace(0), "watched-0")
    await client.patch(ref, {"metadata": {"annotations": {"touched": str(time.time_ns())}}})


async def measure(plane: ControlPlane) -> list[Row]:
    """The rows of this part."""
    plane.reset()
    async with bare(plane) as client:
        await client.post_all(worlds.namespaces())
        await client.post_all(worlds.config_maps(OBJECTS))
    answers = []
    for _ in range(ROUNDS):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.watches", str(plane.kubeconfig),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
        answers.append(json.loads(out))

    def values(name: str) -> list[float]:
        return [answer[name] for answer in answers]

    return [
        at_most(f"{OBJECTS} objects judged after the last byte", values("judged"), "s", 2.0),
        at_most("memory of a metadata view", values("each"), "KiB an object", 3.0),
        at_most("longest block of the loop after sync", values("block"), "ms", 50.0),
        at_most("full collection after sync", values("collection"), "ms", 20.0),
        at_most("longest block of the loop during a relist", values("relist_block"), "ms", 50.0),
        at_most("peak of a relist", values("relist_peak"), "x steady memory", 1.6),
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(child(sys.argv[1]))) + "\n")
