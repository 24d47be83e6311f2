"""What a run that writes nothing has to say: what it would change, and what keeps the rest back."""

import asyncio
from collections import Counter
from collections.abc import Iterable

from roadstead.decision import Verdict
from roadstead.engine.engine import Engine
from roadstead.runtime.clock import rest
from roadstead.runtime.logs import Log
from roadstead.runtime.tally import Tally

QUIET_PERIOD = 0.5
_SAID = {Verdict.WAIT: "read-only: waits", Verdict.REFUSE: "read-only: refused"}


async def rehearse(engine: Engine, tallies: Iterable[Tally], log: Log) -> None:
    """Wait until every key was judged once, and say what came of it.

    The count stands in the metrics afterwards, where it follows the cluster.
    """
    desks, never = engine.desks, asyncio.Event()
    while not all(engine.ready(name) for name in desks) or any(
        len(desk.queue) or desk.queue.running() for desk in desks.values()
    ):
        await rest(QUIET_PERIOD, never)
    count = len(set().union(*(tally.would_change() for tally in tallies)))
    log.info(f"read-only: {count} objects would change", would_change=count)  # noqa: G004 - the words of cli.md 2.3; the number is a key, too
    for (name, verdict, reason), keys in sorted(_reasons(engine).items()):
        log.info(_SAID[verdict], controller=name, reason=reason, keys=keys)


def _reasons(engine: Engine) -> Counter[tuple[str, Verdict, str]]:
    """How many keys of each controller wait or are refused, by reason: where each stopped."""
    found: Counter[tuple[str, Verdict, str]] = Counter()
    for name, desk in engine.desks.items():
        for decision in desk.trails.values():
            stops = {
                (name, one.verdict, one.reason)
                for one in decision.findings
                if one.verdict in _SAID and one.reason
            }
            found.update(stops)
    return found
