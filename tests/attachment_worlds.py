"""Generated worlds of attachments: tenants, applications, claims, an address substrate, rivals.

Every name in a tenant ends in the tenant's own word, so that a word of one in the conditions of
the other can be told. Minted suffixes have no vowels and never spell it.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from attachment_objects import a_body, owned_by
from roadstead.capabilities.attachments import api
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, SERVICE, Kind, Ref
from roadstead.settings import Settings

Json = dict[str, Any]
TENANTS = ("blue", "pink")
APPS = ("shop", "web")
CLAIMS = ("held", "rest")
HELD_BY = "bound to Service tenant-{}/secret-{}"


@dataclass(frozen=True)
class Scene:
    """What a generated world starts with."""

    objects: tuple[Json, ...]
    settings: Settings


def place_of(tenant: str) -> str:
    """A tenant's namespace."""
    return f"tenant-{tenant}"


def of_kind(body: Mapping[str, Any]) -> Ref:
    """The ref of a generated object."""
    known = (SERVICE, HELM_RELEASE, ENDPOINT_SLICE, api.CLAIM, api.CLASS, api.ADDRESS)
    kind = next((one for one in known if one.kind == body["kind"]), api.ATTACHMENT)
    meta = body["metadata"]
    return kind.ref(meta.get("namespace", ""), meta["name"])


def an_object(kind: Kind, tenant: str, name: str, **more: Any) -> Json:
    """An object of a tenant under a name with its word; versions are the world's."""
    full = f"{name}-{tenant}"
    meta = {"uid": f"uid-{kind.kind}-{full}", **more.pop("meta", {})}
    body = a_body(kind, full, place_of(tenant), meta=meta, **more)
    del body["metadata"]["resourceVersion"]
    return body


def triple(tenant: str, app: str) -> dict[str, str]:
    """An application's lineage labels."""
    name = f"{app}-{tenant}"
    return {
        api.GROUP_LABEL: api.APPLICATION_GROUP, api.KIND_LABEL: "Postgres", api.NAME_LABEL: name
    }  # fmt: skip


DYING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.org/hold"]}
BORN = st.sampled_from(["2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"])
RELEASES = st.sampled_from([*["one"] * 12, "none", "two", "dying", "alien"])
ENDPOINTS = st.sampled_from(
    [
        *["good"] * 14,
        "none",
        "dying",
        "headless",
        "bare",
        "external",
        "internal",
        "alien",
        "delegated",
        "sentinel",
    ]
)


def an_application(tenant: str, app: str, release: str, endpoint: str) -> list[Json]:
    """An application: its releases and the Service it offers."""
    labels = triple(tenant, app)
    if release == "alien":
        labels = {**labels, api.GROUP_LABEL: "example.org"}
    meta: Json = {"labels": labels} | (DYING if release == "dying" else {})
    names = {"none": (), "two": (app, f"{app}-2")}.get(release, (app,))
    made = [an_object(HELM_RELEASE, tenant, name, meta=meta) for name in names]
    if endpoint != "none":
        made.append(an_endpoint(tenant, app, endpoint))
    return made


def an_endpoint(tenant: str, app: str, sort: str = "good") -> Json:
    """The Service an application offers; `sort` says what is odd about it."""
    labels = {**triple(tenant, app), api.TENANT_RESOURCE: "true"}
    ports: list[Json] = [
        {"name": "sql", "port": 5432, "protocol": "TCP", "targetPort": 5432},
        {"name": "metrics", "port": 9187, "protocol": "TCP", "targetPort": 9187},
    ]
    spec: Json = {"type": "ClusterIP", "selector": {"app": app}, "ports": ports}
    changes: dict[str, Json] = {
        "headless": {"clusterIP": "None"},
        "bare": {"selector": {}},
        "external": {"type": "ExternalName", "externalName": "example.org"},
        "delegated": {"type": "LoadBalancer"},
        "sentinel": {"ports": [{"port": 65535, "protocol": "TCP", "targetPort": 65535}]},
    }
    spec |= changes.get(sort, {})
    more: dict[str, Json] = {
        "internal": {api.TENANT_RESOURCE: "false"},
        "alien": triple(tenant, "other"),
        "delegated": {api.PROXY_LABEL: api.PROXY},
    }
    meta: Json = {"labels": labels | more.get(sort, {})} | (DYING if sort == "dying" else {})
    return an_object(SERVICE, tenant, f"{app}-rw", meta=meta, spec=spec)


