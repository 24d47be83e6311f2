"""Generated worlds of tenant gateways: tenants, routes, namespaces, leftovers, a class controller.

Two tenants, each with a gateway of its own apex, sometimes a second one; a child, and namespaces
of the platform that either may list.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from gateway_objects import GOOD, NOW, a_body, a_namespace, a_parent
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.kube.names import is_subdomain
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import EVENT, NAMESPACE, SERVICE
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import World
from watched_world import WatchedWorld

Json = dict[str, Any]
TENANTS = ("foo", "bar")
PLATFORM = ("cozy-x", "cozy-cert-manager", "default")
TLS_ROUTE = api.TLS_ROUTES[0]
BACKEND = {"ports": [{"name": "tls", "port": 443, "protocol": "TCP"}]}


def apex_of(tenant: str) -> str:
    """A tenant's domain."""
    return f"{tenant}.example.com"


def place_of(tenant: str) -> str:
    """A tenant's namespace."""
    return f"tenant-{tenant}"


def a_port(name: str, port: int, hostname: str) -> Json:
    """One entry of `tlsPassthroughListeners`."""
    return {"name": name, "port": port, "hostname": hostname}


CLOUD = {"provider": "cloudflare", "cloudflare": {"apiTokenSecretRef": {"name": "t", "key": "k"}}}
MODES = st.sampled_from([*["http01"] * 5, "dns01", "existingSecret", "edge"])
SERVICES = st.sampled_from([[], [], ["api"], ["api", "pg"], ["s3.storage"], ["api", "api"]])
ATTACHED = st.lists(st.sampled_from([*PLATFORM, "cozy-absent"]), max_size=3, unique=True)


def ports_of(apex: str) -> st.SearchStrategy[list[Json]]:
    """Native ports, some of which no Gateway could have."""
    return st.sampled_from(
        [
            *([[]] * 4),
            [a_port("sql", 5432, f"pg.{apex}")],
            [a_port("db", 5432, f"*.db.{apex}"), a_port("my", 3306, f"my.{apex}")],
            [a_port("sql", 5432, f"api.{apex}")],
            [a_port("sql", 5432, f"*.{apex}")],
        ]
    )


@st.composite
def specs(draw: st.DrawFn, tenant: str, attached: list[str]) -> Json:
    """The spec of a tenant's gateway, mostly one that can be rendered."""
    apex = apex_of(tenant)
    mode = draw(MODES)
    if mode != "http01" and draw(st.sampled_from([False, False, True])):
        apex = apex.title()
    spec: Json = {"apex": apex, "certMode": mode, "attachedNamespaces": attached}
    spec["issuerName"] = draw(st.sampled_from(["letsencrypt-prod", "letsencrypt-stage"]))
    spec["tlsPassthroughServices"] = draw(SERVICES)
    if mode == "http01":
        spec["tlsPassthroughListeners"] = draw(ports_of(apex))
    if mode == "dns01" and draw(st.sampled_from([True, True, False])):
        spec["dns01"] = CLOUD
    if mode == "existingSecret":
        spec["wildcardSecretRef"] = {"name": draw(st.sampled_from(["w", "w", ""]))}
    return spec


LABELS = st.sampled_from(["web", "web", "api", "pg", "pg.db", "my", "*", "*.db", "", "a" * 64])


@st.composite
def hostnames(draw: st.DrawFn, tenant: str) -> list[str]:
    """What a route claims: names of its tenant, and now and then one that nobody can serve."""
    found = []
    for label in draw(st.lists(LABELS, max_size=3, unique=True)):
        apex = draw(st.sampled_from([apex_of(tenant)] * 6 + ["x.org"]))
        found.append(f"{label}.{apex}" if label else apex)
    return found


SECTIONS = st.sampled_from([None, None, None, "http", "tls-api", "tls-sql", "tls-absent", "odd"])
NUMBERS = st.sampled_from([None, None, None, 80, 443, 5432])
CONTROLLERS = st.sampled_from(["io.cilium/gateway-controller", "example.org/other"])


@st.composite
def parents(draw: st.DrawFn, tenant: str, *, cross: bool) -> list[Json]:
    """One or two parentRefs, mostly to the tenant's gateway."""
    found = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        to = draw(st.sampled_from(TENANTS)) if cross else tenant
        ref = a_parent(namespace=place_of(to))
        for key, value in (("sectionName", draw(SECTIONS)), ("port", draw(NUMBERS))):
            ref |= {} if value is None else {key: value}
        if ref not in found:
            found.append(ref)
    return found


