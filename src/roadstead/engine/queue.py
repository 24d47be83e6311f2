"""Keys waiting for a pass: each once, never two passes of one key at the same time.

Pure: every call is told the time, in steady seconds. Invariants: a key waits once; a key in work
is never handed out; an add during work runs exactly once more; of two adds the earlier time and
the higher priority win. Namespaces take turns, so that a noisy one holds back no other; of
every eight keys handed out one is of low priority while any waits, so that the first list is
not starved.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import IntEnum
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

from roadstead.kube.refs import Ref

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0
LOW_TURN = 8
"""One in this many keys handed out is of low priority while any waits."""
_VOID_TIMERS = 64
"""So many timers of no use are kept beside as many as there are of use."""


class Priority(IntEnum):
    """How urgent a key is; a key that is added twice keeps the higher."""

    LOW = 0
    """The first list, an unchanged resync, the look after a write."""
    NORMAL = 1


class Taken(NamedTuple):
    """A key handed out, and how long it has waited, in seconds."""

    key: Ref
    waited: float


@dataclass(slots=True)
class _Waiting:
    priority: Priority
    since: float


class _Turns:
    """Keys of one priority; namespaces take turns, keys of one namespace keep their order."""

    def __init__(self) -> None:
        self._namespaces: OrderedDict[str, deque[Ref]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._namespaces)

    def push(self, key: Ref) -> None:
        self._namespaces.setdefault(key.namespace, deque()).append(key)

    def pop(self) -> Ref:
        namespace, keys = self._namespaces.popitem(last=False)
        key = keys.popleft()
        if keys:
            self._namespaces[namespace] = keys
        return key


class Queue:
    """The keys of one controller."""

    def __init__(self) -> None:
        """Start empty."""
        self._ready = {priority: _Turns() for priority in Priority}
        self._waiting: dict[Ref, _Waiting] = {}
        self._running: dict[Ref, float] = {}
        self._again: dict[Ref, Priority] = {}
        self._due: dict[Ref, tuple[float, bool]] = {}
        self._heap: list[tuple[float, int, Ref]] = []
        self._order = count()
        self._failures: dict[Ref, int] = {}
        self._handed_out = 0
        self.adds = 0
        self.retries = 0

    def __len__(self) -> int:
        """How many keys wait for a worker now."""
        return len(self._waiting)

    def add(self, key: Ref, now: float, priority: Priority = Priority.NORMAL) -> None:
        """Have a pass run as soon as a worker is free; a waiting timer of the key is dropped."""
        self.adds += 1
        self._due.pop(key, None)
        if key in self._running:
            self._again[key] = max(priority, self._again.get(key, priority))
            return
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = _Waiting(priority, now)
            self._ready[priority].push(key)
        elif priority > waiting.priority:
            # The old place becomes void: `take` skips a key that waits under another priority.
            waiting.priority = priority
            self._ready[priority].push(key)

    def add_after(self, key: Ref, delay: float, now: float, *, backoff: bool = False) -> None:
        """Have a pass run later, unless one is asked for earlier."""
        due = now + delay
        if key in self._waiting or key in self._again:
            return
        known = self._due.get(key)
        if known is not None and known[0] <= due:
            return
        self._due[key] = (due, backoff)
        heappush(self._heap, (due, next(self._order), key))
        if len(self._heap) > 2 * len(self._due) + _VOID_TIMERS:
            self._drop_void_timers()

    def retry(
        self,
        key: Ref,
        now: float,
        jitter: float = 0.0,
        first: float = FIRST_PAUSE,
        least: float = 0.0,
    ) -> float:
        """Have a pass run again after a pause that doubles with each failure; gives the pause.

        first: seconds of the first pause. least: what the server asked for; it is only lengthened.
        """
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.retries += 1
        pause = min(LONGEST_PAUSE, first * (1 << min(failures, 30))) * (1 + jitter)
        pause = max(pause, least * (1 + abs(jitter)))
        self.add_after(key, pause, now, backoff=True)
        return pause

    def forget(self, key: Ref) -> None:
        """Start the pauses of a key anew after a success."""
        self._failures.pop(key, None)

    def take(self, now: float) -> Taken | None:
        """Hand out the next key, or None when none is ready. The caller must call `done`."""
        self._ripen(now)
        while True:
            low = self._ready[Priority.LOW]
            normal = self._ready[Priority.NORMAL]
            if not low and not normal:
                return None
            turn_of_low = (self._handed_out + 1) % LOW_TURN == 0
            priority = Priority.LOW if low and (turn_of_low or not normal) else Priority.NORMAL
            key = self._ready[priority].pop()
            waiting = self._waiting.get(key)
            if waiting is None or waiting.priority is not priority:
                continue
            del self._waiting[key]
            self._running[key] = now
            self._handed_out += 1
            return Taken(key, now - waiting.since)

    def done(self, key: Ref, now: float) -> None:
        """Give a key back; it waits again at once if it was added while it ran."""
        self._running.pop(key, None)
        priority = self._again.pop(key, None)
        if priority is not None:
            self.add(key, now, priority)
            self.adds -= 1  # it was counted when it came

    def next_due(self) -> float | None:
        """When the next timer ripens, in steady seconds; None when there is none."""
        while self._heap:
            due, _, key = self._heap[0]
            known = self._due.get(key)
            if known is not None and known[0] == due:
                return due
            heappop(self._heap)
        return None

    def _drop_void_timers(self) -> None:
        """Timers of keys that ran before they were due lie below one that is far away."""
        self._heap = [one for one in self._heap if self._due.get(one[2], (None,))[0] == one[0]]
        heapify(self._heap)

    def timer_of(self, key: Ref) -> tuple[float, bool] | None:
        """When a key's timer ripens, and whether it is a pause after a failure."""
        return self._due.get(key)

    def running(self) -> dict[Ref, float]:
        """The keys in work and since when."""
        return dict(self._running)

    def _ripen(self, now: float) -> None:
        # Ordered by when it became due, so that a late one does not overtake an earlier.
        while (due := self.next_due()) is not None and due <= now:
            _, _, key = heappop(self._heap)
            del self._due[key]
            self.add(key, due)
