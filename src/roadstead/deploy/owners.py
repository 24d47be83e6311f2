"""What the lineage walk may read on its way up: owner kinds, by an aggregated ClusterRole.

An installation adds kinds with a ClusterRole of its own that carries the label. Never Secrets: an
owner is read as metadata, and whoever may `get` a Secret may read its value. A kind that is
missing here is passed over, and said once in the log. Source: lineage 10.
"""

from typing import Any

AGGREGATED = "roadstead-lineage-owners"
DEFAULT = "roadstead-lineage-owners-default"
LABEL = "roadstead.dev/lineage-owners"

CATALOG: dict[str, tuple[str, ...]] = {
    "": ("configmaps", "persistentvolumeclaims", "pods", "services"),
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
    "cdi.kubevirt.io": ("datavolumes",),
    "cert-manager.io": ("certificaterequests", "certificates"),
    "clickhouse-keeper.altinity.com": ("clickhousekeeperinstallations",),
    "clickhouse.altinity.com": ("clickhouseinstallations",),
    "cluster.x-k8s.io": ("clusters", "machinedeployments", "machines", "machinesets"),
    "controlplane.cluster.x-k8s.io": ("kamajicontrolplanes",),
    "core.strimzi.io": ("strimzipodsets",),
    "cozystack.io": ("workloadmonitors",),
    "databases.spotahome.com": ("redisfailovers",),
    "etcd.aenix.io": ("etcdclusters",),
    "gateway.cozystack.io": ("tenantgateways",),
    "gateway.networking.k8s.io": ("gateways",),
    "grafana.integreatly.org": ("grafanas",),
    "infrastructure.cluster.x-k8s.io": ("kubevirtclusters", "kubevirtmachines"),
    "k8s.mariadb.com": ("mariadbs",),
    "kafka.strimzi.io": ("kafkanodepools", "kafkas"),
    "kamaji.clastix.io": ("tenantcontrolplanes",),
    "kubevirt.io": ("virtualmachineinstances", "virtualmachines"),
    "local.sdn.cozystack.io": ("endpointattachments",),
    "networking.k8s.io": ("ingresses",),
    "operator.victoriametrics.com": (
        *("vlogs", "vmagents", "vmalertmanagers", "vmalerts", "vmclusters", "vmsingles"),
    ),
    "postgresql.cnpg.io": ("clusters", "poolers"),
    "psmdb.percona.com": ("perconaservermongodbs",),
    "rabbitmq.com": ("rabbitmqclusters",),
}
"""Kinds of the platform's default catalog that own what the webhook is asked about."""


def owner_rules() -> list[dict[str, Any]]:
    """`get` on every kind of the catalog, a rule for each group."""
    return [
        {"apiGroups": [group], "resources": list(kinds), "verbs": ["get"]}
        for group, kinds in CATALOG.items()
    ]
