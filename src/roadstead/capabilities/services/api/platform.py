"""The platform file with its defaults filled in: everything a definition must not name.

Names are those of the contract's section 2 in snake_case; what is absent is None, empty, or the
default of that table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.services.api.model import Origin


@dataclass(frozen=True, slots=True)
class Named:
    """A reference by kind and name."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Label:
    """One label."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster's own names."""

    dns_domain: str = "cluster.local"
    ip_families: tuple[str, ...] = ("IPv4",)

    @property
    def ipv6(self) -> bool:
        """Whether pods have IPv6 addresses."""
        return "IPv6" in self.ip_families


@dataclass(frozen=True, slots=True)
class Flux:
    """How Flux finds and applies the tree."""

    namespace: str = "flux-system"
    source_ref: Named = Named("GitRepository", "flux-system")
    branch: str = "main"
    output_path: str = "./rendered"
    kustomization_prefix: str = "svc-"
    depends_on: tuple[str, ...] = ()
    interval: str = "10m"
    retry_interval: str = "2m"
    timeout: str = "15m"
    vars_config_map: str = "cluster-vars"
    decryption_secret: str = "sops-age"  # noqa: S105 - the name of one


@dataclass(frozen=True, slots=True)
class Gateway:
    """The shared Gateway.

    https_listener: empty where listeners are named after hostnames.
    public_listener: empty where there is none.
    """

    name: str
    namespace: str
    https_listener: str = "https"
    public_listener: str = ""
    dataplane: str = "cilium"
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    namespace_label: Label = Label("roadstead.dev/routable", "true")
    direct_annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolver:
    """The in-cluster DNS. port: that of its pods."""

    namespace: str = "kube-system"
    pod_labels: Mapping[str, str] = field(default_factory=lambda: {"k8s-app": "kube-dns"})
    port: int = 53
    l7: bool = False
    node_local: bool = False


@dataclass(frozen=True, slots=True)
class Network:
    """What holds for every namespace."""

    baseline: str = "NetworkPolicy"
    client_namespaces: tuple[str, ...] = ("flux-system", "monitoring")
    resolver: Resolver = field(default_factory=Resolver)


@dataclass(frozen=True, slots=True)
class Proxy:
    """The HTTP proxy of the VPN."""

    namespace: str
    pod_labels: Mapping[str, str]
    port: int
    url: str


@dataclass(frozen=True, slots=True)
class VpnEgress:
    """The VPN class. interface, egress_ip: exactly one is set in egress-gateway mode."""

    mode: str = "egress-gateway"
    required_for: tuple[str, ...] = ("jackett", "qbittorrent", "radarr", "sonarr")
    node_selector: Mapping[str, str] = field(default_factory=dict)
    interface: str = ""
    egress_ip: str = ""
    ip_pool: str = ""
    ipv6: bool = False
    proxy: Proxy | None = None


@dataclass(frozen=True, slots=True)
class Egress:
    """North-south egress. except_cidrs: of both families, sorted as written."""

    except_cidrs: tuple[str, ...]
    vpn: VpnEgress = field(default_factory=VpnEgress)

    @property
    def except_v4(self) -> tuple[str, ...]:
        """IPv4 ranges that are not the internet."""
        return tuple(one for one in self.except_cidrs if ":" not in one)

    @property
    def except_v6(self) -> tuple[str, ...]:
        """IPv6 ranges that are not the internet."""
        return tuple(one for one in self.except_cidrs if ":" in one)


@dataclass(frozen=True, slots=True)
class Stores:
    """Storage classes and the bulk server."""

    class_name: str = "longhorn"
    namespace: str = "longhorn-system"
    bulk_server: str = "${BULK_NFS_SERVER}"
    mount_options: tuple[str, ...] = (
        "nfsvers=4.1",
        "hard",
        "noatime",
        "timeo=600",
        "retrans=2",
    )


@dataclass(frozen=True, slots=True)
class Tls:
    """Who issues dedicated certificates."""

    issuer: Named = Named("ClusterIssuer", "letsencrypt-dns01")
    wildcard_secret: str = ""


@dataclass(frozen=True, slots=True)
class Dns:
    """How ExternalDNS tells public routes from internal ones."""

    public_label: Label = Label("roadstead.dev/exposure", "public")
    public_guard_prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForwardAuth:
    """The proxy in front of bare UIs."""

    mode: str = "proxy"
    image: str = "quay.io/oauth2-proxy/oauth2-proxy:v7.15.3"


