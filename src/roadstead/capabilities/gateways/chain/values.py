"""The platform's values, and what of them reaches the tenants' charts: the map `_cluster`.

A value is judged by its type before it is defaulted, so that `0` and `false` are not taken for
"nothing stated". Source: tenant-gateway 2.1, 2.2, 2.4 and 14.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from roadstead.capabilities.gateways.chain.findings import PLATFORM_REFUSED, refused, yaml_of
from roadstead.capabilities.gateways.chain.names import (
    ATTACHED,
    CLASS,
    EDGE_CLASSES,
    ENABLED,
    EXPOSED,
    ISSUER,
    NO,
    PROVIDER,
    PUBLISHING,
    PUBLISHING_ADMIN,
    ROOT,
    ROOT_HOST,
    SOLVER,
    TENANT_CLASSES,
    VALUES_KEY,
    VALUES_NAMESPACE,
    VALUES_SECRET,
    WILDCARD,
    WILDCARD_ISSUE,
    YES,
)
from roadstead.capabilities.gateways.chain.providers import DEFAULTS
from roadstead.capabilities.gateways.fields import (
    CLOUDFLARE,
    DEFAULT_CLASS,
    DNS01,
    HTTP01,
    PRODUCTION,
)
from roadstead.decision import Finding
from roadstead.kube.documents import dump
from roadstead.kube.refs import SECRET

Json = dict[str, Any]
Path = tuple[str | int, ...]

PLATFORM_WILDCARD = "cozystack-wildcard-tls"
ATTACHED_BY_DEFAULT = (
    *("cozy-cert-manager", "cozy-dashboard", "cozy-keycloak", "cozy-system", "cozy-harbor"),
    *("cozy-bucket", "cozy-kubevirt", "cozy-kubevirt-cdi", "cozy-monitoring"),
    *("cozy-linstor-gui", "default"),
)
CERTIFICATES = ("publishing", "certificates")
HTTP2 = ("gateway", "http2")

_DNS01_VALUES: dict[str, Path] = {
    "dns01-cloudflare-secret-name": ("cloudflare", "secretName"),
    "dns01-cloudflare-secret-key": ("cloudflare", "secretKey"),
    "dns01-route53-region": ("route53", "region"),
    "dns01-route53-access-key-id": ("route53", "accessKeyID"),
    "dns01-route53-secret-name": ("route53", "secretName"),
    "dns01-route53-secret-key": ("route53", "secretKey"),
    "dns01-digitalocean-secret-name": ("digitalocean", "secretName"),
    "dns01-digitalocean-secret-key": ("digitalocean", "secretKey"),
    "dns01-rfc2136-nameserver": ("rfc2136", "nameserver"),
    "dns01-rfc2136-tsig-key-name": ("rfc2136", "tsigKeyName"),
    "dns01-rfc2136-tsig-algorithm": ("rfc2136", "tsigAlgorithm"),
    "dns01-rfc2136-secret-name": ("rfc2136", "secretName"),
    "dns01-rfc2136-secret-key": ("rfc2136", "secretKey"),
}


class Refusal(NamedTuple):
    """One value that stops the platform's chart. path: of the value, for a place in its file."""

    path: Path
    finding: Finding


class Platform(NamedTuple):
    """What the platform's values come to. cluster: `_cluster`; empty where any is refused."""

    cluster: dict[str, str]
    refusals: tuple[Refusal, ...] = ()


def cluster_of(values: Mapping[str, Any], root_host: str = "") -> Platform:
    """Turn the platform's values into the map that every tenant's charts read.

    root_host: `root-host` of the ConfigMap `cozy-system/cozystack`; it wins when present.
    """
    read = _Reading(values)
    cluster = {
        ROOT_HOST: root_host or read.text(("publishing", "host")),
        SOLVER: read.text((*CERTIFICATES, "solver"), HTTP01),
        ISSUER: read.text((*CERTIFICATES, "issuerName"), PRODUCTION),
        PROVIDER: read.text((*CERTIFICATES, "dns01", "provider"), CLOUDFLARE),
        **{
            key: read.text((*CERTIFICATES, "dns01", *path), DEFAULTS[key])
            for key, path in _DNS01_VALUES.items()
        },
        EXPOSED: read.names(("publishing", "exposedServices")),
        PUBLISHING: read.text(("publishing", "ingressName"), ROOT),
        PUBLISHING_ADMIN: read.text(("publishing", "ingressNameAdmin")),
        ENABLED: YES if read.flag(("gateway", "enabled")) else NO,
        ATTACHED: read.names(("gateway", "attachedNamespaces"), ATTACHED_BY_DEFAULT),
        CLASS: read.name_of_class(("gateway", "className")),
        TENANT_CLASSES: read.names(("gateway", "tenantSelectableClasses")),
        EDGE_CLASSES: read.names(("gateway", "edgeTerminatedClasses")),
    }
    named = read.text((*CERTIFICATES, "wildcardSecretName"))
    asked = read.flag((*CERTIFICATES, "wildcard"))
    cluster |= _wildcard(named, cluster, asked=asked)
    read.flag(HTTP2, default=True)
    if read.refusals:
        return Platform({}, tuple(sorted(read.refusals, key=lambda one: one.finding.message)))
    return Platform(dict(sorted(cluster.items())))


