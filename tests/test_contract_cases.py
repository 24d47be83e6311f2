"""Every case of the two gateway contracts is a test, findable by its name.

`python tests/test_contract_cases.py` prints which files hold each.
Source: tenant-gateway 11, wildcard-secrets 14.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TENANT_GATEWAY = tuple(f"TG-{number:03}" for number in range(1, 198))
WILDCARDS = tuple(f"B-{number:02}" for number in range(1, 28))
ON_THE_SERVER = (
    *(f"TG-{number:03}" for number in range(1, 14)),
    *("TG-189", "TG-190", "TG-191", "TG-193", "TG-195", "TG-196", "TG-197", "B-20"),
)
"""What the API server alone decides: schemas, policies, quotas, rights, ending namespaces."""
TABLES = {
    "gateway_admission.py": "cluster/test_gateway_admission.py",
    "gateway_policies.py": "cluster/test_gateway_policies.py",
}
"""Rows that stand beside the modules that run them on the real server."""
_NAME = re.compile(r"\b(?:TG-\d{3}|B-\d{2})\b")
_RANGE = re.compile(r"\b(?:TG|B)-\d+ to (?:TG|B)-\d+\b")


def named(text: str) -> set[str]:
    """The cases a text names; a range names none, since nobody can say which of it is meant."""
    return set(_NAME.findall(_RANGE.sub("", text)))


def in_module(path: Path) -> set[str]:
    """The cases that strings of a module name: ids of rows, and words of a test on itself.

    Neither what a comment says counts, nor the module's own docstring.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if ast.get_docstring(tree) is not None:
        tree.body.pop(0)
    found = (one.value for one in ast.walk(tree) if isinstance(one, ast.Constant))
    return named("\n".join(one for one in found if isinstance(one, str)))


@cache
def holders() -> dict[str, tuple[str, ...]]:
    """The files that hold each case, below `tests/`."""
    found: dict[str, list[str]] = {}
    modules = (*TESTS.glob("rules/*.py"), *TESTS.glob("cluster/*.py"), *map(TESTS.joinpath, TABLES))
    held = {path: in_module(path) for path in modules}
    for capability in ("gateways", "wildcards"):
        for path in TESTS.glob(f"cases/{capability}/*/NOTES"):
            held[path] = named(path.read_text(encoding="utf-8"))
    for path, names in sorted(held.items()):
        for name in names:
            found.setdefault(name, []).append(path.relative_to(TESTS).as_posix())
    return {name: tuple(paths) for name, paths in found.items()}


def on_the_server(holder: str) -> bool:
    """Whether what a file holds is run on the real server: cases are, but for `only: world`."""
    if holder.startswith("cases/"):
        settings = TESTS / Path(holder).with_name("settings.yaml")
        return not settings.exists() or "only: world" not in settings.read_text(encoding="utf-8")
    return holder.startswith("cluster/") or holder in TABLES


@pytest.mark.parametrize("name", [*TENANT_GATEWAY, *WILDCARDS])
def test_a_case_of_a_contract_is_a_test(name: str) -> None:
    """A case that nobody can find is one that nobody has to hold."""
    found = holders().get(name, ())
    if name.startswith("B-"):  # the anchors' contract names its cases so too
        found = tuple(one for one in found if "wildcard" in one)

    assert found != ()


@pytest.mark.parametrize("name", ON_THE_SERVER)
def test_what_the_server_decides_is_asked_of_the_server(name: str) -> None:
    """A model of admission, quota and rights proves nothing about them."""
    assert any(on_the_server(one) for one in holders()[name])


@pytest.mark.parametrize(("table", "runner"), TABLES.items())
def test_a_table_is_run_on_the_server(table: str, runner: str) -> None:
    """Rows that no cluster test takes would not count."""
    text = (TESTS / runner).read_text(encoding="utf-8")

    assert re.search(rf"^from {table.removesuffix('.py')} import .*\bROWS\b", text, re.MULTILINE)
    assert "pytestmark = pytest.mark.cluster" in text


if __name__ == "__main__":
    for case in (*TENANT_GATEWAY, *WILDCARDS):
        sys.stdout.write(f"{case}  {' '.join(holders().get(case, ('nowhere',)))}\n")
