"""No output of any command or format holds a Secret's value, whatever the Secret holds."""

import shlex
from pathlib import Path

import pytest
import yaml

from canaries import CANARY, spellings, write_canaries
from certificates import CERT1, certificate
from cli_command import run

LINES = [
    "plan -f canary.yaml --steps",
    "plan -f canary.yaml --against world",
    "plan -f world --against canary.yaml",
    "plan --observed canary.yaml -f later",
    "why hr/postgres-wiki -f canary.yaml",
    "why secret/postgres-wiki-ca -n tenant-green -f canary.yaml",
    "why secret/nats-bus-ca -n tenant-green -f canary.yaml",
    "status -f canary.yaml",
    "graph -f canary.yaml",
]
FORMATS = {
    "plan": ("table", "json", "yaml", "junit", "sarif", "github"),
    "why": ("table", "json", "yaml"),
    "status": ("table", "wide", "json", "yaml", "name"),
    "graph": ("tree", "json", "yaml", "mermaid", "dot", "svg", "html"),
}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("verbose", ["", "-vv"])
def test_no_value_is_ever_printed(line: str, verbose: str, folder: Path) -> None:
    """Searched for in stdout and stderr of every format."""
    write_canaries(folder)
    for form in FORMATS[line.split(maxsplit=1)[0]]:
        ran = run(*shlex.split(verbose), *shlex.split(line), "-o", form)
        assert ran.code in {0, 1}, ran.err
        for spelled in (*spellings(CANARY), "PRIVATE KEY-----", "BEGIN CERTIFICATE"):
            assert spelled not in ran.out + ran.err


@pytest.mark.usefixtures("offline")
def test_a_broken_file_does_not_quote_what_it_holds(folder: Path) -> None:
    """A syntax error stands next to values."""
    (folder / "bad.yaml").write_text(f"data:\n  password: {CANARY.decode()}\n  - broken\n")
    ran = run("-vv", "plan", "-f", "bad.yaml")
    assert ran.code == 2
    assert CANARY.decode() not in ran.out + ran.err


@pytest.mark.usefixtures("offline")
def test_a_subject_cannot_steer_a_terminal(folder: Path) -> None:
    """A certificate's subject, an annotation and a name are anybody's text."""
    evil = certificate("evil", common_name="\x1b]0;owned\x07\x1b[2J").pem
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "evil", "namespace": "tenant-blue"},
        "stringData": {"ca.crt": evil.decode(), "tls.crt": CERT1.decode()},
    }
    (folder / "evil.yaml").write_text(yaml.safe_dump(body))
    ran = run(
        "why", "secret/evil", "-n", "tenant-blue", "-f", "world", "-f", "evil.yaml", width=100
    )
    assert ran.code == 0, ran.err
    assert "\x07" not in ran.out
    assert "\x1b[2J" not in ran.out
    assert "\x1b]0" not in ran.out
