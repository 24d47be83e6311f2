"""The status page's server: who is answered, with what, and what is refused."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import cast

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.parser import text_string_to_metric_families

from parts import SECRETS, HandClock, Lines, engine
from roadstead.decision import Decision, Did, Finding, Outcome, Verdict
from roadstead.engine.passes import Passed
from roadstead.errors import InputError
from roadstead.kube.refs import SECRET
from roadstead.runtime import page as module
from roadstead.runtime.client import Client
from roadstead.runtime.health import Health
from roadstead.runtime.history import History, PassNote
from roadstead.runtime.page import (
    HEADERS,
    WAITING,
    Answer,
    Source,
    exposition,
    is_loopback,
    loopback_of,
    named,
    serve_page,
    together,
    url_of,
)

KEY = SECRET.ref("ns", "a")


class Echo:
    """Pages that say what they were asked for. hold: answers wait for it where it is set."""

    def __init__(self) -> None:
        """Answer at once."""
        self.hold: asyncio.Event | None = None
        self.fails: Exception | None = None

    async def answer(self, path: str, query: Mapping[str, str]) -> Answer:
        """Say it."""
        if self.hold is not None:
            await self.hold.wait()
        if self.fails is not None:
            raise self.fails
        return Answer(200, f"{path} {dict(query)}")

    def refusal(self, status: int, words: str, hint: str = "") -> Answer:
        """Say no."""
        return Answer(status, f"{words}; {hint}")


def source() -> Source:
    """A process that does nothing."""
    clock, registry = HandClock(), CollectorRegistry()
    Gauge("memory", "Memory.", registry=registry)
    return Source(
        engine=engine(SECRETS, clock=clock),
        client=cast("Client", None),
        clock=clock,
        history=History(),
        live={"ping": Health},
        ready={"probe": lambda: Health("secrets syncing")},
        registry=registry,
        leads=lambda: None,
    )


@asynccontextmanager
async def served(
    pages: Echo | None = None, *sources: Source, lines: Lines | None = None
) -> AsyncIterator[str]:
    """Serve on a free port."""
    async with AsyncExitStack() as stack:
        log = (lines or Lines()).log
        of = sources or (source(),)
        port = await serve_page(stack, pages or Echo(), of, "127.0.0.1:0", log)
        yield f"http://127.0.0.1:{port}"


async def asked(
    url: str, method: str = "GET", **headers: str
) -> tuple[int, str, Mapping[str, str]]:
    """Ask once."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, headers=headers) as answer,
    ):
        return answer.status, await answer.text(), answer.headers


@pytest.mark.parametrize(
    ("status", "method", "host"),
    [
        (200, "GET", "localhost"),
        (200, "GET", "LOCALHOST:1234"),
        (200, "GET", "127.0.0.1:8080"),
        (200, "GET", "[::1]:8080"),
        (200, "HEAD", "localhost:8080"),
        (421, "GET", "evil.example"),
        (421, "GET", "evil.example:8080"),
        (421, "GET", "localhost.evil.example"),
        (421, "GET", "127.0.0.1.evil.example"),
        (421, "GET", "192.168.1.7:8080"),
        (421, "GET", "0.0.0.0"),  # noqa: S104 - nothing is bound
        (421, "GET", ""),
        (421, "POST", "evil.example"),
        (405, "POST", "localhost"),
        (405, "PUT", "localhost"),
        (405, "DELETE", "127.0.0.1"),
        (405, "PATCH", "127.0.0.1"),
        (405, "OPTIONS", "localhost"),
        (405, "TRACE", "localhost"),
    ],
)
async def test_only_a_reader_by_a_name_of_loopback_is_answered(
    status: int, method: str, host: str
) -> None:
    """A rebound name is foreign, whatever it resolves to; nothing is ever written."""
    async with served() as url:
        for path in ("/", "/o/a/b/c", "/metrics", "/healthz", "/page.css"):
            got, text, headers = await asked(url + path, method, Host=host)
            assert got == status, path
            assert {name: headers.get(name) for name in HEADERS} == HEADERS
            assert bool(text) is (method != "HEAD")
            assert headers.get("Allow") == ("GET, HEAD" if status == 405 else None)
    if status == 421:
        assert "localhost" in text


def test_the_policy_lets_in_nothing_from_outside() -> None:
    """No inline script or style, no frame, no other host, no plug-in, no other base."""
    policy = HEADERS["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert "'none'" == rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"]
    assert {"'self'", "'none'"} == set(rules.values())


async def test_a_query_reaches_the_page() -> None:
    """Decoded, the first of each name."""
    async with served() as url:
        assert "/a b/c {'q': 'x&y'}" == (await asked(f"{url}/a%20b/c?q=x%26y"))[1]


async def test_probes_and_metrics_stand_beside_the_pages() -> None:
    """As the other ports have them."""
    async with served() as url:
        assert (200, "ok") == (await asked(f"{url}/healthz"))[:2]
        status, text, _ = await asked(f"{url}/readyz")
        assert (500, "[-]probe failed: secrets syncing\nreadyz check failed\n") == (status, text)
        assert 500 == (await asked(f"{url}/readyz/probe"))[0]
        assert "/readyz/none {}" == (await asked(f"{url}/readyz/none"))[1]
        assert (await asked(f"{url}/metrics"))[2]["Content-Type"].startswith("text/plain")


