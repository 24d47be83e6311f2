"""A world that tells a law what each of our writes met."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, Kind, Ref
from roadstead.kube.views import View
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.world import Admission, World


class WatchedWorld(World):
    """A world that keeps what each of our writes met, those of events aside.

    met: verb, ref, what was there before, and what was sent.
    """

    def __init__(
        self, now: datetime, views: Iterable[View], admission: Admission | None = None
    ) -> None:
        """Begin empty. views: what a controller looks at."""
        super().__init__(now, Kinds(view.kind for view in views), admission)
        self.met: list[tuple[str, Ref, Object | None, Mapping[str, Any]]] = []

    def create(self, kind: Kind, body: Mapping[str, Any], by: By) -> Object:
        """Note a create."""
        made = super().create(kind, body, by)
        self._note("create", made.ref, None, body, by)
        return made

    def replace(
        self, kind: Kind, body: Mapping[str, Any], by: By, *, status: bool = False
    ) -> Object:
        """Note an update."""
        old = self._named(kind, body)
        made = super().replace(kind, body, by, status=status)
        self._note("update-status" if status else "update", made.ref, old, body, by)
        return made

    def apply(self, kind: Kind, body: Mapping[str, Any], manager: str, by: By) -> Object:
        """Note an apply."""
        old = self._named(kind, body)
        made = super().apply(kind, body, manager, by)
        self._note("apply", made.ref, old, body, by)
        return made

    def merge(self, ref: Ref, patch: Mapping[str, Any], by: By) -> Object:
        """Note a patch."""
        old = self.store.get(ref)
        made = super().merge(ref, patch, by)
        self._note("patch", ref, old, patch, by)
        return made

    def delete(self, ref: Ref, by: By, **more: Any) -> None:
        """Note a deletion."""
        old = self.store.get(ref)
        super().delete(ref, by, **more)
        self._note("delete", ref, old, {}, by)

    def _named(self, kind: Kind, body: Mapping[str, Any]) -> Object | None:
        meta = body["metadata"]
        return self.store.get(kind.ref(meta.get("namespace", ""), meta["name"]))

    def _note(
        self, verb: str, ref: Ref, met: Object | None, sent: Mapping[str, Any], by: By
    ) -> None:
        if by is By.US and ref.kind != EVENT:
            self.met.append((verb, ref, met, sent))
