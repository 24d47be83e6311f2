"""Everything that `roadstead manifests` prints, as files below `deploy/`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from roadstead.deploy import chart, kustomize, values
from roadstead.deploy.account_policies import account_policies
from roadstead.deploy.admission import admission
from roadstead.deploy.bundle import workloads
from roadstead.deploy.crds import crds
from roadstead.deploy.monitoring import rules_file
from roadstead.deploy.monitoring.objects import DASHBOARD_FILE, dashboard_text
from roadstead.deploy.rbac import ACCOUNTS, HOME, Account, rbac
from roadstead.deploy.schemas import schemas
from roadstead.deploy.tenants import NOTE, tenant_roles, tenant_tiers
from roadstead.kube.documents import dump

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted. home: the namespace. accounts: of `rbac` and `policies` these alone."""

    home: str = HOME
    accounts: Sequence[Account] = ACCOUNTS


def _chart(_: Asked) -> dict[str, str]:
    charts = {chart.MAIN: chart.main_chart(), chart.CRDS: chart.crds_chart()}
    return {
        f"chart/{name}/{path}": text
        for name, found in charts.items()
        for path, text in found.items()
    }


OBJECTS: dict[str, Callable[[Asked], list[Json]]] = {
    "crds": lambda _: list(crds().values()),
    "rbac": lambda asked: list(rbac(asked.home, asked.accounts)),
    "policies": lambda asked: account_policies(asked.home, asked.accounts),
    "tenant-roles": lambda _: list(tenant_roles()),
    "tenant-tiers": lambda _: list(tenant_tiers()),
    "workloads": lambda asked: workloads(asked.home),
    "webhook": lambda asked: list(admission(asked.home)),
}
"""What is a list of objects."""
FILES: dict[str, Callable[[Asked], dict[str, str]]] = {
    "chart": _chart,
    "kustomize": lambda asked: {
        f"kustomize/{name}": text for name, text in kustomize.kustomize(asked.home).items()
    },
    "alerts": lambda _: {"alerts/roadstead.rules.yaml": dump([rules_file()])},
    "dashboards": lambda _: {DASHBOARD_FILE: dashboard_text()},
    "schemas": lambda _: {f"schemas/{name}": text for name, text in schemas().items()},
}
"""What is files in a form of their own."""
WHAT = (*OBJECTS, *FILES)
_NAMES = {
    "rbac": "rbac/accounts.yaml",
    "policies": "policies/accounts.yaml",
    "tenant-roles": "rbac/tenant-roles.yaml",
    "tenant-tiers": "rbac/tenant-tiers.yaml",
    "workloads": "workloads/workloads.yaml",
    "webhook": "webhook/lineage.yaml",
}


def files_of(what: str, asked: Asked | None = None) -> dict[str, str]:
    """The files of one word of WHAT, by their path below `deploy/`."""
    asked = asked or Asked()
    if what in FILES:
        return FILES[what](asked)
    if what == "crds":
        return {f"crds/{name}": dump([body]) for name, body in crds().items()}
    text = dump(OBJECTS[what](asked))
    return {_NAMES[what]: NOTE + text if what == "tenant-roles" else text}


def generated() -> dict[str, str]:
    """The same files as the repository holds them, and the reference of the chart's values."""
    found = {f"deploy/{name}": text for what in WHAT for name, text in files_of(what).items()}
    return found | {"docs/reference/values.md": values.reference()}
