"""`roadstead run`: the controllers, in the foreground, until they are told to stop."""

import asyncio
import os
from collections.abc import Mapping
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
from roadstead.runtime.manager import run as run_manager
from roadstead.runtime.options import RunOptions

EXAMPLES = (
    "roadstead run --read-only",
    "roadstead run --ca-sources-file ca-sources.yaml --leader-elect",
)
app = application()

Only = Annotated[
    str, typer.Option("--only", metavar="NAMES", help="The capabilities to run, comma-separated.")
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Decide and report, write nothing: a rehearsal.")
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
    settings: SettingsFile = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    metrics_bind_address: Metrics = None,
    health_probe_bind_address: Health = None,
    leader_elect: LeaderElect = None,
    leader_election_namespace: LeaseNamespace = "",
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
        "leaderElect": leader_elect,
        "leaderElectionNamespace": leader_election_namespace or None,
        "maxConcurrentReconciles": max_concurrent_reconciles,
        "kubeApiQps": kube_api_qps,
        "logLevel": log_level or None,
        "logFormat": log_format or None,
        "readOnly": read_only or None,
        "only": only.split(",") if only else None,
    }
    stated = {name: value for name, value in flags.items() if value is not None}
    process = options_of({**told.rest, **stated}, settings)
    options = RunOptions(
        kubeconfig=kubeconfig,
        context=context,
        environ=dict(os.environ),
        settings=told.settings,
        **process,
    )
    return asyncio.run(run_manager(options))


_FIELDS: dict[str, tuple[str, Any]] = {
    "only": ("only", (list, tuple, str)),
    "readOnly": ("read_only", bool),
    "metricsBindAddress": ("metrics", (str, int)),
    "healthProbeBindAddress": ("health", (str, int)),
    "leaderElect": ("leader_elect", bool),
    "leaderElectionNamespace": ("lease_namespace", str),
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
        elif name.endswith("BindAddress"):
            value = str(value)  # noqa: PLW2901 - `0` may stand there as a number
        found[field] = value
    return found
