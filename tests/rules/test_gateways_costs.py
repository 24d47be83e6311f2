"""What a pass and a change cost: counted in calls and lines, since a time depends on the machine.

Source: architecture 4, law 7; `make bench ONLY=gateways` has the times.
"""

import sys
from collections import Counter
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    NAME,
    NOW,
    a_namespace,
    a_parent,
    a_snapshot,
    http,
    made,
    tls,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.settings import Settings
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import World

API = f"api.{APEX}"
OURS = ("/roadstead/engine/", "/roadstead/capabilities/")
PLATFORM = ("cozy-a", "cozy-b")


def calls(seen: Snapshot) -> int:
    """How many functions of Python a decision calls; a time would depend on the machine."""
    counted = 0

    def count(_frame: Any, event: str, _about: Any) -> None:
        nonlocal counted
        counted += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        decide(seen)
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("kind", [http, tls], ids=["HTTPRoute", "TLSRoute"])
@pytest.mark.parametrize("one_name", [True, False], ids=["one-hostname", "each-its-own"])
def test_what_a_pass_costs_grows_with_its_routes_and_no_faster(kind: Any, one_name: bool) -> None:
    """One tenant's many routes must not hold up everybody else's."""

    def many(count: int) -> Snapshot:
        names = (API if one_name else f"h{at % 40}.{APEX}" for at in range(count))
        routes = (kind(f"tenant-foo/r{at:03}", name) for at, name in enumerate(names))
        return a_snapshot(*routes, tlsPassthroughServices=["api"])

    few, lots = calls(many(80)), calls(many(320))

    assert lots < 4.5 * few


def a_world(tenants: int, attached: tuple[str, ...]) -> World:
    """Tenants with a gateway and a route each, all of which list the same namespaces."""
    world = World(NOW, Kinds(view.kind for view in GATEWAYS_CONTROLLER.views))
    found = [a_namespace(name) for name in attached]
    for number in range(tenants):
        place, apex = f"tenant-{number}", f"t{number}.example.org"
        spec = {"apex": apex, "certMode": "http01", "attachedNamespaces": list(attached)}
        claim = {"parentRefs": [a_parent(namespace=place)], "hostnames": [f"web.{apex}"]}
        found.append(a_namespace(place, place, apex))
        found.append(made(api.TENANT_GATEWAY, place, NAME, spec=spec))
        found.append(made(api.HTTP_ROUTE, place, "web", spec=claim))
    for one in found:
        world.seed(one.body, one.ref)
    return world


def cost_of_a_change(tenants: int, attached: tuple[str, ...]) -> tuple[int, int, int]:
    """Lines of ours that run, passes, and requests, when one route gets another hostname."""
    world = a_world(tenants, attached)
    settler = Settler(world, (GATEWAYS_CONTROLLER,), Settings())
    settler.settle()
    steps, requests = len(settler.steps), len(list(world.requests.since()))
    patch = {"spec": {"hostnames": ["other.t0.example.org"]}}
    world.merge(api.HTTP_ROUTE.ref("tenant-0", "web"), patch, By.OTHER)
    counted: Counter[str] = Counter()

    def entered(frame: Any, _event: str, _about: Any) -> Any:
        return line if any(one in frame.f_code.co_filename for one in OURS) else None

    def line(_frame: Any, event: str, _about: Any) -> Any:
        counted[event] += 1
        return line

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        settler.settle()
    finally:
        sys.settrace(before)
    sent = len(list(world.requests.since())) - requests
    return counted["line"], len(settler.steps) - steps, sent


@pytest.mark.parametrize("attached", [(), PLATFORM], ids=["alone", "all-list-the-same"])
def test_a_changed_route_costs_the_same_among_any_number(attached: tuple[str, ...]) -> None:
    """Nothing that is done for one tenant looks at the others."""
    few, many = (cost_of_a_change(count, attached) for count in (5, 40))

    assert few == many
    assert (2, 5) == few[1:]
