"""Tenants with a gateway and routes, as prebuilt bodies, and the writes that all of it comes to."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bench.server import Bare
from bench.worlds import Bodies
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Route, Snapshot
from roadstead.decision import How, Want
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, Kind, Ref

Json = dict[str, Any]
CLASS = "bench.example-class"
GATEWAY = "cozystack"
HOSTNAMES = 10
"""Of each tenant; so many listeners and Certificates it has."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
MERGE = "application/merge-patch+json"
_VERSION = re.compile(rb'"resourceVersion":\s*"(\d+)"')


def place(tenant: int) -> str:
    """The namespace of a tenant."""
    return f"tenant-{tenant}"


def asked(tenant: int) -> Ref:
    """The TenantGateway of a tenant."""
    return api.TENANT_GATEWAY.ref(place(tenant), GATEWAY)


def apex(tenant: int) -> str:
    """The domain of a tenant."""
    return f"t{tenant}.example.org"


def hostname(tenant: int, number: int) -> str:
    """One of a tenant's hostnames."""
    return f"web-{number}.{apex(tenant)}"


def body_of(ref: Ref, **rest: Any) -> Json:
    """One object; `meta` goes below its metadata."""
    meta: Json = {"name": ref.name, **rest.pop("meta", {})}
    if ref.kind.namespaced:
        meta["namespace"] = ref.namespace
    return {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "metadata": meta, **rest}


def a_namespace(tenant: int) -> Json:
    """A tenant's namespace as the tenant chart labels it."""
    labels = {api.ATTACH_LABEL: place(tenant), api.HOST_LABEL: apex(tenant)}
    return body_of(NAMESPACE.ref("", place(tenant)), meta={"labels": labels})


def a_gateway(tenant: int) -> Json:
    """A tenant's gateway, with a certificate for each hostname."""
    spec = {"apex": apex(tenant), "certMode": "http01", "gatewayClassName": CLASS}
    return body_of(asked(tenant), spec={**spec, "issuerName": "letsencrypt-prod"})


def route_ref(tenant: int, number: int) -> Ref:
    """One of a tenant's routes."""
    return api.HTTP_ROUTE.ref(place(tenant), f"app-{number}")


def a_route(tenant: int, number: int, *hostnames: str) -> Json:
    """One of a tenant's routes. hostnames: of ten routes each has one of its own by default."""
    parent = {"group": api.GATEWAY_API, "kind": "Gateway", "name": GATEWAY}
    spec = {
        "parentRefs": [{**parent, "namespace": place(tenant)}],
        "hostnames": list(hostnames) or [hostname(tenant, number % HOSTNAMES)],
        "rules": [{"backendRefs": [{"name": "app", "port": 80}]}],
    }
    return body_of(route_ref(tenant, number), spec=spec)


def posted(body: Json, kind: Kind) -> tuple[str, bytes]:
    """Where an object is posted to, and what."""
    return kind.path(body["metadata"].get("namespace", "")), json.dumps(body).encode()


def the_class() -> Bodies:
    """The class of all of them, which nobody carries."""
    ref = api.GATEWAY_CLASS.ref("", CLASS)
    body = body_of(ref, spec={"controllerName": "bench.example/nobody"})
    yield posted(body, api.GATEWAY_CLASS)


def namespaces(tenants: int) -> Bodies:
    """A namespace each."""
    for tenant in range(tenants):
        yield posted(a_namespace(tenant), NAMESPACE)


def gateways(tenants: int) -> Bodies:
    """A TenantGateway each."""
    for tenant in range(tenants):
        yield posted(a_gateway(tenant), api.TENANT_GATEWAY)


def routes(tenants: int, first: int, end: int) -> Bodies:
    """The routes of each tenant from one number to before another."""
    for tenant in range(tenants):
        for number in range(first, end):
            yield posted(a_route(tenant, number), api.HTTP_ROUTE)


