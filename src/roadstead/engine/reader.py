"""What `observe` reads through in one pass: views from memory, the rest from the API, counted."""

from collections.abc import Container, Mapping
from datetime import datetime, timedelta

from roadstead.engine.api import Api
from roadstead.engine.store import State, Store
from roadstead.errors import ClusterError, Unread
from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings

Stores = Mapping[View, Store]


class CachedViews:
    """Cached reads alone, for mappers."""

    def __init__(self, stores: Stores) -> None:
        """Read these."""
        self._stores = stores

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        """One stored object."""
        return self._stores[view].get(namespace, name)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """Stored objects."""
        return self._stores[view].list(index, value)


class PassReader:
    """The Reader of one pass.

    live: whether `see` and `see_all` ask the API server. One that starts from stored answers is
    turned by `be_sure` before anything that rests on them is written.
    """

    def __init__(
        self,
        api: Api,
        stores: Stores,
        settings: Settings,
        now: datetime,
        *,
        repeated: bool = False,
        spent: Container[str] = (),
    ) -> None:
        """Read at one moment; a repeated pass trusts no cached absence.

        spent: what was written once for something.
        """
        self._spent = spent
        self._api = api
        self._stores = stores
        self._repeated = repeated
        self._since: dict[str, timedelta] = {}
        self._listed: dict[tuple[View, str], tuple[Object, ...]] = {}
        self.live = repeated
        self.now = now
        self.settings = settings
        self.reads = {"get": 0, "list": 0}

    def remember(self, state: str, span: timedelta) -> None:
        """Tell how long the key has been in a state."""
        self._since[state] = span

    def done(self, once: str) -> bool:
        """Tell whether this process has written for this already."""
        return once in self._spent

    def be_sure(self) -> None:
        """Ask the API server from here on."""
        self.live = True

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        """One stored object."""
        return self._stores[view].get(namespace, name)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """Stored objects."""
        return self._stores[view].list(index, value)

    def absent(self, view: View, namespace: str, name: str) -> bool:
        """Tell whether a view's word for an absence is enough."""
        return not self._repeated and self.get(view, namespace, name) is None

    def since(self, state: str) -> timedelta:
        """How long this key has been in a state."""
        return self._since.get(state, timedelta(0))

    async def see(self, view: View, namespace: str, name: str) -> Object | None:
        """One object of a view; live once this pass must be sure."""
        if not self.live:
            return self.get(view, namespace, name)
        for seen in self._listed.get((view, namespace), ()):
            if seen.meta.name == name:
                return seen
        # A list may lag behind; that something is not there is only said after a GET of it.
        self._check_served(view)
        try:
            found = await self.live_get(view.kind.ref(namespace, name))
        except ClusterError as error:
            raise _unread(view, error) from None
        if found is None or not view.selects(found):
            return None
        return view.keep(found)

    async def see_all(
        self, view: View, namespace: str, index: str, value: str
    ) -> tuple[Object, ...]:
        """What an index of a view holds in a namespace; live once this pass must be sure.

        Cost: live, one list of the namespace for all questions about a view in one pass.
        """
        if not self.live:
            found = self._stores[view].list(index, value)
            return tuple(seen for seen in found if seen.meta.namespace == namespace)
        values = next(one.values for one in view.indexes if one.name == index)
        listed = await self._all(view, namespace)
        there = {seen.meta.name: seen for seen in listed if value in values(seen)}
        known = {seen.meta.name for seen in listed}
        for stored in self._stores[view].list(index, value):
            if stored.meta.namespace == namespace and stored.meta.name not in known:
                # Our own write may be ahead of a list that lags behind.
                seen = await self.see(view, namespace, stored.meta.name)
                if seen is not None and value in values(seen):
                    there[seen.meta.name] = seen
        return tuple(there[name] for name in sorted(there))

    async def _all(self, view: View, namespace: str) -> tuple[Object, ...]:
        known = self._listed.get((view, namespace))
        if known is not None:
            return known
        self._check_served(view)
        self.reads["list"] += 1
        try:
            listed = await self._api.list_view(view, namespace)
        except ClusterError as error:
            raise _unread(view, error) from None
        kept = tuple(one for seen in listed if (one := view.keep(seen)) is not None)
        self._listed[view, namespace] = kept
        return kept

    def _check_served(self, view: View) -> None:
        """Discovery has said that a kind is not served: no request is made to find that out.

        Raises: Unread.
        """
        store = self._stores[view]
        if store.state in {State.ABSENT, State.FORBIDDEN}:
            store.list()

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of what an owner reference names, from the API server."""
        self.reads["get"] += 1
        return await self._api.owner(owner, namespace)

    async def live_get(self, ref: Ref) -> Object | None:
        """One object, whole, from the API server."""
        self.reads["get"] += 1
        return await self._api.get(ref)

    async def live_list(self, kind: Kind, namespace: str, labels: str) -> tuple[Object, ...]:
        """Metadata of what a selector matches, from the API server."""
        self.reads["list"] += 1
        return await self._api.list_metadata(kind, namespace, labels)


def _unread(view: View, error: ClusterError) -> ClusterError:
    """A collection that is not there is a kind that is not served, never an object not found."""
    if not error.not_found:
        return error
    return Unread(
        f"{view.kind.resource} is not served",
        status=error.status,
        reason=State.ABSENT.value,
        about=view.kind.resource,
        hint="see docs/reference/views.md",
    )
