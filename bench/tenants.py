"""The objects attachments stand among, as prebuilt bodies: applications, endpoints, classes."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.server import Bare
from bench.worlds import Bodies
from roadstead.capabilities.attachments import api
from roadstead.kube.refs import HELM_RELEASE, SERVICE, Kind, Ref

Json = dict[str, Any]
PLACES = 100
"""Namespaces; each has one application, one class of addresses and an equal share of the rest."""
FIRST_PORT, PORTS = 5432, 1000
APPLICATION = "shop"
TRIPLE = {
    api.GROUP_LABEL: api.APPLICATION_GROUP,
    api.KIND_LABEL: "Postgres",
    api.NAME_LABEL: APPLICATION,
}
OFFERED = {**TRIPLE, api.TENANT_RESOURCE: "true"}
RENDERED = f"labelSelector={api.ATTACHMENT_LABEL.replace('/', '%2F')}"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
_VERSION = re.compile(rb'"resourceVersion":\s*"(\d+)"')


def place(number: int) -> str:
    """The namespace of an attachment."""
    return f"tenant-{number % PLACES}"


def class_name(number: int) -> str:
    """The class of addresses of an attachment."""
    return f"class-{number % PLACES}"


def attachment_ref(number: int) -> Ref:
    """One attachment; its endpoint has the same name."""
    return api.ATTACHMENT.ref(place(number), f"db-{number}")


def endpoint_path(number: int) -> str:
    """Where one endpoint is read and written."""
    return SERVICE.path(place(number), f"db-{number}")


def body_of(kind: Kind, namespace: str, name: str, **rest: Any) -> Json:
    """One object; `meta` goes below its metadata."""
    meta: Json = {"name": name, **rest.pop("meta", {})}
    if kind.namespaced:
        meta["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def applications() -> Bodies:
    """A HelmRelease and a class of addresses for each namespace; no two classes share a range."""
    spec = {"interval": "5m", "chartRef": {"kind": "OCIRepository", "name": "postgres"}}
    for number in range(PLACES):
        where = place(number)
        release = body_of(HELM_RELEASE, where, "postgres-shop", meta={"labels": TRIPLE}, spec=spec)
        yield HELM_RELEASE.path(where), json.dumps(release).encode()
        given = {
            "provisioner": "bench.example",
            "loadBalancerClass": "bench.example/balancer",
            "parameters": {"addresses": [f"198.18.{number}.1-198.18.{number}.254"]},
        }
        yield (
            api.CLASS.path(),
            json.dumps(body_of(api.CLASS, "", class_name(number), spec=given)).encode(),
        )


def endpoint(number: int, port: int = FIRST_PORT) -> bytes:
    """One application Service that is offered to its tenant."""
    name = f"db-{number}"
    stated = {"name": "sql", "port": port, "protocol": "TCP", "targetPort": 5432}
    spec = {"type": "ClusterIP", "selector": {"app": name}, "ports": [stated]}
    body = body_of(SERVICE, place(number), name, meta={"labels": OFFERED}, spec=spec)
    return json.dumps(body).encode()


def endpoints(count: int) -> Bodies:
    """An endpoint for each attachment."""
    for number in range(count):
        yield SERVICE.path(place(number)), endpoint(number)


def attachment(number: int) -> Json:
    """One attachment that mints its claim from the class of its namespace."""
    ref = attachment_ref(number)
    spec = {
        "applicationRef": {"kind": "Postgres", "name": APPLICATION},
        "endpoint": {"serviceName": ref.name},
        "loadBalancer": {"className": class_name(number)},
    }
    return body_of(ref.kind, ref.namespace, ref.name, spec=spec)


def attachments(count: int) -> Bodies:
    """What tenants ask for."""
    for number in range(count):
        yield api.ATTACHMENT.path(place(number)), json.dumps(attachment(number)).encode()


def strangers(count: int) -> Bodies:
    """Services that nobody attaches: headless and without a selector, so that none has slices."""
    spec = {"clusterIP": "None", "ports": [{"port": 80, "protocol": "TCP"}]}
    for number in range(count):
        where = place(number)
        body = body_of(SERVICE, where, f"stranger-{number}", spec=spec)
        yield SERVICE.path(where), json.dumps(body).encode()


@dataclass(frozen=True, slots=True)
class Floor:
    """The writes of one attachment as anybody has to send them, prebuilt.

    claim, service: as the program mints them, but for the owner.
    """

    number: int
    stamp: bytes
    claim: bytes
    service: bytes
    status: Json

    @classmethod
    def of(cls, number: int) -> "Floor":
        """Build all five bodies."""
        ref, name = attachment_ref(number), f"floor-{number}"
        where = ref.namespace
        stamp = body_of(ref.kind, where, ref.name, meta={"labels": TRIPLE})
        stamp["metadata"]["annotations"] = {api.UID_ANNOTATION: "x" * 36}
        asked = {"className": class_name(number)}
        spec = {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": False,
            "ipFamilyPolicy": "SingleStack",
            "ipFamilies": ["IPv4"],
            "loadBalancerClass": "bench.example/balancer",
            "selector": {"app": ref.name},
            "ports": [{"name": "sql", "port": FIRST_PORT, "protocol": "TCP", "targetPort": 5432}],
        }
        notes = {"labels": {"bench.example/a": "x"}, "annotations": {"bench.example/b": name}}
        service = body_of(SERVICE, where, name, meta=notes, spec=spec)
        condition = {
            "type": "Provisioned",
            "status": "False",
            "reason": "ClaimPending",
            "message": "x" * 80,
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        conditions = [{**condition, "type": one} for one in ("Resolved", "Provisioned", "Ready")]
        return cls(
            number,
            json.dumps(stamp).encode(),
            json.dumps(body_of(api.CLAIM, where, name, spec=asked)).encode(),
            json.dumps(service).encode(),
            {"phase": "Pending", "conditions": conditions},
        )

    async def send(self, client: Bare) -> None:
        """Send them one after another, as each rests on the one before."""
        ref, where = attachment_ref(self.number), place(self.number)
        path = ref.kind.path(where, ref.name)
        applied = f"{path}?fieldManager=bench&force=true"
        version = _version(await client.send("PATCH", applied, self.stamp, APPLY))
        await client.send("POST", api.CLAIM.path(where), self.claim)
        pending = await client.send("PUT", f"{path}/status", self._status(version, "Pending"))
        await client.send("POST", SERVICE.path(where), self.service)
        attached = self._status(_version(pending), "Attached")
        await client.send("PUT", f"{path}/status", attached)

    def _status(self, version: str, phase: str) -> bytes:
        body = attachment(self.number)
        body["metadata"]["resourceVersion"] = version
        return json.dumps({**body, "status": {**self.status, "phase": phase}}).encode()


FLOOR_WRITES = 5


def floors(count: int) -> tuple[Floor, ...]:
    """The floor of so many attachments."""
    return tuple(Floor.of(number) for number in range(count))


def _version(answer: bytes) -> str:
    found = _VERSION.search(answer)
    if found is None:
        raise RuntimeError("an answer without a resourceVersion")
    return found[1].decode()


def provisioned(listed: Iterable[Json]) -> int:
    """How many attachments have their address."""
    return sum(
        any(
            one["type"] == "Provisioned" and one["status"] == "True"
            for one in (body.get("status") or {}).get("conditions") or ()
        )
        for body in listed
    )
