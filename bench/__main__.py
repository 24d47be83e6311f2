"""Measure everything, or one part, and print the table: python -m bench [--only PART]."""

import argparse
import asyncio
import subprocess
import sys
import time
from pathlib import Path

from bench import (
    admission,
    anchors,
    attachments,
    gateways,
    manager,
    rows,
    services,
    starts,
    watches,
)
from roadstead.deploy.crds import crds as own_crds
from roadstead.testbed import crds
from roadstead.testbed.server import ControlPlane

RESULTS = Path(__file__).parent / "results.json"
PAGE = RESULTS.parent.parent / "docs/reference/bench.md"
PARTS = {
    "admission": (admission.measure,),
    "anchors": (anchors.convergence, anchors.latency, anchors.foreign),
    "attachments": (attachments.measure,),
    "gateways": (gateways.measure,),
    "manager": (manager.measure,),
    "watches": (watches.measure,),
}
OFFLINE = {"services": services.measure, "starts": starts.measure}
"""Parts that need no server."""

NEIGHBOURS = {
    "gateways": ("gateway-api", "cert-manager"),
    "manager": (crds.FLUX, crds.ADDRESSES, "gateway-api", "cert-manager"),
}
"""Whose kinds a part needs, where they are not those of applications and addresses."""


async def measured(name: str) -> rows.Part:
    """Every row of one part, each of its measurements on a server of its own."""
    if name in OFFLINE:
        return rows.Part(rows.machine(), tuple(OFFLINE[name]()))
    found: list[rows.Row] = []
    for measure in PARTS[name]:
        started = time.perf_counter()
        with ControlPlane.start() as plane:
            theirs = crds.neighbours(NEIGHBOURS.get(name, (crds.FLUX, crds.ADDRESSES)))
            crds.install(plane, [*own_crds().values(), *theirs])
            plane.baseline()
            found += await measure(plane)
        spent = time.perf_counter() - started
        print(f"{name}: {measure.__name__} took {spent:.0f} s", file=sys.stderr, flush=True)
    return rows.Part(rows.machine(), tuple(found))


def each_by_itself() -> int:
    """Measure every part in a process of its own.

    What a part starts begins with the memory of who started it, and that is counted as its peak.
    """
    for name in [*PARTS, *OFFLINE]:
        code = subprocess.call([sys.executable, "-m", "bench", "--only", name])
        if code:
            return code
    return 0


def main() -> int:
    """Measure; 0 when it could, whatever the figures say."""
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--only", choices=sorted({*PARTS, *OFFLINE}))
    only = parser.parse_args().only
    if only is None:
        return each_by_itself()
    part = asyncio.run(measured(only))
    print(f"\n{only}, on {part.machine}\n\n{rows.table(part.rows)}", flush=True)
    # The parts do not hang together, so each is kept as soon as it is there.
    known = rows.read(RESULTS) | {only: part}
    kept = {each: known[each] for each in [*PARTS, *OFFLINE] if each in known}
    rows.write(kept, RESULTS)
    rows.record(kept, PAGE)
    if missed := [row.measure for row in part.rows if row.met is False]:
        print(f"missed: {', '.join(missed)}; docs/reference/bench.md says why")
    return 0


if __name__ == "__main__":
    sys.exit(main())
