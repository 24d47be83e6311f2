"""The example catalog under other platform settings, and with fields the examples do not use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from roadstead.sim.merge import merged
from service_catalogs import EXAMPLES, Shelf

Body = dict[str, Any]

_PROXY = {
    "namespace": "vpn",
    "podLabels": {"app": "gluetun"},
    "port": 8888,
    "url": "http://gluetun.vpn.svc.cluster.local:8888",
}
_PODS = {
    "dataplane": "pods",
    "namespace": "envoy-gateway-system",
    "podLabels": {"gateway.envoyproxy.io/owning-gateway-name": "shared"},
}


@dataclass(frozen=True)
class Variant:
    """A change to the examples. platform: merged into the platform file; None takes a key away.

    services: merged into definitions, by name. more: further definitions.
    """

    name: str
    platform: Mapping[str, Any] = field(default_factory=dict)
    services: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    more: tuple[Mapping[str, Any], ...] = ()

    def __str__(self) -> str:
        """Its name."""
        return self.name


_EXTENDED = (
    {
        "name": "plex",
        "source": {"image": "docker.io/plexinc/pms-docker:1.41.0"},
        "exposure": "public",
        "egress": "none",
        "ports": [{"port": 32400}, {"port": 1900, "protocol": "UDP"}],
        "directPorts": [{"port": 32400}, {"port": 1900, "protocol": "UDP"}],
        "lanEgress": [
            {"cidr": "192.168.1.0/24", "port": 1883},
            {"cidr": "192.168.1.10/32", "port": 5353, "protocol": "UDP"},
        ],
        "clusterApi": True,
        "auth": {"mode": "none"},
    },
    {
        "name": "caller",
        "source": {"image": "ghcr.io/acme/caller:1.2.3"},
        "egress": "none",
        "dependencies": [
            {"to": "plex", "port": 1900, "protocol": "UDP"},
            {"to": "plex", "port": 32400},
            {"to": "qbittorrent", "port": 8080},
        ],
        "inClusterClients": [
            {"namespace": "monitoring", "port": 7000, "protocol": "UDP"},
            {"namespace": "flux-system", "port": 7000},
        ],
        "observability": {"metrics": False},
        "workload": "StatefulSet",
        "storage": [{"name": "state", "size": "1Gi"}],
        "backup": {"policy": "daily-offcluster"},
    },
    {
        "name": "routed",
        "source": {"image": "ghcr.io/acme/routed:2.0.1"},
        "ingressRoutes": [
            {"host": "routed.home.example.net", "port": 3000},
            {"host": "admin.home.example.net", "port": 2222, "tls": "dedicated"},
        ],
        "auth": {"mode": "forward-auth", "groups": ["family"], "skipPaths": ["^/api/"]},
        "update": {"autoRollbackOnFailedHealth": False},
        "config": [{"path": "/etc/routed.conf", "content": "a: b\n"}],
    },
)

VARIANTS = (
    Variant("as-they-are"),
    Variant("extensions", more=_EXTENDED),
    Variant(
        "gateway-pods",
        {"gateway": _PODS},
        more=_EXTENDED,
    ),
    Variant(
        "envoy-gateway",
        {"gateway": _PODS, "identity": {"forwardAuth": {"mode": "envoy-gateway"}}},
        more=_EXTENDED,
    ),
    Variant(
        "vpn-with-oidc",
        services={"qbittorrent": {"auth": {"mode": "oidc"}}},
    ),
    Variant(
        "vpn-proxy",
        {
            "egress": {
                "vpn": {
                    "mode": "proxy",
                    "proxy": _PROXY,
                    "nodeSelector": None,
                    "interface": None,
                    "ipPool": None,
                }
            }
        },
    ),
    Variant(
        "both-families",
        {"cluster": {"ipFamilies": ["IPv4", "IPv6"]}, "egress": {"vpn": {"ipv6": True}}},
    ),
    Variant("cilium-baseline", {"network": {"baseline": "CiliumNetworkPolicy"}}, more=_EXTENDED),
    Variant("resolver-l7", {"network": {"resolver": {"l7": True, "nodeLocal": True, "port": 5353}}}),
    Variant("no-rollback", {"update": {"rollback": "none"}}, more=_EXTENDED),
    Variant("keycloak-operator", {"identity": {"provider": "keycloak-operator"}}, more=_EXTENDED),
    Variant("config-cli", {"identity": {"provider": "config-cli"}}, more=_EXTENDED),
    Variant("data-mover", {"backup": {"mechanism": "velero-data-mover"}}, more=_EXTENDED),
    Variant(
        "guard-prefixes",
        {"dns": {"publicGuardPrefixes": ["external-dns.alpha.kubernetes.io/"]}},
    ),
    Variant("numbered-tags", services={"wiki": {"update": {"range": None, "order": "numerical",
        "filter": {"pattern": "^2\\.5\\.(?P<n>\\d+)$", "extract": "$n"}}}}),
)  # fmt: skip
"""Each is a whole catalog; together they reach every builder."""


def written(variant: Variant, folder: Path) -> Shelf:
    """Write a variant's files below a folder."""
    catalog = folder / "catalog"
    catalog.mkdir(parents=True, exist_ok=True)
    settings = merged(yaml.safe_load((EXAMPLES / "platform.yaml").read_text()), variant.platform)
    platform = folder / "platform.yaml"
    platform.write_text(yaml.safe_dump(settings))
    bodies = [yaml.safe_load(path.read_text()) for path in (EXAMPLES / "services").glob("*.yaml")]
    bodies = [merged(body, variant.services.get(body["name"], {})) for body in bodies]
    for body in (*bodies, *variant.more):
        (catalog / f"{body['name']}.yaml").write_text(yaml.safe_dump(dict(body)))
    return Shelf(variant.name, platform, tuple(sorted(catalog.glob("*.yaml"))))
