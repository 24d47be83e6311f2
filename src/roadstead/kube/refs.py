"""Kinds and references: how an object is named, in messages, in paths and in cases."""

from typing import NamedTuple, Self


class Kind(NamedTuple):
    """One kind of the API, at the version we speak.

    kind: CamelCase name. group: empty for the core group. plural: as in the path.
    namespaced: False for cluster-scoped kinds.
    """

    kind: str
    group: str
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural.group`, as `kubectl get` and RBAC tables name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def ref(self, namespace: str, name: str) -> "Ref":
        """Name one object of this kind; `namespace` is empty for a cluster-scoped one."""
        return Ref(namespace if self.namespaced else "", self, name)

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of a collection, or of one object in it, below the server's address."""
        parts = ["/apis", self.group] if self.group else ["/api"]
        parts.append(self.version)
        if namespace and self.namespaced:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        return "/".join([*parts, name] if name else parts)

    @classmethod
    def guess(cls, api_version: str, kind: str, *, namespaced: bool = True) -> Self:
        """Describe a kind nobody declared, as the offline world meets it in a file.

        The plural follows the common rule of English, which is a guess; nothing is ever sent
        to a server under it.
        """
        group, _, version = api_version.rpartition("/")
        lower = kind.lower()
        plural = f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"
        return cls(kind, group, version, plural, namespaced)


class Ref(NamedTuple):
    """Name of one object. Sorts by namespace, kind, name, the order of every output."""

    namespace: str
    kind: Kind
    name: str

    def __str__(self) -> str:
        """`Kind namespace/name`, the form of messages."""
        return f"{self.kind.kind} {self.key}"

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def path(self) -> str:
        """`Kind/namespace/name`, the form of cases and of arguments."""
        return f"{self.kind.kind}/{self.key}"


SECRET = Kind("Secret", "", "v1", "secrets")
CONFIG_MAP = Kind("ConfigMap", "", "v1", "configmaps")
NAMESPACE = Kind("Namespace", "", "v1", "namespaces", namespaced=False)
EVENT = Kind("Event", "", "v1", "events")
LEASE = Kind("Lease", "coordination.k8s.io", "v1", "leases")
CRD = Kind(
    "CustomResourceDefinition",
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    namespaced=False,
)
SERVICE = Kind("Service", "", "v1", "services")
ENDPOINT_SLICE = Kind("EndpointSlice", "discovery.k8s.io", "v1", "endpointslices")
HELM_RELEASE = Kind("HelmRelease", "helm.toolkit.fluxcd.io", "v2", "helmreleases")