async def test_a_bug_of_a_page_costs_that_page_alone() -> None:
    """What an exception says is told to nobody."""
    pages, lines = Echo(), Lines()
    async with served(pages, lines=lines) as url:
        pages.fails = RuntimeError("canary-of-a-value")
        status, text, headers = await asked(f"{url}/")
        pages.fails = None
        assert 200 == (await asked(f"{url}/"))[0]
    assert (500, HEADERS["Server"]) == (status, headers["Server"])
    assert "internal error" in text
    assert ["RuntimeError"] == [line["type"] for line in lines.all("bug in a page")]
    assert "canary" not in text + lines.text.decode()


async def test_pages_wait_for_each_other_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A crowd is sent away, probes are answered meanwhile, and what hangs is ended."""
    monkeypatch.setattr(module, "DEADLINE", 0.5)
    pages = Echo()
    pages.hold = asyncio.Event()
    async with served(pages) as url:
        crowd = [asyncio.create_task(asked(f"{url}/{at}")) for at in range(WAITING + 5)]
        done, _ = await asyncio.wait(crowd, return_when=asyncio.FIRST_COMPLETED)
        assert {503} == {one.result()[0] for one in done}
        assert (200, "ok") == (await asked(f"{url}/healthz"))[:2]
        found = [(await one)[:2] for one in crowd]
        assert {503} == {status for status, _ in found}
        assert WAITING == sum("took too long" in text for _, text in found)
        pages.hold = None
        assert 200 == (await asked(f"{url}/"))[0]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8080", "127.0.0.1:8080"),
        ("localhost:8080", "localhost:8080"),
        ("127.0.0.2:0", "127.0.0.2:0"),
        ("[::1]:8080", "[::1]:8080"),
        ("0", "0"),
        ("", "0"),
    ],
)
def test_the_page_is_loopbacks_own(text: str, address: str) -> None:
    """It asks nobody who they are, so nobody else may reach it."""
    assert address == loopback_of(text)


@pytest.mark.parametrize("text", ["0.0.0.0:8080", "[::]:8080", "10.0.0.1:80", "example.org:80"])
def test_the_page_is_not_put_before_others(text: str) -> None:
    """The hint names the way that asks for rights."""
    with pytest.raises(InputError) as raised:
        loopback_of(text)
    assert "port-forward" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (":0", "http://127.0.0.1:7/"),
        ("localhost:0", "http://localhost:7/"),
        ("[::1]:0", "http://[::1]:7/"),
    ],
)
def test_the_log_says_where_to_look(text: str, url: str) -> None:
    """By the name that was asked for, and the port it got."""
    assert url == url_of(text, 7)


def test_a_host_header_is_read_without_its_port() -> None:
    """In both families, in any case."""
    assert ["a.b", "::1", "::1", "localhost", ""] == [
        named(one) for one in ("A.b:80", "[::1]", "[::1]:80", "localhost", " ")
    ]
    assert not is_loopback("localhost.")
    assert is_loopback("127.255.255.254")


def test_what_several_processes_share_is_told_once() -> None:
    """Their figures stand in one page that Prometheus can read; their checks in one list."""
    registries = [CollectorRegistry() for _ in range(2)]
    for name, registry in zip("ab", registries, strict=True):
        Counter("passes", "Passes.", ["controller"], registry=registry).labels(name).inc(2)
        Gauge("memory", "Memory.", registry=registry).set(7)
    families = {
        one.name: one for one in text_string_to_metric_families(exposition(registries).decode())
    }
    assert {"passes", "memory"} <= set(families)
    samples = [one for one in families["passes"].samples if one.name == "passes_total"]
    assert [("a", 2.0), ("b", 2.0)] == [(one.labels["controller"], one.value) for one in samples]
    assert [7.0] == [one.value for one in families["memory"].samples]
    checks = together([{"ping": Health}, {"ping": lambda: Health("silent"), "b": Health}])
    assert ("silent", "") == checks["ping"]()
    assert ("", "") == checks["b"]()


def test_the_history_keeps_the_last_of_the_busiest() -> None:
    """So many passes of a key, and so many keys; the rest is forgotten."""
    found = Finding("rule", Verdict.WAIT, "Waiting")
    outcomes = (Outcome(KEY, Did.UPDATED), Outcome(KEY, Did.UNCHANGED))
    passed = Passed(Decision(findings=(found,), state="s"), outcomes)
    clock, history = HandClock(), History(most=2, kept=2)
    for seconds in (1.0, 2.0, 3.0):
        history.note("x", KEY, PassNote.of(passed, clock.wall(), seconds, "success"))
    told = history.of("x", KEY)
    assert [3.0, 2.0] == [one.seconds for one in told]
    assert ("Waiting", 1, "success") == (told[0].reason, told[0].changes, told[0].result)
    assert () == history.of("y", KEY)
    plain = replace(passed, decision=Decision(state="Settled"))
    assert "Settled" == PassNote.of(plain, clock.wall(), 0.0, "success").reason
    for name in ("b", "c"):
        history.note("x", SECRET.ref("ns", name), told[0])
    assert () == history.of("x", KEY)
