"""A run of kills: what is done to the world, where the process is killed, all from one seed.

Round by round: something happens to one attachment and to some others, while our process is down
or while it runs; the process is killed at a chosen boundary of the pass that follows.
"""

import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from kill_judge import Kill
from kill_plans import Act, Plan, Plans
from kill_relay import Life, Order, Relay, Way
from kill_world import World
from kill_writes import BOUNDARIES, Boundary, Step
from live_admin import wait_for
from live_cluster import Cluster
from live_run import Run, through

PATIENCE_SECONDS = 60.0
IDLE_SECONDS = 3.0
ELSEWHERE = 10
"""One round in so many kills anywhere; so does every one that needs the process down."""
WAYS = (Way.LOST, Way.LOST, Way.CUT, Way.CUT, Way.LATE)
FIRST_REQUESTS = 40
"""A kill anywhere is at one of so many requests of a life; it begins with lists and watches."""
WATCHES = 7
"""Of one process: a view each."""
ALL_SETTLE = 20
"""After so many kills all comes to rest and is judged."""


@dataclass
class Campaign:
    """One run. kills: so far. counts: those at a boundary."""

    cluster: Cluster
    kubeconfig: Path
    flags: tuple[str, ...]
    relay: Relay
    world: World
    seed: str
    kills: list[Kill] = field(default_factory=list)
    plans: Plans = field(init=False)
    counts: Counter[Boundary] = field(default_factory=Counter)
    _lives: int = 0
    _runs: dict[int, Run] = field(default_factory=dict)
    _now: Life | None = None
    _next: Life | None = None

    def __post_init__(self) -> None:
        """Plan for this world."""
        self.plans = Plans(self.world, self.relay.note)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what still runs."""
        for run in self._runs.values():
            run.end()
        for life in (self._now, self._next):
            if life is not None:
                life.killed.set()
                self.relay.begin(life)
                self.relay.close(life)

    # lives

    def _start(self) -> Life:
        """Start a process; what it asks waits in the relay."""
        self._lives += 1
        number = self._lives
        life = Life(number, lambda: self._runs[number].send(signal.SIGKILL))
        self.relay.open(life)
        path = through(self.cluster, self.kubeconfig, life.address)
        path = path.rename(path.with_name(f"life-{number}.kubeconfig"))
        self._runs[number] = Run(path, *self.flags)
        return life

    def _alive(self) -> Life:
        """The process that runs; it is begun when none does."""
        if self._now is None:
            self._now, self._next = self._next or self._start(), None
            self.relay.begin(self._now)
        return self._now

    def _buried(self, life: Life) -> None:
        """See a killed process off."""
        run = self._runs.pop(life.number)
        assert -signal.SIGKILL == run.code(), run.text()[-2000:]
        run.end()
        self.relay.close(life)
        self._now = None

    def _kill_now(self) -> None:
        """Kill the process where it is, if it runs."""
        if self._now is not None:
            life = self._now
            self.relay.end(life)
            self._buried(life)
            self.kills.append(Kill(life.number))

    def _wait(self, what: str, answer: Callable[[], object]) -> None:
        """Wait for something that the process does.

        Raises: AssertionError with what it said last.
        """
        try:
            wait_for(what, answer, PATIENCE_SECONDS)
        except TimeoutError as late:
            said = self._runs[self._now.number].text()[-3000:] if self._now else "nothing runs"
            wrong = [w for m in self.world.models.values() if (w := self.world.wrong(m))]
            raise AssertionError(
                f"{late}; seed {self.seed}, {len(self.kills)} kills\n{wrong}\n{said}"
            ) from late

    # rounds

    def run(self, total: int, each: int) -> None:
        """Kill so many times, so many at each boundary; settle in between and at the end."""
        self.world.begin()
        rng = Random(self.seed)  # noqa: S311 - not a secret
        self.plans.stock(rng)
        self.settle()
        rounds, checked = 0, 0
        while len(self.kills) < total or min(self.counts[one] for one in BOUNDARIES) < each:
            self._round(rounds, Random(f"{self.seed}/{rounds}"))  # noqa: S311 - not a secret
            rounds += 1
            if len(self.kills) >= checked + ALL_SETTLE:
                checked = len(self.kills)
                self.settle()
        self.settle()

    def settle(self) -> None:
        """Let the process come to an end with all that is to be done; judge what is there.

        Raises: AssertionError.
        """
        life = self._alive()
        self._pay()
        self.relay.deliver()
        try:
            self.world.settle(PATIENCE_SECONDS)
        except TimeoutError as late:
            said = self._runs[life.number].text()[-3000:]
            raise AssertionError(f"seed {self.seed}: {late}\n{said}") from late
        self.world.associate()
        assert [] == self.world.lost(), f"seed {self.seed}"

    def stop(self) -> int:
        """Ask the last process to stop; give its exit code."""
        life = self._alive()
        return self._runs[life.number].stop()

    def _pay(self) -> None:
        """Wait until what was cut off has been made up for."""
        for key, killed in self.plans.owed.items():
            self._wait(
                f"the next write about {key}",
                lambda: any(life > killed and of == key for life, of in set(self.relay.paid)),  # noqa: B023 - asked at once
            )
        self.plans.owed.clear()

    def _round(self, number: int, rng: Random) -> None:
        """One kill at a boundary, or anywhere: while the process is down, or before its eyes."""
        if number % ELSEWHERE == ELSEWHERE - 1:
            self._anywhere(rng)
            return
        boundary = self._due(rng)
        way = rng.choice(WAYS)
        plan = self.plans.plan(boundary, rng)
        if plan is None:
            self._restock(rng)
            plan = self.plans.plan(boundary, rng)
        assert plan is not None, boundary
        key = plan.model.key
        hot = not plan.down and rng.random() < 0.4
        if not plan.fresh and not self.world.settled(plan.model):
            self._alive()
            self._wait(f"rest of {key}", lambda: self.world.settled(plan.model))
        if hot:
            life = self._alive()
            self._wait("its watches", lambda: life.watches >= WATCHES)
            self._pay()
        else:
            self._kill_now()
        self._killed(Order(key, boundary, way), lambda: self._happen(plan, rng, hot=hot), hot=hot)
        self.counts[boundary] += 1
        if boundary.then is not Step.EVENT:
            self.plans.owed[key] = self.kills[-1].life

    def _happen(self, plan: Plan, rng: Random, *, hot: bool) -> None:
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.plans.meanwhile(rng, plan.model, hot=hot)
        plan.act()

    def _killed(self, order: Order, happen: Act, *, hot: bool) -> None:
        """Let something happen, and the process be killed by it."""
        if not hot:
            happen()
        life = self._alive()
        self.relay.arm(life, order)
        if hot:
            happen()
        self._next = self._start()
        self._wait(f"a kill at {order}", life.killed.is_set)
        self._buried(life)
        self.kills.append(Kill(life.number, order.key, order.boundary, order.way))

    def _anywhere(self, rng: Random) -> None:
        """Kill a process at some request of its life, or when it asks no more."""
        self._kill_now()
        for _ in range(3):
            self.plans.meanwhile(rng, None, hot=False)
        life = self._alive()
        self.relay.arm(life, Order(request=rng.randint(1, FIRST_REQUESTS)))
        self._next = self._start()
        with suppress(TimeoutError):
            wait_for("a kill", life.killed.is_set, IDLE_SECONDS)
        self._kill_now()

    def _restock(self, rng: Random) -> None:
        """Have some attachments that serve, and some that could."""
        made = self.plans.stock(rng)
        self.settle()
        for model in made[:2]:
            self.world.remove_endpoint(model)

    def _due(self, rng: Random) -> Boundary:
        """One of the boundaries that have been cut least."""
        least = min(self.counts[one] for one in BOUNDARIES)
        return rng.choice([one for one in BOUNDARIES if self.counts[one] == least])
