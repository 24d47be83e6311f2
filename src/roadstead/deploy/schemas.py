"""JSON Schemas for editors and scripts: of what people write, and of what `-o json` prints.

Those of our kinds are the structural schemas of the definitions. Their CEL rules are no part of
JSON Schema; the API server, `plan` and `why -f` ask them. Source: cli.md 2.6.
"""

import json
from importlib.resources import files
from typing import Any

from roadstead.capabilities.services.api.editor import (
    DIALECT,
    definition_schema,
    platform_schema,
)
from roadstead.deploy.crds import SHIPPED
from roadstead.deploy.values import values_schema
from roadstead.kube.schema import Definition, openapi

Json = dict[str, Any]


def schemas() -> dict[str, str]:
    """Every schema, by the name of its file."""
    found = {f"{one.kind.kind.lower()}.json": _text(_of_kind(one)) for one in SHIPPED}
    found["service-definition.json"] = _text(definition_schema())
    found["platform.json"] = _text(platform_schema())
    found["chart-values.json"] = _text(values_schema())
    for file in files("roadstead.schemas").iterdir():
        if file.name.startswith("cli-") and file.name.endswith(".json"):
            found[file.name] = file.read_text(encoding="utf-8")
    return dict(sorted(found.items()))


def _of_kind(one: Definition) -> Json:
    """The schema of a manifest of a kind."""
    schema = openapi(one.top)
    stated = {"apiVersion": {"const": one.kind.api_version}, "kind": {"const": one.kind.kind}}
    schema["properties"] = stated | {"metadata": {"type": "object"}} | schema["properties"]
    schema["required"] = ["apiVersion", "kind", "metadata", *schema.get("required", ())]
    return {"$schema": DIALECT, "title": one.kind.kind, **schema}


def _text(schema: Json) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
