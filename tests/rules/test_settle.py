"""The offline driver: passes to a fixpoint, loops named, bugs told."""

from collections.abc import Generator
from pathlib import Path

import pytest

from roadstead.decision import Decision
from roadstead.errors import BugError
from roadstead.kube.refs import CONFIG_MAP
from roadstead.settings import Settings
from roadstead.sim.cases import main
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import load_text
from roadstead.sim.requests import By
from roadstead.sim.settle import DoesNotSettleError, Settler, drive
from roadstead.sim.world import World
from roadstead.wiring import Controller
from toy import TOY, WORLD, Seen, contrary, observe


def broken(error: Exception) -> Controller:
    """A controller that has a bug."""

    def breaks(_seen: Seen) -> Decision:
        raise error

    return Controller("toy", "toy", TOY.watches, observe, breaks, TOY.report)


def settler(*controllers: Controller) -> Settler:
    """A process over the toy's world."""
    world = World(START, Kinds())
    for placed in load_text(WORLD, "world.yaml", world.kinds, START).objects:
        world.seed(placed.body, placed.ref)
    return Settler(world, controllers, Settings())


def test_a_fresh_list_lags_behind_too() -> None:
    """A process that starts sees no more than one that ran."""
    played = settler(TOY)
    played.settle()
    played.hold(CONFIG_MAP, 2)
    merge = {"data": {"value": "two"}}
    played.world.merge(CONFIG_MAP.ref("t", "c"), merge, By.OTHER)
    played.restart(Settings())

    played.settle()

    wrote = [(step.number, len(step.writes)) for step in played.steps[2:]]
    assert [0, 1, 0] == [count for _, count in wrote]


def test_each_pass_says_what_it_wrote() -> None:
    """`plan --steps` prints these."""
    played = settler(TOY)
    played.settle()

    told = [(s.number, s.controller, str(s.key), [str(w) for w in s.writes]) for s in played.steps]
    assert (1, "toy", "ConfigMap t/c", ["create Secret/t/c-copy"]) == told[0]
    assert all(not writes for *_, writes in told[1:])


def test_a_world_that_never_settles_names_who_fights() -> None:
    """Both controllers and the object between them."""
    played = settler(contrary("east", "e"), contrary("west", "w"))

    with pytest.raises(DoesNotSettleError, match=r"east, west writing Secret/t/c-copy") as endless:
        played.settle()

    assert {"east", "west"} == {step.controller for step in endless.value.steps}


def test_a_pass_that_waits_is_our_mistake() -> None:
    """Offline nobody would ever wake it."""

    class Never:
        def __await__(self) -> Generator[None, None, None]:
            yield

    async def waits() -> None:
        await Never()

    with pytest.raises(BugError):
        drive(waits())


def test_a_bug_of_ours_fails_its_case_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others still run, and the text of a foreign exception stays out: it may quote a value."""
    for name, text in {"world": WORLD, "want": "{}"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    for error, told in ((BugError("told"), "told"), (ValueError("quoted"), "ValueError at")):
        monkeypatch.setattr("roadstead.sim.cases.controllers", lambda e=error: {"toy": broken(e)})
        assert main([str(tmp_path)]) == 1
        said = capsys.readouterr().out
        assert told in said
        assert "quoted" not in said
