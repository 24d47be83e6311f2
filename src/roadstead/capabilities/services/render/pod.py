"""The pod of a container service. Source: contract 3.5, 3.4; R-PLAT-02, R-UPD-03."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.capabilities.services.api.parts import STATEFUL_SET, TCP, VPN, EnvVar
from roadstead.capabilities.services.api.platform import ServedPort
from roadstead.capabilities.services.render.images import image
from roadstead.capabilities.services.render.part import in_order, selector, tidy
from roadstead.capabilities.services.render.policies import VPN_PROXY
from roadstead.capabilities.services.render.storage import LONGHORN_BACKUP, scheduled
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.objects import canonical

_HASH = 16
_SUFFIX = 8
_LONGEST_KEY = 253
_NOT_IN_KEYS = re.compile(r"[^-._a-zA-Z0-9]")
_PROBE_KEYS = (
    "httpGet",
    "tcpSocket",
    "exec",
    "initialDelaySeconds",
    "periodSeconds",
    "timeoutSeconds",
    "successThreshold",
    "failureThreshold",
)
_ALL_POWER = {"SYS_ADMIN", "CAP_SYS_ADMIN", "ALL"}


def pod_template(seen: Snapshot) -> dict[str, Any]:
    """The template of a Deployment or StatefulSet."""
    labels = {"app.kubernetes.io/name": seen.service.name, **selector(seen)}
    notes = _annotations(seen)
    metadata = {"labels": in_order(labels), **({"annotations": in_order(notes)} if notes else {})}
    return {"metadata": metadata, "spec": _pod(seen)}


def config_keys(seen: Snapshot) -> dict[str, str]:
    """The ConfigMap's key of each configured path.

    The path with its slashes as dashes; a hash tells apart those that would be one key.
    """
    slugs = {one.path: _slug(one.path) for one in seen.service.config}
    taken = list(slugs.values())
    return {
        path: slug if taken.count(slug) == 1 and len(slug) <= _LONGEST_KEY else _told_apart(path)
        for path, slug in slugs.items()
    }


def _slug(path: str) -> str:
    return _NOT_IN_KEYS.sub("-", path.lstrip("/").replace("/", "-"))


def _told_apart(path: str) -> str:
    digest = hashlib.sha256(path.encode()).hexdigest()[:_SUFFIX]
    return f"{_slug(path)[: _LONGEST_KEY - _SUFFIX - 1]}-{digest}"


def _annotations(seen: Snapshot) -> dict[str, str]:
    service, platform = seen.service, seen.platform
    notes: dict[str, str] = {}
    if service.config:
        content = canonical([[one.path, one.content] for one in service.config])
        key = f"{platform.label_prefix}/config-hash"
        notes[key] = hashlib.sha256(content).hexdigest()[:_HASH]
    vpn = platform.egress.vpn
    if service.egress == VPN and vpn.mode != VPN_PROXY and vpn.ip_pool:
        # From a pool nobody routes back to, what is sent before it is steered gets no answer.
        notes["ipam.cilium.io/ip-pool"] = vpn.ip_pool
    if scheduled(seen) and platform.backup.mechanism != LONGHORN_BACKUP and service.bulk:
        names = ",".join(one.name for one in service.bulk)
        notes["backup.velero.io/backup-volumes-excludes"] = names
    return notes


def _pod(seen: Snapshot) -> dict[str, Any]:
    service = seen.service
    context = {"seccompProfile": {"type": "RuntimeDefault"}, **service.pod_security_context}
    pod: dict[str, Any] = {"automountServiceAccountToken": service.cluster_api}
    if service.cluster_api:
        pod["serviceAccountName"] = service.name
    pod["enableServiceLinks"] = False
    if service.node_selector:
        pod["nodeSelector"] = in_order(service.node_selector)
    if service.tolerations:
        pod["tolerations"] = tidy(service.tolerations)
    if service.termination_grace_period_seconds is not None:
        pod["terminationGracePeriodSeconds"] = service.termination_grace_period_seconds
    pod["securityContext"] = tidy(context)
    pod["containers"] = [_container(seen)]
    if volumes := _volumes(seen):
        pod["volumes"] = volumes
    return pod


def _container(seen: Snapshot) -> dict[str, Any]:
    service = seen.service
    container: dict[str, Any] = {
        "name": service.name,
        "image": image(seen),
        "imagePullPolicy": "IfNotPresent",
    }
    if service.command is not None:
        container["command"] = list(service.command)
    if service.args is not None:
        container["args"] = list(service.args)
    parts: dict[str, Any] = {
        "ports": _ports(seen),
        "env": _env(seen),
        "resources": resources(service.resources.requests, service.resources.limits),
        "startupProbe": probe(service.probes.startup),
        "readinessProbe": _readiness(seen),
        "livenessProbe": probe(service.probes.liveness),
        "securityContext": _security(service.security_context),
        "volumeMounts": _mounts(seen),
    }
    return container | {key: value for key, value in parts.items() if value}


def resources(requests: Mapping[str, str], limits: Mapping[str, str]) -> dict[str, Any]:
    """Requests and limits, what is empty left out."""
    both = {"requests": in_order(requests), "limits": in_order(limits)}
    return {key: value for key, value in both.items() if value}


def _security(stated: Mapping[str, Any]) -> dict[str, Any]:
    """No escalation, unless what is stated holds every privilege already.

    The API server refuses the two together.
    """
    added = set((stated.get("capabilities") or {}).get("add") or ())
    if stated.get("privileged") or added & _ALL_POWER:
        return dict(tidy(stated))
    return dict(tidy({"allowPrivilegeEscalation": False, **stated}))


def _ports(seen: Snapshot) -> list[dict[str, Any]]:
    service = seen.service
    found = {(one.port, one.protocol): one for one in seen.catalog.served(service.name)}
    extra = [(one.port, one.protocol) for one in service.direct_ports]
    if service.scraped_port is not None:
        extra.append((service.scraped_port, TCP))
    for pair in extra:
        found.setdefault(pair, ServedPort(*pair))
    return [
        {"name": one.entry, "containerPort": one.port, "protocol": one.protocol}
        for _, one in sorted(found.items())
    ]


def _env(seen: Snapshot) -> list[dict[str, Any]]:
    """By name; the variables of a VPN's proxy win over stated ones."""
    found = {one.name: _variable(seen, one) for one in seen.service.env}
    vpn = seen.platform.egress.vpn
    if seen.service.egress == VPN and vpn.mode == VPN_PROXY and vpn.proxy is not None:
        around = f"localhost,127.0.0.1,::1,.svc,.{seen.platform.cluster.dns_domain}"
        values = {"HTTP_PROXY": vpn.proxy.url, "HTTPS_PROXY": vpn.proxy.url, "NO_PROXY": around}
        for name, value in values.items():
            for spelled in (name, name.lower()):
                found[spelled] = {"name": spelled, "value": value}
    return [found[name] for name in sorted(found)]


