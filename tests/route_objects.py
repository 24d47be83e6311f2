"""A tenant's gateway in files, with the routes that name it."""

from typing import Any

import yaml

from roadstead.capabilities.gateways import api
from roadstead.kube.refs import NAMESPACE, Kind, Ref
from stories import Body

SPACE, OTHER = "tenant-foo", "tenant-foo-alice"
KEY = api.TENANT_GATEWAY.ref(SPACE, "cozystack")
GATEWAY = api.GATEWAY.ref(SPACE, "cozystack")
ROUTE = api.HTTP_ROUTE.ref(OTHER, "web")
TLS = api.TLS_ROUTES[0].ref(OTHER, "web")
APEX = "foo.example.com"


def body(kind: Kind, name: str, place: str = SPACE, **rest: Any) -> Body:
    """One object."""
    meta = {"name": name, **({"namespace": place} if kind.namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def namespace(name: str, gateway: str = SPACE, **labels: str) -> Body:
    """A Namespace that is attached to a gateway. labels: more of them, with short keys."""
    stated = {api.ATTACH_LABEL: gateway} if gateway else {}
    stated |= {f"namespace.cozystack.io/{key}": value for key, value in labels.items()}
    return {**body(NAMESPACE, name), "metadata": {"name": name, "labels": stated}}


def gateway(name: str = KEY.name, **spec: Any) -> Body:
    """A TenantGateway; in mode http01 unless it says otherwise."""
    return body(api.TENANT_GATEWAY, name, spec={"apex": APEX, "certMode": "http01", **spec})


def route(*hostnames: str, ref: Ref = ROUTE, parent: Body | None = None) -> Body:
    """A route that names the gateway. parent: more of its parentRef."""
    named = {"name": KEY.name, "namespace": SPACE, **(parent or {})}
    spec = {"parentRefs": [named], "hostnames": list(hostnames),
            "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]}  # fmt: skip
    return body(ref.kind, ref.name, ref.namespace, spec=spec)


def supplied(name: str, *bodies: Body) -> dict[str, str]:
    """A file that the reader of a line supplies."""
    return {name: yaml.safe_dump_all(bodies)}


HERE = (namespace(SPACE), namespace(OTHER), body(api.GATEWAY_CLASS, "cilium", spec={}))
WEB, SHOP = f"web.{APEX}", f"shop.{APEX}"
NATIVE = f"pg.{APEX}"
PORT = {"name": "pg", "port": 5432, "hostname": NATIVE}
FIRST = route(SHOP, ref=api.HTTP_ROUTE.ref("cozy-shop", "shop"))
SHOPS = (*HERE, namespace("cozy-shop"), gateway(), FIRST)
