"""The chain of tenants: each one's namespace, domain, and the Gateway that it publishes through.

Source: tenant-gateway 2.8.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways.api import ATTACH_LABEL, HOST_LABEL
from roadstead.capabilities.gateways.chain.classes import Cluster
from roadstead.capabilities.gateways.chain.findings import TENANT_REFUSED, refused, yaml_of
from roadstead.capabilities.gateways.chain.names import (
    ENABLED,
    ROOT,
    ROOT_HOST,
    TENANT,
    TENANT_PREFIX,
    YES,
)
from roadstead.decision import Finding
from roadstead.kube.refs import Ref

_FIELDS: dict[str, tuple[type, str]] = {
    "gateway": (bool, "a boolean"),
    "gatewayClass": (str, "a string"),
    "host": (str, "a string"),
}


@dataclass(frozen=True, slots=True)
class Tenant:
    """One Tenant as it is written.

    ref: its namespace is that of the tenant above it; the root tenant stands in its own.
    gateway: whether it owns one; unset and `false` are the same. chosen: `gatewayClass`.
    problems: fields of another type than they must have, which are read as unset.
    """

    ref: Ref
    gateway: bool = False
    chosen: str = ""
    host: str = ""
    problems: tuple[Finding, ...] = ()

    @property
    def root(self) -> bool:
        """Whether it is the one that all others are below."""
        return self.ref.namespace == ROOT and f"{TENANT_PREFIX}{self.ref.name}" == ROOT

    @property
    def namespace(self) -> str:
        """The namespace that is its own."""
        if self.ref.namespace == ROOT:
            return f"{TENANT_PREFIX}{self.ref.name}"
        return f"{self.ref.namespace}-{self.ref.name}"


@dataclass(frozen=True, slots=True)
class Place:
    """A tenant in the chain.

    host: its domain; empty where neither it nor a tenant above has one.
    owner: the namespace whose Gateway it publishes through; empty for none.
    """

    tenant: Tenant
    host: str
    owner: str

    @property
    def namespace(self) -> str:
        """Its own namespace."""
        return self.tenant.namespace

    @property
    def labels(self) -> dict[str, str]:
        """What the tenant chart labels its namespace with; no label has an empty value."""
        stated = {ATTACH_LABEL: self.owner, HOST_LABEL: self.host}
        return {name: value for name, value in stated.items() if value}

    @property
    def values(self) -> dict[str, Any]:
        """The map `_namespace` of its charts."""
        return {"gateway": self.owner, "host": self.host}


def tenant_of(ref: Ref, body: Mapping[str, Any]) -> Tenant:
    """Read a Tenant, and say what is wrong with its types: a text `false` is no boolean."""
    spec = body.get("spec")
    if spec is not None and not isinstance(spec, Mapping):
        says = f"tenant.spec of {ref} must be a map, not {yaml_of(spec)}"
        return Tenant(ref, problems=(_no(ref, says),))
    stated = {name: (spec or {}).get(name) for name in _FIELDS}
    wrong = tuple(
        _no(ref, f"tenant.spec.{name} of {ref} must be {word}, not {yaml_of(stated[name])}")
        for name, (kind, word) in sorted(_FIELDS.items())
        if stated[name] is not None and type(stated[name]) is not kind
    )
    chosen, host = stated["gatewayClass"], stated["host"]
    return Tenant(
        ref,
        gateway=stated["gateway"] is True,
        chosen=chosen if isinstance(chosen, str) else "",
        host=host if isinstance(host, str) else "",
        problems=wrong,
    )


def _no(ref: Ref, message: str) -> Finding:
    return refused("tenant-fits", TENANT_REFUSED, message, ref)


def place_all(
    tenants: Iterable[Tenant], cluster: Cluster
) -> tuple[tuple[Place, ...], tuple[Finding, ...]]:
    """Put every tenant below the one that its namespace belongs to.

    Gives: the places, by namespace, the root tenant's always among them; and a refusal for each
    tenant that has none.
    """
    ordered = sorted(tenants, key=lambda one: (not one.root, len(one.namespace), one.ref))
    if not any(one.root for one in ordered):
        ordered.insert(0, Tenant(TENANT.ref(ROOT, ROOT.removeprefix(TENANT_PREFIX))))
    places: dict[str, Place] = {}
    problems: list[Finding] = []
    for one in ordered:  # a tenant's namespace is longer than that of the tenant above it
        above = places.get(one.ref.namespace)
        if holder := places.get(one.namespace):
            says = f"{one.ref} would share the namespace {one.namespace} with {holder.tenant.ref}"
            problems.append(_no(one.ref, f"{says}: give one of them another name"))
        elif one.root:
            owner = ROOT if cluster.get(ENABLED) == YES else ""
            places[ROOT] = Place(one, cluster.get(ROOT_HOST, ""), owner)
        elif above is None:
            says = f"no tenant of these files has the namespace {one.ref.namespace} of {one.ref}"
            problems.append(_no(one.ref, f"{says}: add the Tenant above it"))
        else:
            places[one.namespace] = _below(above, one)
    return (
        tuple(places[name] for name in sorted(places)),
        tuple(sorted(problems, key=lambda one: one.message)),
    )


def _below(above: Place, one: Tenant) -> Place:
    """A tenant's place, by that of the tenant above it."""
    host = one.host
    if not host and above.host:
        host = f"{one.ref.name.rpartition('-')[2]}.{above.host}"
    return Place(one, host, one.namespace if one.gateway else above.owner)
