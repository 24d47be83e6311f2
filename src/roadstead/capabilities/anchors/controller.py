"""What wakes a trust anchor. Source: trust-anchors 9."""

from collections.abc import Iterator

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.decide import decide, report
from roadstead.capabilities.anchors.snapshot import DEFINITIONS, RELEASES, SECRETS, observe
from roadstead.decision import Cached
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, Ref
from roadstead.wiring import Controller, Watch, identity_changed


def release_itself(release: Object, _cached: Cached) -> Iterator[Ref]:
    """A release wakes itself."""
    yield release.ref


def releases_of_secret(secret: Object, _cached: Cached) -> Iterator[Ref]:
    """The releases a Secret may be a source or the anchor of, by its labels, name and owners.

    Releases that named it in their last decision are woken by the engine (rule 2).
    """
    namespace, labels = secret.meta.namespace, secret.labels
    release = labels.get(api.PUBLISH_RELEASE, "")
    if api.PUBLISH in labels and release:
        yield HELM_RELEASE.ref(namespace, release)
    elif labels.get(api.PUBLISH) == "true":
        yield secret.ref
    if secret.meta.name.endswith(api.SUFFIX):
        yield HELM_RELEASE.ref(namespace, secret.meta.name.removesuffix(api.SUFFIX))
    if api.COPY in labels or api.TENANT_CA in labels:
        for owner in secret.owners:
            if owner.group == HELM_RELEASE.group and owner.kind == HELM_RELEASE.kind:
                yield HELM_RELEASE.ref(namespace, owner.name)


def releases_of_definition(definition: Object, cached: Cached) -> Iterator[Ref]:
    """All releases of the kind a definition registers."""
    kind = definition.body["spec"]["application"]["kind"]
    for release in cached.list(RELEASES, "kind", kind if isinstance(kind, str) else ""):
        yield release.ref


def definition_changed(old: Object, new: Object) -> bool:
    """Only the kept fields of a definition matter."""
    return old.body != new.body


ANCHORS = Controller(
    name="anchors",
    component=api.COMPONENT,
    watches=(
        Watch(RELEASES, release_itself, identity_changed),
        Watch(DEFINITIONS, releases_of_definition, definition_changed),
        Watch(SECRETS, releases_of_secret),
    ),
    observe=observe,
    decide=decide,
    report=report,
    reasons=api.REASONS,
)
