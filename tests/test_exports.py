"""What the package promises to outsiders: names, commands, and that each module can be imported."""

import importlib
import json
import pkgutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import roadstead

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    one.name
    for one in pkgutil.walk_packages(roadstead.__path__, "roadstead.")
    if not one.name.endswith(".__main__")
)


@pytest.mark.parametrize("name", ["roadstead", *MODULES])
def test_the_names_that_a_module_gives_are_there(name: str) -> None:
    """A name in `__all__` that is not there breaks whoever imports it; two are one too many."""
    module = importlib.import_module(name)
    given = getattr(module, "__all__", [])

    assert [] == [one for one in given if not hasattr(module, one)]
    assert len(set(given)) == len(given)
    assert module.__doc__


def test_the_commands_of_the_package_can_be_called() -> None:
    """What is installed as a program starts something."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    installed = {one.name: one for one in entry_points(group="console_scripts")}

    assert {"roadstead", "kubectl-roadstead"} == set(stated)
    for name, where in stated.items():
        assert where == installed[name].value
        assert callable(installed[name].load())


@pytest.mark.parametrize(
    "package", ["kube", "decision", "capabilities", "engine", "sim", "runtime", "explain"]
)
def test_a_layer_can_be_imported_by_itself(package: str) -> None:
    """Whoever embeds one layer does not have to import another one first."""
    code = f"import json, sys, roadstead.{package}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert f"roadstead.{package}" in json.loads(done.stdout)
