"""The worlds that commands are run on: a folder of their own, and no socket."""

import importlib
import shutil
import socket
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from cli_worlds import FILES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's world, broken files beside it, and the current folder around them."""
    with as_file(files("roadstead").joinpath("examples")) as examples:
        shutil.copytree(examples / "anchors", tmp_path / "world")
        shutil.copytree(examples / "anchors-later", tmp_path / "later")
        shutil.copytree(examples / "attachments", tmp_path / "exposed")
    shutil.copytree(Path(__file__).parent / "worlds", tmp_path / "worlds")
    shutil.copytree(Path(__file__).parent.parent.parent / "examples", tmp_path / "examples")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every socket away, once everything that looks for them on import has been."""
    importlib.import_module("roadstead.cli.run")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
