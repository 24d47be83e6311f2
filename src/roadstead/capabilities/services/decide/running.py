"""Rules of watching, backup, virtual machines and privileges. Source: contract 3.5, 3.11, 4.2."""

from collections.abc import Iterator

from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.parts import REACQUIRABLE, Sli
from roadstead.capabilities.services.api.words import BUILTIN_SLIS
from roadstead.capabilities.services.decide.saying import meant, said
from roadstead.capabilities.services.render.machine import seconds, user_data
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.nearest import nearest

_MOST_USER_DATA = 2048
_CONTAINER_FIELDS = (
    ("env",),
    ("command",),
    ("args",),
    ("config",),
    ("probes", "startup", "exec"),
    ("probes", "readiness", "exec"),
    ("probes", "liveness", "exec"),
    ("resources",),
    ("workload",),
    ("podSecurityContext",),
    ("securityContext",),
)
"""What says nothing about a vm; stating it empty says nothing either."""


def metrics_have_a_port(seen: Snapshot) -> Iterator[Finding]:
    """P-OBS-01."""
    service = seen.service
    if service.observability.metrics and service.metrics_port is None:
        message = f"metrics are on but no port is known; nothing scrapes {service.name}"
        hint = "state `observability.port`, or set `metrics: false`"
        yield said(seen, "P-OBS-01", ("observability", "metrics"), message, hint=hint)


def indicators_can_work(seen: Snapshot) -> Iterator[Finding]:
    """P-OBS-02."""
    for one in seen.service.observability.slis:
        message, hint = _fault_of(seen, one)
        if message:
            path = ("observability", "slis", one.index)
            yield said(seen, "P-OBS-02", path, message, hint=hint)


def _fault_of(seen: Snapshot, sli: Sli) -> tuple[str, str]:
    """What is wrong with an indicator and what was meant; empty for nothing."""
    service = seen.service
    if not sli.builtin:
        if sli.name in BUILTIN_SLIS:
            return f"SLI {sli.name} is a builtin one and cannot be given again", ""
        return ("", "") if sli.expr.strip() else (f"SLI {sli.name} has no `expr`", "")
    if sli.name not in BUILTIN_SLIS:
        near = nearest(sli.name, BUILTIN_SLIS)
        listed = ", ".join(BUILTIN_SLIS)
        return f"SLI {sli.name} is no builtin one ({listed}) and has no `expr`", meant(near)
    if sli.name == "scrape" and service.scraped_port is None:
        return "SLI scrape needs a metrics port", ""
    if sli.name == "storage" and not service.longhorn:
        return "SLI storage needs a longhorn volume", ""
    return "", ""


def schedule_exists(seen: Snapshot) -> Iterator[Finding]:
    """P-BAK-01 and P-BAK-02."""
    policy = seen.service.backup
    schedules = seen.platform.backup.schedules
    if not policy or policy == REACQUIRABLE:
        return
    path = ("backup", "policy")
    if policy not in schedules:
        near = nearest(policy, (*schedules, REACQUIRABLE), max(2, len(policy) * 2 // 3))
        yield said(seen, "P-BAK-01", path, f"schedule {policy} is not defined", hint=meant(near))
    elif not seen.service.durable:
        message = f"schedule {policy} but no durable volume: only objects are backed up"
        yield said(seen, "P-BAK-02", path, message)


def irreplaceable_state_is_backed_up(seen: Snapshot) -> Iterator[Finding]:
    """I-6."""
    service = seen.service
    reasons = ["it is a vm"] if service.is_vm else []
    reasons += [f"longhorn volume {one.name}" for one in service.longhorn]
    if service.name in seen.platform.backup.irreplaceable:
        reasons.append("it is in `backup.irreplaceable`")
    if reasons and service.backup in {"", REACQUIRABLE}:
        message = (
            f"{service.name} holds irreplaceable state ({', '.join(reasons)}) but backup.policy is"
            f" {service.backup or 'absent'}"
        )
        yield said(seen, "I-6", ("backup", "policy"), message)


def template_exists(seen: Snapshot) -> Iterator[Finding]:
    """P-VM-01 and P-VM-02."""
    service, templates = seen.service, seen.platform.vm_templates
    if not service.is_vm or not service.source.vm_template:
        return
    path = ("source", "vmTemplate")
    if service.source.vm_template not in templates:
        near = nearest(service.source.vm_template, templates)
        message = f"vmTemplate {service.source.vm_template} is not defined"
        yield said(seen, "P-VM-01", path, message, hint=meant(near))
        return
    size = len(user_data(seen).encode())
    if size > _MOST_USER_DATA:
        message = f"cloud-init user data is {size} bytes, limit {_MOST_USER_DATA}"
        yield said(seen, "P-VM-02", path, message)


def vm_states_no_container_fields(seen: Snapshot) -> Iterator[Finding]:
    """P-VM-03."""
    service = seen.service
    if not service.is_vm:
        return
    for path in _CONTAINER_FIELDS:
        if service.stated(*path) and _written(seen, path):
            message = f"`{'.'.join(path)}` does not apply to kind vm"
            yield said(seen, "P-VM-03", path, message)
    if service.replicas != 1:
        message = f"`replicas`: {service.replicas} does not apply to kind vm"
        yield said(seen, "P-VM-03", ("replicas",), message)
    for one in service.storage:
        if one.sub_path:
            message = f"`storage[{one.index}].subPath` does not apply to kind vm"
            yield said(seen, "P-VM-03", ("storage", one.index, "subPath"), message)


def _written(seen: Snapshot, path: tuple[str, ...]) -> object:
    found: object = seen.service.origin.value
    for step in path:
        found = found[step] if isinstance(found, dict) else None
    return found


def guests_keep_their_cadence(seen: Snapshot) -> Iterator[Finding]:
    """P-VM-04, against the tree as it was."""
    service = seen.service
    if not service.is_vm or seen.previous is None:
        return
    kept = seen.previous.other_cadence(seconds(service.update.cadence))
    if kept is not None:
        message = (
            f"cadence is now {service.update.cadence}: existing guests keep"
            f" {kept} s until they are rebuilt"
        )
        yield said(seen, "P-VM-04", ("update", "cadence"), message)


def privileges_are_known(seen: Snapshot) -> Iterator[Finding]:
    """P-PSA-01."""
    service = seen.service
    if service.pod_security == "privileged":
        message = "the namespace admits privileged pods"
        yield said(seen, "P-PSA-01", ("podSecurity",), message)
    if service.security_context.get("privileged") is True:
        path = ("securityContext", "privileged")
        yield said(seen, "P-PSA-01", path, "the container is privileged")
