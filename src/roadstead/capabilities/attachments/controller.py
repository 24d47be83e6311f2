"""What wakes an attachment. Source: endpoint-attachments 6.2."""

from collections.abc import Iterator

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide, report
from roadstead.capabilities.attachments.snapshot import (
    ADDRESSES,
    ATTACHMENTS,
    CLAIMS,
    CLASSES,
    RELEASES,
    SERVICES,
    SLICES,
    observe,
)
from roadstead.capabilities.attachments.snapshot.views import (
    claim_annotation,
    claim_of_address,
    has_method,
    is_delegated,
    owner_uid,
    triple_of_labels,
)
from roadstead.decision import Cached
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.wiring import Controller, Watch, identity_changed


def _found(cached: Cached, index: str, *values: str) -> Iterator[Ref]:
    for value in values:
        yield from (seen.ref for seen in cached.list(ATTACHMENTS, index, value))


def attachment_itself(attachment: Object, cached: Cached) -> Iterator[Ref]:
    """An attachment wakes itself; with a method, all of its namespace that have one."""
    yield attachment.ref
    if has_method(attachment):
        yield from _found(cached, "method", attachment.meta.namespace)


def attachment_changed(old: Object, new: Object) -> bool:
    """Our own status writes wake nobody."""
    before, after = (
        (one.meta.generation, one.labels, one.owners, one.annotations, one.deleting)
        for one in (old, new)
    )
    return before != after


def attachments_of_service(service: Object, cached: Cached) -> Iterator[Ref]:
    """Whoever rendered it, mirrors it, shares its claim or its backends."""
    yield from _found(cached, "uid", *owner_uid(service))
    yield from _found(cached, "endpoint", service.ref.key)
    if is_delegated(service):
        yield from _found(cached, "method", service.meta.namespace)
    if claim := claim_annotation(service):
        yield from _found(cached, "claim", f"{service.meta.namespace}/{claim}")


def attachments_of_slice(one: Object, cached: Cached) -> Iterator[Ref]:
    """Those with a method behind whose endpoint it stands; all, where it is a delegation's."""
    place, name = one.meta.namespace, one.labels.get(api.SLICE_OF, "")
    for seen in cached.list(ATTACHMENTS, "endpoint", f"{place}/{name}"):
        if has_method(seen):
            yield from _found(cached, "method", place)
    service = cached.get(SERVICES, place, name)
    if service is not None and is_delegated(service):
        yield from _found(cached, "method", place)


def attachments_of_release(release: Object, cached: Cached) -> Iterator[Ref]:
    """The attachments of its application."""
    yield from _found(cached, "application", *triple_of_labels(release))


def attachments_of_claim(claim: Object, cached: Cached) -> Iterator[Ref]:
    """Whoever minted it, and whoever names it."""
    yield from _found(cached, "uid", *owner_uid(claim))
    yield from _found(cached, "claim", claim.ref.key)


def attachments_of_address(address: Object, cached: Cached) -> Iterator[Ref]:
    """The attachments of the claim it is bound to."""
    if claim := claim_of_address(address):
        yield from _found(cached, "claim", claim)


def attachments_that_wait(_class: Object, cached: Cached) -> Iterator[Ref]:
    """Everything that waits for an address."""
    yield from _found(cached, "waiting", "ClaimPending")


ATTACHMENTS_CONTROLLER = Controller(
    name="attachments",
    component=api.COMPONENT,
    watches=(
        Watch(ATTACHMENTS, attachment_itself, attachment_changed),
        Watch(SERVICES, attachments_of_service),
        Watch(SLICES, attachments_of_slice),
        Watch(RELEASES, attachments_of_release, identity_changed),
        Watch(CLAIMS, attachments_of_claim, optional=True),
        Watch(ADDRESSES, attachments_of_address, optional=True),
        Watch(CLASSES, attachments_that_wait, optional=True),
    ),
    observe=observe,
    decide=decide,
    report=report,
    reasons=api.REASONS,
)
