"""How fast attachments get their address, how soon they follow, and how little each change costs.

The substrate is the stand-in of `bench.neighbour`, a process of its own; the program runs with the
rights that ship, by the token of its account.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles

from bench import tenants, worlds
from bench.rows import Row, at_most, told
from bench.server import Bare, Running, bare, calm, cpu_seconds, running, until
from bench.watcher import LONGEST, watching
from roadstead.capabilities.attachments import api
from roadstead.deploy.rbac import ATTACHMENTS, HOME, Account, rbac
from roadstead.kube.refs import SERVICE
from roadstead.testbed.server import ControlPlane

COUNT, FEW = 2_000, 200
STRANGERS_EACH = 10
"""Services that nobody attaches, for each attachment."""
ROUNDS = 3
CHANGES = 100
PASSES = "controller_runtime_reconcile_total"
REQUESTS = "rest_client_requests_total"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
LEAST_FLOOR = 100.0
"""Writes a second; below it the machine is too busy for a ratio to say anything."""
LOOK = 0.5
"""Seconds between two looks at the program's metrics: each costs it some milliseconds."""

program = partial(running, only="attachments")


@contextmanager
def substrate(plane: ControlPlane) -> Iterator[int]:
    """The stand-in, once it sees everything; gives its process."""
    command = [sys.executable, "-m", "bench.neighbour", str(plane.kubeconfig)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("the stand-in did not start")
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def account(plane: ControlPlane, whose: Account = ATTACHMENTS) -> Path:
    """The kubeconfig of one of the program's own accounts, with the rights that ship."""
    documents = {"apiVersion": "v1", "kind": "List", "items": list(rbac(accounts=[whose]))}
    done = plane.kubectl("apply", "-f", "-", input=json.dumps(documents))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return plane.login(whose.name, HOME)


async def fill(client: Bare, count: int, *, endpoints: bool = True) -> None:
    """Namespaces, applications, classes, endpoints, and attachments nobody has looked at."""
    await client.post_all(worlds.namespaces("tenant", tenants.PLACES))
    await client.post_all(tenants.applications())
    await client.post_all(tenants.endpoints(count) if endpoints else ())
    await client.post_all(tenants.attachments(count))


def port_of(body: tenants.Json) -> tuple[str, int]:
    """Of a rendered Service: whose it is, and the port it shows."""
    owner = body["metadata"]["ownerReferences"][0]["name"]
    return owner, body["spec"]["ports"][0]["port"]


seeing = partial(watching, path=f"{SERVICE.path()}?{tenants.RENDERED}", told=port_of)
"""A watcher of the rendered Services."""


async def attached(running_one: Running, client: Bare, count: int) -> None:
    """Wait until so many are Provisioned; the program's own count says when to look."""

    async def judged() -> bool:
        name, labels = "roadstead_findings", {"rule": "every-port-found", "verdict": "pass"}
        return await running_one.metric(name, **labels) >= count

    async def there() -> bool:
        url = f"{client.server}{api.ATTACHMENT.path()}"
        async with client.session.get(url) as answer:
            return tenants.provisioned((await answer.json())["items"]) >= count

    await until(judged, LOOK, LONGEST)
    await until(there, LOOK)


async def requests_of(running_one: Running) -> Counter[str]:
    """How many requests the program has sent, by method."""
    counted = {name: await running_one.metric(REQUESTS, method=name) for name in ("GET", *WRITES)}
    return Counter({name: int(count) for name, count in counted.items()})


async def written(client: Bare, count: int) -> float:
    """Seconds a bare client takes for the writes of so many attachments."""
    prepared = tenants.floors(count)
    started = time.perf_counter()
    await asyncio.gather(*(one.send(client) for one in prepared))
    return time.perf_counter() - started


async def put_all(client: Bare, count: int, port: int) -> float:
    """Give every endpoint another port; gives the seconds that took."""
    bodies = [(tenants.endpoint_path(n), tenants.endpoint(n, port)) for n in range(count)]
    started = time.perf_counter()
    await asyncio.gather(*(client.send("PUT", path, body) for path, body in bodies))
    return time.perf_counter() - started


async def measure(plane: ControlPlane) -> list[Row]:
    """The rows of this part, from one world that is filled once for each floor."""
    kubeconfig = account(plane)
    plane.baseline()
    async with bare(plane) as client:
        await fill(client, COUNT, endpoints=False)
        await calm(plane)
        floor = await written(client, COUNT)
        plane.reset()
        await fill(client, COUNT)
        await calm(plane)
        puts = [await put_all(client, COUNT, tenants.FIRST_PORT + 1 + n) for n in range(ROUNDS)]
        await calm(plane)
        with substrate(plane) as neighbour:
            rows = await _cold(plane, client, kubeconfig, neighbour, floor)
            rows += await _moved(plane, client, kubeconfig, puts)
            rows += await _quiet(plane, kubeconfig)
            most = await _single(plane, client, kubeconfig, COUNT)
        plane.reset()
        await fill(client, FEW)
        with substrate(plane):
            least = await _single(plane, client, kubeconfig, FEW)
    return [*rows, *least[:1], *most]


async def _cold(
    plane: ControlPlane, client: Bare, kubeconfig: Path, neighbour: int, floor: float
) -> list[Row]:
    """From the start of the process to the last address, against the same writes by anybody."""
    before = cpu_seconds(plane.pid), cpu_seconds(neighbour)
    started = time.perf_counter()
    with program(kubeconfig) as running_one:
        await attached(running_one, client, COUNT)
        taken = time.perf_counter() - started
        await calm(plane)
        sent = await requests_of(running_one)
        passes = await running_one.metric(PASSES)
        spent = {
            "the server": cpu_seconds(plane.pid) - before[0],
            "the program": cpu_seconds(running_one.process.pid),
            "the stand-in": cpu_seconds(neighbour) - before[1],
        }
        peak = running_one.memory_mib("VmHWM")
    rate = tenants.FLOOR_WRITES * COUNT / floor
    each = "an attachment"
    rows = [
        told(
            f"{tenants.FLOOR_WRITES} writes for each of {COUNT} attachments by a bare client",
            rate,
            "a second",
        ),
        told(f"{COUNT} attachments provisioned from the start of the process", taken, "s"),
    ]
    if rate < LEAST_FLOOR:
        rows.append(Row("attaching", 0.0, "x floor", "invalid: the floor was too slow"))
    else:
        rows.append(
            at_most("attaching", [taken / floor], "x floor", 3.0, "the bare client's writes")
        )
    rows += [
        told(f"attaching, CPU of {who}", cpu * 1e3 / COUNT, f"ms {each}")
        for who, cpu in spent.items()
    ]
    rows += [
        told("attaching, reads", sent["GET"] / COUNT, f"requests {each}"),
        told(
            "attaching, writes with Events",
            sum(sent[one] for one in WRITES) / COUNT,
            f"requests {each}",
        ),
        told("attaching, passes", passes / COUNT, f"passes {each}"),
        told("attaching, peak memory", peak, "MiB"),
    ]
    return rows


async def _moved(
    plane: ControlPlane, client: Bare, kubeconfig: Path, puts: list[float]
) -> list[Row]:
    """All endpoints change at once: from the first PUT to the last Service that follows."""
    names = [tenants.attachment_ref(number).name for number in range(COUNT)]
    seconds = []
    with program(kubeconfig) as running_one:
        await attached(running_one, client, COUNT)
        async with seeing(plane) as watcher:
            for port in range(6001, 6001 + ROUNDS):
                await calm(plane)
                started = time.perf_counter()
                await put_all(client, COUNT, port)
                seconds.append(await watcher.until(names, port) - started)
    ratios = [taken / floor for taken, floor in zip(seconds, puts, strict=True)]
    return [
        at_most(
            f"{COUNT} endpoints change at once, until every Service follows",
            ratios,
            "x floor",
            3.0,
            f"a bare client's PUTs of {COUNT} Services",
        ),
        told(f"{COUNT} endpoints change at once, in seconds", sorted(seconds)[ROUNDS // 2], "s"),
    ]


async def _quiet(plane: ControlPlane, kubeconfig: Path) -> list[Row]:
    """A new process over attachments that are as they should be."""
    sent, spans = [], []
    for _ in range(ROUNDS):
        await calm(plane)
        started = time.perf_counter()
        with program(kubeconfig) as running_one:

            async def looked(one: Running = running_one) -> bool:
                return await one.metric(PASSES) >= COUNT

            await until(looked)
            spans.append(time.perf_counter() - started)
            await calm(plane)
            sent.append(await requests_of(running_one))
    writes = [sum(one[name] for name in WRITES) for one in sent]
    reads = [one["GET"] for one in sent]
    return [
        at_most(f"writes of a quiet start over {COUNT} attachments", writes, "writes", 0),
        at_most(f"requests of a quiet start over {COUNT} attachments", reads, "requests", 20),
        told(
            f"quiet start over {COUNT} attachments, process included",
            sorted(spans)[ROUNDS // 2],
            "s",
        ),
    ]


async def _single(plane: ControlPlane, client: Bare, kubeconfig: Path, count: int) -> list[Row]:
    """One endpoint changes at a time, among Services that nobody attaches."""
    strangers = count * STRANGERS_EACH
    await client.post_all(tenants.strangers(strangers))
    spans = []
    with program(kubeconfig) as running_one:
        await attached(running_one, client, count)
        await calm(plane)
        async with seeing(plane) as watcher:
            before = await running_one.metric(PASSES)
            for turn in range(CHANGES):
                number, port = turn * count // CHANGES, 7001 + turn
                await client.send(
                    "PUT", tenants.endpoint_path(number), tenants.endpoint(number, port)
                )
                answered = time.perf_counter()
                name = tenants.attachment_ref(number).name
                spans.append(await watcher.until([name], port) - answered)
            await calm(plane)
            passes = (await running_one.metric(PASSES) - before) / CHANGES
    cuts = quantiles(spans, n=100)
    among = f"among {strangers} Services and {count} attachments"
    return [
        at_most(f"passes for one endpoint change {among}", [passes], "passes", 3),
        told(f"one endpoint change to its Service {among}, p50", cuts[49] * 1e3, "ms"),
        told(f"one endpoint change to its Service {among}, p99", cuts[98] * 1e3, "ms"),
    ]