def a_slice(tenant: str, app: str, pods: tuple[str, ...]) -> Json:
    """Who stands behind an application's Service."""
    endpoints = [
        {
            "addresses": [f"10.0.0.{1 + at}"],
            "conditions": {"ready": not pod.endswith("!")},
            "targetRef": {"kind": "Pod", "name": pod.strip("!"), "uid": pod.strip("!")},
        }
        for at, pod in enumerate(pods)
    ]
    labels = {api.SLICE_OF: f"{app}-rw-{tenant}"}
    meta = {"labels": labels}
    return an_object(
        ENDPOINT_SLICE, tenant, f"{app}-rw", meta=meta, addressType="IPv4", endpoints=endpoints
    )


CLAIM_SORTS = st.sampled_from([*["bound"] * 5, "pending", "lost", "dual", "dying", "taken"])


def a_claim(tenant: str, name: str, sort: str) -> list[Json]:
    """A claim with what it is bound to; `taken` is associated to a Service of the other tenant."""
    number = 10 + 20 * TENANTS.index(tenant) + CLAIMS.index(name)
    address = f"ip-{number}"
    spec = {"className": "public", "family": "Dual" if sort == "dual" else "IPv4"}
    other = next(one for one in TENANTS if one != tenant)
    words = HELD_BY.format(other, other)
    if sort in {"pending", "lost"}:
        condition = {"type": "Bound", "status": "False", "reason": "Taken", "message": words}
        status: Json = {"phase": sort.capitalize(), "addresses": [], "conditions": [condition]}
        return [an_object(api.CLAIM, tenant, name, spec=spec, status=status)]
    bound = [{"name": address, "address": f"203.0.113.{number}"}]
    if sort == "dual":
        bound.append({"name": f"{address}-6", "address": f"2001:db8::{number}"})
    status = {"phase": "Bound", "className": "public", "addresses": bound}
    meta = DYING if sort == "dying" else {}
    made = [an_object(api.CLAIM, tenant, name, meta=meta, spec=spec, status=status)]
    for one in bound:
        held = an_address(one["name"], one["address"], place_of(tenant), f"{name}-{tenant}")
        if sort == "taken":
            where = {"kind": "Service", "namespace": place_of(other), "name": f"web-rw-{other}"}
            held["status"]["associatedTo"] = where
        made.append(held)
    return made


def an_address(name: str, address: str, namespace: str, claim: str) -> Json:
    """One bound address."""
    ref = {"namespace": namespace, "name": claim}
    spec = {"className": "public", "address": address, "source": {}, "claimRef": ref}
    body = a_body(api.ADDRESS, name, "", spec=spec, status={"phase": "Bound"})
    del body["metadata"]["resourceVersion"]
    return body


def a_class(name: str, balancer: str, *, default: bool = False) -> Json:
    """An address class."""
    spec = {"provisioner": "x"} | ({"loadBalancerClass": balancer} if balancer else {})
    notes = {api.DEFAULT_ANNOTATION: "true"} if default else {}
    body = a_body(api.CLASS, name, "", meta={"annotations": notes}, spec=spec)
    del body["metadata"]["resourceVersion"]
    return body


CLASSES = (a_class("public", "example.org/public", default=True), a_class("plain", ""))
BALANCERS: tuple[Json, ...] = (
    *({}, {}, {"className": "public"}, {"className": "plain"}, {"family": "Dual"}),
    {"className": "nowhere"},
    {"ports": [5432]},
    {"ports": [5432, 9999]},
    {"ports": ["9187/UDP"]},
    *({"claimName": "held"}, {"claimName": "held"}, {"claimName": "rest"}),
    {"claimName": "held", "family": "IPv6"},
    {"method": "WholeIP"},
    {"method": "WholeIP", "claimName": "rest"},
    {"method": "PortList", "ports": [5432]},
    {"method": "PortList", "ports": [22], "allowICMP": False, "claimName": "held"},
)
STAMPS = st.sampled_from([*["none"] * 5, *["stamped"] * 3, "old"])
STATUSES: tuple[Json | None, ...] = (
    *(None, None, None),
    {"phase": "Attached", "serviceName": "gone", "claimName": "gone", "addresses": ["192.0.2.9"]},
    {
        "phase": "Detached",
        "conditions": [
            {
                "type": "Provisioned",
                "status": "False",
                "reason": "Detached",
                "message": "",
                "lastTransitionTime": "2025-12-31T00:00:00Z",
            }
        ],
    },
)


