"""What a folder must hold to be a case, and how its mistakes are told."""

from pathlib import Path

import pytest

from roadstead.errors import InputError
from roadstead.sim.cases import UnreadableCaseError, find_cases, main, read_case
from toy import KNOWN, WORLD, case


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param({"world": "- 1"}, "world.yaml:1:1", id="world"),
        pytest.param({"world": WORLD + "---" + WORLD}, "already at", id="twice"),
        pytest.param({"steps": "[{jump: {}}]"}, "a step is one key of settle", id="step"),
        pytest.param({"steps": "{}"}, "a list", id="steps"),
        pytest.param({"want": ""}, "empty", id="want"),
        pytest.param({"settings": "capabilities: [nope]"}, "there are toy", id="capability"),
        pytest.param({"settings": "standIns: [nope]"}, "standIns: no `nope`", id="stand-in"),
        pytest.param({"settings": "only: never"}, "cluster or world", id="only"),
        pytest.param({"settings": "nope: 1"}, "no flag of `run`", id="flag"),
        pytest.param({"settings": "now: late"}, "RFC 3339", id="now"),
        pytest.param({"settings": "[]"}, "settings.yaml is a map", id="settings"),
        pytest.param({"settings": "allowWithdrawals: 1"}, "a list", id="flag-of-a-list"),
        pytest.param({"want": "[]"}, "want.yaml is a map", id="want-is-a-map"),
        pytest.param({"want": "{}\n---\n{}"}, "one document", id="two-wants"),
        pytest.param({"want": "{a"}, "want.yaml:", id="no-yaml"),
    ],
)
def test_a_case_that_cannot_be_read_says_why(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    """With the file, and all of it at once."""
    with pytest.raises(UnreadableCaseError, match=told):
        case(tmp_path, **({"steps": "[]"} | files))


@pytest.mark.parametrize(
    "steps",
    [
        "[{patch: {of: c, merge: {}}}]",
        "[{patch: {of: ConfigMap/t/c}}]",
        "[{tick: soon}]",
        "[{fault: {verb: guess}}]",
        "[{fault: {status: often}}]",
        "[{fault: {colour: red}}]",
        "[{hold: {kind: Nope}}]",
        "[{serve: {kind: Secret, now: perhaps}}]",
        "[{apply: {kind: Secret}}]",
        '[{delete: "ConfigMap/t/${minted:X}/y"}]',
        '[{patch: {of: ConfigMap/t/c, merge: {data: {value: "${uid:ConfigMap/t/no}"}}}}]',
        "[{expect: {object: []}}]",
        "[{restart: {nope: 1}}]",
        "[{restart: []}]",
        "[{delete: []}]",
        "[{hold: {kind: Secret, for: long}}]",
        "[{expect: {objects: {}}}]",
        "[{expect: {objects: [{kind: Secret}]}}]",
        "[{expect: {objects: [{metadata: {name: c}}]}}]",
        "[{expect: {exactly: [ConfigMap/t/c: data]}}]",
        "[{expect: {events: [{reason: Why}]}}]",
        "[{expect: {requeue: []}}]",
        "[{apply: {kind: Secret, metadata: {name: x}}}]",
    ],
)
def test_a_step_that_cannot_be_read_tells_its_place(tmp_path: Path, steps: str) -> None:
    """The author sees which line to mend."""
    with pytest.raises(InputError) as unread:
        case(tmp_path, steps)

    assert unread.value.place.endswith("steps.yaml:1:2")


def test_the_command_plays_every_case_below_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line each, the counts last, and the code tells which it was."""
    files = {"world": WORLD, "want": "exit: 0", "settings": "{capabilities: []}"}
    for name in ("toy/one", "toy/two", "toy/three"):
        (tmp_path / name).mkdir(parents=True)
        for file, text in files.items():
            (tmp_path / name / f"{file}.yaml").write_text(text)
    assert main([str(tmp_path)]) == 0

    (tmp_path / "toy/two/want.yaml").write_text("exit: 1")
    assert main([str(tmp_path)]) == 1
    (tmp_path / "toy/three/settings.yaml").write_text("only: cluster")
    (tmp_path / "toy/one/world.yaml").write_text("[]")
    assert main([str(tmp_path)]) == 2

    said = capsys.readouterr().out
    assert "3 passed, 0 failed\n" in said
    assert "FAIL toy/two\n     exit: wanted 1, got 0\n2 passed, 1 failed\n" in said
    assert said.endswith("0 passed, 1 failed, 1 skipped, 1 unreadable\n")


def test_a_uid_of_nothing_is_told(tmp_path: Path) -> None:
    """In world.yaml too, with the object that asks for it."""
    owners = '[{apiVersion: v1, kind: ConfigMap, name: x, uid: "${uid:%s}"}]'
    for path in ("ConfigMap/t/x", "Nope/t/x"):
        world = WORLD.replace("labels:", f"ownerReferences: {owners % path}, labels:")
        with pytest.raises(InputError) as told:
            case(tmp_path, "[]", world=world)
        assert told.value.place.endswith("world.yaml:2:1")


def test_an_object_the_api_refuses_is_told_with_its_place(tmp_path: Path) -> None:
    """A world that no cluster could hold is no world."""
    with pytest.raises(InputError, match="Invalid value") as told:
        case(tmp_path, "[]", world=WORLD.replace("name: c", "name: C"))

    assert told.value.place.endswith("world.yaml:2:1")


@pytest.mark.parametrize(
    ("parent", "told"), [("toy", ""), ("elsewhere", ""), ("services", "acts in no world")]
)
def test_a_case_runs_the_capability_of_its_folder(tmp_path: Path, parent: str, told: str) -> None:
    """A folder of another name runs all there are; one of what only renders is told."""
    folder = tmp_path / parent / "case"
    folder.mkdir(parents=True)
    try:
        case(folder, "[]", settings="# nothing")
        assert tuple(KNOWN.values()) == read_case(folder, known=KNOWN).controllers
        said = ""
    except UnreadableCaseError as error:
        said = str(error)

    assert told in said
    assert bool(told) is bool(said)


def test_a_folder_without_cases_is_told(tmp_path: Path) -> None:
    """A mistyped path must not pass."""
    with pytest.raises(InputError, match="no case"):
        list(find_cases(tmp_path))
