"""What `roadstead check` prints of a cluster as it was seen, in every format.

The facts are laid down here; that they are read as they are is shown on the real API server.
"""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from check_facts import BEFORE, INSTALLED, KINDS, LEASES, WEBHOOK, gateway, serving
from cli_command import run
from roadstead.cli import check
from roadstead.cli.survey.policies import as_shipped
from roadstead.explain.checks.facts import (
    Facts,
    Granted,
    Held,
    Pod,
    Probed,
    Stated,
    Stored,
    Unasked,
    Unreadable,
)

GOLDEN = Path(__file__).parent / "golden-check"
SCHEMA = Path(check.__file__).parent.parent / "schemas" / "cli-check.json"
NO = Unasked("you may not list leases.coordination.k8s.io in roadstead-system")
AFTER = replace(BEFORE, may={}, installed=INSTALLED)
BARE = replace(
    BEFORE,
    served=serving(*KINDS[:2], *KINDS[5:]),
    stated=Stated({"gateway": {"tenantSelectableClasses": ["edge-tunel"]}}, "platform.yaml"),
)
ILL = replace(
    BEFORE,
    may={},
    systems={"cozy-cilium": False, "cozy-system": True},
    owner_refs=Unasked("you may not list deployments.apps"),
    stated=Stated(),
    installed=replace(
        INSTALLED,
        rights=(
            Granted("roadstead-anchors", "list secrets", allowed=False),
            Granted("roadstead-anchors", "watch secrets", allowed=True),
        ),
        policies={"ValidatingAdmissionPolicyBinding roadstead-anchors-secrets": "is not there"},
        served=dict.fromkeys(INSTALLED.shipped, 1),
        leases=NO,
        pods=(Pod("roadstead-anchors-1", ready=False, said="manager waits: CrashLoopBackOff"),),
        stored=Stored(
            9, 2, (Unreadable("EndpointAttachment tenant-a/x", "does not fit the schema at spec"),)
        ),
        listeners={gateway("tenant-root"): 60},
        webhook=replace(
            WEBHOOK,
            endpoints=0,
            probed=Probed(
                "tenant-root",
                500,
                "create Secret tenant-root/roadstead-check: 500 InternalError: Internal error "
                'occurred: failed calling webhook "lineage.cozystack.io": no endpoints available',
            ),
        ),
    ),
)
GONE = replace(AFTER, installed=replace(INSTALLED, leases={LEASES[0]: Held("")}))
WORLDS = {"before": (BEFORE, 0), "bare": (BARE, 1), "after": (AFTER, 0), "ill": (ILL, 1)}
FORMATS = ("table", "short", "json", "yaml", "junit")
LINES = (
    *((name, f"-o {form}", 0, "utf-8") for name in ("bare", "ill") for form in FORMATS),
    ("before", "", 0, "utf-8"),
    ("after", "", 0, "utf-8"),
    ("after", "-o short", 0, "utf-8"),
    ("ill", "", 0, "ascii"),
    ("ill", "--no-color", 80, "utf-8"),
    ("ill", "", 200, "utf-8"),
)
See = Callable[[Facts], None]


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> See:
    """Have the command see certain facts."""

    def seeing(facts: Facts) -> None:
        monkeypatch.setattr(check, "_facts", lambda *_, **__: facts)

    return seeing


def line(name: str, more: str = "") -> tuple[str, ...]:
    """The command line that a world belongs to."""
    pre = ["--pre"] if WORLDS[name][0].installed is None else []
    return ("check", *pre, *shlex.split(more))


