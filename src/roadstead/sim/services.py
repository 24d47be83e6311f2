"""Services as the API server completes them: defaults, what a PUT left out, what is allocated.

The cluster is the development control plane: it serves both families, IPv4 first, and has one
range of each. What a Service must not be is in `service_checks`.
Left out, since nobody here writes it: externalIPs, what a stated nodePort or clusterIP collides
with, the ends of the ranges, pruning of fields that no Service has, and metadata that a PUT to the
status may change.
Source: Kubernetes 1.36, registry/core/service; every answer was tried on the real server.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.sim import service_checks as checks
from roadstead.sim.service_checks import (
    CLUSTER_IP,
    EXTERNAL_NAME,
    HEADLESS,
    LOAD_BALANCER,
    NODE_PORT,
    REQUIRE_DUAL,
    SINGLE,
    any_backend,
    reports_health,
)
from roadstead.sim.validity import Problem, invalid_all

Spec = dict[str, Any]

_INTERNAL = frozenset({CLUSTER_IP, NODE_PORT, LOAD_BALANCER})
_EXTERNAL = frozenset({NODE_PORT, LOAD_BALANCER})
_OF_TYPES: Mapping[str, tuple[frozenset[str], Any]] = {
    "internalTrafficPolicy": (_INTERNAL, "Cluster"),
    "externalTrafficPolicy": (_EXTERNAL, "Cluster"),
    "allocateLoadBalancerNodePorts": (frozenset({LOAD_BALANCER}), True),
    "loadBalancerClass": (frozenset({LOAD_BALANCER}), None),
    "clusterIP": (_INTERNAL, None),
    "clusterIPs": (_INTERNAL, None),
    "ipFamilies": (_INTERNAL, None),
    "ipFamilyPolicy": (_INTERNAL, None),
}
"""Which types have a field, and its default. A field that is left as it was goes with its type."""
_POINTERS = frozenset({"allocateLoadBalancerNodePorts", "loadBalancerClass"})
"""Their zero value is a value; anywhere else it is absent."""
_AFFINITY_SECONDS = 10800
_FIRST_ADDRESS = 256
"""The first of 10.96.0.0/16 that is given out: 10.96.1.0."""


class Services:
    """Completes Services, and gives out addresses and ports in order, each once."""

    def __init__(self) -> None:
        """Nothing is given out yet."""
        self._addresses = 0
        self._ports = 0
        self._stated: set[int] = set()

    def completed(
        self, ref: Ref, body: Mapping[str, Any], old: Object | None, *, seeded: bool = False
    ) -> dict[str, Any]:
        """A Service as it is stored, its status too.

        seeded: it may come from a cluster with other ranges, or with one family.
        Raises: ClusterError (400, 422) in the words of the API server.
        """
        checks.check_types(ref, body)
        spec = _lean(copy.deepcopy(body.get("spec") or {}))
        before: Spec = (old.body.get("spec") or {}) if old else {}
        _default(spec)
        _inherit(spec, before)
        refuse(ref, checks.of_addresses(spec, before))
        if not seeded:
            refuse(ref, checks.of_ranges(spec, before))
        if spec["type"] != EXTERNAL_NAME and not (seeded and spec.get("ipFamilies")):
            _choose_families(spec, before)
        refuse(ref, [*checks.of_change(spec, before), *checks.of_spec(spec)])
        status = _status(body.get("status") or {}, spec, before)
        refuse(ref, checks.of_status(status, spec))
        self._allocate(spec)
        return {**body, "spec": spec, "status": status}

    def _allocate(self, spec: Spec) -> None:
        if spec["type"] != EXTERNAL_NAME and spec.get("clusterIP") != HEADLESS:
            given = spec.get("clusterIPs", [])
            if len(given) < len(spec["ipFamilies"]):
                number = _FIRST_ADDRESS + self._addresses % (2**16 - _FIRST_ADDRESS)
                self._addresses += 1
                made = {
                    "IPv4": f"10.96.{number >> 8}.{number & 255}",
                    "IPv6": f"fd00:10:96::{number:x}",
                }
                given = [*given, *(made[one] for one in spec["ipFamilies"][len(given) :])]
            spec["clusterIP"], spec["clusterIPs"] = given[0], given
        self._stated |= {port["nodePort"] for port in spec.get("ports", ()) if "nodePort" in port}
        if needs_node_ports(spec):
            numbers: dict[int, int] = {}
            for port in spec["ports"]:
                # One number serves both protocols of a port.
                number = port.get("nodePort") or numbers.get(port["port"]) or self._next_port()
                port["nodePort"] = numbers[port["port"]] = number
        if reports_health(spec) and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = self._next_port()

    def _next_port(self) -> int:
        first, last = checks.NODE_PORTS
        while True:
            number = first + self._ports % (last - first + 1)
            self._ports += 1
            if number not in self._stated:
                return number


def needs_node_ports(spec: Mapping[str, Any]) -> bool:
    """Tell whether every port of a Service is given a node port."""
    kind = spec.get("type")
    wanted = spec.get("allocateLoadBalancerNodePorts", True)
    return kind == NODE_PORT or (kind == LOAD_BALANCER and wanted)


def charges(spec: Mapping[str, Any]) -> dict[str, int]:
    """What a ResourceQuota counts of a Service beside the object itself."""
    ports = spec.get("ports") or ()
    stated = sum(1 for port in ports if port.get("nodePort"))
    return {
        "services.loadbalancers": int(spec.get("type") == LOAD_BALANCER),
        "services.nodeports": len(ports) if needs_node_ports(spec) else stated,
    }


def refuse(ref: Ref, problems: Iterable[Problem]) -> None:
    """Refuse a Service that has problems, all of them at once."""
    found = list(problems)
    if found:
        raise invalid_all(ref, found)


def _lean(spec: Mapping[str, Any]) -> Spec:
    """A spec without what the server does not tell from absent."""
    kept = {k: v for k, v in spec.items() if v or (k in _POINTERS and v is not None)}
    if "ports" in kept:
        kept["ports"] = [{k: v for k, v in port.items() if v} for port in kept["ports"]]
    return kept


def _default(spec: Spec) -> None:
    spec.setdefault("type", CLUSTER_IP)
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "ClientIP":
        seconds = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
        spec.setdefault("sessionAffinityConfig", seconds)
    elif spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port.get("port", 0))
    for field, (types, value) in _OF_TYPES.items():
        if value is not None and spec["type"] in types:
            spec.setdefault(field, value)


def _inherit(spec: Spec, before: Spec) -> None:
    """Take from the stored Service what a PUT left out, and let go what its type had."""
    if not before:
        if spec.get("clusterIP"):
            spec.setdefault("clusterIPs", [spec["clusterIP"]])
        return
    kind, was = spec["type"], before["type"]
    for field, (types, _) in _OF_TYPES.items():
        if was in types and kind not in types and spec.get(field) == before.get(field):
            spec.pop(field, None)
    if kind in _INTERNAL and was in _INTERNAL:
        _inherit_addresses(spec, before)
        _inherit_families(spec, before)
    _inherit_node_ports(spec, before)
    health = before.get("healthCheckNodePort")
    if health and reports_health(spec):
        spec.setdefault("healthCheckNodePort", health)
    elif health and spec.get("healthCheckNodePort") == health:
        spec.pop("healthCheckNodePort")


def _inherit_addresses(spec: Spec, before: Spec) -> None:
    stated, was = spec.get("clusterIP"), before.get("clusterIP")
    same = spec.get("clusterIPs") == before.get("clusterIPs")
    if stated and stated != was and same:
        spec["clusterIPs"] = [stated]
    elif not stated and was and (same or "clusterIPs" not in spec):
        spec["clusterIP"], spec["clusterIPs"] = was, list(before["clusterIPs"])
    elif stated == was and was:
        spec.setdefault("clusterIPs", list(before["clusterIPs"]))


def _inherit_families(spec: Spec, before: Spec) -> None:
    """Keep the families, or let the second one go with the policy that had asked for it."""
    for field in ("ipFamilyPolicy", "ipFamilies"):
        if field in before:
            spec.setdefault(field, copy.deepcopy(before[field]))
    if spec.get("ipFamilyPolicy") == SINGLE != before.get("ipFamilyPolicy"):
        for field in ("clusterIPs", "ipFamilies"):
            if field in before and spec.get(field) == before[field]:
                spec[field] = before[field][:1]


def _inherit_node_ports(spec: Spec, before: Spec) -> None:
    """Find the node port of a port by its name, unless another port of the PUT has it."""
    stated = _node_ports(spec) == _node_ports(before)
    if before["type"] in _EXTERNAL and spec["type"] not in _EXTERNAL and stated:
        for port in spec.get("ports", ()):
            port.pop("nodePort", None)
    if not (needs_node_ports(before) and needs_node_ports(spec)):
        return
    used = set(_node_ports(spec)) & set(_node_ports(before))
    known = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports", ())}
    for port in spec.get("ports", ()):
        number = known.get(port.get("name", ""), 0)
        if not port.get("nodePort") and number and number not in used:
            port["nodePort"] = number


def _node_ports(spec: Spec) -> list[int]:
    return [port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")]


def _choose_families(spec: Spec, before: Spec) -> None:
    policy = spec.setdefault("ipFamilyPolicy", REQUIRE_DUAL if any_backend(spec) else SINGLE)
    fields = ("ipFamilyPolicy", "ipFamilies")
    if before and all(spec.get(field) == before.get(field) for field in fields):
        return
    given = filter(None, map(checks.family_of, spec.get("clusterIPs", ())))
    stated = spec.get("ipFamilies") or list(given)
    both = dict.fromkeys([*stated, "IPv4", "IPv6"])
    spec["ipFamilies"] = list(both) if policy != SINGLE else stated or ["IPv4"]


def _status(stated: Mapping[str, Any], spec: Spec, before: Spec) -> dict[str, Any]:
    """A status with its defaults; what stops being a load balancer loses its addresses."""
    balancer = {k: v for k, v in (stated.get("loadBalancer") or {}).items() if v}
    if before.get("type") == LOAD_BALANCER != spec["type"]:
        balancer = {}
    if "ingress" in balancer:
        balancer["ingress"] = [
            {**one, "ipMode": one.get("ipMode") or "VIP"} if one.get("ip") else one
            for one in balancer["ingress"]
        ]
    return {**{k: v for k, v in stated.items() if v}, "loadBalancer": balancer}
