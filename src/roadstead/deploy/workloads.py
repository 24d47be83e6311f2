"""The four processes as Deployments, with what keeps them available.

Each runs as an account of its own, without root, on a read-only root, with no right of the kernel's
beside those of any process. All but the webhook elect a leader; who stands by has its views filled,
so a takeover costs the lease's term and no more. Source: cli.md 2.3, lineage 3, architecture 2.
"""

import hashlib
from typing import Any

from roadstead import __version__
from roadstead.capabilities.lineage import api as lineage
from roadstead.deploy.holes import Hole, hole
from roadstead.deploy.rbac import LABELS, Account, document
from roadstead.deploy.values import IMAGE

Json = dict[str, Any]
NAME, COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"
PROGRAM = LABELS[NAME]
SETTINGS = "roadstead-settings"
FOLDER = "/etc/roadstead"
CERTIFICATES = "/run/roadstead/webhook"
"""Where the webhook finds `tls.crt` and `tls.key`."""
ANSWERS = "lineage"
"""The component that answers admission."""
USER = 65532
METRICS, HEALTH = 8080, 8081
STOP_SECONDS = 45
"""More than the 20 s that passes in work get, and the pause before them."""
PAUSE_SECONDS = 5
"""How long the webhook still answers: Endpoints take that long to lose a Pod everywhere."""
CONFIGURATION = '(include "roadstead.configuration" .)'
EMPTY = '{"settings.yaml":"{}"}'


def component_of(account: Account) -> str:
    """The label of its Pods: `anchors`, `attachments`, `lineage` or `refresher`."""
    return account.name.removeprefix(f"{PROGRAM}-")


def selector(component: str = "") -> dict[str, str]:
    """What finds the Pods of one process, or of all."""
    return {NAME: PROGRAM} | ({COMPONENT: component} if component else {})


def labelled(body: Json, component: str) -> Json:
    """The same object with the label of its component."""
    body["metadata"]["labels"][COMPONENT] = component
    return body


def settings(home: str) -> Json:
    """What the processes read at their start: the flags for all, and the engine table."""
    return document(
        "ConfigMap",
        SETTINGS,
        api="v1",
        namespace=home,
        data=Hole(f"({CONFIGURATION} | fromJson)", {"settings.yaml": "{}"}),
    )


def workload(account: Account, home: str) -> tuple[Json, ...]:
    """The Deployment of one process and its disruption budget."""
    component = component_of(account)
    budget = document(
        "PodDisruptionBudget",
        account.name,
        api="policy/v1",
        namespace=home,
        spec={
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(component)},
        },
    )
    return (
        labelled(_deployment(account, component, home), component),
        labelled(budget, component),
    )


def _deployment(account: Account, component: str, home: str) -> Json:
    checksum = hashlib.sha256(EMPTY.encode()).hexdigest()
    return document(
        "Deployment",
        account.name,
        api="apps/v1",
        namespace=home,
        spec={
            "replicas": hole(f"{component}.replicas"),
            "revisionHistoryLimit": 3,
            # A new Pod stands by, or answers, before an old one ends.
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "selector": {"matchLabels": selector(component)},
            "template": {
                "metadata": {
                    "labels": selector(component),
                    # Settings are read at the start alone.
                    "annotations": {
                        "roadstead.dev/settings": Hole(f"({CONFIGURATION} | sha256sum)", checksum)
                    },
                },
                "spec": _pod(account, component),
            },
        },
    )


def _pod(account: Account, component: str) -> Json:
    volumes: list[Json] = [{"name": "settings", "configMap": {"name": SETTINGS}}]
    if component == ANSWERS:
        volumes.append(
            {"name": "certificate", "secret": {"secretName": hole("webhook.secretName")}}
        )
    return {
        "serviceAccountName": account.name,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": STOP_SECONDS,
        "priorityClassName": hole("priorityClassName"),
        "imagePullSecrets": hole("image.pullSecrets"),
        "nodeSelector": hole(f"{component}.nodeSelector"),
        "tolerations": hole(f"{component}.tolerations"),
        "affinity": hole(f"{component}.affinity"),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector(component)},
                "matchLabelKeys": ["pod-template-hash"],
            }
            for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(account, component)],
        "volumes": volumes,
    }


def _container(account: Account, component: str) -> Json:
    ports: list[Json] = [
        {"name": "metrics", "containerPort": METRICS},
        {"name": "health", "containerPort": HEALTH},
    ]
    mounts: list[Json] = [{"name": "settings", "mountPath": FOLDER, "readOnly": True}]
    answers: Json = {}
    if component == ANSWERS:
        ports.append({"name": "webhook", "containerPort": lineage.PORT})
        mounts.append({"name": "certificate", "mountPath": CERTIFICATES, "readOnly": True})
        answers = {"lifecycle": {"preStop": {"sleep": {"seconds": PAUSE_SECONDS}}}}
    return {
        "name": PROGRAM,
        "image": Hole('(include "roadstead.image" .)', f"{IMAGE}:{__version__}"),
        "imagePullPolicy": hole("image.pullPolicy"),
        "args": arguments(account),
        "ports": ports,
        "startupProbe": _probe("/healthz", 2, 30),
        "livenessProbe": _probe("/healthz", 20, 3),
        "readinessProbe": _probe("/readyz", 5, 2),
        **answers,
        "resources": hole(f"{component}.resources"),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def arguments(account: Account) -> list[str]:
    """What the image's program is started with."""
    found = [
        "run",
        f"--only={','.join(account.capabilities)}",
        f"--settings={FOLDER}/settings.yaml",
    ]
    if component_of(account) == ANSWERS:
        found.append(f"--webhook-cert-dir={CERTIFICATES}")
    return found


def _probe(path: str, period: int, failures: int) -> Json:
    return {
        "httpGet": {"path": path, "port": "health"},
        "periodSeconds": period,
        "timeoutSeconds": 3,
        "failureThreshold": failures,
    }
