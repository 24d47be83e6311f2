"""The engine: stores, queues and memory of all controllers, without a socket, a task or a clock.

A driver feeds it what lists and watches bring (`begin_list`, `add_page`, `end_list`, `happened`,
`lost`), takes ready keys and works them. `runtime` does so from a server, `sim` from memory; what
comes of the same facts is the same.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from roadstead.decision import Decision, Event, Telling
from roadstead.engine.api import Api
from roadstead.engine.clock import Clock
from roadstead.engine.memory import Edges, Spent, States, Wakes, Withdrawals
from roadstead.engine.passes import Passed, run_pass, tell
from roadstead.engine.queue import Priority, Queue, Taken
from roadstead.engine.reader import CachedViews, PassReader
from roadstead.engine.store import Change, State, Store
from roadstead.engine.writer import Writer
from roadstead.errors import Unread
from roadstead.kube.objects import Object, without_bulk
from roadstead.kube.refs import Ref
from roadstead.kube.views import Form, View
from roadstead.settings import Settings
from roadstead.wiring import Admission, Controller, Watch

_WITH_STATUS = frozenset({Telling.CHANGE, Telling.FIRST})
_LASTING = frozenset({Telling.HOURLY, Telling.ONCE})
_DECIDED = frozenset({State.ABSENT, State.FORBIDDEN})
SPREAD = 0.1
"""Timers are spread by this share of their length, up and down. Source: trust-anchors 6.1."""


def no_jitter() -> float:
    """Leave every timer as it is."""
    return 0.0


def let_through(_name: str, bug: Exception) -> None:
    """Treat an exception of a mapper as what it is: a bug that ends everything."""
    raise bug


@dataclass(slots=True)
class Desk:
    """One controller with what it waits for and what it remembers."""

    controller: Controller
    queue: Queue = field(default_factory=Queue)
    wakes: Wakes = field(default_factory=Wakes)
    states: States = field(default_factory=States)
    withdrawals: Withdrawals = field(default_factory=Withdrawals)
    edges: Edges = field(default_factory=Edges)
    spent: Spent = field(default_factory=Spent)
    trails: dict[Ref, Decision] = field(default_factory=dict)
    untold: dict[Ref, Decision] = field(default_factory=dict)
    """Decisions whose status may have been written though the answer was lost."""
    owes_all: bool = False
    """A mapper could not look into a view; every key is due once it can be read again."""


class Engine:
    """Controllers, the views they share, and what they remember."""

    def __init__(
        self,
        controllers: Iterable[Controller],
        settings: Settings,
        clock: Clock,
        *,
        jitter: Callable[[], float] = no_jitter,
        dry: bool = False,
        admissions: Iterable[Admission] = (),
        on_bug: Callable[[str, Exception], None] = let_through,
    ) -> None:
        """Start with empty stores.

        jitter: a number from -1 to 1 for each timer. dry: decide and report, write nothing.
        admissions: whoever answers admission from views of this engine.
        on_bug: hears the controller and what its mapper raised; the key it would have woken is
            lost until the next resync, the rest of the list or watch is not.
        """
        self.desks = {controller.name: Desk(controller) for controller in controllers}
        self.settings = settings
        self.admissions = {one.name: one for one in admissions}
        used = [desk.controller.views for desk in self.desks.values()]
        used += [admission.views for admission in self.admissions.values()]
        self.stores: dict[View, Store] = {view: Store(view) for views in used for view in views}
        self._clock = clock
        self._jitter = jitter
        self._dry = dry
        self._in_flight: set[Ref] = set()
        self._away: set[View] = set()
        self._on_bug = on_bug

    def ready(self, name: str) -> bool:
        """Tell whether every view of a controller has been listed once.

        Of an optional one it is enough to know that its kind is not served, and of one that
        nobody waits for that a list of it has failed.
        """
        controller = self.desks[name].controller
        return all(
            self.stores[view].complete
            or (view in controller.optional and self.stores[view].state in _DECIDED)
            or (view in controller.unawaited and self.stores[view].failed)
            for view in controller.views
        )

    def answers(self, name: str) -> bool:
        """Tell whether every view of whoever answers admission has been listed once."""
        return all(self.stores[view].complete for view in self.admissions[name].views)

    def reader(self, api: Api) -> PassReader:
        """Read the views, and the API server, at this moment."""
        return PassReader(api, self.stores, self.settings, self._clock.wall())

    def optional(self, view: View) -> bool:
        """Tell whether everyone who reads a view can do without it."""
        if any(view in one.views for one in self.admissions.values()):
            return False
        users = [d.controller for d in self.desks.values() if view in d.controller.views]
        return all(view in controller.optional for controller in users)

    def begin_list(self, view: View) -> None:
        """A list of a view starts, from its first page."""
        self.stores[view].begin_list()

    def add_page(self, view: View, objects: Iterable[Object]) -> None:
        """One page of a list has come."""
        for change in self.stores[view].add_page(objects):
            self._wake(view, change, Priority.LOW)

    def end_list(self, view: View, resource_version: str) -> None:
        """The last page of a list has come."""
        for _ in self.ending(view, resource_version):
            pass

    def ending(self, view: View, resource_version: str) -> Iterator[None]:
        """End a list step by step, so that a driver can do other things in between."""
        for change in self.stores[view].end_list(resource_version):
            self._wake(view, change, Priority.NORMAL)
            yield
        yield from self._wake_named(view)
        if view in self._away:
            self._away.discard(view)
            self._owe(view)
        yield from self._pay_debts()

    def happened(self, view: View, kind_of_event: str, seen: Object) -> None:
        """A watch event has come: ADDED, MODIFIED or DELETED."""
        change = self.stores[view].apply(kind_of_event, seen)
        if change is not None:
            self._wake(view, change, Priority.NORMAL)

    def lost(self, view: View, state: State) -> None:
        """A list or a watch failed. Where a kind is not served any more, every key is due."""
        known = self.stores[view].complete
        self.stores[view].lose(state)
        if state not in _DECIDED:
            return
        self._away.add(view)
        if known:
            self._owe(view)
            for _ in self._pay_debts():
                pass

    def resumed(self, view: View) -> None:
        """A watch goes on where it broke off, with nothing missed."""
        self.stores[view].resume()

    def take(self, name: str) -> Taken | None:
        """The next key of a controller, once its views are listed. Work it with `work`."""
        if not self.ready(name):
            return None
        return self.desks[name].queue.take(self._clock.steady())

    def resync(self, name: str) -> None:
        """Have every key of a controller looked at again, after what is urgent."""
        for _ in self._resyncing(name):
            pass

    def _resyncing(self, name: str) -> Iterator[None]:
        desk = self.desks[name]
        now = self._clock.steady()
        for watch in desk.controller.watches:
            store = self.stores[watch.view]
            for seen in store.list() if store.complete else ():
                for key in self._keys(desk, watch, seen):
                    desk.queue.add(key, now, Priority.LOW)
                yield

    async def work(self, name: str, key: Ref, api: Api) -> Passed:
        """Run a pass over a key that was taken, and a second at once after a conflict.

        Whatever happens, the key is given back.
        """
        desk = self.desks[name]
        try:
            passed = await self._pass(desk, key, api, repeated=False)
            if passed.conflict:
                first = passed.changes if passed.decision.independent else ()
                passed = await self._pass(desk, key, api, repeated=True)
                passed = replace(passed, outcomes=first + passed.outcomes) if first else passed
            await self._settle(desk, key, passed, api)
        except BaseException:
            desk.queue.retry(key, self._clock.steady(), self._spread())
            raise
        else:
            return passed
        finally:
            desk.queue.done(key, self._clock.steady())

    async def _pass(self, desk: Desk, key: Ref, api: Api, *, repeated: bool) -> Passed:
        now = self._clock.steady()
        at, spent = self._clock.wall(), desk.spent
        reader = PassReader(api, self.stores, self.settings, at, repeated=repeated, spent=spent)
        reader.remember(*desk.states.present(key, now))
        writer = Writer(
            api,
            desk.withdrawals,
            dry=self._dry,
            in_flight=self._in_flight,
            checked=desk.controller.checked,
            spent=spent,
        )
        passed = await run_pass(desk.controller, key, reader, writer, now)
        for made in passed.made:
            self._remember_own(made, (desk.controller.name, key))
        return passed

    async def _settle(self, desk: Desk, key: Ref, passed: Passed, api: Api) -> None:
        """Remember what a pass came to, and set the key's next timer."""
        now = self._clock.steady()
        decision = passed.decision
        if passed.gone:
            desk.trails.pop(key, None)
        else:
            # Bodies of Secrets go with the pass; what is kept is why, not what.
            bulky = decision.want or decision.drop
            desk.trails[key] = replace(decision, want=(), drop=()) if bulky else decision
        if passed.error is None:
            desk.wakes.set(key, decision.wakes)
            desk.states.note(key, decision.state, now)
            if not decision.inconclusive and not any(drop.bound for drop in decision.drop):
                desk.withdrawals.release(key)
            await self._tell(desk, key, passed, api)
        if decision.backoff or passed.conflict or passed.unreported:
            first, least = decision.first_pause, passed.asked_pause
            desk.queue.retry(key, now, self._spread(), first.total_seconds(), least.total_seconds())
            return
        desk.queue.forget(key)
        if passed.wrote and not self._dry:
            desk.queue.add(key, now, Priority.LOW)
        elif decision.recheck is not None:
            span = decision.recheck.total_seconds() * (1 + self._spread())
            desk.queue.add_after(key, span, now)

    async def _tell(self, desk: Desk, key: Ref, passed: Passed, api: Api) -> None:
        """Publish what has become true; what tells of a change goes with its status write."""
        if self._dry:
            return
        now, component = self._clock.steady(), desk.controller.component
        events = passed.decision.events
        for event in self._changes(desk, key, passed):
            await tell(api, component, event, 0)
        lasting = [event for event in events if event.telling in _LASTING]
        keep = passed.decision.inconclusive
        for event, times in desk.edges.due(key, lasting, now, keep=keep):
            if await tell(api, component, event, times):
                desk.edges.told(event, now)

    def _changes(self, desk: Desk, key: Ref, passed: Passed) -> tuple[Event, ...]:
        """The events of a status that was written, by this pass or by one that lost its answer."""
        before = desk.untold.pop(key, None)
        if passed.unreported:
            desk.untold[key] = passed.decision
            return ()
        late = _change_events(before) if before and _stands(before, passed.decision) else ()
        return (*late, *(_change_events(passed.decision) if passed.reported else ()))

    def _remember_own(self, made: Object, by: tuple[str, Ref]) -> None:
        """Put what we wrote into the views that select it, ahead of the watch.

        The next pass of the key sees it, however late the watch is: the own-writes barrier.
        Every other key that watches is woken now: the watch's own word will be no news to it.
        by: the controller and the key that wrote, whose next look `_settle` decides on.
        """
        if made.deleting and not made.meta.finalizers:
            return  # our write took the last finalizer: it is gone, and the watch says so
        for view, store in self.stores.items():
            if view.kind == made.kind and view.selects(made):
                change = store.remember_own(_as_viewed(view, made))
                if change is not None:
                    self._wake(view, change, Priority.LOW, but=by)

    def _wake(
        self,
        view: View,
        change: Change,
        priority: Priority,
        but: tuple[str, Ref] | None = None,
    ) -> None:
        """Queue every key that a change concerns, of every controller that watches the view."""
        now = self._clock.steady()
        seen = change.new or change.old
        if seen is not None and seen.ref in self._in_flight:
            # Most likely the echo of our own write, ahead of its answer: the look that follows
            # every write will do, and what others have changed meanwhile it sees as well.
            priority = Priority.LOW
        for desk in self.desks.values():
            keys: set[Ref] = set()
            for watch in desk.controller.watches:
                if watch.view is view and _matters(watch, change):
                    keys.update(self._keys_of_change(desk, watch, change))
            if seen is not None and view in desk.controller.views:
                keys.update(desk.wakes.keys(seen.ref))
            for key in sorted(keys):
                if (desk.controller.name, key) != but:
                    desk.queue.add(key, now, priority)

    def _keys_of_change(self, desk: Desk, watch: Watch, change: Change) -> set[Ref]:
        keys: set[Ref] = set()
        for seen in (change.old, change.new):
            if seen is not None:
                keys.update(self._keys(desk, watch, seen))
        return keys

    def _keys(self, desk: Desk, watch: Watch, seen: Object) -> tuple[Ref, ...]:
        try:
            return tuple(watch.keys(seen, CachedViews(self.stores)))
        except Unread:
            desk.owes_all = True
            return ()
        except Exception as bug:  # noqa: BLE001 - one mapper must not cost a list its rest
            self._on_bug(desk.controller.name, bug)
            return ()

    def _wake_named(self, view: View) -> Iterator[None]:
        """After a list, wake what a decision named and the view does not store.

        Its deletion in a gap would leave no trace.
        """
        store, now = self.stores[view], self._clock.steady()
        for desk in self.desks.values():
            if view not in desk.controller.views:
                continue
            for ref, keys in desk.wakes.of_kind(view.kind):
                if not store.holds(ref.namespace, ref.name):
                    for key in keys:
                        desk.queue.add(key, now, Priority.LOW)
                yield

    def _owe(self, view: View) -> None:
        """Have every key of whoever can do without a view looked at again."""
        for desk in self.desks.values():
            if view in desk.controller.optional:
                desk.owes_all = True

    def _pay_debts(self) -> Iterator[None]:
        for name, desk in self.desks.items():
            if desk.owes_all and self.ready(name):
                desk.owes_all = False
                yield from self._resyncing(name)

    def _spread(self) -> float:
        return SPREAD * self._jitter()


def _change_events(decision: Decision) -> tuple[Event, ...]:
    return tuple(event for event in decision.events if event.telling in _WITH_STATUS)


def _stands(before: Decision, now: Decision) -> bool:
    """Whether the status of an earlier decision is what a later one has found."""
    if before.status is None or now.status is None:
        return False
    return (now.status.live.body.get("status") or {}) == before.status.value


def _as_viewed(view: View, whole: Object) -> Object:
    """The form in which a view would have received an object."""
    if view.form is Form.METADATA:
        return Object(whole.kind, without_bulk(whole.meta))
    return whole


def _matters(watch: Watch, change: Change) -> bool:
    """A creation, a deletion and a new object of an old name always matter."""
    old, new = change.old, change.new
    if change.gone or old is None or new is None or old.meta.uid != new.meta.uid:
        return True
    return watch.changed(old, new)
