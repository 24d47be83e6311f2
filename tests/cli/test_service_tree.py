"""The output folder: all of a render or nothing, and never what is not ours. Source: 5.2."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from roadstead.cli.service import tree
from roadstead.errors import InputError

OLD = {"a/x.yaml": b"old x\n", "b/y.yaml": b"old y\n", "b/z.yaml": b"old z\n"}
NEW = {"a/x.yaml": b"new x\n", "b/y.yaml": b"old y\n", "c/d/w.yaml": b"new w\n"}
MOVES = 3
"""Renames of a write that turns the old tree into the new one: one file, one folder, the list."""


def held(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder; None for a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the old tree, and with files of somebody else."""
    out = tmp_path / "home" / "out"
    tree.write_tree(out, OLD)
    (out / "mine.txt").write_text("mine")
    (out / "a" / "mine.yaml").write_text("mine")
    (out / "theirs").mkdir()
    return out


def test_a_write_makes_the_folder_hold_the_tree(out: Path) -> None:
    """What is no longer rendered goes, with its folder; what is not ours stays and is told."""
    written = tree.write_tree(out, NEW)
    assert (("a/x.yaml", "c/d/w.yaml"), ("b/z.yaml",)) == (written.changed, written.removed)
    assert ("a/mine.yaml", "mine.txt", "theirs/") == written.foreign
    listed = b".manifest\na/x.yaml\nb/y.yaml\nc/d/w.yaml\n"
    assert listed == (out / ".manifest").read_bytes()
    assert NEW.items() <= held(out).items()
    assert "b/z.yaml" not in held(out)
    assert ["out"] == [one.name for one in out.parent.iterdir()]


def test_a_second_write_touches_nothing(out: Path) -> None:
    """Not even the time of a file."""
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert tree.Written((), (), ("a/mine.yaml", "mine.txt", "theirs/")) == tree.write_tree(out, OLD)
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("*")}


def link(out: Path) -> None:
    """Make a folder of ours lead elsewhere."""
    (out.parent / "elsewhere").mkdir()
    (out / "c").symlink_to(out.parent / "elsewhere")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda out: (out / "c" / "d").mkdir(parents=True) or (out / "c/d/w.yaml").write_text("x"),
        lambda out: (out / "c").write_text("a file"),
        link,
        lambda out: (out / ".manifest").write_text("../outside\n"),
        lambda out: (out / ".manifest").write_text("/etc/passwd\n"),
        lambda out: (out / ".manifest").write_bytes(b"\xff\n"),
    ],
    ids=["file", "file-for-folder", "link", "list-leads-out", "list-is-absolute", "list-is-broken"],
)
def test_what_is_not_ours_is_never_written_over(spoil: Callable[[Path], object], out: Path) -> None:
    """The folder stays as it is, and the sentence names what is in the way."""
    spoil(out)
    before = held(out.parent)
    with pytest.raises(InputError) as caught:
        tree.write_tree(out, NEW)
    assert str(out) in caught.value.place
    assert before == held(out.parent)


def test_a_file_of_the_same_content_becomes_ours(tmp_path: Path) -> None:
    """Whoever wrote it, it is what would be written."""
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "x.yaml").write_bytes(b"new x\n")
    assert ("b/y.yaml", "c/d/w.yaml") == tree.write_tree(tmp_path / "out", NEW).changed


@pytest.mark.parametrize("number", range(MOVES))
def test_an_interrupt_between_two_renames_leaves_the_old_tree(
    number: int, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real SIGINT, at each of the renames."""
    before, replace, calls = held(out.parent), os.replace, iter(range(MOVES))

    def interrupted(old: Path, new: Path) -> None:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGINT)
        replace(old, new)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tree.write_tree(out, NEW)
    assert before == held(out.parent)


@pytest.mark.parametrize("number", range(MOVES))
def test_the_render_after_a_kill_puts_the_old_tree_back_first(number: int, out: Path) -> None:
    """Nothing of ours ran when it happened; the next run finds the journal."""
    killed = f"""
        import os, signal
        from pathlib import Path
        from roadstead.cli.service import tree
        replace, calls = os.replace, iter(range({MOVES}))
        def cut(old, new):
            if next(calls) == {number}:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(old, new)
        os.replace = cut
        tree.write_tree(Path({str(out)!r}), {NEW!r})
    """
    before = held(out)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(killed)], check=False)  # noqa: S603 - our own program
    assert -signal.SIGKILL == done.returncode
    with pytest.raises(InputError):
        tree.write_tree(out, {"mine.txt": b"not mine"})
    assert before == held(out)
    assert ["out"] == [one.name for one in out.parent.iterdir()]


def test_a_disk_that_fills_up_leaves_the_old_tree(out: Path) -> None:
    """By a limit on the size of a file, which fails as a full disk does."""
    before, limits = held(out.parent), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(InputError) as caught:
            tree.write_tree(out, {**NEW, "z.yaml": b"x" * 20_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "what was there is unchanged" in caught.value.message
    assert before == held(out.parent)


def test_two_renders_do_not_mix(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is told to wait."""
    replace = os.replace
    told: list[str] = []

    def meanwhile(old: Path, new: Path) -> None:
        if not told:
            with pytest.raises(InputError) as caught:
                tree.write_tree(out, OLD)
            told.append(caught.value.message)
        replace(old, new)

    monkeypatch.setattr(os, "replace", meanwhile)
    tree.write_tree(out, NEW)
    assert ["another render writes there"] == told


def test_a_file_is_no_folder_to_render_into(tmp_path: Path) -> None:
    """The sentence says so."""
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        tree.write_tree(tmp_path / "out", NEW)
