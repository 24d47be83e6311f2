"""One attachment that works, and the objects it is judged on, for tables and generated worlds."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.render import fresh_service
from roadstead.capabilities.attachments.snapshot import Delegation, Snapshot, selector_of
from roadstead.capabilities.attachments.snapshot.views import condition
from roadstead.decision import Decision
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, SERVICE, Kind
from roadstead.kube.shapes import text
from roadstead.kube.times import format_time

Json = dict[str, Any]
NS, OTHER_NS = "tenant-blue", "tenant-red"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BORN = format_time(NOW)
BEFORE, AFTER = "2025-12-31T23:59:59Z", "2026-01-01T00:00:01Z"
DYING: dict[str, Any] = {"deletionTimestamp": BORN, "finalizers": ["x"]}
UID, RELEASE_UID, OLD_UID = "uid-shop-db", "uid-postgres-shop", "uid-of-old"
TRIPLE = {
    api.GROUP_LABEL: api.APPLICATION_GROUP,
    api.KIND_LABEL: "Postgres",
    api.NAME_LABEL: "shop",
}
PORTS: list[Json] = [
    {"name": "sql", "port": 5432, "protocol": "TCP", "targetPort": "postgres"},
    {"name": "metrics", "port": 9187, "protocol": "TCP", "targetPort": 9187},
]


def made(kind: Kind, name: str, namespace: str = NS, **more: Any) -> Object:
    """An object as it was read; `meta` goes below its metadata."""
    return Object.of(kind, a_body(kind, name, namespace, **more))


def a_body(kind: Kind, name: str, namespace: str = NS, **more: Any) -> Json:
    """The JSON of an object; `meta` goes below its metadata."""
    meta: Json = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    meta |= {"creationTimestamp": BORN, **more.pop("meta", {})}
    if kind.namespaced:
        meta["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def owned_by(uid: str, kind: Kind = HELM_RELEASE, name: str = "postgres-shop") -> Json:
    """An owner reference; an attachment controls what it owns."""
    owner: Json = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}
    if kind == api.ATTACHMENT:
        owner |= {"controller": True, "blockOwnerDeletion": True}
    return owner


def an_attachment(balancer: Json | None = None, status: Json | None = None, **meta: Any) -> Object:
    """The attachment, stamped; `meta` replaces parts of its metadata."""
    body = a_body(
        api.ATTACHMENT,
        "shop-db",
        meta={
            "uid": UID,
            "generation": 1,
            "labels": TRIPLE,
            "ownerReferences": [owned_by(RELEASE_UID)],
            **meta,
        },
        spec={
            "applicationRef": {"group": api.APPLICATION_GROUP, "kind": "Postgres", "name": "shop"},
            "endpoint": {"serviceName": "shop-rw"},
            "loadBalancer": balancer or {},
        },
    )
    if status is not None:
        body["status"] = status
    return Object.of(api.ATTACHMENT, body)


def a_release(name: str = "postgres-shop", uid: str = RELEASE_UID, **meta: Any) -> Object:
    """The application's HelmRelease."""
    return made(HELM_RELEASE, name, meta={"uid": uid, "labels": TRIPLE, **meta})


def an_endpoint(spec: Json | None = None, labels: Json | None = None, **meta: Any) -> Object:
    """The application's Service, offered to tenants. spec: replaces parts of its own."""
    stated = {"type": "ClusterIP", "selector": {"app": "shop"}, "ports": PORTS, **(spec or {})}
    offered = {**TRIPLE, api.TENANT_RESOURCE: "true", **(labels or {})}
    offered = {key: value for key, value in offered.items() if value is not None}
    return made(SERVICE, "shop-rw", meta={"labels": offered, **meta}, spec=copy.deepcopy(stated))


def a_claim(name: str = "held", status: Json | None = None, **more: Any) -> Object:
    """A bound claim of class public; `minted=True` has the attachment control it."""
    if more.pop("minted", False):
        owner = owned_by(UID, api.ATTACHMENT, "shop-db")
        more["meta"] = {"ownerReferences": [owner], **more.get("meta", {})}
    bound = {
        "phase": "Bound",
        "className": "public",
        "addresses": [{"name": "ip-1", "address": "203.0.113.5"}],
    }
    body: Json = {"spec": {"className": "public"}, **more}
    if status is None or status:
        body["status"] = {**bound, **(status or {})}
    return made(api.CLAIM, name, **body)


def a_class(name: str = "public", balancer: str = "metallb.io/public") -> Object:
    """An address class."""
    spec = {"provisioner": "metallb"} | ({"loadBalancerClass": balancer} if balancer else {})
    return made(api.CLASS, name, spec=spec)


