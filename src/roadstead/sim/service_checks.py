"""What a Service must not be, in the API server's own order and words.

A message here quotes the field it refuses, as the server's does: nothing of a Service is secret.
Source: Kubernetes 1.36, apis/core/validation; every answer was tried on the real server.
"""

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

from roadstead.kube import names
from roadstead.kube.refs import Ref
from roadstead.sim.validity import LABEL_TEXT, Problem, refusal

CLUSTER_IP, NODE_PORT, LOAD_BALANCER = "ClusterIP", "NodePort", "LoadBalancer"
EXTERNAL_NAME = "ExternalName"
SINGLE, REQUIRE_DUAL = "SingleStack", "RequireDualStack"
HEADLESS = "None"
NODE_PORTS = (30000, 32767)
_RANGES = (ip_network("10.96.0.0/16"), ip_network("fd00:10:96::/112"))
_PORTS = range(1, 65536)
_PORT_NAME_CHARACTERS = 15
_SHORTEST_DUAL = 2

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "type": (CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT),
    "sessionAffinity": ("ClientIP", "None"),
    "externalTrafficPolicy": ("Cluster", "Local"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "ipFamilyPolicy": ("PreferDualStack", REQUIRE_DUAL, SINGLE),
    "protocol": ("SCTP", "TCP", "UDP"),
}
_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with"
    " an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or"
    " '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'example.com', regex used for"
    r" validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_PORT_NAME_FAULTS = (
    (re.compile(r".{16}"), f"must be no more than {_PORT_NAME_CHARACTERS} characters"),
    (
        re.compile(r"[^-a-z0-9]"),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    ),
    (re.compile(r"^[^a-z]*$"), "must contain at least one letter (a-z)"),
    (re.compile(r"--"), "must not contain consecutive hyphens"),
    (re.compile(r"^-|-$"), "must not begin or end with a hyphen"),
)
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "port": int,
    "nodePort": int,
    "targetPort": (int, str),
    "protocol": str,
    "name": str,
    "appProtocol": str,
}


def any_backend(spec: Mapping[str, Any]) -> bool:
    """Tell whether a Service is headless and its endpoints are written by hand."""
    return spec.get("clusterIP") == HEADLESS and not spec.get("selector")


def reports_health(spec: Mapping[str, Any]) -> bool:
    """Tell whether nodes tell the load balancer if they have an endpoint."""
    return (spec.get("type"), spec.get("externalTrafficPolicy")) == (LOAD_BALANCER, "Local")


def check_types(ref: Ref, body: Mapping[str, Any]) -> None:
    """Refuse what cannot be read as a Service.

    Raises: ClusterError (400); its sentence names the field, the server's the Go type as well.
    """
    spec = body.get("spec") or {}
    wrong = list(_misshapen(spec))
    ports = () if wrong else spec.get("ports") or ()
    wrong += [
        f"spec.ports.{name}"
        for port in ports
        for name, known in _TYPES.items()
        if port.get(name) is not None
        and (isinstance(port[name], bool) or not isinstance(port[name], known))
    ]
    selector = () if wrong else (spec.get("selector") or {}).values()
    wrong += ["spec.selector" for one in selector if not isinstance(one, str)]
    if wrong:
        sentence = f'Service in version "v1" cannot be handled as a Service: {wrong[0]}'
        raise refusal(400, "BadRequest", ref, sentence)


def _misshapen(spec: Any) -> Iterator[str]:
    """The fields that are no map or no list of maps where they have to be."""
    if not isinstance(spec, Mapping):
        yield "spec"
        return
    ports = spec.get("ports") or []
    if not isinstance(ports, list) or not all(isinstance(port, Mapping) for port in ports):
        yield "spec.ports"
    if not isinstance(spec.get("selector") or {}, Mapping):
        yield "spec.selector"


