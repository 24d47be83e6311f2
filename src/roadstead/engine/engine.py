"""The engine: stores, queues and memory of all controllers, without a socket, a task or a clock.

A driver feeds it what lists and watches bring (`begin_list`, `add_page`, `end_list`, `happened`,
`lost`), takes ready keys and works them. `runtime` does so from a server, `sim` from memory; what
comes of the same facts is the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from roadstead.decision import Decision, Did, Event
from roadstead.engine.api import Api
from roadstead.engine.clock import Clock
from roadstead.engine.memory import Edges, States, Wakes, Withdrawals
from roadstead.engine.passes import Passed, PassReader, Writer, run_pass, tell
from roadstead.engine.queue import Priority, Queue, Taken
from roadstead.engine.store import Change, State, Store
from roadstead.errors import Unread
from roadstead.kube.objects import Object, without_bulk
from roadstead.kube.refs import Ref
from roadstead.kube.views import Form, View
from roadstead.settings import Settings
from roadstead.wiring import Controller, Watch

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
    trails: dict[Ref, Decision] = field(default_factory=dict)
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
        on_bug: Callable[[str, Exception], None] = let_through,
    ) -> None:
        """Start with empty stores.

        jitter: a number from -1 to 1 for each timer. dry: decide and report, write nothing.
        on_bug: hears the controller and what its mapper raised; the key it would have woken is
            lost until the next resync, the rest of the list or watch is not.
        """
        self.desks = {controller.name: Desk(controller) for controller in controllers}
        self.settings = settings
        self.stores: dict[View, Store] = {
            view: Store(view) for desk in self.desks.values() for view in desk.controller.views
        }
        self._clock = clock
        self._jitter = jitter
        self._dry = dry
        self._in_flight: set[Ref] = set()
        self._on_bug = on_bug

    def ready(self, name: str) -> bool:
        """Tell whether every view of a controller has been listed once."""
        return all(self.stores[view].complete for view in self.desks[name].controller.views)

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
        yield from self._pay_debts()

    def happened(self, view: View, kind_of_event: str, seen: Object) -> None:
        """A watch event has come: ADDED, MODIFIED or DELETED."""
        change = self.stores[view].apply(kind_of_event, seen)
        if change is not None:
            self._wake(view, change, Priority.NORMAL)

    def lost(self, view: View, state: State) -> None:
        """A list or a watch failed."""
        self.stores[view].lose(state)

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
            for seen in self.stores[watch.view].list():
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
                passed = await self._pass(desk, key, api, repeated=True)
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
        reader = PassReader(api, self.stores, self.settings, self._clock.wall(), repeated=repeated)
        reader.remember(*desk.states.present(key, now))
        writer = Writer(api, desk.withdrawals, dry=self._dry, in_flight=self._in_flight)
        passed = await run_pass(desk.controller, key, reader, writer, now)
        for want, made in passed.made:
            self._remember_own(want.body, made)
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
            if not any(outcome.did is Did.HELD for outcome in passed.outcomes):
                desk.withdrawals.release(key)
            await self._tell(desk, key, decision.events, api)
        if decision.backoff or passed.conflict:
            desk.queue.retry(key, now, self._spread())
            return
        desk.queue.forget(key)
        if passed.wrote and not self._dry:
            desk.queue.add(key, now, Priority.LOW)
        elif decision.recheck is not None:
            span = decision.recheck.total_seconds() * (1 + self._spread())
            desk.queue.add_after(key, span, now)

    async def _tell(self, desk: Desk, key: Ref, events: tuple[Event, ...], api: Api) -> None:
        if self._dry:
            return
        now = self._clock.steady()
        for event, times in desk.edges.due(key, events, now):
            if await tell(api, desk.controller.component, event, times):
                desk.edges.told(event, now)

    def _remember_own(self, body: Mapping[str, Any], made: Object) -> None:
        """Put what we wrote into the views that select it, ahead of the watch."""
        whole = Object(made.kind, made.meta, dict(body))
        for view, store in self.stores.items():
            if view.kind != made.kind or not view.selects(whole):
                continue
            store.remember_own(_as_viewed(view, whole))

    def _wake(self, view: View, change: Change, priority: Priority) -> None:
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
                desk.queue.add(key, now, priority)

    def _keys_of_change(self, desk: Desk, watch: Watch, change: Change) -> set[Ref]:
        keys: set[Ref] = set()
        for seen in (change.old, change.new):
            if seen is not None:
                keys.update(self._keys(desk, watch, seen))
        return keys

    def _keys(self, desk: Desk, watch: Watch, seen: Object) -> tuple[Ref, ...]:
        try:
            return tuple(watch.keys(seen, _Views(self.stores)))
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

    def _pay_debts(self) -> Iterator[None]:
        for name, desk in self.desks.items():
            if desk.owes_all and self.ready(name):
                desk.owes_all = False
                yield from self._resyncing(name)

    def _spread(self) -> float:
        return SPREAD * self._jitter()


class _Views:
    """Cached reads for mappers."""

    def __init__(self, stores: dict[View, Store]) -> None:
        self._stores = stores

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        return self._stores[view].get(namespace, name)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        return self._stores[view].list(index, value)


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
