"""The long forms, for so many minutes: python tests/soak.py MINUTES.

First the offline tests of `make quick` once more, with the gate on branch coverage. Then
everything marked `soak`, once. Then the laws over and over with random examples, for as long as
another round fits, one in five minutes at most. Each run has a seed that is printed and replays
it; SOAK_SEED fixes them all, so that CI judges a change and not its luck.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAWS = ("tests/laws", "tests/runtime/test_queue.py", "tests/runtime/test_store.py")
MEASURED = ("kube", "decision", "capabilities", "engine", "sim")
COVERED = 95
"""Per cent of lines and branches that the offline tests reach in what is pure."""
MINUTES_A_ROUND = 5.0
MARGIN = 1500.0
"""Seconds beyond its share after which a run is taken for stuck: one round on a busy machine."""
PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
HEAPS, SCENES = "worksteal", "loadgroup"
"""How tests are dealt out to both cores, as in `make test`."""


def run(arguments: tuple[str, ...], seconds: float, profile: str, dist: str = HEAPS) -> int:
    """Run pytest; it may read the seconds it has, and is ended well after them."""
    environ = os.environ | {"ROADSTEAD_HYPOTHESIS": profile, "SOAK_SECONDS": f"{seconds:.0f}"}
    try:
        return subprocess.run(  # noqa: S603 - our own interpreter
            [*PYTEST, "-n", "2", "--dist", dist, *arguments],
            cwd=ROOT,
            env=environ,
            check=False,
            timeout=seconds + MARGIN,
        ).returncode
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"error: {' '.join(arguments)} did not end\n")
        return 1


def seeded(what: str, seeds: random.Random) -> str:
    """The argument that fixes the examples of a run; it is printed."""
    seed = f"--hypothesis-seed={seeds.randrange(2**32)}"
    sys.stdout.write(f"{what}: {seed}\n")
    sys.stdout.flush()
    return seed


def main(minutes: float) -> int:
    """Run what fits; 0 when nothing failed."""
    end = time.monotonic() + minutes * 60
    coverage = (*(f"--cov=roadstead.{name}" for name in MEASURED), "--cov-branch")
    gate = (*coverage, f"--cov-fail-under={COVERED}", "--cov-report=term:skip-covered")
    fixed = os.environ.get("SOAK_SEED")
    seeds = random.Random(int(fixed)) if fixed else random.SystemRandom()  # noqa: S311 - examples
    # The order of a set is an example, too: a seed replays only with it.
    order = os.environ.setdefault("PYTHONHASHSEED", fixed or str(seeds.randrange(2**32)))
    sys.stdout.write(f"order of sets: PYTHONHASHSEED={order}\n")
    quick = ("-m", "not cluster and not foreign and not browser and not soak and not slow", *gate)
    if failed := run(quick, minutes * 60, "quick"):
        return failed
    if failed := run(("-m", "soak", seeded("soak", seeds)), minutes * 60, "soak", SCENES):
        return failed
    rounds, longest, most = 0, 0.0, max(1, int(minutes / MINUTES_A_ROUND))
    while rounds < most and (not rounds or time.monotonic() + longest < end):
        began = time.monotonic()
        where = (*LAWS, "-m", "not cluster and not soak")
        seed = seeded(f"laws, round {rounds + 1}", seeds)
        if failed := run((*where, seed), max(0.0, end - began), "soak"):
            return failed
        rounds, longest = rounds + 1, max(longest, time.monotonic() - began)
    sys.stdout.write(f"soak: {rounds} rounds of the laws in {minutes:g} minutes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
