"""What `why` finds behind the name of a gateway or a route, and what its rows and notes say."""

import json
from pathlib import Path

import pytest

from cli_command import Ran, run
from roadstead.capabilities.gateways import api
from roadstead.explain.gateways.rows import gateway_note
from roadstead.kube.objects import Object

WORLD = str(Path(__file__).parent.parent / "cli" / "worlds" / "routes.yaml")


def asked(name: str, *more: str) -> Ran:
    """Ask of the world of routes."""
    return run("why", name, "-f", WORLD, *more)


@pytest.mark.parametrize("word", ["tgw", "tenantgateway", "tenantgateways", "TenantGateway"])
def test_a_gateway_has_several_words(word: str) -> None:
    """Whatever kubectl takes is taken."""
    ran = asked(f"{word}/cozystack", "-n", "tenant-root")
    assert ran.out.startswith("TenantGateway tenant-root/cozystack")


def test_a_gateway_tells_of_all_its_routes() -> None:
    """What passes is one line, what is refused one each."""
    out = asked("tgw/cozystack", "-n", "tenant-root").out
    assert "  no    route-served    HTTPRoute/tenant-green/web, " in out
    assert "  note  4 parentRefs of routes, 3 refused\n" in out


def test_the_redirect_claims_nothing() -> None:
    """It is ours, and is not judged."""
    ran = asked("httproute/cozystack-http-redirect", "-n", "tenant-root")
    assert "is the redirect of TenantGateway tenant-root/cozystack to https" in ran.out
    assert ran.code == 0


def test_a_route_is_found_by_the_group_of_its_kind() -> None:
    """And a near miss is named."""
    named = asked("httproute.gateway.networking.k8s.io/web")
    missed = asked("httproute/wep")
    assert "HTTPRoute tenant-green/web -> Gateway tenant-root/cozystack" in named.out
    assert "did you mean `web`?" in missed.err


def test_json_lists_the_listeners() -> None:
    """Machine formats carry the table."""
    (trail,) = json.loads(asked("httproute/web", "-o", "json").out)["trails"]
    found = {one["name"]: one["hostnameMatches"] for one in trail["listeners"]}
    assert trail["gateway"] == "Gateway/tenant-root/cozystack"
    assert found == {
        "http": "-",
        "https-shop-4a43d552": "yes, held by another route",
        "https-web-d50b2592": "yes",
        "tls-api": "no",
    }


def test_plan_names_listeners_that_come_and_go() -> None:
    """One of each, by its name."""

    def having(*names: str) -> Object:
        listeners = [{"name": name} for name in names]
        body = {"metadata": {"name": "g"}, "spec": {"listeners": listeners}}
        return Object.of(api.GATEWAY, body)

    old, new = having("http", "tls-api"), having("http", "https-a", "https-b")
    assert "+2 listeners https-a https-b, -1 listener tls-api" == gateway_note(
        old, new, lambda _ref: None
    )
    assert "" == gateway_note(old, old, lambda _ref: None)


def test_a_refused_route_can_be_allowed() -> None:
    """By its own name, as one that was written by hand."""
    refused = (
        "NoMatchingListenerHostname=tenant-blue/cluster",
        "HostnameConflict=tenant-green/web",
    )
    more = ("NotAllowedByListeners=tenant-green/plain", "ReconcileError=tenant-odd/cozystack")
    flags = [part for one in (*refused, *more) for part in ("--allow", one)]
    assert run("plan", "-f", WORLD, *flags).code == 0
    assert run("plan", "-f", WORLD).code == 1


def test_plan_of_one_namespace_shows_its_own_routes() -> None:
    """A tenant's finding is not lost because the gateway stands elsewhere."""
    ran = run("plan", "-f", WORLD, "-n", "tenant-green")
    assert "HTTPRoute/tenant-green/web" in ran.out
    assert "TLSRoute/tenant-blue/cluster" not in ran.out
