"""Rules of what was rendered, so that a fault of the renderer itself is found as well.

Source: contract 4.1 and 4.2, the checks marked *out*.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.kinds import (
    CILIUM_POLICY,
    HTTP_ROUTE,
    NETWORK_POLICY,
)
from roadstead.capabilities.services.decide.tunnel import vpn_is_enforced
from roadstead.capabilities.services.render.effective import Output
from roadstead.capabilities.services.render.part import DISABLED, SUBSTITUTE, Rendered
from roadstead.capabilities.services.snapshot import Snapshot

LARGEST = 1_000_000
_BASELINE = "default-deny"
_NATIVE = {
    "podSelector": {},
    "policyTypes": ["Ingress", "Egress"],
    "ingress": [],
    "egress": [],
}
_CILIUM = {
    "endpointSelector": {},
    "enableDefaultDeny": {"ingress": True, "egress": True},
    "ingress": [{"fromEntities": []}],
    "egress": [{"toEntities": []}],
}
_EVERYTHING = frozenset({"all", "cluster"})
_NODES = frozenset({"host", "remote-node"})
_DIRECTIONS = ("ingress", "egress", "ingressDeny", "egressDeny")
_PEERS = ("Endpoints", "Entities", "CIDR", "CIDRSet", "Services", "FQDNs", "Nodes", "Groups")
Named = tuple[str, str, str, str]
"""Group, kind, namespace and name."""

_ISSUERS = frozenset({"Issuer", "ClusterIssuer"})


def judge_output(seen: Snapshot, output: Output) -> Iterator[Finding]:
    """Everything there is to say of what one service was rendered to, but its schemas."""
    objects = output.effective
    for service, detail in baseline_faults(seen, objects):
        message = f"baseline of namespace {seen.service.name} is missing or changed: {detail}"
        yield _found("I-3", service or _first(seen, objects), message)
    for cause, detail in vpn_is_enforced(seen, objects):
        message = f"egress class vpn is not enforced outside the workload: {detail}"
        yield _found("I-4", cause or _first(seen, objects), message)
    yield from _tls(seen, objects)
    for one in objects:
        if one.kind == CILIUM_POLICY:
            yield from _entities(seen, one)
            yield from _rules(one)
    for one in output.folder:
        encoded = _encoded(one.body)
        if b"${" in encoded:
            yield from _substitution(seen, one)
        if len(encoded) > LARGEST:
            yield _found("P-SIZE-01", one, f"{one.path} exceeds {LARGEST} bytes as JSON")


def _encoded(body: Mapping[str, Any]) -> bytes:
    """An object as JSON; a text with a note counts as the text."""
    return msgspec.json.encode(body, enc_hook=str)


def _first(seen: Snapshot, objects: Sequence[Rendered]) -> Rendered:
    """Any object of the service, for the place of a finding about one that is missing."""
    return next((one for one in objects if one.cause is seen.service), objects[0])


def _found(check: str, one: Rendered, message: str) -> Finding:
    place = one.cause.place(one.field)
    return Finding(CHECKS[check].severity, check, one.cause.name, message, place)


def baseline_faults(
    seen: Snapshot, objects: Iterable[Rendered]
) -> Iterator[tuple[Rendered | None, str]]:
    """I-3: exactly one baseline, exactly as it must be, and nothing that takes from it."""
    name = seen.service.name
    policies = [one for one in objects if one.kind in {NETWORK_POLICY, CILIUM_POLICY}]
    baselines = [one for one in policies if (one.namespace, one.name) == (name, _BASELINE)]
    if len(baselines) != 1:
        yield None, f"there are {len(baselines)} objects {_BASELINE}"
    for one in baselines:
        expected = _NATIVE if one.kind == NETWORK_POLICY else _CILIUM
        if one.body.get("spec") != expected:
            yield one, f"{one.path} is not the deny of everything"
    for one in policies:
        if one in baselines:
            continue
        if one.kind == NETWORK_POLICY:
            yield one, f"{one.path} is another NetworkPolicy beside it"
        elif "enableDefaultDeny" in one.body.get("spec", {}):
            yield one, f"{one.path} sets `enableDefaultDeny`"


def _tls(seen: Snapshot, objects: Iterable[Rendered]) -> Iterator[Finding]:
    """I-5: no certificate of our own making, and every route on a listener that has one."""
    domain = seen.platform.domain
    for one in objects:
        kind, body = one.kind.kind, one.body
        if kind in _ISSUERS or (kind == "Secret" and body.get("type") == "kubernetes.io/tls"):
            yield _found("I-5", one, f"{one.path} is a certificate of its own making")
        if one.kind != HTTP_ROUTE:
            continue
        spec = body["spec"]
        for host in spec.get("hostnames", ()):
            label, _, parent = host.partition(".")
            attached = all(_attached(seen, one, ref) for ref in spec.get("parentRefs", ()))
            if not label or parent != domain or not attached or not spec.get("parentRefs"):
                message = f"host {host} is not covered by the wildcard certificate"
                yield _found("I-5", one, message)


def _attached(seen: Snapshot, one: Rendered, ref: Mapping[str, Any]) -> bool:
    """Whether a parent is a TLS listener of the Gateway, or the route's own ListenerSet."""
    gateway = seen.platform.gateway
    section = ref.get("sectionName", "")
    if ref.get("kind") == "ListenerSet":
        label: str = one.body["spec"]["hostnames"][0].partition(".")[0]
        return (ref.get("name"), section) == (label, label)
    named = (ref.get("name"), ref.get("namespace")) == (gateway.name, gateway.namespace)
    return named and section in {gateway.https_listener, gateway.public_listener or None}


