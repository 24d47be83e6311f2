"""How fast anchors appear, how quiet they stay, how soon a rotation arrives, what it all weighs."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median, quantiles

from bench import worlds
from bench.relay import Relay
from bench.rows import Row, at_most, told
from bench.server import Bare, Running, bare, calm, encoded, running, until
from roadstead.testbed.server import ControlPlane

RELEASES = 2_000
ROUNDS = 3
LEAST_FLOOR = 600.0
"""Creates a second; below it the machine is too busy for the ratio to say anything."""
ROTATIONS = 150
NOISE = 500
BULK, BULK_BYTES, BULK_NAMESPACES = 10_000, 50 * 1024, 100
FEW = 200
ANCHORS = "/api/v1/secrets?labelSelector=internal.cozystack.io%2Ftenant-ca%3Dtrue"


async def fill(client: Bare, count: int) -> None:
    """Tenants, an engine, releases and their sources."""
    await client.post_all(worlds.namespaces())
    await client.post_all([worlds.definition()])
    await client.post_all(worlds.sources(count))
    await client.post_all(worlds.releases(count))


async def convergence(plane: ControlPlane) -> list[Row]:
    """From the start of the process to the last anchor, against a bare client's creates."""
    ratios, seconds, rates, quiet, peaks, writes = [], [], [], [], [], []
    for _ in range(ROUNDS):
        plane.reset()
        async with bare(plane) as client:
            await fill(client, RELEASES)
            await calm(plane)
            floor = await client.post_all(worlds.plain_anchors(RELEASES))
            rates.append(RELEASES / floor)
            await calm(plane)
            started = time.perf_counter()
            with running(plane.kubeconfig) as program:
                await _published(program, client, RELEASES)
                taken = time.perf_counter() - started
                peaks.append(program.memory_mib("VmHWM"))
            ratios.append(taken / floor)
            seconds.append(taken)
            await calm(plane)
            spent, wrote = await _quiet_start(plane)
            quiet.append(spent)
            writes.append(wrote)
    rows = [
        told(f"creates of {RELEASES} Secrets by a bare client", median(rates), "a second"),
        told(f"{RELEASES} anchors from the start of the process", median(seconds), "s"),
    ]
    if median(rates) < LEAST_FLOOR:
        rows.append(Row("convergence", 0.0, "x floor", "invalid: the floor was too slow"))
    else:
        rows.append(at_most("convergence", ratios, "x floor", 2.5, "the bare client's creates"))
    rows += [
        at_most("writes of a quiet start over published anchors", writes, "writes", 0),
        told("quiet pass", median(quiet) * 1e3, "ms a release"),
        told("peak memory while converging", median(peaks), "MiB"),
    ]
    return rows


async def _published(program: Running, client: Bare, count: int) -> None:
    """Wait until so many anchors are on the server; the program's own count says when to look."""

    async def all_written() -> bool:
        return await program.metric("roadstead_tenant_ca_writes_total") >= count

    async def all_there() -> bool:
        return await client.count(ANCHORS) >= count

    await until(all_written, 0.1)
    await until(all_there)


async def _quiet_start(plane: ControlPlane) -> tuple[float, float]:
    """Seconds a release for a look at every anchor, and how many writes that made."""
    passes = "controller_runtime_reconcile_total"
    with running(plane.kubeconfig) as program:

        async def begun() -> bool:
            return await program.metric(passes) > 0

        async def all_seen() -> bool:
            return await program.metric(passes) >= RELEASES

        await until(begun, 0.01)
        before, started = await program.metric(passes), time.perf_counter()
        await until(all_seen)
        spent = (time.perf_counter() - started) / (RELEASES - before)
        wrote = await program.metric("roadstead_tenant_ca_writes_total")
    return spent, wrote


async def latency(plane: ControlPlane) -> list[Row]:
    """From the rotation of a source to the new anchor, at rest and beside unrelated changes."""
    plane.reset()
    rows = []
    async with bare(plane) as client:
        await fill(client, FEW)
        await client.post_all(worlds.namespaces("noise", 1))
        await client.post_all(worlds.bulk(50, 1024, "noise", 1))
        with running(plane.kubeconfig) as program:
            await _published(program, client, FEW)
            await calm(plane)
            for name, noise in (("idle", 0), (f"under {NOISE} unrelated changes a second", NOISE)):
                async with _noise(plane, noise):
                    spans = [await _rotate(client, number) for number in range(ROTATIONS)]
                cuts = quantiles(spans, n=100)
                rows.append(told(f"rotation to anchor, {name}, p50", cuts[49] * 1e3, "ms"))
                rows.append(told(f"rotation to anchor, {name}, p99", cuts[98] * 1e3, "ms"))
    return rows


async def _rotate(client: Bare, number: int) -> float:
    """Write another certificate into one source and wait for the anchor."""
    release, where = number % FEW, worlds.namespace(number % FEW)
    old = await _anchor(client, release, where)
    new = encoded(worlds.SECOND if old == encoded(worlds.FIRST) else worlds.FIRST)
    patch = json.dumps({"data": {"ca.crt": new}}).encode()
    path = worlds.CORE.format(where) + f"/postgres-{release}-ca"
    started = time.perf_counter()
    await client.send("PATCH", path, patch, "application/merge-patch+json")
    while await _anchor(client, release, where) != new:
        await asyncio.sleep(0.001)
    return time.perf_counter() - started


async def _anchor(client: Bare, release: int, where: str) -> str:
    path = worlds.CORE.format(where) + f"/postgres-{release}.tenant-ca"
    value: str = json.loads(await client.send("GET", path, b""))["data"]["ca.crt"]
    return value


@asynccontextmanager
async def _noise(plane: ControlPlane, rate: int) -> AsyncIterator[None]:
    """Unrelated changes from a process of their own."""
    if not rate:
        yield
        return
    command = [sys.executable, "-m", "bench.noise", str(plane.kubeconfig), str(rate)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        await asyncio.sleep(1)
        yield
    finally:
        process.kill()
        process.wait()


async def foreign(plane: ControlPlane) -> list[Row]:
    """What 10,000 Secrets of others weigh in our memory and on our wire."""
    growths, bytes_each = [], []
    for _ in range(ROUNDS):
        plane.reset()
        async with bare(plane) as client:
            await fill(client, FEW)
            small, _ = await _settled(plane, client)
            await client.post_all(worlds.namespaces("bulk", BULK_NAMESPACES))
            await client.post_all(worlds.bulk(BULK, BULK_BYTES, "bulk", BULK_NAMESPACES))
            large, received = await _settled(plane, client)
            growths.append(large - small)
            bytes_each.append(received / BULK)
    return [
        at_most(f"memory for {BULK} unrelated Secrets of 50 KiB", growths, "MiB", 50),
        at_most("bytes received for each of them", bytes_each, "bytes", 4096),
    ]


async def _settled(plane: ControlPlane, client: Bare) -> tuple[float, int]:
    """Resident memory and received bytes of a process that has seen everything once."""
    async with Relay(plane.kubeconfig) as relay:
        with running(relay.kubeconfig) as program:

            async def all_seen() -> bool:
                seen = await program.metric("controller_runtime_reconcile_total")
                return seen >= FEW and await client.count(ANCHORS) >= FEW

            await until(all_seen)
            await asyncio.sleep(2)
            return program.memory_mib(), relay.received
