"""What one view asks the server next, and what each answer means. Pure: no socket, no clock.

    EMPTY --first page--> PAGES --last page--> WATCHING --stream ends, breaks--> WATCHING
      |  `--Follow(initial)--> INITIAL --end mark-->'          |
      `<-- 403, 404, 410, a stream cut before its end mark ----'

A list comes in pages, or as the first events of a watch (WatchList) where the server can; Secrets
always come in pages. Whatever fails, the view is tried again: nothing here ever gives up.
"""

from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple

from roadstead.engine.store import State
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET
from roadstead.kube.views import View
from roadstead.runtime.wire import Page, WatchEvent

SHORTEST_WATCH, LONGEST_WATCH = 240.0, 480.0
"""Seconds a watch lives on the server, at random in between. Source: trust-anchors 9."""
FIRST_PAUSE = 0.8
LONGEST_PAUSE = 30.0
LONGEST_PAUSES = {State.FORBIDDEN: 60.0, State.ABSENT: 300.0}
LASTING = 10.0
"""A stream that held this many seconds was sound: its end starts the pauses anew."""
SPREAD = 0.5
RESUMES = 3
"""So many streams may break at one version before everything is listed again."""
CUT_STREAMS = 2
"""So many WatchLists may end before their end mark; pages after that."""
_REFUSED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_TOLD: dict[int, State] = {
    HTTPStatus.FORBIDDEN: State.FORBIDDEN,
    HTTPStatus.NOT_FOUND: State.ABSENT,
}
_UNHEARD = frozenset({"Unreachable", "Timeout", "Credentials", "Certificate", "Proxy", "Silent"})
"""The server did not speak, so that nothing can be wrong with the version we ask for."""


class Phase(StrEnum):
    """How far a view has come."""

    EMPTY = "empty"
    PAGES = "pages"
    INITIAL = "initial"
    WATCHING = "watching"


class ListPage(NamedTuple):
    """Ask for a page. token: empty for the first."""

    token: str


class Follow(NamedTuple):
    """Ask for a watch. initial: every object first, as a WatchList."""

    resource_version: str
    timeout_seconds: int
    initial: bool


class Begin(NamedTuple):
    """A list starts over."""


class Listed(NamedTuple):
    """Objects of a list."""

    objects: tuple[Object, ...]


class End(NamedTuple):
    """A list is complete as of a version."""

    resource_version: str


class Happened(NamedTuple):
    """A watch event."""

    type: str
    object: Object


class Resumed(NamedTuple):
    """A watch goes on without a gap."""


class Retry(NamedTuple):
    """Ask again after so many seconds. lost: what the view is until then; None for as it was."""

    seconds: float
    lost: State | None = None


Step = Begin | Listed | End | Happened | Resumed


