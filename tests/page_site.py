"""The status page over a settled offline world: real decisions, real pages, a real socket."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from prometheus_client import CollectorRegistry

from parts import Lines
from roadstead.engine.passes import Passed
from roadstead.explain.world import Played, play
from roadstead.page import Site
from roadstead.runtime.client import Client
from roadstead.runtime.health import Health
from roadstead.runtime.history import History, PassNote
from roadstead.runtime.page import Source, serve_page
from roadstead.settings import Settings
from roadstead.sim.ours import Ours

EXAMPLES = Path(__file__).parent.parent / "src/roadstead/examples"
WORLDS = Path(__file__).parent / "cli/worlds"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


class WorldClock:
    """The time of a settled world, which stands."""

    def __init__(self, played: Played) -> None:
        """Of this world."""
        self._played = played

    def wall(self) -> datetime:
        """Its time of day."""
        return self._played.world.now

    def steady(self) -> float:
        """No time passes."""
        return 0.0


def played(*more: Path, anchors: Path = EXAMPLES / "anchors") -> Played:
    """Settle anchors, attachments, gateways and routes, and whatever else is given."""
    settings = Settings(cozy_proxy_contract_implemented=True)
    paths = [WORLDS / "attachments.yaml", WORLDS / "routes.yaml", *more]
    files = [str(one) for one in paths]
    return play(files, settings, NOW, lambda: b"", observed=[str(anchors)])


def source_of(world: Played, *, dry: bool = False) -> Source:
    """What a manager over this world would hand to pages."""
    history = History()
    for step in world.steps:
        passed = Passed(step.decision)
        history.note(
            step.controller, step.key, PassNote.of(passed, world.world.now, 0.25, "success")
        )
    return Source(
        engine=world.settler.engine,
        client=cast("Client", Ours(world.world)),
        clock=WorldClock(world),
        history=history,
        live={"ping": Health},
        ready=dict.fromkeys(world.settler.engine.desks, Health),
        registry=CollectorRegistry(),
        leads=lambda: None,
        dry=dry,
    )


@contextmanager
def served(sources: Sequence[Source], lines: Lines | None = None) -> Iterator[str]:
    """Serve pages in a thread of their own; gives the address."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    stop, port = asyncio.Event(), [0]
    log = (lines or Lines()).log

    async def serve() -> None:
        async with AsyncExitStack() as stack:
            port[0] = await serve_page(stack, Site(sources), sources, "127.0.0.1:0", log)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"http://127.0.0.1:{port[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
