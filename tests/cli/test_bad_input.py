"""Bad input: a sentence that says what and where, exit code 2, no traceback, nothing guessed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli_command import run
from roadstead.cli import main as cli
from roadstead.cli import plan
from roadstead.decision import Decision
from roadstead.errors import BugError, TestbedError
from roadstead.kube.refs import HELM_RELEASE, SECRET
from roadstead.sim.requests import Request
from roadstead.sim.settle import DoesNotSettleError, Step

OFFLINE = [
    ("plan -f nowhere.yaml", "cannot be read: No such file or directory\n  nowhere.yaml\n"),
    ("plan -f broken.yaml", "broken.yaml:"),
    ("plan -f no-object.yaml", "no-object.yaml:1:1"),
    ("plan -f no-name.yaml", "has no `metadata.name`"),
    ("plan -f twice.yaml", "ConfigMap b/a is already at twice.yaml:1:1\n  twice.yaml:5:1\n"),
    ("plan -f world --ca-sources-file none.yaml", "the engine table cannot be read"),
    ("plan -f world --ca-sources-file table-broken.yaml", "`sourceSecretName` of an engine"),
    ("plan -f world --ca-sources-file table-twice.yaml", "kind `NATS` is named twice"),
    ("plan -f world --ca-sources-file table-shape.yaml", "the one key `engines`"),
    ("plan -f world --settings none.yaml", "cannot be read"),
    (
        "plan -f world --settings settings-unknown.yaml",
        "`colour` is no flag of `run`\n  settings-unknown.yaml\nhint: there are",
    ),
    ("plan -f world --settings settings-broken.yaml", "settings-broken.yaml:"),
    ("plan -f world --settings settings-time.yaml", "is no RFC 3339 time"),
    ("plan -f world --settings settings-capability.yaml", "no capability `lineages`"),
    ("plan -f world --against nowhere", "No such file or directory\n  nowhere\n"),
    ("plan -f world --observed nowhere", "No such file or directory\n  nowhere\n"),
    ("plan -f world --fail-on sometimes", "`--fail-on sometimes` is unknown"),
    (
        "plan -f world --stand-ins adresses",
        "there is no stand-in `adresses`\nhint: did you mean `addresses`?",
    ),
    ("plan -f world --allow CACertExpired", "names no object"),
    ("plan -f world --allow Nothing=a/b", "names no reason"),
    ("plan -f world --allow CACertExpird=a/b", "did you mean `CACertExpired`?"),
    ("up --example anchor", "did you mean `anchors`?"),
    ("plan -f world --color sometimes", "`--color sometimes` is unknown"),
    ("plan", "nothing to plan"),
    ("why nothing", "`nothing` names no object"),
    ("why pod/x -f world", "`pod` is no kind that is judged"),
    ("why secret/none -n tenant-blue -f world", "there is no Secret tenant-blue/none"),
    ("why secret/none -f world", "these files hold no Secret `none`"),
    ("why hr/postgres-shop -f broken.yaml", "broken.yaml:"),
    ("status -f broken.yaml", "broken.yaml:"),
    ("why hr/postgres-shop -f world --watch", "files do not change by themselves"),
    ("status -f world --watch", "files do not change by themselves"),
    ("status --wait soon", "`soon` is no duration"),
    ("status -f world -A -n x", "exclude each other"),
    ("docs Nothing", "there is no reason or check `Nothing`"),
    ("manifests crds --out settings.yaml/x", "cannot be written"),
    ("manifests rbac -n Not_A_Name", "is no name of a namespace"),
    ("manifests rbac --account nobody", "there is no account `nobody`"),
    ("gateways resolve", "the platform's values are not given"),
    ("gateways resolve --platform-values none.yaml", "cannot be read: No such file"),
    ("gateways resolve --platform-values broken.yaml -f broken.yaml", "broken.yaml:"),
    ("gateways resolve --platform-values no-object.yaml", "platform values are one map\n  no-obj"),
    ("gateways resolve --platform-values settings.yaml -f none", "No such file or directory\n"),
    ("gateways resolve --platform-values settings.yaml --part issuers", "--part is of `gateways r"),
    (
        "gateways render --platform-values settings.yaml --part x",
        "there is no part `x`\nhint: use i",
    ),
    ("gateways resolve --platform-values - -f -", "standard input is named twice\n  -\n"),
    ("gateways show", "gateways cannot `show`\nhint: use resolve or render"),
    ("nothing", "there is no command `nothing`"),
    ("--nothing plan", "no command stands before `--nothing`"),
    ("plan --nothing", "no such option: --nothing"),
    ("run --ca-sources-file none.yaml", "the engine table cannot be read"),
    ("run --ca-sources-file table-twice.yaml", "kind `NATS` is named twice"),
    ("run --ca-sources-file table-broken.yaml", "`sourceSecretName` of an engine"),
    ("run --ca-sources-file table-shape.yaml", "the one key `engines`"),
    ("run --settings settings-unknown.yaml", "`colour` is no flag of `run`"),
    ("run --log-level loud", "--log-level"),
    ("run --max-concurrent-reconciles 0", "is less than 1"),
    ("run --leader-elect-lease-duration 2s", "2 s is no whole number of seconds from 3 to 300"),
    ("run --leader-elect-lease-duration 3.5s", "3.5 s is no whole number"),
    ("run --leader-elect-lease-duration soon", "`soon` is no duration"),
    ("run --max-concurrent-reconciles many", "--max-concurrent-reconciles"),
    ("up --example nothing", "there is no example `nothing`"),
]
KUBECONFIGS = [
    ("--kubeconfig none.yaml", "kubeconfig does not exist"),
    ("--kubeconfig kubeconfig-broken.yaml", "kubeconfig cannot be read"),
    ("--kubeconfig kubeconfig.yaml --context two", "unknown context `two`"),
    ("--kubeconfig kubeconfig.yaml", "https://127.0.0.1:1 cannot be reached"),
]


def check(line: str, sentence: str) -> None:
    """Run a line that cannot be done, and look at how it says so."""
    ran = run(*shlex.split(line))
    assert ran.code == 2, (ran.out, ran.err)
    assert ran.err.startswith("error: ")
    assert sentence in ran.err
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
    assert "canary" not in ran.out + ran.err
    assert not ran.out


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize(("line", "sentence"), OFFLINE)
def test_bad_input_is_named(line: str, sentence: str) -> None:
    """The sentence names the file, flag or word that is wrong."""
    check(line, sentence)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("flags", "sentence"), KUBECONFIGS)
@pytest.mark.parametrize("command", ["status -A", "why hr/x", "plan -f world --against cluster"])
def test_a_cluster_that_cannot_be_asked(command: str, flags: str, sentence: str) -> None:
    """Neither a missing file nor a silent server is ever taken for an empty cluster."""
    check(f"{command} {flags}", sentence)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("flags", "sentence"), KUBECONFIGS[:3])
def test_run_needs_a_kubeconfig_that_can_be_used(flags: str, sentence: str) -> None:
    """`run` gives up on a file, never on a cluster that is down."""
    check(f"run --metrics-bind-address 0 --health-probe-bind-address 0 {flags}", sentence)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_version_is_told_even_when_the_server_is_down() -> None:
    """What is known is printed, and the code says that the rest is not."""
    ran = run("version", "--kubeconfig", "kubeconfig.yaml")
    assert ran.code == 2
    assert ran.out.startswith("roadstead ")
    assert "cannot be reached" in ran.err


@pytest.mark.usefixtures("folder", "offline")
def test_all_problems_are_told_at_once() -> None:
    """A person mends all of them in one go."""
    ran = run("plan", "-f", "no-name.yaml", "-f", "broken.yaml", "-f", "twice.yaml")
    places = [line.strip() for line in ran.err.splitlines() if line.startswith("  ")]
    assert ran.err.count("error: ") == len(places)
    assert [place.partition(":")[0] for place in dict.fromkeys(places)] == [
        "broken.yaml",
        "no-name.yaml",
        "twice.yaml",
    ]


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize("form", ["table", "json", "sarif"])
def test_a_world_that_never_settles(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an answer of its own, with the passes that undo each other."""
    key, secret = HELM_RELEASE.ref("a", "b"), SECRET.ref("a", "b.tenant-ca")
    write = Request("update", SECRET, secret.namespace, secret.name, accepted=True)
    step = Step(5, "anchors", key, Decision(), (write,))

    def endless(*_: object, **__: object) -> None:
        raise DoesNotSettleError("anchors writing Secret/a/b.tenant-ca", (step,))

    monkeypatch.setattr(plan, "offline", endless)
    ran = run("plan", "-f", "world", "-o", form)
    assert ran.code == 2
    assert not ran.out
    assert ran.err.startswith("error: the world does not settle\n  ")
    assert "  pass 5: anchors update Secret/a/b.tenant-ca\n" in ran.err


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "file", "said"),
    [
        ("plan -f world", "world/00-platform.yaml", "cannot be read: Permission denied"),
        (
            "plan -f world --ca-sources-file table-twice.yaml",
            "table-twice.yaml",
            "the engine table cannot be read: Permission denied",
        ),
        (
            "run --ca-sources-file table-twice.yaml",
            "table-twice.yaml",
            "the engine table cannot be read: Permission denied",
        ),
    ],
)
def test_an_unreadable_file_is_named(line: str, file: str, said: str) -> None:
    """Run as somebody who may not read it; a table is never taken for an empty one."""
    Path(file).chmod(0)
    script = (
        "import os, sys; import roadstead.cli.plan, roadstead.cli.run; "
        "from roadstead.cli.main import main; "
        "main(['plan', '-f', 'nowhere']); "  # loads what this user alone may load
        f"os.getuid() or os.setuid(65534); sys.exit(main({line.split()!r}))"
    )
    folder = Path.cwd()
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.getuid() and part.stat().st_mode & 0o777 == 0o700:
            part.chmod(0o711)
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert f"error: {said}\n  {file}" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_internal_error_has_an_id_and_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The id is the same each time; what the error says may be a Secret and is not shown."""

    def broken(_: str) -> object:
        raise ValueError("canary-value")

    monkeypatch.setattr(cli, "load", broken)
    first, second = run("version"), run("version")
    loud = run("version", "-vv")
    assert first == second
    assert first.code == loud.code == 2
    assert first.err.startswith("error: internal error ")
    assert "report it" in first.err
    assert "canary-value" not in first.err + loud.err
    assert "Traceback" not in first.err
    assert "ValueError" in loud.err


def test_a_testbed_error_names_its_step_and_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person must find out why the control plane did not come up."""

    def broken(_: str) -> object:
        raise TestbedError("it did not compile", step="compile", log="build.log", hint="read it")

    monkeypatch.setattr(cli, "load", broken)
    ran = run("version")
    said = "error: it did not compile\n  step `compile`, log build.log\nhint: read it\n"
    assert said == ran.err
    assert ran.code == 2


