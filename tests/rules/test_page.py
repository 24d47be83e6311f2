"""The status page's documents, over worlds that have settled: what is shown, and what never is."""

import re
import shutil
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from canaries import CANARY, spellings, write_canaries
from page_site import EXAMPLES, played, source_of
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.gateways import api
from roadstead.explain.graph.svg import STYLE as DRAWING
from roadstead.explain.palette import PALETTE
from roadstead.explain.rows import Row
from roadstead.explain.world import Played
from roadstead.kube.refs import CONFIG_MAP, HELM_RELEASE, SECRET
from roadstead.page import Site
from roadstead.page.assets import SCRIPT, STYLE
from roadstead.page.masked import APPLIED, masked
from roadstead.page.overview import ROWS, matches, page_of
from roadstead.page.watched import Watched
from roadstead.runtime.page import Answer

HOST = "shop.blue.example.org"


@pytest.fixture(scope="module")
def world() -> Played:
    """Anchors, attachments, gateways and routes, some of each refused."""
    return played()


@pytest.fixture(scope="module")
def site(world: Played) -> Site:
    """The pages over it."""
    return Site([source_of(world)])


async def text(site: Site, path: str, status: int = 200, **query: str) -> str:
    """The words of a page."""
    answer = await site.answer(path, query)
    assert answer.status == status, answer.body
    return words(answer)


def words(answer: Answer) -> str:
    """A page without its tags."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.body)))


def cells(body: str) -> list[list[str]]:
    """The rows of the tables of a page."""
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [
        [unescape(re.sub(r"<[^>]+>", "", one)) for one in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in rows
    ]


async def every_path(site: Site) -> list[str]:
    """Every page there is, found by the links of those before it."""
    found = ["/", "/?problems=1", "/graph", f"/who?q={HOST}", "/who?q=secret/postgres-shop-ca"]
    for path in found:
        place, _, query = path.partition("?")
        asked = dict(part.split("=", 1) for part in query.split("&") if part)
        answer = await site.answer(place, asked)
        links = re.findall(r'href="(/o/[^"]+)"', answer.body)
        found += [one for one in dict.fromkeys(links) if one not in found]
    return found


async def test_the_table_tells_what_status_tells(site: Site, world: Played) -> None:
    """A row for everything that is owed, in the same words, and for each route that is judged."""
    rows = {tuple(row[1:4]): row for row in cells((await site.answer("/", {})).body) if row}
    assert {
        ("tenant-blue", "EndpointAttachment", "shop-db"): "Attached",
        ("tenant-blue", "EndpointAttachment", "web-ip"): "BackendAlreadyDelegated",
        ("tenant-green", "TrustAnchor", "postgres-wiki"): "CACertPrivateKeyRefused",
        ("tenant-green", "HTTPRoute", "web"): "HostnameConflict",
        ("tenant-blue", "HTTPRoute", "shop"): "Accepted",
        ("tenant-odd", "TenantGateway", "cozystack"): "ReconcileError",
    }.items() <= {key: row[4] for key, row in rows.items()}.items()
    published = rows["tenant-blue", "TrustAnchor", "postgres-shop"]
    assert published[6] == "tenant-blue/postgres-shop-ca, expires 2046-01-01"
    for row in rows.values():
        assert row[0].endswith(("True", "False", "nothing owed"))
    decided = world.decisions[ATTACHMENT.ref("tenant-blue", "web-ip")][1]
    assert decided.findings[-1].message == rows["tenant-blue", "EndpointAttachment", "web-ip"][6]


async def test_a_filter_and_a_tick_are_a_query(site: Site) -> None:
    """Every word must be somewhere in a row; problems are what nobody can leave as it is."""
    body = (await site.answer("/", {"q": f"{HOST} false", "problems": "1"})).body
    assert [["tenant-green", "HTTPRoute", "web"]] == [row[1:4] for row in cells(body) if row]
    assert f'value="{HOST} false"' in body
    assert re.search(r'<input[^>]*id="problems"[^>]* checked', body)
    assert "Nothing matches" in await text(site, "/", q="no-such-thing")


async def test_a_long_table_is_turned_page_by_page(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says so; the loop gets a turn in between."""
    one = Row("TrustAnchor", HELM_RELEASE.ref("a", "b"), "True", "x", "x", "", timedelta(0))
    many = [
        replace(one, key=HELM_RELEASE.ref("a", f"r{at:04}"), ready="False") for at in range(450)
    ]

    async def rows(_self: Watched) -> tuple[list[Row], list[str]]:
        return many, []

    monkeypatch.setattr(Watched, "rows", rows)
    first = await text(site, "/")
    assert "1 to 200 of 450 of 450 shown" in first
    assert "page 1 of 3" in first
    last = (await site.answer("/", {"page": "99", "q": "r", "problems": "1"})).body
    assert 450 - 2 * ROWS == sum(bool(row) for row in cells(last))
    assert 'href="/?q=r&amp;problems=1&amp;page=2" rel="prev"' in last
    assert [1, 1, 3, 1] == [page_of(one, 450) for one in ("", "x", "9", "0")]


