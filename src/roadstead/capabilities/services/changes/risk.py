"""What a change of an object risks, in one word. Source: contract 5.3, `service diff`."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from roadstead.capabilities.services.api import kinds
from roadstead.capabilities.services.changes.fields import Change
from roadstead.capabilities.services.changes.objects import Held
from roadstead.kube.quantities import is_quantity, parse_quantity

OPENS = "opens"
CLOSES = "closes"
RECREATES = "recreates"
DATA = "data"
RESTARTS = "restarts"
REPACKAGED = "repackaged"
NONE = "none"

WORDS: Mapping[str, str] = {
    DATA: "a claim shrinks or goes",
    RECREATES: "a field changes that cannot be changed in place",
    OPENS: "a policy admits more",
    REPACKAGED: "another owner applies it: label the live object first, then switch",
    RESTARTS: "pods are replaced",
    CLOSES: "a policy admits less",
    NONE: "nothing is at risk",
}
"""Each word and its meaning, the gravest first."""

_POLICIES = {kinds.NETWORK_POLICY.kind, kinds.CILIUM_POLICY.kind}
_CLAIMS = {kinds.CLAIM.kind, kinds.DATA_VOLUME.kind}
_SIZES = ("resources.requests.storage", "capacity.storage")
_FIXED: Mapping[str, tuple[str, ...]] = {
    kinds.DEPLOYMENT.kind: ("spec.selector",),
    kinds.STATEFUL_SET.kind: ("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    kinds.CLAIM.kind: (
        "spec.accessModes",
        "spec.storageClassName",
        "spec.volumeMode",
        "spec.volumeName",
    ),
    kinds.PERSISTENT_VOLUME.kind: ("spec.nfs", "spec.volumeMode", "spec.claimRef"),
    kinds.DATA_VOLUME.kind: ("spec",),
    kinds.SERVICE.kind: ("spec.clusterIP",),
}
_BASELINE = "default-deny"


def risk(old: Held | None, new: Held | None, changed: Sequence[Change]) -> str:
    """The gravest word for one object. old, new: None where it is not there."""
    return next(word for word in WORDS if word in {*_risks(old, new, changed), NONE})


def _risks(old: Held | None, new: Held | None, changed: Sequence[Change]) -> Iterator[str]:
    held = old or new
    kind = held.key.kind if held else ""
    if kind in _POLICIES:
        yield from _policy(old, new)
    if kind == kinds.EGRESS_GATEWAY_POLICY.kind and old is not None and (changed or new is None):
        yield OPENS  # what is no longer steered leaves around the tunnel
    if old is None or new is None:
        if new is None and kind in {*_CLAIMS, "Namespace"}:
            yield DATA
        return
    if old.packaged != new.packaged:
        yield REPACKAGED
    if kind in _CLAIMS and any(_shrinks(one) for one in changed):
        yield DATA
    fixed = _FIXED.get(kind, ())
    if any(_below(one.path, field) for one in changed for field in fixed):
        yield RECREATES
    if any(_below(one.path, "spec.template") for one in changed):
        yield RESTARTS


def _below(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _shrinks(one: Change) -> bool:
    if not one.path.endswith(_SIZES) or not isinstance(one.old, str):
        return False
    if not isinstance(one.new, str) or not is_quantity(one.new) or not is_quantity(one.old):
        return True
    return parse_quantity(one.new) < parse_quantity(one.old)


def _policy(old: Held | None, new: Held | None) -> Iterator[str]:
    """A policy that goes takes its openings with it, but the baseline opens by going."""
    before, after = ({} if one is None else _admits(one.body) for one in (old, new))
    moved = old and new and _selector(old.body) != _selector(new.body)
    either = new or old
    if either is not None and either.key.name == _BASELINE:
        if new is None or (old is not None and _selector(old.body) != _selector(new.body)):
            yield OPENS
        elif old is None:
            yield CLOSES
    if moved or any(not _within(one, before) for one in after.items()):
        yield OPENS
    if moved or any(not _within(one, after) for one in before.items()):
        yield CLOSES


def _within(one: tuple[str, frozenset[str]], admits: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether an opening is in another set of them: the same, with no more exceptions."""
    peer, without = one
    return peer in admits and all(_excepted(cidr, without) for cidr in admits[peer])


def _excepted(cidr: str, without: frozenset[str]) -> bool:
    """Tell whether a range is inside one of those that are left out."""
    if cidr in without:
        return True
    try:
        wanted = ip_network(cidr, strict=False)
        return any(
            wanted.version == other.version and wanted.subnet_of(other)  # type: ignore[arg-type]  # of one version
            for other in (ip_network(one, strict=False) for one in without)
        )
    except ValueError:
        return False


def _selector(body: Mapping[str, Any]) -> Any:
    spec = body.get("spec") or {}
    return spec.get("endpointSelector", spec.get("podSelector"))


def _admits(body: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Every peer with every port that a policy admits, and the ranges it leaves out of it."""
    found: dict[str, frozenset[str]] = {}
    spec = body.get("spec") or {}
    for direction in ("ingress", "egress"):
        for rule in spec.get(direction) or ():
            for peer, without in _peers(rule):
                for port in _ports(rule):
                    found[f"{direction} {peer} {port}"] = without
    return found


def _peers(rule: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """Each peer of a rule; a rule without any speaks of everybody."""
    none = True
    for key, entries in rule.items():
        if key in {"toPorts", "ports"}:
            continue
        none = False
        for one in entries or ():
            block = one.get("ipBlock", one) if isinstance(one, Mapping) else {}
            if "cidr" in block:
                yield f"cidr {block['cidr']}", frozenset(block.get("except") or ())
            else:
                yield f"{key} {one}", frozenset()
    if none:
        yield "everybody", frozenset()


def _ports(rule: Mapping[str, Any]) -> Iterator[str]:
    listed = [port for one in rule.get("toPorts") or () for port in one.get("ports") or ()]
    listed += rule.get("ports") or ()
    if not listed:
        yield "every port"
    for port in listed:
        yield f"{port.get('port')}/{port.get('protocol')}"