def of_addresses(spec: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[Problem]:
    """Addresses and families that contradict each other."""
    if spec["type"] == EXTERNAL_NAME:
        return
    families, addresses = spec.get("ipFamilies", []), spec.get("clusterIPs", [])
    yield from _chosen(spec, "ipFamilyPolicy")
    for number, family in enumerate(families):
        field = f"spec.ipFamilies[{number}]"
        if family not in {"IPv4", "IPv6"}:
            yield field, _unsupported(family, ("IPv4", "IPv6"))
        elif family in families[:number]:
            yield field, f'Duplicate value: "{family}"'
    policy = spec.get("ipFamilyPolicy", SINGLE)
    for several, what in ((set(families), "IP families"), (addresses, "cluster IPs")):
        if len(several) >= _SHORTEST_DUAL and policy == SINGLE:
            text = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are"
            yield "spec.ipFamilyPolicy", _invalid(SINGLE, f"{text} specified")
    if len(families) == 1 and len(before.get("ipFamilies", ())) > 1 and policy != SINGLE:
        text = "must be 'SingleStack' to release the secondary IP family"
        yield "spec.ipFamilyPolicy", _invalid(policy, text)
    yield from _addresses(spec, addresses, families)


def _addresses(
    spec: Mapping[str, Any], addresses: list[str], families: list[str]
) -> Iterator[Problem]:
    if addresses and not spec.get("clusterIP"):
        yield (
            "spec.clusterIPs",
            _invalid(addresses, "must be empty when `clusterIP` is not specified"),
        )
    elif addresses and addresses[0] != spec["clusterIP"]:
        yield "spec.clusterIPs", _invalid(addresses, "first value must match `clusterIP`")
    for number, address in enumerate(addresses):
        if address == HEADLESS:
            continue
        family = family_of(address)
        wanted = families[number] if number < len(families) else family
        if not family:
            yield f"spec.clusterIPs[{number}]", _invalid(address, _NO_ADDRESS)
        elif family != wanted:
            text = f"expected an {wanted} value as indicated by `ipFamilies[{number}]`"
            yield f"spec.clusterIPs[{number}]", _invalid(address, text)


def of_ranges(spec: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[Problem]:
    """Stated addresses and node ports that are not this cluster's to give."""
    addresses = spec.get("clusterIPs", [])
    if addresses != before.get("clusterIPs") and spec["type"] != EXTERNAL_NAME:
        for address in addresses:
            if address != HEADLESS and not any(ip_address(address) in one for one in _RANGES):
                text = f"failed to allocate IP {address}: the provided network does not match the"
                yield "spec.clusterIPs", _invalid(addresses, f"{text} current range")
    first, last = NODE_PORTS
    for number, port in enumerate(spec.get("ports", ())):
        stated = port.get("nodePort")
        if stated and not first <= stated <= last:
            text = f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
            yield f"spec.ports[{number}].nodePort", _invalid(stated, text)


def of_change(spec: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[Problem]:
    """What a PUT must not change."""
    if not before:
        return
    was, now = before.get("clusterIPs"), spec.get("clusterIPs", [])
    if was and now[:1] != was[:1] and EXTERNAL_NAME not in {spec["type"], before["type"]}:
        yield "spec.clusterIPs[0]", _invalid(now, "may not change once set")
    both = spec["type"] == before["type"] == LOAD_BALANCER
    name = spec.get("loadBalancerClass")
    if both and name != before.get("loadBalancerClass"):
        yield "spec.loadBalancerClass", _invalid(name, "may not change once set")
    health = before.get("healthCheckNodePort")
    if both and health and reports_health(spec) and spec.get("healthCheckNodePort") != health:
        yield "spec.healthCheckNodePort", "Forbidden: field is immutable"


def of_spec(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a spec by itself."""
    kind, ports = spec["type"], spec.get("ports", [])
    headless = spec.get("clusterIP") == HEADLESS
    if not ports and not headless and kind != EXTERNAL_NAME:
        yield "spec.ports", "Required value"
    if headless and kind in {NODE_PORT, LOAD_BALANCER}:
        text = f"may not be set to 'None' for {kind} services"
        yield "spec.clusterIPs[0]", _invalid(HEADLESS, text)
    if kind == EXTERNAL_NAME:
        yield from _external_name(spec)
    for number, port in enumerate(ports):
        yield from _port(ports, number, port)
    yield from _selector(spec.get("selector") or {})
    yield from _chosen(spec, "sessionAffinity")
    yield from _chosen(spec, "type")
    yield from _repeated(kind, ports)
    yield from _of_load_balancers(spec)
    yield from _traffic(spec)


def _external_name(spec: Mapping[str, Any]) -> Iterator[Problem]:
    name = spec.get("externalName", "")
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            yield f"spec.{field}", "Forbidden: may not be set for ExternalName services"
    if not name:
        yield "spec.externalName", "Required value"
    elif not names.is_subdomain(name):
        yield "spec.externalName", _invalid(name, _SUBDOMAIN)


def _port(ports: list[dict[str, Any]], number: int, port: Mapping[str, Any]) -> Iterator[Problem]:
    at = f"spec.ports[{number}]"
    name, value, target = port.get("name", ""), port.get("port", 0), port.get("targetPort", 0)
    if not name and len(ports) > 1:
        yield f"{at}.name", "Required value"
    elif name:
        if len(name) > names.LABEL_CHARACTERS:
            yield f"{at}.name", _invalid(name, "must be no more than 63 characters")
        elif not names.is_label(name):
            yield f"{at}.name", _invalid(name, LABEL_TEXT)
        if name in {other.get("name") for other in ports[:number]}:
            yield f"{at}.name", f'Duplicate value: "{name}"'
    if value not in _PORTS:
        yield f"{at}.port", _invalid(value, "must be between 1 and 65535, inclusive")
    yield from _chosen(port, "protocol", at)
    if isinstance(target, str):
        faults = (text for found, text in _PORT_NAME_FAULTS if found.search(target))
        yield from ((f"{at}.targetPort", _invalid(target, text)) for text in faults)
    elif target not in _PORTS:
        yield f"{at}.targetPort", _invalid(target, "must be between 1 and 65535, inclusive")
    if "appProtocol" in port:
        yield from _qualified(f"{at}.appProtocol", port["appProtocol"])


def _selector(selector: Mapping[str, str]) -> Iterator[Problem]:
    for key, value in sorted(selector.items()):
        yield from _qualified("spec.selector", key)
        if len(value) > names.LABEL_VALUE_CHARACTERS:
            yield "spec.selector", _invalid(value, "must be no more than 63 bytes")
        elif not names.is_label_value(value):
            yield "spec.selector", _invalid(value, _VALUE)


def _repeated(kind: str, ports: list[dict[str, Any]]) -> Iterator[Problem]:
    if kind == CLUSTER_IP:
        for number, port in enumerate(ports):
            if "nodePort" in port:
                text = "Forbidden: may not be used when `type` is 'ClusterIP'"
                yield f"spec.ports[{number}].nodePort", text
    for number, port in enumerate(ports):
        pair = (port.get("protocol"), port.get("port"))
        if pair in [(other.get("protocol"), other.get("port")) for other in ports[:number]]:
            shown = {
                "Name": "",
                "Protocol": pair[0],
                "AppProtocol": None,
                "Port": pair[1] or 0,
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield f"spec.ports[{number}]", f"Duplicate value: {_json(shown)}"


def _of_load_balancers(spec: Mapping[str, Any]) -> Iterator[Problem]:
    for field in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
        if field in spec and spec["type"] != LOAD_BALANCER:
            yield f"spec.{field}", "Forbidden: may only be used when `type` is 'LoadBalancer'"
    if "loadBalancerClass" in spec and spec["type"] == LOAD_BALANCER:
        yield from _qualified("spec.loadBalancerClass", spec["loadBalancerClass"])


def _traffic(spec: Mapping[str, Any]) -> Iterator[Problem]:
    policy = spec.get("externalTrafficPolicy")
    if policy and spec["type"] not in {NODE_PORT, LOAD_BALANCER}:
        text = "may only be set for externally-accessible services"
        yield "spec.externalTrafficPolicy", _invalid(policy, text)
    else:
        yield from _chosen(spec, "externalTrafficPolicy")
    if spec.get("healthCheckNodePort") and not reports_health(spec):
        text = (
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        )
        yield "spec.healthCheckNodePort", _invalid(spec["healthCheckNodePort"], text)
    yield from _chosen(spec, "internalTrafficPolicy")


def of_status(status: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Problem]:
    """Addresses that a load balancer cannot have, or that something else has."""
    ingress = status["loadBalancer"].get("ingress") or []
    if ingress and spec["type"] != LOAD_BALANCER:
        text = "Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
        yield "status.loadBalancer.ingress", text
        return
    for number, one in enumerate(ingress):
        if one.get("ip") and not family_of(one["ip"]):
            place = f"status.loadBalancer.ingress[{number}].ip"
            yield place, _invalid(one["ip"], _NO_ADDRESS)


def _chosen(stated: Mapping[str, Any], field: str, at: str = "spec") -> Iterator[Problem]:
    value = stated.get(field)
    if value is not None and value not in _CHOICES[field]:
        yield f"{at}.{field}", _unsupported(value, _CHOICES[field])


def _qualified(field: str, value: str) -> Iterator[Problem]:
    if not value:
        yield field, _invalid(value, "name part must be non-empty")
    if not names.is_label_key(value):
        yield field, _invalid(value, _QUALIFIED)


def family_of(address: str) -> str:
    """The family of an address; empty for what is none."""
    try:
        return f"IPv{ip_address(address).version}"
    except ValueError:
        return ""


def _unsupported(value: Any, known: tuple[str, ...]) -> str:
    choices = ", ".join(f'"{one}"' for one in known)
    return f"Unsupported value: {_json(value)}: supported values: {choices}"


def _invalid(value: Any, text: str) -> str:
    return f"Invalid value: {_json(value)}: {text}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
