"""One tenant gateway that works, and the objects it is judged on, for tables and mutants."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Route, Snapshot
from roadstead.decision import Decision, How
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, Kind
from roadstead.kube.times import format_time

Json = dict[str, Any]
NS, NAME, APEX, UID = "tenant-foo", "cozystack", "foo.example.com", "uid-tenant-foo-cozystack"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EARLIER = "2025-12-31T00:00:00Z"
KEY = api.TENANT_GATEWAY.ref(NS, NAME)
TLS_ROUTE = api.TLS_ROUTES[0]
GOOD: list[Json] = [
    {"type": "Accepted", "status": "True", "reason": "Accepted"},
    {"type": "Programmed", "status": "True", "reason": "Programmed"},
]


def a_body(kind: Kind, namespace: str, name: str, **parts: Any) -> Json:
    """The JSON of an object; `meta` goes below its metadata."""
    meta: Json = {"name": name, "uid": f"uid-{namespace}-{name}", "resourceVersion": "7"}
    meta |= {"generation": 3, **parts.pop("meta", {})}
    if kind.namespaced:
        meta["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **parts}


def made(kind: Kind, namespace: str, name: str, **parts: Any) -> Object:
    """An object as it was read."""
    return Object.of(kind, a_body(kind, namespace, name, **parts))


def a_gateway(status: Json | None = None, **spec: Any) -> Object:
    """Fixture A: the TenantGateway of tenant-foo, with these fields in its spec."""
    body = a_body(api.TENANT_GATEWAY, NS, NAME, spec={"apex": APEX, "certMode": "http01", **spec})
    return Object.of(api.TENANT_GATEWAY, body | ({"status": status} if status else {}))


def a_namespace(name: str, gateway: str = "", host: str = "", holder: str = "") -> Object:
    """A Namespace. gateway, host: its labels. holder: its annotation."""
    labels = {api.ATTACH_LABEL: gateway, api.HOST_LABEL: host}
    meta: Json = {
        "labels": {key: value for key, value in labels.items() if value},
        "annotations": {api.ATTACHED_BY: holder} if holder else {},
    }
    return made(NAMESPACE, "", name, meta=meta)


def a_parent(**parts: Any) -> Json:
    """A parentRef to the gateway."""
    ref = {"group": api.GATEWAY_API, "kind": "Gateway", "name": NAME, "namespace": NS}
    return {**ref, **parts}


def an_entry(parent: Json | None = None, status: str = "True", **parts: Any) -> Json:
    """An own entry of a route's status."""
    condition = {
        "type": "Accepted",
        "status": status,
        "reason": "Accepted",
        "message": f"served by {KEY.key}",
        "observedGeneration": 3,
        "lastTransitionTime": EARLIER,
    }
    return {
        "parentRef": parent or a_parent(),
        "controllerName": api.COMPONENT,
        "conditions": [condition],
        **parts,
    }


def a_foreign_entry(controller: str = "io.cilium/gateway-controller", **parts: Any) -> Json:
    """Another controller's entry, for the same parent."""
    return an_entry(None, "False", controllerName=controller, **parts)


def a_route(
    kind: Kind, where: str, hostnames: Iterable[str], parents: Iterable[Json], entries: list[Json]
) -> Object:
    """A route. where: `namespace/name`."""
    namespace, _, name = where.partition("/")
    spec = {"parentRefs": list(parents), "hostnames": list(hostnames), "rules": []}
    body = a_body(kind, namespace, name, spec=spec)
    return Object.of(kind, body | ({"status": {"parents": entries}} if entries else {}))


def http(where: str, *hostnames: str, entries: Iterable[Json] = (), **parent: Any) -> Route:
    """R of the matrix: an HTTPRoute with one parentRef."""
    seen = a_route(api.HTTP_ROUTE, where, hostnames, [a_parent(**parent)], list(entries))
    return Route(seen)


def tls(
    where: str, *hostnames: str, resolves: bool = True, entries: Iterable[Json] = (), **parent: Any
) -> Route:
    """T of the matrix: a TLSRoute with one parentRef, whose backend is there."""
    seen = a_route(TLS_ROUTE, where, hostnames, [a_parent(**parent)], list(entries))
    return Route(seen, resolves=resolves)


def of_parents(where: str, hostnames: Iterable[str], parents: Iterable[Json]) -> Route:
    """An HTTPRoute with several parentRefs."""
    return Route(a_route(api.HTTP_ROUTE, where, hostnames, parents, []))


def pl(name: str, port: int, hostname: str = "") -> Json:
    """One entry of `tlsPassthroughListeners`."""
    return {"name": name, "port": port, "hostname": hostname or f"{name}.{APEX}"}


