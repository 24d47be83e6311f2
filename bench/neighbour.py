"""The address substrate's stand-in in a process of its own: python -m bench.neighbour KUBECONFIG.

Its decisions are those of `sim.actors`. Here it looks for a free address only among those of the
claim's class, and wakes only the claim an address is for: every class has a range of its own, so
that the answer is the same, and the stand-in is not what a bench waits for. It ends with its input.
"""

import asyncio
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from roadstead.capabilities.attachments import api
from roadstead.decision import Cached, Decision, Reader
from roadstead.engine.engine import Engine
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import text
from roadstead.kube.views import Index, View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.events import LiveApi
from roadstead.runtime.feed import Feeds, raise_thresholds
from roadstead.runtime.kubeconfig import load
from roadstead.runtime.logs import Pipe, open_log
from roadstead.runtime.loop import Loop
from roadstead.runtime.metrics import Metrics
from roadstead.settings import Settings
from roadstead.sim.actors.addresses import claims
from roadstead.sim.actors.addresses.balancers import BALANCERS_CONTROLLER
from roadstead.sim.actors.addresses.keeping import KEEPING_CONTROLLER
from roadstead.sim.actors.addresses.views import CLAIMS, CLASSES, claim_key, spec_of
from roadstead.wiring import Watch

WORKERS = 16
AGAIN = timedelta(seconds=0.5)
"""Until a claim looks again that reached for an address together with another."""


def _class_of(address: Object) -> tuple[str, ...]:
    return (text(spec_of(address), "className"),)


POOLS = View("pools", api.ADDRESS, indexes=(Index("class", _class_of),))


async def observe(reader: Reader, key: Ref) -> claims.Seen | None:
    """Collect what one claim is bound by, of its own class alone."""
    claim = await reader.see(CLAIMS, key.namespace, key.name)
    if claim is None:
        return None
    name = text(spec_of(claim), "className")
    found = reader.get(CLASSES, "", name)
    return claims.Seen(claim, reader.list(POOLS, "class", name), (found,) if found else ())


def decide(seen: claims.Seen) -> Decision:
    """Bind as the stand-in does; look again where another was faster."""
    return replace(claims.decide(seen), recheck=AGAIN if seen.missing else None)


def claim_of_address(address: Object, _cached: Cached) -> Iterator[Ref]:
    """The claim an address is for."""
    namespace, _, name = claim_key(address).partition("/")
    if name:
        yield api.CLAIM.ref(namespace, name)


CONTROLLERS = (
    replace(
        claims.CLAIMS_CONTROLLER,
        observe=observe,
        decide=decide,
        watches=(
            Watch(CLAIMS, claims.claim_itself),
            Watch(POOLS, claim_of_address),
            Watch(CLASSES, claims.claims_that_wait),
        ),
        workers=WORKERS,
    ),
    replace(KEEPING_CONTROLLER, workers=WORKERS),
    replace(BALANCERS_CONTROLLER, workers=WORKERS),
)


async def main(kubeconfig: str) -> None:
    """Stand in until the input ends."""
    clock, pipe = LiveClock(), Pipe(os.dup(2))
    log = open_log(pipe, level="error", form="text", wall=clock.wall)
    raise_thresholds()
    engine = Engine(CONTROLLERS, Settings(), clock)
    metrics = Metrics(engine, clock, {one.name: one.workers for one in CONTROLLERS})
    async with Client(Credentials(load(kubeconfig, "", {}))) as client:
        api_of = LiveApi(client, clock, "bench")
        loops = [
            Loop(engine, one.name, api_of, metrics, log=log, clock=clock, workers=one.workers)
            for one in CONTROLLERS
        ]

        def ring() -> None:
            for loop in loops:
                loop.ring()

        feeds = Feeds(engine, client, clock, log, ring=ring, jitter=random.random)
        jobs = [feeds.run(), *(loop.run() for loop in loops)]
        tasks = [asyncio.create_task(job) for job in jobs]
        while not all(engine.ready(one.name) for one in CONTROLLERS):
            await asyncio.sleep(0.05)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    pipe.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
