"""Log lines: their form, and what a reader that stops reading costs."""

import asyncio
import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from contextvars import copy_context
from threading import Event

import pytest

from parts import CANARY, NS, START, HandClock, LeaseApi, Lines
from roadstead.kube.refs import LEASE, SECRET
from roadstead.runtime.lease import Lease
from roadstead.runtime.logs import Bridge, Log, Pipe, begin_pass, form_for, open_log, place_of


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """Give both ends of a pipe."""
    reading, writing = os.pipe()
    yield reading, writing
    for end in (reading, writing):
        os.close(end)


def read_all(reading: int, pipe: Pipe) -> None:
    """Read until the thread has written everything and ends."""
    os.set_blocking(reading, False)
    while pipe._thread.is_alive():
        with suppress(BlockingIOError):
            os.read(reading, 1 << 16)
        pipe._thread.join(0.001)


def log_to(pipe: Pipe, form: str = "json") -> Log:
    """Log to a pipe."""
    return open_log(pipe, level="info", form=form, wall=lambda: START)


def test_a_line_has_the_keys_in_order(ends: tuple[int, int]) -> None:
    """One JSON object a line, its message constant, what it is about in keys."""
    pipe = Pipe(ends[1])

    def within() -> None:
        begin_pass("anchors", SECRET.ref(NS, "a"), 42)
        log_to(pipe).info("object created", about="Secret/ns/a", empty="")

    copy_context().run(within)
    log_to(pipe).debug("not at this level")
    pipe.close()
    line = os.read(ends[0], 10_000).decode()

    assert line == (
        '{"ts":"2026-03-01T12:00:00.000Z","level":"info","msg":"object created",'
        '"controller":"anchors","namespace":"ns","name":"a","reconcileID":"0000002a",'
        '"about":"Secret/ns/a"}\n'
    )


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("text", '2026-03-01T12:00:00.000Z  warning  view lost  view=secrets  hint="a b"\n'),
        (
            "colour",
            '2026-03-01T12:00:00.000Z  \x1b[33mwarning\x1b[0m  view lost  view=secrets  hint="a b"\n',
        ),
    ],
)
def test_text_is_for_people(ends: tuple[int, int], form: str, line: str) -> None:
    """A line break or an escape in a value cannot break out of its line."""
    pipe = Pipe(ends[1])
    log_to(pipe, form).warning("view lost", view="secrets", hint="a b")
    log_to(pipe, form).warning("view lost", view="a\nb\x1b[0m", hint=("x", "y"))
    pipe.close()
    first, second = os.read(ends[0], 10_000).decode().splitlines(keepends=True)

    assert first == line
    assert '"a\\nb\\u001b[0m"  hint=x,y' in second


@pytest.mark.parametrize(
    ("wanted", "terminal", "environ", "form"),
    [
        ("", True, {}, "colour"),
        ("", False, {}, "json"),
        ("json", True, {}, "json"),
        ("text", False, {}, "text"),
        ("", True, {"NO_COLOR": "1"}, "text"),
        ("", True, {"TERM": "dumb"}, "text"),
    ],
)
def test_the_form_follows_flag_and_terminal(
    wanted: str, terminal: bool, environ: dict[str, str], form: str
) -> None:
    """JSON away from a terminal, and colour only on one that wants it."""
    assert form == form_for(wanted, terminal=terminal, environ=environ)


def test_a_reader_that_stops_costs_lines_and_nothing_else(ends: tuple[int, int]) -> None:
    """Writing never waits; what found no room is counted, and closing ends in time."""
    pipe = Pipe(ends[1], lines=10)
    log = log_to(pipe)
    for _ in range(5_000):
        log.info("x" * 100)
    dropped = pipe.dropped
    pipe.close(wait=0.01)

    assert dropped > 0
    assert 5_000 - dropped < 10 + (1 << 20) // 100  # what fits into queue and pipe

    read_all(ends[0], pipe)


async def test_a_full_pipe_stops_neither_loop_nor_lease(ends: tuple[int, int]) -> None:
    """The lease is renewed on the same loop that logs."""
    pipe, clock = Pipe(ends[1], lines=5), HandClock()
    api = LeaseApi(clock)
    log = log_to(pipe)
    turns = 0

    async def sleep(seconds: float) -> None:
        nonlocal turns
        turns += 1
        clock.now += seconds
        for _ in range(1_000):
            log.info("y" * 200)
        await asyncio.sleep(0)

    way, ref = api.of("one"), LEASE.ref(NS, "l")
    lease = Lease(way, ref, "one", clock=clock, log=log, jitter=lambda: 0.0, sleep=sleep)
    task = asyncio.create_task(lease.run())
    while turns < 20:  # noqa: ASYNC110 - turns of the lease, not of a clock
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    pipe.close(wait=0.01)

    assert pipe.dropped > 0
    assert lease.left() > 10
    read_all(ends[0], pipe)


def test_a_reader_that_is_gone_ends_nothing() -> None:
    """EPIPE is a dropped line."""
    reading, writing = os.pipe()
    os.close(reading)
    pipe = Pipe(writing)
    log_to(pipe).info("nobody reads this")
    pipe.close()
    os.close(writing)

    assert pipe.dropped == 1


def test_a_library_is_quoted_by_template_only() -> None:
    """Its arguments and its exception's message may hold anything."""
    lines, library = Lines(), logging.getLogger("elsewhere")
    bridge = Bridge(lines.log)
    library.addHandler(bridge)
    library.propagate = False
    try:
        library.warning("cannot handle %s", CANARY)
        library.error(f"cannot handle {CANARY}")
        try:
            int(CANARY)
        except ValueError:
            library.exception("request failed for %s", CANARY)
        logging.getLogger("aiohttp.access").handle(
            logging.LogRecord("aiohttp.access", 40, "", 1, "GET %s", ("x",), None)
        )
    finally:
        library.removeHandler(bridge)
    first, second, third = lines.all("message of a library")

    assert (first["template"], first["level"]) == ("cannot handle %s", "warning")
    assert "template" not in second
    assert (third["type"], third["level"]) == ("ValueError", "error")
    assert third["place"].startswith("test_logs.py:")
    assert CANARY.encode() not in lines.text


def test_a_place_is_where_it_was_raised() -> None:
    """The innermost frame, by file, line and function."""

    def inner() -> None:
        json.loads("{")

    try:
        inner()
    except ValueError as error:
        place = place_of(error)

    assert place.startswith("decoder.py:")
    assert place.endswith("JSONDecoder.raw_decode")
    assert place_of(ValueError()) == ""
    assert not Event().is_set()
