"""Small worlds in which the stand-in for the address substrate acts alone."""

from typing import Any

from acting import Acting
from roadstead.capabilities.attachments import api
from roadstead.kube.refs import SERVICE
from worlds import body

Json = dict[str, Any]
DEFAULT = {api.DEFAULT_ANNOTATION: "true"}


def a_class(name: str = "public", *, default: bool = True, **spec: Any) -> Json:
    """A class; the only default one unless said otherwise."""
    meta = {"annotations": DEFAULT} if default else {}
    return body(api.CLASS, name, meta=meta, spec={"provisioner": "p.example.org", **spec})


def a_claim(name: str = "c", status: Json | None = None, **spec: Any) -> Json:
    """A claim."""
    made = body(api.CLAIM, name, spec=spec)
    return {**made, "status": status} if status else made


def an_address(address: str, class_name: str = "public", **spec: Any) -> Json:
    """An address that somebody made, named after its digits."""
    name = f"ip-{address.replace('.', '-')}"
    stated = {"className": class_name, "address": address, "source": {}, **spec}
    return body(api.ADDRESS, name, spec=stated)


def a_balancer(name: str = "s", claim: str = "c", made: str = "", **spec: Any) -> Json:
    """A load balancer Service, pinned to a claim where one is named."""
    meta: Json = {"annotations": {api.CLAIM_ANNOTATION: claim}} if claim else {}
    meta |= {"creationTimestamp": made} if made else {}
    ports = [{"port": 80, "protocol": "TCP"}]
    return body(SERVICE, name, meta=meta, spec={"type": "LoadBalancer", "ports": ports, **spec})


class Substrate(Acting):
    """A world, and the stand-in over it."""

    def __init__(self, *objects: Json) -> None:
        """Let it settle over these objects."""
        super().__init__(["addresses"], objects)

    def claimed(self, name: str = "c") -> list[str]:
        """A claim's addresses, as it lists them."""
        return [one["address"] for one in self.status(api.CLAIM, name).get("addresses", ())]

    def announced(self, name: str = "s") -> list[str]:
        """What a Service announces."""
        balancer = self.status(SERVICE, name).get("loadBalancer") or {}
        return [one["ip"] for one in balancer.get("ingress", ())]

    def addresses(self) -> dict[str, str]:
        """The phase of every address there is."""
        return {
            seen.body["spec"]["address"]: seen.body.get("status", {}).get("phase", "")
            for seen in self.world.store.all(api.ADDRESS)
        }
