"""Probes and metrics over HTTP."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import aiohttp
import pytest

from parts import MAPS, NS, SECRETS, HandClock, Lines, engine, owners_key
from roadstead.decision import Bound
from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.errors import InputError
from roadstead.kube.refs import HELM_RELEASE
from roadstead.runtime.feed import DEAD_AFTER, Feeds
from roadstead.runtime.health import (
    Health,
    address_of,
    health_app,
    judged,
    liveness,
    metrics_app,
    readiness,
    serve,
)
from roadstead.wiring import Watch


def parts() -> tuple[Engine, Feeds, HandClock]:
    """Give an engine over two views, and feeds that do not run."""
    clock = HandClock()
    of = engine(SECRETS, MAPS, clock=clock)
    feeds = Feeds(of, None, clock, Lines().log, ring=lambda: None, jitter=lambda: 0.0)  # type: ignore[arg-type]  # a stand-in
    return of, feeds, clock


def listed(of: Engine) -> Engine:
    """List every view."""
    for view in of.stores:
        of.begin_list(view)
        of.end_list(view, "5")
    return of


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("", listed),
        ("secrets syncing; maps syncing", lambda _of: None),
        ("maps forbidden", lambda of: listed(of).lost(MAPS, State.FORBIDDEN)),
        ("maps absent", lambda of: listed(of).lost(MAPS, State.ABSENT)),
        ("", lambda of: listed(of).lost(MAPS, State.STALE)),
        ("withdrawals held: Postgres 35", lambda of: hold(listed(of), 35)),
    ],
    ids=["ready", "syncing", "forbidden", "absent", "stale-still-answers", "held"],
)
def test_readiness_names_what_is_missing(said: str, change: Callable[[Engine], object]) -> None:
    """View and state, or what waits for a person's word."""
    of, feeds, _ = parts()
    change(of)

    assert readiness(of, feeds)["probe"]() == (said, "")


def hold(of: Engine, count: int) -> None:
    """Have so many withdrawals held."""
    guard = of.desks["probe"].withdrawals
    for number in range(count + 5):
        guard.admit(HELM_RELEASE.ref(NS, f"r{number}"), Bound("Postgres", 40), 0.0)


def test_the_page_reads_like_the_api_servers() -> None:
    """A script that reads one reads the other."""
    checks = {"ping": Health, "anchors": lambda: Health("secrets forbidden")}

    assert judged({"ping": Health}, "healthz", verbose=False) == (True, "ok")
    assert judged({"ping": Health}, "healthz", verbose=True) == (
        True,
        "[+]ping ok\nhealthz check passed\n",
    )
    assert judged(checks, "readyz", verbose=False) == (
        False,
        "[+]ping ok\n[-]anchors failed: secrets forbidden\nreadyz check failed\n",
    )


def spared() -> tuple[Engine, Feeds]:
    """Give an engine that needs the Secrets and can do without the maps."""
    watches = (Watch(SECRETS, owners_key), Watch(MAPS, owners_key, optional=True))
    of = engine(watches=watches)
    return of, Feeds(of, None, HandClock(), Lines().log, ring=lambda: None, jitter=lambda: 0.0)  # type: ignore[arg-type]  # a stand-in


@pytest.mark.parametrize("state", [State.ABSENT, State.FORBIDDEN])
def test_an_optional_kind_that_is_away_is_named_and_fails_nothing(state: State) -> None:
    """A capability that works is ready; what it works without is still said, also unasked."""
    of, feeds = spared()
    of.begin_list(SECRETS)
    of.end_list(SECRETS, "5")
    of.lost(MAPS, state)
    checks = readiness(of, feeds)

    assert checks["probe"]() == ("", f"maps {state}")
    assert judged(checks, "readyz", verbose=False) == (
        True,
        f"[+]probe ok, without: maps {state}\nreadyz check passed\n",
    )


def test_an_optional_kind_that_nobody_has_looked_up_yet_is_waited_for() -> None:
    """Nothing runs before it is known, so that the probe must not say that all is well."""
    of, feeds = spared()
    before = readiness(of, feeds)["probe"]()
    of.begin_list(SECRETS)
    of.end_list(SECRETS, "5")

    assert before == ("secrets syncing; maps syncing", "")
    assert readiness(of, feeds)["probe"]() == ("maps syncing", "")


async def test_probes_are_served() -> None:
    """Each check has a path of its own; liveness and readiness differ."""
    of, feeds, clock = parts()
    async with AsyncExitStack() as stack, aiohttp.ClientSession() as session:
        app = health_app(liveness(feeds), readiness(of, feeds))
        port = await serve(stack, app, "127.0.0.1:0", "--health-probe-bind-address")

        async def ask(path: str) -> tuple[int, str]:
            async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                return answer.status, await answer.text()

        assert await ask("/healthz") == (200, "ok")
        assert (await ask("/readyz/probe"))[0] == 500
        listed(of)
        assert await ask("/readyz") == (200, "ok")
        assert await ask("/readyz?verbose") == (200, "[+]probe ok\nreadyz check passed\n")
        clock.now = DEAD_AFTER
        assert await ask("/healthz") == (
            500,
            "[+]ping ok\n[-]watches failed: maps is silent, secrets is silent\nhealthz check failed\n",
        )
        assert (await ask("/readyz"))[0] == 200
        assert (await ask("/metrics"))[0] == 404


async def test_metrics_are_served() -> None:
    """In Prometheus' text form."""
    async with AsyncExitStack() as stack, aiohttp.ClientSession() as session:
        port = await serve(stack, metrics_app(lambda: b"up 1\n"), "127.0.0.1:0", "--m")
        async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
            kind, text = answer.headers["Content-Type"], await answer.text()

        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        assert text == "up 1\n"


async def test_an_address_that_is_taken_is_the_users_to_change() -> None:
    """The sentence says which flag; nothing is left open."""
    async with AsyncExitStack() as stack:
        port = await serve(stack, metrics_app(lambda: b""), "127.0.0.1:0", "--metrics-bind-address")
        with pytest.raises(InputError) as refused:
            await serve(stack, metrics_app(lambda: b""), f"127.0.0.1:{port}", "--health")

        assert str(refused.value).startswith(f"--health: cannot listen on `127.0.0.1:{port}`:")
        assert await serve(stack, metrics_app(lambda: b""), "0", "--m") == 0


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8080", (None, 8080)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:80", ("::1", 80)),
        ("0", None),
        ("", None),
    ],
)
def test_addresses_are_read(text: str, address: object) -> None:
    """As controller-runtime's flags have them."""
    assert address == address_of(text, "--m")


@pytest.mark.parametrize("text", ["8080", ":http", ":70000", "host"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """With the flag's name."""
    with pytest.raises(InputError, match="--metrics-bind-address"):
        address_of(text, "--metrics-bind-address")
