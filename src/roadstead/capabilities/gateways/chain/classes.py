"""Which GatewayClass a tenant lands on, and in which mode. Source: tenant-gateway 2.6."""

from collections.abc import Mapping

from roadstead.capabilities.gateways.chain.names import (
    CLASS,
    EDGE_CLASSES,
    SOLVER,
    TENANT_CLASSES,
    WILDCARD,
)
from roadstead.capabilities.gateways.fields import (
    DEFAULT_CLASS,
    DNS01,
    EDGE,
    EXISTING_SECRET,
    HTTP01,
)

Cluster = Mapping[str, str]
"""The map `_cluster`: every value is a text."""

SOLVERS = (HTTP01, DNS01)


def split(joined: str) -> tuple[str, ...]:
    """The names of a comma-joined list: trimmed, blanks dropped."""
    return tuple(name for part in joined.split(",") if (name := part.strip()))


def default_class(cluster: Cluster) -> str:
    """The class of a tenant that names none; also of a platform that predates the key."""
    return cluster.get(CLASS, "").strip() or DEFAULT_CLASS


def class_of(cluster: Cluster, chosen: str) -> str:
    """The class of a tenant that names one, or none."""
    return chosen.strip() or default_class(cluster)


def edge_classes(cluster: Cluster) -> tuple[str, ...]:
    """The classes before whose Gateways TLS ends. Names are compared byte for byte."""
    return split(cluster.get(EDGE_CLASSES, ""))


def allowed_classes(cluster: Cluster) -> tuple[str, ...]:
    """What a tenant may name: the current default first, then the list's order."""
    listed = split(cluster.get(TENANT_CLASSES, ""))
    return tuple(dict.fromkeys((default_class(cluster), *listed)))


def solver_of(cluster: Cluster) -> str:
    """How names are proven where nothing else decides."""
    return cluster.get(SOLVER) or HTTP01


def mode_of(cluster: Cluster, name: str) -> str:
    """The certificate mode of a class: edge before the operator's Secret before the solver."""
    if name in edge_classes(cluster):
        return EDGE
    if cluster.get(WILDCARD):
        return EXISTING_SECRET
    return DNS01 if solver_of(cluster) == DNS01 else HTTP01


def mode_because(cluster: Cluster, name: str) -> str:
    """What decided the mode, by the value a person would change."""
    mode = mode_of(cluster, name)
    if mode == EDGE:
        return f"{name} is in gateway.edgeTerminatedClasses"
    if mode == EXISTING_SECRET:
        return f"the wildcard Secret is {cluster[WILDCARD]}"
    return f"publishing.certificates.solver is {solver_of(cluster)}"
