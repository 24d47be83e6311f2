"""Small worlds for the tests of the offline API."""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Kind
from roadstead.sim.requests import By
from roadstead.sim.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)


CANARY = "canary-value-of-a-secret"


QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas")


SERVICE = Kind("Service", "", "v1", "services")


def body(kind: Kind, name: str, namespace: str = "t", **more: Any) -> dict[str, Any]:
    """The smallest object of a kind; `meta` goes below its metadata."""
    meta: dict[str, Any] = {"name": name, **more.pop("meta", {})}
    if kind.namespaced:
        meta["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def secret(name: str = "s", **more: Any) -> dict[str, Any]:
    """A Secret with a value no message may show."""
    return body(SECRET, name, data={"k": b64encode(CANARY.encode()).decode()}, **more)


def owner(seen: Object, **more: Any) -> dict[str, Any]:
    """An owner reference to an object."""
    return {
        "apiVersion": seen.kind.api_version,
        "kind": seen.kind.kind,
        "name": seen.meta.name,
        "uid": seen.meta.uid,
        **more,
    }


def world() -> World:
    """A world with one namespace and one Secret."""
    made = World(NOW)
    made.create(SECRET, secret(), By.OTHER)
    return made


def get(at: World, kind: Kind = SECRET, name: str = "s") -> Object:
    """An object that is there."""
    seen = at.store.get(kind.ref("t", name))
    assert seen is not None
    return seen


def put(at: World, seen: Object, **more: Any) -> Object:
    """PUT an object with some of its parts replaced."""
    return at.replace(seen.kind, seen.body | more, By.US)


GATEWAY = Kind("Gateway", "gateway.networking.k8s.io", "v1", "gateways")

LIVE = Object.of(
    GATEWAY,
    {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "g", "namespace": "t", "labels": {"a": "b", "c": "d"}},
        "spec": {
            "listeners": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
            "addresses": ["one", "two"],
            "on": True,
            "count": 1,
        },
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "x"}],
            "empty": [],
        },
    },
)


def live_secret() -> Object:
    """A Secret with a value no difference may show."""
    data = {"k": b64encode(CANARY.encode()).decode()}
    meta = {"name": "s", "namespace": "t"}
    return Object.of(SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})
