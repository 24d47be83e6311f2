"""Who holds a hostname, an address or a Secret, told by the decisions of a settled world."""

from pathlib import Path
from typing import Any

import pytest

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import HTTP_ROUTES, TLS_ROUTES
from roadstead.decision import Decision
from roadstead.engine.reader import PassReader
from roadstead.engine.store import Store
from roadstead.errors import InputError
from roadstead.explain.who import ADDRESS, HOSTNAME, SECRET, Asked, Who, by_status, who
from roadstead.explain.world import Played
from roadstead.kube.refs import Ref
from roadstead.settings import Settings
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from route_objects import (
    APEX,
    GATEWAY,
    HERE,
    KEY,
    OTHER,
    ROUTE,
    SHOP,
    SHOPS,
    SPACE,
    TLS,
    WEB,
    gateway,
    namespace,
    route,
)
from stories import NOW, Body, Story, settle

FIRST = api.HTTP_ROUTE.ref("cozy-shop", "shop")
CERTIFICATE = api.CERTIFICATE.ref(SPACE, "cozystack-web-7ee8dff6-tls")


@pytest.mark.parametrize(
    ("text", "of", "name"),
    [
        ("shop.example.org", HOSTNAME, "shop.example.org"),
        ("Shop.Example.ORG.", HOSTNAME, "shop.example.org"),
        ("*.example.org", HOSTNAME, "*.example.org"),
        ("203.0.113.7", ADDRESS, "203.0.113.7"),
        ("2001:DB8::7", ADDRESS, "2001:db8::7"),
        ("secret/postgres-shop.tenant-ca", SECRET, "postgres-shop.tenant-ca"),
        ("postgres-shop-ca", SECRET, "postgres-shop-ca"),
    ],
)
def test_an_argument_says_what_it_is(text: str, of: str, name: str) -> None:
    """Nobody has to say what kind of name a name is."""
    assert Asked(of, name) == Asked.read(text)


@pytest.mark.parametrize("text", ["", "a b", "service/web", "secret/", "shop,blue", "https://a.b"])
def test_what_is_no_name_is_refused(text: str) -> None:
    """A typing error is not taken for a name that nobody holds."""
    with pytest.raises(InputError):
        Asked.read(text)


def play(folder: Path, *world: Body) -> Played:
    """A settled world."""
    return settle(Story("", "", KEY, world), folder)


def answer(played: Played, text: str, space: str = "") -> Who:
    """What is said of a name."""
    decisions = played.decisions

    async def judge(key: Ref) -> Decision | None:
        found = decisions.get(key)
        return found[1] if found else None

    found, whole = drive(who(Asked.read(text), space, played.reader(), judge))
    assert whole
    return found


def holders(found: Who) -> list[tuple[Ref, str, str]]:
    """Each holder with its listener and how TLS ends there."""
    return [(one.holder, one.listener, one.tls) for one in found.holdings]


def test_a_hostname_has_a_holder_and_those_who_wait(tmp_path: Path) -> None:
    """The first of the order holds it, and every other is told of with its reason."""
    found = answer(play(tmp_path, *SHOPS, route(SHOP, WEB)), SHOP)
    assert found.held
    assert [FIRST] == [one.holder for one in found.holdings]
    assert [(ROUTE, "HostnameConflict")] == [(one.about, one.reason) for one in found.waiting]
    assert found.rule.startswith("cozy-* namespaces first")


def test_routes_of_one_namespace_hold_it_together(tmp_path: Path) -> None:
    """They merge; none of them waits."""
    second = api.HTTP_ROUTE.ref(OTHER, "web-2")
    found = answer(play(tmp_path, *HERE, gateway(), route(WEB), route(WEB, ref=second)), WEB)
    assert [ROUTE, second] == [one.holder for one in found.holdings]
    assert found.waiting == ()


def test_a_wildcard_holds_the_names_beneath_it(tmp_path: Path) -> None:
    """And the listener it is served on is the one that answers them."""
    wildcard = f"*.db.{APEX}"
    native = {"name": "db", "port": 5432, "hostname": wildcard}
    ref = api.TLS_ROUTES[0].ref(SPACE, "db")
    world = (*HERE, gateway(tlsPassthroughListeners=[native]), route(wildcard, ref=ref))
    found = answer(play(tmp_path, *world), f"pg.db.{APEX}")
    assert [(ref, "tls-db", "passthrough")] == holders(found)


EXISTING = {"certMode": "existingSecret", "wildcardSecretRef": {"name": "wildcard"}}


@pytest.mark.parametrize(
    ("spec", "listener", "tls"),
    [
        ({"certMode": "edge"}, "edge", "ends at the edge"),
        (EXISTING, "https", "existingSecret, Secret wildcard"),
        ({}, "https-web-7ee8dff6", "http01, not issued yet"),
    ],
)
def test_the_mode_says_how_tls_ends(
    spec: dict[str, Any], listener: str, tls: str, tmp_path: Path
) -> None:
    """A route is served on the listener of its mode."""
    found = answer(play(tmp_path, *HERE, gateway(**spec), route(WEB)), WEB)
    assert [(ROUTE, listener, tls)] == holders(found)


