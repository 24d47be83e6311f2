"""Who is woken by what, and what a pass reads. tenant-gateway 6, 4.2 and 14."""

import copy
from datetime import timedelta
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    KEY,
    NAME,
    NOW,
    NS,
    a_gateway,
    a_namespace,
    a_parent,
    a_route,
    an_entry,
    http,
    made,
    owned,
    tls,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import (
    GATEWAYS_CONTROLLER,
    gateways_of_class,
    gateways_of_grant,
    gateways_of_namespace,
    gateways_of_owned,
    gateways_of_route,
    gateways_of_service,
)
from roadstead.capabilities.gateways.snapshot.views import (
    GATEWAYS_ASKED,
    NAMESPACES,
    TLS_ROUTES,
)
from roadstead.errors import Unread
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SERVICE, Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import Serving, World

WEB = f"web.{APEX}"
WATCHES = {watch.view: watch for watch in GATEWAYS_CONTROLLER.watches}


class Views:
    """Cached reads over these objects. unread: why a view cannot be read, by its kind."""

    def __init__(self, *objects: Object, **unread: str) -> None:
        """Keep them."""
        self._objects = objects
        self._unread = unread

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        """One object by name."""
        found = [one for one in self.list(view) if one.meta.name == name]
        return next((one for one in found if one.meta.namespace == namespace), None)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """All objects of a view, or those of an index."""
        reason = self._unread.get(view.kind.version) or self._unread.get(view.kind.kind)
        if reason:
            raise Unread(f"{view.name} cannot be read", reason=reason)
        values = {one.name: one.values for one in view.indexes}
        found = (one for one in self._objects if one.kind == view.kind)
        return tuple(one for one in found if not index or value in values[index](one))


OTHER = api.TENANT_GATEWAY.ref("tenant-x", "cozystack")
THEIRS = made(api.TENANT_GATEWAY, "tenant-x", NAME, spec={"apex": "x.org"})
SEEN = Views(a_gateway(attachedNamespaces=["cozy-x"]), THEIRS)


def two_parents(*refs: dict[str, Any]) -> Object:
    """A route with these parentRefs."""
    return a_route(api.HTTP_ROUTE, "tenant-foo/r", [WEB], refs, [])


@pytest.mark.parametrize(
    ("route", "woken"),
    [
        pytest.param(http("tenant-foo/r", WEB).seen, {KEY}, id="TG-181-http"),
        pytest.param(tls("tenant-foo/r", WEB).seen, {KEY}, id="TG-181-tls"),
        pytest.param(two_parents(a_parent(name="other")),
                     {api.TENANT_GATEWAY.ref(NS, "other")}, id="TG-181-another"),
        pytest.param(two_parents(a_parent(kind="Service")), set(), id="TG-181-no-gateway"),
        pytest.param(two_parents(), set(), id="TG-181-no-parents"),
        pytest.param(two_parents(a_parent(port=80), a_parent(port=443)), {KEY}, id="once-each"),
        pytest.param(two_parents(a_parent(), a_parent(namespace="tenant-x")), {KEY, OTHER},
                     id="both"),
        pytest.param(http("tenant-evil/r", WEB).seen, {KEY}, id="whatever-the-attach-set"),
        pytest.param(a_route(api.HTTP_ROUTE, "tenant-foo/r", [WEB], [], [an_entry()]), {KEY},
                     id="by-an-entry-of-ours"),
        pytest.param(owned(api.HTTP_ROUTE, "cozystack-http-redirect", spec={}), {KEY},
                     id="by-its-owner"),
    ],
)  # fmt: skip
def test_a_route_wakes_whom_it_names(route: Object, woken: set[Ref]) -> None:
    """6: and whom it named before, as our own entries remember."""
    assert woken == set(gateways_of_route(route, SEEN))


@pytest.mark.parametrize(
    ("seen", "woken"),
    [
        pytest.param(owned(api.CERTIFICATE, "x"), {KEY}, id="its-owner"),
        pytest.param(made(api.GATEWAY, NS, NAME), {KEY}, id="a-foreign-gateway-of-its-name"),
        pytest.param(made(api.ISSUER, NS, "cozystack-gateway"), {KEY}, id="a-foreign-issuer"),
        pytest.param(made(api.ISSUER, "tenant-y", "cozystack-gateway"), set(), id="elsewhere"),
        pytest.param(made(api.CERTIFICATE, NS, "theirs"), set(), id="of-no-name-of-ours"),
    ],
)
def test_what_stands_at_a_rendered_name_wakes(seen: Object, woken: set[Ref]) -> None:
    """8.2: a foreign object that goes makes room, and only its name says for whom."""
    assert woken == set(gateways_of_owned(seen, SEEN))


