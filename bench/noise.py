"""Unrelated changes at a rate, until killed: python -m bench.noise KUBECONFIG RATE."""

import asyncio
import json
import sys
import time
from itertools import count

import aiohttp

from bench import worlds
from bench.server import IN_FLIGHT, Bare, tls
from roadstead.runtime.kubeconfig import load

LONGEST = 600.0
"""Seconds after which it ends by itself."""


async def main(kubeconfig: str, rate: int) -> None:
    """Patch fifty Secrets in turn."""
    config = load(kubeconfig, "", {})
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=await tls(config))
    async with aiohttp.ClientSession(connector=connector) as session:
        client = Bare(session, config.server)
        pending: set[asyncio.Task[bytes]] = set()
        started = time.perf_counter()
        for number in count():
            due = started + number / rate
            if due - started > LONGEST:
                return
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            body = json.dumps({"metadata": {"annotations": {"bench": str(number)}}}).encode()
            path = worlds.CORE.format("noise-0") + f"/bulk-{number % 50}"
            sending = client.send("PATCH", path, body, "application/merge-patch+json")
            task = asyncio.create_task(sending)
            pending.add(task)
            task.add_done_callback(pending.discard)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
