"""Small worlds in which the stand-in for the address substrate acts alone."""

from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.settings import Settings
from roadstead.sim.actors import acting
from roadstead.sim.kinds import Kinds
from roadstead.sim.settle import Settler
from roadstead.sim.world import World
from worlds import NOW, body

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


class Substrate:
    """A world, and the stand-in over it."""

    def __init__(self, *objects: Json) -> None:
        """Let it settle over these objects."""
        self.world = World(NOW, Kinds())
        self.settler = Settler(self.world, (), Settings(), acting(["addresses"]))
        for one in objects:
            self.seed(one)
        self.settle()

    def seed(self, one: Json) -> None:
        """Put one object there."""
        self.world.seed(one, ref_of(one))

    def settle(self) -> None:
        """Let the stand-in act until it writes nothing."""
        self.settler.settle()

    def get(self, kind: Kind, name: str) -> Object:
        """An object that is there."""
        found = self.world.store.get(kind.ref("t", name))
        assert found is not None
        return found

    def there(self, kind: Kind, name: str) -> bool:
        """Whether an object is there."""
        return self.world.store.get(kind.ref("t", name)) is not None

    def status(self, kind: Kind, name: str) -> Json:
        """What is said of an object."""
        return dict(self.get(kind, name).body.get("status") or {})

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


def ref_of(one: Json) -> Ref:
    """The ref of an object of a world like this."""
    meta = one["metadata"]
    kind = Kinds().of(one["apiVersion"], one["kind"], meta.get("namespace", ""))
    return kind.ref(meta.get("namespace", ""), meta["name"])
