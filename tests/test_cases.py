"""Every case of the project holds in the offline world."""

from pathlib import Path

import pytest

from roadstead.sim.cases import read_case, run_case

CASES = Path(__file__).parent / "cases"
FOLDERS = {
    world.parent.relative_to(CASES).as_posix(): world.parent
    for world in sorted(CASES.glob("*/*/world.yaml"))
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_case_holds(name: str) -> None:
    """What must come of it came of it."""
    result = run_case(read_case(FOLDERS[name], name))
    if result.skipped:
        pytest.skip(result.skipped)

    assert [str(one) for one in result.differences] == []
