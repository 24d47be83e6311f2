"""Every rendered object has a bundled shape, and each shape is closed."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.kinds import BY_NAME, HELM_RELEASE, ORDER, SERVICE
from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.effective import render
from roadstead.capabilities.services.render.layer import layer
from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.render.platform import platform_parts
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.cli.service.shapes import fits, schema_of, violation
from roadstead.kube.documents import dump
from roadstead.kube.refs import SECRET, Kind
from roadstead.sim.merge import merged
from service_variants import VARIANTS, Variant
from services_base import BASE

EXAMPLES = BASE.definitions
SHAPED = [kind for kind in ORDER if kind != SECRET]
"""A Secret is copied and never rendered; its own checks look at it."""


def catalog_of(variant: Variant) -> Catalog:
    """A variant of the examples, read."""
    bodies = [merged(body, variant.services.get(name, {})) for name, body in EXAMPLES.items()]
    texts = [
        Text(f"{one['name']}.yaml", dump([dict(one)]).encode()) for one in (*bodies, *variant.more)
    ]
    platform = dump([merged(BASE.platform, variant.platform)]).encode()
    read = read_catalog(texts, Text("platform.yaml", platform))
    assert read.catalog is not None, read.findings
    return read.catalog


def objects(variant: Variant) -> Iterator[Rendered]:
    """Everything a variant of the examples is rendered to."""
    read = catalog_of(variant)
    for service in read.services:
        seen = Snapshot(service, read)
        made = render(seen)
        yield from {id(one): one for one in (*made.effective, *made.folder)}.values()
        yield layer(seen)


@pytest.mark.parametrize("kind", SHAPED, ids=[kind.kind for kind in SHAPED])
def test_every_kind_has_a_closed_shape(kind: Kind) -> None:
    """A field that is not in the shape is a fault, at any depth."""
    schema = schema_of(kind)

    assert jsonschema_rs.meta.is_valid(schema)
    assert [] == [one for one in _mappings(schema) if "additionalProperties" not in one]


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("type") == "object":
            yield value
        for one in value.values():
            yield from _mappings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _mappings(one)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_is_rendered_fits(variant: Variant) -> None:
    """Under no platform setting anything is written that its kind does not have."""
    unfit = {(one.path, violation(one.kind, one.body)) for one in objects(variant)}

    assert {None} == {where for _, where in unfit}, unfit


def test_what_does_not_fit_is_told_with_its_place() -> None:
    """Also of an object that carries automation's mark."""
    found = {one.kind: one for one in objects(VARIANTS[0])}
    service, release = found[SERVICE].body, found[HELM_RELEASE].body
    service = {**service, "spec": {**service["spec"], "type": "NodePort"}}
    release = {**release, "spec": {**release["spec"], "interval": 5}}

    assert ("spec/type", False) == (violation(SERVICE, service), fits(SERVICE, service))
    assert "spec/interval" == violation(HELM_RELEASE, release)
    assert not fits(HELM_RELEASE, release)


def test_the_platforms_own_objects_fit() -> None:
    """Automation, provider and backup jobs are held to shapes, too."""
    parts = platform_parts(catalog_of(VARIANTS[0]))
    listed = [one for made in parts.files.values() if isinstance(made, list) for one in made]
    bodies = [one for one in (*listed, parts.layer) if "kind" in one]

    assert [None] * len(bodies) == [
        violation(BY_NAME[one["apiVersion"], one["kind"]], one) for one in bodies
    ]
