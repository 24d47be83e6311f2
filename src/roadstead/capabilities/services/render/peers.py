"""Parts of Cilium policies: peers, ports, and the policy around them.

In peers of another namespace keys carry the source prefix `k8s:` and name the namespace: without
it Cilium silently scopes a selector to the policy's own. Ports are strings.
Source: contract 3.1 and 3.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roadstead.capabilities.services.api.kinds import CILIUM_POLICY
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.parts import TCP
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.render.part import (
    MAIN,
    POLICY_FILE,
    Rendered,
    in_order,
    pair,
    rendered,
)
from roadstead.capabilities.services.render.roles import Role
from roadstead.capabilities.services.snapshot import Snapshot

_NAMESPACE = "k8s:io.kubernetes.pod.namespace"

Rule = Mapping[str, Any]


def policy(
    seen: Snapshot,
    name: str,
    selects: Mapping[str, str],
    *,
    field: str,
    role: Role,
    ingress: Sequence[Rule] = (),
    egress: Sequence[Rule] = (),
    cause: Service | None = None,
) -> Rendered:
    """One CiliumNetworkPolicy. selects: labels of the pods it is about; empty for all."""
    spec: dict[str, Any] = {
        "endpointSelector": {"matchLabels": dict(selects)} if selects else {},
    }
    if ingress:
        spec["ingress"] = list(ingress)
    if egress:
        spec["egress"] = list(egress)
    return rendered(
        seen,
        CILIUM_POLICY,
        name,
        file=POLICY_FILE,
        field=field,
        role=role,
        rest={"spec": spec},
        cause=cause,
    )


def pods(namespace: str, labels: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Peers: the pods of a namespace that carry the labels; all of them without any."""
    keyed = {f"k8s:{key}": value for key, value in (labels or {}).items()}
    return [{"matchLabels": in_order({_NAMESPACE: namespace, **keyed})}]


def of_service(platform: Platform, name: str, component: str = MAIN) -> list[dict[str, Any]]:
    """Peers: the pods of a catalog service."""
    return pods(name, pair(platform, name, component))


def ports(wanted: Iterable[tuple[int, str]]) -> list[dict[str, Any]]:
    """The `toPorts` of a rule, in the order given."""
    return [{"ports": [{"port": str(port), "protocol": protocol} for port, protocol in wanted]}]


def tcp(numbers: Iterable[int]) -> list[dict[str, Any]]:
    """The `toPorts` of TCP ports."""
    return ports((number, TCP) for number in numbers)


def from_gateway(platform: Platform) -> dict[str, Any]:
    """The source of what comes through the shared Gateway."""
    gateway = platform.gateway
    if gateway.dataplane == "pods":
        return {"fromEndpoints": pods(gateway.namespace, gateway.pod_labels)}
    return {"fromEntities": ["ingress"]}


def internet(platform: Platform, *, ipv6: bool) -> dict[str, Any]:
    """What is neither LAN nor cluster. `world` would hold the LAN as well. Source: 3.4."""
    egress = platform.egress
    ranges = [_range("0.0.0.0/0", egress.except_v4)]
    if ipv6:
        ranges.append(_range("::/0", egress.except_v6))
    return {"toCIDRSet": ranges}


def _range(cidr: str, without: Sequence[str]) -> dict[str, Any]:
    return {"cidr": cidr, "except": list(without)} if without else {"cidr": cidr}
