"""A case's folder is a world of its own: `plan -f FOLDER` ends as the case's `exit` would."""

from pathlib import Path

import pytest

from cli_command import run
from roadstead.sim.cases import find_cases, play_case, read_case, stage_of

TOP = Path(__file__).parent.parent / "cases"
STILL = [(name, folder) for name, folder in find_cases(TOP) if not (folder / "steps.yaml").exists()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "folder"), STILL, ids=[name for name, _ in STILL])
def test_plan_ends_as_the_case_does(name: str, folder: Path) -> None:
    """A bug report that is a case must show the same in both commands."""
    case = read_case(folder, name)
    _, scene = play_case(case, stage_of(case))

    assert scene.exit_code == run("plan", "-f", str(folder)).code
