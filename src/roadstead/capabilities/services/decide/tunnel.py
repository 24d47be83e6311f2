"""Invariant I-4: the VPN class is enforced outside the workload, in both modes.

Source: contract 3.4, 4.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roadstead.capabilities.services.api.kinds import (
    CILIUM_POLICY,
    DEPLOYMENT,
    EGRESS_GATEWAY_POLICY,
    STATEFUL_SET,
)
from roadstead.capabilities.services.api.parts import VPN
from roadstead.capabilities.services.render.part import Rendered, selector
from roadstead.capabilities.services.snapshot import Snapshot

Fault = tuple[Rendered | None, str]

_RESOLVER = "allow-dns"


def vpn_is_enforced(seen: Snapshot, objects: Sequence[Rendered]) -> Iterator[Fault]:
    """What is wrong with a service of the VPN class: the object, None for a missing one, and why.

    Only what selects the main pods counts: the importer of a vm, or oauth2-proxy, is another pod.
    """
    if seen.service.egress != VPN:
        return
    main = selector(seen)
    for one in objects:
        if one.kind == CILIUM_POLICY and _selects(one, main):
            yield from _egress(seen, one)
        if one.kind in {DEPLOYMENT, STATEFUL_SET} and one.name == seen.service.name:
            yield from _pod(one)
    yield from _gateway(seen, objects, main)


def _selects(one: Rendered, main: Mapping[str, str]) -> bool:
    labels = one.body["spec"].get("endpointSelector", {}).get("matchLabels", {})
    return one.namespace != "" and all(main.get(key) == value for key, value in labels.items())


def _egress(seen: Snapshot, one: Rendered) -> Iterator[Fault]:
    vpn = seen.platform.egress.vpn
    for rule in one.body["spec"].get("egress", ()):
        entities = rule.get("toEntities", ())
        if entities and one.name != _RESOLVER:
            yield one, f"{one.path} reaches entity {', '.join(entities)}"
        ranges = [*rule.get("toCIDRSet", ()), *({"cidr": cidr} for cidr in rule.get("toCIDR", ()))]
        if ranges and vpn.mode == "proxy":
            yield one, f"{one.path} has addresses although the VPN is a proxy"
        elif ranges and not all(_allowed(seen, found) for found in ranges):
            yield one, f"{one.path} has addresses beyond the internet"
        for key in ("toFQDNs", "toServices", "toNodes", "toGroups"):
            if rule.get(key):
                yield one, f"{one.path} has `{key}`"


def _allowed(seen: Snapshot, found: Mapping[str, Any]) -> bool:
    """Whether a range is the internet without its exceptions, of a family the tunnel takes."""
    egress = seen.platform.egress
    excepted = tuple(found.get("except", ()))
    if found["cidr"] == "0.0.0.0/0":
        return excepted == egress.except_v4
    return found["cidr"] == "::/0" and egress.vpn.ipv6 and excepted == egress.except_v6


def _pod(one: Rendered) -> Iterator[Fault]:
    pod = one.body["spec"]["template"]["spec"]
    if pod.get("hostNetwork"):
        yield one, "the pod uses the node's network"
    if len(pod.get("containers", ())) != 1:
        yield one, "the pod has more than one container"
    if pod.get("initContainers"):
        yield one, "the pod has an init container"


def _gateway(
    seen: Snapshot, objects: Sequence[Rendered], main: Mapping[str, str]
) -> Iterator[Fault]:
    found = [one for one in objects if one.kind == EGRESS_GATEWAY_POLICY]
    if seen.platform.egress.vpn.mode == "proxy":
        yield from ((one, f"{one.path} is steered beside the proxy") for one in found)
        return
    if len(found) != 1:
        yield None, f"there are {len(found)} egress gateway policies"
    expected = {"io.kubernetes.pod.namespace": seen.service.name, **main}
    for one in found:
        selectors = one.body["spec"].get("selectors", ())
        labels = [part.get("podSelector", {}).get("matchLabels") for part in selectors]
        if labels != [expected]:
            yield one, f"{one.path} does not select exactly the service's pods"
        if one.body["spec"].get("excludedCIDRs"):
            yield one, f"{one.path} lets addresses around the tunnel"