async def stored(client: Bare, kind: Kind) -> dict[str, Json]:
    """Every object of a kind by `namespace/name`."""
    async with client.session.get(client.server + kind.path()) as answer:
        listed = (await answer.json())["items"]
    return {
        f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}": one for one in listed
    }


class Floor:
    """The writes of one tenant as anybody has to send them, prebuilt.

    They are those that the decision wants, but for the owner: a collector would take away what
    names one that is not there. The status is written twice, since the first one is written
    before there is a Gateway to tell of.
    """

    def __init__(self, tenant: int, target: Json, routes: list[Json]) -> None:
        """Build them. target, routes: as they are stored."""
        there = Object.of(NAMESPACE, a_namespace(tenant))
        found = tuple(Route(Object.of(api.HTTP_ROUTE, one)) for one in routes)
        seen = Snapshot(
            asked(tenant),
            NOW,
            asked_for=Object.of(api.TENANT_GATEWAY, target),
            routes=found,
            namespaces={place(tenant): there},
        )
        decision = decide(seen)
        self.requests = [_request(want) for want in decision.want]
        assert decision.status is not None
        self._status: Json = {**target, "status": dict(decision.status.value)}

    @property
    def writes(self) -> int:
        """How many requests they are."""
        return len(self.requests) + 2

    async def send(self, client: Bare) -> None:
        """Send them one after another."""
        for method, path, sent, content in self.requests:
            await client.send(method, path, sent, content)
        meta: Json = self._status["metadata"]
        ref = api.TENANT_GATEWAY.path(meta["namespace"], meta["name"])
        version = meta["resourceVersion"]
        for listeners in ([], [{"name": "http", "ready": False, "reason": "Pending"}]):
            body = {**self._status, "metadata": {**meta, "resourceVersion": version}}
            body["status"] = {**self._status["status"], "listeners": listeners}
            said = await client.send("PUT", f"{ref}/status", json.dumps(body).encode())
            version = _version(said)


def _request(want: Want) -> tuple[str, str, bytes, str]:
    kind, ref = want.kind, want.ref
    body: Json = {**want.body, "metadata": {**want.body["metadata"]}}
    path = kind.path(ref.namespace, ref.name)
    if want.how is How.PATCH:
        body["metadata"].pop("resourceVersion", None)
        return "PATCH", path, json.dumps(body).encode(), MERGE
    if want.how is How.STATUS:
        return "PUT", f"{path}/status", json.dumps(body).encode(), ""
    body["metadata"].pop("ownerReferences", None)
    return "POST", kind.path(ref.namespace), json.dumps(body).encode(), ""


def _version(answer: bytes) -> str:
    found = _VERSION.search(answer)
    if found is None:
        raise RuntimeError("an answer without a resourceVersion")
    return found[1].decode()


async def floors(client: Bare, tenants: int, each: int) -> list[Floor]:
    """The floor of every tenant. each: how many routes it has."""
    targets = await stored(client, api.TENANT_GATEWAY)
    known = await stored(client, api.HTTP_ROUTE)
    return [
        Floor(
            tenant,
            targets[asked(tenant).key],
            [known[route_ref(tenant, number).key] for number in range(each)],
        )
        for tenant in range(tenants)
    ]


def listeners_told(body: Mapping[str, Any]) -> tuple[str, int]:
    """Of a TenantGateway: how many listeners its status tells of."""
    meta = body["metadata"]
    told = (body.get("status") or {}).get("listeners") or ()
    return f"{meta['namespace']}/{meta['name']}", len(told)


def judged(body: Mapping[str, Any]) -> tuple[str, int]:
    """Of a route: which generation our entry was written for; 0 without one."""
    meta = body["metadata"]
    return f"{meta['namespace']}/{meta['name']}", max(_generations(body), default=0)


def _generations(body: Mapping[str, Any]) -> Iterator[int]:
    for entry in (body.get("status") or {}).get("parents") or ():
        if entry["controllerName"] == api.COMPONENT:
            yield entry["conditions"][0].get("observedGeneration", 0)
