"""Accepts the classes it plays."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from roadstead.decision import Cached, Decision, Reader, Status
from roadstead.kube.conditions import TRUE, Condition, fold
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part
from roadstead.sim.actors.gateway_class.views import CLASSES, controller_of
from roadstead.wiring import Controller, Watch


@dataclass(frozen=True, slots=True)
class Seen:
    """One class that is ours to play."""

    now: datetime
    one: Object


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """A class of ours; None for another's."""
    one = await reader.see(CLASSES, "", key.name)
    mine = one is not None and controller_of(one) and not one.deleting
    return Seen(reader.now, one) if mine and one is not None else None


def decide(seen: Seen) -> Decision:
    """Say that the class is accepted."""
    before = part(seen.one.body, "status")
    name = controller_of(seen.one)
    said = Condition("Accepted", TRUE, "Accepted", f"{name} plays this class")
    conditions = fold(items(before, "conditions"), (said,), seen.now, seen.one.meta.generation)
    return Decision(status=Status(seen.one, {**before, "conditions": conditions}))


def class_itself(one: Object, _cached: Cached) -> Iterator[Ref]:
    """A class wakes itself."""
    yield one.ref


CLASSES_CONTROLLER = Controller(
    name="stand-in-classes",
    component="stand-in-gateway-class",
    watches=(Watch(CLASSES, class_itself),),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,
    checked=False,
)
