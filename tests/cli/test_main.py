"""What holds for every command: help, shared flags, colour, start-up, generated files."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli_command import run
from roadstead.cli.main import ALIASES, COMMANDS, GROUPS, hoisted, load
from roadstead.cli.out import Screen, wants_color
from roadstead.deploy.crds import crds
from roadstead.deploy.generate import stale

ROOT = Path(__file__).parent.parent.parent
SLOW = {"aiohttp", "cryptography", "rich", "jsonschema_rs"}


@pytest.mark.parametrize("name", [*COMMANDS, *ALIASES])
def test_help_begins_with_an_example(name: str) -> None:
    """A person who asks for help sees first what to type; no example names a missing command."""
    ran = run(*name.split(), "--help")
    assert ran.code == 0
    head, example, *_ = ran.out.splitlines()
    assert head in {"Example:", "Examples:"}
    assert "roadstead" in example
    _, module = load(ALIASES.get(name, name))
    for line in module.EXAMPLES:
        words = line.split("roadstead ")[1:]
        assert all(_command(word) in COMMANDS for word in words)


def _command(line: str) -> str:
    """The command of a line: two words where the first is a group."""
    first, *rest = (word.rstrip(")") for word in line.split())
    return f"{first} {rest[0]}" if first in GROUPS else first


def test_the_commands_listed_are_the_commands_there_are() -> None:
    """Each entry has its module, and each help begins as the list says."""
    for name in COMMANDS:
        command, module = load(name)
        assert command.help
        assert module.app.registered_commands[0].callback.__name__ == name.rpartition(" ")[2]


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize(
    "args",
    [
        ("-n", "tenant-blue", "-f", "world", "status", "-o", "name"),
        ("--namespace=tenant-blue", "-o", "name", "status", "-f", "world"),
        ("-v", "status", "-n", "tenant-blue", "-o", "name", "-f", "world"),
    ],
)
def test_shared_flags_stand_before_or_after_the_command(args: tuple[str, ...]) -> None:
    """As with kubectl."""
    assert run(*args).out == "trustanchor/mongodb-orders\ntrustanchor/postgres-shop\n"


def test_hoisting_leaves_everything_else_where_it_is() -> None:
    """A flag's value is never taken for the command."""
    assert ["why", "-n", "plan", "x/y"] == hoisted(["-n", "plan", "why", "x/y"])
    assert ["--bogus", "plan"] == hoisted(["--bogus", "plan"])
    assert [] == hoisted([])


@pytest.mark.parametrize(
    ("asked", "environ", "terminal", "painted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_is_decided_in_one_place(
    asked: str, environ: dict[str, str], terminal: bool, painted: bool
) -> None:
    """The flag, then NO_COLOR, then FORCE_COLOR, then the terminal."""
    assert painted is wants_color(asked, environ, terminal)


def test_a_table_is_wrapped_on_a_terminal_and_whole_in_a_pipe() -> None:
    """Nothing is cut anywhere."""
    long = "word " * 30
    for width, lines in ((None, 2), (60, 4)):
        out = io.StringIO()
        Screen(out, io.StringIO(), width=width).table(("A", "B"), [("x", long.strip())])
        shown = out.getvalue()
        assert shown.split() == ["A", "B", "x", *["word"] * 30]
        assert len(shown.splitlines()) == lines


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    """Names and annotations are anybody's text."""
    out = io.StringIO()
    Screen(out, io.StringIO()).line("a\x1b]0;b\x07c\u202ed\n")
    assert out.getvalue() == "a\\x1b]0;b\\x07c\\u202ed\n\n"


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        (["version"], set()),
        (["docs", "CACertExpired"], {"cryptography"}),
        (["manifests", "rbac"], {"cryptography"}),
        (
            ["gateways", "resolve", "--platform-values", "examples/cozystack-platform.yaml"],
            {"cryptography", "jsonschema_rs"},
        ),
        (["completion", "bash"], SLOW),
        (["plan", "-f", "world"], {"cryptography", "jsonschema_rs"}),
        (["why", "hr/postgres-shop", "-f", "world"], {"cryptography", "jsonschema_rs"}),
        (["status", "-f", "world"], {"cryptography", "jsonschema_rs"}),
    ],
)
def test_a_command_loads_only_what_it_needs(line: list[str], allowed: set[str]) -> None:
    """Start-up time is what people wait for each time."""
    script = (
        "import sys; from roadstead.cli.main import main; main(sys.argv[1:]); "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", script, *line], capture_output=True, text=True, check=True
    )
    assert SLOW & set(ran.stderr.split()) <= allowed


def test_generated_files_are_current() -> None:
    """`make manifests` has been run since the code last changed."""
    assert stale(ROOT) == ()


def test_manifests_are_written_where_asked(tmp_path: Path) -> None:
    """The folder holds what the command prints."""
    for what, names in (
        ("rbac", ["rbac/accounts.yaml"]),
        ("policies", ["policies/accounts.yaml"]),
        ("tenant-roles", ["rbac/tenant-roles.yaml"]),
        ("tenant-tiers", ["rbac/tenant-tiers.yaml"]),
        ("crds", [f"crds/{name}" for name in crds()]),
    ):
        assert run("manifests", what, "--out", str(tmp_path), "-q").out == ""
        printed = "---\n".join((tmp_path / name).read_text() for name in names)
        assert printed == run("manifests", what).out


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_scripts_are_read_by_bash(shell: str, tmp_path: Path) -> None:
    """And know commands and flags."""
    script = tmp_path / "completion"
    script.write_text(run("completion", shell).out)
    if shell == "zsh":
        script.write_text(script.read_text().split("bashcompinit\n", 1)[1])
    ask = (
        f"source {script}; COMP_WORDS=(roadstead plan --again); COMP_CWORD=2; _roadstead; "
        'echo "${COMPREPLY[@]}"; COMP_WORDS=(roadstead st); COMP_CWORD=1; _roadstead; '
        'echo "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(  # noqa: S603 - our own script
        ["/bin/bash", "-c", ask],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert ran.stdout.splitlines() == ["--against", "status"]


def test_completion_for_fish_closes_every_quote() -> None:
    """A help text may hold an apostrophe; shlex reads single quotes as fish does, but for it."""
    for line in run("completion", "fish").out.splitlines():
        assert shlex.split(line.replace("\\'", ""))[0] == "complete"


@pytest.mark.parametrize(("locale", "signs"), [("C", False), ("POSIX", False), ("C.UTF-8", True)])
def test_a_locale_says_what_signs_can_be_shown(
    locale: str, monkeypatch: pytest.MonkeyPatch, *, signs: bool
) -> None:
    """Python writes UTF-8 in a locale that has none; the terminal shows other things."""
    monkeypatch.setenv("LC_ALL", locale)

    assert signs is Screen(io.StringIO(), io.StringIO()).has_signs


def test_an_alias_is_the_same_command() -> None:
    """`explain` is another word, not another answer."""
    assert run("explain", "--help") == run("why", "--help")
