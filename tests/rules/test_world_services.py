"""Services in the API in memory: what is filled in, kept, given out and refused.

The whole table of answers is held against a real server in tests/cluster/test_services.py.
"""

from typing import Any

import pytest

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, SERVICE
from roadstead.sim.merge import merged
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from roadstead.sim.world import World
from worlds import NOW, QUOTA, body, get

PORT = {"port": 80}
LB: dict[str, Any] = {
    "type": "LoadBalancer",
    "selector": {"a": "b"},
    "ports": [PORT],
    "loadBalancerClass": "x/y",
}
LOCAL = LB | {"externalTrafficPolicy": "Local", "allocateLoadBalancerNodePorts": False}


def service(spec: dict[str, Any], name: str = "s", **more: Any) -> dict[str, Any]:
    """A Service."""
    return body(SERVICE, name, spec=spec, **more)


def made(spec: dict[str, Any], at: World | None = None) -> Object:
    """A Service that was created."""
    return (at or World(NOW)).create(SERVICE, service(spec), By.OTHER)


def changed(spec: dict[str, Any], change: dict[str, Any]) -> Object:
    """A Service that was created and then replaced with a change; null leaves a field out."""
    at = World(NOW)
    there = made(spec, at)
    return at.replace(SERVICE, merged(there.body, {"spec": change}), By.US)


def test_a_load_balancer_is_completed_as_by_the_server() -> None:
    """Every default and number, in one object."""
    assert {
        "type": "LoadBalancer",
        "selector": {"a": "b"},
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "loadBalancerClass": "x/y",
        "externalTrafficPolicy": "Local",
        "internalTrafficPolicy": "Cluster",
        "allocateLoadBalancerNodePorts": False,
        "sessionAffinity": "None",
        "clusterIP": "10.96.1.0",
        "clusterIPs": ["10.96.1.0"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "healthCheckNodePort": 30000,
    } == made(LOCAL).body["spec"]
    assert made(LOCAL).body["status"] == {"loadBalancer": {}}
    assert made(LOCAL).meta.generation == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(
            LB | {"ipFamilies": ["IPv4", "IPv6"]},
            'Invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be'
            " 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
            id="two-families",
        ),
        pytest.param(
            LB | {"clusterIP": "172.20.0.1"},
            'Invalid: spec.clusterIPs: Invalid value: ["172.20.0.1"]: failed to allocate IP'
            " 172.20.0.1: the provided network does not match the current range",
            id="address-of-another-range",
        ),
        pytest.param(
            LB | {"clusterIP": "None"},
            "Invalid: spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for"
            " LoadBalancer services",
            id="headless-load-balancer",
        ),
        pytest.param(
            {"ports": [PORT, {"port": 81}]},
            "Invalid: spec.ports[0].name: Required value; spec.ports[1].name: Required value",
            id="two-problems",
        ),
        pytest.param(
            {"ports": [{"port": 80, "targetPort": True}]}, "BadRequest", id="unreadable-port"
        ),
        pytest.param(
            {"ports": [PORT], "selector": {"a": True}}, "BadRequest", id="unreadable-selector"
        ),
        pytest.param(True, "BadRequest", id="spec-that-is-no-map"),
        pytest.param({"ports": 3}, "BadRequest", id="ports-that-are-no-list"),
        pytest.param({"ports": [[]]}, "BadRequest", id="port-that-is-no-map"),
        pytest.param({"ports": [PORT], "selector": "a"}, "BadRequest", id="selector-no-map"),
    ],
)
def test_a_refusal_says_what_a_tenant_may_read(spec: dict[str, Any], said: str) -> None:
    """The reason, and each cause as `field: message`."""
    with pytest.raises(ClusterError) as refused:
        made(spec)

    assert said == refused.value.said


@pytest.mark.parametrize("name", [None, "z/z"])
def test_the_class_of_a_load_balancer_is_for_ever(name: str | None) -> None:
    """It can be neither changed nor cleared, and so the Service is replaced instead."""
    with pytest.raises(ClusterError, match="may not change once set") as refused:
        changed(LB, {"loadBalancerClass": name})

    assert (422, "FieldValueInvalid") == (refused.value.status, refused.value.cause)


def test_a_put_keeps_what_it_leaves_out() -> None:
    """A PUT of the stated fields alone changes nothing."""
    at = World(NOW)
    first = made(LB | {"externalTrafficPolicy": "Local"}, at)

    again = at.replace(
        SERVICE, service(LB | {"externalTrafficPolicy": "Local"}, meta={"uid": ""}), By.US
    )

    assert first.meta.resource_version == again.meta.resource_version


def test_node_ports_are_released_where_the_ports_are_sent_without_them() -> None:
    """The field alone does not let go of allocated ones. Source: endpoint-attachments 4.7."""
    kept = changed(LB, {"allocateLoadBalancerNodePorts": False})
    gone = changed(LB, {"allocateLoadBalancerNodePorts": False, "ports": [PORT]})

    assert [30000] == [port.get("nodePort") for port in kept.body["spec"]["ports"]]
    assert [None] == [port.get("nodePort") for port in gone.body["spec"]["ports"]]