def foreign_entry(controller: str, parent: Json) -> Json:
    """Another controller's word on a route."""
    condition = {
        "type": "Accepted",
        "status": "True",
        "reason": "Accepted",
        "message": "theirs",
        "lastTransitionTime": "2025-12-31T00:00:00Z",
    }
    return {"parentRef": parent, "controllerName": controller, "conditions": [condition]}


@st.composite
def routes(draw: st.DrawFn, at: int, tenant: str, places: list[str], *, cross: bool) -> Object:
    """A route of either kind, with what others and we have said of it before."""
    kind = draw(st.sampled_from([api.HTTP_ROUTE, api.HTTP_ROUTE, TLS_ROUTE]))
    place, refs = draw(st.sampled_from(places)), draw(parents(tenant, cross=cross))
    backends = [{"name": draw(st.sampled_from(["db", "db", "absent"])), "port": 443}]
    spec = {
        "parentRefs": refs,
        "hostnames": draw(hostnames(tenant)),
        "rules": [{"backendRefs": backends}],
    }
    said = [foreign_entry(one, refs[0]) for one in draw(st.lists(CONTROLLERS, max_size=2))]
    if draw(st.sampled_from([False, False, True])):
        old = a_parent(namespace=place_of(tenant), sectionName="old")
        said.insert(0, foreign_entry(api.COMPONENT, old))
    body = a_body(kind, place, f"r{at}", spec=spec, status={"parents": said} if said else {})
    return Object.of(kind, body)


def a_gateway(tenant: str, name: str, spec: Json) -> Object:
    """A TenantGateway."""
    return Object.of(
        api.TENANT_GATEWAY, a_body(api.TENANT_GATEWAY, place_of(tenant), name, spec=spec)
    )


def a_foreign(tenant: str, sort: str) -> Object:
    """Somebody else's object at a name that the tenant's gateway renders."""
    kind, name = {
        "gateway": (api.GATEWAY, "cozystack"),
        "issuer": (api.ISSUER, "cozystack-gateway"),
        "redirect": (api.HTTP_ROUTE, "cozystack-http-redirect"),
        "certificate": (api.CERTIFICATE, "cozystack-gateway-tls"),
        "labelled": (api.CERTIFICATE, "theirs"),
    }[sort]
    meta = {"labels": {api.MANAGED_LABEL: api.MANAGER, "team": "blue"}}
    spec: Json = {"parentRefs": [], "theirs": True}
    if kind == api.GATEWAY:
        plain = {"name": "http", "port": 80, "protocol": "HTTP"}
        spec = {"gatewayClassName": "theirs", "listeners": [plain]}
    return Object.of(kind, a_body(kind, place_of(tenant), name, meta=meta, spec=spec))


@dataclass(frozen=True)
class Scene:
    """What a generated world starts with."""

    objects: tuple[Object, ...]

    def without(self, left: Object | None) -> "Scene":
        """The same without one object."""
        return Scene(tuple(one for one in self.objects if one is not left))


@st.composite
def scenes(draw: st.DrawFn, *, contests: bool = True, foreign: bool = True) -> Scene:
    """A world of two tenants and up to five routes.

    contests: whether two gateways may want one namespace, so that it matters who comes first,
        and whether a route may name the other tenant's gateway.
    foreign: whether others hold names that we render.
    """
    found: list[Object] = []
    lists = {"foo": draw(ATTACHED), "bar": draw(ATTACHED)}
    if not contests:
        lists["bar"] = [name for name in lists["bar"] if name not in lists["foo"]]
    for tenant in TENANTS:
        place, apex = place_of(tenant), apex_of(tenant)
        found.append(a_namespace(place, place, apex))
        kid = draw(st.sampled_from([f"kid.{apex}", "x.org", f"a_b.{apex}", ""]))
        found.append(a_namespace(f"{place}-kid", place, kid))
        found.append(Object.of(SERVICE, a_body(SERVICE, place, "db", spec=BACKEND)))
        found.append(a_gateway(tenant, "cozystack", draw(specs(tenant, lists[tenant]))))
        if foreign and draw(st.sampled_from([False, False, True])):
            sorts = ["gateway", "issuer", "redirect", "certificate", "labelled"]
            found.append(a_foreign(tenant, draw(st.sampled_from(sorts))))
    if draw(st.sampled_from([False, False, True])):
        second = {"apex": "second.example.com", "certMode": "edge", "attachedNamespaces": []}
        second["attachedNamespaces"] = draw(st.sampled_from([[], lists["foo"]]))
        found.append(a_gateway("foo", "second", second))
    for name in PLATFORM:
        held = draw(st.sampled_from(["", "", "tenant-foo", "tenant-gone"])) if contests else ""
        label = draw(st.sampled_from([held, held, "tenant-chart"])) if contests else ""
        found.append(a_namespace(name, label, holder=held))
    for at in range(draw(st.integers(0, 5))):
        tenant = draw(st.sampled_from(TENANTS))
        places = [place_of(tenant), place_of(tenant), f"{place_of(tenant)}-kid"]
        places += PLATFORM if contests else [n for n in PLATFORM if n in lists[tenant]]
        found.append(draw(routes(at, tenant, places, cross=contests)))
    return Scene(tuple(found))