def test_a_certificate_says_how_long_it_lasts(tmp_path: Path) -> None:
    """As cert-manager reports it."""
    played = play(tmp_path, *HERE, gateway(), route(WEB))
    issued = {"status": {"notAfter": "2026-03-01T00:00:00Z"}}
    played.world.merge(CERTIFICATE, issued, By.OTHER)
    played.settler.settle()
    assert "http01, 59d left" in [tls for _, _, tls in holders(answer(played, WEB))]


def test_the_edge_serves_no_tls_route(tmp_path: Path) -> None:
    """It waits, whatever it asks for."""
    found = answer(play(tmp_path, *HERE, gateway(certMode="edge"), route(WEB, ref=TLS)), WEB)
    assert not found.held
    assert [(TLS, "NoMatchingParent")] == [(one.about, one.reason) for one in found.waiting]


def test_a_listener_without_a_route_holds_nothing(tmp_path: Path) -> None:
    """It is told of, so that nobody takes the name for free."""
    found = answer(play(tmp_path, *HERE, gateway(tlsPassthroughServices=["api"])), f"api.{APEX}")
    assert not found.held
    assert (f"listener tls-api of {GATEWAY} answers it, and no route claims it",) == found.notes


def test_a_route_of_a_namespace_outside_holds_nothing(tmp_path: Path) -> None:
    """What is not looked at is not served."""
    world = (HERE[0], HERE[2], namespace(OTHER, ""), gateway(), route(WEB))
    assert not answer(play(tmp_path, *world), WEB).held


def test_an_address_is_held_by_its_gateway(tmp_path: Path) -> None:
    """As the class reports it."""
    played = play(tmp_path, *HERE, gateway(), route(WEB))
    address = {"type": "IPAddress", "value": "203.0.113.4"}
    played.world.merge(GATEWAY, {"status": {"addresses": [address]}}, By.OTHER)
    played.settler.settle()
    found = answer(played, "203.0.113.4")
    assert [(GATEWAY, "http, https-web-7ee8dff6")] == [
        (one.holder, one.listener) for one in found.holdings
    ]
    assert ("203.0.113.4",) == answer(played, WEB).holdings[0].addresses


def test_a_secret_is_used_by_its_listener(tmp_path: Path) -> None:
    """A Secret of the same name in another namespace is another."""
    played = play(tmp_path, *HERE, gateway(), route(WEB))
    name = f"secret/{CERTIFICATE.name}"
    assert [(GATEWAY, "https-web-7ee8dff6", "")] == holders(answer(played, name, SPACE))
    assert not answer(played, name, OTHER).held


@pytest.mark.parametrize(
    ("name", "how"),
    [("cozystack-acme-account", "account"), ("cloudflare-api-token-secret", "dns01, cloudflare")],
)
def test_a_secret_is_used_by_its_issuer(name: str, how: str, tmp_path: Path) -> None:
    """The key of the account, and what names are proven through DNS with."""
    token = {"name": "cloudflare-api-token-secret", "key": "api-token"}
    dns01 = {"provider": "cloudflare", "cloudflare": {"apiTokenSecretRef": token}}
    played = play(tmp_path, *HERE, gateway(certMode="dns01", dns01=dns01))
    issuer = api.ISSUER.ref(SPACE, f"{KEY.name}-gateway")
    found = answer(played, f"secret/{name}", SPACE)
    assert [(issuer, how)] == [(one.holder, one.tls) for one in found.holdings]
    assert not answer(played, f"secret/{name}", OTHER).held


def test_who_may_read_little_learns_that_it_is_held(tmp_path: Path) -> None:
    """By an object that is not named; the own route's status says no more."""
    played = play(tmp_path, *SHOPS, route(SHOP))
    mine = played.world.store.get(ROUTE)
    assert mine is not None
    own = Store(HTTP_ROUTES)
    own.begin_list()
    assert len([*own.add_page((mine,)), *own.end_list("1")]) == 1
    stores = {HTTP_ROUTES: own, **{view: Store(view) for view in TLS_ROUTES}}
    reader = PassReader(Ours(played.world), stores, Settings(), NOW)
    found = by_status(reader, Asked.read(SHOP))
    assert (True, True, ()) == (found.held, found.hidden, found.holdings)
    assert [(ROUTE, "HostnameConflict")] == [(one.about, one.reason) for one in found.waiting]
    assert not by_status(reader, Asked.read(WEB)).held


def test_two_looks_make_one_answer() -> None:
    """A holder that one of them saw is no hidden one."""
    asked = Asked.read(SHOP)
    seen = Who(asked, hidden=True)
    assert seen.beside(seen).hidden
    assert "" == Who(Asked.read("203.0.113.7")).rule
