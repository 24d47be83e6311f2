"""Kinds that may come and go: looked up before they are asked for. Source: attachments 6.3."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from faults import Faults, broken, refuse
from parts import NS, HandClock, Lines, drain, engine, owners_key, until
from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.errors import ClusterError
from roadstead.kube.refs import Kind
from roadstead.kube.views import View
from roadstead.runtime.discovery import DISCOVERY_PERIOD, MISSES, Discovery
from roadstead.runtime.feed import DEAD_AFTER, Feed, Feeds
from roadstead.wiring import Watch

GROUP = "local.sdn.cozystack.io"
CLAIM = Kind("IPAddressClaim", GROUP, "v1alpha1", "ipaddressclaims")
NEWER = CLAIM._replace(version="v1")
CLASS = Kind("IPAddressClass", "classes.example.org", "v1", "ipaddressclasses", namespaced=False)
ATTACHMENT = Kind("EndpointAttachment", GROUP, "v1alpha1", "endpointattachments")
CLAIMS, CLASSES, ATTACHMENTS = (
    View("claims", CLAIM),
    View("classes", CLASS),
    View("attachments", ATTACHMENT),
)
NEEDED = (Watch(ATTACHMENTS, owners_key), Watch(CLAIMS, owners_key, optional=True))
SPARED = (*NEEDED, Watch(CLASSES, owners_key, optional=True))
BOUND = 30.0
"""Seconds within which a kind that comes or goes is noticed."""


@dataclass
class Rounds:
    """Pauses between looks, which pass when a test says so; others end when they are woken."""

    clock: HandClock
    looked: int = 0
    due: bool = False

    async def __call__(self, seconds: float, woken: asyncio.Event) -> None:
        """Wait."""
        if seconds != DISCOVERY_PERIOD:
            await woken.wait()
            return
        self.looked += 1
        while not (self.due or woken.is_set()):  # noqa: ASYNC110 - a test sets it between turns
            await asyncio.sleep(0)
        self.due = False

    async def again(self) -> None:
        """Let one period pass, and the look after it."""
        looked = self.looked
        self.clock.now += DISCOVERY_PERIOD
        self.due = True
        await until(lambda: self.looked > looked)


@dataclass
class Rig:
    """Views of one server, one of them needed."""

    server: Faults
    engine: Engine
    feeds: Feeds
    rounds: Rounds
    lines: Lines
    clock: HandClock
    rings: list[None] = field(default_factory=list)

    def state(self, view: View) -> State:
        """The state of a view."""
        return self.engine.stores[view].state

    def feed(self, view: View) -> Feed:
        """The feed of a view."""
        return next(feed for feed in self.feeds.all if feed.view is view)

    def asked(self, kind: Kind) -> int:
        """How many requests came to a kind's collection."""
        return sum(seen.resource == kind.plural for seen in self.server.requests)

    async def noticed(self, view: View, state: State) -> float:
        """Let periods pass until a view is in a state; give the seconds that took."""
        begun = self.clock.now
        while self.clock.now - begun <= BOUND:
            for _ in range(200):
                if self.state(view) is state:
                    return self.clock.now - begun
                await asyncio.sleep(0.0005)
            await self.rounds.again()
        raise AssertionError(f"{view.name} is still {self.state(view)}")


