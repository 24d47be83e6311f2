"""How fast tenant gateways come to rest, and that a change costs the same among any number.

No class controller runs: a Gateway is made, its listeners are told of as `Pending`, and that is
rest. The program runs with the rights that ship, by the token of its account.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from bench import gateway_tenants as tenants
from bench.attachments import LEAST_FLOOR, LOOK, PASSES, WRITES, account, requests_of
from bench.rows import Row, at_most, told
from bench.server import Bare, Running, bare, calm, cpu_seconds, running, until
from bench.watcher import LONGEST, watching
from roadstead.capabilities.gateways import api
from roadstead.kube.refs import NAMESPACE
from roadstead.testbed.server import ControlPlane

MANY, COUNTS = 500, (10, 100, 500)
EACH, MORE = 10, 40
"""Routes of a tenant; and so many for the memory of 20,000."""
CHANGES = 40
FULL = 59
"""Hostnames of a tenant with 60 of the 64 listeners."""
ROUNDS = 3

program = partial(running, only="gateways")


@dataclass(frozen=True)
class Cost:
    """What one changed route costs. p50, p99: in ms, from the answer to its PUT to our entry."""

    requests: float
    passes: float
    p50: float
    p99: float


async def fill(client: Bare, count: int) -> None:
    """Tenants nobody has looked at."""
    await client.post_all(tenants.the_class())
    await client.post_all(tenants.namespaces(count))
    await client.post_all(tenants.gateways(count))
    await client.post_all(tenants.routes(count, 0, EACH))


async def at_rest(program_: Running, routes: int) -> None:
    """Wait until so many routes are judged, by the program's own count, and nothing is written."""

    async def judged() -> bool:
        name, verdict = "roadstead_hostname_claims", "Accepted"
        return await program_.metric(name, verdict=verdict) >= routes

    await until(judged, LOOK, LONGEST)
    before: Counter[str] = Counter()
    while (now := await requests_of(program_)) != before:
        before = now
        await asyncio.sleep(2)


async def measure(plane: ControlPlane) -> list[Row]:
    """The rows of this part."""
    kubeconfig = account(plane)
    plane.baseline()
    async with bare(plane) as client:
        await fill(client, MANY)
        await calm(plane)
        floor, writes = await _written(client)
        plane.reset()
        await fill(client, MANY)
        await calm(plane)
        rows = await _cold(plane, client, kubeconfig, floor, writes)
        rows += await _weight(plane, client, kubeconfig)
        costs = {}
        for count in COUNTS:
            plane.reset()
            await fill(client, count)
            costs[count] = await _changed(plane, client, kubeconfig, count)
        rows += _compared(costs)
        rows += await _full(plane, client, kubeconfig)
    return rows


async def _written(client: Bare) -> tuple[float, int]:
    """Seconds a bare client takes for the writes of all tenants, and how many those are."""
    prepared = await tenants.floors(client, MANY, EACH)
    started = time.perf_counter()
    await asyncio.gather(*(one.send(client) for one in prepared))
    return time.perf_counter() - started, sum(one.writes for one in prepared)


async def _cold(
    plane: ControlPlane, client: Bare, kubeconfig: Path, floor: float, writes: int
) -> list[Row]:
    """From the start of the process to the last status, against the same writes by anybody."""
    names = [tenants.asked(number).key for number in range(MANY)]
    before = cpu_seconds(plane.pid)
    path = api.TENANT_GATEWAY.path()
    async with watching(plane, path, tenants.listeners_told) as watcher:
        started = time.perf_counter()
        with program(kubeconfig) as program_:
            taken = await watcher.until(names, EACH + 1) - started
            await calm(plane)
            sent = await requests_of(program_)
            passes = await program_.metric(PASSES)
            spent = cpu_seconds(plane.pid) - before, cpu_seconds(program_.process.pid)
            peak = program_.memory_mib("VmHWM")
    left = await _unjudged(client)
    if left:
        raise RuntimeError(f"{left} routes have no entry")
    about = f"{MANY} tenants with {EACH} routes each"
    rows = [
        told(f"{writes} writes of {about} by a bare client", writes / floor, "a second"),
        told(f"{about}, from the start of the process to rest", taken, "s"),
    ]
    if writes / floor < LEAST_FLOOR:
        rows.append(Row("gateways", 0.0, "x floor", "invalid: the floor was too slow"))
    else:
        rows.append(at_most("gateways", [taken / floor], "x floor", 3.0, "the bare writes"))
    return [
        *rows,
        told("gateways, CPU of the server", spent[0] * 1e3 / MANY, "ms a tenant"),
        told("gateways, CPU of the program", spent[1] * 1e3 / MANY, "ms a tenant"),
        told("gateways, reads", sent["GET"] / MANY, "requests a tenant"),
        told(
            f"gateways, writes, of which the floor has {writes / MANY:g}",
            sum(sent[one] for one in WRITES) / MANY,
            "requests a tenant",
        ),
        told("gateways, passes", passes / MANY, "passes a tenant"),
        told("gateways, peak memory", peak, "MiB"),
    ]