def test_a_bug_says_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise of ours that was broken is named, since its words are ours."""

    def broken(_: str) -> object:
        raise BugError("a promise was broken")

    monkeypatch.setattr(cli, "load", broken)
    assert "a promise was broken" in run("version").err


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_reader_that_goes_away_is_no_error() -> None:
    """`roadstead plan | head -1` ends quietly."""
    command = f"{shlex.quote(sys.executable)} -m roadstead.cli.main plan -f world | true"
    ran = subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert ran.returncode == 1  # the plan's own answer: two refusals
    assert not ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        pytest.param("plan -f - <&-", 2, "error: standard input is closed", id="stdin-closed"),
        pytest.param("--help >/dev/full", 2, "the answer cannot be written", id="disk-full"),
        pytest.param("plan >&-", 2, "error: nothing to plan", id="stdout-closed"),
        pytest.param("plan 2>&-", 2, "", id="stderr-closed"),
        pytest.param("--help | true; exit ${PIPESTATUS[0]}", 0, "", id="reader-gone"),
    ],
)
def test_a_stream_that_is_gone_costs_no_exit_code(line: str, code: int, sentence: str) -> None:
    """A script that closes a stream gets an internal error, or another code."""
    command = f"{shlex.quote(sys.executable)} -u -m roadstead.cli.main {line}"
    ran = subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", command], capture_output=True, text=True, check=False
    )
    assert (code, True) == (ran.returncode, sentence in ran.stderr), ran.stderr
    assert "internal error" not in ran.stderr
