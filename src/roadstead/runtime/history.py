"""The last passes of the objects that were worked last, in bounded memory, for the status page."""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime

from roadstead.engine.passes import Passed
from roadstead.kube.refs import Ref

KEPT, MOST = 5, 2_000
"""Passes of one key, and keys. At the most a few MB."""


@dataclass(frozen=True, slots=True)
class PassNote:
    """One pass. at: when it ended. seconds: how long it took. result: as metrics have it.

    reason: of its last finding, or its state. changes: objects it changed, or would have.
    """

    at: datetime
    seconds: float
    result: str
    reason: str
    changes: int

    @classmethod
    def of(cls, passed: Passed, at: datetime, seconds: float, result: str) -> "PassNote":
        """Take from a pass what is kept of it."""
        decision = passed.decision
        reason = decision.findings[-1].reason if decision.findings else ""
        return cls(at, seconds, result, reason or decision.state, len(passed.changes))


class History:
    """The passes of the keys that were busy last. A key that is gone is forgotten with time."""

    def __init__(self, most: int = MOST, kept: int = KEPT) -> None:
        """Know none."""
        self._most, self._kept = most, kept
        self._of: OrderedDict[tuple[str, Ref], deque[PassNote]] = OrderedDict()

    def note(self, name: str, key: Ref, said: PassNote) -> None:
        """Take in a pass of a controller."""
        self._of.setdefault((name, key), deque(maxlen=self._kept)).append(said)
        self._of.move_to_end((name, key))
        if len(self._of) > self._most:
            self._of.popitem(last=False)

    def of(self, name: str, key: Ref) -> tuple[PassNote, ...]:
        """The passes of a key, the latest first."""
        return tuple(reversed(self._of.get((name, key), ())))
