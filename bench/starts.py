"""What a cold process costs a person: the help, and one question about files."""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.rows import Row, told
from bench.services import PROGRAM, Run, run

ROUNDS = 7
WORLD = Path(__file__).parent.parent / "src/roadstead/examples/anchors"
WHY = ("why", "helmrelease/postgres-shop", "-n", "tenant-blue", "-f", str(WORLD))
FLOORS = {"python -c pass": "pass", "python -c 'import typer'": "import typer"}
COMMANDS = {
    "roadstead --help": ("--help",),
    "roadstead why --help": ("why", "--help"),
    "roadstead why -f": WHY,
    "roadstead plan -f": ("plan", "--fail-on", "never", "-f", str(WORLD)),
}


def measure() -> list[Row]:
    """Each in turn, a whole process from its start to its end, the first round thrown away."""
    lines = {name: [sys.executable, "-c", text] for name, text in FLOORS.items()}
    lines |= {f"`{name}`": [*PROGRAM, *words] for name, words in COMMANDS.items()}
    runs: dict[str, list[Run]] = {name: [] for name in lines}
    with tempfile.TemporaryDirectory(prefix="roadstead-bench-") as place:
        for turn in range(ROUNDS + 1):
            for name, line in lines.items():
                found = run(line, Path(place))
                if turn:
                    runs[name].append(found)
    took = {name: median(one.seconds for one in found) for name, found in runs.items()}
    cpu = {name: median(one.cpu for one in found) for name, found in runs.items()}
    floor = list(FLOORS)[-1]
    rows = [told(name, took[name] * 1e3, "ms") for name in FLOORS]
    for name in COMMANDS:
        shown = f"`{name}`"
        rows += [
            told(f"{name}, cold", took[shown] * 1e3, "ms"),
            told(f"{name}, cold, CPU", cpu[shown] * 1e3, "ms"),
            told(f"{name}, in terms of a floor", took[shown] / took[floor], "x floor", floor),
        ]
    return [*rows, told("modules that `roadstead --help` imports", _modules("--help"), "modules")]


def _modules(*words: str) -> int:
    """How many modules one command line has imported at its end, the interpreter's own left out."""
    count = (
        "import sys; before = len(sys.modules); "
        "from roadstead.cli.main import main; main(sys.argv[1:]); "
        "print(len(sys.modules) - before)"
    )
    line = [sys.executable, "-c", count, *words]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    return int(said.split()[-1])
