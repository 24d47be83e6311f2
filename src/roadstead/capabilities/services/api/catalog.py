"""All definitions of one platform, with the look-ups that rules and builders share.

Every map is built once for the whole catalog: a scan for each service would be quadratic.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.parts import TCP, Dependency, Route
from roadstead.capabilities.services.api.platform import Platform, ServedPort
from roadstead.capabilities.services.api.variables import mentions_variable
from roadstead.kube.documents import Place
from roadstead.kube.nearest import nearest


@dataclass(frozen=True)
class Catalog:
    """The services, sorted by name, and the platform they stand on.

    repeated: further definitions of a name that one among the services has already.
    broken: names of definitions that do not fit their schema; nothing more is known of them.
    """

    services: tuple[Service, ...]
    repeated: tuple[Service, ...]
    platform: Platform
    broken: frozenset[str] = frozenset()

    @cached_property
    def by_name(self) -> Mapping[str, Service]:
        """Every service by its name."""
        return {one.name: one for one in self.services}

    def get(self, name: str) -> Service | None:
        """One service; None where the catalog has none of that name."""
        return self.by_name.get(name)

    @cached_property
    def _callers(self) -> Mapping[str, tuple[tuple[Service, Dependency], ...]]:
        found: dict[str, list[tuple[Service, Dependency]]] = {}
        for service in self.services:
            for dependency in service.dependencies:
                found.setdefault(dependency.to, []).append((service, dependency))
        return {name: tuple(callers) for name, callers in found.items()}

    def callers_of(self, name: str) -> tuple[tuple[Service, Dependency], ...]:
        """Who depends on a name, with what it declares; by caller, then by entry."""
        return self._callers.get(name, ())

    def knows(self, name: str) -> bool:
        """Tell whether a definition has this name, be it one that does not fit its schema."""
        return name in self.by_name or name in self.broken

    @cached_property
    def everyone(self) -> tuple[Service, ...]:
        """Every definition that fits, in the order of files and lines."""
        return tuple(
            sorted(
                (*self.services, *self.repeated), key=lambda one: place_order(one.origin.place())
            )
        )

    @cached_property
    def _first_hosts(self) -> Mapping[str, tuple[Service, Route]]:
        found: dict[str, tuple[Service, Route]] = {}
        for service in self.everyone:
            for route in sorted(service.ingress_routes, key=lambda one: one.index):
                found.setdefault(route.host.lower(), (service, route))
        return found

    def first_of_host(self, host: str) -> tuple[Service, Route]:
        """Who has a host first, in the order of files and lines.

        host: one that some service has.
        """
        return self._first_hosts[host.lower()]

    @cached_property
    def _first_named(self) -> Mapping[str, Service]:
        return {one.name: one for one in reversed(self.everyone)}

    def first_of_name(self, name: str) -> Service | None:
        """Who has a name first, in the order of files and lines."""
        return self._first_named.get(name)

    @cached_property
    def _meant(self) -> dict[str, str]:
        return {}

    def nearest_target(self, name: str) -> str:
        """The dependency target that a name was probably meant to be; empty for none.

        Asked once for each name: many services may miss the same one.
        """
        if name not in self._meant:
            targets = {*self.by_name, *self.platform.platform_services}
            self._meant[name] = nearest(name, targets, max(2, len(name) * 2 // 3))
        return self._meant[name]

    def needs(self, name: str) -> tuple[str, ...]:
        """The distinct catalog services one depends on, sorted."""
        service = self.by_name[name]
        return tuple(sorted({one.to for one in service.dependencies if one.to in self.by_name}))

    def served(self, name: str) -> tuple[ServedPort, ...]:
        """The ports of a service's Service, ascending; empty for no Service.

        Source: contract 3.6.
        """
        service = self.by_name[name]
        found = {(one.port, one.protocol): one.name for one in service.ports}
        asked = [(one.port, TCP) for one in service.ingress_routes]
        asked += [(one.port, one.protocol) for one in service.in_cluster_clients]
        asked += [(one.port, one.protocol) for _, one in self.callers_of(name)]
        for pair in asked:
            found.setdefault(pair, "")
        scraped = service.scraped_port
        if scraped is not None and (found or service.is_vm):
            found.setdefault((scraped, TCP), "")
        return tuple(ServedPort(*pair, given) for pair, given in sorted(found.items()))

    @cached_property
    def has_variables(self) -> bool:
        """Whether the platform file holds what Flux would replace, but for the bulk server's."""
        stated = dict(self.platform.origin.value)
        stores = dict(stated.get("storage") or {})
        stores.pop("bulk", None)
        options = self.platform.storage.mount_options
        return mentions_variable([{**stated, "storage": stores}, options])

    @cached_property
    def _cycles(self) -> Mapping[str, tuple[str, ...]]:
        """Strongly connected groups of more than one service, each sorted, by the first of it."""
        return {one[0]: one for one in _components(self._edges) if len(one) > 1}

    def cycle_of(self, name: str) -> tuple[str, ...]:
        """The group of services that depend on each other in a circle, of which this is the first.

        Empty for any other service.
        """
        return self._cycles.get(name, ())

    @cached_property
    def _edges(self) -> Mapping[str, tuple[str, ...]]:
        return {name: tuple(to for to in self.needs(name) if to != name) for name in self.by_name}

    @cached_property
    def _waves(self) -> Mapping[str, int]:
        waves: dict[str, int] = {}
        for group in _components(self._edges):  # callees come before their callers
            below = [waves[to] for one in group for to in self._edges[one] if to in waves]
            waves |= dict.fromkeys(group, 1 + max(below, default=-1))
        return waves

    def wave(self, name: str) -> int:
        """0 without catalog dependencies, else one more than the highest of theirs."""
        return self._waves[name]


def place_order(place: Place) -> tuple[str, int, int]:
    """What places are sorted by."""
    return (place.file, place.line, place.column)


def _components(edges: Mapping[str, Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Strongly connected components, callees first, each sorted; Tarjan without recursion.

    edges: a chain of dependencies may be longer than Python's stack.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    stacked: set[str] = set()
    found: list[tuple[str, ...]] = []
    for root in edges:
        if root in order:
            continue
        work = [(root, iter(edges[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        stacked.add(root)
        while work:
            name, following = work[-1]
            to = next(following, None)
            if to is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    found.append(_popped(stack, stacked, name))
            elif to not in order:
                order[to] = low[to] = len(order)
                stack.append(to)
                stacked.add(to)
                work.append((to, iter(edges[to])))
            elif to in stacked:
                low[name] = min(low[name], order[to])
    return tuple(found)


def _popped(stack: list[str], stacked: set[str], root: str) -> tuple[str, ...]:
    group: list[str] = []
    while not group or group[-1] != root:
        group.append(stack.pop())
        stacked.discard(group[-1])
    return tuple(sorted(group))
