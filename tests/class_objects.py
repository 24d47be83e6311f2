"""Classes, Gateways, routes and certificates that nobody but stand-ins acts upon."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from acting import Acting
from roadstead.capabilities.gateways import api
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE, Kind
from roadstead.sim.pki import certificate
from worlds import body

Json = dict[str, Any]
CILIUM = "io.cilium/gateway-controller"
TLS_ROUTE = api.TLS_ROUTES[0]


def a_class(name: str = "c", controller: str = CILIUM) -> Json:
    """A class; one that is played unless said otherwise."""
    return body(api.GATEWAY_CLASS, name, spec={"controllerName": controller})


def a_listener(name: str = "http", port: int = 80, protocol: str = "HTTP", **more: Any) -> Json:
    """A listener. space: whose routes it admits; kinds: which; secret: its certificate."""
    made: Json = {"name": name, "port": port, "protocol": protocol}
    allowed: Json = {"namespaces": more.pop("space", {"from": "Same"})}
    if kinds := more.pop("kinds", None):
        allowed["kinds"] = [{"kind": one} for one in kinds]
    if secret := more.pop("secret", ""):
        made["tls"] = {"mode": "Terminate", "certificateRefs": [{"name": secret}]}
    return {**made, "allowedRoutes": allowed, **more}


def https(name: str = "web", hostname: str = "a.example.org", **more: Any) -> Json:
    """A listener that ends TLS."""
    return a_listener(name, 443, "HTTPS", hostname=hostname, secret="s", **more)


def tls(name: str = "tls", hostname: str = "a.example.org", **more: Any) -> Json:
    """A listener that passes TLS on."""
    return a_listener(name, 443, "TLS", hostname=hostname, tls={"mode": "Passthrough"}, **more)


def a_gateway(*listeners: Json, name: str = "g", class_name: str = "c", **spec: Any) -> Json:
    """A Gateway."""
    stated = {"gatewayClassName": class_name, "listeners": list(listeners or [a_listener()])}
    return body(api.GATEWAY, name, spec={**stated, **spec})


def a_route(
    *hostnames: str, name: str = "r", place: str = "t", kind: Kind = api.HTTP_ROUTE, **more: Any
) -> Json:
    """A route. backends: what it forwards to; status: of it; the rest goes into its parentRef."""
    backends = more.pop("backends", [])
    status = more.pop("status", None)
    parent = {"name": "g", "namespace": "t", **more}
    rules = [{"backendRefs": backends}] if backends else []
    spec = {"parentRefs": [parent], "hostnames": list(hostnames), "rules": rules}
    return body(kind, name, place, spec=spec) | ({"status": status} if status else {})


def a_service(name: str = "b", place: str = "t") -> Json:
    """A Service to forward to."""
    return body(SERVICE, name, place, spec={"ports": [{"port": 80}]})


def a_space(name: str, **labels: str) -> Json:
    """A Namespace with labels."""
    return body(NAMESPACE, name, meta={"labels": labels})


def a_secret(name: str = "s", type_: str = "kubernetes.io/tls") -> Json:
    """A Secret that holds a certificate."""
    made = certificate(name)
    data = {"tls.crt": b64encode(made.pem).decode(), "tls.key": b64encode(made.key).decode()}
    return body(SECRET, name, type=type_, data=data)


class Class(Acting):
    """A world over which the controller of a class is played."""

    def __init__(self, *objects: Json) -> None:
        """Let it settle over these objects."""
        super().__init__(["gateway-class"], objects)

    def told(self, name: str = "g", kind: Kind = api.GATEWAY) -> dict[str, str]:
        """The conditions of an object: `True Accepted` by type."""
        return conditions(self.status(kind, name).get("conditions") or ())

    def listener(self, name: str = "http") -> Json:
        """What is said of a listener of the Gateway."""
        listed = self.status(api.GATEWAY, "g").get("listeners") or ()
        (found,) = [one for one in listed if one["name"] == name]
        return dict(found)

    def heard(self, listener: str = "http") -> dict[str, str]:
        """The conditions of a listener."""
        return conditions(self.listener(listener)["conditions"])

    def entries(self, name: str = "r", kind: Kind = api.HTTP_ROUTE, place: str = "t") -> list[Json]:
        """The entries of a route."""
        found = self.find(kind.ref(place, name))
        assert found is not None
        return list((found.body.get("status") or {}).get("parents") or ())

    def entry(
        self, name: str = "r", kind: Kind = api.HTTP_ROUTE, place: str = "t"
    ) -> dict[str, str]:
        """The conditions of the one entry of a route."""
        (found,) = self.entries(name, kind, place)
        return conditions(found["conditions"])


def conditions(stated: Iterable[Json]) -> dict[str, str]:
    """Conditions as `True Accepted` by type."""
    return {one["type"]: f"{one['status']} {one['reason']}" for one in stated}
