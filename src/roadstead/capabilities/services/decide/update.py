"""Rules of images, versions and health. Source: contract 3.10, 4.2."""

from collections.abc import Iterator

from roadstead.capabilities.services.api.findings import POLICY, WARNING, Finding
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.parts import TCP
from roadstead.capabilities.services.decide.saying import said
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.expressions import expression
from roadstead.kube.images import Image, parse_image
from roadstead.kube.semver import Constraint, Version

MOVING_TAGS = frozenset({"latest", "stable", "main", "master", "edge", "nightly", "dev", "develop"})
SEMVER = "semver"


def _image(service: Service) -> Image | None:
    """The image of a container; None for a vm, or for one that has none."""
    if service.is_vm or not service.source.image:
        return None
    return parse_image(service.source.image)


def image_names_a_version(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-01."""
    image = _image(seen.service)
    if image is None or image.digest:
        return
    path = ("source", "image")
    if not image.tag:
        yield said(seen, "P-UPD-01", path, "the image has neither tag nor digest")
    elif image.tag.lower() in MOVING_TAGS:
        message = f"tag {image.tag} moves: it does not say which version it is"
        hint = "state a version's tag, or add the digest"
        yield said(seen, "P-UPD-01", path, message, hint=hint, severity=POLICY)


def range_is_a_constraint(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-02 as far as the range itself goes, and P-UPD-07."""
    service = seen.service
    update = service.update
    if service.is_vm:
        return
    if update.order != SEMVER:
        if update.filter is None:
            message = f"order {update.order} needs `update.filter`"
            yield said(seen, "P-UPD-02", ("update", "order"), message)
        if service.stated("update", "range"):
            message = f"order {update.order} has no `update.range`"
            yield said(seen, "P-UPD-02", ("update", "range"), message)
        return
    if not service.stated("update", "range"):
        return
    path = ("update", "range")
    try:
        constraint = Constraint.parse(update.range)
    except ValueError:
        message = f'`update.range`: "{_shown(update.range)}" is not a constraint such as ~1.24'
        yield said(seen, "P-UPD-02", path, message)
        return
    if constraint.prereleases:
        message = f"range {update.range} admits prereleases"
        yield said(seen, "P-UPD-07", path, message)


def _shown(text: str) -> str:
    text = text if text.isprintable() else text.encode("unicode_escape").decode()
    return text[:80]


def image_is_in_its_range(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-02 as a warning: the authored tag, as the filter takes it, satisfies the range."""
    service = seen.service
    image = _image(service)
    update = service.update
    if image is None or not image.tag or update.order != SEMVER:
        return
    if not service.stated("update", "range"):
        return
    try:
        constraint = Constraint.parse(update.range)
    except ValueError:
        return
    try:
        fits = constraint.admits(Version.parse(_taken(service, image.tag)))
    except ValueError:
        fits = False
    if not fits:
        message = f"tag {image.tag} does not satisfy range {update.range}"
        yield said(seen, "P-UPD-02", ("update", "range"), message, severity=WARNING)


def _taken(service: Service, tag: str) -> str:
    """What of a tag is compared: all of it, or what the filter extracts.

    Raises: ValueError where the filter does not take it.
    """
    stated = service.update.filter
    if stated is None:
        return tag
    found = expression(stated.pattern).search(tag)
    if found is None:
        raise ValueError(f"`{tag}` does not pass the filter")
    if not stated.extract:
        return tag
    name = stated.extract.removeprefix("$").strip("{}")
    groups = found.groupdict() | {str(at): one for at, one in enumerate(found.groups(), start=1)}
    return groups.get(name) or ""


def versions_are_known(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-03 and P-UPD-08: automation has a range, and a tag to go by."""
    service = seen.service
    image = _image(service)
    if image is None or service.update.pinned:
        return
    if not image.tag:
        if image.digest:
            message = "automation cannot follow an image that has a digest alone"
            hint = "add a tag, or pin it"
            yield said(seen, "P-UPD-08", ("source", "image"), message, hint=hint)
        return
    if service.update.order == SEMVER and not service.update.range:
        message = f"no range can be derived from tag {image.tag}"
        hint = "set update.range with update.filter, or pin"
        yield said(seen, "P-UPD-03", ("source", "image"), message, hint=hint)


def pin_is_rebuild_safe(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-04."""
    if seen.service.update.pin is True:
        message = "`pin: true` depends on the output tree"
        yield said(seen, "P-UPD-04", ("update", "pin"), message, hint="pin a tag")


def health_is_asked(seen: Snapshot) -> Iterator[Finding]:
    """P-UPD-05 and P-UPD-06."""
    service = seen.service
    if not service.update.auto_rollback:
        return
    path = ("update", "autoRollbackOnFailedHealth")
    if service.is_vm:
        yield said(seen, "P-UPD-06", path, "rollback has no effect on a vm")
    elif seen.platform.update.rollback == "helm" and not _has_a_probe(seen):
        message = 'rollback is on, but there is no probe and no TCP port: health means "started"'
        if service.probes.readiness is False:
            path = ("probes", "readiness")
            message = 'rollback is on, but there is no probe: health means "started"'
        yield said(seen, "P-UPD-05", path, message)


def _has_a_probe(seen: Snapshot) -> bool:
    """Whether any probe is rendered. Source: contract 3.5, the default readiness probe."""
    probes = seen.service.probes
    if probes.startup or probes.liveness or probes.readiness:
        return True
    if probes.readiness is False:
        return False
    if seen.catalog.get(seen.service.name) is not seen.service:
        return bool(seen.service.ingress_routes)
    return any(one.protocol == TCP for one in seen.catalog.served(seen.service.name))
