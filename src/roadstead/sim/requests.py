"""What was asked of the API: `writes`, `reads`, `atMost` and `unread` are judged by it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from roadstead.kube.refs import EVENT, LEASE, Kind, Ref


class By(StrEnum):
    """Who asked."""

    US = "us"
    OTHER = "other"


READS = frozenset({"get", "list"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request and what came of it.

    verb: `get list create update update-status patch apply delete`.
    name: empty for a list, or for a create that left the name to the server and was refused.
    preconditions: `uid`, `resourceVersion`, as far as the request carried them.
    turn: the pass that asked; 0 outside of one.
    """

    verb: str
    kind: Kind
    namespace: str
    name: str
    accepted: bool
    preconditions: tuple[str, ...] = ()
    by: By = By.US
    turn: int = 0

    @property
    def ref(self) -> Ref:
        """The object it named."""
        return self.kind.ref(self.namespace, self.name)

    @property
    def write(self) -> bool:
        """Whether it is one that changes things; events and leases are not counted."""
        return self.verb not in READS and self.kind not in {EVENT, LEASE}

    def __str__(self) -> str:
        """`verb Kind/namespace/name`, as a case writes it."""
        return f"{self.verb} {self.ref.path}"


@dataclass(frozen=True, slots=True)
class Told:
    """One publication of an event. times: how often it was told before."""

    about: Ref
    type: str
    reason: str
    message: str
    times: int = 0


class RequestLog:
    """Every request in order."""

    def __init__(self) -> None:
        """Begin empty."""
        self._all: list[Request] = []
        self.turn = 0

    def __len__(self) -> int:
        """How many there were; the mark that `since` takes."""
        return len(self._all)

    def add(self, request: Request) -> None:
        """Note one more."""
        self._all.append(request)

    def since(self, mark: int = 0, *, by: By = By.US) -> Iterator[Request]:
        """Those after a mark, in order."""
        return (request for request in self._all[mark:] if request.by is by)
