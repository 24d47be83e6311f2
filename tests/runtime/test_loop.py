"""Workers: who runs when, what a bug or a hang costs, and how they stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from parts import (
    CANARY,
    DATA,
    MAPS,
    NS,
    Lines,
    LoopClock,
    engine,
    later,
    thing,
)
from roadstead.decision import Decision, Did, Finding, Note, Outcome, Reader, Verdict, Want
from roadstead.engine.engine import Engine
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, SECRET, Kind, Ref
from roadstead.runtime.loop import Loop
from roadstead.runtime.metrics import Metrics

pytestmark = pytest.mark.looptime
A, B = CONFIG_MAP.ref(NS, "a"), CONFIG_MAP.ref(NS, "b")


@dataclass
class Rig:
    """One controller's workers over objects that are listed already."""

    loop: Loop
    engine: Engine
    metrics: Metrics
    lines: Lines
    task: asyncio.Task[None]

    def figure(self, sample: str, **labels: str) -> float | None:
        """One sample of the metrics."""
        return self.metrics.registry.get_sample_value(sample, {"controller": "probe", **labels})

    def told(self) -> bytes:
        """Everything that leaves the process."""
        return self.lines.text + self.metrics.exposition()


@asynccontextmanager
async def working(
    *names: str,
    api: Any = None,
    longest: float = 60.0,
    workers: int = 2,
    pause: float = 0.0,
    **parts: Any,
) -> AsyncIterator[Rig]:
    """Run workers."""
    clock, lines = LoopClock(), Lines()
    of = engine(MAPS, clock=clock, **parts)
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing(name) for name in names])
    of.end_list(MAPS, "5")
    metrics = Metrics(of, clock, {"probe": workers})
    loop = Loop(
        of,
        "probe",
        api,
        metrics,
        log=lines.log,
        clock=clock,
        workers=workers,
        longest=longest,
        pause=pause,
    )
    task = asyncio.create_task(loop.run())
    try:
        yield Rig(loop, of, metrics, lines, task)
    finally:
        loop.stop()
        await loop.join(0)
        await task


async def test_every_key_is_worked_and_counted() -> None:
    """A quiet pass is a success under controller-runtime's names."""
    async with working("a", "b", "c") as rig:
        await later(lambda: not rig.engine.desks["probe"].queue)

        assert rig.figure("controller_runtime_reconcile_total", result="success") == 3
        assert rig.figure("controller_runtime_active_workers") == 0
        assert rig.figure("controller_runtime_max_concurrent_reconciles") == 2
        assert rig.figure("workqueue_adds_total", name="probe") == 3
        assert rig.figure("workqueue_depth", name="probe") == 0


async def test_no_more_passes_run_than_there_are_workers() -> None:
    """And no key runs twice at once, however often it is added."""
    running: list[Ref] = []
    most = 0
    go = asyncio.Event()

    async def observe(_reader: Reader, key: Ref) -> Ref:
        nonlocal most
        assert key not in running
        running.append(key)
        most = max(most, len(running))
        await go.wait()
        running.remove(key)
        return key

    async with working("a", "b", "c", "d", observe=observe, workers=3) as rig:
        await later(lambda: len(running) == 3)
        for _ in range(100):
            rig.engine.happened(MAPS, "MODIFIED", thing("a", 7 + _))
            rig.loop.ring()
        go.set()
        await later(lambda: not rig.engine.desks["probe"].queue and not running)

        assert most == 3
        assert rig.figure("controller_runtime_reconcile_total", result="success") == 5


async def test_a_pass_that_hangs_is_cut_off_and_counted() -> None:
    """Its worker is free again, its key backs off."""
    tries: list[float] = []

    async def observe(_reader: Reader, key: Ref) -> Ref:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 3:
            await asyncio.Event().wait()
        return key

    async with working("a", observe=observe, longest=30.0) as rig:
        await later(lambda: len(tries) == 3)
        await later(lambda: not rig.engine.desks["probe"].queue.running())

        assert tries == [0.0, 31.0, 63.0]
        assert rig.figure("controller_runtime_reconcile_timeouts_total") == 2
        assert rig.figure("controller_runtime_reconcile_total", result="error") == 2
        assert rig.figure("controller_runtime_reconcile_panics_total") == 0
        assert rig.lines.all("pass cut off")[0]["name"] == "a"


