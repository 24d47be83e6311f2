"""The instruments of the night: lag, stalls, and who is at what."""

import asyncio
import sys
import threading

from parts import CANARY, MAPS, Lines, engine, thing, until
from roadstead.runtime.nightshift import BEAT, LAG_WINDOW, STALL, Watchdog, report, stack_of


class Hand:
    """A steady clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_the_lag_is_the_longest_of_the_last_minute() -> None:
    """A short stall is still to be seen at the next scrape, and gone after a minute."""
    hand = Hand()
    dog = Watchdog(Lines().log, hand)
    for late in (0.0, 0.5, 0.01):
        hand.now += BEAT + late
        dog.beat()
    worst = dog.lag()
    for _ in range(int(LAG_WINDOW / BEAT) + 1):
        hand.now += BEAT
        dog.beat()

    assert round(worst, 6) == 0.5
    assert dog.lag() < 0.02
    assert Watchdog(Lines().log, hand).lag() == 0.0


def test_a_stall_is_told_once_with_places_and_no_values() -> None:
    """Where the loop hangs, and when it turns again."""
    hand, lines = Hand(), Lines()
    dog = Watchdog(lines.log, hand)
    hand.now = STALL - 0.01
    dog.look(None)
    quiet = lines.text

    def hanging(_value: str) -> None:
        hand.now = STALL
        dog.look(sys._getframe())
        dog.look(sys._getframe())

    hanging(CANARY)
    hand.now = STALL + 1
    dog.beat()
    dog.look(None)
    (stalled,) = lines.all("loop stalled")

    assert quiet == b""
    assert stalled["seconds"] == STALL
    assert stalled["stack"][0].startswith("test_nightshift.py:")
    assert stalled["stack"][0].endswith("hanging")
    assert len(lines.all("loop turns again")) == 1
    assert CANARY.encode() not in lines.text


async def test_a_thread_sees_the_loop_hang() -> None:
    """The loop itself can tell nobody while it hangs."""
    lines, hand = Lines(), Hand()
    dog = Watchdog(lines.log, hand)
    task = asyncio.create_task(dog.run())
    await asyncio.sleep(0)
    hand.now = STALL + 1
    seen = threading.Event()
    while not lines.all("loop stalled"):  # the loop does not turn here
        seen.wait(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    (stalled,) = lines.all("loop stalled")

    assert any(place.endswith("test_a_thread_sees_the_loop_hang") for place in stalled["stack"])
    assert dog._thread is not None
    assert not dog._thread.is_alive()


async def test_a_report_names_tasks_queues_and_views() -> None:
    """What SIGUSR1 prints: counts and places, no object."""
    lines, of = Lines(), engine(MAPS)
    of.begin_list(MAPS)
    of.add_page(MAPS, [thing(CANARY)])
    of.end_list(MAPS, "5")
    never = asyncio.Event()
    task = asyncio.create_task(never.wait(), name="feed maps")
    await until(lambda: True)
    await asyncio.sleep(0)
    report(of, {"maps": 12.34}, lines.log)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    tasks = {line["task"]: line["at"] for line in lines.all("task")}

    assert tasks["feed maps"].endswith("Event.wait")
    assert lines.all("queue")[0] | {"ts": ""} == {
        "ts": "",
        "level": "info",
        "msg": "queue",
        "controller": "probe",
        "ready": 1,
        "running": 0,
        "adds": 1,
        "retries": 0,
    }
    assert lines.all("view")[0]["objects"] == 1
    assert lines.all("view")[0]["age"] == 12.3
    assert CANARY.encode() not in lines.text


def test_a_stack_is_cut_at_a_depth() -> None:
    """A runaway recursion does not make a line of a megabyte."""

    def deeper(levels: int) -> list[str]:
        return deeper(levels - 1) if levels else list(stack_of(sys._getframe()))

    assert len(deeper(100)) == 40
    assert list(stack_of(None)) == []
