"""Leadership of two processes over one Lease, with every clock in the test's hands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parts import NS, HandClock, LeaseApi, LeaseClient, Lines, LoopClock
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import LEASE
from roadstead.runtime.lease import Lease, Terms

REF = LEASE.ref(NS, "roadstead-anchors")


class Steps:
    """Lets a candidate wait until the test's clock has come so far."""

    def __init__(self, clock: HandClock) -> None:
        """Nobody waits."""
        self.clock = clock
        self._waiting: list[tuple[float, asyncio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        """Wait for the clock."""
        event = asyncio.Event()
        self._waiting.append((self.clock.now + seconds, event))
        await event.wait()

    async def go(self, seconds: float, *, frozen: bool = False) -> None:
        """Move the clock, in steps small enough that everybody wakes on time.

        frozen: nobody wakes before the end, as when the machine sleeps.
        """
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = end if frozen else min(end, self.clock.now + 0.5)
            await self.wake()

    async def wake(self) -> None:
        """Wake those whose time has come."""
        due = [event for at, event in self._waiting if at <= self.clock.now]
        self._waiting = [(at, event) for at, event in self._waiting if at > self.clock.now]
        for event in due:
            event.set()
        for _ in range(8):
            await asyncio.sleep(0)


class Process:
    """One candidate that runs."""

    def __init__(self, api: LeaseApi, steps: Steps, name: str) -> None:
        """Begin to run."""
        self.way: LeaseClient = api.of(name)
        self.lines = Lines()
        self.lease = Lease(
            self.way,
            REF,
            name,
            clock=api.clock,
            log=self.lines.log,
            jitter=lambda: 0.0,
            sleep=steps.sleep,
        )
        self.task = asyncio.create_task(self.lease.run())

    @property
    def leads(self) -> bool:
        """Whether it says so."""
        return self.lease.leading.is_set()

    async def end(self) -> None:
        """Stop running, without a release."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Cluster:
    """One Lease, and whoever wants it."""

    def __init__(self) -> None:
        """Nobody wants it."""
        self.clock = HandClock()
        self.api = LeaseApi(self.clock)
        self.steps = Steps(self.clock)
        self.all: list[Process] = []

    async def start(self, name: str) -> Process:
        """Start a candidate and let it try."""
        self.all.append(Process(self.api, self.steps, name))
        await self.steps.wake()
        return self.all[-1]


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Give one that ends with the test."""
    async with running() as made:
        yield made


@asynccontextmanager
async def running() -> AsyncIterator[Cluster]:
    """End everybody at the end."""
    made = Cluster()
    try:
        yield made
    finally:
        for process in made.all:
            await process.end()


async def test_the_first_takes_the_lease_and_renews_it(cluster: Cluster) -> None:
    """Every two seconds, under its own name, with the times Kubernetes writes."""
    one = await cluster.start("one")
    await cluster.steps.go(9)

    assert one.leads
    assert [at for at, _ in cluster.api.writes] == [0, 2, 4, 6, 8]
    assert cluster.api.spec == {
        "acquireTime": "2026-03-01T12:00:00.000000Z",
        "holderIdentity": "one",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 0,
        "renewTime": "2026-03-01T12:00:08.000000Z",
    }


async def test_a_second_waits_until_the_first_has_been_silent_for_a_lease(
    cluster: Cluster,
) -> None:
    """It counts what it sees by its own clock; what the Lease says of times means nothing."""
    one = await cluster.start("one")
    two = await cluster.start("two")
    await cluster.steps.go(60)
    held = two.leads
    one.way.cut = True
    await cluster.steps.go(30)

    assert not held
    assert two.leads
    assert not one.leads
    assert cluster.api.spec["leaseTransitions"] == 1


async def test_the_old_leader_gives_up_before_the_new_one_begins(cluster: Cluster) -> None:
    """There is no moment at which both may write."""
    one = await cluster.start("one")
    two = await cluster.start("two")
    one.way.cut = True
    while not two.leads:
        await cluster.steps.go(0.5)
        assert not (one.lease.left() > 0 and two.lease.left() > 0)

    assert one.task.done()
    assert cluster.clock.now > 15


async def test_an_outage_longer_than_the_deadline_ends_the_leadership(cluster: Cluster) -> None:
    """After ten seconds without a renewal the process gives up; five more are the reserve."""
    one = await cluster.start("one")
    cluster.api.away = True
    await cluster.steps.go(9.5)
    before = one.task.done()
    await cluster.steps.go(1)

    assert not before
    assert one.task.done()
    assert one.lines.all("lease lost")[0]["reason"] == "Unreachable"
    with pytest.raises(ClusterError):
        one.lease.gate(0.0)


async def test_a_short_outage_changes_nothing(cluster: Cluster) -> None:
    """It leads on, and has its whole term again."""
    one = await cluster.start("one")
    cluster.api.away = True
    await cluster.steps.go(7)
    left = one.lease.left()
    cluster.api.away = False
    await cluster.steps.go(1)

    assert left == 8.0
    assert one.leads
    assert one.lease.left() == 15.0


async def test_the_term_counts_from_the_request_not_from_its_answer(cluster: Cluster) -> None:
    """An answer that took four seconds leaves eleven."""
    one = await cluster.start("one")
    cluster.api.slow = 4.0
    await cluster.steps.go(2)

    assert one.leads
    assert one.lease.left() == 11.0


@pytest.mark.parametrize("skew", [timedelta(days=-400), timedelta(hours=5)], ids=["back", "on"])
async def test_a_jump_of_the_wall_clock_moves_nothing(cluster: Cluster, skew: timedelta) -> None:
    """Neither the leader's term nor the other's patience is counted by it."""
    one = await cluster.start("one")
    two = await cluster.start("two")
    cluster.clock.skew = skew
    await cluster.steps.go(30)

    assert one.leads
    assert not two.leads


async def test_a_process_that_was_frozen_writes_nothing_when_it_wakes(cluster: Cluster) -> None:
    """Its term has run out by the clock that counts sleep, whatever it believes."""
    one = await cluster.start("one")
    await cluster.steps.go(2)
    cluster.clock.now += 60  # nothing of the process has run meanwhile
    with pytest.raises(ClusterError) as refused:
        one.lease.gate(8.0)
    writes = len(cluster.api.writes)
    await cluster.steps.wake()

    assert refused.value.reason == "NotLeader"
    assert refused.value.retry
    assert one.task.done()
    assert len(cluster.api.writes) == writes


async def test_a_write_needs_more_lease_time_than_it_may_take(cluster: Cluster) -> None:
    """One that would end after the term is not sent."""
    one = await cluster.start("one")
    one.lease.gate(14.9)
    with pytest.raises(ClusterError):
        one.lease.gate(15.0)
    two = await cluster.start("two")

    with pytest.raises(ClusterError):
        two.lease.gate(0.0)


async def test_a_release_lets_the_next_in_at_once(cluster: Cluster) -> None:
    """Nobody waits fifteen seconds for a process that has said good-bye."""
    one = await cluster.start("one")
    two = await cluster.start("two")
    await cluster.steps.go(4)
    await one.end()
    await one.lease.release()
    with pytest.raises(ClusterError):
        one.lease.gate(0.0)
    await cluster.steps.go(2)

    assert two.leads
    assert cluster.api.spec["holderIdentity"] == "two"


async def test_a_release_is_of_the_lease_as_it_is(cluster: Cluster) -> None:
    """SIGTERM in the middle of a renewal: the server has carried it out, and we never heard."""
    one = await cluster.start("one")
    await one.end()
    cluster.api.write("one", cluster.api.body or {})
    await one.lease.release()

    assert "holderIdentity" not in cluster.api.spec
    assert one.lines.all("lease released")


async def test_a_release_touches_no_lease_of_another(cluster: Cluster) -> None:
    """A late good-bye meets a newer version and is refused."""
    one = await cluster.start("one")
    await one.end()
    cluster.api.write("two", {**(cluster.api.body or {}), "spec": {"holderIdentity": "two"}})
    await one.lease.release()

    assert cluster.api.spec == {"holderIdentity": "two"}
    assert one.lines.all("lease not released")[0]["reason"] == "Conflict"


async def test_a_leader_that_sees_another_holder_ends_at_once(cluster: Cluster) -> None:
    """Somebody took the Lease by hand: from that moment nothing more is written."""
    one = await cluster.start("one")
    cluster.api.write("by hand", {**(cluster.api.body or {}), "spec": {"holderIdentity": "me"}})
    await cluster.steps.go(4)

    assert one.task.done()
    assert one.lease.left() == 0.0


async def test_a_lease_that_is_deleted_is_made_again(cluster: Cluster) -> None:
    """The leader renews into nothing, and creates it."""
    one = await cluster.start("one")
    cluster.api.body = None
    await cluster.steps.go(4)

    assert one.leads
    assert cluster.api.spec["holderIdentity"] == "one"


async def test_a_lost_answer_does_not_lose_the_lease(cluster: Cluster) -> None:
    """The write was done; the next attempt finds our own name."""
    cluster.api.lost = 1
    one = await cluster.start("one")
    before = one.leads
    await cluster.steps.go(2)
    first = one.leads
    cluster.api.lost = 1
    await cluster.steps.go(4)

    assert not before
    assert first
    assert one.leads


async def test_what_others_wrote_on_the_lease_stays(cluster: Cluster) -> None:
    """A PUT starts from what is there."""
    meta = {"name": REF.name, "namespace": NS, "labels": {"team": "x"}}
    cluster.api.write("by hand", {"metadata": meta, "spec": {"strategy": "OldestEmulationVersion"}})
    one = await cluster.start("one")
    await cluster.steps.go(4)

    assert one.leads
    assert (cluster.api.body or {})["metadata"]["labels"] == {"team": "x"}
    assert cluster.api.spec["strategy"] == "OldestEmulationVersion"


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["go", "freeze", "cut one", "cut two", "heal", "away", "skew", "slow"]),
        st.integers(1, 30),
    ),
    max_size=25,
)


