"""Which tenants get a replica of the wildcard: those that end TLS. tenant-gateway 8.4."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from gateway_objects import NOW
from roadstead.capabilities.gateways.api import ATTACH_LABEL, TENANT_GATEWAY
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.kube.refs import NAMESPACE, SECRET
from roadstead.settings import Settings
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import World

Json = dict[str, Any]
HOME, WILDCARD = "tenant-root", "wildcard-tls"


def a_secret(namespace: str, name: str, kind: str, data: Mapping[str, str]) -> Json:
    """A Secret with these values."""
    encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": kind, "data": encoded}


def gateway(namespace: str, mode: str) -> Json:
    """A TenantGateway of a mode."""
    return {
        "apiVersion": TENANT_GATEWAY.api_version,
        "kind": TENANT_GATEWAY.kind,
        "metadata": {"name": "cozystack", "namespace": namespace},
        "spec": {"apex": "a.example.org", "certMode": mode},
    }


def a_world(tenants: Mapping[str, tuple[str, str, str]]) -> tuple[World, Settler]:
    """A platform with a wildcard name. tenants: ingress label, attach label and mode, or empty."""
    world = World(NOW, Kinds(view.kind for view in WILDCARDS.views))
    text = f"_cluster: {{wildcard-secret-name: {WILDCARD}, expose-ingress: {HOME}}}"
    values = a_secret(api.VALUES.namespace, api.VALUES.name, "Opaque", {api.VALUES_KEY: text})
    world.seed(values, api.VALUES)
    source = a_secret(HOME, WILDCARD, api.TLS, dict.fromkeys(api.REQUIRED, "x"))
    world.seed(source, SECRET.ref(HOME, WILDCARD))
    for name, (ingress, attach, mode) in tenants.items():
        labels = {api.INGRESS_LABEL: ingress, ATTACH_LABEL: attach}
        meta = {"name": name, "labels": {key: value for key, value in labels.items() if value}}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
        world.seed(body, NAMESPACE.ref("", name))
        if mode:
            world.seed(gateway(name, mode), TENANT_GATEWAY.ref(name, "cozystack"))
    settler = Settler(world, (WILDCARDS,), Settings())
    settler.settle()
    return world, settler


def holders(world: World, among: Iterable[str]) -> list[str]:
    """The tenants that have a replica."""
    return [name for name in among if world.store.get(SECRET.ref(name, WILDCARD)) is not None]


@pytest.mark.parametrize(
    ("tenant", "wanted"),
    [
        pytest.param(("tenant-a", "", ""), True, id="TG-184-own-ingress"),
        pytest.param(("", "tenant-a", ""), True, id="TG-184-no-gateway-yet"),
        pytest.param(("", "tenant-a", "http01"), True, id="TG-184-terminating"),
        pytest.param(("", "tenant-a", "edge"), False, id="TG-184-edge"),
        pytest.param(("tenant-a", "tenant-a", "edge"), True, id="TG-184-both-and-edge"),
        pytest.param((HOME, "", ""), False, id="TG-184-inherited-ingress"),
        pytest.param(("", HOME, ""), False, id="TG-184-inherited-gateway"),
        pytest.param(("", "", ""), False, id="TG-184-neither"),
    ],
)
def test_a_replica_stands_where_tls_ends(tenant: tuple[str, str, str], wanted: bool) -> None:
    """TG-184: a key in a namespace that ends no TLS is one place more to lose it from."""
    world, _ = a_world({"tenant-a": tenant})

    assert (["tenant-a"] if wanted else []) == holders(world, ["tenant-a"])


TENANTS = {
    "tenant-a": ("", "tenant-a", "edge"),
    "tenant-b": ("", "tenant-b", "dns01"),
    "tenant-c": ("tenant-c", "", ""),
}


def test_one_edge_tenant_costs_the_others_nothing() -> None:
    """TG-185: one edge, one terminating, one with an ingress of its own."""
    world, _ = a_world(TENANTS)

    assert ["tenant-b", "tenant-c"] == holders(world, TENANTS)


def test_a_tenant_that_moves_to_edge_and_back() -> None:
    """TG-186: its replica goes and comes again, its neighbours' stay."""
    world, settler = a_world(TENANTS)
    ref = TENANT_GATEWAY.ref("tenant-b", "cozystack")
    found = []
    for mode in ("edge", "existingSecret"):
        world.merge(ref, {"spec": {"certMode": mode}}, By.OTHER)
        settler.settle()
        found.append(holders(world, TENANTS))

    assert [["tenant-c"], ["tenant-b", "tenant-c"]] == found
