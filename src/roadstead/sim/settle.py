"""Run decisions over a world until nothing is written any more, and say which pass wrote what.

The engine is the one that runs live. Here its lists, watches and timers are fed from a world's
log, one pass at a time, in an order that is the same for the same world.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from roadstead.decision import Decision
from roadstead.engine.engine import Desk, Engine
from roadstead.engine.passes import Passed
from roadstead.engine.store import State
from roadstead.errors import BugError, RoadsteadError
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.sim.ours import Ours, viewed
from roadstead.sim.requests import By, Request
from roadstead.sim.store import slot
from roadstead.sim.world import World
from roadstead.wiring import Controller

PASSES_AT_LEAST = 1_000
PASSES_PER_OBJECT = 50
REPEATS = 3
"""A key that brings about the same state this often within one settling is in a loop."""
LONGEST_PAUSE = 300.0

Value = TypeVar("Value")


class DoesNotSettleError(RoadsteadError):
    """Passes undo each other for ever.

    steps: the passes of one round that wrote.
    """

    def __init__(self, message: str, steps: tuple["Step", ...]) -> None:
        """Keep the round."""
        super().__init__(message)
        self.steps = steps


@dataclass(frozen=True, slots=True)
class Step:
    """One pass. number: from 1, over the whole case. writes: the accepted ones."""

    number: int
    controller: str
    key: Ref
    decision: Decision
    writes: tuple[Request, ...]


def drive(work: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine that never suspends.

    Raises: BugError when it does: offline there is nobody who would wake it.
    """
    try:
        work.send(None)
    except StopIteration as end:
        value: Value = end.value
        return value
    work.close()
    raise BugError("a pass waits for something that the offline world does not have")


class WorldClock:
    """Both times of an engine, from a world's clock."""

    def __init__(self, world: World) -> None:
        """Start at the world's time."""
        self._world = world
        self._start = world.now
        self._steady = 0.0

    def wall(self) -> datetime:
        """The world's time."""
        return self._world.now

    def steady(self) -> float:
        """Seconds since the start."""
        return self._steady

    def move(self, steady: float) -> None:
        """Let it be so many seconds after the start."""
        self._steady = steady
        self._world.now = self._start + timedelta(seconds=steady)