@pytest.mark.parametrize(
    ("namespace", "woken"),
    [
        pytest.param(a_namespace(NS), {KEY}, id="its-own"),
        pytest.param(a_namespace("a", NS), {KEY}, id="labelled"),
        pytest.param(a_namespace("a", holder=NS), {KEY}, id="annotated"),
        pytest.param(a_namespace("cozy-x"), {KEY}, id="TG-179-listed"),
        pytest.param(a_namespace("a", "tenant-x", holder=NS), {KEY, OTHER}, id="both"),
        pytest.param(a_namespace("a"), set(), id="nobodys"),
        pytest.param(a_namespace("a", "tenant-gone"), set(), id="labelled-by-a-chart"),
        pytest.param(a_namespace("a", "tenant-gone", holder="tenant-gone"),
                     {api.TENANT_GATEWAY.ref("tenant-gone", "cozystack")}, id="TG-183-left-over"),
    ],
)  # fmt: skip
def test_a_namespace_wakes_whose_it_is(namespace: Object, woken: set[Ref]) -> None:
    """6, 4.8: who held it and is gone is woken too, or its label stays for ever."""
    assert woken == set(gateways_of_namespace(namespace, SEEN))


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        pytest.param(a_namespace("a"), a_namespace("a", NS), True, id="TG-180-attach-label"),
        pytest.param(a_namespace("a", host="a"), a_namespace("a", host="b"), True, id="host-label"),
        pytest.param(a_namespace("a"), a_namespace("a", holder=NS), True, id="annotation"),
        pytest.param(a_namespace("a"), made(NAMESPACE, "", "a", meta={"labels": {"x": "y"}}), False,
                     id="another-label"),
    ],
)  # fmt: skip
def test_only_what_is_read_of_a_namespace_matters(old: Object, new: Object, matters: bool) -> None:
    """6: namespaces change all day; each that mattered would be a pass of a whole gateway."""
    assert matters is WATCHES[NAMESPACES].changed(old, new)


def test_our_own_status_wakes_nobody() -> None:
    """6: or a pass would follow every pass."""
    seen = a_gateway()
    body = copy.deepcopy(seen.body)
    body["metadata"]["generation"] = 4

    changed = WATCHES[GATEWAYS_ASKED].changed

    assert not changed(seen, a_gateway({"observedGeneration": 3}))
    assert changed(seen, Object.of(api.TENANT_GATEWAY, body))


def forwarding(place: str, kind: Any = api.TLS_ROUTES[0]) -> Object:
    """A TLSRoute with a backend in a namespace."""
    body = copy.deepcopy(a_route(kind, "tenant-foo/t", [WEB], [a_parent()], []).body)
    body["spec"]["rules"] = [{"backendRefs": [{"name": "db", "namespace": place, "port": 443}]}]
    return Object.of(kind, body)


@pytest.mark.parametrize(
    ("service", "woken"),
    [
        pytest.param(made(SERVICE, "tenant-db", "db"), {KEY}, id="TG-125-the-backend"),
        pytest.param(made(SERVICE, "tenant-db", "other"), set(), id="another"),
        pytest.param(made(SERVICE, "tenant-foo", "db"), set(), id="elsewhere"),
    ],
)
def test_a_backend_wakes_who_waits_for_it(service: Object, woken: set[Ref]) -> None:
    """6: a withdrawal that was put off lands through this."""
    assert woken == set(gateways_of_service(service, Views(a_gateway(), forwarding("tenant-db"))))


def test_a_grant_wakes_who_forwards_into_its_namespace() -> None:
    """6."""
    seen = Views(a_gateway(), forwarding("tenant-db"))

    assert {KEY} == set(gateways_of_grant(made(api.REFERENCE_GRANT, "tenant-db", "g"), seen))
    assert set() == set(gateways_of_grant(made(api.REFERENCE_GRANT, "tenant-y", "g"), seen))