@dataclass(frozen=True, slots=True)
class Identity:
    """Keycloak. Empty strings and None where no service needs it and nothing is stated."""

    provider: str = "edp"
    realm: str = ""
    realm_ref: Named | None = None
    issuer_url: str = ""
    backchannel_url: str = ""
    namespace: str = ""
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    default_groups: tuple[str, ...] = ()
    groups_full_path: bool = False
    native_allowed: tuple[str, ...] = ()
    forward_auth: ForwardAuth = ForwardAuth()


@dataclass(frozen=True, slots=True)
class Observing:
    """Who scrapes, and what its objects are labelled with."""

    namespace: str = "monitoring"
    prometheus_labels: Mapping[str, str] = field(default_factory=dict)
    dashboard_label: Mapping[str, str] = field(default_factory=lambda: {"grafana_dashboard": "1"})
    scrape_interval: str = "60s"


@dataclass(frozen=True, slots=True)
class Updating:
    """Defaults of updates."""

    rollback: str = "helm"
    cadence: str = "12h"
    health_timeout: str = "10m"
    alert_provider: str = "alertmanager"
    author_name: str = "roadstead-automation"
    author_email: str = ""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One backup schedule. cron: with `H` for a minute of each service's own. retain: a count."""

    key: str
    cron: str
    ttl: str
    retain: int


@dataclass(frozen=True, slots=True)
class Backup:
    """Off-cluster backup. schedules: by key, sorted."""

    velero_namespace: str = "velero"
    storage_location: str = "default"
    mechanism: str = "longhorn"
    default_schedule: str = ""
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    irreplaceable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodSecurity:
    """Pod Security levels of every namespace."""

    enforce: str = "baseline"
    audit: str = "restricted"
    warn: str = "restricted"


@dataclass(frozen=True, slots=True)
class ServedPort:
    """One port with its protocol. name: empty where none is given."""

    port: int
    protocol: str = "TCP"
    name: str = ""

    @property
    def entry(self) -> str:
        """The name of the entry in a Service: the given one, else `tcp-8096`."""
        return self.name or f"{self.protocol.lower()}-{self.port}"


@dataclass(frozen=True, slots=True)
class PlatformService:
    """A dependency target outside the catalog."""

    key: str
    namespace: str
    pod_labels: Mapping[str, str]
    ports: tuple[ServedPort, ...]


@dataclass(frozen=True, slots=True)
class VmTemplate:
    """An image of virtual machines and its sizing. source: one CDI source, as CDI writes it."""

    key: str
    os_family: str
    source: Mapping[str, Any]
    size: str
    cpu: int
    memory: str
    ssh_authorized_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiver:
    """One finding that is accepted. index: its position in the file."""

    check: str
    service: str
    reason: str
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform file, whole."""

    name: str
    domain: str
    origin: Origin = field(repr=False, compare=False)
    gateway: Gateway
    schema_version: str = "1.0.0"
    label_prefix: str = "roadstead.dev"
    cluster: Cluster = Cluster()
    flux: Flux = Flux()
    network: Network = field(default_factory=Network)
    egress: Egress = field(default_factory=lambda: Egress(()))
    storage: Stores = Stores()
    tls: Tls = Tls()
    dns: Dns = Dns()
    identity: Identity = field(default_factory=Identity)
    observability: Observing = field(default_factory=Observing)
    update: Updating = Updating()
    backup: Backup = field(default_factory=Backup)
    pod_security: PodSecurity = PodSecurity()
    default_resources: Mapping[str, Mapping[str, str]] = field(
        default_factory=lambda: {"requests": {"cpu": "50m", "memory": "128Mi"}}
    )
    platform_services: Mapping[str, PlatformService] = field(default_factory=dict)
    vm_templates: Mapping[str, VmTemplate] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()

    @property
    def named_namespaces(self) -> frozenset[str]:
        """Every namespace the file names but Keycloak's, which may be a catalog service."""
        found = {
            self.flux.namespace,
            self.gateway.namespace,
            self.network.resolver.namespace,
            self.storage.namespace,
            self.observability.namespace,
            self.backup.velero_namespace,
            *self.network.client_namespaces,
            *(one.namespace for one in self.platform_services.values()),
        }
        claims = (one.source.get("pvc") or {} for one in self.vm_templates.values())
        found |= {one["namespace"] for one in claims if one}
        if self.egress.vpn.proxy is not None:
            found.add(self.egress.vpn.proxy.namespace)
        return frozenset(found)

    def reserved(self, name: str) -> bool:
        """Tell whether no service may have this name. Source: contract, section 2."""
        if name == "default" or name.startswith("kube-"):
            return True
        return name in self.named_namespaces and name != self.identity.namespace