def play(scene: Scene, *faults: Fault) -> tuple[WatchedWorld, Settler]:
    """Let gateways and the class controller settle a world."""
    world = WatchedWorld(NOW, GATEWAYS_CONTROLLER.views)
    for one in scene.objects:
        world.seed(copy.deepcopy(one.body), one.ref)
    for fault in faults:
        world.faults.set(fault)
    settler = Settler(world, (GATEWAYS_CONTROLLER,), Settings())
    settle(world, settler)
    return world, settler


def settle(world: World, settler: Settler) -> None:
    """Let both go on until neither changes anything."""
    settler.settle()
    for _ in range(10):
        if not accept(world):
            return
        settler.settle()
    raise AssertionError("the class controller and we do not come to rest")


def accept(world: World) -> bool:
    """Accept and programme every Gateway of a class; tell whether anything changed."""
    before = world.store.version
    for gateway in world.store.all(api.GATEWAY):
        told = [
            {"name": one["name"], "attachedRoutes": 0, "supportedKinds": [], "conditions": GOOD}
            for one in gateway.body["spec"]["listeners"]
        ]
        status = {"conditions": GOOD, "listeners": told}
        if gateway.body.get("status") != status:
            world.merge(gateway.ref, {"status": copy.deepcopy(status)}, By.OTHER)
    return world.store.version != before


PASSING = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


def substance(world: World) -> dict[str, bytes]:
    """Everything in a world but events, Services' addresses and what the server counts."""
    found = {}
    for seen in world.store.all():
        if seen.kind in {EVENT, SERVICE}:
            continue
        found[seen.ref.path] = canonical(_timeless(copy.deepcopy(seen.body)))
    return found


def _timeless(value: Any) -> Any:
    """A body without what is counted, drawn or timed."""
    if isinstance(value, list):
        return [_timeless(one) for one in value]
    if not isinstance(value, dict):
        return value
    dropped = {*PASSING, "lastTransitionTime", "observedGeneration"}
    return {key: _timeless(below) for key, below in value.items() if key not in dropped}


def entries(route: Object, *, ours: bool) -> list[Json]:
    """The entries of a route's status that are ours, or everybody else's."""
    stored = (route.body.get("status") or {}).get("parents") or []
    return [one for one in stored if (one["controllerName"] == api.COMPONENT) is ours]


def controllers_of(seen: Object) -> list[str]:
    """The uids of the TenantGateways that control an object."""
    return [
        one.uid
        for one in seen.owners
        if one.controller and (one.group, one.kind) == (api.GROUP, api.TENANT_GATEWAY.kind)
    ]


def spaces(world: World) -> dict[str, Object]:
    """Every Namespace by name."""
    return {one.meta.name: one for one in world.store.all(NAMESPACE)}


def misfits(body: Mapping[str, Any]) -> list[str]:
    """Why the API server, or the policy over hostnames, would refuse a Gateway."""
    found = []
    listed = body["spec"]["listeners"]
    triples = [(one["port"], one["protocol"], one.get("hostname")) for one in listed]
    found += ["number"] if not 1 <= len(listed) <= api.MOST_LISTENERS else []
    found += ["names"] if len({one["name"] for one in listed}) < len(listed) else []
    found += ["listeners"] if len(set(triples)) < len(listed) else []
    for one in listed:
        hostname = one.get("hostname", "a").removeprefix("*.")
        found += ["name"] if not is_subdomain(one["name"]) else []
        found += ["hostname"] if not is_subdomain(hostname) else []
        found += ["hostname"] if len(one.get("hostname", "")) > 253 else []
        found += ["port"] if not 1 <= one["port"] <= 65535 else []
        found += ["tls"] if ("tls" in one) is (one["protocol"] == "HTTP") else []
        mode = one.get("tls", {}).get("mode")
        found += ["mode"] if one["protocol"] == "HTTPS" and mode != "Terminate" else []
    return found
