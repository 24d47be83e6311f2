"""The JSON Schema of definitions and of the platform file, for editors.

With a platform its own values stand where a definition may name them. Source: contract 5.3;
JSON Schema 2020-12.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.capabilities.services.api.fields import DEFINITION
from roadstead.capabilities.services.api.parts import REACQUIRABLE
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.api.platform_fields import PLATFORM
from roadstead.capabilities.services.api.setting import Setting
from roadstead.capabilities.services.api.words import BUILTIN_SLIS
from roadstead.kube.images import IMAGE_PATTERN

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$"


def definition_schema(
    platform: Platform | None = None, services: Iterable[str] = ()
) -> dict[str, Any]:
    """The schema of a definition file: one definition, or a list under `services`.

    platform: fills in what may be named. services: the names of the catalog.
    """
    one = _schema(DEFINITION)
    _refine(one, platform, sorted(services))
    many = {
        "type": "object",
        "properties": {"services": {"type": "array", "items": {"$ref": "#/$defs/service"}}},
        "required": ["services"],
        "additionalProperties": False,
    }
    return {
        "$schema": DIALECT,
        "title": "ServiceDefinition",
        "if": {"type": "object", "required": ["services"]},
        "then": many,
        "else": {"$ref": "#/$defs/service"},
        "$defs": {"service": one},
    }


def platform_schema() -> dict[str, Any]:
    """The schema of the platform file."""
    return {"$schema": DIALECT, "title": "Platform", **_schema(PLATFORM)}


def _schema(one: Setting) -> dict[str, Any]:
    """One field; what a function checks is told in words."""
    if one.either:
        plain = _plain(one)
        described = {"description": plain.pop("description")}
        return {**described, **_marks(one), "anyOf": [plain, *(_schema(o) for o in one.either)]}
    return {**_plain(one), **_marks(one)}


def _plain(one: Setting) -> dict[str, Any]:
    meaning = f"{one.meaning} Must be {one.words}." if one.words else one.meaning
    limits = {
        "enum": list(one.choices),
        "pattern": one.pattern,
        "minLength": one.shortest,
        "maxLength": one.longest,
        "required": list(one.required),
        "oneOf": [{"required": [key]} for key in one.one_of],
        "uniqueItems": one.unique == (),
    }
    numbers = {"minimum": one.least, "maximum": one.most, "default": one.default}
    return {
        "description": meaning,
        "type": one.type,
        **({"const": False} if one.only_false else {}),
        **{name: value for name, value in limits.items() if value},
        **{name: value for name, value in numbers.items() if value is not None},
        **_inside(one),
    }


def _inside(one: Setting) -> dict[str, Any]:
    """The parts of a list or a mapping."""
    if one.items is not None:
        return {"items": _schema(one.items)}
    if one.values is not None:
        keys = {"propertyNames": {"pattern": one.key_pattern}} if one.key_pattern else {}
        return {"additionalProperties": _schema(one.values), **keys}
    if one.type != "object":
        return {}
    parts = {name: _schema(part) for name, part in one.fields.items()}
    return {"properties": parts, "additionalProperties": False}


def _marks(one: Setting) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    if one.extension:
        marks["x-extension"] = True
    if one.extension_choices:
        marks["x-extension-values"] = list(one.extension_choices)
    if one.since:
        marks["x-since"] = one.since
    return marks


def _refine(schema: dict[str, Any], platform: Platform | None, services: list[str]) -> None:
    """Add what stands between fields, and the platform's own values."""
    fields = schema["properties"]
    image, template = fields["source"]["properties"].values()
    image["pattern"] = f"^{IMAGE_PATTERN}$"
    fields["source"]["minProperties"] = fields["source"]["maxProperties"] = 1
    _properties(fields["storage"])["size"]["pattern"] = _QUANTITY
    builtin = fields["observability"]["properties"]["slis"]["items"]["anyOf"][0]
    builtin["enum"] = list(BUILTIN_SLIS)
    schema["allOf"] = [
        _when_kind("vm", "vmTemplate"),
        _when_kind("container", "image"),
    ]
    if platform is None:
        return
    targets = sorted({*services, *platform.platform_services})
    _choose(_properties(fields["dependencies"])["to"], targets)
    host = _properties(fields["ingressRoutes"])["host"]
    host["pattern"] = rf"^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.{re.escape(platform.domain)}$"
    _choose(template, sorted(platform.vm_templates))
    _choose(fields["backup"]["properties"]["policy"], [*platform.backup.schedules, REACQUIRABLE])
    namespaces = _properties(fields["inClusterClients"])["namespace"]
    _suggest(namespaces, list(platform.network.client_namespaces))


def _properties(listed: Mapping[str, Any]) -> Any:
    return listed["items"]["properties"]


def _when_kind(kind: str, source: str) -> dict[str, Any]:
    """I-1; a definition without `kind` is a container."""
    asked: dict[str, Any] = {"properties": {"kind": {"const": kind}}}
    if kind != "container":
        asked["required"] = ["kind"]
    return {"if": asked, "then": {"properties": {"source": {"required": [source]}}}}


def _choose(schema: dict[str, Any], words: list[str]) -> None:
    schema["enum"] = words


def _suggest(schema: dict[str, Any], words: list[str]) -> None:
    """Values an editor offers though others are no error: a policy finding may be waived."""
    schema.pop("pattern", None)
    limits = {key: schema.pop(key) for key in ("maxLength",) if key in schema}
    pattern = {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", **limits}
    schema["anyOf"] = [{"enum": words}, pattern]