def an_attachment(
    tenant: str, name: str, app: str, balancer: Json, *, stamp: str = "none", status: Any = None
) -> Json:
    """An attachment; `stamp` says what it belongs to already."""
    balancer = copy.deepcopy(balancer)
    if "claimName" in balancer:
        balancer["claimName"] += f"-{tenant}"
    meta: Json = {"generation": 1}
    if stamp != "none":
        release = f"{app}-{tenant}"
        uid = f"uid-HelmRelease-{release}" if stamp == "stamped" else "uid-of-old"
        meta |= {"labels": triple(tenant, app), "ownerReferences": [owned_by(uid, name=release)]}
    application = {"group": api.APPLICATION_GROUP, "kind": "Postgres", "name": f"{app}-{tenant}"}
    spec = {
        "applicationRef": application,
        "endpoint": {"serviceName": f"{app}-rw-{tenant}"},
        "loadBalancer": balancer,
    }
    body = an_object(api.ATTACHMENT, tenant, name, meta=meta, spec=spec)
    return body | ({"status": copy.deepcopy(status)} if status else {})


def a_foreign_service(tenant: str, name: str, sort: str, app: str, born: str) -> Json:
    """Somebody else's load balancer: `pinned` to a claim, or `delegated` to the proxy."""
    meta: Json = {"creationTimestamp": born}
    if sort in {"pinned", "both"}:
        meta["annotations"] = {api.CLAIM_ANNOTATION: f"held-{tenant}"}
    if sort in {"delegated", "both"}:
        meta["labels"] = {api.PROXY_LABEL: api.PROXY}
    if sort == "labelled":
        meta["labels"] = {api.ATTACHMENT_LABEL: "a"}
    spec = {
        "type": "LoadBalancer",
        "selector": {"app": app},
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
    }
    return an_object(SERVICE, tenant, name, meta=meta, spec=spec)


def a_leftover(tenant: str, name: str, number: int) -> list[Json]:
    """A claim that an attachment minted before we were started."""
    owner = owned_by(f"uid-EndpointAttachment-{name}-{tenant}", api.ATTACHMENT, f"{name}-{tenant}")
    meta = {"ownerReferences": [owner]}
    claim = an_object(api.CLAIM, tenant, f"{name}-left{number}", meta=meta, spec={})
    return [claim]


PODS = st.lists(st.sampled_from(["p1", "p2", "p3!", "p4"]), max_size=2, unique=True).map(tuple)
FOREIGN = st.lists(
    st.tuples(
        st.sampled_from(TENANTS),
        st.sampled_from(["chart", "zulu"]),
        st.sampled_from(["pinned", "delegated", "both", "labelled"]),
        st.sampled_from(APPS),
        BORN,
    ),
    max_size=2,
    unique_by=lambda one: one[:2],
)


@st.composite
def scenes(
    draw: st.DrawFn, *, contests: bool = True, leftovers: bool = True, sound: bool = False
) -> Scene:
    """A world of one to three applications and one to four attachments.

    contests: whether it matters who comes first. leftovers: whether we have been here before.
    sound: whether applications and claims begin as they should be.
    """
    objects: list[Json] = [*CLASSES]
    apps = st.tuples(st.sampled_from(TENANTS), st.sampled_from(APPS))
    places = draw(st.lists(apps, min_size=1, max_size=3, unique=True))
    for tenant, app in places:
        sorts = ("one", "good") if sound else (draw(RELEASES), draw(ENDPOINTS))
        objects += an_application(tenant, app, *sorts)
        objects.append(a_slice(tenant, app, draw(PODS)))
    for tenant in sorted({tenant for tenant, _ in places}):
        for name in CLAIMS:
            if draw(st.sampled_from([True, True, False])):
                objects += a_claim(tenant, name, "bound" if sound else draw(CLAIM_SORTS))
    claimed: set[tuple[str, str]] = set()
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True))
    for name in sorted(names):
        tenant, app = draw(st.sampled_from(places))
        balancer = draw(st.sampled_from(BALANCERS))
        place = (tenant, balancer.get("claimName", "a method" if "method" in balancer else name))
        if not contests and (place in claimed or "method" in balancer):
            balancer = {}
        claimed.add(place)
        status = draw(st.sampled_from(STATUSES)) if leftovers else None
        stamp = "none" if sound else draw(STAMPS)
        objects.append(an_attachment(tenant, name, app, balancer, stamp=stamp, status=status))
        if leftovers and "claimName" not in balancer:
            for number in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
                objects += a_leftover(tenant, name, number)
    if contests:
        objects += [a_foreign_service(*one) for one in draw(FOREIGN)]
    flags = Settings(
        cozy_proxy_contract_implemented=draw(st.sampled_from([True, True, False])),
        endpoint_attachment_allocate_node_ports=draw(st.booleans()),
    )
    return Scene(tuple(objects), flags)
