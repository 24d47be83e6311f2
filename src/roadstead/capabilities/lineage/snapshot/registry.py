"""ApplicationDefinitions as the webhook knows them: templates and selectors read once, not asked.

A definition that is malformed says nothing, and never more than it was meant to: what cannot be
read selects nothing under `include` and everything under `exclude`. Source: lineage 6.1 to 6.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.capabilities.lineage import api
from roadstead.errors import InputError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.selectors import LabelSelector
from roadstead.kube.shapes import part, text
from roadstead.kube.templates import Template, TemplateError, compile_template

LISTS = ("include", "exclude")
_COMPILED = "lineage"


@dataclass(frozen=True, slots=True)
class Selector:
    """One element of `include` or `exclude`.

    labels: None when they cannot be read. names: None selects any name; an entry is None when its
        template cannot be read.
    """

    labels: LabelSelector | None
    names: tuple[Template | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Which objects of one kind are for tenants."""

    include: tuple[Selector, ...] = ()
    exclude: tuple[Selector, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """What lineage keeps of one ApplicationDefinition.

    kind: of its applications. prefix: of their releases' names.
    blocks: by `secrets`, `services`, `ingresses`; one that is not stated is empty.
    faults: what of them cannot be read, in words without a value.
    """

    ref: Ref
    uid: str
    generation: int
    kind: str
    prefix: str
    blocks: Mapping[str, Block] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def definition_of(seen: Object) -> Definition:
    """Read a definition, whole as the API server gives it."""
    spec = part(seen.body, "spec")
    faults: list[str] = []
    return Definition(
        ref=seen.ref,
        uid=seen.meta.uid,
        generation=seen.meta.generation,
        kind=text(part(spec, "application"), "kind"),
        prefix=text(part(spec, "release"), "prefix"),
        blocks={name: _block(spec, name, faults) for name in api.BLOCKS.values()},
        faults=tuple(faults),
    )


def kept_definition(seen: Object) -> Object:
    """Keep of a definition what it was compiled to."""
    return Object(seen.kind, seen.meta, {_COMPILED: definition_of(seen)})


def compiled(seen: Object) -> Definition:
    """The definition that `kept_definition` has kept; of a deletion it comes as it was sent."""
    found = seen.body.get(_COMPILED)
    return found if isinstance(found, Definition) else definition_of(seen)


def application_kind(kept: Object) -> tuple[str, ...]:
    """The application kind a definition registers."""
    kind = compiled(kept).kind
    return (kind,) if kind else ()


def _block(spec: Mapping[str, Any], name: str, faults: list[str]) -> Block:
    stated = part(spec, name)
    include, exclude = (_list(stated, one, f"spec.{name}.{one}", faults) for one in LISTS)
    return Block(include, exclude)


def _list(
    stated: Mapping[str, Any], name: str, where: str, faults: list[str]
) -> tuple[Selector, ...]:
    found = stated.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        faults.append(f"{where} is not a list")
        return (Selector(None),)
    return tuple(
        _selector(one, f"{where}[{at}]", faults) for at, one in enumerate(found) if one is not None
    )


def _selector(stated: Any, where: str, faults: list[str]) -> Selector:
    if not isinstance(stated, Mapping):
        faults.append(f"{where} is not a map")
        return Selector(None)
    parts = {key: stated[key] for key in ("matchLabels", "matchExpressions") if key in stated}
    labels = None
    try:
        labels = LabelSelector.of(parts)
    except InputError:
        faults.append(f"the labels of {where} are no label selector")
    names = stated.get("resourceNames")
    if names is None:
        return Selector(labels)
    if not isinstance(names, list):
        faults.append(f"{where}.resourceNames is not a list")
        return Selector(None)
    place = f"{where}.resourceNames"
    return Selector(
        labels, tuple(_entry(e, f"{place}[{at}]", faults) for at, e in enumerate(names))
    )


def _entry(stated: Any, where: str, faults: list[str]) -> Template | None:
    if isinstance(stated, str):
        try:
            return compile_template(stated)
        except TemplateError:
            pass
    faults.append(f"{where} is no template that can be read")
    return None
