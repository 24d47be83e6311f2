"""Fills the defaults in, on a copy: an absent field renders its default posture.

Source: contract 1.4, in its order.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.services.api.fields import DEFINITION
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, LONGHORN, NO_AUTH, VM
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.api.setting import Setting
from roadstead.kube.images import parse_image
from roadstead.kube.semver import Version


def materialised(written: Mapping[str, Any], platform: Platform) -> dict[str, Any]:
    """A definition with every default filled in.

    written: one that fits its schema.
    """
    found: dict[str, Any] = filled(DEFINITION, written)
    for client in found["inClusterClients"]:
        client.setdefault("name", client["namespace"])
    for volume in found["storage"]:
        volume.setdefault("mountPath", f"/data/{volume['name']}")
    _auth(found, platform)
    _resources(found, platform)
    durable = found["kind"] == VM or any(one["class"] == LONGHORN for one in found["storage"])
    policy = platform.backup.default_schedule
    if durable and policy:
        found["backup"].setdefault("policy", policy)
    found["update"].setdefault("cadence", platform.update.cadence)
    if found["update"]["order"] == "semver" and found["kind"] != VM:
        derived = derived_range(found["source"].get("image", ""))
        if derived:
            found["update"].setdefault("range", derived)
    return found


def filled(setting: Setting, value: Any) -> Any:
    """A copy of a value with the constant defaults of its fields."""
    if isinstance(value, dict):
        fields = setting.fields or next((one.fields for one in setting.either if one.fields), {})
        found = {
            key: filled(fields[key], one) if key in fields else _copied(one)
            for key, one in value.items()
        }
        for key, part in fields.items():
            if key in found:
                continue
            if part.default is not None:
                found[key] = _copied(part.default)
            elif key in _ALWAYS and part.fields:
                found[key] = filled(part, {})
        return found
    if isinstance(value, list):
        item = setting.items
        return [filled(item, one) if item else _copied(one) for one in value]
    return value


_ALWAYS = frozenset({"auth", "update", "observability", "backup", "probes", "resources", "vm"})
"""Mappings that are there even when nothing of them is written."""


def derived_range(image: str) -> str:
    """`^X.Y.Z` of an image whose tag is a release; empty for any other. Source: contract 3.10."""
    try:
        version = Version.parse(parse_image(image).tag, whole=True)
    except ValueError:
        return ""
    if version.pre:
        return ""
    return f"^{version.major}.{version.minor}.{version.patch}"


def _auth(found: dict[str, Any], platform: Platform) -> None:
    """A written mode never receives default groups."""
    auth = found["auth"]
    if "mode" in auth:
        return
    auth["mode"] = FORWARD_AUTH if found["ingressRoutes"] else NO_AUTH
    if auth["mode"] == FORWARD_AUTH and not auth["groups"]:
        auth["groups"] = list(platform.identity.default_groups)


def _resources(found: dict[str, Any], platform: Platform) -> None:
    """Requests and limits each come from the platform where the definition has none."""
    if found["kind"] != VM:
        for kind, amounts in platform.default_resources.items():
            found["resources"].setdefault(kind, dict(amounts))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value
