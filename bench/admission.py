"""How long admission takes, against a webhook that always answers the same.

Both are asked directly, by the same client over kept TLS connections, 32 requests in flight; so
the API server's own work is in neither. The program runs with the rights that ship.
"""

import asyncio
import contextlib
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import aiohttp

from bench import reviews, worlds
from bench.attachments import account
from bench.rows import Row, told
from bench.server import IN_FLIGHT, bare, calm, cpu_seconds, free_port, running, until
from roadstead.deploy.rbac import HOME, LINEAGE
from roadstead.testbed.server import ControlPlane

REQUESTS, ROUNDS = 4_000, 5

program = partial(running, only="lineage")


@dataclass
class Asked:
    """What one webhook came to, a figure for each round. p50, p99: ms. cpu: ms of it a request."""

    rate: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def rows(self, name: str) -> list[Row]:
        """Its rows."""
        return [
            told(f"{name}, {IN_FLIGHT} in flight", median(self.rate), "a second"),
            told(f"{name}, p50", median(self.p50), "ms"),
            told(f"{name}, p99", median(self.p99), "ms"),
            told(f"{name}, CPU of the webhook", median(self.cpu), "ms a request"),
        ]


@dataclass
class Webhook:
    """One to ask. pid: of its process."""

    port: int
    pid: int
    session: aiohttp.ClientSession

    async def ask(self, body: bytes) -> bytes:
        """Send one review; anything but an answer that allows ends the bench."""
        url = f"https://127.0.0.1:{self.port}{reviews.PATH}?timeout=10s"
        headers = {"Content-Type": "application/json"}
        async with self.session.post(
            url, data=body, headers=headers, server_hostname=reviews.HOST
        ) as answer:
            said = await answer.read()
        if answer.status != 200 or b'"allowed":true' not in said.replace(b" ", b""):
            raise RuntimeError(f"{answer.status} {said[:300]!r}")
        return said

    async def answers(self, body: bytes) -> bool:
        """Tell whether it answers already."""
        with contextlib.suppress(aiohttp.ClientError, RuntimeError):
            return bool(await self.ask(body))
        return False

    async def round(self, body: bytes, into: Asked) -> None:
        """Ask so many times."""
        spans: list[float] = []
        left = iter(range(REQUESTS))

        async def worker() -> None:
            for _ in left:
                began = time.perf_counter()
                await self.ask(body)
                spans.append((time.perf_counter() - began) * 1e3)

        cpu, started = cpu_seconds(self.pid), time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        into.rate.append(REQUESTS / (time.perf_counter() - started))
        cuts = quantiles(spans, n=100)
        into.p50.append(cuts[49])
        into.p99.append(cuts[98])
        into.cpu.append((cpu_seconds(self.pid) - cpu) * 1e3 / REQUESTS)


@contextmanager
def constant(folder: Path, size: int) -> Iterator[tuple[int, int]]:
    """The floor; gives its port and its process."""
    port = free_port()
    line = [sys.executable, "-m", "bench.constant", str(port), str(folder), str(size)]
    process = subprocess.Popen(line)
    try:
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


async def measure(plane: ControlPlane) -> list[Row]:
    """The rows of this part."""
    kubeconfig = account(plane, LINEAGE)
    with tempfile.TemporaryDirectory(prefix="roadstead-bench-") as place:
        folder = Path(place)
        bundle = reviews.put_pair(folder)
        async with bare(plane) as client:
            await client.post_all(worlds.namespaces())
            await client.post_all([reviews.definition()])
            await client.post_all(worlds.releases(1))
            bodies = {"a Secret": reviews.a_secret(), "a Pod": await reviews.a_pod(client)}
        await calm(plane)
        port = free_port()
        flags = (f"--webhook-port={port}", f"--webhook-cert-dir={folder}")
        context = ssl.create_default_context(cadata=bundle.decode())
        connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=context)
        async with aiohttp.ClientSession(connector=connector) as session:
            with program(kubeconfig, *flags, f"--leader-election-namespace={HOME}") as ours:
                webhook = Webhook(port, ours.process.pid, session)
                return await _compared(webhook, bodies, folder, session)


async def _compared(
    webhook: Webhook, bodies: dict[str, bytes], folder: Path, session: aiohttp.ClientSession
) -> list[Row]:
    """Ours and the floor in turn, round by round, for each kind of review."""
    rows: list[Row] = []
    for name, body in bodies.items():
        await until(partial(webhook.answers, body))
        said = await webhook.ask(body)
        if "patch" not in json.loads(said)["response"]:
            raise RuntimeError(f"{name} was not labelled")
        with constant(folder, len(said)) as (port, pid):
            floor = Webhook(port, pid, session)
            await until(partial(floor.answers, body))
            ours, least = Asked(), Asked()
            for turn in range(ROUNDS + 1):
                for which, into in ((floor, least), (webhook, ours)):
                    await which.round(body, into if turn else Asked())
        about = f"admission of {name} of {len(body)} bytes"
        ratios = [mine / its for mine, its in zip(ours.p99, least.p99, strict=True)]
        rates = [its / mine for mine, its in zip(ours.rate, least.rate, strict=True)]
        rows += least.rows(f"a constant answer to {name} of {len(body)} bytes")
        rows += ours.rows(about)
        rows += [
            told(f"{about}, p99 in terms of a constant", median(ratios), "x floor", "the constant"),
            told(f"{about}, time in terms of a constant", median(rates), "x floor", "the constant"),
        ]
    return rows
