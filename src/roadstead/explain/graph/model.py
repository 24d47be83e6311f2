"""Exposure as paths through five fixed columns, and the boxes and lines that paths share.

A path is broken between two boxes, and says why: in the word of a decision, or as a plain fact of
what is not there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from roadstead.kube.refs import Ref

HOST, LISTENER, ROUTE, SERVICE, PODS = range(5)
COLUMNS = ("host", "listener", "route or attachment", "service", "pods")
NO_SERVICE = "no such Service"
NOT_READY = "no pod is ready"


@dataclass(frozen=True, slots=True)
class Spot:
    """One box. kind: host, address, listener, route, attachment, service or pods.

    key: what tells it from other boxes. text: what it is called where its place is known.
    place: its namespace, of a listener its Gateway; empty for what has none.
    about: the object, where there is one to ask about. unread: it may not be read by the asker.
    """

    kind: str
    key: str
    text: str
    place: str = ""
    about: Ref | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """One way from a host to pods. spots: one a column, None where the way has none.

    breaks: the column after which it is broken, with the word for it. namespace: of the route or
    attachment.
    """

    spots: tuple[Spot | None, Spot | None, Spot | None, Spot | None, Spot | None]
    namespace: str
    breaks: tuple[tuple[int, str], ...] = ()

    @property
    def steps(self) -> Iterator[tuple[int, Spot]]:
        """The boxes it has, each with its column."""
        return ((at, spot) for at, spot in enumerate(self.spots) if spot is not None)

    @property
    def order(self) -> tuple[object, ...]:
        """Hostnames, addresses, then what has neither; what is served before what is refused."""
        first = self.spots[HOST]
        kind = {"host": 0, "address": 1}.get(first.kind, 2) if first is not None else 2
        names = tuple(spot.key if spot is not None else "" for spot in self.spots)
        return (kind, names[:2], bool(self.breaks), names, self.breaks, self.namespace)


@dataclass(frozen=True, slots=True)
class Edge:
    """One line between two boxes. refused: why nothing passes; empty where it does."""

    start: Spot
    end: Spot
    refused: str = ""


@dataclass(frozen=True)
class Graph:
    """Paths in order, each once. notes: what could not be read, or was left out."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, paths: Iterator[Path] | tuple[Path, ...], notes: tuple[str, ...] = ()) -> "Graph":
        """Put paths in order."""
        return cls(tuple(sorted(set(paths), key=lambda one: one.order)), notes)

    @property
    def broken(self) -> bool:
        """Whether a path is."""
        return any(path.breaks for path in self.paths)

    @cached_property
    def columns(self) -> tuple[tuple[Spot, ...], ...]:
        """The boxes of each column, each once, in the order of the paths."""
        found: list[dict[str, Spot]] = [{} for _ in COLUMNS]
        for path in self.paths:
            for at, spot in path.steps:
                found[at].setdefault(spot.key, spot)
        return tuple(tuple(column.values()) for column in found)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The lines, each once; those of one pair of boxes stand beside each other."""
        found: dict[tuple[str, str, str], Edge] = {}
        for path in self.paths:
            breaks = dict(path.breaks)
            for (at, start), (_, end) in pairwise(path.steps):
                edge = Edge(start, end, breaks.get(at, ""))
                found.setdefault((start.key, end.key, edge.refused), edge)
        return tuple(found.values())

    @cached_property
    def names(self) -> dict[str, str]:
        """A short name for each box by its key: `h1`, `l1`, `r1`, ..., in the order of columns."""
        names: dict[str, str] = {}
        counts: dict[str, int] = {}
        for column in self.columns:
            for spot in column:
                letter = _LETTERS[spot.kind]
                counts[letter] = counts.get(letter, 0) + 1
                names[spot.key] = f"{letter}{counts[letter]}"
        return names


_LETTERS = {
    "host": "h",
    "address": "a",
    "listener": "l",
    "route": "r",
    "attachment": "x",
    "service": "s",
    "pods": "p",
}
KINDS = tuple(_LETTERS)
