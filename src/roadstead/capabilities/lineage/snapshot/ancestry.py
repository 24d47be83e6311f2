"""Which applications own an object: the walk along owners and Helm labels.

It asks for one owner at a time through whoever fetches, and is bounded in every direction: by
what it has seen, by its depth, and by what the caller allows it in time. Lineage never crosses a
namespace. Source: lineage 5.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple, Protocol

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot.registry import Definition
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import HELM_RELEASE, Ref

GROUP_CHARACTERS = 63
_SKIPPED = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True, slots=True)
class Application:
    """One application, and the release that stands for it."""

    group: str
    kind: str
    name: str
    release: Ref

    @property
    def labels(self) -> dict[str, str]:
        """The lineage triple; the group is cut to what a label may hold, the rest is not."""
        group = self.group[:GROUP_CHARACTERS].rstrip("-._")
        return dict(zip(api.TRIPLE, (group, self.kind, self.name), strict=True))


class Fetcher(Protocol):
    """Where the walk gets the objects that it is led to."""

    def release(self, namespace: str, name: str) -> Object | None:
        """A HelmRelease as the view knows it."""

    def definition(self, kind: str) -> Definition | None:
        """The definition of an application kind; of several the first by name."""

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of an owner that is no HelmRelease, from the API server.

        namespace: of what it owns; a cluster-scoped owner is read without one.
        Raises: ClusterError; 404 and 403 are answers, everything else ends the walk.
        """


class _Id(NamedTuple):
    group: str
    kind: str
    namespace: str
    name: str


async def applications_of(subject: Object, ask: Fetcher) -> tuple[Application, ...]:
    """The applications that own an object, in the order of its owners, each once.

    Raises: ClusterError when an owner could not be read for a reason that may pass.
    Cost: one request for each owner that is neither a HelmRelease nor known.
    """
    walk = _Walk(ask)
    await walk.along(subject, 0)
    return tuple(dict.fromkeys(walk.found))


def application_of(
    release: Object, definition: Callable[[str], Definition | None]
) -> Application | None:
    """The application a release stands for, by its labels and the registry; None for none.

    Source: lineage 5, `map`.
    """
    group, kind, name = (release.labels.get(label, "") for label in api.TRIPLE)
    if group != api.APPLICATION_GROUP or not kind or not name:
        return None
    known = definition(kind)
    if known is None or release.meta.name != known.prefix + name:
        return None
    return Application(group, kind, name, release.ref)


@dataclass(slots=True)
class _Walk:
    ask: Fetcher
    seen: set[_Id] = field(default_factory=set)
    found: list[Application] = field(default_factory=list)

    async def along(self, at: Object, depth: int) -> None:
        """Follow one object; depth counts the owners before it."""
        known = _Id(at.kind.group, at.kind.kind, at.meta.namespace, at.meta.name)
        if known in self.seen:
            return
        self.seen.add(known)
        if at.owners:
            # An owned object never falls back to its own labels.
            for owner in at.owners:
                await self._up(self._owner(owner, at.meta.namespace), depth)
            return
        if (at.kind.group, at.kind.kind) == (HELM_RELEASE.group, HELM_RELEASE.kind):
            application = application_of(at, self.ask.definition)
            if application is not None:
                self.found.append(application)
                return
        await self._up(self._labelled(at), depth)

    async def _up(self, above: Awaitable[Object | None], depth: int) -> None:
        found = await above
        if found is not None and depth < api.DEEPEST:
            await self.along(found, depth + 1)

    async def _owner(self, owner: Owner, namespace: str) -> Object | None:
        """The object a reference is to; None where it is void. Source: 5, 5.1."""
        if owner.group == api.APPLICATION_GROUP:
            return None  # the virtual object leads nowhere, and its API must not be needed here
        if owner.is_a(HELM_RELEASE):
            found = self.ask.release(namespace, owner.name)
        else:
            try:
                found = await self.ask.owner(owner, namespace)
            except ClusterError as error:
                if error.status not in _SKIPPED:
                    raise
                return None
        if found is None or (owner.uid and found.meta.uid != owner.uid):
            return None  # a reference that merely names an object is void, as for the collector
        return found

    async def _labelled(self, at: Object) -> Object | None:
        """The release that the Helm labels name, in the object's own namespace."""
        name = at.labels.get(api.HELM_NAME, "")
        namespace = at.labels.get(api.HELM_NAMESPACE, at.meta.namespace)
        if not name or namespace != at.meta.namespace:
            return None
        return self.ask.release(namespace, name)
