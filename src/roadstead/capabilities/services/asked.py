"""A catalog and an earlier tree that note what they are asked, and what they say.

What a service is judged and rendered on is its own definition, its Secrets, the platform file, and
the answers it got. Who asks the same again and is told the same has the same findings and the same
files, and need not work them out. That nothing is asked unseen is the type checker's: a snapshot
knows no more of a catalog than `Neighbours`, of a tree than `Before`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.parts import Dependency, Route
from roadstead.capabilities.services.api.platform import Platform, ServedPort
from roadstead.capabilities.services.snapshot import Before, Previous, Volume

Marks = Callable[[Service | None], str]
"""A text for each definition that differs where anything of its file does; empty for None."""

Questions = dict[tuple[str, ...], str]
"""What was asked, its name first, and what was answered."""


class Witness:
    """Answers what a snapshot may ask, and notes it.

    Two properties are not noted, since they follow from the platform file alone, on which all of
    a run hangs: `platform` and `has_variables`.
    """

    def __init__(self, catalog: Catalog, marks: Marks, before: Before | None) -> None:
        """Stand before a catalog and an earlier tree."""
        self._catalog = catalog
        self._marks = marks
        self._before = before or Previous()
        self.asked: Questions = {}

    @property
    def platform(self) -> Platform:
        """The platform file."""
        return self._catalog.platform

    @property
    def has_variables(self) -> bool:
        """Whether the platform file holds what Flux would replace."""
        return self._catalog.has_variables

    def get(self, name: str) -> Service | None:
        """One service."""
        found = self._catalog.get(name)
        self.asked["get", name] = self._marks(found)
        return found

    def knows(self, name: str) -> bool:
        """Tell whether a definition has this name."""
        found = self._catalog.knows(name)
        self.asked["knows", name] = str(found)
        return found

    def callers_of(self, name: str) -> tuple[tuple[Service, Dependency], ...]:
        """Who depends on a name, with what it declares."""
        found = self._catalog.callers_of(name)
        if ("callers_of", name) not in self.asked:
            self.asked["callers_of", name] = " ".join(self._marks(one) for one, _ in found)
        return found

    def needs(self, name: str) -> tuple[str, ...]:
        """The distinct catalog services one depends on; none of one that is not there."""
        found = self._catalog.needs(name) if self._catalog.get(name) else ()
        self.asked["needs", name] = " ".join(found)
        return found

    def served(self, name: str) -> tuple[ServedPort, ...]:
        """The ports of a service's Service; none of one that is not there."""
        found = self._catalog.served(name) if self._catalog.get(name) else ()
        if ("served", name) not in self.asked:
            told = (f"{one.port}/{one.protocol}/{one.name}" for one in found)
            self.asked["served", name] = " ".join(told)
        return found

    def first_of_host(self, host: str) -> tuple[Service, Route]:
        """Who has a host first."""
        service, route = self._catalog.first_of_host(host)
        self.asked["first_of_host", host] = f"{self._marks(service)} {route.index}"
        return service, route

    def first_of_name(self, name: str) -> Service | None:
        """Who has a name first."""
        found = self._catalog.first_of_name(name)
        self.asked["first_of_name", name] = self._marks(found)
        return found

    def cycle_of(self, name: str) -> tuple[str, ...]:
        """The circle of dependencies that begins with a service."""
        found = self._catalog.cycle_of(name)
        self.asked["cycle_of", name] = " ".join(found)
        return found

    def nearest_target(self, name: str) -> str:
        """The dependency target that a name was probably meant to be."""
        found = self._catalog.nearest_target(name)
        self.asked["nearest_target", name] = found
        return found

    def moved(self, authored: str) -> str:
        """The image that automation moved a workload to."""
        found = self._before.moved(authored)
        self.asked["moved", authored] = found
        return found

    def changes(self, now: tuple[Volume, ...]) -> tuple[Volume, ...]:
        """The volumes of the earlier tree that are not among those of now."""
        found = self._before.changes(now)
        key = ("changes", *(_SPACE.join(one) for one in now))
        self.asked[key] = "\n".join(_SPACE.join(one) for one in found)
        return found

    def other_cadence(self, seconds: int) -> int | None:
        """The cadence of the earlier tree where it is another one."""
        found = self._before.other_cadence(seconds)
        self.asked["other_cadence", str(seconds)] = "" if found is None else str(found)
        return found


_SPACE = "\t"
_AGAIN: Mapping[str, Callable[..., Any]] = {
    "get": Witness.get,
    "knows": Witness.knows,
    "callers_of": Witness.callers_of,
    "needs": Witness.needs,
    "served": Witness.served,
    "first_of_host": Witness.first_of_host,
    "first_of_name": Witness.first_of_name,
    "cycle_of": Witness.cycle_of,
    "nearest_target": Witness.nearest_target,
    "moved": Witness.moved,
    "changes": lambda one, *now: one.changes(tuple(Volume(*each.split(_SPACE)) for each in now)),
    "other_cadence": lambda one, seconds: one.other_cadence(int(seconds)),
}


def still_so(asked: Iterable[tuple[tuple[str, ...], str]], witness: Witness) -> bool:
    """Ask everything again, and tell whether every answer is the same.

    asked: of a service that is in the catalog with the definition it had.
    """
    for key, answer in asked:
        _AGAIN[key[0]](witness, *key[1:])
        if witness.asked[key] != answer:
            return False
    return True
