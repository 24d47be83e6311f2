"""The schemas of our own kinds, as data, and the CustomResourceDefinition made of them.

A field is stated once, with its meaning; what the API server checks and what editors show come
from the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.kube.refs import CRD, Kind


@dataclass(frozen=True, slots=True)
class Field:
    """One field. type: OpenAPI's; empty where any value may stand.

    open: fields that are not stated are kept all the same.
    """

    meaning: str
    type: str = "string"
    fields: Mapping[str, "Field"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    open: bool = False
    longest: int = 0
    pattern: str = ""


def openapi(one: Field) -> dict[str, Any]:
    """Write a field as a structural schema."""
    schema: dict[str, Any] = {}
    if one.meaning:
        schema["description"] = one.meaning
    if one.type:
        schema["type"] = one.type
    if one.longest:
        schema["maxLength"] = one.longest
    if one.pattern:
        schema["pattern"] = one.pattern
    if one.fields:
        schema["properties"] = {name: openapi(part) for name, part in one.fields.items()}
    if one.required:
        schema["required"] = list(one.required)
    if one.open:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    return schema


def definition_of(kind: Kind, top: Field, *, columns: tuple[tuple[str, str], ...] = ()) -> Any:
    """Write the CustomResourceDefinition of a kind.

    columns: printer columns, each a title and the JSON path of its text.
    """
    version: dict[str, Any] = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": openapi(top)},
    }
    if columns:
        version["additionalPrinterColumns"] = [
            {"name": name, "type": "string", "jsonPath": path} for name, path in columns
        ]
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }
