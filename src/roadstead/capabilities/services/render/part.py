"""One rendered object: its body, its file, and what in which definition caused it.

Every builder makes its objects here, so that labels, annotations and the trail are the same
everywhere. Source: contract 3.1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as item
from typing import Any

from roadstead.capabilities.services.api.kinds import ORDER
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.render.roles import Role
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import Kind

NAMESPACE_FILE = "00-namespace.yaml"
POLICY_FILE = "10-policy.yaml"
STORAGE_FILE = "20-storage.yaml"
WORKLOAD_FILE = "30-workload.yaml"
SERVICE_FILE = "40-service.yaml"
ROUTE_FILE = "50-route.yaml"
IDENTITY_FILE = "60-identity.yaml"
UPDATE_FILE = "70-update.yaml"
OBSERVE_FILE = "80-observe.yaml"
BACKUP_FILE = "90-backup.yaml"

MAIN = "main"
AUTH = "auth"
PLATFORM = "platform"
"""The cause of what every service gets."""

MANAGER = "roadstead"
HELM = "Helm"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
DISABLED = "disabled"

_PLACE = {kind: number for number, kind in enumerate(ORDER)}


@dataclass(frozen=True, slots=True)
class Rendered:
    """One object of the effective set, or its packaging.

    kind: what it is. body: the whole object, keys in their order.
    file: which file of the service's folder it is in.
    field: the field path that caused it, without the service's name.
    cause: the definition that field stands in; the folder's own, or a caller's.
    packaged: whether it travels inside the HelmRelease of the same file.
    """

    kind: Kind
    body: dict[str, Any] = item(repr=False)
    file: str
    field: str
    role: Role
    cause: Service = item(repr=False)
    packaged: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        name: str = self.body["metadata"]["name"]
        return name

    @property
    def namespace(self) -> str:
        """Its namespace; empty for a cluster-scoped one."""
        namespace: str = self.body["metadata"].get("namespace", "")
        return namespace

    @property
    def path(self) -> str:
        """`Kind/namespace/name`."""
        inside = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind.kind}/{inside}{self.name}"

    @property
    def order(self) -> tuple[str, int, str, str]:
        """Where it stands: by file, kind, namespace, name. Source: contract 5.1."""
        return (self.file, _PLACE[self.kind], self.namespace, self.name)


def selector(seen: Snapshot, component: str = MAIN) -> dict[str, str]:
    """The frozen pair that selects pods of a service."""
    return pair(seen.catalog.platform, seen.service.name, component)


def pair(platform: Platform, name: str, component: str = MAIN) -> dict[str, str]:
    """The same for any service."""
    prefix = platform.label_prefix
    return {f"{prefix}/component": component, f"{prefix}/service": name}


def in_order(labels: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping whose keys are data, in byte order."""
    return {key: labels[key] for key in sorted(labels)}


def tidy(value: Any) -> Any:
    """A value as a definition states it, its mappings in byte order and its lists as they are."""
    if isinstance(value, Mapping):
        return {key: tidy(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in value]
    return value


def rendered(
    seen: Snapshot,
    kind: Kind,
    name: str,
    *,
    file: str,
    field: str,
    role: Role,
    rest: Mapping[str, Any],
    namespace: str | None = None,
    component: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    cause: Service | None = None,
    packaged: bool = False,
    more: Iterable[str] = (),
) -> Rendered:
    """Make one object with the labels and annotations of every rendered object.

    rest: what follows the metadata. namespace: the service's own when None.
    component: `main` or `auth` on a workload and its Service. more: requirements beside the role's.
    """
    service, platform = seen.service, seen.catalog.platform
    prefix = platform.label_prefix
    cause = cause or service
    role = role.also(more) if more else role
    shown = field if cause is service else f"{cause.name}:{field}"
    metadata: dict[str, Any] = {"name": name}
    if kind.namespaced:
        metadata["namespace"] = service.name if namespace is None else namespace
    known = {
        "app.kubernetes.io/managed-by": HELM if packaged else MANAGER,
        "app.kubernetes.io/name": service.name,
    }
    if component:
        known[f"{prefix}/component"] = component
    known[f"{prefix}/service"] = service.name
    metadata["labels"] = in_order({**known, **labels}) if labels else in_order(known)
    notes = {f"{prefix}/field": shown, f"{prefix}/requirements": ",".join(role.requirements)}
    metadata["annotations"] = in_order({**notes, **(annotations or {})})
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **rest}
    return Rendered(kind, body, file, field, role, cause, packaged)
