"""Who may open a connection to whom, judged from policy objects alone.

It knows what a native NetworkPolicy and a CiliumNetworkPolicy mean, and nothing of who wrote them.
What it does not know it refuses to judge: an unknown field is an error, never a guess.

Source: Kubernetes' NetworkPolicy reference; Cilium's "Layer 3" and "Layer 4" policy documents.
`tests/services/test_reach_foreign.py` holds it to the engines of other projects.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

Body = Mapping[str, Any]
NAMESPACE = "io.kubernetes.pod.namespace"
RESERVED = ("host", "ingress", "kube-apiserver", "remote-node")
_ENTITIES = {  # entity: the reserved identities it covers
    "host": {"host"},
    "ingress": {"ingress"},
    "kube-apiserver": {"kube-apiserver"},
    "remote-node": {"remote-node", "kube-apiserver"},  # a remote node that serves the API is both
    "world": set[str](),
    "cluster": {"host", "ingress", "kube-apiserver", "remote-node"},
    "all": set(RESERVED),
}
_ADDRESSES = {"world", "all"}  # entities that cover every address outside
_PODS = {"cluster", "all"}


@dataclass(frozen=True)
class End:
    """One end of a connection.

    labels: a pod's; the namespace is not among them. address: of an end outside the cluster, or of
    a pod where a native engine asks for one. reserved: one of RESERVED, for what is no pod.
    """

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    reserved: str = ""

    @property
    def outside(self) -> bool:
        """Neither pod nor part of the cluster."""
        return not self.namespace and not self.reserved


@dataclass(frozen=True)
class Flow:
    """One new connection."""

    source: End
    target: End
    port: int
    protocol: str = "TCP"

    def __str__(self) -> str:
        """As a finding names it."""
        return f"{self.source.name} -> {self.target.name}:{self.port}/{self.protocol}"


@dataclass(frozen=True)
class Verdict:
    """What each end says; a connection needs both."""

    egress: bool
    ingress: bool

    @property
    def allowed(self) -> bool:
        """Whether it comes about."""
        return self.egress and self.ingress


class UnknownMeaningError(Exception):
    """A policy says something that this evaluator does not know."""


class Policies:
    """A set of policies that holds for a cluster."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        """Read them; other kinds are an error."""
        self._rules: list[_Rule] = []
        self._held: dict[tuple[str, str], list[_Rule]] = {}
        for body in bodies:
            if body["kind"] == "NetworkPolicy":
                self._rules += _native(body)
            elif body["kind"] == "CiliumNetworkPolicy":
                self._rules += _cilium(body)
            else:
                raise UnknownMeaningError(body["kind"])

    def judge(self, flow: Flow) -> Verdict:
        """Tell what both ends say about a connection."""
        return Verdict(self._side(flow, "egress"), self._side(flow, "ingress"))

    def _side(self, flow: Flow, way: str) -> bool:
        subject, peer = (flow.source, flow.target)[:: 1 if way == "egress" else -1]
        if not subject.namespace:  # policies here speak of pods; nothing else is isolated
            return True
        if way == "ingress" and peer.reserved == "host":  # kubelet's probes are always let in
            return True
        held = self._held.get((way, subject.name))
        if held is None:
            held = [one for one in self._rules if one.way == way and one.subject.covers(subject)]
            self._held[way, subject.name] = held
        if not any(rule.isolates for rule in held):
            return True
        return any(rule.admits(peer, flow.port, flow.protocol) for rule in held)


@dataclass(frozen=True)
class _Selector:
    """Pods by labels. namespaces: by name; None is every one."""

    labels: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    namespaces: frozenset[str] | None = None

    def covers(self, end: End) -> bool:
        """Whether it selects a pod."""
        if not end.namespace or (
            self.namespaces is not None and end.namespace not in self.namespaces
        ):
            return False
        if any(end.labels.get(key) != value for key, value in self.labels):
            return False
        return all(_holds(end.labels, *term) for term in self.terms)


def _holds(labels: Mapping[str, str], key: str, operator: str, values: tuple[str, ...]) -> bool:
    there = labels.get(key)
    answers = {
        "In": there in values,
        "NotIn": there not in values,
        "Exists": there is not None,
        "DoesNotExist": there is None,
    }
    return answers[operator]


@dataclass(frozen=True)
class _Block:
    """Addresses outside the cluster; pods and nodes never match one."""

    cidr: str
    excepted: tuple[str, ...] = ()

    def covers(self, end: End) -> bool:
        """Whether it holds an address."""
        if not end.outside:
            return False
        address = ip_address(end.address)
        return address in ip_network(self.cidr) and not any(
            address in ip_network(one) for one in self.excepted
        )


@dataclass(frozen=True)
class _Entity:
    name: str

    def covers(self, end: End) -> bool:
        """Whether an end is of it."""
        if end.reserved:
            return end.reserved in _ENTITIES[self.name]
        return self.name in (_ADDRESSES if end.outside else _PODS)


@dataclass(frozen=True)
class _Rule:
    """One rule in one direction.

    isolates: whether it turns its subject to deny by default. peers: None is everyone.
    ports: (first, last, protocol), a first of 0 is every port; None is all of all protocols.
    """

    way: str
    subject: _Selector
    isolates: bool
    peers: tuple[_Selector | _Block | _Entity, ...] | None
    ports: tuple[tuple[int, int, str], ...] | None = None

    def admits(self, peer: End, port: int, protocol: str) -> bool:
        """Whether it lets a peer through."""
        there = self.peers is None or any(one.covers(peer) for one in self.peers)
        if not there or self.ports is None:
            return there
        return any(
            named in {protocol, "ANY"} and (first == 0 or first <= port <= last)
            for first, last, named in self.ports
        )


def _only(body: Body, *known: str) -> None:
    if left := set(body) - set(known):
        raise UnknownMeaningError(f"{sorted(left)} in {dict(body)}")


def _terms(selector: Body) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple(
        (one["key"], one["operator"], tuple(one.get("values", ())))
        for one in selector.get("matchExpressions", ())
    )


def _native(body: Body) -> list[_Rule]:
    spec, home = body["spec"], body["metadata"]["namespace"]
    _only(spec, "podSelector", "policyTypes", "ingress", "egress")
    subject = _pods(spec["podSelector"], frozenset({home}))
    given = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    rules = []
    for way, side in (("ingress", "from"), ("egress", "to")):
        if way.capitalize() not in given:
            continue
        rules.append(_Rule(way, subject, isolates=True, peers=()))
        for rule in spec.get(way) or ():
            _only(rule, side, "ports")
            # A list of peers that is empty or missing is everyone, unlike Cilium's.
            peers = tuple(_peer(one, home) for one in rule.get(side) or ()) or None
            ports = tuple(_native_port(one) for one in rule.get("ports") or ()) or None
            rules.append(_Rule(way, subject, isolates=True, peers=peers, ports=ports))
    return rules


def _pods(selector: Body, namespaces: frozenset[str] | None) -> _Selector:
    _only(selector, "matchLabels", "matchExpressions")
    labels = tuple((selector.get("matchLabels") or {}).items())
    return _Selector(labels, _terms(selector), namespaces)


def _peer(peer: Body, home: str) -> _Selector | _Block:
    _only(peer, "podSelector", "namespaceSelector", "ipBlock")
    if block := peer.get("ipBlock"):
        return _Block(block["cidr"], tuple(block.get("except") or ()))
    pods = peer.get("podSelector") or {}
    if "namespaceSelector" not in peer:
        return _pods(pods, frozenset({home}))
    named = peer["namespaceSelector"]
    _only(named, "matchLabels")
    labels = dict(named.get("matchLabels") or {})
    if set(labels) - {"kubernetes.io/metadata.name"}:
        raise UnknownMeaningError(f"labels of namespaces: {labels}")
    return _pods(pods, frozenset(labels.values()) if labels else None)


def _native_port(port: Body) -> tuple[int, int, str]:
    _only(port, "port", "endPort", "protocol")
    first = port.get("port", 0)
    if not isinstance(first, int):
        raise UnknownMeaningError(f"named port {first}")
    return first, port.get("endPort", first), port.get("protocol", "TCP")


def _cilium(body: Body) -> list[_Rule]:
    spec, home = body["spec"], body["metadata"]["namespace"]
    _only(spec, "endpointSelector", "ingress", "egress", "enableDefaultDeny", "description")
    subject = _endpoints(spec["endpointSelector"], home)
    stated = spec.get("enableDefaultDeny") or {}
    rules = []
    for way, side in (("ingress", "from"), ("egress", "to")):
        # A rule section without entries is no section: it isolates nobody.
        for rule in spec.get(way) or ():
            isolates = stated.get(way, True)
            peers = _cilium_peers(rule, side, home)
            ports = _cilium_ports(rule.get("toPorts"))
            rules.append(_Rule(way, subject, isolates, peers, ports))
    return rules


def _endpoints(selector: Body, home: str) -> _Selector:
    """Read an endpoint selector; one that names no namespace means the policy's own."""
    _only(selector, "matchLabels", "matchExpressions")
    labels = {_key(key): value for key, value in (selector.get("matchLabels") or {}).items()}
    terms = tuple((_key(key), how, values) for key, how, values in _terms(selector))
    namespaces: frozenset[str] | None = frozenset({labels.pop(NAMESPACE, home)})
    for key, operator, values in terms:
        if key == NAMESPACE:
            namespaces = {"In": frozenset(values), "Exists": None}[operator]
    kept = tuple(term for term in terms if term[0] != NAMESPACE)
    return _Selector(tuple(labels.items()), kept, namespaces)


