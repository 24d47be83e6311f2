"""A live cluster as the caller may see it: the views that decisions need, listed once, and judged.

Everything is read with the caller's own rights and nothing is ever written. What may not be read
is unknown, never absent.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roadstead.capabilities.anchors.snapshot import RELEASES
from roadstead.decision import Event
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.engine.reader import PassReader
from roadstead.engine.store import State
from roadstead.errors import BugError, ClusterError
from roadstead.explain.rows import last_time
from roadstead.explain.subject import Subject
from roadstead.explain.subjects import SUBJECTS
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, HELM_RELEASE, Kind, Ref
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.owners import Owners
from roadstead.settings import Settings

_UNREAD = {403: State.FORBIDDEN, 404: State.ABSENT}


class Reading:
    """The requests of a look: reads go to the server, a write is a bug of ours."""

    def __init__(self, client: Client, clock: Clock) -> None:
        """Ask through this client."""
        self._client = client
        self.owner = Owners(client, clock.steady).owner

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole."""
        return await self._client.get(ref)

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches."""
        return await self._client.list_metadata(kind, namespace, labels)

    async def list_view(self, view: View, namespace: str) -> tuple[Object, ...]:
        """All objects of a view's selection in a namespace."""
        return await self._client.list_view(view, namespace)

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Refuse."""
        raise _writes(kind, body)

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Refuse."""
        raise _writes(kind, body)

    async def apply(self, kind: Kind, body: Mapping[str, Any], manager: str) -> Object:
        """Refuse."""
        raise BugError(f"a look would have applied {kind.kind} for {manager}: {sorted(body)}")

    async def patch(self, ref: Ref, merge: Mapping[str, Any]) -> Object:
        """Refuse."""
        raise BugError(f"a look would have patched {ref}: {sorted(merge)}")

    async def replace_status(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Refuse."""
        raise _writes(kind, body)

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """Refuse."""
        raise BugError(f"a look would have deleted {ref} ({uid} at {resource_version})")

    async def publish(self, component: str, event: Event, times: int) -> None:
        """Refuse."""
        raise BugError(f"a look would have told {event.reason} for {component} ({times})")


def _writes(kind: Kind, body: Mapping[str, Any]) -> BugError:
    return BugError(f"a look would have written {kind.kind} {body['metadata'].get('name', '')}")


class Look:
    """One look at a cluster, or at one namespace of it.

    namespace: empty for all. subjects: the capabilities that are asked.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        settings: Settings,
        clock: Clock,
        subjects: Sequence[Subject] = SUBJECTS,
    ) -> None:
        """Read nothing yet."""
        self._client = client
        self._namespace = namespace
        self._clock = clock
        self._engine = Engine((one.controller for one in subjects), settings, clock, dry=True)
        self._views = tuple(self._engine.stores)
        self._subjects = tuple(subjects)
        self._everywhere = {v for one in subjects if one.single for v in one.listed}
        self.api = Reading(client, clock)

    async def fill(self, views: Iterable[View] = ()) -> None:
        """List views: those given, else every one that decisions need.

        Raises: ClusterError for anything but "forbidden" and "not served", and where no object
            that is asked for can be read.
        """
        for view in dict.fromkeys(views) or self._views:
            try:
                self._engine.begin_list(view)
                await self._list(view)
            except ClusterError as error:
                if error.status not in _UNREAD:
                    raise
                self._engine.lost(view, _UNREAD[error.status])
        if not any(self.readable(one) for one in self._subjects):
            raise self._unreadable(self._subjects[0])

    def readable(self, subject: Subject) -> bool:
        """Whether the objects of a capability can be read."""
        return self.state(subject.view) not in {State.FORBIDDEN, State.ABSENT}

    def missing(self, subject: Subject) -> str:
        """What keeps rows of a capability from being asked for, or from being ready; or empty."""
        view, missed = subject.view, subject.missed
        if self.state(view) is State.FORBIDDEN:
            return f"{view.kind.plural} may not be read by you"
        absent = missed is not None and self.state(missed) is State.ABSENT
        if missed is not None and absent and self.objects(subject):
            return f"{missed.kind.plural} not installed"
        return ""

    def unread(self, subject: Subject) -> tuple[str, ...]:
        """What a capability looks at and cannot be read here, in words."""
        views = [view for view in subject.controller.views if view != subject.view]
        states = [(view, self.state(view)) for view in views]
        return tuple(
            f"{view.kind.resource}: you may not read them"
            for view, state in states
            if state is State.FORBIDDEN
        )

    def _unreadable(self, subject: Subject) -> ClusterError:
        view, about = subject.view, subject.view.kind.resource
        where = f"in namespace {self._namespace}" if self._namespace else "in all namespaces"
        if self.state(view) is State.FORBIDDEN:
            flag = f"-n {self._namespace}" if self._namespace else "-A"
            return ClusterError(
                f"you may not list {about} {where}",
                status=403,
                about=about,
                hint=f"kubectl auth can-i list {about} {flag}",
            )
        hint = "roadstead manifests crds | kubectl apply -f -"
        if view.kind == HELM_RELEASE:
            hint = "it comes with Flux's helm-controller"
        message = f"this cluster does not serve {about}"
        return ClusterError(message, status=404, about=about, hint=hint)

    async def _list(self, view: View) -> None:
        apart = view.kind.namespaced and view not in self._everywhere
        namespace = self._namespace if apart else ""
        token = ""
        while True:
            page = await self._client.page(view, namespace, continue_token=token)
            self._engine.add_page(view, page.objects)
            token = page.continue_token
            if not token:
                self._engine.end_list(view, page.resource_version)
                return

    def state(self, view: View) -> State:
        """Whether a view can answer."""
        return self._engine.stores[view].state

    def objects(self, subject: Subject) -> tuple[Object, ...]:
        """Every object of a capability; none where they cannot be read."""
        return self._engine.stores[subject.view].list() if self.readable(subject) else ()

    def releases(self) -> tuple[Object, ...]:
        """Every release that was found.

        Raises: Unread.
        """
        return self._engine.stores[RELEASES].list()

    def reader(self) -> PassReader:
        """Read as a pass does."""
        return PassReader(self.api, self._engine.stores, self._engine.settings, self._clock.wall())

    async def judge(self, key: Ref) -> Passed:
        """What a pass would come to, without a write."""
        subject = next(one for one in self._subjects if one.judges(key))
        return await self._engine.work(subject.controller.name, key, self.api)

    async def events(self) -> tuple[Object, ...]:
        """The events that the controllers have told, the latest last; none where unreadable."""
        found: list[Object] = []
        for component in {one.controller.component for one in self._subjects}:
            try:
                found += await self._told_by(component)
            except ClusterError:
                continue
        return tuple(sorted(found, key=lambda seen: (last_time(seen), seen.ref)))

    async def _told_by(self, component: str) -> tuple[Object, ...]:
        view = View("events", EVENT, fields=f"source={component}")
        return await self._client.list_view(view, self._namespace)