@asynccontextmanager
async def fed(*kinds: Kind, watches: tuple[Watch, ...] = NEEDED) -> AsyncIterator[Rig]:
    """Feed an engine from a server that serves some kinds, one object each."""
    async with Faults() as server, server.client() as client:
        for kind in kinds:
            server.serve(kind).put(NS, "a", labels={"owner": "o"})
        clock, lines, rings = HandClock(), Lines(), list[None]()
        of, rounds = engine(watches=watches, clock=clock), Rounds(clock)
        feeds = Feeds(
            of,
            client,
            clock,
            lines.log,
            ring=lambda: rings.append(None),
            jitter=lambda: 0.0,
            settle=lambda: None,
            rest=rounds,
        )
        task = asyncio.create_task(feeds.run())
        try:
            yield Rig(server, of, feeds, rounds, lines, clock, rings)
        finally:
            assert not task.done(), "the feeds ended"
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_an_absent_optional_kind_is_never_asked_for() -> None:
    """It is told once, holds up nobody, and costs two small requests a period."""
    async with fed(ATTACHMENT, watches=SPARED) as rig:
        await until(lambda: rig.engine.ready("probe"))
        for _ in range(20):
            await rig.rounds.again()
        told = rig.lines.all("kind absent")

        assert (rig.asked(CLAIM), rig.asked(CLASS)) == (0, 0)
        assert {State.ABSENT} == {rig.state(CLAIMS), rig.state(CLASSES)}
        assert [line["needed_by"] for line in told] == ["probe", "probe"]
        assert {line["kind"] for line in told} == {CLAIM.resource, CLASS.resource}
        assert told[0]["said"] == f"{told[0]['kind']} is not served at v1alpha1"
        assert len(rig.server.asked("other")) == 21 * 3  # a group twice over, the other once


async def test_an_optional_kind_that_is_there_is_listed_after_it_was_looked_up() -> None:
    """In this order, so that no 404 is ever met by the way."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        of_claims = [
            at
            for at, seen in enumerate(rig.server.requests)
            if seen.resource == CLAIM.plural or seen.verb == "other"
        ]
        first = rig.server.requests[of_claims[0]]

        assert first.verb == "other"
        assert rig.lines.all("kind absent") == []
        assert rig.engine.stores[CLAIMS].get(NS, "a") is not None


async def test_a_kind_that_appears_is_listed_without_a_restart() -> None:
    """And what waits for it is woken."""
    async with fed(ATTACHMENT) as rig:
        await until(lambda: rig.engine.ready("probe"))
        drain(rig.engine)
        rig.server.serve(CLAIM).put(NS, "c", labels={"owner": "o"})
        took = await rig.noticed(CLAIMS, State.LIVE)

        assert took <= BOUND
        assert CLAIM.ref(NS, "c") in drain(rig.engine)
        assert rig.lines.all("view live")[-1]["view"] == "claims"


async def test_a_kind_served_at_another_version_is_absent() -> None:
    """Only the version we speak counts."""
    async with fed(ATTACHMENT, NEWER) as rig:
        await until(lambda: rig.engine.ready("probe"))

        assert rig.state(CLAIMS) is State.ABSENT
        assert rig.asked(CLAIM) == 0


async def test_a_kind_that_goes_while_its_watch_stays_open_is_noticed() -> None:
    """The API server keeps such a watch for a minute and a half; it tells of nothing any more."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        drain(rig.engine)
        rings, asked = len(rig.rings), rig.asked(CLAIM)
        shelf = rig.server.withdraw(CLAIM, lingering=True)
        took = await rig.noticed(CLAIMS, State.ABSENT)
        await until(lambda: not shelf.watches)
        woken = drain(rig.engine)
        rig.server.serve(CLAIM).put(NS, "back")
        await rig.noticed(CLAIMS, State.LIVE)

        assert 0 < took <= BOUND
        assert ATTACHMENT.ref(NS, "a") in woken
        assert len(rig.rings) > rings
        assert rig.engine.ready("probe")
        assert [seen.meta.name for seen in rig.engine.stores[CLAIMS].list()] == ["back"]
        assert rig.asked(CLAIM) - asked == 1
        assert len(rig.lines.all("kind absent")) == 1


async def test_a_kind_that_goes_with_its_watch_is_asked_for_once_more() -> None:
    """That 404 says it all; discovery need not be asked before."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        asked = rig.asked(CLAIM)
        rig.server.withdraw(CLAIM)
        await until(lambda: rig.state(CLAIMS) is State.ABSENT)
        for _ in range(5):
            await rig.rounds.again()

        assert rig.asked(CLAIM) - asked == 1


async def test_a_kind_that_discovery_lists_and_nobody_serves_costs_a_request_a_period() -> None:
    """Discovery may be behind the collection; no loop is faster than the look."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        rig.server.next("watch", *[refuse(404)] * 50, kind=CLAIM)
        rig.server.next("list", *[refuse(404)] * 50, kind=CLAIM)
        for _ in range(4):
            await rig.noticed(CLAIMS, State.ABSENT)
            await rig.rounds.again()
            await until(lambda: rig.feed(CLAIMS)._listed is False)

        assert rig.asked(CLAIM) <= rig.rounds.looked
        assert len(rig.lines.all("kind absent")) == 1


