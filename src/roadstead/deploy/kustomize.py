"""The kustomize folders: a base, and what is laid over it in a second step or by choice.

| folder | holds |
|---|---|
| crds | the definitions of our own kinds |
| base | everything the chart's defaults install, and the Namespace |
| registration | what makes the API server ask the webhook |
| monitoring | what the prometheus-operator and Grafana read |
| tenants | what tenants may do with our kinds |
"""

from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.deploy.bundle import namespace, parts
from roadstead.deploy.chart import PLATFORMS
from roadstead.deploy.crds import crds
from roadstead.deploy.holes import filled
from roadstead.deploy.rbac import HOME
from roadstead.kube.documents import dump

Json = dict[str, Any]
CHOSEN = {
    "registration": ("registration",),
    "monitoring": ("monitor", "rules", "dashboard"),
    "tenants": ("tenant-tiers",),
}
"""The parts of each folder that is laid over the base."""


def kustomize(home: str = HOME) -> dict[str, str]:
    """The files, by their path below `kustomize/`."""
    every = parts(home)
    folders: dict[str, dict[str, Iterable[Json]]] = {
        "crds": {name: [body] for name, body in crds().items() if name != PLATFORMS},
        "base": {"namespace.yaml": [namespace(home)]}
        | {f"{one.name}.yaml": one.objects for one in every if one.by_default},
    }
    for folder, names in CHOSEN.items():
        folders[folder] = {f"{one.name}.yaml": one.objects for one in every if one.name in names}
    found: dict[str, str] = {}
    for folder, members in folders.items():
        found |= {f"{folder}/{name}": text for name, text in _folder(members).items()}
    return found


def _folder(members: Mapping[str, Iterable[Json]]) -> dict[str, str]:
    index = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(members),
    }
    files = {name: dump(filled(list(bodies))) for name, bodies in members.items()}
    return {"kustomization.yaml": dump([index]), **files}