def _wildcard(named: str, cluster: Mapping[str, str], *, asked: bool) -> dict[str, str]:
    """The Secret of the wildcard, and whether the platform has it issued. Source: 2.2."""
    if named:
        return {WILDCARD: named, WILDCARD_ISSUE: NO}
    issued = asked and cluster[SOLVER] == DNS01 and cluster[ENABLED] != YES
    return {
        WILDCARD: PLATFORM_WILDCARD if issued else "",
        WILDCARD_ISSUE: YES if issued else NO,
    }


def cilium_values(values: Mapping[str, Any], given: Mapping[str, Any]) -> Json:
    """The values of the Cilium release, with HTTP/2 switched as the platform says.

    given: what it is told for other reasons; kept.
    """
    section = given.get("gatewayAPI")
    kept = dict(section) if isinstance(section, Mapping) else {}
    enabled = _Reading(values).flag(HTTP2, default=True)
    return {**given, "gatewayAPI": {**kept, "enableAlpn": enabled}}


def values_secret(cluster: Mapping[str, str]) -> Json:
    """The Secret that carries `_cluster` to the tenants' releases."""
    return {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.kind,
        "metadata": {"name": VALUES_SECRET, "namespace": VALUES_NAMESPACE},
        "stringData": {VALUES_KEY: dump([{"_cluster": dict(cluster)}])},
    }


class _Reading:
    """Reads values by their path and collects what is wrong with them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.refusals: list[Refusal] = []

    def _at(self, path: Path) -> Any:
        """The value there; None where nothing, or null, is stated."""
        found: Any = self.values
        for depth, step in enumerate(path):
            if found is None:
                return None
            if not isinstance(found, Mapping):
                about = path[:depth]
                if all(about != one.path for one in self.refusals):
                    self._refuse(about, f"must be a map, not {yaml_of(found)}")
                return None
            found = found.get(step)
        return found

    def _refuse(self, path: Path, says: str) -> None:
        key = ".".join(part for part in path if isinstance(part, str)) or "the platform's values"
        finding = refused("platform-values-fit", PLATFORM_REFUSED, f"{key} {says}")
        self.refusals.append(Refusal(path, finding))

    def text(self, path: Path, default: str = "") -> str:
        """A text; the default where none, or an empty one, is stated."""
        found = self._at(path)
        if found is not None and type(found) is not str:
            self._refuse(path, f"must be a string, not {yaml_of(found)}")
        return found if isinstance(found, str) and found else default

    def name_of_class(self, path: Path) -> str:
        """The trimmed name of a class; one of blanks alone is no name."""
        found = self.text(path, DEFAULT_CLASS)
        if not found.strip():
            self._refuse(path, "must name a GatewayClass and holds only white space")
        return found.strip()

    def flag(self, path: Path, *, default: bool = False) -> bool:
        """A boolean, or its YAML spelling as a text; no other value is taken for one."""
        found = self._at(path)
        if found is None:
            return default
        if type(found) is bool:
            return found
        if found not in {YES, NO} if isinstance(found, str) else True:
            self._refuse(path, f"must be true or false, not {yaml_of(found)}")
        return bool(found == YES)

    def names(self, path: Path, default: tuple[str, ...] = ()) -> str:
        """A list of names, joined by commas; no entry may hold one itself."""
        found = self._at(path)
        if found is None:
            return ",".join(default)
        if type(found) is not list:
            self._refuse(path, f"must be a list of strings, not {yaml_of(found)}")
            return ""
        for number, entry in enumerate(found):
            if type(entry) is not str:
                self._refuse((*path, number), f"must hold strings alone, not {yaml_of(entry)}")
            elif "," in entry:
                says = f"must hold one name an entry, and `{entry}` has a comma"
                self._refuse((*path, number), says)
        return ",".join(str(entry) for entry in found)