def test_a_backend_is_looked_up_at_the_version_that_is_served() -> None:
    """6: absent versions are passed over; one that cannot be read yet is not taken for none."""
    route = forwarding("tenant-db", TLS_ROUTES[1].kind)
    service = made(SERVICE, "tenant-db", "db")

    assert {KEY} == set(gateways_of_service(service, Views(a_gateway(), route, v1="absent")))
    with pytest.raises(Unread):
        tuple(gateways_of_service(service, Views(a_gateway(), route, TLSRoute="forbidden")))


def test_a_class_wakes_who_asks_for_it() -> None:
    """9: a class that is installed late ends the warning."""
    seen = Views(a_gateway(gatewayClassName=""), THEIRS)

    assert {KEY, OTHER} == set(gateways_of_class(made(api.GATEWAY_CLASS, "", "cilium"), seen))
    assert set() == set(gateways_of_class(made(api.GATEWAY_CLASS, "", "other"), seen))
    assert GATEWAYS_ASKED in GATEWAYS_CONTROLLER.views


def a_world(*objects: Object) -> World:
    """A world that knows what gateways look at, with these in it."""
    world = World(NOW, Kinds(view.kind for view in GATEWAYS_CONTROLLER.views))
    for one in objects:
        world.seed(copy.deepcopy(one.body), one.ref)
    return world


def settled(world: World) -> Settler:
    """A world after our first process has come to rest."""
    settler = Settler(world, (GATEWAYS_CONTROLLER,), Settings())
    settler.settle()
    return settler


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param({"certMode": "edge"}, "GatewayNotAccepted", id="edge-needs-none"),
        pytest.param({"certMode": "existingSecret", "wildcardSecretRef": {"name": "w"}},
                     "GatewayNotAccepted", id="existingSecret-needs-none"),
        pytest.param({}, "ReconcileError", id="http01-says-so"),
    ],
)  # fmt: skip
def test_a_cluster_without_cert_manager_has_gateways(spec: dict[str, Any], reason: str) -> None:
    """14: each optional API is missed by what needs it alone, and found when it comes."""
    world = a_world(a_namespace(NS, NS, APEX), a_gateway(**spec))
    for kind in (api.CERTIFICATE, api.ISSUER):
        world.serve(kind, Serving(now=False))
    settled(world)
    seen = world.store.get(KEY)
    assert seen is not None

    assert world.store.get(api.GATEWAY.ref(NS, NAME)) is not None
    assert reason == seen.body["status"]["conditions"][0]["reason"]


def test_a_class_that_is_installed_late_is_seen() -> None:
    """9: the hint at a missing class goes with the class's arrival, not ten hours after."""
    world = a_world(a_namespace(NS, NS, APEX), a_gateway())
    settler = settled(world)
    late = made(api.GATEWAY_CLASS, "", "cilium", spec={"controllerName": "example.org/x"})
    before = world.store.get(KEY)
    world.seed(late.body, late.ref)
    settler.settle()
    found = [one.body["status"]["conditions"][0] for one in (before, world.store.get(KEY)) if one]

    assert [True, False] == ["no such GatewayClass" in one["message"] for one in found]


def test_a_namespace_with_a_gateway_of_its_own_holds_itself() -> None:
    """4.8: a tenant that another lists keeps its own Gateway, and both come to rest."""
    own = a_namespace("tenant-x", "tenant-x", "x.org", "tenant-x")
    target = a_gateway(attachedNamespaces=["tenant-x"])
    world = a_world(a_namespace(NS, NS, APEX), own, target, THEIRS)
    settled(world)
    found = world.store.get(own.ref)
    assert found is not None

    assert "tenant-x" == found.labels[api.ATTACH_LABEL] == found.annotations[api.ATTACHED_BY]
    assert "NamespaceHeld" in [one.reason for one in world.told]


def test_what_a_gateway_left_while_nobody_looked_is_swept() -> None:
    """TG-183, 8.6: label and annotation go though no route speaks of the gateway any more."""
    left = a_namespace("cozy-x", NS, holder=NS)
    world = a_world(a_namespace(NS, NS, APEX, NS), left, a_namespace("child", NS))
    settler = settled(world)
    writes = len([one for one in world.requests.since() if one.write])
    settler.tick(timedelta(hours=11))
    found = {one.meta.name: one for one in world.store.all(NAMESPACE)}

    assert api.ATTACH_LABEL not in found["cozy-x"].labels
    assert {} == found["cozy-x"].annotations == found[NS].annotations
    assert NS == found[NS].labels[api.ATTACH_LABEL] == found["child"].labels[api.ATTACH_LABEL]
    assert writes == len([one for one in world.requests.since() if one.write])


