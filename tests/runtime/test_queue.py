"""The queue's promises, over histories that hypothesis makes up and by hand."""

from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from roadstead.engine.queue import FIRST_PAUSE, LONGEST_PAUSE, LOW_TURN, Priority, Queue
from roadstead.kube.refs import CONFIG_MAP, Ref


def key(name: str, namespace: str = "ns") -> Ref:
    """Name a key."""
    return CONFIG_MAP.ref(namespace, name)


KEYS = st.sampled_from([key(name, namespace) for namespace in "xyz" for name in "ab"])
PRIORITIES = st.sampled_from(Priority)


@dataclass
class Told:
    """What a key was promised: the priority it waits under, its timer, whether it runs again."""

    waits: Priority | None = None
    due: float | None = None
    running: bool = False
    again: Priority | None = None
    failures: int = 0
    history: list[str] = field(default_factory=list)


class Promises(RuleBasedStateMachine):
    """A model that keeps of each key only what was promised."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.queue = Queue()
        self.now = 0.0
        self.told: dict[Ref, Told] = {}

    def of(self, which: Ref) -> Told:
        """What is known of a key."""
        return self.told.setdefault(which, Told())

    @rule(which=KEYS, priority=PRIORITIES)
    def add(self, which: Ref, priority: Priority) -> None:
        """An event wakes a key."""
        self.queue.add(which, self.now, priority)
        told = self.of(which)
        told.due = None
        if told.running:
            told.again = max(priority, told.again or priority)
        else:
            told.waits = max(priority, told.waits or priority)

    @rule(which=KEYS, delay=st.integers(0, 400))
    def add_after(self, which: Ref, delay: int) -> None:
        """A timer is set; the earlier of two holds, and an immediate add beats both."""
        self.queue.add_after(which, delay, self.now)
        told = self.of(which)
        if told.waits is None and told.again is None:
            due = self.now + delay
            told.due = due if told.due is None else min(told.due, due)

    @rule(which=KEYS)
    def retry(self, which: Ref) -> None:
        """A pass failed: the pause doubles up to its cap."""
        told = self.of(which)
        pause = self.queue.retry(which, self.now)
        assert pause == min(LONGEST_PAUSE, FIRST_PAUSE * 2**told.failures)
        told.failures += 1
        if told.waits is None and told.again is None:
            due = self.now + pause
            told.due = due if told.due is None else min(told.due, due)

    @rule(which=KEYS)
    def forget(self, which: Ref) -> None:
        """A pass succeeded: the pauses start anew."""
        self.queue.forget(which)
        self.of(which).failures = 0

    @rule(span=st.integers(0, 400))
    def wait(self, span: int) -> None:
        """Time passes."""
        self.now += span

    @rule()
    def take(self) -> None:
        """A worker asks for a key: it gets one exactly if one is owed, and never one in work."""
        self.ripen()
        taken = self.queue.take(self.now)
        owed = [which for which, told in self.told.items() if told.waits is not None]
        if taken is None:
            assert owed == []
            return
        assert taken.key in owed
        assert taken.waited >= 0
        told = self.of(taken.key)
        assert not told.running
        told.waits = None
        told.running = True

    @precondition(lambda self: any(told.running for told in self.told.values()))
    @rule(pick=st.data())
    def done(self, pick: st.DataObject) -> None:
        """A pass ends; a key added meanwhile waits again, once."""
        running = sorted(which for which, told in self.told.items() if told.running)
        which = pick.draw(st.sampled_from(running))
        self.queue.done(which, self.now)
        told = self.of(which)
        told.running = False
        told.waits, told.again = told.again, None

    def ripen(self) -> None:
        """Let due timers become waiting keys, as `take` does."""
        for told in self.told.values():
            if told.due is not None and told.due <= self.now:
                told.due = None
                if told.running:
                    told.again = max(Priority.NORMAL, told.again or Priority.NORMAL)
                else:
                    told.waits = Priority.NORMAL

    @invariant()
    def counts_and_timers_agree(self) -> None:
        """The queue's figures are the model's."""
        told = self.told.values()
        assert len(self.queue) == sum(one.waits is not None for one in told)
        assert set(self.queue.running()) == {w for w, one in self.told.items() if one.running}
        dues = [one.due for one in told if one.due is not None]
        assert self.queue.next_due() == min(dues, default=None)


TestPromises = Promises.TestCase


def run(queue: Queue, count: int, now: float = 0.0) -> list[Ref]:
    """Take and finish so many keys."""
    keys = []
    for _ in range(count):
        taken = queue.take(now)
        assert taken is not None
        keys.append(taken.key)
        queue.done(taken.key, now)
    return keys


def test_a_hundred_thousand_adds_of_a_key_cost_one_run() -> None:
    """And as many while it runs cost one more."""
    queue = Queue()
    for _ in range(100_000):
        queue.add(key("a"), 0.0)
    first = queue.take(0.0)
    while_running = queue.take(0.0)
    for _ in range(100_000):
        queue.add(key("a"), 0.0)
    nobody = queue.take(0.0)
    queue.done(key("a"), 0.0)
    second = queue.take(0.0)
    queue.done(key("a"), 0.0)

    assert (first, second) == ((key("a"), 0.0), (key("a"), 0.0))
    assert (while_running, nobody, queue.take(0.0)) == (None, None, None)
    assert queue.adds == 200_000


def test_pauses_double_to_their_cap_and_start_anew_after_a_success() -> None:
    """From a second to five minutes."""
    queue = Queue()
    pauses = [queue.retry(key("a"), 0.0) for _ in range(12)]
    queue.forget(key("a"))

    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert queue.retry(key("a"), 0.0) == 1
    assert queue.retry(key("a"), 0.0, jitter=0.1) == 2.2


def test_timers_of_no_use_do_not_pile_up() -> None:
    """A busy key sets one at each pass, and a quiet one's, hours away, is on top of them."""
    queue = Queue()
    queue.add_after(key("quiet"), 36_000, 0.0)
    for round_ in range(10_000):
        now = round_ / 10
        queue.add(key("busy"), now)
        assert queue.take(now) is not None
        queue.add_after(key("busy"), 40_000, now)
        queue.done(key("busy"), now)

    assert len(queue._heap) < 100
    assert queue.next_due() == 36_000
    taken = queue.take(36_000)
    assert taken is not None
    assert taken.key == key("quiet")
    assert queue.next_due() == pytest.approx(40_999.9)


