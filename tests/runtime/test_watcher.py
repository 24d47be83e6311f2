"""The list and watch state machine, one answer at a time."""

from datetime import timedelta

import pytest

from parts import MAPS, SECRETS, thing
from roadstead.engine.store import State
from roadstead.errors import ClusterError
from roadstead.runtime.watcher import (
    LASTING,
    Begin,
    End,
    Follow,
    Happened,
    Listed,
    ListPage,
    Phase,
    Resumed,
    Retry,
    Watcher,
)
from roadstead.runtime.wire import Page, WatchEvent

A, B = thing("a", 5), thing("b", 6)


def machine(view: object = SECRETS) -> Watcher:
    """Give a fresh one without jitter."""
    return Watcher(view, lambda: 0.0)  # type: ignore[arg-type]  # a stand-in


def following(view: object = SECRETS, version: str = "10") -> Watcher:
    """Give one that has listed everything and follows."""
    watcher = machine(view)
    watcher._streams = False
    watcher.request()
    watcher.page(Page((), version))
    watcher.request()
    watcher.opened()
    return watcher


def refused(status: int, reason: str = "Odd", after: float = 0.0) -> ClusterError:
    """Give an error of the server."""
    wait = timedelta(seconds=after) if after else None
    return ClusterError("no", status=status, reason=reason, retry_after=wait)


def cut(reason: str = "Cut") -> ClusterError:
    """Give an error of the way to the server."""
    return ClusterError("no", reason=reason)


def test_pages_are_followed_to_the_end_before_a_watch() -> None:
    """Every page is asked for by the token of the one before; the watch begins at the list."""
    watcher = machine()

    assert watcher.request() == ListPage("")
    assert watcher.page(Page((A,), "9", "more")) == (Begin(), Listed((A,)))
    assert watcher.request() == ListPage("more")
    assert watcher.page(Page((B,), "9")) == (Listed((B,)), End("9"))
    assert watcher.request() == Follow("9", 360, initial=False)


def test_a_secret_view_never_asks_for_a_watch_list() -> None:
    """Secrets come in pages of 500, which a WatchList has not."""
    assert isinstance(machine(SECRETS).request(), ListPage)
    assert isinstance(machine(MAPS).request(), Follow)


def test_a_watch_list_is_complete_at_its_end_mark_only() -> None:
    """Objects before the mark are a list, events after it are a watch, in one stream."""
    watcher = machine(MAPS)

    assert watcher.request() == Follow("", 360, initial=True)
    assert watcher.opened() == Begin()
    assert watcher.event(WatchEvent("ADDED", A, "5")) == Listed((A,))
    assert watcher.event(WatchEvent("MODIFIED", B, "6")) == Listed((B,))
    assert watcher.event(WatchEvent("DELETED", A, "7")) == Happened("DELETED", A)
    assert watcher.event(WatchEvent("BOOKMARK", None, "8", initial_end=True)) == End("8")
    assert watcher.phase is Phase.WATCHING
    assert watcher.event(WatchEvent("MODIFIED", B, "9")) == Happened("MODIFIED", B)


@pytest.mark.parametrize("how", ["ended", "broken", "silent"])
def test_a_watch_list_cut_before_its_end_mark_starts_over(how: str) -> None:
    """Resuming from one object's version would never show the others; pages after two cuts."""
    watcher = machine(MAPS)
    for _ in range(2):
        assert watcher.request() == Follow("", 360, initial=True)
        watcher.opened()
        watcher.event(WatchEvent("ADDED", A, "5"))
        if how == "ended":
            watcher.ended(300.0, delivered=True)
        else:
            watcher.failed(cut("Silent" if how == "silent" else "Cut"))

    assert watcher.version == ""
    assert watcher.request() == ListPage("")


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_a_watch_list_is_asked_for_pages_at_once(status: int) -> None:
    """That is an answer about the server, not a fault."""
    watcher = machine(MAPS)
    watcher.request()

    assert watcher.failed(refused(status, "Invalid")) == Retry(0.0)
    assert watcher.request() == ListPage("")


def test_a_server_that_ignores_the_wish_for_initial_events_is_found_out_by_a_bookmark() -> None:
    """An old server sends plain bookmarks and no end mark, for ever."""
    watcher = machine(MAPS)
    watcher.request()
    watcher.opened()
    with pytest.raises(ClusterError) as found:
        watcher.event(WatchEvent("BOOKMARK", None, "7"))

    assert watcher.failed(found.value) == Retry(0.0)
    assert watcher.request() == ListPage("")


@pytest.mark.parametrize(
    ("status", "state", "longest"),
    [
        pytest.param(403, State.FORBIDDEN, 60.0, id="role-lacks-it"),
        pytest.param(404, State.ABSENT, 300.0, id="crd-absent"),
    ],
)
@pytest.mark.parametrize("where", ["list", "watch"])
def test_what_may_not_or_cannot_be_read_is_tried_with_growing_pauses(
    status: int, state: State, longest: float, where: str
) -> None:
    """The view is forbidden or absent, and starts over; it never gives up."""
    watcher = machine() if where == "list" else following()
    retries = []
    for _ in range(12):
        retries.append(watcher.failed(refused(status)))
        assert watcher.request() == ListPage("")

    assert {retry.lost for retry in retries} == {state}
    assert [retry.seconds for retry in retries[:4]] == [0.8, 1.6, 3.2, 6.4]
    assert retries[-1].seconds == longest


