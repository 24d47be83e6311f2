"""What wakes the refresher: a definition that changed, and the hour. Source: lineage 9."""

from collections.abc import Iterator

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.decide import decide, report
from roadstead.capabilities.lineage.snapshot import (
    DEFINITIONS,
    RELEASES,
    SWEEP,
    compiled,
    observe,
)
from roadstead.decision import Cached
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.wiring import Controller, Watch


def definitions_of_the_kind(definition: Object, cached: Cached) -> Iterator[Ref]:
    """A definition, those of the same kind that may take its place, and all visible Secrets."""
    yield definition.ref
    yield SWEEP
    kind = compiled(definition).kind
    for other in cached.list(DEFINITIONS, "kind", kind) if kind else ():
        yield other.ref


def verdict_may_change(old: Object, new: Object) -> bool:
    """Only what a verdict rests on matters: the kind, the prefix and the selectors."""
    before, after = compiled(old), compiled(new)
    return (before.kind, before.prefix, before.blocks) != (after.kind, after.prefix, after.blocks)


def nobody(_release: Object, _cached: Cached) -> Iterator[Ref]:
    """A release wakes nothing: it is read when something else asks who owns an object."""
    return iter(())


REFRESHER = Controller(
    name="refresher",
    component=api.REFRESHER_COMPONENT,
    watches=(
        Watch(DEFINITIONS, definitions_of_the_kind, verdict_may_change),
        Watch(RELEASES, nobody),
    ),
    observe=observe,
    decide=decide,
    report=report,
    reasons=(api.BY_NAME[api.STALE],),
    workers=1,
    rate=api.PATCHES_A_SECOND,
)
