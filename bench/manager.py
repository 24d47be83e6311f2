"""The whole manager, every controller in one process: how soon it is ready, and what it weighs.

A few tenants come to rest on the real server; then a process stands by without the lease, before
the server and before a crowd of what is there. Nothing is written, so that views and queues alone
are weighed.
"""

import asyncio
import json
import time
from functools import partial
from pathlib import Path
from statistics import median

import aiohttp

from bench import gateway_tenants, tenants, worlds
from bench.attachments import attached, substrate
from bench.crowd import Crowd
from bench.rows import Row, told
from bench.server import Bare, Running, bare, calm, free_port, running, tls, until
from roadstead.capabilities import CONTROLLERS
from roadstead.deploy.rbac import HOME
from roadstead.kube.refs import LEASE
from roadstead.runtime.kubeconfig import load
from roadstead.testbed.server import ControlPlane

OBJECTS, ROUNDS = 20_000, 3
TENANTS, ROUTES, ATTACHMENTS, RELEASES = 4, 5, 20, 20
NAMES = sorted(CONTROLLERS)
PATIENCE = 600.0

program = partial(running, only=",".join(NAMES))


async def ready(health: int) -> bool:
    """Tell whether every view can answer."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{health}/readyz") as answer,
        ):
            return answer.status == 200
    except aiohttp.ClientError:
        return False


async def fill(client: Bare) -> None:
    """A few of everything that is watched."""
    await client.post_all(gateway_tenants.namespaces(TENANTS))
    await client.post_all(list(worlds.namespaces(count=tenants.PLACES))[TENANTS:])
    await client.post_all([worlds.definition()])
    await client.post_all(worlds.sources(RELEASES))
    await client.post_all(worlds.releases(RELEASES))
    await client.post_all(tenants.applications())
    await client.post_all(tenants.endpoints(ATTACHMENTS))
    await client.post_all(tenants.attachments(ATTACHMENTS))
    await client.post_all(gateway_tenants.the_class())
    await client.post_all(gateway_tenants.gateways(TENANTS))
    await client.post_all(gateway_tenants.routes(TENANTS, 0, ROUTES))


async def hold(client: Bare) -> None:
    """Have somebody else hold the lease for longer than anything here lasts."""
    name = f"roadstead-{'-'.join(NAMES)}"
    spec = {"holderIdentity": "bench", "leaseDurationSeconds": 36_000}
    head = {"apiVersion": LEASE.api_version, "kind": LEASE.kind}
    body = {**head, "metadata": {"name": name, "namespace": HOME}, "spec": spec}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
    await client.send("POST", "/api/v1/namespaces", json.dumps(home).encode())
    await client.send("POST", LEASE.path(HOME), json.dumps(body).encode())


async def standing_by(kubeconfig: Path) -> tuple[float, float, float]:
    """Seconds from the start to readiness, MiB at rest, and MiB at most."""
    health = free_port()
    flags = (
        "--leader-elect",
        f"--leader-election-namespace={HOME}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
    )
    started = time.perf_counter()
    with program(kubeconfig, *flags) as one:
        await until(partial(ready, health), 0.02, PATIENCE)
        taken = time.perf_counter() - started
        await asyncio.sleep(2)
        return taken, one.memory_mib(), one.memory_mib("VmHWM")


async def _at_rest(plane: ControlPlane, client: Bare) -> None:
    """Let the manager and the substrate make what they make of it."""
    with substrate(plane), program(plane.kubeconfig) as one:
        await attached(one, client, ATTACHMENTS)
        await until(partial(_judged, one), 0.5, PATIENCE)
        await calm(plane)


async def _judged(one: Running) -> bool:
    name = "roadstead_hostname_claims"
    return await one.metric(name, verdict="Accepted") >= TENANTS * ROUTES


async def measure(plane: ControlPlane) -> list[Row]:
    """The rows of this part."""
    async with bare(plane) as client:
        await hold(client)
        empty = [await standing_by(plane.kubeconfig) for _ in range(ROUNDS)]
        await fill(client)
        await _at_rest(plane, client)
        context = await tls(load(str(plane.kubeconfig), "", {}))
        async with Crowd(client.server, context, OBJECTS) as crowd:
            full = [await standing_by(crowd.kubeconfig) for _ in range(ROUNDS)]
            views = len(crowd.told)
    about = f"the whole manager before {OBJECTS} objects in each of {views} views"
    small, large = median(one[1] for one in empty), median(one[1] for one in full)
    return [
        told("the whole manager, from its start to ready", median(one[0] for one in empty), "s"),
        told("the whole manager, memory without objects", small, "MiB"),
        told(f"{about}, from its start to ready", median(one[0] for one in full), "s"),
        told(f"{about}, memory", large, "MiB"),
        told(f"{about}, peak memory", median(one[2] for one in full), "MiB"),
        told(f"{about}, each object", (large - small) * 1024 / (OBJECTS * views), "KiB"),
    ]