class Watcher:
    """The state of one view's list and watch.

    phase: see above. version: where a watch goes on; empty before the first list.
    """

    def __init__(self, view: View, jitter: Callable[[], float]) -> None:
        """Begin with nothing. jitter: a number from -1 to 1."""
        self.view = view
        self.phase = Phase.EMPTY
        self.version = ""
        self._jitter = jitter
        self._token = ""
        self._failures = 0
        self._stuck = 0
        self._opened = False
        self._cut_streams = 0
        self._streams = view.kind != SECRET

    @property
    def listing(self) -> bool:
        """Whether the next request, or the stream at hand, is about everything there is."""
        return self.phase is not Phase.WATCHING

    def request(self) -> ListPage | Follow:
        """What to ask for now."""
        self._opened = False
        if self.phase is Phase.PAGES or (self.phase is Phase.EMPTY and not self._streams):
            return ListPage(self._token)
        span = LONGEST_WATCH - SHORTEST_WATCH
        seconds = int(SHORTEST_WATCH + span * (1 + self._jitter()) / 2)
        if self.phase is Phase.EMPTY:
            self.phase = Phase.INITIAL
        initial = self.phase is Phase.INITIAL
        return Follow("" if initial else self.version, seconds, initial)

    def woken(self) -> None:
        """Something outside says that it is worth trying now."""
        self._failures = 0

    def page(self, page: Page) -> tuple[Step, ...]:
        """One page has come."""
        steps: list[Step] = [] if self._token else [Begin()]
        steps.append(Listed(page.objects))
        self._token = page.continue_token
        self.phase = Phase.PAGES
        if not page.continue_token:
            steps.append(self._complete(page.resource_version))
        return tuple(steps)

    def opened(self) -> Step:
        """The server has agreed to a watch."""
        self._opened = True
        return Begin() if self.phase is Phase.INITIAL else Resumed()

    def event(self, event: WatchEvent) -> Step | None:
        """One line of a stream has come.

        Raises: ClusterError when it shows that the server knows no WatchList.
        """
        seen = event.object
        if self.phase is Phase.INITIAL:
            return self._initial(event)
        self._failures = self._stuck = 0
        if event.resource_version:
            self.version = event.resource_version
        return None if seen is None else Happened(event.type, seen)

    def ended(self, lasted: float, *, delivered: bool) -> Retry:
        """The server has ended a stream in good order.

        lasted: seconds. delivered: whether any line came.
        """
        if self.phase is Phase.INITIAL:
            return self._cut_short(0.0)
        if delivered or lasted >= LASTING:
            self._failures = self._stuck = 0
            return Retry(0.0)
        return self._again(State.STALE)

    def failed(self, error: ClusterError, lasted: float = 0.0) -> Retry:
        """A request or a stream failed. lasted: seconds it had held."""
        asked = error.retry_after.total_seconds() if error.retry_after else 0.0
        if lasted >= LASTING:
            self._failures = 0
        if (told := _TOLD.get(error.status)) is not None:
            return self._over(told)
        if error.status == HTTPStatus.GONE:
            return self._expired()
        if self.phase is Phase.INITIAL:
            if error.status in _REFUSED:
                return self._in_pages()
            return self._cut_short(asked) if self._opened else self._over(State.STALE, asked)
        if self.phase is Phase.WATCHING and error.reason not in _UNHEARD:
            self._stuck += 1
        if self._stuck >= RESUMES or error.reason == "Bug" or error.status in _REFUSED:
            return self._over(State.STALE, asked)
        return self._again(State.STALE, asked)

    def _initial(self, event: WatchEvent) -> Step | None:
        if event.object is None:
            if not event.initial_end:
                raise ClusterError(
                    "the server knows no WatchList", reason="NoWatchList", status=400
                )
            self._cut_streams = 0
            return self._complete(event.resource_version)
        if event.type == "DELETED":
            return Happened(event.type, event.object)
        return Listed((event.object,))

    def _complete(self, version: str) -> End:
        self.phase = Phase.WATCHING
        self.version = version
        self._token = ""
        self._stuck = 0
        return End(version)

    def _expired(self) -> Retry:
        """A version or a list token is too old: once that is no fault, and not worth a pause."""
        if self._failures == 0:
            self._restart()
            self._failures = 1
            return Retry(0.0, State.STALE)
        return self._over(State.STALE)

    def _in_pages(self) -> Retry:
        self._streams = False
        self._restart()
        return Retry(0.0)

    def _cut_short(self, asked: float) -> Retry:
        """A WatchList ended before its end mark, so that nothing can be resumed from it."""
        self._cut_streams += 1
        if self._cut_streams >= CUT_STREAMS:
            self._streams = False
        return self._over(State.STALE, asked)

    def _over(self, lost: State, asked: float = 0.0) -> Retry:
        self._restart()
        return self._again(lost, asked)

    def _again(self, lost: State, asked: float = 0.0) -> Retry:
        longest = LONGEST_PAUSES.get(lost, LONGEST_PAUSE)
        pause = min(longest, FIRST_PAUSE * 2 ** min(self._failures, 20))
        self._failures += 1
        return Retry(max(asked, pause * (1 + SPREAD * self._jitter())), lost)

    def _restart(self) -> None:
        self.phase = Phase.EMPTY
        self._token = ""
        self._stuck = 0
