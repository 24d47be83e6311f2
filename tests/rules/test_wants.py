"""Each key of want.yaml is judged as its format says."""

from datetime import timedelta
from typing import Any

import pytest

from roadstead.decision import Event, Finding, Verdict
from roadstead.errors import InputError
from roadstead.kube.refs import CONFIG_MAP, SECRET
from roadstead.settings import Settings
from roadstead.sim.accept import accepted
from roadstead.sim.cases import names_of
from roadstead.sim.offline import Offline
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.scene import Scene
from roadstead.sim.settle import drive
from roadstead.sim.stage import Answer, Timer
from roadstead.sim.traces import _is_timer
from roadstead.sim.wants import judge
from roadstead.sim.world import World
from worlds import CANARY, GATEWAY, LIVE, NOW, live_secret


def scene() -> Scene:
    """A world in which we made one Secret, minted one, told of one event, and deleted one."""
    at = World(NOW)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "t"}}
    at.create(CONFIG_MAP, body, By.OTHER)
    stage = Offline(at, (), Settings())
    stage.begin()
    ours = Ours(at)
    for meta in ({"name": "made"}, {"generateName": "shop-"}, {"name": "gone"}):
        drive(ours.create(SECRET, {**live_secret().body, "metadata": {**meta, "namespace": "t"}}))
    gone = at.store.get(SECRET.ref("t", "gone"))
    assert gone is not None
    drive(ours.delete(gone.ref, gone.meta.uid, ""))
    event = Event(CONFIG_MAP.ref("t", "c"), "u", "Refused", "it holds a key")
    drive(ours.publish("toy", event, 0))
    return Scene(stage, names_of(stage))


@pytest.mark.parametrize(
    ("want", "count"),
    [
        pytest.param({"absent": ["Secret/t/gone", "Secret/t/never"]}, 0, id="absent"),
        pytest.param({"absent": ["Secret/t/made"]}, 1, id="there"),
        pytest.param({"untouched": ["ConfigMap/t/c"]}, 0, id="untouched"),
        pytest.param({"untouched": ["Secret/t/made"]}, 1, id="touched"),
        pytest.param({"writes": 4}, 0, id="writes"),
        pytest.param({"writes": 0}, 1, id="more-writes"),
        pytest.param(
            {
                "writes": [
                    "create Secret/t/gone",
                    "delete Secret/t/gone with uid",
                    "create Secret/t/${minted:A}",
                    "create Secret/t/made",
                ]
            },
            0,
            id="writes-of-two-objects-have-no-order",
        ),
        pytest.param(
            {
                "writes": [
                    "delete Secret/t/gone",
                    "create Secret/t/gone",
                    "create Secret/t/${minted:A}",
                    "create Secret/t/made",
                ]
            },
            1,
            id="writes-of-one-object-have",
        ),
        pytest.param(
            {
                "writes": [
                    "create Secret/t/gone",
                    "delete Secret/t/gone with uid,resourceVersion",
                    "create Secret/t/${any}",
                    "create Secret/t/${any}",
                ]
            },
            1,
            id="precondition",
        ),
        pytest.param({"events": []}, 1, id="an-event-too-many"),
        pytest.param(
            {"events": [{"about": "ConfigMap/t/c", "reason": "Refused", "message": "holds.*key"}]},
            0,
            id="event",
        ),
        pytest.param(
            {"events": [{"about": "ConfigMap/t/c", "message": "${has:key}${lacks:secret}"}]},
            0,
            id="event-has",
        ),
        pytest.param(
            {"events": [{"about": "ConfigMap/t/c", "reason": "Other"}]}, 1, id="other-event"
        ),
        pytest.param({"atMost": {"create Secret": 3}}, 0, id="at-most"),
        pytest.param({"atMost": {"create Secret": 2}}, 1, id="too-many"),
        pytest.param({"unread": ["ConfigMap/t/c"]}, 0, id="unread"),
        pytest.param({"unread": ["Secret/t/gone"]}, 1, id="named"),
        pytest.param({"requeue": {"t/c": "none"}}, 0, id="no-timer"),
        pytest.param({"requeue": {"t/c": "5m"}}, 1, id="timer"),
        pytest.param(
            {
                "objects": [
                    {
                        "kind": "Secret",
                        "metadata": {"name": "${minted:A}", "namespace": "t"},
                        "stringData": {"k": CANARY},
                    }
                ],
                "absent": ["Secret/t/${minted:B}"],
            },
            0,
            id="minted",
        ),
        pytest.param({"absent": ["Secret/t/${minted:B}"]}, 1, id="minted-too-many"),
        pytest.param(
            {"objects": [{"kind": "Secret", "metadata": {"name": "x", "namespace": "t"}}]},
            1,
            id="not-there",
        ),
    ],
)
def test_each_key_is_judged(want: dict[str, Any], count: int) -> None:
    """Each row is one thing a case may ask of what we did."""
    assert count == len(judge(want, scene()))