def test_a_word_is_looked_for_everywhere_in_a_row() -> None:
    """Names, reasons, messages, addresses; capitals do not matter."""
    key = ATTACHMENT.ref("tenant-blue", "web")
    row = Row(
        "EndpointAttachment", key, "False", "ClaimPending", "Pending", "no claim", timedelta(0)
    )
    row = replace(row, addresses=("203.0.113.7",))
    for found in ("", "WEB", "claimpending blue", "203.0.113.7", "tenant-blue/web", "no  claim"):
        assert matches(row, found), found
    assert not matches(row, "web green")


async def test_the_page_of_an_object_is_its_trail(site: Site, world: Played) -> None:
    """Every finding of the last decision, what comes next, its conditions, its last passes."""
    path = "/o/endpointattachment/tenant-blue/web-ip"
    told = await text(site, path)
    decision = world.decisions[ATTACHMENT.ref("tenant-blue", "web-ip")][1]
    for finding in decision.findings:
        assert finding.rule in told
    assert "kubectl" in told
    assert "Provisioned False BackendAlreadyDelegated" in told
    assert "Last passes" in told
    assert "success BackendAlreadyDelegated" in told


async def test_the_page_of_an_anchor_shows_what_it_wants_without_its_value(site: Site) -> None:
    """Names and lengths, and what certificates may be told of."""
    told = await text(site, "/o/trustanchor/tenant-blue/postgres-shop")
    assert "Secret tenant-blue/postgres-shop.tenant-ca: as it stands here" in told
    assert "ca.crt, expires 20" in told
    assert re.search(r"ca\.crt: \(hidden, \d+ characters\)", told)


async def test_the_page_of_a_route_is_its_part_of_the_gateways_decision(site: Site) -> None:
    """Listener by listener, and who has what it lost."""
    told = await text(site, "/o/httproute/tenant-green/web")
    assert f"{HOST} is held by HTTPRoute tenant-blue/shop" in told
    assert "https-shop-4a43d552 443" in told
    assert "Trail at Gateway tenant-root/cozystack" in told


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/o/secret/tenant-blue/postgres-shop-ca", "Secrets have no page"),
        ("/o/secrets/tenant-blue/none", "Secrets have no page"),
        ("/o/httproute/tenant-blue/sho", "did you mean `shop`"),
        ("/o/pod/tenant-blue/x", "is no kind that is judged"),
        ("/o/httproute/tenant-blue/a/b", "there is no such page"),
        ("/o/httproute//shop", "there is no such page"),
        ("/o/<b>/x/y", "`<b>` is no kind"),
        ("/../etc/passwd", "there is no such page"),
        ("", "there is no such page"),
    ],
)
async def test_what_is_not_there_is_said_so(path: str, said: str, site: Site) -> None:
    """With the status that says no, and what was probably meant."""
    assert said in await text(site, path, 404)


async def test_who_is_asked_over_everything(site: Site) -> None:
    """A hostname, an address, a Secret's users; what is no name is told."""
    held = await text(site, "/who", q=HOST)
    assert "HTTPRoute/tenant-blue/shop" in held
    assert "waiting: HTTPRoute/tenant-green/web ( HostnameConflict" in held
    assert "EndpointAttachment/tenant-blue/shop-db" in await text(site, "/who", q="203.0.113.1")
    used = await text(site, "/who", q="secret/cozystack-shop-4a43d552-tls")
    assert "https-shop-4a43d552" in used
    assert "Nobody holds" in await text(site, "/who", q="secret/postgres-shop-ca")
    assert "is no hostname" in await text(site, "/who", q="a,b")
    assert "Nobody holds" in await text(site, "/who", q="nobody.example.org")


