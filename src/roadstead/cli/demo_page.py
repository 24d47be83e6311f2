"""The status page of `up`: one for all controllers of the example, stand-ins included."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from roadstead.errors import InputError
from roadstead.page import Site
from roadstead.runtime.manager import Manager
from roadstead.runtime.page import serve_page, url_of

USUAL, FREE = "127.0.0.1:8080", "127.0.0.1:0"


@asynccontextmanager
async def page_of(managers: Sequence[Manager], *, off: bool) -> AsyncIterator[str]:
    """Serve the page over several managers while the block runs; give its address, empty for off.

    A port of its own is taken where the usual one is another program's.
    """
    if off:
        yield ""
        return
    sources = [one.source() for one in managers]
    async with AsyncExitStack() as stack:
        pages = Site(sources)
        try:
            port = await serve_page(stack, pages, sources, USUAL, managers[0].log)
        except InputError:
            port = await serve_page(stack, pages, sources, FREE, managers[0].log)
        yield url_of(USUAL, port)