async def _unjudged(client: Bare) -> int:
    """How many routes of tenants lack our entry, by the server's word; the redirects have none."""
    found = await tenants.stored(client, api.HTTP_ROUTE)
    ours = (one for one in found.values() if one["metadata"]["name"].startswith("app-"))
    return sum(not tenants.judged(one)[1] for one in ours)


async def _weight(plane: ControlPlane, client: Bare, kubeconfig: Path) -> list[Row]:
    """What a quiet start sends, and what the routes weigh: few of them, then 20,000."""
    sent, small = await _quiet(plane, kubeconfig, MANY * EACH)
    await client.post_all(tenants.routes(MANY, EACH, MORE))
    with program(kubeconfig) as program_:
        await at_rest(program_, MANY * MORE)
    _, large = await _quiet(plane, kubeconfig, MANY * MORE)
    growth = (large - small) * 1024 / (MANY * (MORE - EACH))
    writes = [sum(one[name] for name in WRITES) for one in sent]
    about = f"{MANY} gateways"
    return [
        at_most(f"writes of a quiet start over {about}", writes, "writes", 0),
        at_most(
            f"requests of a quiet start over {about}", [one["GET"] for one in sent], "requests", 25
        ),
        told(f"memory with {MANY * EACH} routes, all judged", small, "MiB"),
        told(f"memory with {MANY * MORE} routes, all judged", large, "MiB"),
        at_most("memory for each further route", [growth], "KiB", 16),
    ]


async def _quiet(
    plane: ControlPlane, kubeconfig: Path, routes: int
) -> tuple[list[Counter[str]], float]:
    """What new processes send over what is at rest, and the resident memory of the last."""
    sent, weight = [], 0.0
    for _ in range(ROUNDS):
        await calm(plane)
        with program(kubeconfig) as program_:
            await at_rest(program_, routes)
            sent.append(await requests_of(program_))
            weight = program_.memory_mib()
    return sent, weight


@asynccontextmanager
async def _resting(plane: ControlPlane, kubeconfig: Path, routes: int) -> AsyncIterator[Running]:
    with program(kubeconfig) as program_:
        await at_rest(program_, routes)
        await calm(plane)
        yield program_


async def _changed(plane: ControlPlane, client: Bare, kubeconfig: Path, count: int) -> Cost:
    """One route at a time gets another hostname: a listener and a Certificate go, others come."""
    async with _resting(plane, kubeconfig, count * EACH) as program_:
        return await _one_by_one(plane, client, program_, count)


async def _one_by_one(
    plane: ControlPlane, client: Bare, program_: Running, count: int, only: int | None = None
) -> Cost:
    """Change routes one at a time, of all tenants in turn or of one."""
    spans = []
    async with watching(plane, api.HTTP_ROUTE.path(), tenants.judged) as watcher:
        before, passes = await requests_of(program_), await program_.metric(PASSES)
        for turn in range(CHANGES):
            tenant = turn * count // CHANGES if only is None else only
            ref = tenants.route_ref(tenant, turn % EACH)
            stored = json.loads(
                await client.send("GET", ref.kind.path(ref.namespace, ref.name), b"")
            )
            stored["spec"]["hostnames"] = [f"turn-{turn}.{tenants.apex(tenant)}"]
            path = ref.kind.path(ref.namespace, ref.name)
            made = json.loads(await client.send("PUT", path, json.dumps(stored).encode()))
            answered = time.perf_counter()
            seen = await watcher.until([ref.key], made["metadata"]["generation"])
            spans.append((seen - answered) * 1e3)
            await asyncio.sleep(0.2)
        await calm(plane)
        sent = await requests_of(program_) - before
        passes = await program_.metric(PASSES) - passes
    cuts = quantiles(spans, n=100)
    return Cost(sum(sent.values()) / CHANGES, passes / CHANGES, cuts[49], cuts[98])