class Settler:
    """The second driver: one process of ours over one world, and its neighbours' stand-ins.

    engine: as it is now; a restart makes a new one. steps: every pass of ours so far.
    last: what the last pass came to. lengths: of the timer each key was last given, in seconds.
    neighbours: what drives the stand-ins; None where nobody acts beside us.
    """

    by = By.US

    def __init__(
        self,
        world: World,
        controllers: Iterable[Controller],
        settings: Settings,
        stand_ins: Iterable[Controller] = (),
    ) -> None:
        """Start a process; it lists nothing before it is first asked to settle.

        stand_ins: they act once ours has nothing to do, and as long as either has.
        """
        self.world = world
        self.clock = WorldClock(world)
        self.steps: list[Step] = []
        self.last: Passed | None = None
        self._controllers = tuple(controllers)
        self._api = Ours(world, self._visible, self.by)
        self._holds: dict[tuple[str, str], int] = {}
        self._births: list[int] = []
        self._passes = 0
        self._print = _Fingerprint(world)
        self.restart(settings)
        others = tuple(stand_ins)
        self.neighbours: Settler | None = _Neighbours(self, others) if others else None

    def restart(self, settings: Settings) -> None:
        """End the process and start it with these flags; everything in memory is gone."""
        self._api.forget()
        self.engine = Engine(self._controllers, settings, self.clock)
        self.lengths: dict[tuple[str, Ref], float] = {}
        self._told: dict[View, int] = {}
        self._pauses: dict[View, tuple[float, float]] = {}

    def hold(self, kind: Kind, passes: int) -> None:
        """Let every view and every list of a kind lag behind by so many passes."""
        self._holds[kind.group, kind.kind] = passes

    def settle(self) -> None:
        """Run every key that is ready until nothing is written; lists that failed are retried.

        Raises: DoesNotSettleError.
        """
        self._pauses.clear()
        self._run()

    def tick(self, span: timedelta) -> None:
        """Let time pass; due timers fire in order.

        Raises: DoesNotSettleError.
        """
        end = self.clock.steady() + span.total_seconds()
        self._run()
        while (due := self._next_due()) is not None and due <= end:
            self.clock.move(max(due, self.clock.steady()))
            self._run()
        self.clock.move(end)
        self._run()

    def _next_due(self) -> float | None:
        timers = [desk.queue.next_due() for desk in self._open_desks()]
        retries = [due for due, _ in self._pauses.values()]
        return min((due for due in (*timers, *retries) if due is not None), default=None)

    def _run(self) -> None:
        """Run passes until no key is ready, nothing lags behind and nothing is collected."""
        most = PASSES_AT_LEAST + PASSES_PER_OBJECT * len(self.world.store.all())
        first = len(self.steps)
        states: Counter[tuple[int, str, Ref]] = Counter()
        self._feed()
        while True:
            for name in self.engine.desks:
                self._pass(name, states, first)
            if len(self.steps) - first > most:
                raise self._endless(first, f"{most} passes were not enough")
            if any(len(desk.queue) for desk in self._open_desks()):
                continue
            if self._lags():
                self._passes += 1
            elif not self._others_act() and not self.world.collect():
                return
            self._feed()

    def _others_act(self) -> bool:
        """Let the stand-ins run until they write nothing; gives whether anything changed."""
        if self.neighbours is None:
            return False
        before = self.world.store.version
        self.neighbours.settle()
        return self.world.store.version != before

    @property
    def acted(self) -> frozenset[Ref]:
        """The objects that stand-ins have written."""
        steps = self.neighbours.steps if self.neighbours is not None else ()
        return frozenset(write.ref for step in steps for write in step.writes)

    def _open_desks(self) -> Iterator[Desk]:
        return (desk for name, desk in self.engine.desks.items() if self.engine.ready(name))

    def _pass(self, name: str, states: Counter[tuple[int, str, Ref]], first: int) -> None:
        taken = self.engine.take(name)
        if taken is None:
            return
        self._passes += 1
        self.world.requests.turn = self._passes
        mark = len(self.world.requests)
        passed = drive(self.engine.work(name, taken.key, self._api))
        self.world.requests.turn = 0
        self.last = passed
        timer = self.engine.desks[name].queue.timer_of(taken.key)
        if timer is not None:
            self.lengths[name, taken.key] = timer[0] - self.clock.steady()
        writes = tuple(
            request
            for request in self.world.requests.since(mark, by=self.by)
            if request.write and request.accepted
        )
        step = Step(len(self.steps) + 1, name, taken.key, passed.decision, writes)
        self.steps.append(step)
        self._feed()
        if writes:
            state = (self._print.now(), name, taken.key)
            states[state] += 1
            if states[state] >= REPEATS:
                raise self._endless(first, "the same state has come back again and again")

    def _endless(self, first: int, how: str) -> DoesNotSettleError:
        wrote = [step for step in self.steps[first:] if step.writes][-10:]
        who = ", ".join(sorted({step.controller for step in wrote})) or "nobody"
        what = ", ".join(sorted({w.ref.path for step in wrote for w in step.writes}))
        return DoesNotSettleError(
            f"the world does not settle, {how}: {who} writing {what}", tuple(wrote)
        )

    # what views see

    def _visible(self, kind: Kind) -> int:
        """How many changes of the log a view or a list of a kind may know of."""
        log = self.world.store.log
        self._births += [self._passes] * (len(log) - len(self._births))
        lag = self._holds.get((kind.group, kind.kind), 0)
        return bisect_right(self._births, self._passes - lag) if lag else len(log)

    def _lags(self) -> bool:
        """Tell whether a view still has to hear of something."""
        total = len(self.world.store.log)
        return any(
            told < total and self._visible(view.kind) < total for view, told in self._told.items()
        )

    def _feed(self) -> None:
        """Bring every view up to what it may know."""
        for view in self.engine.stores:
            if not self.world.serves(view.kind):
                if view in self._told or self.engine.stores[view].state is State.SYNCING:
                    self.engine.lost(view, State.ABSENT)
                self._told.pop(view, None)
            elif view in self._told:
                self._watch(view)
            elif self._pauses.get(view, (0.0, 0.0))[0] <= self.clock.steady():
                self._list(view)

    def _list(self, view: View) -> None:
        strike, ours = self.world.faults.strike, self.by is By.US
        fault = strike("list", view.kind.kind, "", "") if ours else None
        if fault is not None:
            states = {403: State.FORBIDDEN, 404: State.ABSENT}
            self.engine.lost(view, states.get(fault.status, State.STALE))
            pause = min(LONGEST_PAUSE, self._pauses.get(view, (0.0, 0.5))[1] * 2)
            self._pauses[view] = (self.clock.steady() + pause, pause)
            return
        self._pauses.pop(view, None)
        position = self._visible(view.kind)
        store = self.world.store
        every = (
            store.all(view.kind) if position == len(store.log) else store.at(position, view.kind)
        )
        self.engine.begin_list(view)
        self.engine.add_page(view, [viewed(view, seen) for seen in every if view.selects(seen)])
        self.engine.end_list(view, store.version)
        self._told[view] = position

    def _watch(self, view: View) -> None:
        log = self.world.store.log
        position = max(self._visible(view.kind), self._told[view])
        for change in log[self._told[view] : position]:
            if (change.kind.group, change.kind.kind) != (view.kind.group, view.kind.kind):
                continue
            old = change.old if change.old and view.selects(change.old) else None
            new = change.new if change.new and view.selects(change.new) else None
            if new is not None:
                word = "ADDED" if old is None else "MODIFIED"
                self.engine.happened(view, word, viewed(view, new))
            elif old is not None:
                self.engine.happened(view, "DELETED", viewed(view, old))
        self._told[view] = position


class _Neighbours(Settler):
    """Stand-ins over the world and in the time of a process of ours; they write as others do."""

    by = By.OTHER

    def __init__(self, ours: Settler, controllers: Iterable[Controller]) -> None:
        """Share a world."""
        super().__init__(ours.world, controllers, Settings())
        self.clock = ours.clock
        self.restart(Settings())


class _Fingerprint:
    """A number for the state of a world, whatever versions, uids and times its objects have."""

    def __init__(self, world: World) -> None:
        self._log = world.store.log
        self._read = 0
        self._hashes: dict[tuple[str, ...], int] = {}
        self._sum = 0

    def now(self) -> int:
        """The number of the present state. Cost: linear in what changed since the last call."""
        for old, new in self._log[self._read :]:
            if old is not None:
                self._sum ^= self._hashes.pop(slot(old.ref), 0)
            if new is not None:
                self._hashes[slot(new.ref)] = _hash(new)
                self._sum ^= self._hashes[slot(new.ref)]
        self._read = len(self._log)
        return self._sum


_PASSING = frozenset({"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})


def _hash(seen: Object) -> int:
    meta = {key: part for key, part in seen.body["metadata"].items() if key not in _PASSING}
    meta["ownerReferences"] = [
        {key: part for key, part in owner.items() if key != "uid"}
        for owner in meta.get("ownerReferences") or ()
    ]
    digest = hashlib.sha256(canonical([*slot(seen.ref), {**seen.body, "metadata": meta}]))
    return int.from_bytes(digest.digest()[:8])
