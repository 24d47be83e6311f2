"""Each capability has the same rooms, cases of its own, and a page."""

import ast
from pathlib import Path

import pytest

from roadstead.capabilities import ADMISSIONS, CONTROLLERS

ROOT = Path(__file__).parent.parent
CAPABILITIES = sorted(
    folder.name
    for folder in (ROOT / "src/roadstead/capabilities").iterdir()
    if (folder / "decide.py").exists() or (folder / "decide").is_dir()
)
"""A folder that decides nothing is a vocabulary so far: its names and fields are there for those
that read its kind."""
ROOMS = ("api", "snapshot", "decide", "render", "controller")
RENDERED = {"services"}
"""What is rendered into files and applied by Flux: nothing wakes it."""


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("room", ROOMS)
def test_a_capability_has_the_rooms(capability: str, room: str) -> None:
    """A stranger finds the place for a change from the tree alone."""
    if room == "controller" and capability in RENDERED:
        assert capability not in CONTROLLERS
        return
    folder = ROOT / "src/roadstead/capabilities" / capability

    assert (folder / f"{room}.py").exists() or (folder / room).is_dir()


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_capability_has_cases_and_a_page(capability: str) -> None:
    """What is promised is shown in cases and told in the documentation."""
    begins = "platform.yaml" if capability in RENDERED else "world.yaml"
    cases = list((ROOT / "tests/cases" / capability).glob(f"*/{begins}"))

    assert cases
    assert (ROOT / "docs/concepts" / f"{capability}.md").exists()


def test_whatever_runs_has_its_folder() -> None:
    """A folder is looked into as soon as something of it is registered."""
    homes = {one.observe.__module__.split(".")[2] for one in CONTROLLERS.values()}
    homes |= {one.observe.__module__.split(".")[2] for one in ADMISSIONS.values()}

    assert homes <= set(CAPABILITIES)


def test_every_controller_is_registered_under_its_own_name() -> None:
    """`run --only` finds what the metrics and the logs call it."""
    assert {name: name for name in CONTROLLERS} == {
        name: controller.name for name, controller in CONTROLLERS.items()
    }


def test_no_two_views_share_a_name() -> None:
    """Metrics and `/readyz` of a process that runs everything tell them apart."""
    views = {view for controller in CONTROLLERS.values() for view in controller.views}
    views |= {view for admission in ADMISSIONS.values() for view in admission.views}

    assert len(views) == len({view.name for view in views})


LONG = {"cli/run.py run": "its parameters are the flags, one a line"}
"""Functions of more than 60 lines, and why."""


def test_a_function_stays_readable() -> None:
    """A function over 60 lines asks for a reason."""
    home = ROOT / "src/roadstead"
    long = {
        f"{path.relative_to(home)} {one.name}"
        for path in home.rglob("*.py")
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and (one.end_lineno or 0) - one.lineno >= 60
    }

    assert set(LONG) == long


@pytest.mark.parametrize("path", sorted((ROOT / "src/roadstead").rglob("*.py")), ids=str)
def test_a_module_stays_readable(path: Path) -> None:
    """A module over 400 lines asks for a reason, which its docstring would give."""
    lines = path.read_text().count("\n")

    assert lines <= 400, f"{path} has {lines} lines"
    assert path.stem not in {"utils", "helpers", "common", "misc"}