def _entities(seen: Snapshot, one: Rendered) -> Iterator[Finding]:
    """P-NET-04."""
    direct = f"{seen.service.name}-allow-direct-ingress"
    for direction, rule in _each_rule(one):
        for key, value in rule.items():
            if not key.endswith("Entities"):
                continue
            for entity in value:
                wrong = (
                    entity in _EVERYTHING
                    or (entity == "world" and (one.name != direct or direction != "ingress"))
                    or (entity in _NODES and one.name != "allow-dns")
                )
                if wrong:
                    message = f"{one.path} has entity {entity} in {direction}"
                    yield _found("P-NET-04", one, message)


def _rules(one: Rendered) -> Iterator[Finding]:
    """P-NET-05."""
    spec = one.body.get("spec", {})
    for direction in _DIRECTIONS:
        if spec.get(direction) == []:
            yield _found("P-NET-05", one, f"{one.path} has an empty list `{direction}`")
    for direction, rule in _each_rule(one):
        if not rule:
            yield _found("P-NET-05", one, f"{one.path} has an empty rule in {direction}")
            continue
        side = "from" if direction.startswith("ingress") else "to"
        peers = [rule[side + peer] for peer in _PEERS if side + peer in rule]
        if one.name != _BASELINE and not any(peers):
            yield _found("P-NET-05", one, f"{one.path} has a rule without peers in {direction}")
        for ports in rule.get("toPorts", [{"ports": [True]}]) or [{}]:
            if not ports.get("ports"):
                message = f"{one.path} has an empty port list in {direction}"
                yield _found("P-NET-05", one, message)


def _each_rule(one: Rendered) -> Iterator[tuple[str, Mapping[str, Any]]]:
    spec = one.body.get("spec", {})
    for direction in _DIRECTIONS:
        for rule in spec.get(direction, ()):
            yield direction, rule


def _substitution(seen: Snapshot, one: Rendered) -> Iterator[Finding]:
    """P-SUB-01: an unprotected object holds no variable but the platform's own."""
    if one.body["metadata"].get("annotations", {}).get(SUBSTITUTE) == DISABLED:
        return
    own = seen.platform.storage.bulk_server
    for text in _texts(one.body):
        if "${" in (text.replace(own, "") if own.startswith("${") else text):
            message = f"{one.path} holds a text with `${{` that Flux would replace"
            yield _found("P-SUB-01", one, message)
            return


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield key
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def repeated_objects(outputs: Iterable[Output]) -> Iterator[Finding]:
    """P-CAT-04, over everything that is rendered; told on the later of two.

    Of the objects only their names are kept, since there may be many.
    """
    first: dict[Named, str] = {}
    for output in outputs:
        for key, one in zip(names_of(output), output.folder, strict=True):
            cause = f"{one.cause.name} `{one.field}`"
            if key in first:
                message = f"{one.path} is rendered twice, for {first[key]} and for {cause}"
                yield _found("P-CAT-04", one, message)
            else:
                first[key] = cause


def names_of(output: Output) -> Iterator[Named]:
    """What no two objects of all folders may share, of each in a folder."""
    for one in output.folder:
        yield (one.kind.group, one.kind.kind, one.namespace, one.name)
