"""`roadstead run`: the controllers, in the foreground, until they are told to stop."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.cli import inputs
from roadstead.cli.options import (
    Allowed,
    Context,
    Kubeconfig,
    SettingsFile,
    SourcesFile,
    application,
)
from roadstead.errors import InputError
from roadstead.kube.times import parse_duration
from roadstead.runtime.health import OFF
from roadstead.runtime.manager import run as run_manager
from roadstead.runtime.options import RunOptions
from roadstead.runtime.page import Maker
from roadstead.settings import Settings
from roadstead.sim.flags import names_of

EXAMPLES = (
    "roadstead run --read-only",
    "roadstead run --only anchors --ca-sources-file ca-sources.yaml --leader-elect",
    "roadstead run --only lineage --webhook-cert-dir /run/webhook",
    "roadstead run --read-only --page-bind-address 127.0.0.1:8080",
    "roadstead run --only attachments --attachment-tenant-classes public,internal",
)
app = application()

Only = Annotated[
    str, typer.Option("--only", metavar="NAMES", help="The capabilities to run, comma-separated.")
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Decide and report, write nothing: a rehearsal.")
]
CozyProxy = Annotated[
    bool | None,
    typer.Option(
        "--cozy-proxy-contract-implemented/--no-cozy-proxy-contract-implemented",
        help="The platform runs cozy-proxy, so that attachments with a method are served.",
    ),
]
NodePorts = Annotated[
    bool | None,
    typer.Option(
        "--endpoint-attachment-allocate-node-ports/--no-endpoint-attachment-allocate-node-ports",
        help="Give the Services of attachments node ports.",
    ),
]
TenantClasses = Annotated[
    str | None,
    typer.Option(
        "--attachment-tenant-classes",
        metavar="CLASS[,CLASS...]",
        help="The address classes tenants may have claims minted from; empty for all.",
    ),
]
Kstatus = Annotated[
    bool | None,
    typer.Option(
        "--kstatus-conditions/--no-kstatus-conditions",
        help="Write Reconciling and Stalled beside Ready. On unless switched off.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics-bind-address", metavar="ADDRESS", help="Serve metrics there; 0 for not at all."
    ),
]
Health = Annotated[
    str | None,
    typer.Option(
        "--health-probe-bind-address",
        metavar="ADDRESS",
        help="Serve /healthz and /readyz there; 0 for not at all.",
    ),
]
Page = Annotated[
    str | None,
    typer.Option(
        "--page-bind-address",
        metavar="ADDRESS",
        help="Serve the status page there, on loopback alone. Off unless set.",
    ),
]
WebhookPort = Annotated[
    int | None,
    typer.Option("--webhook-port", metavar="PORT", help="Answer admission there. 9443 unless set."),
]
WebhookCertDir = Annotated[
    str,
    typer.Option(
        "--webhook-cert-dir",
        metavar="DIR",
        help="Where tls.crt and tls.key of the webhook are, and are looked for again.",
    ),
]
LeaderElect = Annotated[
    bool | None,
    typer.Option(
        "--leader-elect/--no-leader-elect",
        help="Write only while holding the Lease. On in a cluster, off elsewhere.",
    ),
]
LeaseNamespace = Annotated[
    str,
    typer.Option(
        "--leader-election-namespace", metavar="NAME", help="Where the Lease is; else the pod's."
    ),
]
LeaseDuration = Annotated[
    str,
    typer.Option(
        "--leader-elect-lease-duration",
        metavar="DURATION",
        help="How long a Lease lasts; its other times keep their proportions. 15s unless set.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--max-concurrent-reconciles", metavar="N", help="Passes at once for each capability."
    ),
]
Qps = Annotated[
    float | None,
    typer.Option("--kube-api-qps", metavar="N", help="Requests a second at most; 0 for no limit."),
]
LogLevel = Annotated[
    str, typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error.")
]
LogFormat = Annotated[
    str, typer.Option("--log-format", metavar="FORM", help="text or json; else what fits.")
]


@app.command()
def run(
    *,
    only: Only = "",
    read_only: ReadOnly = False,
    ca_sources_file: SourcesFile = "",
    allow_withdrawals: Allowed = None,
    cozy_proxy_contract_implemented: CozyProxy = None,
    endpoint_attachment_allocate_node_ports: NodePorts = None,
    attachment_tenant_classes: TenantClasses = None,
    kstatus_conditions: Kstatus = None,
    settings: SettingsFile = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    metrics_bind_address: Metrics = None,
    health_probe_bind_address: Health = None,
    page_bind_address: Page = None,
    webhook_port: WebhookPort = None,
    webhook_cert_dir: WebhookCertDir = "",
    leader_elect: LeaderElect = None,
    leader_election_namespace: LeaseNamespace = "",
    leader_elect_lease_duration: LeaseDuration = "",
    max_concurrent_reconciles: Workers = None,
    kube_api_qps: Qps = None,
    log_level: LogLevel = "",
    log_format: LogFormat = "",
) -> int:
    """Run the controllers against a cluster until SIGTERM or an interrupt.

    A flag wins over the settings file. Exit codes: 0 after a stop, 1 when the Lease was lost,
    2 when it could not start: an engine table that cannot be read is never taken for an empty one.
    """
    told = inputs.given(settings, ca_sources_file, allow_withdrawals or (), offline=False)
    flags = {
        "metricsBindAddress": metrics_bind_address,
        "healthProbeBindAddress": health_probe_bind_address,
        "pageBindAddress": page_bind_address,
        "webhookPort": webhook_port,
        "webhookCertDir": webhook_cert_dir or None,
        "leaderElect": leader_elect,
        "leaderElectionNamespace": leader_election_namespace or None,
        "leaderElectLeaseDuration": leader_elect_lease_duration or None,
        "maxConcurrentReconciles": max_concurrent_reconciles,
        "kubeApiQps": kube_api_qps,
        "logLevel": log_level or None,
        "logFormat": log_format or None,
        "readOnly": read_only or None,
        "only": only.split(",") if only else None,
    }
    stated = {name: value for name, value in flags.items() if value is not None}
    decides = laid_over(
        told.settings,
        cozy_proxy_contract_implemented=cozy_proxy_contract_implemented,
        endpoint_attachment_allocate_node_ports=endpoint_attachment_allocate_node_ports,
        attachment_tenant_classes=attachment_tenant_classes,
        kstatus_conditions=kstatus_conditions,
    )
    options = RunOptions(
        kubeconfig=kubeconfig,
        context=context,
        environ=dict(os.environ),
        settings=decides,
        **options_of({**told.rest, **stated}, settings),
    )
    return asyncio.run(run_manager(options, _pages(options)))


def _pages(options: RunOptions) -> Maker | None:
    """Who makes the status page; None where it is off, so that nothing of it is loaded."""
    if options.page in {"", OFF}:
        return None
    from roadstead.page import Site  # noqa: PLC0415 - it loads what explains decisions

    return Site


def laid_over(settings: Settings, **flags: bool | str | None) -> Settings:
    """Settings with the flags that were given in place of what the file says.

    flags: by the name of their field; None for one that was not given, text for a list.
    Raises: InputError.
    """
    stated: dict[str, Any] = {
        name: frozenset(names_of(f"--{name.replace('_', '-')}", flag))
        if isinstance(flag, str)
        else flag
        for name, flag in flags.items()
        if flag is not None
    }
    return replace(settings, **stated)


_FIELDS: dict[str, tuple[str, Any]] = {
    "only": ("only", (list, tuple, str)),
    "readOnly": ("read_only", bool),
    "metricsBindAddress": ("metrics", (str, int)),
    "healthProbeBindAddress": ("health", (str, int)),
    "pageBindAddress": ("page", (str, int)),
    "webhookPort": ("webhook_port", int),
    "webhookCertDir": ("webhook_cert_dir", str),
    "leaderElect": ("leader_elect", bool),
    "leaderElectionNamespace": ("lease_namespace", str),
    "leaderElectLeaseDuration": ("lease_seconds", str),
    "maxConcurrentReconciles": ("workers", int),
    "kubeApiQps": ("qps", (int, float)),
    "logLevel": ("log_level", str),
    "logFormat": ("log_format", str),
}


def options_of(stated: Mapping[str, Any], place: str) -> dict[str, Any]:
    """What concerns the process, as fields of RunOptions.

    Raises: InputError for a value of another type.
    """
    found: dict[str, Any] = {}
    for name, value in stated.items():
        field, wanted = _FIELDS[name]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise InputError(f"`{name}` has a value of another type", place=place)
        if name == "only":
            parts = value.split(",") if isinstance(value, str) else value
            value = tuple(str(part).strip() for part in parts)  # noqa: PLW2901 - its final form
        elif name == "webhookCertDir":
            value = Path(value)  # noqa: PLW2901 - its final form
        elif name == "leaderElectLeaseDuration":
            value = _seconds(value, place)  # noqa: PLW2901 - its final form
        elif name.endswith("BindAddress"):
            value = str(value)  # noqa: PLW2901 - `0` may stand there as a number
        found[field] = value
    return found


def _seconds(text: str, place: str) -> float:
    try:
        return parse_duration(text).total_seconds()
    except ValueError as error:
        raise InputError(f"`leaderElectLeaseDuration`: {error}", place=place) from None
