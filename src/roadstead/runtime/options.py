"""What `roadstead run` is started with, as one frozen value. Source: cli.md, 2.3."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.errors import InputError
from roadstead.kube.nearest import did_you_mean
from roadstead.runtime.lease import Terms
from roadstead.settings import Settings
from roadstead.wiring import Admission, Controller

Capability = TypeVar("Capability")
JOIN_SECONDS = 20.0
"""How long a stop waits for passes in work."""
SHORTEST_TO_LONGEST = range(3, 301)
"""Seconds a lease may last; Kubernetes writes whole ones."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The flags of `run`.

    kubeconfig, context: empty for the usual places. environ: the process's environment.
    only: the capabilities to run, by name; empty for all.
    settings: what the decisions may know. read_only: decide, report, write nothing.
    metrics, health, page: addresses such as `:8080`; `0` or empty serves nothing.
    webhook_port, webhook_cert_dir: for capabilities that answer admission; 0 takes a free port.
    webhook_host: the one address to answer at; empty for all there are.
    leader_elect: None for "in a cluster, and not under read_only".
    lease_namespace: empty for the pod's, or the context's. lease_seconds: a lease lasts.
    workers: passes at once for each controller; None for what each asks for.
    qps: requests a second at most; 0 for no limit of ours.
    log_level: debug, info, warning or error. log_format: text or json; empty for what fits.
    log_descriptor: where lines are written.
    """

    kubeconfig: str = ""
    context: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    only: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    read_only: bool = False
    metrics: str = ":8080"
    health: str = ":8081"
    page: str = ""
    webhook_port: int = 9443
    webhook_host: str = ""
    webhook_cert_dir: Path | None = None
    leader_elect: bool | None = None
    lease_namespace: str = ""
    lease_seconds: float = Terms().duration
    workers: int | None = None
    qps: float = 0.0
    log_level: str = "info"
    log_format: str = ""
    log_descriptor: int = 2

    def __post_init__(self) -> None:
        """Refuse what cannot be meant.

        Raises: InputError.
        """
        if self.workers is not None and self.workers < 1:
            raise InputError(f"--max-concurrent-reconciles: {self.workers} is less than 1")
        if self.qps < 0:
            raise InputError(f"--kube-api-qps: {self.qps:g} is less than 0", hint="0 sets no limit")
        if not 0 <= self.webhook_port <= 65535:  # noqa: PLR2004 - the last port
            raise InputError(f"--webhook-port: {self.webhook_port} is no port")
        if self.log_level not in {"debug", "info", "warning", "error"}:
            raise InputError(
                f"--log-level: `{self.log_level}` is none of debug, info, warning, error"
            )
        if self.log_format not in {"", "text", "json"}:
            raise InputError(f"--log-format: `{self.log_format}` is neither text nor json")
        if self.lease_seconds not in SHORTEST_TO_LONGEST:
            least, most = SHORTEST_TO_LONGEST[0], SHORTEST_TO_LONGEST[-1]
            raise InputError(
                f"--leader-elect-lease-duration: {self.lease_seconds:g} s is no whole number of "
                f"seconds from {least} to {most}"
            )
        if self.read_only and self.leader_elect:
            raise InputError(
                "--leader-elect with --read-only: a run that writes nothing takes no lease",
                hint="leave one of them out",
            )


def served(options: RunOptions) -> tuple[tuple[Controller, ...], tuple[Admission, ...]]:
    """What `--only` names, all without it, sorted: controllers, and who answers admission.

    Without `--only` admission is answered where a certificate is given; a rehearsal answers none,
    since every answer changes an object.
    Raises: InputError for a name nobody has, and for admission without a certificate.
    """
    wanted = chosen({**CONTROLLERS, **ADMISSIONS}, options.only)
    admissions = tuple(one for one in wanted if isinstance(one, Admission))
    if options.webhook_cert_dir is None or options.read_only:
        if admissions and options.only and not options.read_only:
            raise InputError(
                f"--only {admissions[0].name}: nobody can be answered without a certificate",
                hint="name the folder of tls.crt and tls.key with --webhook-cert-dir",
            )
        admissions = ()
    return tuple(one for one in wanted if isinstance(one, Controller)), admissions


def chosen(known: Mapping[str, Capability], only: Iterable[str]) -> tuple[Capability, ...]:
    """The capabilities that `--only` names, all without it, sorted.

    Raises: InputError for a name nobody has.
    """
    wanted = sorted(set(only) or known)
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known, f"known: {', '.join(sorted(known))}")
            raise InputError(f"--only: there is no capability `{name}`", hint=hint)
    return tuple(known[name] for name in wanted)
