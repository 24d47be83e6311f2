"""What one release's trust anchor is judged on. Source: trust-anchors 2 and 4."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from roadstead.capabilities.anchors import api
from roadstead.kube import names
from roadstead.kube.objects import Object
from roadstead.kube.pem import Lifted
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared source after rendering.

    secret: the source's name; empty when the declaration is unusable, `problem` says why then.
    where: the object or file that declares it, for messages.
    """

    secret: str
    key: str
    where: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The Secret the CA is lifted from, as far as a decision needs it.

    lifted: what the content gate made of the value; None when there is nothing under the key.
    has_key: whether the key is there at all. others: whether other keys are.
    """

    ref: Ref
    uid: str
    key: str
    age: timedelta
    copy: bool
    has_key: bool
    others: bool
    lifted: Lifted | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The source a projection's annotation names. exists: it is there and not terminating."""

    ref: Ref
    exists: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One release's trust anchor, as observed.

    release: the metadata of the HelmRelease that will own the anchor.
    definition: the first by name for the release's kind; None holds everything.
    digest: of the definition's `spec.secrets`, which the tenant's view depends on.
    declaration: None on the label leg.
    candidates: the labelled sources found, sorted; at most one is read.
    target: the Secret at the anchor's name, whole, since a PUT starts from it; None when free.
    occupied: whether a value of the target has a private-key header (canonical self).
    recorded: the source the target names, read only where a withdrawal depends on it.
    lost_for: how long the source of a kept anchor has been gone.
    published: anchors of this kind, read only where a withdrawal depends on it.
    allowed: whether a person has allowed the withdrawal of many anchors of this kind.
    """

    release: Object
    now: datetime
    definition: Ref | None = None
    definition_uid: str = ""
    digest: str = ""
    declaration: Declaration | None = None
    candidates: tuple[Ref, ...] = ()
    source: Source | None = None
    target: Object | None = None
    occupied: bool = False
    canonical: Lifted | None = field(default=None, repr=False)
    recorded: Recorded | None = None
    lost_for: timedelta = timedelta(0)
    published: int = 0
    allowed: bool = False

    @property
    def kind(self) -> str:
        """The application kind."""
        return self.release.labels.get(api.KIND_LABEL, "")

    @property
    def anchor(self) -> Ref:
        """The anchor's name."""
        return SECRET.ref(self.release.meta.namespace, self.release.meta.name + api.SUFFIX)


@dataclass(frozen=True, slots=True)
class StraySource:
    """A Secret that opts in as a source and names no release."""

    secret: Object


def is_application(release: Object) -> bool:
    """Tell whether a HelmRelease is a tenant's application. Source: trust-anchors 2."""
    labels = release.labels
    named = all(labels.get(label) for label in (api.KIND_LABEL, api.NAME_LABEL))
    return named and labels.get(api.GROUP_LABEL) == api.APPLICATION_GROUP


def name_is_supported(release: Object) -> bool:
    """Tell whether the anchor's name can be formed and cannot be an engine's own."""
    name = release.meta.name
    return "." not in name and len(name) + len(api.SUFFIX) <= names.SUBDOMAIN_CHARACTERS


def is_ours(target: Object, release: Object) -> bool:
    """Tell whether a Secret at the anchor's name may be overwritten or withdrawn. Source: 8.1."""
    if target.body.get("type", "Opaque") != "Opaque":
        return False
    owned = any(
        owner.group == HELM_RELEASE.group
        and owner.kind == HELM_RELEASE.kind
        and owner.name == release.meta.name
        for owner in target.owners
    )
    marked = target.labels.get(api.COPY) == "true" and set(target.data_keys()) <= {api.KEY}
    return owned or marked


def is_legacy(target: Object) -> bool:
    """Tell whether upstream's own controller still owns an anchor. Source: 6.2, W3; section 14."""
    return target.controller is not None and target.controller.kind == "TenantProjection"


def recorded_source(target: Object) -> Ref | None:
    """The source a projection names; None when the annotation is missing or unusable.

    Another namespace is unusable: following it would tell which Secrets exist elsewhere.
    """
    namespace, slash, name = target.annotations.get(api.SOURCE, "").partition("/")
    if not slash or namespace != target.meta.namespace or not names.is_subdomain(name):
        return None
    return SECRET.ref(namespace, name)