def _key(key: str) -> str:
    source, colon, rest = key.partition(":")
    if not colon:
        return key
    if source not in {"k8s", "any"}:
        raise UnknownMeaningError(f"labels of source {source}")
    return rest


def _cilium_peers(
    rule: Body, side: str, home: str
) -> tuple[_Selector | _Block | _Entity, ...] | None:
    endpoints, entities, cidrs, sets = (
        f"{side}{what}" for what in ("Endpoints", "Entities", "CIDR", "CIDRSet")
    )
    _only(rule, endpoints, entities, cidrs, sets, "toPorts")
    if not any(key in rule for key in (endpoints, entities, cidrs, sets)):
        return None
    found: Sequence[_Selector | _Block | _Entity] = [
        *(_endpoints(one, home) for one in rule.get(endpoints) or ()),
        *(_Entity(one) for one in rule.get(entities) or ()),
        *(_Block(one) for one in rule.get(cidrs) or ()),
        *(_Block(one["cidr"], tuple(one.get("except") or ())) for one in rule.get(sets) or ()),
    ]
    return tuple(found)


def _cilium_ports(given: Sequence[Body] | None) -> tuple[tuple[int, int, str], ...] | None:
    if not given:
        return None
    found = []
    for one in given:
        _only(one, "ports", "rules")
        if set(one.get("rules") or {}) - {"dns"}:  # a DNS rule looks into lookups, it blocks none
            raise UnknownMeaningError(f"rules {one['rules']}")
        for port in one["ports"]:
            _only(port, "port", "endPort", "protocol")
            first = int(port["port"])
            found.append((first, port.get("endPort", first), port.get("protocol", "ANY")))
    return tuple(found)


def request(bodies: Iterable[Body], flows: Sequence[Flow]) -> dict[str, Any]:
    """The same question as the foreign tools take it."""
    ends = {one.name: one for flow in flows for one in (flow.source, flow.target)}
    return {
        "policies": list(bodies),
        "ends": {
            name: {
                "namespace": one.namespace,
                "labels": dict(one.labels),
                "address": one.address,
                "reserved": one.reserved,
            }
            for name, one in sorted(ends.items())
        },
        "flows": [
            {
                "from": flow.source.name,
                "to": flow.target.name,
                "port": flow.port,
                "protocol": flow.protocol,
            }
            for flow in flows
        ],
    }
