"""What an installation is made of: parts of one table, for the chart, kustomize and plain files.

A part that the defaults leave out is installed by a second step or by choice. The registration of
the webhook is one: it may only stand once Pods answer. Source: lineage 3 and 13.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.deploy import network, owners
from roadstead.deploy.account_policies import account_policies
from roadstead.deploy.admission import certificates, registration, service
from roadstead.deploy.holes import Hole, filled, hole
from roadstead.deploy.monitoring import (
    dashboard_map,
    metrics_service,
    prometheus_rule,
    service_monitor,
)
from roadstead.deploy.rbac import ACCOUNTS, HOME, rbac
from roadstead.deploy.tenants import tenant_tiers
from roadstead.deploy.values import default_of
from roadstead.deploy.workloads import ANSWERS, component_of, settings, workload
from roadstead.kube.refs import NAMESPACE

Json = dict[str, Any]
SHARED = (owners.AGGREGATED, owners.DEFAULT)


@dataclass(frozen=True, slots=True)
class Part:
    """Objects that are installed together.

    name: of its file. when: an expression of Helm's engine; empty for always.
    by_default: what that gives with no values.
    """

    name: str
    objects: tuple[Json, ...]
    when: str = ""
    by_default: bool = True


def parts(home: str = HOME) -> tuple[Part, ...]:
    """Everything but the Namespace and the definitions, with holes, in the order of applying."""
    return (
        Part("settings", (settings(home),)),
        _owners(home),
        *_processes(home),
        *_network(home),
        *_webhook(home),
        *_monitoring(home),
        Part("tenant-tiers", tuple(tenant_tiers()), **_switch("tenantTiers")),
    )


def namespace(home: str = HOME) -> Json:
    """The Namespace, outside of the webhook's reach; a chart's release cannot own its own."""
    return next(body for body in rbac(home, ()) if body["kind"] == NAMESPACE.kind)


def workloads(home: str = HOME) -> list[Json]:
    """What the defaults install beside rights and the webhook: plain, in the order of applying."""
    chosen = ("settings", *(component_of(one) for one in ACCOUNTS), "network", "metrics")
    rights = {body["kind"] for body in (*rbac(home), *account_policies(home))}
    plain: list[Json] = filled(
        [body for part in parts(home) if part.name.split("-")[0] in chosen for body in part.objects]
    )
    return [body for body in plain if body["kind"] not in rights]


def _switch(*paths: str) -> dict[str, Any]:
    """The condition that all of some switches are on."""
    stated = [f".Values.{path}" for path in paths]
    when = f"and {' '.join(stated)}" if len(stated) > 1 else stated[0]
    return {"when": when, "by_default": all(default_of(path) for path in paths)}


def _owners(home: str) -> Part:
    takers = [component_of(one) for one in ACCOUNTS if one.owners]
    return Part(
        "owners",
        tuple(body for body in rbac(home) if _shared(body)),
        f"or {' '.join(f'.Values.{one}.enabled' for one in takers)}",
        any(default_of(f"{one}.enabled") for one in takers),
    )


def _shared(body: Json) -> bool:
    """Whether it is one of the roles of owner kinds; a binding has the name of one."""
    return body["kind"] == "ClusterRole" and body["metadata"]["name"] in SHARED


def _processes(home: str) -> Iterator[Part]:
    for account in ACCOUNTS:
        component = component_of(account)
        rights = (
            body
            for body in rbac(home, [account])
            if body["kind"] != NAMESPACE.kind and not _shared(body)
        )
        yield Part(
            component,
            (*rights, *account_policies(home, [account]), *workload(account, home)),
            **_switch(f"{component}.enabled"),
        )


def _network(home: str) -> Iterator[Part]:
    yield Part("network", (network.policy(home),), **_switch("networkPolicy.enabled"))
    yield Part(
        "network-webhook",
        (network.webhook_policy(home),),
        **_switch("networkPolicy.enabled", f"{ANSWERS}.enabled"),
    )


def _webhook(home: str) -> Iterator[Part]:
    on = f"{ANSWERS}.enabled"
    asked = service(home)
    asked["spec"]["trafficDistribution"] = hole("webhook.trafficDistribution")
    yield Part("webhook", (asked,), **_switch(on))
    issued = certificates(home)
    issued[-1]["spec"]["secretName"] = hole("webhook.secretName")
    yield Part("certificates", issued, **_switch(on, "webhook.issue"))
    body = registration(home)
    webhook, meta = body["webhooks"][0], body["metadata"]
    # What is not ours is not written, not even as empty: an upgrade would wipe cert-manager's.
    meta["annotations"] = Hole('(include "roadstead.injection" . | fromJson)', meta["annotations"])
    webhook["clientConfig"] = Hole(
        '(include "roadstead.client" . | fromJson)', webhook["clientConfig"]
    )
    yield Part("registration", (body,), **_switch(on, "webhook.register"))


def _monitoring(home: str) -> Iterator[Part]:
    yield Part("metrics", (metrics_service(home),))
    yield Part("monitor", (service_monitor(home),), **_switch("monitoring.serviceMonitor"))
    yield Part("rules", (prometheus_rule(home),), **_switch("monitoring.rules"))
    yield Part("dashboard", (dashboard_map(home),), **_switch("monitoring.dashboard"))
