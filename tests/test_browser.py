"""The status page in headless Chromium, with scripts and without: what a person sees and does.

Screenshots are put into `.screenshots/`, to be looked at before a release.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from browser import Tab, browser
from chromium import chromium
from page_site import played, served, source_of

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / ".screenshots"
PAGES = {
    "status": "/",
    "problems": "/?problems=1",
    "graph": "/graph",
    "who": "/who?q=shop.blue.example.org",
    "route": "/o/httproute/tenant-green/web",
    "attachment": "/o/endpointattachment/tenant-blue/shop-db",
    "anchor": "/o/trustanchor/tenant-blue/postgres-shop",
    "gateway": "/o/tenantgateway/tenant-root/cozystack",
    "nothing": "/o/httproute/tenant-blue/none",
}
SHOWN = {"status", "graph", "who", "route", "gateway"}
ROWS = "[...document.querySelectorAll('#found tbody tr')].map(row => row.textContent)"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The page over a world that has settled."""
    with served([source_of(played())]) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tab]:
    """One browser for all; where none can be had, this fails and says how to get one."""
    PICTURES.mkdir(exist_ok=True)
    found = await asyncio.to_thread(chromium)
    async with browser(found, tmp_path_factory.mktemp("browser")) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="module", params=[True, False], ids=["scripts", "no-scripts"])
async def either(request: pytest.FixtureRequest, tab: Tab) -> Tab:
    """The tab with scripts, and without."""
    tab.said.clear()
    await tab.scripts(on=request.param)
    await tab.shape(1200, 900)
    return tab


async def test_every_page_loads_and_complains_of_nothing(either: Tab, site: str) -> None:
    """No error in the console, no refusal of the policy, and no way out of the page."""
    for name, path in PAGES.items():
        await either.open(site + path)
        assert await either.ask("document.querySelector('h1').textContent"), path
        outside = "[...document.querySelectorAll('[src],[href]')].map(one => one.src || one.href)"
        for link in await either.ask(outside):
            assert isinstance(link, dict) or link.startswith(site), link
        said = [line for line in either.said if "404" not in line or name != "nothing"]
        assert said == [], path


async def test_a_problem_is_found_by_its_hostname(either: Tab, site: str) -> None:
    """Typed into the form, sent by Enter: the refused route, its reason, and its own page."""
    await either.open(site + "/")
    everything = await either.ask(ROWS)
    await either.ask("document.getElementById('q').focus()")
    await either.type("shop.blue.example.org")
    await either.press("Enter", 13)
    await either.until(
        f"location.search.includes('shop.blue') && {ROWS}.length < {len(everything)}"
    )
    rows = await either.ask(ROWS)
    assert all("shop.blue.example.org" in row for row in rows)
    assert any("False" in row and "HostnameConflict" in row for row in rows)
    way = "[...document.querySelectorAll('#found a')].find(one => one.textContent === 'web').href"
    await either.open(await either.ask(way))
    assert "HTTPRoute tenant-green/web" == await either.ask(
        "document.querySelector('h1').textContent"
    )
    assert "held by HTTPRoute tenant-blue/shop" in await either.ask("document.body.textContent")


async def test_only_problems_are_shown_where_they_are_asked_for(either: Tab, site: str) -> None:
    """By the box that is ticked, and by the address it leads to."""
    await either.open(site + "/")
    everything = await either.ask(ROWS)
    await either.ask("document.getElementById('problems').focus()")
    await either.press(" ", 32)
    await either.ask(
        "document.getElementById('problems').checked || document.getElementById('problems').click()"
    )
    await either.ask("document.querySelector('form button').click()")
    await either.until(f"location.search.includes('problems') && {ROWS}.length < {len(everything)}")
    rows = await either.ask(ROWS)
    assert rows
    assert all("False" in row or "Unknown" in row for row in rows)


async def test_the_filter_follows_what_is_typed(tab: Tab, site: str) -> None:
    """With scripts no button is needed, and the address can be kept."""
    await tab.scripts(on=True)
    await tab.open(site + "/")
    await tab.ask("document.getElementById('q').focus()")
    await tab.type("wiki-db")
    await tab.until(f"{ROWS}.length === 1")
    assert "ClaimPending" in (await tab.ask(ROWS))[0]
    assert "/?q=wiki-db" == await tab.ask("location.pathname + location.search")
    assert "live" == await tab.ask("document.getElementById('live').textContent")


async def test_every_page_can_be_walked_by_keyboard(either: Tab, site: str) -> None:
    """The first stop leads past the head; each stop is seen to have the focus."""
    for path in ("/", "/graph", "/o/endpointattachment/tenant-blue/shop-db"):
        await either.open(site + path)
        await either.press("Tab", 9)
        assert "Skip to the content" == await either.ask("document.activeElement.textContent")
        stops = set()
        for _ in range(8):
            await either.press("Tab", 9)
            stop = await either.ask("document.activeElement.outerHTML.slice(0, 80)")
            if stop.startswith("<body"):
                break  # the end of the page: the browser's own controls come next
            stops.add(stop)
            ring = "getComputedStyle(document.activeElement).outlineStyle"
            assert "solid" == await either.ask(ring), stop
        assert len(stops) >= 5, stops


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("light", 1200, "light"), ("dark", 1200, "dark"), ("narrow", 380, "light")],
)
async def test_nothing_hangs_over_the_edge(
    name: str, width: int, scheme: str, tab: Tab, site: str
) -> None:
    """Wide things scroll by themselves; pictures are kept for a person to look at."""
    await tab.scripts(on=True)
    await tab.shape(width, 900, scheme)
    for page, path in PAGES.items():
        await tab.open(site + path)
        over = await tab.ask("document.documentElement.scrollWidth - innerWidth")
        if page in SHOWN:
            await tab.picture(PICTURES / f"{page}-{name}.png")
        assert over <= 0, (page, over)
    ground = await tab.ask("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(15, 20, 25)" if scheme == "dark" else "rgb(255, 255, 255)")


async def test_a_page_of_paper_has_no_controls(tab: Tab, site: str) -> None:
    """Print takes what can only be clicked away."""
    await tab.open(site + "/")
    await tab.send("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('form,nav')].map(one => getComputedStyle(one).display)"
    assert {"none"} == set(await tab.ask(shown))
    await tab.picture(PICTURES / "status-print.png")
    await tab.send("Emulation.setEmulatedMedia", media="")


async def test_the_drawing_of_the_command_line_is_a_page_of_its_own(
    tab: Tab, tmp_path: Path
) -> None:
    """One file, its search included, that its own policy lets work."""
    from roadstead.explain.graph import drawn  # noqa: PLC0415 - only this test needs it
    from roadstead.explain.graph.page import page  # noqa: PLC0415 - only this test needs it
    from roadstead.sim.settle import drive  # noqa: PLC0415 - only this test needs it

    world = played()
    graph, _ = drive(drawn(world.reader(), world.judge))
    file = tmp_path / "exposure.html"
    await asyncio.to_thread(file.write_text, page(graph), "utf-8")
    tab.said.clear()
    await tab.scripts(on=True)
    await tab.shape(1200, 900)
    await tab.open(file.as_uri())
    await tab.ask("document.getElementById('search').focus()")
    await tab.type("HostnameConflict")
    await tab.until("document.getElementById('said').textContent.startsWith('1 of')")
    assert tab.said == []
    await tab.picture(PICTURES / "exposure.png")