def test_a_pause_is_never_shorter_than_the_server_asked_for() -> None:
    """429 with Retry-After: whoever comes back sooner adds to what it is short of."""
    queue = Queue()

    assert queue.retry(key("a"), 0.0, jitter=-0.1, least=30) == 33
    assert queue.retry(key("a"), 0.0, least=1) == 2


@pytest.mark.parametrize(
    ("delays", "due"), [((30, 5), 5), ((5, 30), 5), ((7,), 7)], ids=["later-first", "first", "one"]
)
def test_the_earlier_of_two_timers_holds(delays: tuple[int, ...], due: float) -> None:
    """A recheck of five minutes does not put off one of thirty seconds."""
    queue = Queue()
    for delay in delays:
        queue.add_after(key("a"), delay, 0.0)
    early = queue.take(due - 0.1)
    taken = queue.take(due)

    assert early is None
    assert taken == (key("a"), 0.0)
    queue.done(key("a"), due)
    assert queue.take(1_000.0) is None


def test_an_event_beats_a_timer_and_cancels_it() -> None:
    """A fresh change is looked at now, and once; its failures still count."""
    queue = Queue()
    queue.retry(key("a"), 0.0)
    queue.retry(key("a"), 0.0)
    queue.add(key("a"), 0.5)

    assert run(queue, 1, 0.5) == [key("a")]
    assert queue.take(1_000.0) is None
    assert queue.retry(key("a"), 0.5) == 4


def test_low_priority_runs_within_a_bound_under_endless_load() -> None:
    """Of every eight keys handed out, one is of the first list while any waits."""
    queue = Queue()
    for number in range(5):
        queue.add(key(f"low{number}"), 0.0, Priority.LOW)
    handed = []
    for number in range(5 * LOW_TURN):
        queue.add(key(f"n{number}"), 0.0)
        queue.add(key(f"m{number}"), 0.0)
        handed += run(queue, 1)
    places = [place for place, which in enumerate(handed, 1) if which.name.startswith("low")]

    assert places == [LOW_TURN * turn for turn in range(1, 6)]


def test_a_noisy_namespace_holds_back_no_other() -> None:
    """Namespaces take turns, however many keys one of them adds."""
    queue = Queue()
    for number in range(1_000):
        queue.add(key(f"n{number}", "noisy"), 0.0)
    queue.add(key("a", "quiet"), 0.0)
    queue.add(key("b", "quiet"), 0.0)
    handed = run(queue, 4)

    assert [which.namespace for which in handed] == ["noisy", "quiet", "noisy", "quiet"]


def test_a_raised_priority_is_run_once() -> None:
    """A key of the first list that changes meanwhile overtakes it, and leaves no double."""
    queue = Queue()
    for name in "ab":
        queue.add(key(name), 0.0, Priority.LOW)
    queue.add(key("b"), 0.0, Priority.NORMAL)
    queue.add(key("b"), 0.0, Priority.LOW)

    assert run(queue, 2) == [key("b"), key("a")]
    assert queue.take(0.0) is None


def test_how_long_a_key_waited_counts_from_when_it_was_due() -> None:
    """A timer that ripened while all workers were busy has waited since then."""
    queue = Queue()
    queue.add_after(key("a"), 5.0, 0.0)
    queue.add(key("b"), 6.0)
    first, second = queue.take(10.0), queue.take(10.0)

    assert (first, second) == ((key("b"), 4.0), (key("a"), 5.0))


def test_timers_tell_what_they_are_for() -> None:
    """Cases tell a pause after a failure from a recheck."""
    queue = Queue()
    queue.retry(key("a"), 1.0)
    queue.add_after(key("b"), 30.0, 1.0)

    assert queue.timer_of(key("a")) == (2.0, True)
    assert queue.timer_of(key("b")) == (31.0, False)
    assert queue.timer_of(key("c")) is None
