"""Every obstacle of a gateway or a route names a next step that clears it, or what ends the wait.

The worlds here are one step away from one in which everything is served.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kubectl_lines
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.api import REASONS
from roadstead.explain.ask import trail_of_part
from roadstead.explain.gateways.next import SUPPLIED, SUPPLIED_CLASS, WAKES
from roadstead.explain.gateways.routes import parts
from roadstead.explain.trail import Trail
from roadstead.explain.world import Played
from roadstead.kube.refs import Ref
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from route_objects import (
    APEX,
    GATEWAY,
    HERE,
    KEY,
    NATIVE,
    OTHER,
    PORT,
    ROUTE,
    SHOP,
    SHOPS,
    SPACE,
    TLS,
    WEB,
    body,
    gateway,
    namespace,
    route,
    supplied,
)
from stories import Story, identity, settle, shown

FOREIGN = body(api.GATEWAY, KEY.name, spec={"gatewayClassName": "cilium", "listeners": [
    {"name": "http", "port": 80, "protocol": "HTTP"}]})  # fmt: skip
MANY = tuple(
    route(*(f"a{at}-{n}.{APEX}" for n in range(15)), ref=api.HTTP_ROUTE.ref(OTHER, f"r{at}"))
    for at in range(5)
)
MENDED = supplied("httproute.yaml", route(WEB))


def spec(name: str, **stated: Any) -> Story:
    """A spec that cannot be rendered, and the patch that mends it."""
    return Story(api.FAULT, "renderable", KEY, (*HERE, gateway(**stated)), KEY, name=name)


STORIES = (
    spec("service-twice", tlsPassthroughServices=["api", "api"]),
    spec("overlap", tlsPassthroughServices=["pg"], tlsPassthroughListeners=[
        {**PORT, "name": "sql"}]),
    Story(api.FAULT, "renderable", KEY, name="mode", key=KEY, number=-1,
          world=(*HERE, gateway(certMode="existingSecret")),
          files=supplied(SUPPLIED, gateway(certMode="http01"))),
    Story(api.FAULT, "renderable", KEY, (*HERE, FOREIGN, gateway()), KEY, name="foreign"),
    Story(api.FAULT, "renderable", KEY, (*HERE, gateway(), *MANY), KEY, name="budget",
          files=supplied(SUPPLIED, gateway(
              certMode="existingSecret", wildcardSecretRef={"name": "wildcard"}))),
    Story("OwnershipConflict", "renderable", KEY, (*HERE, FOREIGN, gateway()), KEY),
    Story("GatewayClassNotFound", "gateway-served", GATEWAY,
          (*HERE, gateway(gatewayClassName="edge-tunel")), KEY,
          files=supplied(SUPPLIED_CLASS, body(api.GATEWAY_CLASS, "edge-tunel", spec={}))),
    Story("PassthroughUnpublished", "gateway-served", GATEWAY,
          (*HERE, gateway(certMode="edge", tlsPassthroughServices=["api"])), KEY),
    Story("NamespaceHeld", "gateway-served", GATEWAY,
          (*HERE, namespace("cozy-shop", "tenant-bar"),
           gateway(attachedNamespaces=["cozy-shop"])), KEY),
    Story("ChildHostOutsideApex", "gateway-served", GATEWAY,
          (*HERE, namespace("tenant-foo-bob", host="bob.example.net"),
           gateway(certMode="edge")), KEY),
    Story("ListenerBudget", "gateway-served", GATEWAY, (*HERE, gateway(), *MANY[:4]), KEY,
          files=supplied(SUPPLIED, gateway(
              certMode="existingSecret", wildcardSecretRef={"name": "wildcard"}))),
    Story("HostnameConflict", "route-served", ROUTE, (*SHOPS, route(SHOP, WEB)), ROUTE),
    Story("HostnameConflict", "route-served", ROUTE, (*SHOPS, route(SHOP)), ROUTE, name="alone",
          files=MENDED),
    Story("NoMatchingParent", "route-served", ROUTE,
          (*HERE, gateway(), route(WEB, parent={"sectionName": "tls-web"})), ROUTE),
    Story("NoMatchingParent", "route-served", ROUTE, name="port",
          world=(*HERE, gateway(), route(WEB, parent={"sectionName": "http", "port": 443})),
          key=ROUTE),
    Story("NoMatchingParent", "route-served", TLS, name="edge", key=TLS,
          world=(*HERE, gateway(certMode="edge"), route(WEB, ref=TLS))),
    Story("NoMatchingListenerHostname", "route-served", ROUTE,
          (*HERE, gateway(), route(WEB, "web.example.net", f"*.{APEX}")), ROUTE),
    Story("NoMatchingListenerHostname", "route-served", ROUTE, name="outside", files=MENDED,
          world=(*HERE, gateway(), route("web.example.net")), key=ROUTE),
    Story("NoMatchingListenerHostname", "route-served", ROUTE, name="port",
          world=(*HERE, gateway(), route(WEB, parent={"port": 8080})), key=ROUTE),
    Story("NoMatchingListenerHostname", "route-served", api.TLS_ROUTES[0].ref(SPACE, "web"),
          (*HERE, gateway(), route(WEB, ref=api.TLS_ROUTES[0].ref(SPACE, "web"))),
          api.TLS_ROUTES[0].ref(SPACE, "web"), name="tls"),
    Story("NotAllowedByListeners", "route-served", ROUTE,
          (*HERE, gateway(), route(WEB, parent={"sectionName": "http"})), ROUTE),
    Story("NotAllowedByListeners", "route-served", TLS, name="native", key=TLS,
          world=(*HERE, gateway(tlsPassthroughListeners=[PORT]), route(NATIVE, ref=TLS)),
          files=supplied("tlsroute.yaml", route(f"api.{APEX}", ref=TLS), gateway(
              tlsPassthroughServices=["api"]))),
    Story("Unjudged", "", ROUTE, (*HERE[:1], HERE[2], namespace(OTHER, ""), gateway(), route(WEB)),
          ROUTE, name="unattached"),
    Story("Unjudged", "", ROUTE, name="elsewhere", key=ROUTE,
          world=(*HERE[:1], HERE[2], namespace(OTHER, OTHER), gateway(), route(WEB),
                 {**gateway(), "metadata": {"name": KEY.name, "namespace": OTHER}})),
)  # fmt: skip


def told(played: Played, ref: Ref) -> Trail | None:
    """The trail of a gateway, or of a route at the first of the gateways that judge it."""
    if ref in played.decisions:
        return played.trail(ref)
    for key, (_, decision) in played.decisions.items():
        if key.kind == api.TENANT_GATEWAY:
            for part in drive(parts(played.reader(), key, decision, ref)):
                if part.about == ref:
                    return trail_of_part(part)
    return None


def words(trail: Trail | None) -> set[str]:
    """Every reason that a trail tells of."""
    if trail is None:
        return set()
    return {trail.reason, *(note.partition(":")[0] for note in trail.notes)}


@pytest.mark.parametrize("story", STORIES, ids=identity)
def test_the_next_step_clears_the_obstacle(story: Story, tmp_path: Path) -> None:
    """What `why` tells a person to type must work; it names the rule and the object first."""
    played = settle(story, tmp_path)
    trail = told(played, story.key)
    assert trail is not None
    assert story.reason in words(trail)
    stopped = [line.rule for line in trail.lines if line.mark in {"no", "wait"}]
    assert [story.rule] * bool(story.rule) == stopped[-1:]
    text = shown(trail)
    assert story.about.path in text or str(story.about) in text
    assert not trail.settled

    for command in trail.next[story.number].commands:
        assert command in text
        kubectl_lines.run(played.world, command, story.files)
    played.settler.settle()

    assert story.reason not in words(told(played, story.key))


def test_every_reason_has_a_story() -> None:
    """A new reason without a next step, or without a test of it, is an omission."""
    fine = {api.RECONCILED, api.ACCEPTED}
    waits = {api.NOT_ACCEPTED, api.NOT_PROGRAMMED, api.NOT_READY, "ReadFailed"}
    of_listeners = {"Pending", "NotAccepted", "NotProgrammed", api.STATUS_FULL}
    stories = {story.reason for story in STORIES} - {"Unjudged"}
    assert stories == {one.name for one in REASONS} - fine - waits - of_listeners
    assert waits == set(WAKES) - {""}


WHOLE = ("gateway-class", "certificates")


@pytest.mark.parametrize("story", [one for one in STORIES if one.key == KEY], ids=identity)
def test_once_it_is_cleared_the_gateway_is_served(story: Story, tmp_path: Path) -> None:
    """With neighbours that act, a person who has typed the line sees nothing more to do."""
    controller = {"controllerName": "io.cilium/gateway-controller"}
    cilium = body(api.GATEWAY_CLASS, "cilium", spec=controller)
    world = [one for one in story.world if one["kind"] != api.GATEWAY_CLASS.kind]
    files = dict(story.files)
    if SUPPLIED_CLASS in files:
        files |= supplied(SUPPLIED_CLASS, body(api.GATEWAY_CLASS, "edge-tunel", spec=controller))
    whole = replace(story, world=(*world, cilium), stand_ins=WHOLE, files=files)
    played = settle(whole, tmp_path)
    trail = told(played, KEY)
    assert trail is not None
    assert story.reason in words(trail)
    for command in trail.next[story.number].commands:
        kubectl_lines.run(played.world, command, files)
    played.settler.settle()

    after = told(played, KEY)
    assert after is not None
    # Nobody has made the Secret of a gateway that has moved to one that is there.
    waits = {api.NOT_READY} if "wildcardSecretRef" in files.get(SUPPLIED, "") else set()
    assert words(after) <= {api.RECONCILED, *waits}, after


def report(played: Played, **stated: str) -> None:
    """Let the class say something of the Gateway and its listeners."""
    conditions = [{"type": kind, "status": status} for kind, status in stated.items()]
    status = {"conditions": conditions, "listeners": []}
    played.world.merge(GATEWAY, {"status": status}, By.OTHER)
    played.settler.settle()


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({}, api.NOT_ACCEPTED),
        ({"Accepted": "True"}, api.NOT_PROGRAMMED),
        ({"Accepted": "True", "Programmed": "True"}, api.NOT_READY),
    ],
)
def test_a_wait_says_what_wakes_it(stated: dict[str, str], reason: str, tmp_path: Path) -> None:
    """Where others must act first, the trail names the Gateway, and what will come."""
    played = settle(Story(reason, "", KEY, (*HERE, gateway(), route(WEB))), tmp_path)
    report(played, **stated)
    trail = told(played, KEY)
    assert trail is not None
    assert reason == trail.reason
    assert f"wakes: {WAKES[reason].format(about=GATEWAY.path)}" in shown(trail)
    assert not trail.settled


def test_a_served_route_says_where(tmp_path: Path) -> None:
    """All is well, listener by listener."""
    played = settle(Story("", "", KEY, (*HERE, gateway(), route(WEB))), tmp_path)
    trail = told(played, ROUTE)
    assert trail is not None
    assert trail.settled
    assert [("http", "-"), ("https-web-7ee8dff6", "yes")] == [
        (one.name, one.matches) for one in trail.listeners
    ]


def test_a_section_that_names_nothing_is_accepted_and_serves_nothing(tmp_path: Path) -> None:
    """What is said of it must be true: no listener is selected. Source: tenant-gateway 5.2, H10."""
    world = (*HERE, gateway(), route(WEB, parent={"sectionName": "web"}))
    trail = told(settle(Story("", "", KEY, world), tmp_path), ROUTE)
    assert trail is not None
    assert trail.settled
    assert "section web names no listener" in trail.because
    assert "serves it." not in trail.because


PASSES = "no, it passes TLS through"


@pytest.mark.parametrize(
    ("hostnames", "ref", "matches"),
    [
        pytest.param([WEB], ROUTE, ["-", "yes", "no", "no", PASSES], id="below-the-apex"),
        pytest.param([APEX], ROUTE, ["-", "no", "yes", "no", PASSES], id="the-apex"),
        pytest.param(
            [f"web.kid.{APEX}"],
            ROUTE,
            ["-", "yes, but CHILD is more specific", "no", "yes", PASSES],
            id="of-a-child",
        ),
        pytest.param(
            [f"api.{APEX}"],
            ROUTE,
            ["-", "yes, but tls-api is more specific", "no", "no", PASSES],
            id="passed-through",
        ),
        pytest.param([], ROUTE, ["-", *["yes, as any name"] * 3, PASSES], id="any-name"),
        pytest.param(
            [f"api.{APEX}"], TLS, ["-", *["no, it does not pass TLS through"] * 3, "yes"], id="tls"
        ),
    ],
)
def test_a_wildcard_certificate_shows_who_answers(
    hostnames: list[str], ref: Ref, matches: list[str], tmp_path: Path
) -> None:
    """Nothing is said of the route, and the table tells all the same which listener it is."""
    world = (
        *HERE,
        namespace("tenant-foo-kid", host=f"kid.{APEX}"),
        gateway(
            certMode="existingSecret",
            wildcardSecretRef={"name": "w"},
            tlsPassthroughServices=["api"],
        ),
        route(*hostnames, ref=ref),
    )
    trail = told(settle(Story("", "", KEY, world), tmp_path), ref)
    assert trail is not None
    child = next(one.name for one in trail.listeners if "-child-" in one.name)
    assert [one.replace("CHILD", child) for one in matches] == [
        one.matches for one in trail.listeners
    ]


def test_the_holder_is_named_to_who_may_read_it(tmp_path: Path) -> None:
    """The route's own status names no other tenant; one who may list all routes is told."""
    played = settle(Story("", "", ROUTE, (*SHOPS, route(SHOP))), tmp_path)
    trail = told(played, ROUTE)
    assert trail is not None
    assert "cozy-shop" not in trail.because
    assert (f"{SHOP} is held by HTTPRoute cozy-shop/shop",) == trail.notes