def _variable(seen: Snapshot, one: EnvVar) -> dict[str, Any]:
    if one.value is not None:
        return {"name": one.name, "value": one.value}
    reference = {"name": f"{seen.service.name}-{one.secret}", "key": one.secret_key}
    return {"name": one.name, "valueFrom": {"secretKeyRef": reference}}


def probe(stated: Mapping[str, Any] | None) -> dict[str, Any]:
    """A probe, its keys in the order Kubernetes documents them; empty for none."""
    if not stated:
        return {}
    found = {key: stated[key] for key in _PROBE_KEYS if stated.get(key) is not None}
    if "httpGet" in found:
        get = found["httpGet"]
        found["httpGet"] = {key: get[key] for key in ("path", "port", "scheme") if key in get}
    return found


def _readiness(seen: Snapshot) -> dict[str, Any]:
    """The stated probe, or one that connects to the port people come through."""
    stated = seen.service.probes.readiness
    if stated is False:
        return {}
    if isinstance(stated, Mapping):
        return probe(stated)
    port = default_probe_port(seen)
    if port is None:
        return {}
    return {"tcpSocket": {"port": port}, "periodSeconds": 10, "failureThreshold": 6}


def default_probe_port(seen: Snapshot) -> int | None:
    """The primary route's port, else the lowest TCP port served; None without any."""
    route = seen.service.primary_route
    if route is not None:
        return route.port
    served = seen.catalog.served(seen.service.name)
    return min((one.port for one in served if one.protocol == TCP), default=None)


def _mounts(seen: Snapshot) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = []
    for one in seen.service.storage:
        mount: dict[str, Any] = {"name": one.name, "mountPath": one.mount_path}
        if one.sub_path:
            mount["subPath"] = one.sub_path
        if one.read_only:
            mount["readOnly"] = True
        mounts.append(mount)
    volume, keys = _config_volume(seen), config_keys(seen)
    return mounts + [
        {"name": volume, "mountPath": file.path, "subPath": keys[file.path]}
        for file in seen.service.config
    ]


def _volumes(seen: Snapshot) -> list[dict[str, Any]]:
    service = seen.service
    templated = service.longhorn if service.workload == STATEFUL_SET else ()
    volumes: list[dict[str, Any]] = [
        {"name": one.name, "persistentVolumeClaim": {"claimName": f"{service.name}-{one.name}"}}
        for one in service.storage
        if one not in templated
    ]
    if service.config:
        volumes.append(
            {"name": _config_volume(seen), "configMap": {"name": f"{service.name}-config"}}
        )
    return volumes


def _config_volume(seen: Snapshot) -> str:
    """A volume name that no storage entry has."""
    return _free("config-files", (one.name for one in seen.service.storage))


def _free(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while name in names:
        name += "-x"
    return name
