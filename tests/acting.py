"""Small worlds in which stand-ins act, alone or beside controllers of ours."""

from collections.abc import Iterable
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.settings import Settings
from roadstead.sim.actors import acting
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import World
from roadstead.wiring import Controller
from worlds import NOW

Json = dict[str, Any]


class Acting:
    """A world, and stand-ins over it. place: where an object is looked for that names no place."""

    place = "t"

    def __init__(
        self,
        stand_ins: Iterable[str],
        objects: Iterable[Json],
        controllers: Iterable[Controller] = (),
    ) -> None:
        """Let it settle over these objects."""
        self.world = World(NOW, Kinds())
        self.settler = Settler(self.world, controllers, Settings(), acting(stand_ins))
        for one in objects:
            self.seed(one)
        self.settle()

    def seed(self, one: Json) -> None:
        """Put one object there."""
        self.world.seed(one, ref_of(one))

    def settle(self) -> None:
        """Let everybody act until nothing is written."""
        self.settler.settle()

    def merge(self, ref: Ref, **patch: Any) -> None:
        """Let somebody change an object, and everybody answer."""
        self.world.merge(ref, patch, By.OTHER)
        self.settle()

    def delete(self, ref: Ref) -> None:
        """Let somebody delete an object, and everybody answer."""
        self.world.delete(ref, By.OTHER)
        self.settle()

    def find(self, ref: Ref) -> Object | None:
        """An object, if it is there."""
        return self.world.store.get(ref)

    def get(self, kind: Kind, name: str) -> Object:
        """An object that is there."""
        found = self.find(kind.ref(self.place, name))
        assert found is not None
        return found

    def there(self, kind: Kind, name: str) -> bool:
        """Whether an object is there."""
        return self.find(kind.ref(self.place, name)) is not None

    def status(self, kind: Kind, name: str) -> Json:
        """What is said of an object."""
        return dict(self.get(kind, name).body.get("status") or {})


def ref_of(one: Json) -> Ref:
    """The ref of an object of a world like this."""
    meta = one["metadata"]
    kind = Kinds().of(one["apiVersion"], one["kind"], meta.get("namespace", ""))
    return kind.ref(meta.get("namespace", ""), meta["name"])
