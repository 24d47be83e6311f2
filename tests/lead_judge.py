"""What a run of leaders is judged by: the lease as the server's audit log shows it taken and left.

A term begins when the server takes the write that states the holder, and ends with a release, or
so many seconds after the last renewal. Every time is the server's own.
Source: runtime 6, point 9.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from kill_judge import CHANGES
from roadstead.kube.refs import EVENT, LEASE, Ref
from roadstead.runtime.lease import SPREAD, Terms

SLACK_SECONDS = 1.5
"""What requests, and a machine that others use as well, may add to a takeover."""
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Term:
    """A lease held by one life. released: None where it was not."""

    life: int
    taken: datetime
    renewed: datetime
    released: datetime | None = None

    def end(self, terms: Terms) -> datetime:
        """When it is over for everybody."""
        return self.released or self.renewed + timedelta(seconds=terms.duration)


@dataclass(frozen=True, slots=True)
class Handover:
    """From one term to the next. seconds: from the release, or from the last renewal."""

    old: Term
    new: Term

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.new.taken - (self.old.released or self.old.renewed)).total_seconds()

    def bounds(self, terms: Terms) -> tuple[float, float]:
        """How long it may take at least and at most.

        A candidate looks once in a period, so it sees the last renewal one period late at most,
        and looks again one period after the lease has run out at most.
        """
        look = terms.period * (1 + SPREAD)
        if self.old.released is not None:
            return 0.0, look + SLACK_SECONDS
        return terms.duration, terms.duration + 2 * look + SLACK_SECONDS


@dataclass(frozen=True, slots=True)
class Reigns:
    """One log, judged. terms: of the lease. history: who held it when, in order."""

    terms: Terms
    history: tuple[Term, ...]
    writes: tuple[Line, ...]

    @classmethod
    def read(cls, log: Iterable[Line], lock: Ref, ours: str, terms: Terms) -> "Reigns":
        """Read a log in the order of its lines. ours: the user that the candidates are."""
        history: list[Term] = []
        writes: list[Line] = []
        for line in log:
            if line["verb"] not in CHANGES or line["user"]["username"] != ours:
                continue
            about = line["objectRef"]
            if about["resource"] != LEASE.plural:
                writes.append(line)
            elif _accepted(line) and about["namespace"] == lock.namespace:
                _renew(history, line)
        return cls(terms, tuple(history), tuple(writes))

    def handovers(self) -> list[Handover]:
        """From each term to the next."""
        return [Handover(*pair) for pair in zip(self.history, self.history[1:], strict=False)]

    def together(self) -> list[str]:
        """Terms that began before the one before them was over."""
        return [
            f"life {one.new.life} took the lease {one.seconds:.3f} s after {one.old}"
            for one in self.handovers()
            if one.new.taken < one.old.end(self.terms)
        ]

    def slow(self) -> list[str]:
        """Takeovers that took longer than a lease's terms say."""
        return [
            f"life {one.new.life} followed {one.old.life} after {one.seconds:.3f} s"
            for one in self.handovers()
            if one.seconds > one.bounds(self.terms)[1]
        ]

    def without_lease(self) -> list[str]:
        """Writes that the server took from a life without a term, from receipt to answer.

        What was kept between the gate and the network until the life thawed may come after its
        term, and is then refused unless nobody else has led since. Only an Event is taken even
        then: it tells of a status that was written under the lease, which the next leader finds
        and does not tell again, and it changes nothing.
        """
        return [_named(line) for line in self.writes if _accepted(line) and not self._held(line)]

    def _held(self, line: Line) -> bool:
        life, late = life_of(line)
        if late and (line["verb"], line["objectRef"]["resource"]) == ("create", EVENT.plural):
            return True
        came, done = _time(line, "requestReceivedTimestamp"), _time(line, "stageTimestamp")
        for at, term in enumerate(self.history):
            if term.life != life or came < term.taken:
                continue
            following = self.history[at + 1].taken if at + 1 < len(self.history) else None
            if late and (following is None or done < following):
                return True
            if done <= term.end(self.terms):
                return True
        return False

    def late(self) -> dict[str, int]:
        """What became of the writes that came late: so many of each answer."""
        counts: dict[str, int] = {}
        for line in self.writes:
            if life_of(line)[1]:
                code = str(line["responseStatus"]["code"])
                counts[code] = counts.get(code, 0) + 1
        return counts


def life_of(line: Line) -> tuple[int, bool]:
    """Which life sent a request, by its user agent; and whether it was kept from the network."""
    number, _, mark = str(line.get("userAgent", "")).partition(" life/")[2].partition(" ")
    return int(number or 0), bool(mark)


def _renew(history: list[Term], line: Line) -> None:
    """Take in one accepted write of the lease."""
    life, came = life_of(line)[0], _time(line, "requestReceivedTimestamp")
    holder = line["requestObject"]["spec"].get("holderIdentity")
    led = bool(history) and history[-1].life == life and history[-1].released is None
    if led and holder:
        history[-1] = replace(history[-1], renewed=came)
    elif led:
        history[-1] = replace(history[-1], released=came)
    else:
        history.append(Term(life, came, came))


def _accepted(line: Line) -> bool:
    return int(line["responseStatus"]["code"]) in range(200, 300)


def _time(line: Line, key: str) -> datetime:
    return datetime.fromisoformat(line[key])


def _named(line: Line) -> str:
    about, (life, late) = line["objectRef"], life_of(line)
    what = f"{line['verb']} {about['resource']}/{about.get('subresource', '')}".rstrip("/")
    place = f"{about.get('namespace', '')}/{about.get('name', '')}"
    return f"life {life}{' late' if late else ''}: {what} {place} at {line['stageTimestamp']}"
