"""The Stage in memory: a world and one process of ours over it."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from roadstead.decision import Finding
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import Placed
from roadstead.sim.requests import By, Request, Told
from roadstead.sim.settle import Settler
from roadstead.sim.stage import Answer, Target, Timer
from roadstead.sim.world import Serving, World
from roadstead.wiring import Controller


class Offline:
    """`stage.Stage` over a World."""

    def __init__(
        self,
        world: World,
        controllers: Iterable[Controller],
        settings: Settings,
        stand_ins: Iterable[Controller] = (),
    ) -> None:
        """Start with an empty world and a process that has seen nothing of it."""
        self.world = world
        self.settler = Settler(world, controllers, settings, stand_ins)
        self._mark = 0

    @property
    def kinds(self) -> Kinds:
        """The kinds the world knows."""
        return self.world.kinds

    def now(self) -> datetime:
        """The world's time."""
        return self.world.now

    def begin(self) -> None:
        """Count requests from here."""
        self._mark = len(self.world.requests)

    def seed(self, placed: Placed) -> None:
        """Put one object there as its file states it."""
        self.world.seed(placed.body, placed.ref)

    def apply(self, ref: Ref, body: Mapping[str, object]) -> Answer:
        """Create, or merge what is stated."""
        if self.world.store.get(ref) is not None:
            return self.patch(ref, body)
        status = body.get("status")

        def create() -> None:
            self.world.create(ref.kind, body, By.OTHER)
            warnings = self.world.warnings
            if status is not None:
                self.world.merge(ref, {"status": status}, By.OTHER)
            self.world.warnings = warnings

        return self._answered(create)

    def patch(self, ref: Ref, merge: Mapping[str, object]) -> Answer:
        """Merge."""
        return self._answered(lambda: self.world.merge(ref, merge, By.OTHER))

    def delete(self, ref: Ref, *, collect: bool) -> Answer:
        """Delete, and with it what depends on it."""
        return self._answered(lambda: self.world.delete(ref, By.OTHER, cascade=collect))

    def _answered(self, write: Callable[[], object]) -> Answer:
        self.world.warnings = ()
        try:
            write()
        except ClusterError as error:
            return Answer(error.status, error.message, self.world.warnings)
        return Answer(warnings=self.world.warnings)

    def settle(self) -> None:
        """Run passes until nothing is written."""
        self.settler.settle()

    def tick(self, span: timedelta) -> None:
        """Let time pass."""
        self.settler.tick(span)

    def fault(self, fault: Fault) -> None:
        """Begin or lift a fault."""
        self.world.faults.set(fault)

    def hold(self, kind: Kind, passes: int) -> None:
        """Let the views of a kind lag behind."""
        self.settler.hold(kind, passes)

    def serve(self, kind: Kind, serving: Serving) -> None:
        """Begin or stop serving a kind."""
        self.world.serve(kind, serving)

    def restart(self, settings: Settings) -> None:
        """Start our process anew."""
        self.settler.restart(settings)

    def get(self, ref: Ref) -> Object | None:
        """One object, served or not."""
        return self.world.store.get(ref)

    def objects(self, kind: Kind, namespace: str) -> tuple[Object, ...]:
        """All objects of a kind in a namespace."""
        return self.world.store.all(kind, namespace)

    def as_left(self, ref: Ref) -> bool:
        """Whether nobody but other writers has touched an object."""
        return self.world.store.is_as_left(ref)

    def minted(self) -> tuple[Ref, ...]:
        """What we made by `generateName`."""
        return tuple(self.world.minted)

    def events(self) -> tuple[Told, ...]:
        """Every publication."""
        return tuple(self.world.told)

    def requests(self, *, since_step: bool) -> Iterable[Request]:
        """Our requests."""
        return self.world.requests.since(self._mark if since_step else 0)

    def reads(self) -> Mapping[str, int]:
        """Live reads of the last pass."""
        last = self.settler.last
        return last.reads if last else {}

    def timers(self) -> Mapping[Target, Timer]:
        """The next timer of each key that has one."""
        now = self.settler.clock.steady()
        found: dict[Target, Timer] = {}
        for (name, key), length in self.settler.lengths.items():
            timer = self.settler.engine.desks[name].queue.timer_of(key)
            if timer is not None:
                left = timedelta(seconds=timer[0] - now)
                found[name, key] = Timer(timedelta(seconds=length), left, timer[1])
        return found

    def trails(self) -> Mapping[Target, tuple[Finding, ...]]:
        """The findings of the last pass of each key."""
        return {
            (name, key): decision.findings
            for name, desk in self.settler.engine.desks.items()
            for key, decision in sorted(desk.trails.items())
        }