@given(STEPS)
def test_two_never_hold_the_lease_at_once(history: list[tuple[str, int]]) -> None:
    """Whatever fails and whichever clock jumps, at most one may write, and its writes end in time.

    A write sent at the last moment the gate allows is over before the other's first.
    """

    async def play() -> None:
        async with running() as made:
            pair = [await made.start("one"), await made.start("two")]
            for what, amount in history:
                apply(made, pair, what, amount)
                if what in {"go", "freeze"}:
                    for _ in range(1 if what == "freeze" else amount):
                        span = amount if what == "freeze" else 1
                        await made.steps.go(span, frozen=what == "freeze")
                        assert [p.lease.left() > 0 for p in pair].count(True) <= 1

    asyncio.run(play())


def apply(made: Cluster, pair: list[Process], what: str, amount: int) -> None:
    """Let one thing happen."""
    if what.startswith("cut"):
        pair[what == "cut two"].way.cut = True
    elif what == "heal":
        made.api.away, made.api.slow = False, 0.0
        for process in pair:
            process.way.cut = False
    elif what == "away":
        made.api.away = True
    elif what == "slow":
        made.api.slow = amount / 10
    elif what == "skew":
        made.clock.skew = timedelta(seconds=(amount - 15) * 1000)


class Hanging(LeaseClient):
    """A way to the server on which answers may stop coming."""

    hangs = False

    async def replace(self, *args: Any, **options: Any) -> Object:
        """PUT, and perhaps wait for ever."""
        if self.hangs:
            await asyncio.Event().wait()
        return await super().replace(*args, **options)


@pytest.mark.looptime
async def test_an_answer_that_never_comes_is_not_waited_for() -> None:
    """Each attempt is bounded, the last one by what is left: the process ends in time."""
    clock, lines = LoopClock(), Lines()
    way = Hanging(LeaseApi(HandClock()), "one")
    lease = Lease(way, REF, "one", clock=clock, log=lines.log, jitter=lambda: 0.0)
    task = asyncio.create_task(lease.run())
    await lease.leading.wait()
    way.hangs = True
    await task

    assert clock.steady() == 10.0
    assert lines.all("lease lost")[0]["reason"] == "Timeout"


@pytest.mark.parametrize("seconds", [3, 15, 300])
def test_a_lease_of_any_length_keeps_its_proportions(seconds: int) -> None:
    """A holder gives up, and its last write has ended, before anybody else may lead."""
    terms = Terms.lasting(seconds)

    assert Terms() == Terms.lasting(15)
    assert terms.renew_within + terms.request <= terms.duration == seconds
    assert terms.period + terms.request + terms.write <= terms.duration
