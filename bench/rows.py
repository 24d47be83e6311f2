"""One measured figure, and the table and file of all of them."""

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Row:
    """One line of the table.

    value: the median of at least three where it says so. floor: what it is a ratio of, in words.
    goal: what is wanted, in words. met: whether it is; None where there is no goal.
    """

    measure: str
    value: float
    unit: str
    floor: str = ""
    goal: str = ""
    met: bool | None = None


def at_most(measure: str, values: Iterable[float], unit: str, limit: float, floor: str = "") -> Row:
    """A row whose median may not exceed a limit."""
    value = median(values)
    return Row(measure, round(value, 3), unit, floor, f"<= {limit:g} {unit}", value <= limit)


def told(measure: str, value: float, unit: str, floor: str = "") -> Row:
    """A row without a goal."""
    return Row(measure, round(value, 3), unit, floor)


def machine() -> str:
    """What the figures were measured on."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    kernel = ".".join(platform.release().split(".")[:2])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} x {model}, {memory:.0f} GiB, Linux {kernel}, "
        f"CPython {platform.python_version()}"
    )


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | value | floor | goal | met |", "| --- | --- | --- | --- | --- |"]
    words = {True: "yes", False: "NO", None: ""}
    lines += [
        f"| {row.measure} | {row.value:g} {row.unit} | {row.floor} | {row.goal} | {words[row.met]} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Part:
    """The rows of one part. machine: what they were measured on."""

    machine: str
    rows: tuple[Row, ...]


def read(path: Path) -> dict[str, Part]:
    """The parts that were measured before; none where no file is."""
    stored = json.loads(path.read_text()) if path.exists() else {}
    return {
        name: Part(part["machine"], tuple(Row(**row) for row in part["rows"]))
        for name, part in stored.items()
    }


def write(parts: Mapping[str, Part], path: Path) -> None:
    """Write the rows as JSON, whole or not at all."""
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps({name: asdict(part) for name, part in parts.items()}, indent=1))
    beside.rename(path)


BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def record(parts: Mapping[str, Part], page: Path) -> None:
    """Put a table for each part into the page, between its marks."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = [f"`{name}`, on {part.machine}:\n\n{table(part.rows)}" for name, part in parts.items()]
    beside = page.with_suffix(".tmp")
    beside.write_text("\n".join([f"{before}{BEGIN}", *tables, f"{END}{after}"]))
    beside.rename(page)
