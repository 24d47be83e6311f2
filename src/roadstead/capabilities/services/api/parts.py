"""The parts of a service definition: the entries of its lists and its nested mappings.

An entry's `key` is what stands for it in a field path; its `index` is where the file has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CONTAINER = "container"
VM = "vm"
LONGHORN = "longhorn"
BULK = "bulk"
PUBLIC = "public"
INTERNAL = "internal"
INTERNET = "internet"
VPN = "vpn"
OIDC = "oidc"
FORWARD_AUTH = "forward-auth"
NATIVE = "native"
NO_AUTH = "none"
TCP = "TCP"
DEPLOYMENT = "Deployment"
STATEFUL_SET = "StatefulSet"
REACQUIRABLE = "reacquirable"
DEDICATED = "dedicated"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the workload comes from; what is not stated is empty."""

    image: str = ""
    vm_template: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One service that this one may call."""

    to: str
    port: int
    protocol: str = TCP
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `dependencies[gitea:3000/TCP]`."""
        return f"{self.to}:{self.port}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class Client:
    """One namespace of platform controllers that dials this service directly."""

    namespace: str
    port: int
    protocol: str = TCP
    name: str = ""
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `inClusterClients[flux-system]`: the name, by default the namespace."""
        return self.name


@dataclass(frozen=True, slots=True)
class Storage:
    """One volume. size: a quantity as written. export, sub_path: empty where there is none."""

    name: str
    size: str
    storage_class: str = LONGHORN
    mount_path: str = ""
    export: str = ""
    sub_path: str = ""
    read_only: bool = False
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `storage[media]`."""
        return self.name

    @property
    def bulk(self) -> bool:
        """Whether it is on the external NFS server."""
        return self.storage_class == BULK


@dataclass(frozen=True, slots=True)
class Route:
    """One north-south route."""

    host: str
    port: int
    tls: str = "wildcard"
    index: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """The first label of the host: the name of the route."""
        return self.host.partition(".")[0]

    @property
    def key(self) -> str:
        """As in `ingressRoutes[jellyfin]`."""
        return self.label


@dataclass(frozen=True, slots=True)
class Auth:
    """Who may enter."""

    mode: str
    groups: tuple[str, ...] = ()
    redirect_paths: tuple[str, ...] = ("/*",)
    skip_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which tags count, and what part of them."""

    pattern: str
    extract: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """How the running version moves.

    range: empty where none is stated or can be derived. cadence: a duration, never a word.
    pin: True, a tag or digest, or None where nothing is pinned.
    """

    channel: str = "stable"
    range: str = ""
    cadence: str = "12h"
    auto_rollback: bool = True
    pin: bool | str | None = None
    filter: Filter | None = None
    order: str = "semver"

    @property
    def pinned(self) -> bool:
        """Whether automation is stopped; `pin: false` pins nothing."""
        return self.pin is not None and self.pin is not False


@dataclass(frozen=True, slots=True)
class Sli:
    """One service level indicator. builtin: stated by its name alone, without `expr`."""

    name: str
    expr: str = ""
    for_: str = "5m"
    severity: str = "warning"
    summary: str = ""
    index: int = field(default=0, compare=False)
    builtin: bool = True

    @property
    def key(self) -> str:
        """As in `observability.slis[up]`."""
        return self.name


@dataclass(frozen=True, slots=True)
class Observability:
    """What is watched. port: as stated; `Service.metrics_port` has the one that holds."""

    metrics: bool = True
    slis: tuple[Sli, ...] = ()
    port: int | None = None
    path: str = "/metrics"


@dataclass(frozen=True, slots=True)
class Port:
    """One port that others may depend on. name: empty where none is given."""

    port: int
    protocol: str = TCP
    name: str = ""
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `ports[5432/TCP]`."""
        return f"{self.port}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class LanHost:
    """One range of the LAN that the service may call."""

    cidr: str
    port: int
    protocol: str = TCP
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `lanEgress[192.168.1.0/24:445/TCP]`."""
        return f"{self.cidr}:{self.port}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One environment variable: a value, or a key of a declared Secret."""

    name: str
    value: str | None = None
    secret: str = ""
    secret_key: str = ""

    @property
    def key(self) -> str:
        """As in `env[TZ]`."""
        return self.name


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file mounted into the container."""

    path: str
    content: str = field(repr=False)
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `config[/etc/app.conf]`."""
        return self.path


@dataclass(frozen=True, slots=True)
class Secret:
    """One Secret that must exist encrypted. keys: sorted."""

    name: str
    keys: tuple[str, ...]
    index: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """As in `secrets[db]`."""
        return self.name


@dataclass(frozen=True, slots=True)
class Resources:
    """Quantities by resource name."""

    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Probes:
    """Each probe as Kubernetes writes it; None for none stated.

    readiness: False where the default one is switched off.
    """

    startup: Mapping[str, Any] | None = None
    readiness: Mapping[str, Any] | bool | None = None
    liveness: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Vm:
    """Sizing of a virtual machine; None and empty where the template decides."""

    cpu: int | None = None
    memory: str = ""
    run_strategy: str = "Always"
