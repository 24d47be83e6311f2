"""The offline driver: passes to a fixpoint, loops named, bugs told."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from roadstead.decision import Decision, Reader, Want
from roadstead.errors import BugError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, SECRET, Ref
from roadstead.settings import Settings
from roadstead.sim.cases import main
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import load_text
from roadstead.sim.requests import By
from roadstead.sim.settle import DoesNotSettleError, Settler, drive
from roadstead.sim.world import World
from roadstead.wiring import Controller, Watch
from toy import COPIES, TOY, WORLD, Seen, contrary, itself, observe


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


def test_a_write_wakes_whoever_else_watches_the_kind() -> None:
    """The writer knows its own write already, so the watch's word of it is no news to anybody."""

    async def look(reader: Reader, key: Ref) -> Object | None:
        return reader.get(COPIES, key.namespace, key.name)

    heir = Controller(
        "heir", "heir", (Watch(COPIES, itself),), look, lambda _seen: Decision(), TOY.report
    )
    played = settler(TOY, heir)
    played.settle()

    keys = [(step.controller, str(step.key)) for step in played.steps]
    assert 1 == keys.count(("heir", "Secret t/c-copy"))
    assert 2 == keys.count(("toy", "ConfigMap t/c")), (
        "its own key is looked at once more, not twice"
    )


def test_stand_ins_act_once_ours_rests() -> None:
    """Both go on until neither has anything to do; passes and requests of theirs are no ours'."""

    def copied(seen: Seen) -> Decision:
        done = seen.copy is None or "seen" in seen.copy.labels
        return Decision() if done else Decision(want=(labelled(seen),))

    def labelled(seen: Seen) -> Want:
        assert seen.copy is not None
        meta = {**seen.copy.body["metadata"], "labels": {"seen": "yes"}}
        return Want.replace(SECRET, {**seen.copy.body, "metadata": meta}, seen.copy)

    other = replace(TOY, name="other", decide=copied, checked=False)
    world = World(START, Kinds())
    for placed in load_text(WORLD, "world.yaml", world.kinds, START).objects:
        world.seed(placed.body, placed.ref)
    played = Settler(world, (TOY,), Settings(), (other,))
    played.settle()

    copy = world.store.get(SECRET.ref("t", "c-copy"))
    assert copy is not None
    assert {"seen": "yes"} == dict(copy.labels)
    assert {"toy"} == {step.controller for step in played.steps}
    assert frozenset({SECRET.ref("t", "c-copy")}) == played.acted
    assert ["create"] == [one.verb for one in world.requests.since() if one.write]


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
