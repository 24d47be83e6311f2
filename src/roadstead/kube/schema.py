"""The schemas of our own kinds, as data, and the CustomResourceDefinition made of them.

A field is stated once, with its meaning; what the API server checks, what the offline world
checks and what editors show come from the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.kube.refs import CRD, Kind

INT_OR_STRING = "int-or-string"
"""A type beside OpenAPI's: `least` and `most` hold for the integer, the rest for the string."""
UNIQUE = "set"
KEYED = "map"


@dataclass(frozen=True, slots=True)
class Rule:
    """One CEL rule of an object. A rule that mentions `oldSelf` is asked on a change alone."""

    expression: str
    message: str

    @property
    def of_change(self) -> bool:
        """Whether it compares with what was there."""
        return "oldSelf" in self.expression


@dataclass(frozen=True, slots=True)
class Field:
    """One field. type: OpenAPI's, or `INT_OR_STRING`; empty where any value may stand.

    open: fields that are not stated are kept all the same.
    shortest, longest: characters of a text. least, most: of a number.
    choices: every value there is; empty for no such limit.
    items: each item of an array. longest_list: how many there may be; 0 for no limit.
    list_type: `UNIQUE`, `KEYED` by `keys`, or empty.
    default: what stands where nothing is stated; None for no default.
    """

    meaning: str
    type: str = "string"
    fields: Mapping[str, "Field"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    open: bool = False
    longest: int = 0
    pattern: str = ""
    shortest: int = 0
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    format: str = ""
    default: Any = None
    items: "Field | None" = None
    longest_list: int = 0
    list_type: str = ""
    keys: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


CONDITION = Field(
    "One aspect of the state, for example Ready.",
    "object",
    fields={
        "type": Field("Name of the aspect.", longest=316),
        "status": Field("True, False or Unknown.", choices=("True", "False", "Unknown")),
        "reason": Field("Why, in one CamelCase word.", shortest=1, longest=1024),
        "message": Field("What it is about and what would change it.", longest=32768),
        "lastTransitionTime": Field("When the status changed last.", format="date-time"),
        "observedGeneration": Field(
            "Generation of the object that it was computed from.",
            "integer",
            format="int64",
            least=0,
        ),
    },
    required=("type", "status", "reason", "message", "lastTransitionTime"),
)
"""One condition of a status, as every kind of ours has it."""


def conditions(meaning: str) -> Field:
    """The conditions of a status, one of each type. meaning: what they tell."""
    return Field(meaning, "array", items=CONDITION, list_type=KEYED, keys=("type",))


def whole(meaning: str, spec: Field, reported: Mapping[str, Field]) -> Field:
    """An object of ours. spec: what is asked of it. reported: what its status tells."""
    generation = Field(
        "Generation of the object that the whole status was computed from.",
        "integer",
        format="int64",
    )
    status = Field(
        "What was seen last. Written by the controller alone.",
        "object",
        fields={"observedGeneration": generation, **reported},
    )
    return Field(
        meaning,
        "object",
        fields={
            "apiVersion": Field("Version of the schema of this object."),
            "kind": Field("Kind of this object."),
            "metadata": Field("", "object"),  # the API server allows no description here
            "spec": spec,
            "status": status,
        },
        required=("spec",),
    )


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. path: JSON path. priority: above 0 it is shown by `-o wide`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """One kind that we ship. top: its whole object. status: whether that is a subresource."""

    kind: Kind
    top: Field
    columns: tuple[Column, ...] = ()
    status: bool = False
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


def openapi(one: Field) -> dict[str, Any]:
    """Write a field as a structural schema."""
    schema: dict[str, Any] = {}
    if one.meaning:
        schema["description"] = one.meaning
    if one.type == INT_OR_STRING:
        schema["x-kubernetes-int-or-string"] = True
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    elif one.type:
        schema["type"] = one.type
    schema |= _limits(one)
    if one.default is not None:
        schema["default"] = one.default
    if one.items is not None:
        schema["items"] = openapi(one.items)
    if one.fields:
        schema["properties"] = {name: openapi(part) for name, part in one.fields.items()}
    if one.required:
        schema["required"] = list(one.required)
    if one.open:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    if one.rules:
        schema["x-kubernetes-validations"] = [
            {"rule": rule.expression, "message": rule.message} for rule in one.rules
        ]
    return schema


def _limits(one: Field) -> dict[str, Any]:
    """Every limit that is set, by its keyword."""
    found = {
        "format": one.format,
        "enum": list(one.choices),
        "minLength": one.shortest,
        "maxLength": one.longest,
        "pattern": one.pattern,
        "maxItems": one.longest_list,
        "x-kubernetes-list-type": one.list_type,
        "x-kubernetes-list-map-keys": list(one.keys),
    }
    numbers = {"minimum": one.least, "maximum": one.most}
    return {name: value for name, value in found.items() if value} | {
        name: value for name, value in numbers.items() if value is not None
    }


def definition_of(one: Definition) -> dict[str, Any]:
    """Write the CustomResourceDefinition of a kind."""
    version: dict[str, Any] = {
        "name": one.kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": openapi(one.top)},
    }
    if one.status:
        version["subresources"] = {"status": {}}
    if one.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in one.columns]
    names: dict[str, Any] = {
        "kind": one.kind.kind,
        "listKind": f"{one.kind.kind}List",
        "plural": one.kind.plural,
        "singular": one.kind.kind.lower(),
    }
    if one.short_names:
        names["shortNames"] = list(one.short_names)
    if one.categories:
        names["categories"] = list(one.categories)
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": one.kind.resource},
        "spec": {
            "group": one.kind.group,
            "names": names,
            "scope": "Namespaced" if one.kind.namespaced else "Cluster",
            "versions": [version],
        },
    }


def _column(one: Column) -> dict[str, Any]:
    column: dict[str, Any] = {"name": one.name, "type": one.type, "jsonPath": one.path}
    return column | ({"priority": one.priority} if one.priority else {})