async def test_a_bug_is_counted_and_told_without_what_it_says() -> None:
    """An exception's message and the objects in its frames may hold a Secret's value."""
    rounds: list[Ref] = []

    def decide(seen: Ref) -> Decision:
        rounds.append(seen)
        if len(rounds) == 1:
            raise KeyError(CANARY)
        return Decision()

    async with working("a", decide=decide) as rig:
        await later(lambda: len(rounds) == 2)
        await later(lambda: not rig.engine.desks["probe"].queue.running())
        told = rig.lines.all("bug")[0]

        assert rig.figure("controller_runtime_reconcile_panics_total") == 1
        assert (told["type"], told["name"], told["namespace"]) == ("KeyError", "a", NS)
        assert told["place"].startswith("test_loop.py:")
        assert CANARY.encode() not in rig.told()


async def test_timers_ripen_while_nothing_else_happens() -> None:
    """A recheck needs no event; other controllers' rings do not hasten it."""
    at: list[float] = []

    async def observe(_reader: Reader, key: Ref) -> Ref:
        at.append(asyncio.get_running_loop().time())
        return key

    def decide(_seen: Ref) -> Decision:
        return Decision(recheck=timedelta(minutes=5))

    async with working("a", observe=observe, decide=decide) as rig:
        await asyncio.sleep(100)
        rig.loop.ring()
        await later(lambda: len(at) == 3)
        await later(lambda: not rig.engine.desks["probe"].queue.running())

        assert at == [0.0, 300.0, 600.0]
        assert rig.figure("controller_runtime_reconcile_total", result="requeue_after") == 3


async def test_a_read_that_fails_holds_everything_and_backs_off() -> None:
    """It is an error in the figures, and a line that names what was read."""
    at: list[float] = []

    async def observe(_reader: Reader, key: Ref) -> Ref:
        at.append(asyncio.get_running_loop().time())
        if len(at) < 4:
            raise ClusterError("no", status=500, reason="InternalError", about="Secret ns/a")
        return key

    async with working("a", observe=observe) as rig:
        await later(lambda: len(at) == 4)
        await later(lambda: not rig.engine.desks["probe"].queue.running())

        assert at == [0.0, 1.0, 3.0, 7.0]
        assert rig.figure("controller_runtime_reconcile_errors_total") == 3
        assert rig.figure("workqueue_retries_total", name="probe") == 3
        assert rig.lines.all("read failed")[0]["about"] == "Secret ns/a"


async def test_who_watches_what_was_written_is_rung_for() -> None:
    """Another controller's key is queued by our write; while watches are away no event rings."""
    rung: list[int] = []
    meta = {"name": "b", "namespace": NS}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": DATA}

    class Writing:
        async def create(self, kind: Kind, body: Any) -> Object:
            return Object.of(kind, body)

    def decide(_seen: Ref) -> Decision:
        want = () if rung else (Want.replace(SECRET, body, None),)
        return Decision(want=want)

    async with working("a", decide=decide, api=Writing()) as rig:
        rig.loop._wrote = lambda: rung.append(1)
        await later(lambda: bool(rung))
        await later(lambda: not rig.engine.desks["probe"].queue)

    assert [1] == rung


@pytest.mark.parametrize("writes", [False, True])
async def test_a_pass_comes_back_when_the_server_said(*, writes: bool) -> None:
    """A Retry-After that is too long to wait out in a request is the pause of its key."""
    at: list[float] = []

    def refuse() -> None:
        if len(at) < 3:
            asked = timedelta(seconds=90)
            raise ClusterError("later", status=429, reason="TooManyRequests", retry_after=asked)

    async def observe(_reader: Reader, key: Ref) -> Ref:
        at.append(asyncio.get_running_loop().time())
        if not writes:
            refuse()
        return key

    class Busy:
        async def create(self, kind: Kind, body: Any) -> Object:
            refuse()
            return Object.of(kind, body)

    def decide(_seen: Ref) -> Decision:
        if not writes or len(at) > 3:
            return Decision()
        meta = {"name": "b", "namespace": NS}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque"}
        return Decision(want=(Want.replace(SECRET, {**body, "data": DATA}, None),))

    def report(_seen: Ref, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
        return replace(decision, backoff=any(one.did is Did.FAILED for one in outcomes))

    async with working("a", observe=observe, decide=decide, report=report, api=Busy()) as rig:
        await later(lambda: len(at) >= 3)
        await later(lambda: not rig.engine.desks["probe"].queue.running())

        assert at[:3] == [0.0, 90.0, 180.0]


async def test_a_stop_takes_no_key_and_waits_for_those_in_work() -> None:
    """The lease may be given up only after the last write."""
    go, began, ended = asyncio.Event(), list[Ref](), list[Ref]()

    async def observe(_reader: Reader, key: Ref) -> Ref:
        began.append(key)
        await go.wait()
        ended.append(key)
        return key

    async with working("a", "b", "c", observe=observe) as rig:
        await later(lambda: len(began) == 2)
        rig.loop.stop()
        joining = asyncio.create_task(rig.loop.join(20.0))
        await asyncio.sleep(5)
        go.set()

        assert await joining == 0
        assert began == ended == [A, B]


async def test_a_join_has_a_deadline() -> None:
    """A pass that does not end is cut off; it is counted."""

    async def observe(_reader: Reader, _key: Ref) -> Ref:
        await asyncio.Event().wait()
        raise AssertionError

    async with working("a", "b", observe=observe) as rig:
        await later(lambda: len(rig.engine.desks["probe"].queue.running()) == 2)
        rig.loop.stop()

        begun = asyncio.get_running_loop().time()
        assert await rig.loop.join(20.0) == 2
        assert asyncio.get_running_loop().time() == begun + 20.0
        assert rig.engine.desks["probe"].queue.running() == {}


async def test_nothing_runs_before_every_view_is_listed() -> None:
    """What a view does not know yet must not look like nothing."""
    clock, lines, seen = LoopClock(), Lines(), list[Ref]()

    async def observe(_reader: Reader, key: Ref) -> Ref:
        seen.append(key)
        return key

    of = engine(MAPS, clock=clock, observe=observe)
    loop = Loop(
        of,
        "probe",
        Refusing(),  # type: ignore[arg-type]  # a stand-in
        Metrics(of, clock, {}),
        log=lines.log,
        clock=clock,
        workers=1,
    )
    task = asyncio.create_task(loop.run())
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing("a")])
    loop.ring()
    await asyncio.sleep(60)
    before = list(seen)
    of.end_list(MAPS, "5")
    loop.ring()
    await later(lambda: seen)
    loop.stop()
    await loop.join(0)
    await task

    assert before == []
    assert seen == [A]


class Refusing:
    """An API that takes no write."""

    async def create(self, *_: Any) -> Any:
        """Refuse."""
        raise ClusterError("denied by a policy", status=403, reason="Forbidden")


async def test_writes_are_told_by_name_and_figure() -> None:
    """What failed has its reason; no body is in any line."""
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "made", "namespace": NS},
        "type": "Opaque",
        "data": DATA,
    }
    found = (Finding("odd", Verdict.REFUSE, "Odd", "it is odd"),)
    wanting = Decision(want=(Want.create(SECRET, body),), findings=found, state="Refused")

    async with working("a", api=Refusing(), decide=lambda _seen: wanting) as rig:
        await later(lambda: rig.lines.all("write failed"))
        await later(lambda: not rig.engine.desks["probe"].queue.running())
        applied = {"kind": "Secret", "op": "create", "result": "Forbidden"}
        sample = rig.metrics.registry.get_sample_value

        assert rig.lines.all("write failed")[0]["about"] == f"Secret/{NS}/made"
        assert rig.lines.all("write failed")[0]["said"] == "denied by a policy"
        assert sample("roadstead_apply_total", applied) == 1
        assert sample("roadstead_findings", {"rule": "odd", "verdict": "refuse"}) == 1
        assert DATA["password"].encode() not in rig.told()
        assert rig.engine.desks["probe"].trails[A].want == ()


async def test_what_is_left_alone_is_told_by_name() -> None:
    """A reader of the log finds what was not written though nothing failed."""
    left = Decision(notes=(Note(SECRET.ref(NS, "full"), "NoRoom"),))

    async with working("a", decide=lambda _seen: left) as rig:
        await later(lambda: rig.lines.all("left alone"))
        (line,) = rig.lines.all("left alone")

        assert (f"Secret/{NS}/full", "NoRoom") == (line["about"], line["reason"])


async def test_a_pause_lies_between_two_passes() -> None:
    """However often the one key is woken, there is one pass a second; stopping waits for none."""
    begun: list[float] = []

    async def observe(_reader: Reader, key: Ref) -> Ref:
        begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.25)
        return key

    async with working("a", observe=observe, workers=1, pause=1.0) as rig:
        for version in range(2, 40):
            rig.engine.happened(MAPS, "MODIFIED", thing("a", version))
            rig.loop.ring()
            await asyncio.sleep(0.1)
        await later(lambda: not rig.engine.desks["probe"].queue)
        rig.loop.stop()
        stopped = asyncio.get_running_loop().time()
        assert await rig.loop.join(20.0) == 0
        assert asyncio.get_running_loop().time() - stopped < 0.5

    assert {1.0} == {round(later - one, 6) for one, later in pairwise(begun)}
    assert 4 <= len(begun) <= 6