@pytest.mark.parametrize("fault", [refuse(503), refuse(403), broken()], ids=["503", "403", "cut"])
async def test_an_error_of_discovery_keeps_the_last_known_answer(fault: Any) -> None:
    """Neither is what is served taken away, nor what is not asked for."""
    async with fed(ATTACHMENT, CLAIM, watches=SPARED) as rig:
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        await until(lambda: rig.state(CLASSES) is State.ABSENT)
        rig.server.next("other", *[fault] * 200)
        for _ in range(5):
            await rig.rounds.again()

        assert rig.state(CLAIMS) is State.LIVE
        assert rig.state(CLASSES) is State.ABSENT
        assert rig.asked(CLASS) == 0


async def test_discovery_that_fails_at_the_start_leaves_an_optional_kind_undecided() -> None:
    """No pass runs on a guess."""
    async with fed(ATTACHMENT) as rig:
        rig.server.next("other", *[refuse(500)] * 3)
        await until(lambda: rig.state(ATTACHMENTS) is State.LIVE and rig.rounds.looked)
        early = (rig.state(CLAIMS), rig.engine.ready("probe"))
        rig.server._scripts.clear()
        await rig.noticed(CLAIMS, State.ABSENT)

        assert early == (State.SYNCING, False)
        assert rig.engine.ready("probe")


async def test_who_may_not_ask_discovery_asks_the_collection() -> None:
    """Some clusters take that right away; the 404 that comes then is an answer too."""
    async with fed(ATTACHMENT, CLAIM, watches=SPARED) as rig:
        rig.server.next("other", *[refuse(403, "Forbidden")] * 99)
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        await until(lambda: rig.state(CLASSES) is State.ABSENT)
        await rig.rounds.again()
        await rig.rounds.again()

        assert rig.engine.ready("probe")
        assert rig.asked(CLASS) <= rig.rounds.looked


