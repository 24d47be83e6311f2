"""The virtual machine and its first boot. Source: contract 3.5, 3.10; R-PLAT-03."""

import re
from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import VIRTUAL_MACHINE
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import (
    MAIN,
    WORKLOAD_FILE,
    Rendered,
    in_order,
    rendered,
    selector,
)
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.documents import dump

_SECONDS = {"h": 3600, "m": 60, "s": 1}
_UPDATES = {
    "debian": "/usr/bin/unattended-upgrade",
    "rhel": "/usr/bin/dnf -y upgrade --refresh",
}
_PACKAGES = {
    "debian": ["qemu-guest-agent", "unattended-upgrades"],
    "rhel": ["qemu-guest-agent"],
}
_UNIT = "roadstead-update"


def seconds(duration: str) -> int:
    """A duration such as `1h30m` in seconds."""
    return sum(int(n) * _SECONDS[unit] for n, unit in re.findall(r"([0-9]+)([hms])", duration))


def machine(seen: Snapshot) -> Iterator[Rendered]:
    """The VirtualMachine; its disks stand beside it, so that they outlive it."""
    service = seen.service
    template = seen.platform.vm_templates.get(service.source.vm_template)
    if not service.is_vm or template is None:
        return
    domain = {
        "cpu": {"cores": service.vm.cpu or template.cpu},
        "memory": {"guest": service.vm.memory or template.memory},
        "devices": {
            "disks": _disks(seen),
            "interfaces": [{"name": "default", "masquerade": {}}],
            "rng": {},
        },
    }
    labels = {"app.kubernetes.io/name": service.name, **selector(seen)}
    spec = {
        "domain": domain,
        "networks": [{"name": "default", "pod": {}}],
        "terminationGracePeriodSeconds": 180,
        "volumes": _volumes(seen),
    }
    grace = service.termination_grace_period_seconds
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    if service.node_selector:
        spec["nodeSelector"] = in_order(service.node_selector)
    if service.tolerations:
        spec["tolerations"] = [in_order(one) for one in service.tolerations]
    yield rendered(
        seen,
        VIRTUAL_MACHINE,
        service.name,
        file=WORKLOAD_FILE,
        field="source.vmTemplate",
        role=roles.MACHINE,
        component=MAIN,
        rest={
            "spec": {
                "runStrategy": service.vm.run_strategy,
                "template": {"metadata": {"labels": in_order(labels)}, "spec": spec},
            }
        },
    )


def _disks(seen: Snapshot) -> list[dict[str, Any]]:
    data = [
        {"name": f"data-{one.name}", "serial": one.name, "disk": {"bus": "virtio"}}
        for one in seen.service.longhorn
    ]
    return [
        {"name": "rootdisk", "bootOrder": 1, "disk": {"bus": "virtio"}},
        *data,
        {"name": "cloudinit", "disk": {"bus": "virtio"}},
    ]


def _volumes(seen: Snapshot) -> list[dict[str, Any]]:
    name = seen.service.name
    data = [
        {"name": f"data-{one.name}", "dataVolume": {"name": f"{name}-{one.name}"}}
        for one in seen.service.longhorn
    ]
    return [
        {"name": "rootdisk", "dataVolume": {"name": f"{name}-root"}},
        *data,
        {"name": "cloudinit", "cloudInitNoCloud": {"userData": user_data(seen)}},
    ]


def user_data(seen: Snapshot) -> str:
    """The cloud-init of a machine: it holds no secret, and acts once for each instance."""
    service = seen.service
    template = seen.platform.vm_templates[service.source.vm_template]
    config: dict[str, Any] = {
        "hostname": service.name,
        "package_update": True,
        "packages": _PACKAGES[template.os_family],
    }
    if template.ssh_authorized_keys:
        config["ssh_authorized_keys"] = list(template.ssh_authorized_keys)
    if service.longhorn:
        # Without overwriting, cloud-init formats only a disk that holds nothing.
        config["fs_setup"] = [
            {"device": _device(one.name), "filesystem": "ext4", "overwrite": False}
            for one in service.longhorn
        ]
        config["mounts"] = [
            [_device(one.name), one.mount_path, "ext4", _options(one.read_only), "0", "2"]
            for one in service.longhorn
        ]
    config["write_files"] = _units(_UPDATES[template.os_family], seconds(service.update.cadence))
    config["runcmd"] = [
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", "--now", "qemu-guest-agent.service"],
        ["systemctl", "enable", "--now", f"{_UNIT}.timer"],
    ]
    return f"#cloud-config\n{dump([config])}"


def _device(serial: str) -> str:
    return f"/dev/disk/by-id/virtio-{serial}"


def _options(read_only: bool) -> str:
    return "defaults,nofail,ro" if read_only else "defaults,nofail"


def _units(command: str, every: int) -> list[dict[str, str]]:
    service = f"[Service]\nType=oneshot\nExecStart={command}\n"
    timer = (
        f"[Timer]\nOnBootSec=15min\nOnUnitActiveSec={every}\n\n[Install]\nWantedBy=timers.target\n"
    )
    return [
        {"path": f"/etc/systemd/system/{_UNIT}.service", "content": service},
        {"path": f"/etc/systemd/system/{_UNIT}.timer", "content": timer},
    ]
