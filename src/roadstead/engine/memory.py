"""What an engine remembers between passes: events told, states held, drops counted, wakes.

All of it may be lost at a restart. Times are steady seconds.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from roadstead.decision import Bound, Event, Telling
from roadstead.kube.refs import Kind, Ref

REPEAT = 3600.0
"""An event that stays true is told again after this many seconds. Source: trust-anchors 11."""
REMEMBERED = 10_000
REMEMBERED_SPENT = 100_000
WINDOW = 600.0
LEAST = 5
SHARE = 10
"""A tenth of a group, and never fewer than five, may go within the window."""

EventId = tuple[Ref, str, str, str]


def identity(event: Event) -> EventId:
    """What makes two events the same one."""
    return (event.about, event.uid, event.reason, event.message)


@dataclass(slots=True)
class _Told:
    keys: set[Ref] = field(default_factory=set)
    at: float = 0.0
    times: int = 0


class Edges:
    """Which events are true, and when each was told: on the edge, then once an hour."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._told: OrderedDict[EventId, _Told] = OrderedDict()
        self._true: dict[Ref, set[EventId]] = {}

    def due(
        self, key: Ref, events: Iterable[Event], now: float, *, keep: bool = False
    ) -> tuple[tuple[Event, int], ...]:
        """The events to publish now, each with how often it was told before.

        What is no longer among a key's events is false, and is told again when it returns.
        keep: nobody knows whether it is, so it stays true.
        """
        current = {identity(event): event for event in events}
        before = self._true.get(key, set())
        for gone in () if keep else before - current.keys():
            self._clear(key, gone)
        true = set(current) | (before if keep else set())
        self._true[key] = true
        due = []
        for known, event in current.items():
            told = self._told.setdefault(known, _Told())
            told.keys.add(key)
            again = event.telling is Telling.HOURLY and now - told.at >= REPEAT
            if told.times == 0 or again:
                due.append((event, told.times))
        if not true:
            del self._true[key]
        self._trim()
        return tuple(due)

    def told(self, event: Event, now: float) -> None:
        """Note that an event was published."""
        told = self._told.setdefault(identity(event), _Told())
        told.at = now
        told.times += 1
        self._told.move_to_end(identity(event))

    def _clear(self, key: Ref, known: EventId) -> None:
        told = self._told.get(known)
        if told is None:
            return
        told.keys.discard(key)
        if not told.keys:
            del self._told[known]

    def _trim(self) -> None:
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)


class Withdrawals:
    """The guard against mass withdrawal: how many keys of a group lost something, and which wait.

    Once a group has reached its bound the rest is held until no key of it wants to go any more;
    the passing of the window alone lets nothing go. A key that was let go before and is refused by
    the API server is none of the rest. Source: trust-anchors 6.2.
    """

    def __init__(self) -> None:
        """Remember nothing."""
        self._gone: dict[str, dict[Ref, float]] = defaultdict(dict)
        self._size: dict[str, int] = {}
        self._held: dict[str, set[Ref]] = defaultdict(set)
        self._admitted: set[Ref] = set()

    def admit(self, key: Ref, bound: Bound, now: float) -> bool:
        """Tell whether one more key may lose its object; it is counted when it may."""
        gone = self._gone[bound.group]
        for other in [other for other, at in gone.items() if now - at >= WINDOW]:
            del gone[other]
        if not gone:
            self._size[bound.group] = 0
        self._size[bound.group] = max(self._size.get(bound.group, 0), bound.size)
        allowed = max(LEAST, self._size[bound.group] // SHARE)
        if key in gone:
            return True
        held = self._held[bound.group]
        if len(gone) >= allowed or (held and key not in self._admitted):
            held.add(key)
            return False
        gone[key] = now
        self._admitted.add(key)
        return True

    def release(self, key: Ref) -> None:
        """Note that a key wants nothing withdrawn any more."""
        for held in self._held.values():
            held.discard(key)
        self._admitted.discard(key)

    def held(self) -> dict[str, int]:
        """How many keys of each group are held back."""
        return {group: len(keys) for group, keys in sorted(self._held.items()) if keys}


class Wakes:
    """Which keys an object wakes because a decision named it. Source: trust-anchors 9, rule 2."""

    def __init__(self) -> None:
        """Know of none."""
        self._keys: dict[Ref, set[Ref]] = {}
        self._refs: dict[Ref, tuple[Ref, ...]] = {}

    def set(self, key: Ref, refs: tuple[Ref, ...]) -> None:
        """Replace what wakes a key."""
        for ref in self._refs.pop(key, ()):
            keys = self._keys[ref]
            keys.discard(key)
            if not keys:
                del self._keys[ref]
        if refs:
            self._refs[key] = refs
        for ref in refs:
            self._keys.setdefault(ref, set()).add(key)

    def keys(self, ref: Ref) -> tuple[Ref, ...]:
        """The keys an object wakes."""
        return tuple(sorted(self._keys.get(ref, ())))

    def of_kind(self, kind: Kind) -> tuple[tuple[Ref, tuple[Ref, ...]], ...]:
        """Every named object of one kind, with the keys it wakes."""
        return tuple(
            (ref, tuple(sorted(keys)))
            for ref, keys in sorted(self._keys.items())
            if ref.kind == kind
        )


class Spent:
    """What was written once for something, and is not to be written for it again."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._spent: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, what: object) -> bool:
        """Tell whether it was written; never for nothing."""
        return what in self._spent

    def add(self, what: str) -> None:
        """Remember that it was written, as long as there is room."""
        if what:
            self._spent[what] = None
        while len(self._spent) > REMEMBERED_SPENT:
            self._spent.popitem(last=False)


class States:
    """Since when each key has been in its state."""

    def __init__(self) -> None:
        """Know of none."""
        self._since: dict[Ref, tuple[str, float]] = {}

    def note(self, key: Ref, state: str, now: float) -> None:
        """Note the state a pass ended in; an empty one forgets the key."""
        if not state:
            self._since.pop(key, None)
        elif self._since.get(key, ("", 0.0))[0] != state:
            self._since[key] = (state, now)

    def present(self, key: Ref, now: float) -> tuple[str, timedelta]:
        """The state a key is in, empty when none is known, and for how long.

        A pass that could read nothing has no part in it: nobody knows what it would have seen.
        """
        known, at = self._since.get(key, ("", now))
        return known, timedelta(seconds=now - at)
