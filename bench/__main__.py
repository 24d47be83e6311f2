"""Measure everything, or one part, and print the table: python -m bench [--only PART]."""

import argparse
import asyncio
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

HERE = Path(__file__).parent
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


async def measured(names: list[str]) -> list[rows.Row]:
    """Every row of some parts, one server for each."""
    found: list[rows.Row] = []
    for name in names:
        if name in OFFLINE:
            found += OFFLINE[name]()
        for measure in PARTS.get(name, ()):
            started = time.perf_counter()
            with ControlPlane.start() as plane:
                theirs = crds.neighbours(NEIGHBOURS.get(name, (crds.FLUX, crds.ADDRESSES)))
                crds.install(plane, [*own_crds().values(), *theirs])
                plane.baseline()
                found += await measure(plane)
            spent = time.perf_counter() - started
            print(f"{name}: {measure.__name__} took {spent:.0f} s", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Measure; 0 when it could, whatever the figures say."""
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--only", choices=sorted({*PARTS, *OFFLINE}))
    only = parser.parse_args().only
    found = asyncio.run(measured([only] if only else [*PARTS, *OFFLINE]))
    text = f"Measured on {rows.machine()}.\n\n{rows.table(found)}"
    print(f"\n{text}")
    if not only:
        rows.write(found, HERE / "results.json")
        rows.record(text, HERE.parent / "docs/reference/bench.md")
    missed = [row.measure for row in found if row.met is False]
    if missed:
        print(f"missed: {', '.join(missed)}; docs/reference/bench.md says why")
    return 0


if __name__ == "__main__":
    sys.exit(main())
