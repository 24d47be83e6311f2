"""The platform file: read, held against its schema, and what its fields say together."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.api.platform_fields import PLATFORM, PLATFORM_VERSION
from roadstead.capabilities.services.reading.build_platform import platform_of
from roadstead.capabilities.services.reading.texts import Text, opened
from roadstead.capabilities.services.reading.walk import Walk
from roadstead.kube.nearest import nearest
from roadstead.kube.times import parse_duration

ABOUT = "platform"
"""What findings of the platform file name in the place of a service."""


@dataclass(frozen=True, slots=True)
class PlatformRead:
    """The platform, or None where the file does not fit."""

    platform: Platform | None = field(repr=False)
    findings: tuple[Finding, ...]


def read_platform(text: Text) -> PlatformRead:
    """Read the platform file and say all that is wrong with it."""
    found = opened(text, ABOUT, "a platform file")
    if found.document is None:
        return PlatformRead(None, found.findings)
    origin = Origin(found.document)
    walk = Walk(origin, ABOUT)
    findings = [*found.findings, *walk.findings(PLATFORM, origin.value)]
    version = origin.value.get("schemaVersion", PLATFORM_VERSION)
    if isinstance(version, str) and not findings and version.split(".")[:2] != ["1", "0"]:
        message = f"schemaVersion {version} is not supported; this renderer reads 1.0.x"
        findings.append(walk.finding("S-10", origin.place("schemaVersion"), message))
    if findings:
        return PlatformRead(None, tuple(findings))
    platform = platform_of(origin.value, origin)
    findings += _together(platform, walk)
    return PlatformRead(None if findings else platform, tuple(findings))


def _together(platform: Platform, walk: Walk) -> Iterator[Finding]:
    """What no field can say alone."""
    yield from _gateway(platform, walk)
    yield from _vpn(platform, walk)
    yield from _backup(platform, walk)
    flux, place = platform.flux, walk.origin.place
    if parse_duration(flux.timeout) <= parse_duration(platform.update.health_timeout):
        message = (
            f"`flux.timeout`: {flux.timeout} is outside what exceeds `update.healthTimeout`"
            f" ({platform.update.health_timeout})"
        )
        yield walk.finding("S-06", place("flux", "timeout"), message)
    for at, prefix in enumerate(platform.dns.public_guard_prefixes):
        if prefix.startswith(f"{platform.label_prefix}/"):
            message = f"`dns.publicGuardPrefixes`: {prefix} is our own prefix"
            yield walk.finding("S-04", place("dns", "publicGuardPrefixes", at), message)
    forward = platform.identity.forward_auth
    if forward.mode == "envoy-gateway" and platform.gateway.dataplane != "pods":
        message = (
            "`identity.forwardAuth.mode`: envoy-gateway needs `gateway.dataplane: pods`, since"
            " only Envoy Gateway's own proxy asks its SecurityPolicy"
        )
        yield walk.finding("S-05", place("identity", "forwardAuth", "mode"), message)


def _gateway(platform: Platform, walk: Walk) -> Iterator[Finding]:
    gateway, origin = platform.gateway, walk.origin
    if gateway.dataplane == "pods" and not gateway.pod_labels:
        message = "`gateway.podLabels` is required with `gateway.dataplane: pods`"
        yield walk.finding("S-03", origin.key_place("gateway"), message)
    if gateway.dataplane != "pods" and gateway.pod_labels:
        message = "`gateway.podLabels`: labels do not match a dataplane known by its identity"
        hint = "set `gateway.dataplane: pods`, or remove the labels"
        yield walk.finding("S-04", origin.place("gateway", "podLabels"), message, hint)


def _vpn(platform: Platform, walk: Walk) -> Iterator[Finding]:
    """What each mode of the VPN needs, once any of it is stated."""
    vpn, origin = platform.egress.vpn, walk.origin
    stated = origin.value.get("egress", {}).get("vpn", {})
    if not stated:
        return
    place = origin.key_place("egress", "vpn")
    if vpn.mode == "proxy":
        if vpn.proxy is None:
            message = "`egress.vpn.proxy` is required with `egress.vpn.mode: proxy`"
            yield walk.finding("S-03", place, message)
        return
    if not vpn.node_selector:
        message = "`egress.vpn.nodeSelector` is required in egress-gateway mode"
        yield walk.finding("S-03", place, message)
    if bool(vpn.interface) == bool(vpn.egress_ip):
        message = (
            "`egress.vpn`: the mapping does not match exactly one of interface, egressIP; Cilium"
            " ignores a policy with both"
        )
        yield walk.finding("S-04", place, message)


def _backup(platform: Platform, walk: Walk) -> Iterator[Finding]:
    backup, origin = platform.backup, walk.origin
    if backup.schedules and not backup.default_schedule:
        message = "`backup.defaultSchedule` is required where schedules are defined"
        yield walk.finding("S-03", origin.key_place("backup"), message)
    if backup.default_schedule and backup.default_schedule not in backup.schedules:
        near = nearest(backup.default_schedule, backup.schedules)
        yield walk.finding(
            "P-BAK-01",
            origin.place("backup", "defaultSchedule"),
            f"schedule {backup.default_schedule} is not defined",
            f"did you mean `{near}`?" if near else "define it under `backup.schedules`",
        )
    if "reacquirable" in backup.schedules:
        message = "`backup.schedules`: `reacquirable` is no schedule but says that none is needed"
        place = origin.key_place("backup", "schedules", "reacquirable")
        yield walk.finding("S-04", place, message)
