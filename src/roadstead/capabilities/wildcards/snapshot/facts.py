"""What the wildcard replicas are judged on. Source: wildcard-secrets 4 to 7."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.snapshot.channel import Channel
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref


class Tls(StrEnum):
    """Whether anything in a namespace ends TLS. Source: wildcard-secrets 5."""

    TERMINATES = "terminates"
    NOT = "not"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """One namespace that may have a copy.

    ending: it is being deleted, so that nothing is created in it.
    holder: the Secret at the copy's name, whole, since a PUT starts from it; None when free, and
        where nobody looked. problem: why it could not be read.
    """

    namespace: str
    tls: Tls
    ending: bool = False
    holder: Object | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The platform's wildcard certificate and its copies, as observed.

    values_uid: of the values Secret. source: whole, as it was read; None while it is absent, on
    its way out, or not looked for.
    places: every namespace but the publishing one, sorted.
    copies: the metadata of every Secret with the mark of a copy, sorted; None where the list
        failed, `unlisted` says why then. Both are read only where something may have to go.
    """

    channel: Channel
    values_uid: str = ""
    source: Object | None = None
    places: tuple[Place, ...] = ()
    copies: tuple[Object, ...] | None = ()
    unlisted: str = ""
    wanted: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What a copy holds, in base64; empty while the source cannot be used."""

    @property
    def source_ref(self) -> Ref:
        """Where the source belongs."""
        return SECRET.ref(self.channel.publishing, self.channel.name)

    def copy_ref(self, place: Place) -> Ref:
        """Where the copy of a namespace belongs."""
        return SECRET.ref(place.namespace, self.channel.name)


def is_copy(seen: Object) -> bool:
    """Tell whether a Secret carries the mark that alone permits an update or a delete."""
    return seen.labels.get(api.COPY) == "true"


def usable(source: Object | None) -> dict[str, str]:
    """What is copied of a source; empty where it cannot be used. Source: wildcard-secrets 4."""
    if source is None or source.body.get("type") != api.TLS:
        return {}
    if not all(source.decoded(key) for key in api.REQUIRED):
        return {}
    data = source.body.get("data") or {}
    return {key: data[key] for key in api.COPIED if key in data}
