"""The platform file, with its defaults, as the typed model."""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.services.api import platform as made
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.api.platform import Label, Named, Platform
from roadstead.capabilities.services.api.platform_fields import PLATFORM
from roadstead.capabilities.services.api.setting import Setting

Written = Mapping[str, Any]

_DEFAULT_RESOURCES = {"requests": {"cpu": "50m", "memory": "128Mi"}}


def platform_of(written: Written, origin: Origin) -> Platform:
    """Build a platform from a file that fits its schema."""
    found = _filled(PLATFORM, written)
    prefix = found["labelPrefix"]
    defaults = found["defaults"].get("resources") or _DEFAULT_RESOURCES
    return Platform(
        name=found["name"],
        domain=found["domain"],
        origin=origin,
        gateway=_gateway(found["gateway"], prefix),
        schema_version=found["schemaVersion"],
        label_prefix=prefix,
        cluster=made.Cluster(found["cluster"]["dnsDomain"], tuple(found["cluster"]["ipFamilies"])),
        flux=_flux(found["flux"]),
        network=_network(found["network"]),
        egress=_egress(found["egress"]),
        storage=made.Stores(
            found["storage"]["longhorn"]["className"],
            found["storage"]["longhorn"]["namespace"],
            found["storage"]["bulk"]["server"],
            tuple(found["storage"]["bulk"]["mountOptions"]),
        ),
        tls=made.Tls(
            _named(found["tls"].get("issuer"), Named("ClusterIssuer", "letsencrypt-dns01")),
            found["tls"].get("wildcardSecret", ""),
        ),
        dns=made.Dns(
            _label(found["dns"].get("publicLabel"), Label(f"{prefix}/exposure", "public")),
            tuple(sorted(found["dns"]["publicGuardPrefixes"])),
        ),
        identity=_identity(found["identity"]),
        observability=made.Observing(
            found["observability"]["namespace"],
            found["observability"]["prometheusLabels"],
            found["observability"]["dashboardLabel"],
            found["observability"]["scrapeInterval"],
        ),
        update=_update(found["update"], found["domain"]),
        backup=_backup(found["backup"]),
        pod_security=made.PodSecurity(**found["podSecurity"]),
        default_resources=defaults,
        platform_services=_services(found["platformServices"]),
        vm_templates=_templates(found["vmTemplates"]),
        waivers=tuple(
            made.Waiver(one["check"], one["service"], one["reason"], at)
            for at, one in enumerate(found["waivers"])
        ),
    )


def _filled(setting: Setting, value: Any) -> Any:
    """A copy with constant defaults; every nested mapping that has some is there."""
    if isinstance(value, Mapping):
        if setting.values is not None:
            return {key: _filled(setting.values, one) for key, one in sorted(value.items())}
        found = {key: _filled(setting.fields[key], one) for key, one in value.items()}
        for key, part in setting.fields.items():
            if key in found:
                continue
            if part.default is not None:
                found[key] = _filled(part, part.default)
            elif part.fields and not part.required and not part.one_of:
                found[key] = _filled(part, {})
        return found
    if isinstance(value, list):
        return [_filled(setting.items, one) if setting.items else one for one in value]
    return value


def _named(found: Written | None, default: Named) -> Named:
    return Named(found["kind"], found["name"]) if found else default


def _label(found: Written | None, default: Label) -> Label:
    return Label(found["key"], found["value"]) if found else default


def _flux(found: Written) -> made.Flux:
    return made.Flux(
        found["namespace"],
        _named(found.get("sourceRef"), Named("GitRepository", "flux-system")),
        found["branch"],
        found["outputPath"],
        found["kustomizationPrefix"],
        tuple(found["dependsOn"]),
        found["interval"],
        found["retryInterval"],
        found["timeout"],
        found["varsConfigMap"],
        found["decryptionSecret"],
    )


def _gateway(found: Written, prefix: str) -> made.Gateway:
    return made.Gateway(
        found["name"],
        found["namespace"],
        found["httpsListener"],
        found.get("publicListener", ""),
        found["dataplane"],
        found["podLabels"],
        _label(found.get("namespaceLabel"), Label(f"{prefix}/routable", "true")),
        found["directAnnotations"],
    )


def _network(found: Written) -> made.Network:
    resolver = found["resolver"]
    return made.Network(
        found["baseline"],
        tuple(sorted(found["clientNamespaces"])),
        made.Resolver(
            resolver["namespace"],
            resolver["podLabels"],
            resolver["port"],
            resolver["l7"],
            resolver["nodeLocal"],
        ),
    )


def _egress(found: Written) -> made.Egress:
    vpn = found["vpn"]
    proxy = vpn.get("proxy")
    return made.Egress(
        tuple(sorted(found["internet"]["exceptCIDRs"])),
        made.VpnEgress(
            vpn["mode"],
            tuple(sorted(vpn["requiredFor"])),
            vpn.get("nodeSelector", {}),
            vpn.get("interface", ""),
            vpn.get("egressIP", ""),
            vpn.get("ipPool", ""),
            vpn["ipv6"],
            made.Proxy(proxy["namespace"], proxy["podLabels"], proxy["port"], proxy["url"])
            if proxy
            else None,
        ),
    )


def _identity(found: Written) -> made.Identity:
    realm = found.get("realmRef")
    forward = found["forwardAuth"]
    return made.Identity(
        found["provider"],
        found.get("realm", ""),
        Named(realm["kind"], realm["name"]) if realm else None,
        found.get("issuerURL", "").rstrip("/"),
        found.get("backchannelURL", "").rstrip("/"),
        found.get("namespace", ""),
        found.get("podLabels", {}),
        found.get("port"),
        tuple(sorted(found["defaultGroups"])),
        found["groupsFullPath"],
        tuple(sorted(found["nativeAllowed"])),
        made.ForwardAuth(forward["mode"], forward["image"]),
    )


def _update(found: Written, domain: str) -> made.Updating:
    author = found["author"]
    return made.Updating(
        found["rollback"],
        found["cadence"],
        found["healthTimeout"],
        found["alertProvider"],
        author["name"],
        author.get("email", f"automation@{domain}"),
    )


def _backup(found: Written) -> made.Backup:
    return made.Backup(
        found["velero"]["namespace"],
        found["velero"]["storageLocation"],
        found["mechanism"],
        found.get("defaultSchedule", ""),
        {
            key: made.Schedule(key, one["cron"], one["ttl"], one["retain"])
            for key, one in found["schedules"].items()
        },
        tuple(sorted(found["irreplaceable"])),
    )


def _services(found: Written) -> dict[str, made.PlatformService]:
    return {
        key: made.PlatformService(
            key,
            one["namespace"],
            one["podLabels"],
            tuple(
                sorted(
                    (made.ServedPort(port["port"], port["protocol"]) for port in one["ports"]),
                    key=lambda port: (port.port, port.protocol),
                )
            ),
        )
        for key, one in found.items()
    }


def _templates(found: Written) -> dict[str, made.VmTemplate]:
    return {
        key: made.VmTemplate(
            key,
            one["osFamily"],
            one["source"],
            one["size"],
            one["cpu"],
            one["memory"],
            tuple(one["sshAuthorizedKeys"]),
        )
        for key, one in found.items()
    }