def test_numbers_are_given_out_once() -> None:
    """Two ports of one number share a node port, as for DNS; nothing else is shared."""
    at = World(NOW)
    stated = {"port": 1, "name": "c", "nodePort": 30000}
    both = [PORT | {"name": "a"}, PORT | {"name": "b", "protocol": "UDP"}, stated]
    one = made({"type": "NodePort", "ports": both}, at).body["spec"]
    two = at.create(SERVICE, service(LB, "t"), By.OTHER).body["spec"]

    assert [30001, 30001, 30000, 30002] == [
        port["nodePort"] for port in (*one["ports"], *two["ports"])
    ]
    assert one["clusterIP"] != two["clusterIP"]


def test_a_service_of_another_cluster_can_be_seeded() -> None:
    """What `plan` reads may have other ranges, and one family where both are preferred."""
    at = World(NOW)
    one = {"ports": [PORT], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "PreferDualStack"}
    one |= {"clusterIP": "172.20.0.1", "clusterIPs": ["172.20.0.1"]}
    at.seed(service(one), SERVICE.ref("t", "s"))

    kept = at.merge(SERVICE.ref("t", "s"), {"spec": {"selector": {"a": "b"}}}, By.OTHER)

    assert ["172.20.0.1"] == kept.body["spec"]["clusterIPs"]


@pytest.mark.parametrize(
    ("stated", "families", "addresses"),
    [
        pytest.param({}, ["IPv4"], ["10.96.1.0"], id="one"),
        pytest.param({"ipFamilies": ["IPv6"]}, ["IPv6"], ["fd00:10:96::100"], id="the-other"),
        pytest.param(
            {"ipFamilyPolicy": "RequireDualStack"},
            ["IPv4", "IPv6"],
            ["10.96.1.0", "fd00:10:96::100"],
            id="both",
        ),
        pytest.param(
            {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv6"]},
            ["IPv6", "IPv4"],
            ["fd00:10:96::100", "10.96.1.0"],
            id="both-the-other-first",
        ),
    ],
)
def test_each_family_is_given_an_address(
    stated: dict[str, Any], families: list[str], addresses: list[str]
) -> None:
    """The server picks the order where a Service names none."""
    spec = made(LB | stated).body["spec"]

    assert (families, addresses) == (spec["ipFamilies"], spec["clusterIPs"])


def test_a_seeded_status_stays() -> None:
    """An endpoint slice has none; a load balancer's address gets the mode it has by default."""
    at = World(NOW)
    status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    seeded = at.seed(service(LB, status=status), SERVICE.ref("t", "s"))
    parts: dict[str, Any] = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]}
    at.seed(body(ENDPOINT_SLICE, "s-1", **parts), ENDPOINT_SLICE.ref("t", "s-1"))

    assert [{"ip": "192.0.2.1", "ipMode": "VIP"}] == (
        seeded.body["status"]["loadBalancer"]["ingress"]
    )
    with pytest.raises(ClusterError, match=r"may only be used when `spec\.type`"):
        at.seed(service({"ports": [PORT]}, status=status), SERVICE.ref("t", "other"))


def test_a_quota_counts_load_balancers_and_node_ports() -> None:
    """Also when a Service only becomes one; what is said of it names no object of another."""
    at = World(NOW)
    hard = {"services": "3", "services.loadbalancers": "1", "services.nodeports": "1"}
    at.create(QUOTA, body(QUOTA, "q", spec={"hard": hard}), By.OTHER)
    made(LOCAL, at)
    at.create(SERVICE, service({"ports": [PORT]}, "t"), By.OTHER)

    with pytest.raises(ClusterError) as refused:
        at.create(SERVICE, service(LB, "u"), By.US)
    two = [PORT | {"name": "a"}, {"port": 81, "name": "b"}]
    change = {"spec": {"type": "NodePort", "ports": two}}
    with pytest.raises(ClusterError, match=r"requested: services\.nodeports=2"):
        at.merge(SERVICE.ref("t", "t"), change, By.OTHER)

    assert (
        "Forbidden: exceeded quota: q, requested: services.loadbalancers=1,"
        " used: services.loadbalancers=1, limited: services.loadbalancers=1"
    ) == refused.value.said


def test_a_chosen_name_wins_over_a_generated_one() -> None:
    """It counts as minted, and a second creation says that the name is taken."""
    at = World(NOW)
    ours = Ours(at)
    at.create(SERVICE, service({"ports": [PORT]}, "first"), By.OTHER)
    wanted = service(LB, "a-7wn8l", meta={"generateName": "a-"})

    drive(ours.create(SERVICE, wanted))
    with pytest.raises(ClusterError, match="not able to generate a unique name") as taken:
        drive(ours.create(SERVICE, wanted))

    assert ["a-7wn8l"] == [ref.name for ref in at.minted]
    assert "AlreadyExists" == taken.value.reason
    assert "a-" == get(at, SERVICE, "a-7wn8l").body["metadata"]["generateName"]