async def test_a_needed_kind_that_goes_pauses_its_capability() -> None:
    """It is in the answer for its group anyway; nothing is decided on what a dead watch holds."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        await until(lambda: rig.engine.ready("probe"))
        await rig.rounds.again()
        shelf = rig.server.withdraw(ATTACHMENT, lingering=True)
        took = await rig.noticed(ATTACHMENTS, State.ABSENT)
        paused = not rig.engine.ready("probe")
        rig.server.shelves[GROUP, "v1alpha1", ATTACHMENT.plural] = shelf
        await rig.noticed(ATTACHMENTS, State.LIVE)

        assert took <= BOUND
        assert paused
        assert rig.engine.ready("probe")
        assert rig.state(CLAIMS) is State.LIVE


async def test_a_list_that_was_cut_short_by_a_withdrawal_starts_over_later() -> None:
    """The bound that ended it must not end the next one too."""
    async with fed(ATTACHMENT, CLAIM) as rig:
        await until(lambda: rig.state(CLAIMS) is State.LIVE)
        for _ in range(3):
            rig.server.withdraw(CLAIM, lingering=True)
            await rig.noticed(CLAIMS, State.ABSENT)
            shelf = rig.server.serve(CLAIM)
            await rig.noticed(CLAIMS, State.LIVE)
        shelf.put(NS, "later")
        await until(lambda: len(rig.engine.stores[CLAIMS]))

        assert not rig.lines.all("bug in a view")


async def test_who_is_woken_looks_at_once() -> None:
    """A nudge from outside need not wait for the period."""
    async with fed(ATTACHMENT) as rig:
        await until(lambda: rig.state(CLAIMS) is State.ABSENT)
        rig.server.serve(CLAIM)
        rig.feed(CLAIMS).wake()
        await until(lambda: rig.state(CLAIMS) is State.LIVE)

        assert rig.clock.now == 0


async def test_a_kind_that_is_away_for_long_fails_liveness_only_with_discovery() -> None:
    """A restart cannot make a kind served; a server that says nothing is another thing."""
    async with fed(ATTACHMENT) as rig:
        await until(lambda: rig.state(CLAIMS) is State.ABSENT)
        rig.clock.now += DEAD_AFTER * 2
        await rig.rounds.again()
        away = rig.feeds.dead()
        rig.server.next("other", *[broken()] * 9)
        rig.clock.now += DEAD_AFTER
        await rig.rounds.again()

        assert "claims" not in away
        assert "claims" in rig.feeds.dead()


class Group:
    """What a server says of a group. served: by version; an error is raised instead."""

    def __init__(self, **served: set[str]) -> None:
        """Serve some plurals."""
        self.served: dict[str, frozenset[str]] = {v: frozenset(n) for v, n in served.items()}
        self.error: ClusterError | None = None
        self.groups: list[str] = []

    async def __call__(self, group: str) -> Mapping[str, frozenset[str]]:
        """Answer."""
        self.groups.append(group)
        if self.error:
            raise self.error
        return self.served


async def test_one_answer_that_leaves_a_kind_out_is_not_believed() -> None:
    """API servers side by side differ for a moment; a kind that was never there needs no second."""
    asked = Group(v1alpha1={CLAIM.plural})
    of = Discovery(asked)
    first = await of.look([CLAIM, ATTACHMENT])
    answers = []
    for served in ({}, {"v1alpha1": {CLAIM.plural}}, *[{}] * MISSES, {"v1alpha1": {CLAIM.plural}}):
        asked.served = {version: frozenset(names) for version, names in served.items()}
        answers.append((await of.look([CLAIM]))[CLAIM])

    assert first == {CLAIM: True, ATTACHMENT: False}
    assert answers == [True, True, True, False, True]
    assert asked.groups == [GROUP] * 6


async def test_what_the_collection_says_is_believed_until_the_next_answer() -> None:
    """A 404 is no rumour: the first answer after it decides."""
    asked = Group(v1alpha1={CLAIM.plural})
    of = Discovery(asked)
    await of.look([CLAIM])
    of.gone(CLAIM)
    asked.served = {}

    assert await of.look([CLAIM]) == {CLAIM: False}


@pytest.mark.parametrize(
    ("status", "told"), [(500, {}), (0, {}), (404, {}), (403, {CLAIM: True, ATTACHMENT: False})]
)
async def test_an_error_is_no_answer(status: int, told: dict[Kind, bool]) -> None:
    """But who may not ask knows that at least; what is known already stands then too."""
    asked = Group()
    of = Discovery(asked)
    await of.look([ATTACHMENT])
    asked.error = ClusterError("no", status=status)

    assert await of.look([CLAIM, ATTACHMENT]) == told


async def test_a_kind_that_goes_while_another_group_is_asked_has_no_answer() -> None:
    """Its collection was faster; the look that is under way must not end over it."""
    asked = Group(v1={CLASS.plural}, v1alpha1={CLAIM.plural})

    async def ask(group: str) -> Mapping[str, frozenset[str]]:
        if group == CLASS.group:
            await asyncio.sleep(0)
            of.gone(CLAIM)
        return await asked(group)

    of = Discovery(ask)

    assert await of.look([CLAIM, CLASS]) == {CLASS: True}


async def test_each_group_is_asked_once_a_look() -> None:
    """However many views there are of its kinds."""
    asked = Group(v1={CLASS.plural}, v1alpha1={CLAIM.plural})
    told = await Discovery(asked).look([CLAIM, CLASS, ATTACHMENT, CLAIM])

    assert sorted(asked.groups) == [CLASS.group, GROUP]
    assert told == {CLAIM: True, CLASS: True, ATTACHMENT: False}
