"""A live cluster as the caller may see it: the views that decisions need, listed once, and judged.

Everything is read with the caller's own rights and nothing is ever written. What may not be read
is unknown, never absent.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.capabilities.anchors.snapshot import RELEASES
from roadstead.decision import Event
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed, PassReader
from roadstead.engine.store import State
from roadstead.errors import BugError, ClusterError
from roadstead.explain.rows import last_time
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, Kind, Ref
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.settings import Settings

EVENTS = View("events", EVENT, fields=f"source={api.COMPONENT}")
_UNREAD = {403: State.FORBIDDEN, 404: State.ABSENT}


class Reading:
    """The requests of a look: reads go to the server, a write is a bug of ours."""

    def __init__(self, client: Client) -> None:
        """Ask through this client."""
        self._client = client

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole."""
        return await self._client.get(ref)

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches."""
        return await self._client.list_metadata(kind, namespace, labels)

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Refuse."""
        raise _writes(kind, body)

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
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

    namespace: empty for all.
    """

    def __init__(self, client: Client, namespace: str, settings: Settings, clock: Clock) -> None:
        """Read nothing yet."""
        self._client = client
        self._namespace = namespace
        self._clock = clock
        self._engine = Engine((ANCHORS,), settings, clock, dry=True)
        self.api = Reading(client)

    async def fill(self) -> None:
        """List every view that decisions need.

        Raises: ClusterError for anything but "forbidden" and "not served", and where not even
            the releases can be read.
        """
        for view in self._engine.stores:
            try:
                self._engine.begin_list(view)
                await self._list(view)
            except ClusterError as error:
                if error.status not in _UNREAD:
                    raise
                self._engine.lost(view, _UNREAD[error.status])
        self._require_releases()

    def _require_releases(self) -> None:
        state, about = self.state(RELEASES), RELEASES.kind.resource
        where = f"in namespace {self._namespace}" if self._namespace else "in all namespaces"
        if state is State.FORBIDDEN:
            flag = f"-n {self._namespace}" if self._namespace else "-A"
            raise ClusterError(
                f"you may not list {about} {where}",
                status=403,
                about=about,
                hint=f"kubectl auth can-i list {about} {flag}",
            )
        if state is State.ABSENT:
            raise ClusterError(
                f"this cluster does not serve {about}",
                status=404,
                about=about,
                hint="it comes with Flux's helm-controller",
            )

    async def _list(self, view: View) -> None:
        namespace = self._namespace if view.kind.namespaced else ""
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
        return await self._engine.work(ANCHORS.name, key, self.api)

    async def events(self) -> tuple[Object, ...]:
        """The events that the controller has told, the latest last; none where unreadable."""
        found: list[Object] = []
        token = ""
        try:
            while True:
                page = await self._client.page(EVENTS, self._namespace, continue_token=token)
                found += page.objects
                token = page.continue_token
                if not token:
                    break
        except ClusterError:
            return ()
        return tuple(sorted(found, key=lambda seen: (last_time(seen), seen.ref)))
