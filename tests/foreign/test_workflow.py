"""The workflow as actionlint reads it."""

from pathlib import Path

import pytest

from roadstead.testbed.foreign import ask

pytestmark = pytest.mark.foreign

WORKFLOWS = Path(__file__).parents[2] / ".github/workflows"


def test_actionlint_finds_nothing() -> None:
    """Keys, expressions, contexts and needs are what they are taken for."""
    files = sorted(WORKFLOWS.glob("*.yml"))
    assert files
    for said in ask("actionlint", [{"file": str(path)} for path in files]):
        assert {"faults": []} == said


def test_actionlint_would_find_something(tmp_path: Path) -> None:
    """The judge judges: a step that uses what is not there is a fault."""
    bad = tmp_path / "bad.yml"
    bad.write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n"
        "      - run: echo ${{ matrix.none }}\n"
    )
    (said,) = ask("actionlint", [{"file": str(bad)}])
    assert any('"none" is not defined' in fault for fault in said["faults"]), said