@pytest.mark.parametrize("lists", [True, False], ids=["lists-it", "does-not"])
def test_only_a_holder_that_lists_a_namespace_holds_it(lists: bool) -> None:
    """4.8: it is told of on the first pass, whatever the holder does about it afterwards."""
    spec = {"apex": "zed.org", "certMode": "http01", "attachedNamespaces": ["cozy-x"] * lists}
    holder = made(api.TENANT_GATEWAY, "tenant-zed", NAME, spec=spec)
    held = a_namespace("cozy-x", "tenant-zed", holder="tenant-zed")
    world = a_world(
        *(a_namespace(NS, NS, APEX), a_gateway(attachedNamespaces=["cozy-x"])),
        *(a_namespace("tenant-zed", "tenant-zed", "zed.org"), holder, held),
    )
    settled(world)

    assert lists is ("NamespaceHeld" in {one.reason for one in world.told})


@pytest.mark.parametrize(
    "kind", [TLS_ROUTES[0].kind, api.HTTP_ROUTE, api.CERTIFICATE, api.REFERENCE_GRANT]
)
def test_what_may_not_be_read_is_not_taken_for_none(kind: Kind) -> None:
    """4.2, 8.1: a right that is missing must not bring a withdrawn listener back."""
    route, forwarded = http("tenant-foo/h", f"api.{APEX}"), forwarding("tenant-db")
    body = copy.deepcopy(forwarded.body)
    body["spec"]["hostnames"] = [f"api.{APEX}"]
    ports = [{"name": "tls", "port": 443, "protocol": "TCP"}]
    granted = {
        "from": [{"group": api.GATEWAY_API, "kind": "TLSRoute", "namespace": NS}],
        "to": [{"group": "", "kind": "Service"}],
    }
    world = a_world(
        *(a_namespace(NS, NS, APEX), a_gateway(tlsPassthroughServices=["api"]), route.seen),
        Object.of(forwarded.kind, body),
        made(SERVICE, "tenant-db", "db", spec={"ports": ports}),
        made(api.REFERENCE_GRANT, "tenant-db", "g", spec=granted),
    )
    settler = settled(world)
    written = len([one for one in world.requests.since() if one.write])
    world.faults.set(Fault(verb="list", kind=kind.kind, status=403))
    settler.restart(Settings())
    settler.settle()
    gateway = world.store.get(api.GATEWAY.ref(NS, NAME))
    assert gateway is not None

    assert ["http", "tls-api"] == [one["name"] for one in gateway.body["spec"]["listeners"]]
    assert written == len([one for one in world.requests.since() if one.write])


@pytest.mark.parametrize("mode", ["http01", "edge"])
def test_the_operators_commands_tell_how_a_tenant_is_served(mode: str) -> None:
    """TG-197: class and mode, readiness, what is listened on, and what certificates there are."""
    route = http("tenant-foo/h", WEB)
    world = a_world(a_namespace(NS, NS, APEX), a_gateway(certMode=mode), route.seen)
    settled(world)
    seen, gateway = world.store.get(KEY), world.store.get(api.GATEWAY.ref(NS, NAME))
    assert seen is not None
    assert gateway is not None
    listens = [(one["port"], one["protocol"]) for one in gateway.body["spec"]["listeners"]]
    made_by_us = [*world.store.all(api.CERTIFICATE), *world.store.all(api.ISSUER)]
    world.delete(KEY, By.OTHER)

    assert (mode, "cilium") == (seen.body["spec"]["certMode"], _class_of(seen))
    assert ("False", "GatewayNotAccepted") == _ready_of(seen)
    assert ([(80, "HTTP")] * 2 if mode == "edge" else [(80, "HTTP"), (443, "HTTPS")]) == listens
    assert (0 if mode == "edge" else 2) == len(made_by_us)
    assert [one["name"] for one in seen.body["status"]["listeners"]] == [
        one["name"] for one in gateway.body["spec"]["listeners"]
    ]


def _class_of(seen: Object) -> str:
    return str(seen.body["spec"].get("gatewayClassName") or "cilium")


def _ready_of(seen: Object) -> tuple[str, str]:
    (condition,) = seen.body["status"]["conditions"]
    return condition["status"], condition["reason"]
