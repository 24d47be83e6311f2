"""The long forms, for so many minutes: python tests/soak.py MINUTES.

First the offline tests once more, with the gate on branch coverage. Then everything marked
`soak`, once. Then the laws over and over with random examples, each round
under a seed that is printed and replays it, for as long as another round fits.
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
PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")


def run(arguments: tuple[str, ...], seconds: float, profile: str = "ci") -> int:
    """Run pytest; it may read the seconds it has, and is ended well after them."""
    environ = os.environ | {"ROADSTEAD_HYPOTHESIS": profile, "SOAK_SECONDS": f"{seconds:.0f}"}
    try:
        return subprocess.run(  # noqa: S603 - our own interpreter
            [*PYTEST, *arguments], cwd=ROOT, env=environ, check=False, timeout=seconds + 600
        ).returncode
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"error: {' '.join(arguments)} did not end\n")
        return 1


def main(minutes: float) -> int:
    """Run what fits; 0 when nothing failed."""
    end = time.monotonic() + minutes * 60
    coverage = (*(f"--cov=roadstead.{name}" for name in MEASURED), "--cov-branch")
    gate = (*coverage, f"--cov-fail-under={COVERED}", "--cov-report=term:skip-covered")
    for arguments in (("-m", "not cluster and not soak", *gate), ("-m", "soak")):
        if failed := run(arguments, minutes * 60):
            return failed
    seeds = random.SystemRandom()
    rounds, longest = 0, 0.0
    while not rounds or time.monotonic() + longest < end:
        seed, began = seeds.randrange(2**32), time.monotonic()
        sys.stdout.write(f"laws, round {rounds + 1}: --hypothesis-seed={seed}\n")
        sys.stdout.flush()
        where = (*LAWS, "-m", "not cluster and not soak", f"--hypothesis-seed={seed}")
        if failed := run(where, max(0.0, end - began), "soak"):
            return failed
        rounds, longest = rounds + 1, max(longest, time.monotonic() - began)
    sys.stdout.write(f"soak: {rounds} rounds of the laws in {minutes:g} minutes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