def _compared(costs: dict[int, Cost]) -> list[Row]:
    """The cost among each number of tenants, and that it does not grow."""
    rows = []
    for count, cost in costs.items():
        about = f"one route changed among {count} tenants"
        rows += [
            told(f"{about}, requests", cost.requests, "requests"),
            told(f"{about}, passes", cost.passes, "passes"),
            told(f"{about}, p50 to its entry", cost.p50, "ms"),
            told(f"{about}, p99 to its entry", cost.p99, "ms"),
        ]
    least, most = costs[COUNTS[0]], costs[COUNTS[-1]]
    about = f"one route changed among {COUNTS[-1]} tenants"
    floor = f"among {COUNTS[0]}"
    return [
        *rows,
        at_most(f"{about}, requests in terms of few", [most.requests / least.requests], "x", 1.05,
                floor),
        at_most(f"{about}, p50 in terms of few", [most.p50 / least.p50], "x", 1.5, floor),
    ]  # fmt: skip


async def _full(plane: ControlPlane, client: Bare, kubeconfig: Path) -> list[Row]:
    """A tenant with 60 listeners of 64: from nothing to rest, and one route changed."""
    plane.reset()
    await fill(client, COUNTS[0])
    full = COUNTS[0]
    async with _resting(plane, kubeconfig, COUNTS[0] * EACH) as program_:
        path = api.TENANT_GATEWAY.path()
        await client.post_all([tenants.posted(tenants.a_namespace(full), NAMESPACE)])
        claims = [
            tenants.a_route(full, number, tenants.hostname(full, number)) for number in range(FULL)
        ]
        await client.post_all(tenants.posted(one, api.HTTP_ROUTE) for one in claims)
        async with watching(plane, path, tenants.listeners_told) as watcher:
            started = time.perf_counter()
            await client.post_all([tenants.posted(tenants.a_gateway(full), api.TENANT_GATEWAY)])
            taken = await watcher.until([tenants.asked(full).key], FULL + 1) - started
        await calm(plane)
        cost = await _one_by_one(plane, client, program_, full + 1, only=full)
    floor = await _put_gateway(client, full)
    about = f"a tenant at {FULL + 1} listeners of {api.MOST_LISTENERS}"
    return [
        told(f"{about}, from its creation to rest", taken, "s"),
        told(f"{about}, one route changed, requests", cost.requests, "requests"),
        told(f"{about}, one route changed, passes", cost.passes, "passes"),
        told(f"{about}, one PUT of its Gateway by a bare client, p50", floor, "ms"),
        told(f"{about}, one route changed, p50 to its entry", cost.p50, "ms"),
        told(f"{about}, one route changed, p99 to its entry", cost.p99, "ms"),
        at_most(f"{about}, p50 in terms of that PUT", [cost.p50 / floor], "x", 2.0, "that PUT"),
    ]


async def _put_gateway(client: Bare, tenant: int) -> float:
    """What the server alone takes for another hostname of one listener, in ms, while we are gone.

    The rules of Gateway API compare every listener with every other.
    """
    path = api.GATEWAY.path(tenants.place(tenant), tenants.GATEWAY)
    spans = []
    for turn in range(CHANGES // 2):
        stored = json.loads(await client.send("GET", path, b""))
        stored["spec"]["listeners"][-1]["hostname"] = f"floor-{turn}.{tenants.apex(tenant)}"
        body = json.dumps(stored).encode()
        started = time.perf_counter()
        await client.send("PUT", path, body)
        spans.append((time.perf_counter() - started) * 1e3)
        await asyncio.sleep(0.2)
    return median(spans)