@pytest.mark.parametrize(("name", "more", "width", "encoding"), LINES)
def test_it_says_what_its_golden_holds(
    see: See, name: str, more: str, width: int, encoding: str
) -> None:
    """`ACCEPT=1` writes them anew; read the diff before you commit it."""
    see(WORLDS[name][0])
    ran = run(*line(name, more), width=width, encoding=encoding)
    shown = ran.out.replace("\x1b", "\\e")
    words = " ".join(line(name, more))
    got = f"$ roadstead {words}\n--- stdout\n{shown}--- stderr\n{ran.err}--- exit {ran.code}\n"
    last = [str(width) if width else "", "" if encoding == "utf-8" else encoding]
    form = more.removeprefix("-o ") if more.startswith("-o") else ""
    file = GOLDEN / ("-".join(part for part in (name, form, *last) if part) + ".txt")
    if os.environ.get("ACCEPT"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(got, encoding="utf-8")

    assert file.read_text(encoding="utf-8") == got


@pytest.mark.parametrize("name", WORLDS)
def test_every_format_has_the_same_code(see: See, name: str) -> None:
    """A pipeline that switches to JSON must not start or stop failing."""
    see(WORLDS[name][0])

    codes = {form: run(*line(name), "-o", form).code for form in FORMATS}
    codes |= {more: run(*line(name), more).code for more in ("--no-color", "--color=always")}

    assert {WORLDS[name][1]} == set(codes.values())


@pytest.mark.parametrize("name", WORLDS)
def test_json_keeps_to_its_schema_and_yaml_says_the_same(see: See, name: str) -> None:
    """Every JSON has a version and a published schema."""
    see(WORLDS[name][0])

    found = json.loads(run(*line(name), "-o", "json").out)

    jsonschema_rs.validator_for(json.loads(SCHEMA.read_text())).validate(found)
    assert found == yaml.safe_load(run(*line(name), "-o", "yaml").out)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (AFTER, 0),
        (replace(AFTER, installed=replace(INSTALLED, leases=NO)), 1),
        (replace(AFTER, installed=replace(INSTALLED, pods=())), 1),
    ],
    ids=["well", "not-checked", "warning"],
)
def test_strict_fails_for_what_was_not_checked_too(see: See, facts: Facts, code: int) -> None:
    """A pipeline with too few rights must be able to notice."""
    see(facts)

    assert (0, code) == (run("check").code, run("check", "--strict").code)


def test_a_narrow_terminal_loses_no_word(see: See) -> None:
    """What does not fit is wrapped, never cut."""
    see(ILL)

    assert run("check").out.split() == run("check", "--no-color", width=80).out.split()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-n", "Not_A_Name"), "`Not_A_Name` is no name of a namespace"),
        (("-o", "sarif"), "there is no format `sarif` here"),
        (("--platform-values", "nowhere.yaml"), "cannot be read"),
        (("--settings", "nowhere.yaml"), "cannot be read"),
    ],
)
@pytest.mark.usefixtures("folder", "offline")
def test_what_cannot_be_asked_is_an_error(words: tuple[str, ...], said: str) -> None:
    """It could not do it, which is another thing than no."""
    ran = run("check", *words)

    assert (2, "") == (ran.code, ran.out)
    assert said in ran.err


@pytest.mark.usefixtures("folder")
def test_a_kubeconfig_that_is_not_there_is_named() -> None:
    """As of every command that asks a cluster."""
    ran = run("check", "--kubeconfig", "nowhere")

    assert (2, "") == (ran.code, ran.out)
    assert "nowhere" in ran.err


@pytest.mark.usefixtures("folder", "offline")
def test_values_that_are_no_map_are_an_error() -> None:
    """A list of values would be taken for none."""
    Path("values.yaml").write_text("- a\n", encoding="utf-8")

    assert 2 == run("check", "--pre", "--platform-values", "values.yaml").code


def test_no_golden_is_left_over(see: See) -> None:
    """A file that no test reads holds nothing."""
    see(GONE)
    assert "was given up" in run("check").out
    assert len(LINES) == len(list(GOLDEN.glob("*.txt")))


STORED: dict[str, Any] = {
    "failurePolicy": "Fail",
    "matchConstraints": {"resourceRules": [{"resources": ["secrets"]}]},
}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"failurePolicy": "Ignore"}, False),
        ({"matchConditions": [{"name": "never", "expression": "false"}]}, False),
        ({"variables": [], "paramKind": None}, True),
        ({"matchConstraints": {**STORED["matchConstraints"], "matchPolicy": "Equivalent"}}, True),
        ({"matchConstraints": {"resourceRules": []}}, False),
        ({"matchConstraints": {"resourceRules": [{"resources": ["secrets"], "scope": "*"}]}}, True),
        ({"matchConstraints": None}, False),
    ],
)
def test_what_the_server_fills_in_is_no_edit(change: dict[str, object], same: bool) -> None:
    """A policy that somebody has loosened is told from one that is stored as it was sent."""
    assert same == as_shipped(STORED, {**STORED, **change})