@pytest.mark.parametrize(
    ("want", "answer", "count"),
    [
        pytest.param({}, Answer(), 0, id="went-through"),
        pytest.param({}, Answer(422, "no"), 1, id="a-refusal-nobody-wanted"),
        pytest.param({"refused": {"code": 422, "message": "n."}}, Answer(422, "no"), 0, id="same"),
        pytest.param({"refused": {"code": 403}}, Answer(422, "no"), 1, id="other-code"),
        pytest.param({"refused": {"code": 422}}, Answer(), 1, id="wanted-a-refusal"),
        pytest.param({"warnings": ["a"]}, Answer(warnings=("has a",)), 0, id="warning"),
        pytest.param({"warnings": []}, Answer(warnings=("has a",)), 1, id="a-warning-too-many"),
    ],
)
def test_the_answer_to_another_writer(want: dict[str, Any], answer: Answer, count: int) -> None:
    """A refusal that nobody speaks of is a difference."""
    played = scene()
    played.answer = answer

    assert count == len(judge(want, played))


@pytest.mark.parametrize(
    ("wanted", "timer", "same"),
    [
        ("5m", Timer(timedelta(minutes=5), timedelta(minutes=2), backoff=False), True),
        ("2m", Timer(timedelta(minutes=5), timedelta(minutes=2), backoff=False), True),
        ("5m", Timer(timedelta(seconds=271), timedelta(seconds=271), backoff=False), True),
        ("5m", Timer(timedelta(seconds=260), timedelta(seconds=260), backoff=False), False),
        ("backoff", Timer(timedelta(seconds=1), timedelta(seconds=1), backoff=True), True),
        ("1s", Timer(timedelta(seconds=1), timedelta(seconds=1), backoff=True), False),
        ("none", None, True),
        ("5m", None, False),
    ],
)
def test_a_timer_is_within_its_jitter(wanted: str, timer: Timer | None, *, same: bool) -> None:
    """By the length it was set to, or by what is left of it."""
    assert same is _is_timer(wanted, timer)


class Trailed(Offline):
    """A stage on which one key has been judged."""

    def trails(self) -> dict[tuple[str, Any], tuple[Finding, ...]]:
        """Two findings."""
        key = CONFIG_MAP.ref("t", "c")
        stop = Finding("no-key", Verdict.REFUSE, "Refused", "no")
        return {("toy", key): (Finding("there", Verdict.PASS), stop)}


@pytest.mark.parametrize(
    ("want", "count"),
    [
        pytest.param([{"rule": "no-key", "verdict": "refuse", "reason": "Refused"}], 0, id="stop"),
        pytest.param([{"rule": "there"}, {"verdict": "refuse"}], 0, id="both"),
        pytest.param([{"verdict": "refuse"}, {"rule": "there"}], 1, id="order"),
        pytest.param([], 1, id="none"),
        pytest.param([{"of": "t/c", "rule": "there"}], 0, id="of"),
        pytest.param({"of": "ConfigMap/t/c", "trail": [{"rule": "there"}]}, 0, id="of-a-map"),
        pytest.param([{"of": "t/other", "rule": "there"}], 1, id="of-another"),
    ],
)
def test_the_trail_of_a_key(want: Any, count: int) -> None:
    """The stated findings stand in it, in their order."""
    stage = Trailed(World(NOW), (), Settings())

    assert count == len(judge({"findings": want}, Scene(stage, names_of(stage))))


def test_an_unknown_key_is_the_authors_mistake() -> None:
    """A want that is never judged would always pass."""
    with pytest.raises(InputError, match="`object` is no key"):
        judge({"object": []}, scene())


def test_accepting_rewrites_what_differs_and_nothing_else() -> None:
    """The order of the file and what holds in it stay."""
    want = {
        "writes": 1,
        "objects": [
            {
                "kind": "Secret",
                "metadata": {"name": "made", "namespace": "t", "uid": "${any}"},
                "stringData": {"k": "old"},
            }
        ],
        "events": [],
        "absent": ["Secret/t/gone"],
    }
    played = scene()

    made = accepted(want, played)

    assert [{"reason": "Refused"}] == [{"reason": told["reason"]} for told in made["events"]]
    assert list(want) == list(made)
    assert made["objects"][0]["metadata"] == {"name": "made", "namespace": "t", "uid": "${any}"}
    assert not judge(made, played)


def test_accepting_takes_lists_and_traces_as_they_are() -> None:
    """Entries of keyed lists stay as narrow as they were stated."""
    world = World(NOW)
    world.create(GATEWAY, LIVE.body, By.OTHER)
    stage = Trailed(world, (), Settings())
    want = {
        "objects": [
            {
                "kind": "Gateway",
                "metadata": {"name": "g", "namespace": "t"},
                "spec": {"listeners": [{"name": "http", "port": 81}], "addresses": []},
            }
        ],
        "writes": ["create Secret/t/x"],
        "reads": {"get": 3},
        "requeue": {"t/c": "5m"},
        "findings": [{"rule": "other"}],
        "exit": 7,
    }
    scene = Scene(stage, names_of(stage), exit_code=1)

    made = accepted(want, scene)

    whole = {"name": "https", "port": 443, "allowedRoutes": {"namespaces": {"from": "Same"}}}
    assert [{"name": "http", "port": 80}, whole] == made["objects"][0]["spec"]["listeners"]
    assert ([], {"t/c": "none"}, 1) == (made["writes"], made["requeue"], made["exit"])
    assert not judge(made | {"reads": {}}, scene)