def test_waking_starts_the_pauses_anew() -> None:
    """A kind that has just been served is not made to wait like one that never was."""
    watcher = machine()
    for _ in range(9):
        watcher.failed(refused(404))
    watcher.woken()

    assert watcher.failed(refused(404)).seconds == 0.8


def test_an_expired_version_is_listed_anew_at_once_but_not_in_a_tight_loop() -> None:
    """A 410 once is normal; a server that says nothing else is given pauses."""
    watcher = following()

    assert watcher.failed(refused(410, "Expired")) == Retry(0.0, State.STALE)
    assert watcher.request() == ListPage("")
    watcher.page(Page((), "20"))
    watcher.request()
    watcher.opened()
    assert watcher.failed(refused(410, "Expired")) == Retry(1.6, State.STALE)
    assert watcher.phase is Phase.EMPTY


def test_an_expired_token_starts_the_list_over() -> None:
    """What the first pages brought is listed again; a hole would look like deletions."""
    watcher = machine()
    watcher.request()
    watcher.page(Page((A,), "9", "more"))

    assert watcher.failed(refused(410, "Expired")) == Retry(0.0, State.STALE)
    assert watcher.request() == ListPage("")
    assert watcher.page(Page((A,), "12"))[0] == Begin()


def test_a_page_that_failed_is_asked_for_again() -> None:
    """The token is still good, so that the pages before need not come twice."""
    watcher = machine()
    watcher.request()
    watcher.page(Page((A,), "9", "more"))

    assert watcher.failed(refused(503)) == Retry(0.8, State.STALE)
    assert watcher.request() == ListPage("more")
    assert watcher.page(Page((B,), "9")) == (Listed((B,)), End("9"))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(refused(500), id="error-in-stream"),
        pytest.param(cut(), id="line-cut"),
        pytest.param(cut("Unreachable"), id="server-away"),
        pytest.param(refused(429), id="throttled"),
    ],
)
def test_a_broken_watch_goes_on_where_it_was(error: ClusterError) -> None:
    """Nothing was missed, so nothing is listed."""
    watcher = following()
    watcher.event(WatchEvent("MODIFIED", A, "15"))

    assert watcher.failed(error) == Retry(0.8, State.STALE)
    assert watcher.request() == Follow("15", 360, initial=False)
    assert watcher.opened() == Resumed()


def test_a_version_that_breaks_every_stream_is_given_up() -> None:
    """Three breaks without a line in between mean that the version itself may be bad."""
    watcher = following()
    for _ in range(2):
        watcher.failed(refused(500))
        assert watcher.request() == Follow("10", 360, initial=False)
    watcher.failed(refused(500))

    assert watcher.request() == ListPage("")


def test_a_server_that_is_away_costs_no_list() -> None:
    """Thousands of lists at the moment it is back are what keeps it away."""
    watcher = following()
    for _ in range(20):
        last = watcher.failed(cut("Unreachable"))

    assert last == Retry(30.0, State.STALE)
    assert watcher.request() == Follow("10", 360, initial=False)


def test_a_stream_that_ends_in_order_goes_on_without_a_pause() -> None:
    """The server ends every watch after its timeout."""
    watcher = following()
    watcher.event(WatchEvent("BOOKMARK", None, "30"))

    assert watcher.ended(2.0, delivered=True) == Retry(0.0)
    assert watcher.request() == Follow("30", 360, initial=False)
    assert watcher.ended(LASTING, delivered=False) == Retry(0.0)


def test_a_server_that_ends_streams_at_once_is_given_pauses() -> None:
    """A stream that brought nothing and did not last is a fault."""
    watcher = following()

    assert watcher.ended(0.01, delivered=False) == Retry(0.8, State.STALE)
    assert watcher.ended(0.01, delivered=False) == Retry(1.6, State.STALE)


def test_a_stream_that_lasted_starts_the_pauses_anew() -> None:
    """A quiet watch that a proxy cuts every minute is no growing fault."""
    watcher = following()
    for _ in range(5):
        watcher.failed(cut())
        watcher.request()

    assert watcher.failed(cut(), LASTING).seconds == 0.8


def test_what_the_server_asks_for_is_waited_for() -> None:
    """Retry-After is longer than our pause, or ours than it."""
    assert machine().failed(refused(429, after=17)).seconds == 17.0
    assert machine().failed(refused(503, after=0.1)).seconds == 0.8


@pytest.mark.parametrize(("chance", "seconds"), [(-1.0, 240), (0.0, 360), (1.0, 480)])
def test_a_watch_lives_four_to_eight_minutes(chance: float, seconds: int) -> None:
    """At random, so that not all end together."""
    watcher = Watcher(MAPS, lambda: chance)

    assert watcher.request() == Follow("", seconds, initial=True)


def test_a_bug_of_ours_lists_everything_again() -> None:
    """What the engine made of the event is unknown, so nothing is built on it."""
    watcher = following()

    assert watcher.failed(cut("Bug")) == Retry(0.8, State.STALE)
    assert watcher.request() == ListPage("")
