"""What the checks of an installation may know: one frozen look at a cluster.

What could not be read is `Unasked` with the reason, never an empty answer. No value of a Secret
is ever in here: of the serving certificate only what may be shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar

from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unasked:
    """What could not be looked at. why: `you may not list leases in x`, or what else kept us."""

    why: str


Known: TypeAlias = T | Unasked
"""A fact, or why it is not one."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a person gave beside the cluster.

    values: the platform's values; None where none were given. where: their file.
    tenant_classes: of the flags of `run`, address classes that tenants may name.
    """

    values: Mapping[str, Any] | None = None
    where: str = ""
    tenant_classes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Granted:
    """One right of an account. what: as `kubectl auth can-i` takes it."""

    account: str
    what: str
    allowed: bool


@dataclass(frozen=True, slots=True)
class Held:
    """One Lease. holder: empty where nobody has it. moves: it was renewed while we looked on."""

    holder: str
    renewed: datetime | None = None
    lasts: timedelta = timedelta(0)
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Pod:
    """One Pod of ours. said: what its status says of not being ready."""

    name: str
    ready: bool
    said: str = ""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What may be shown of the serving certificate, read from its Secret."""

    names: tuple[str, ...]
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Probed:
    """What a write in a tenant's namespace comes to, told by a dry run.

    where: the namespace. code, message: of the refusal; 0 where it would go through.
    """

    where: str
    code: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Webhook:
    """What there is to see of the admission webhook.

    host: the name that its certificate is for. shipped: the registration as it ships.
    service: None where there is none. endpoints: how many are ready behind it; None where a
    Service needs none. secret: where the certificate is; certificate: None where none is there.
    """

    host: str
    shipped: Mapping[str, Any]
    registration: Known[Object | None]
    service: Known[Object | None]
    endpoints: Known[int | None]
    secret: Ref
    certificate: Known[Certificate | None]
    probed: Known[Probed]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A stored object that does not fit, or a list that cannot be read. why: in our own words."""

    about: str
    why: str


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored. listed: how many objects of how many kinds. unread: what was not listed."""

    objects: int = 0
    kinds: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    unread: tuple[Unasked, ...] = ()


@dataclass(frozen=True, slots=True)
class Installed:
    """What there is to see of an installation.

    accounts: those of our ServiceAccounts that are there. expected: all of them.
    shipped, served: revisions of our definitions, by name; None for one that is not served.
    changed: definitions of our revision that lack a field of it, with the first such field.
    rights: of each account that is there. policies: about those accounts, and the bindings of them,
    with what is wrong; empty where nothing is. leases: by name; None for one that is not there.
    listeners: of each Gateway that a TenantGateway owns.
    """

    accounts: Known[tuple[str, ...]]
    expected: tuple[str, ...]
    shipped: Mapping[str, int]
    served: Known[Mapping[str, int | None]]
    changed: Mapping[str, str]
    rights: Known[tuple[Granted, ...]]
    policies: Known[Mapping[str, str]]
    leases: Known[Mapping[str, Held | None]]
    pods: Known[tuple[Pod, ...]]
    webhook: Webhook | None
    stored: Stored
    listeners: Known[Mapping[Ref, int]]


@dataclass(frozen=True, slots=True)
class Facts:
    """One look at a cluster.

    home: the namespace of our accounts. version: the server's, as `v1.36.3`.
    served: every kind, by `apiVersion` and name. definitions: those that are looked at, by name.
    needed: kinds that one of our processes is not ready without.
    may: what the caller may do, by `create customresourcedefinitions...`.
    systems: namespaces of the platform itself; whether each is outside the webhook's reach.
    owner_refs: what each cert-manager there is was told of `enableCertificateOwnerRef`; None where
    a file of its own says it.
    classes, address_classes: names of GatewayClasses and of IPAddressClasses.
    installed: None before an installation.
    """

    now: datetime
    home: str
    version: str
    served: Mapping[tuple[str, str], Kind]
    definitions: Known[Mapping[str, Object]]
    needed: frozenset[Kind]
    may: Mapping[str, bool]
    systems: Known[Mapping[str, bool]]
    owner_refs: Known[Mapping[str, bool | None]]
    classes: Known[frozenset[str]]
    address_classes: Known[frozenset[str]]
    stated: Stated = field(default_factory=Stated)
    installed: Installed | None = None