def pinned(name: str, born: str = BORN, **more: Any) -> Object:
    """A Service of somebody else that is pinned to the claim `held`."""
    notes = {api.CLAIM_ANNOTATION: "held"}
    meta = {"annotations": notes, "creationTimestamp": born, **more.pop("meta", {})}
    return made(SERVICE, name, meta=meta, spec={"type": "LoadBalancer"}, **more)


def delegated(name: str, born: str = BORN, selector: Json | None = None) -> Object:
    """A Service of somebody else that cozy-proxy carries."""
    meta = {"labels": {api.PROXY_LABEL: api.PROXY}, "creationTimestamp": born}
    spec = {"type": "LoadBalancer", "selector": selector or {"vm": name}}
    return made(SERVICE, name, meta=meta, spec=spec)


def delegation(name: str, *pods: str, born: str = BORN, **selector: str) -> Delegation:
    """Another Service that cozy-proxy carries, over these pods."""
    service = delegated(name, born, selector)
    return Delegation(service, frozenset(pods), selector_of(service))


def a_slice(name: str, of: str, pods: Mapping[str, bool], namespace: str = NS) -> Object:
    """A slice of a Service; `pods`: uid and whether it is ready."""
    endpoints = [
        {
            "addresses": ["10.0.0.1"],
            "conditions": {"ready": ready},
            "targetRef": {"kind": "Pod", "name": uid, "namespace": namespace, "uid": uid},
        }
        for uid, ready in pods.items()
    ]
    labels = {api.SLICE_OF: of}
    body = a_body(ENDPOINT_SLICE, name, namespace, meta={"labels": labels})
    return Object.of(ENDPOINT_SLICE, {**body, "addressType": "IPv4", "endpoints": endpoints})


def standing(seen: Snapshot, born: str = BORN, **meta: Any) -> Object:
    """The Service that a decision about this would make, once it was made and has its address."""
    assert seen.endpoint is not None
    assert seen.claim is not None
    body = copy.deepcopy(fresh_service(seen, seen.endpoint, seen.claim))
    body["metadata"] |= {"name": "shop-db-abcde", "uid": "uid-svc", "resourceVersion": "7"}
    body["metadata"] |= {"creationTimestamp": born, **meta}
    ingress = [{"ip": one["address"]} for one in seen.claim.body["status"]["addresses"]]
    body["status"] = {"loadBalancer": {"ingress": ingress}}
    return Object.of(SERVICE, body)


def with_service(seen: Snapshot, **meta: Any) -> Snapshot:
    """With its Service standing as it should."""
    return replace(seen, owned=(standing(seen, **meta),))


def reported(seen: Snapshot) -> Snapshot:
    """With the status that a pass over it writes."""
    status = decide(seen).status
    assert status is not None
    body = {**seen.attachment.body, "status": copy.deepcopy(dict(status.value))}
    return replace(seen, attachment=Object.of(api.ATTACHMENT, body))


def asking(seen: Snapshot, **balancer: Any) -> Snapshot:
    """Asking for something else in `spec.loadBalancer`."""
    body = copy.deepcopy(seen.attachment.body)
    body["spec"]["loadBalancer"] = balancer
    return replace(seen, attachment=Object.of(api.ATTACHMENT, body))


BARE = Snapshot(
    an_attachment({"claimName": "held"}),
    NOW,
    contract=True,
    releases=(a_release(),),
    endpoint=an_endpoint(),
    claim=a_claim(),
    class_name="public",
    ip_class=a_class(),
    pods=frozenset({"pod-1"}),
    ready=1,
)
"""Everything is there but the Service."""
SEEN = reported(with_service(BARE))
"""Attached, and reported so."""
MINTING = replace(BARE, attachment=an_attachment(), claim=None, class_name="", ip_class=None)
"""Without a claim and without a Service."""
MINTED = replace(BARE, attachment=an_attachment(), claim=a_claim("mine", minted=True))
MINTED = reported(with_service(replace(MINTED, minted=(a_claim("mine", minted=True),))))
"""Attached by a claim of its own."""


def words(decision: Decision) -> str:
    """`Resolved Provisioned phase` of what a decision reports, by their reasons."""
    assert decision.status is not None
    after = Object.of(
        api.ATTACHMENT, {**decision.status.live.body, "status": dict(decision.status.value)}
    )
    reasons = (text(condition(after, type_), "reason") for type_ in ("Resolved", "Provisioned"))
    return " ".join((*reasons, decision.status.value["phase"]))


def stated(decision: Decision, type_: str) -> Json:
    """One condition of what a decision reports."""
    assert decision.status is not None
    conditions: list[Json] = decision.status.value["conditions"]
    return next(one for one in conditions if one["type"] == type_)


def written(decision: Decision) -> list[str]:
    """What a decision writes, in order: `mint Service`, `drop Service shop-db-abcde`."""
    wants = [f"{want.how} {want.kind.kind}" for want in decision.want]
    return wants + [f"drop {drop.ref.kind.kind} {drop.ref.name}" for drop in decision.drop]
