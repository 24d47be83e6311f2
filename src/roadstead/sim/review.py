"""Our admission in the offline world: what the API server would ask, asked at once."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.engine.reader import PassReader
from roadstead.engine.review import Answered, answer, concerns
from roadstead.engine.store import Store
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, Kind
from roadstead.settings import Settings
from roadstead.sim.ours import Ours, viewed
from roadstead.sim.settle import drive
from roadstead.sim.validity import refusal
from roadstead.sim.world import Reviewed, World
from roadstead.wiring import Admission, Review


class Reviewing:
    """Reviews every write to a world that an admission is registered for.

    Its views lag behind nothing: they are read anew for every question.
    """

    def __init__(self, world: World, admissions: Iterable[Admission], settings: Settings) -> None:
        """Look at a world."""
        self._world = world
        self._admissions = tuple(admissions)
        self._settings = settings

    def __call__(self, kind: Kind, body: dict[str, Any], old: Object | None) -> Reviewed:
        """Review a body that is to be written over an object.

        Raises: ClusterError where it is refused.
        """
        warnings: tuple[str, ...] = ()
        for admission in self._admissions:
            try:
                new = Object.of(kind, body)
            except ValueError as error:
                raise ClusterError(str(error), status=400, reason="BadRequest") from None
            namespace = self._world.store.get(NAMESPACE.ref("", new.meta.namespace))
            if not concerns(admission, namespace, old, new):
                continue
            asked = Review(new, creating=old is None)
            answered: Answered = drive(answer(admission, self._reader(admission), asked))
            if answered.admitted is None:
                raise refusal(answered.code, "InternalError", new.ref, answered.message)
            warnings += answered.admitted.warnings
            body = patched(body, answered.admitted.patch)
        return Reviewed(body, warnings)

    def _reader(self, admission: Admission) -> PassReader:
        stores = {}
        for view in admission.views:
            store = stores[view] = Store(view)
            store.begin_list()
            listed = self._world.store.all(view.kind)
            for _ in store.add_page(viewed(view, one) for one in listed if view.selects(one)):
                pass
            for _ in store.end_list(self._world.store.version):
                pass
        return PassReader(Ours(self._world), stores, self._settings, self._world.now)


def patched(body: Mapping[str, Any], patch: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A copy of an object with a JSON patch applied.

    patch: operations `add` on members of maps, the only ones that an admission of ours gives.
    Raises: ValueError for any other.
    """
    changed = copy.deepcopy(dict(body))
    for one in patch:
        if one["op"] != "add":
            raise ValueError(f"no `{one['op']}` is known here")
        *above, last = (
            step.replace("~1", "/").replace("~0", "~") for step in one["path"].split("/")[1:]
        )
        at: Any = changed
        for step in above:
            at = at[step]
        at[last] = copy.deepcopy(one["value"])
    return changed
