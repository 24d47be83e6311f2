"""An application with an endpoint, and the address substrate, for attachments on a real server."""

from typing import Any

from live_admin import Admin
from live_scene import release
from roadstead.capabilities.attachments.api.names import (
    ADDRESS,
    ATTACHMENT,
    CLAIM,
    CLASS,
    DEFAULT_ANNOTATION,
    TENANT_RESOURCE,
    TRIPLE,
)
from roadstead.kube.refs import SERVICE, Kind

NS, ELSEWHERE = "tenant-foo", "tenant-bar"
REF = ATTACHMENT.ref(NS, "a")
ENDPOINT = SERVICE.ref(NS, "postgres-mydb-rw")
HELD = ADDRESS.ref("", "ip-203-0-113-7")


def body(kind: Kind, name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    """An object. rest: `labels`, `annotations` or `owners`, and parts of the body."""
    places = {"labels": "labels", "annotations": "annotations", "owners": "ownerReferences"}
    meta = {place: rest.pop(key) for key, place in places.items() if key in rest}
    meta |= {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def attachment(name: str = "a", **balancer: Any) -> dict[str, Any]:
    """An attachment of the scene's endpoint."""
    spec = {
        "applicationRef": {"kind": "Postgres", "name": "mydb"},
        "endpoint": {"serviceName": ENDPOINT.name},
        "loadBalancer": balancer,
    }
    return body(ATTACHMENT, name, NS, spec=spec)


def platform(admin: Admin) -> None:
    """An application with an endpoint that tenants may see, and a class of addresses."""
    release(admin, NS)
    triple = dict(zip(TRIPLE, ("apps.cozystack.io", "Postgres", "mydb"), strict=True))
    admin.made(
        SERVICE,
        body(
            SERVICE,
            ENDPOINT.name,
            NS,
            labels={**triple, TENANT_RESOURCE: "true"},
            spec={"selector": {"role": "primary"}, "ports": [{"name": "db", "port": 5432}]},
        ),
    )
    spec = {"provisioner": "tests", "loadBalancerClass": "example.org/tests"}
    marks = {DEFAULT_ANNOTATION: "true"}
    admin.made(CLASS, body(CLASS, "public", annotations=marks, spec=spec))


def bind(admin: Admin, claim: str) -> None:
    """Do what the address substrate does: hold an address for a claim."""
    spec = {
        "className": "public",
        "address": "203.0.113.7",
        "claimRef": {"namespace": NS, "name": claim},
        "source": {},
    }
    admin.made(ADDRESS, body(ADDRESS, HELD.name, spec=spec))
    addresses = [{"name": HELD.name, "address": "203.0.113.7"}]
    status = {"phase": "Bound", "className": "public", "addresses": addresses}
    admin.patched(CLAIM.ref(NS, claim), {"status": status}, "/status")


def associate(admin: Admin, namespace: str | None) -> None:
    """Say that a Service of a namespace holds the address; None for nobody."""
    told = {"kind": "Service", "namespace": namespace, "name": "holder"} if namespace else None
    admin.patched(HELD, {"status": {"associatedTo": told}}, "/status")


def says_so(admin: Admin, reason: str, saying: str = "") -> dict[str, Any] | None:
    """The attachment, once it says this of its address."""
    seen = admin.get(REF) or {}
    for one in (seen.get("status") or {}).get("conditions") or ():
        if (one["type"], one["reason"]) == ("Provisioned", reason) and saying in one["message"]:
            return seen
    return None


def controlled(admin: Admin, kind: Kind, name: str = REF.name) -> dict[str, Any] | None:
    """The one object of a kind that an attachment controls; None where there is not just one."""
    every = [
        seen
        for seen in admin.objects(kind, NS)
        if any(
            (one["kind"], one["name"]) == (ATTACHMENT.kind, name)
            for one in seen["metadata"].get("ownerReferences", ())
        )
    ]
    return every[0] if len(every) == 1 else None