async def test_a_drawing_is_narrowed_and_never_too_big(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same choices as on the command line; what is left out is counted."""
    told = await text(site, "/graph", host=HOST, problems="1")
    assert "2 paths, 2 broken" in told
    monkeypatch.setattr("roadstead.page.drawing.DRAWN", 3)
    assert "6 more paths are not drawn" in await text(site, "/graph")
    assert "no path to draw" in await text(site, "/graph", host="nobody.example.org")


async def test_what_does_not_run_here_is_told(world: Played) -> None:
    """A process with one capability says what it does not know, and is not asked for it."""
    source = source_of(world)
    desks = source.engine.desks
    try:
        source.engine.desks = {"attachments": desks["attachments"]}
        alone = Site([source])
        told = await text(alone, "/")
        assert "tenant gateways are not looked after here" in told
        assert "Attached" in told
        assert "does not run here" in await text(alone, "/o/tenantgateway/tenant-root/x", 404)
        assert "HTTPRoute" not in told
    finally:
        source.engine.desks = desks


async def test_a_rehearsal_shows_what_it_would_do(world: Played) -> None:
    """An anchor that a dry run would write is pending."""
    source = source_of(world, dry=True)
    key = HELM_RELEASE.ref("tenant-blue", "postgres-shop")
    last = source.history.of("anchors", key)[0]
    assert "postgres-shop Published" in await text(Site([source]), "/")
    source.history.note("anchors", key, replace(last, changes=1))
    told = await text(Site([source]), "/")
    assert "postgres-shop Pending" in told
    assert "read-only" in told


async def test_looking_writes_nothing(world: Played, site: Site) -> None:
    """Every page leaves the world as it is, and what controllers remember."""
    before = {seen.ref: seen.meta.resource_version for seen in world.world.store.all()}
    trails = {name: dict(desk.trails) for name, desk in world.settler.engine.desks.items()}
    for path in await every_path(site):
        await site.answer(path.partition("?")[0], {})
    assert before == {seen.ref: seen.meta.resource_version for seen in world.world.store.all()}
    assert trails == {name: desk.trails for name, desk in world.settler.engine.desks.items()}


async def test_no_page_holds_a_secrets_value(tmp_path: Path) -> None:
    """Searched for in every page there is, in every form a value may have."""
    shutil.copytree(EXAMPLES / "anchors", tmp_path / "world")
    write_canaries(tmp_path)
    site = Site([source_of(played(anchors=tmp_path / "canary.yaml"))])
    paths = await every_path(site)
    assert 15 < len(paths)
    for path in paths:
        place, _, query = path.partition("?")
        asked = dict(part.split("=", 1) for part in query.split("&") if part)
        body = (await site.answer(place, asked)).body
        for spelled in (*spellings(CANARY), "PRIVATE KEY-----", "BEGIN CERTIFICATE"):
            assert spelled not in body, path


async def test_an_evil_name_stays_a_name(world: Played) -> None:
    """What a message, a reason or a query holds is text on every page."""
    evil = "<script>alert(1)</script>"
    site = Site([source_of(world)])
    for path in ("/", "/graph", "/who"):
        for name in ("q", "host", "problems", "page"):
            body = (await site.answer(path, {name: evil * 3})).body
            assert evil not in body
    key = api.TENANT_GATEWAY.ref("tenant-root", "cozystack")
    desk = world.settler.engine.desks["gateways"]
    kept = desk.trails[key]
    try:
        findings = tuple(replace(one, message=evil, reason=evil) for one in kept.findings)
        desk.trails[key] = replace(kept, findings=findings)
        for path in ("/", "/graph", "/o/tenantgateway/tenant-root/cozystack"):
            body = (await site.answer(path, {})).body
            assert evil not in body
            assert "&lt;script&gt;" in body or path == "/graph"
    finally:
        desk.trails[key] = kept


def test_what_is_masked_is_every_value_and_what_repeats_it() -> None:
    """Of a Secret values and annotations; of any object what kubectl keeps of the last apply."""
    value = "canary-of-a-value"
    meta = {"name": "a", "annotations": {"x": value, APPLIED: value}, "managedFields": [value]}
    body = {"metadata": meta, "data": {"k": value}, "stringData": value}
    shown = masked(SECRET, body)
    assert value not in shown
    assert f"(hidden, {len(value)} characters)" in shown
    assert "k:" in shown
    assert 1 == masked(CONFIG_MAP, {"metadata": {**meta, "managedFields": []}}).count(value)
    assert value in body["metadata"]["annotations"].values()  # type: ignore[index] # left as it was


def test_the_style_has_no_colour_of_its_own_and_the_script_no_reach() -> None:
    """Contrast is tested on the palette, so nothing may go around it."""
    own = STYLE.replace(PALETTE, "").replace(DRAWING, "")
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgb|hsl", own)
    assert not re.search(r"url\(|@import|https?:", STYLE)
    assert not re.search(r"innerHTML|eval|https?:|document\.write|insertAdjacentHTML", SCRIPT)


@pytest.mark.parametrize("path", ["/page.css", "/page.js", "/sign.svg"])
async def test_assets_are_our_own(path: str, site: Site) -> None:
    """Each with its type, so that nothing has to be guessed."""
    answer = await site.answer(path, {})
    assert answer.status == 200
    assert answer.kind.partition(";")[0] in {"text/css", "text/javascript", "image/svg+xml"}
