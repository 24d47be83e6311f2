"""Every case of the renderer: the same bytes, or the same findings and nothing written."""

from pathlib import Path

import pytest

from service_cases import folders, rendered, tree, wanted

FOLDERS = folders()


@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.name)
def test_a_case_is_rendered_to_the_wanted_tree(case: Path, tmp_path: Path) -> None:
    """A rendered file that changes is seen in review, byte by byte."""
    came, want = rendered(case, tmp_path / "out"), wanted(case)
    assert came.code == want.code, came.said
    if want.code:
        assert want.said == came.said
    assert sorted(want.tree) == sorted(came.tree)
    assert [] == [path for path in want.tree if want.tree[path] != came.tree[path]]


@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.name)
def test_a_second_render_changes_nothing(case: Path, tmp_path: Path) -> None:
    """SD-90, rule 4 of 5.1: a render of a render is the same, after automation as well."""
    out = tmp_path / "out"
    first = rendered(case, out)
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert first == rendered(case, out)
    assert stamps == {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}


def test_no_case_shows_what_a_secret_holds(tmp_path: Path) -> None:
    """SD-70: a value in clear text is in no file, no finding and no message."""
    case = next(one for one in FOLDERS if one.name == "secret-in-clear-text")
    came = rendered(case, tmp_path / "out")
    assert came.code == 2
    assert "P-SEC-02" in came.said
    assert "canary" not in came.said
    assert {"mine.txt"} == set(tree(tmp_path / "out"))
