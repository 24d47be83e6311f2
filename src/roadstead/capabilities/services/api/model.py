"""A service definition with its defaults filled in, as rules and builders read it.

Names are the contract's in snake_case. A list that is a set is sorted, so that the order in the
file never shows. Where anything stands in its file is asked of `Service.place`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.services.api.parts import (
    CONTAINER,
    DEPLOYMENT,
    FORWARD_AUTH,
    INTERNAL,
    INTERNET,
    NO_AUTH,
    OIDC,
    PUBLIC,
    TCP,
    VM,
    Auth,
    Client,
    ConfigFile,
    Dependency,
    EnvVar,
    LanHost,
    Observability,
    Port,
    Probes,
    Resources,
    Route,
    Secret,
    Source,
    Storage,
    Update,
    Vm,
)
from roadstead.kube.documents import Document, Place

IDENTITY_SECRET = "oidc"  # noqa: S105 - the name of one
"""The Secret of the client registration, declared by `auth.mode`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a definition stands: its document, and the path to it within."""

    document: Document = field(repr=False)
    path: tuple[str | int, ...] = ()
    single: bool = True

    @property
    def file(self) -> str:
        """The file's name, as it was given."""
        return self.document.place.file

    @property
    def value(self) -> Mapping[str, Any]:
        """The definition as it is written."""
        found = self.document.value
        for step in self.path:
            found = found[step]
        return found  # type: ignore[no-any-return]  # only mappings get this far

    def place(self, *path: str | int) -> Place:
        """Where a value begins; where it is absent, the key of what is around it."""
        return self.document.value_place(*self.path, *path)

    def key_place(self, *path: str | int) -> Place:
        """Where a key stands."""
        return self.document.place_of(*self.path, *path)


@dataclass(frozen=True, slots=True)
class Service:
    """One definition, whole.

    pod_security: empty where the platform decides. backup: the policy, empty for none.
    command, args: None where the image decides.
    """

    name: str
    origin: Origin = field(repr=False, compare=False)
    source: Source = field(default_factory=Source)
    schema_version: str = "1.5.0"
    kind: str = CONTAINER
    exposure: str = INTERNAL
    egress: str = INTERNET
    dependencies: tuple[Dependency, ...] = ()
    in_cluster_clients: tuple[Client, ...] = ()
    storage: tuple[Storage, ...] = ()
    ingress_routes: tuple[Route, ...] = ()
    auth: Auth = field(default_factory=lambda: Auth(NO_AUTH))
    update: Update = field(default_factory=Update)
    observability: Observability = field(default_factory=Observability)
    backup: str = ""
    ports: tuple[Port, ...] = ()
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[EnvVar, ...] = ()
    config: tuple[ConfigFile, ...] = ()
    secrets: tuple[Secret, ...] = ()
    resources: Resources = field(default_factory=Resources)
    probes: Probes = field(default_factory=Probes)
    replicas: int = 1
    workload: str = DEPLOYMENT
    pod_security_context: Mapping[str, Any] = field(default_factory=dict)
    security_context: Mapping[str, Any] = field(default_factory=dict)
    pod_security: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    termination_grace_period_seconds: int | None = None
    cluster_api: bool = False
    direct_ports: tuple[Port, ...] = ()
    lan_egress: tuple[LanHost, ...] = ()
    vm: Vm = field(default_factory=Vm)

    @property
    def is_vm(self) -> bool:
        """Whether it is a virtual machine."""
        return self.kind == VM

    @property
    def public(self) -> bool:
        """Whether outsiders may reach its routes."""
        return self.exposure == PUBLIC

    @property
    def durable(self) -> bool:
        """Whether its namespace holds what a deletion would lose. Source: contract 3.2."""
        return self.is_vm or any(not one.bulk for one in self.storage)

    @property
    def longhorn(self) -> tuple[Storage, ...]:
        """Replicated volumes."""
        return tuple(one for one in self.storage if not one.bulk)

    @property
    def bulk(self) -> tuple[Storage, ...]:
        """Volumes of the external server."""
        return tuple(one for one in self.storage if one.bulk)

    @property
    def primary_route(self) -> Route | None:
        """The route whose label is the service's name, else the one of the smallest host."""
        named = (one for one in self.ingress_routes if one.label == self.name)
        return next(named, next(iter(self.ingress_routes), None))

    @property
    def route_ports(self) -> tuple[int, ...]:
        """Distinct ports of the routes, ascending."""
        return tuple(sorted({one.port for one in self.ingress_routes}))

    @property
    def metrics_port(self) -> int | None:
        """The port that would be scraped; None where none is known. Source: contract 3.11."""
        if self.observability.port is not None:
            return self.observability.port
        if self.primary_route is not None:
            return self.primary_route.port
        return min((one.port for one in self.ports if one.protocol == TCP), default=None)

    @property
    def scraped_port(self) -> int | None:
        """The metrics port where metrics are on."""
        return self.metrics_port if self.observability.metrics else None

    @property
    def required_secrets(self) -> tuple[Secret, ...]:
        """Every Secret that must be there encrypted, sorted by name. Source: contract 3.9."""
        found = {one.name: set(one.keys) for one in self.secrets}
        if self.auth.mode in {OIDC, FORWARD_AUTH}:
            found.setdefault(IDENTITY_SECRET, set()).add("client-secret")
        if self.auth.mode == FORWARD_AUTH:
            found[IDENTITY_SECRET].add("cookie-secret")
        return tuple(Secret(name, tuple(sorted(keys))) for name, keys in sorted(found.items()))

    def stated(self, *path: str | int) -> bool:
        """Tell whether the file has a key, as ("update", "pin")."""
        found: Any = self.origin.value
        for step in path:
            if not isinstance(found, Mapping) or step not in found:
                return False
            found = found[step]
        return True

    def place(self, field_path: str) -> Place:
        """Where a field of the contract's notation stands, such as `storage[media].size`.

        What the file does not state is told by the nearest thing around it.
        """
        return self.origin.place(*self._steps(field_path))

    def _steps(self, field_path: str) -> tuple[str | int, ...]:
        """Turn a field path into keys and indices of the file."""
        steps: list[str | int] = []
        rest = field_path
        while rest:
            head, bracket, after = rest.partition("[")
            steps += [part for part in head.split(".") if part]
            if not bracket:
                break
            key, _, rest = after.partition("]")
            found = self._index(tuple(steps), key)
            if found is None:
                break
            steps.append(found)
        return tuple(steps)

    def _index(self, steps: tuple[str | int, ...], key: str) -> str | int | None:
        """The place in the file of the entry that a key selects; None where there is none."""
        entries = _ENTRIES.get(steps)
        if entries is None:
            return key
        return next((one.index for one in entries(self) if one.key == key), None)


_ENTRIES: Mapping[tuple[str | int, ...], Callable[[Service], tuple[Any, ...]]] = {
    ("dependencies",): lambda one: one.dependencies,
    ("inClusterClients",): lambda one: one.in_cluster_clients,
    ("storage",): lambda one: one.storage,
    ("ingressRoutes",): lambda one: one.ingress_routes,
    ("observability", "slis"): lambda one: one.observability.slis,
    ("ports",): lambda one: one.ports,
    ("directPorts",): lambda one: one.direct_ports,
    ("lanEgress",): lambda one: one.lan_egress,
    ("config",): lambda one: one.config,
    ("secrets",): lambda one: one.secrets,
}
"""Lists whose entries are selected by a key; a mapping's entry is selected by its own."""
