"""The values of the chart: what an installation may decide, each with default, schema and meaning.

`values.yaml`, `values.schema.json` and the reference are written from this one table.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.kube.documents import dump

Json = dict[str, Any]
IMAGE = "registry.example.org/roadstead"
"""No registry holds an image of ours; whoever installs names their own."""
COMPONENTS = ("anchors", "attachments", "lineage", "refresher")

_TEXT: Json = {"type": "string"}
_SWITCH: Json = {"type": "boolean"}
_MAP: Json = {"type": "object"}
_LIST: Json = {"type": "array", "items": {"type": "object"}}
_LABELS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
_NAMES: Json = {"type": "array", "items": {"type": "string", "minLength": 1}}
_AMOUNTS: Json = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number"]},
}
_RESOURCES: Json = {
    "type": "object",
    "properties": {"limits": _AMOUNTS, "requests": _AMOUNTS},
    "additionalProperties": False,
}
SETTINGS: Json = {
    "type": "object",
    "properties": {
        "allowWithdrawals": _NAMES,
        "attachmentTenantClasses": _NAMES,
        "cozyProxyContractImplemented": _SWITCH,
        "endpointAttachmentAllocateNodePorts": _SWITCH,
        "kstatusConditions": _SWITCH,
        "kubeApiQps": {"type": "number", "minimum": 0},
        "logFormat": {"enum": ["text", "json"]},
        "logLevel": {"enum": ["debug", "info", "warning", "error"]},
        "maxConcurrentReconciles": {"type": "integer", "minimum": 1},
        "readOnly": _SWITCH,
    },
    "additionalProperties": False,
}
"""The flags of `run` that an installation may set; the rest is what the Deployments are made of."""
SOURCES: Json = {
    "type": ["object", "null"],
    "properties": {
        "engines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "minLength": 1},
                    "sourceSecretName": {"type": "string", "minLength": 1},
                    "sourceKey": _TEXT,
                },
                "required": ["kind", "sourceSecretName"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["engines"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Value:
    """One value. path: with dots. default: as JSON. schema: JSON Schema of it."""

    path: str
    default: Any
    schema: Json
    meaning: str


_TOLERATES_ALL = [{"operator": "Exists"}]
_LINEAGE_AFFINITY: Json = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "preference": {
                    "matchExpressions": [
                        {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}
                    ]
                },
            }
        ]
    },
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {
                        "matchLabels": {
                            "app.kubernetes.io/name": "roadstead",
                            "app.kubernetes.io/component": "lineage",
                        }
                    },
                },
            }
        ]
    },
}
"""Beside the API servers, and on two of them. Source: lineage 3."""

_ABOUT = {
    "anchors": "trust anchors and wildcard replicas",
    "attachments": "attachments and tenant gateways",
    "lineage": "the admission webhook",
    "refresher": "the refresher of verdicts",
}
_MEMORY = {"anchors": "1Gi", "attachments": "1Gi", "lineage": "512Mi", "refresher": "512Mi"}


def _component(name: str) -> Iterator[Value]:
    about, tolerations = _ABOUT[name], _TOLERATES_ALL if name == "lineage" else []
    resources = {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"memory": _MEMORY[name]},
    }
    yield Value(f"{name}.enabled", True, _SWITCH, f"Install {about}, with the account and rights.")
    yield Value(
        f"{name}.replicas",
        2,
        {"type": "integer", "minimum": 0},
        "Pods that answer, all of them at once."
        if name == "lineage"
        else "Pods: one leads, the others stand by with their views filled.",
    )
    yield Value(f"{name}.resources", resources, _RESOURCES, f"CPU and memory of {about}.")
    yield Value(f"{name}.nodeSelector", {}, _LABELS, f"Nodes for {about}.")
    yield Value(f"{name}.tolerations", tolerations, _LIST, f"Taints that {about} tolerate.")
    affinity = _LINEAGE_AFFINITY if name == "lineage" else {}
    yield Value(f"{name}.affinity", affinity, _MAP, f"Affinity of {about}.")


VALUES = (
    Value(
        "image.repository",
        IMAGE,
        {"type": "string", "minLength": 1},
        "Where your registry holds the image; name your own.",
    ),
    Value("image.tag", "", _TEXT, "Tag of the image; the version of the chart's program if empty."),
    Value(
        "image.digest",
        "",
        {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
        "Digest of the image, `sha256:...`; wins over the tag.",
    ),
    Value(
        "image.pullPolicy",
        "IfNotPresent",
        {"enum": ["Always", "IfNotPresent", "Never"]},
        "When the image is pulled.",
    ),
    Value("image.pullSecrets", [], _LIST, "Secrets of the registry, as `- name: ...`."),
    Value("settings", {}, SETTINGS, "Flags of `run` under their names in camelCase, for all."),
    Value(
        "caSources",
        None,
        SOURCES,
        "The engine table, `engines: [...]`. Null declares nothing but by definitions, and is "
        "another thing than an empty list.",
    ),
    Value("priorityClassName", "", _TEXT, "PriorityClass of every Pod; none if empty."),
    *(value for name in COMPONENTS for value in _component(name)),
    Value(
        "webhook.register",
        False,
        _SWITCH,
        "Have the API server ask. Second step of an installation: refused while no Pod of the "
        "webhook is available.",
    ),
    Value(
        "webhook.issue",
        True,
        _SWITCH,
        "Have cert-manager issue the certificate and keep the bundle. Off: put a Secret of the "
        "name below there, and the bundle into `caBundle`.",
    ),
    Value(
        "webhook.secretName",
        "lineage-controller-webhook-tls",
        {"type": "string", "minLength": 1},
        "Secret of the serving certificate, `tls.crt` and `tls.key`.",
    ),
    Value("webhook.caBundle", "", _TEXT, "Bundle in base64, for a certificate of your own."),
    Value(
        "webhook.trafficDistribution",
        "PreferSameZone",
        {"enum": ["PreferSameZone", "PreferSameNode", "PreferClose"]},
        "Which Pod of the webhook is asked; before Kubernetes 1.34 name `PreferClose`, the same "
        "under its older name.",
    ),
    Value(
        "tenantTiers",
        False,
        _SWITCH,
        "Install what tenants may do with our kinds, as roles that the platform's and Kubernetes' "
        "own take up.",
    ),
    Value("networkPolicy.enabled", True, _SWITCH, "Close the Pods but for what is named below."),
    Value(
        "networkPolicy.scrapers",
        [
            {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "cozy-monitoring"}
                }
            }
        ],
        _LIST,
        "Who may read the metrics, as peers of a NetworkPolicy; an empty list lets everybody.",
    ),
    Value(
        "networkPolicy.apiServers",
        [],
        _LIST,
        "Where the API servers are, as peers; a NetworkPolicy cannot name them, so an empty list "
        "allows the ports below everywhere.",
    ),
    Value(
        "networkPolicy.apiServerPorts",
        [{"protocol": "TCP", "port": 443}, {"protocol": "TCP", "port": 6443}],
        _LIST,
        "Ports of the API servers, as their Pods have them.",
    ),
    Value("networkPolicy.dns", [], _LIST, "Where DNS is, as peers; an empty list is everywhere."),
    Value("monitoring.serviceMonitor", False, _SWITCH, "Have the prometheus-operator scrape us."),
    Value("monitoring.rules", False, _SWITCH, "Install the alerts as a PrometheusRule."),
    Value("monitoring.dashboard", False, _SWITCH, "Install the dashboard as a ConfigMap."),
    Value(
        "monitoring.interval",
        "30s",
        {"type": "string", "pattern": "^[0-9]+(s|m)$"},
        "How often we are scraped.",
    ),
    Value(
        "monitoring.runbooks",
        "https://roadstead.dev/guides/runbooks.html",
        {"type": "string", "minLength": 1},
        "Where you serve the page of runbooks; every alert points there.",
    ),
    Value(
        "monitoring.labels",
        {},
        _LABELS,
        "Labels by which your Prometheus selects monitors and rules.",
    ),
    Value(
        "monitoring.dashboardLabels",
        {"grafana_dashboard": "1"},
        _LABELS,
        "Labels by which your Grafana finds dashboards.",
    ),
)
_BY_PATH = {value.path: value for value in VALUES}


def default_of(path: str) -> Any:
    """The default of a value, or of all below a path. Raises: KeyError for one without a table."""
    return _BY_PATH[path].default


def values_yaml() -> str:
    """`values.yaml`: each default with what it means above it."""
    lines = ["# Written by `make manifests`; docs/reference/values.md is the same as a table.", ""]
    section = ""
    for value in VALUES:
        head, _, name = value.path.rpartition(".")
        if head != section and head:
            lines.append(f"{head}:")
        section, indent = head, "  " if head else ""
        lines.append(f"{indent}# {value.meaning}")
        lines += [f"{indent}{line}" for line in dump([{name: value.default}]).splitlines()]
    return "\n".join(lines) + "\n"


def values_schema() -> Json:
    """`values.schema.json`: what is not in the table is refused."""
    top: Json = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart roadstead",
        **_object(),
    }
    for value in VALUES:
        room = top["properties"]
        head, _, name = value.path.rpartition(".")
        if head:
            room = room.setdefault(head, _object())["properties"]
        room[name] = {"description": value.meaning, **value.schema, "default": value.default}
    # Helm hands every chart the values of its parent's `global`.
    top["properties"]["global"] = {"type": "object"}
    return top


def reference() -> str:
    """The page of all values."""
    lines = [
        "<!-- Written by `make manifests`; edit the code instead. -->",
        "",
        "# Values of the chart",
        "",
        "What `helm install -f` may set; [install](../guides/install.md) says which you need.",
        "`values.schema.json` refuses every other name and every other type.",
        "",
        "| value | type | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{one.path}` | {_type(one.schema)} | `{json.dumps(one.default)}` | {one.meaning} |"
        for one in VALUES
    ]
    lines += ["", "## settings", "", "| key | type |", "| --- | --- |"]
    lines += [f"| `{key}` | {_type(one)} |" for key, one in SETTINGS["properties"].items()]
    lines += ["", "[Settings](settings.md) says what each of them means."]
    return "\n".join(lines) + "\n"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    stated = schema["type"]
    return " or ".join(stated) if isinstance(stated, list) else str(stated)


def _object() -> Json:
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _room(top: Json, path: str) -> Json:
    head = path.rpartition(".")[0]
    room: Json = top.setdefault(head, {}) if head else top
    return room