def a_snapshot(
    *routes: Route, namespaces: Iterable[Object] = (), status: Json | None = None, **spec: Any
) -> Snapshot:
    """Fixture A with these routes, further namespaces, and fields in its spec."""
    known = {one.meta.name: one for one in (a_namespace(NS, NS, APEX), *namespaces)}
    return Snapshot(KEY, NOW, asked_for=a_gateway(status, **spec), routes=routes, namespaces=known)


def attaching(
    *routes: Route, to: Iterable[str] = ("cozy-public", "default"), **spec: Any
) -> Snapshot:
    """Fixture A with further namespaces attached."""
    found = [a_namespace(name, NS, holder=NS) for name in to]
    return a_snapshot(*routes, namespaces=found, attachedNamespaces=list(to), **spec)


def owned(kind: Kind, name: str, uid: str = UID, **parts: Any) -> Object:
    """An object that a TenantGateway controls."""
    owner = {
        "apiVersion": api.TENANT_GATEWAY.api_version,
        "kind": api.TENANT_GATEWAY.kind,
        "name": NAME,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    meta = {"ownerReferences": [owner] if uid else [], **parts.pop("meta", {})}
    return made(kind, NS, name, meta=meta, **parts)


def standing(seen: Snapshot, **status: Any) -> Snapshot:
    """With everything that a pass wants standing, and the Gateway reporting this status."""
    decision = decide(seen)
    changes: Json = {"certificates": dict(seen.certificates)}
    for want in decision.want:
        if want.how is not How.REPLACE:
            continue
        body = copy.deepcopy(dict(want.body))
        body["metadata"] |= {"uid": f"uid-{want.ref.name}", "resourceVersion": "9"}
        body |= {"status": status} if want.kind == api.GATEWAY else {}
        there = Object.of(want.kind, body)
        if want.kind == api.CERTIFICATE:
            changes["certificates"][there.meta.name] = there
        else:
            changes[_FIELDS[want.kind]] = there
    return replace(seen, **changes)


_FIELDS = {api.GATEWAY: "gateway", api.ISSUER: "issuer", api.HTTP_ROUTE: "redirect"}


def served(seen: Snapshot) -> Snapshot:
    """With everything standing, accepted and programmed."""
    rendered = listeners(seen)
    told = [{"name": one["name"], "conditions": GOOD, "attachedRoutes": 1} for one in rendered]
    return standing(seen, conditions=GOOD, listeners=told)


def body_of(decision: Decision, kind: Kind, name: str = "") -> Json:
    """What is wanted of a kind; fails where it is not one object."""
    (found,) = [
        dict(want.body)
        for want in decision.want
        if want.kind == kind and want.how is How.REPLACE and name in {"", want.ref.name}
    ]
    return found


def listeners(seen: Snapshot) -> list[Json]:
    """The listeners of the wanted Gateway."""
    found: list[Json] = body_of(decide(seen), api.GATEWAY)["spec"]["listeners"]
    return found


def sections(seen: Snapshot) -> list[str]:
    """Their names."""
    return [one["name"] for one in listeners(seen)]


def parents(decision: Decision, route: Route) -> list[Json]:
    """What a decision writes into `status.parents` of a route; as it stands when it writes none."""
    for want in decision.want:
        if want.how is How.STATUS and want.ref == route.ref:
            found: list[Json] = want.body["status"]["parents"]
            return found
    return list((route.seen.body.get("status") or {}).get("parents") or ())


def accepted(seen: Snapshot, route: Route, at: int = 0) -> tuple[str, str]:
    """Reason and message of one own entry; the reason of an accepted one is `Accepted`."""
    entry = [one for one in parents(decide(seen), route) if one["controllerName"] == api.COMPONENT]
    (condition,) = entry[at]["conditions"]
    assert (condition["status"] == "True") is (condition["reason"] == "Accepted")
    return condition["reason"], condition["message"]


def reasons(seen: Snapshot) -> list[str]:
    """The reason of every route's first own entry, `-` without one, in the snapshot's order."""
    found = []
    for route in seen.routes:
        own = [e for e in parents(decide(seen), route) if e["controllerName"] == api.COMPONENT]
        found.append(own[0]["conditions"][0]["reason"] if own else "-")
    return found


def ready(decision: Decision) -> Json:
    """The one condition that a decision reports."""
    assert decision.status is not None
    (condition,) = decision.status.value["conditions"]
    assert condition["type"] == "Ready"
    found: Json = condition
    return found


def told(decision: Decision) -> list[str]:
    """The reasons of its events."""
    return [event.reason for event in decision.events]


def writes(decision: Decision) -> list[str]:
    """What it writes and drops, in order: `replace Gateway cozystack`, `drop Issuer x`."""
    wants = [f"{want.how} {want.kind.kind} {want.ref.name}" for want in decision.want]
    return wants + [f"drop {drop.ref.kind.kind} {drop.ref.name}" for drop in decision.drop]


BORN = format_time(NOW)
