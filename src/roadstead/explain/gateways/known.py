"""What is told of a gateway is worded with: the facts it was judged on, once more.

Read with the reader's own rights; what may not be read stays unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from roadstead.capabilities.gateways.decide.entries import of_whole_apex
from roadstead.capabilities.gateways.decide.units import Unit, units_of
from roadstead.capabilities.gateways.decide.verdicts import Cause, Claims
from roadstead.capabilities.gateways.fields import HTTP01
from roadstead.capabilities.gateways.render.listeners import listeners, passthrough
from roadstead.capabilities.gateways.snapshot import Route, Snapshot, observe
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import Json, items, part


@dataclass(frozen=True, slots=True)
class Known:
    """One gateway and every unit of it, with the judge that its decision asks."""

    seen: Snapshot
    units: tuple[Unit, ...]
    claims: Claims

    @classmethod
    def of(cls, seen: Snapshot) -> "Known":
        """Take a snapshot as its decision does."""
        units = tuple(unit for route in seen.routes for unit in units_of(seen, route))
        return cls(seen, units, Claims(seen, units, passthrough(seen.asked)))

    @property
    def follows_hostnames(self) -> bool:
        """Whether listeners are made of what routes claim."""
        return self.seen.asked.mode == HTTP01

    @property
    def judged(self) -> tuple[Unit, ...]:
        """The units that have an entry, in the order of the decision's findings."""
        if self.follows_hostnames:
            return tuple(unit for unit in self.units if self.claims.names(unit))
        return tuple(unit for unit, _ in of_whole_apex(self.seen, self.units))

    def by_name(self, unit: Unit) -> tuple[tuple[str, Cause | None], ...]:
        """Each hostname of a unit, with why it is not served."""
        if self.follows_hostnames:
            return self.claims.judged(unit)
        causes = [cause for one, cause in of_whole_apex(self.seen, [unit]) if one is unit]
        return tuple((host, cause[0]) for cause in causes for host in unit.hostnames)

    @property
    def listeners(self) -> tuple[Json, ...]:
        """Those of the Gateway that stands, else those it would have."""
        gateway = self.seen.gateway
        stored = items(part(gateway.body, "spec"), "listeners") if gateway is not None else ()
        served = self.claims.served if self.follows_hostnames else ()
        return stored or tuple(listeners(self.seen, served))

    def with_route(self, unit: Unit, spec: Mapping[str, Any]) -> "Known":
        """The same world with another spec of one route."""
        old = unit.route
        body = {**old.seen.body, "spec": {**part(old.seen.body, "spec"), **spec}}
        new = Route(Object.of(old.seen.kind, body), old.resolves)
        routes = tuple(new if one is old else one for one in self.seen.routes)
        return Known.of(replace(self.seen, routes=routes))

    def with_spec(self, spec: Mapping[str, Any]) -> "Known":
        """The same world with another spec of the gateway; None takes a field away."""
        old = self.seen.asked_for
        if old is None:
            return self
        merged = {**part(old.body, "spec"), **spec}
        body = {**old.body, "spec": {key: one for key, one in merged.items() if one is not None}}
        return Known.of(replace(self.seen, asked_for=Object.of(old.kind, body)))

    def serves(self, route: Ref) -> bool:
        """Whether no unit of a route is refused, and one is judged."""
        mine = [unit for unit in self.judged if unit.route.ref == route]
        return bool(mine) and all(cause is None for unit in mine for _, cause in self.by_name(unit))


async def know(reader: Reader, key: Ref) -> Known | None:
    """Collect what is told of a gateway; None where it is gone or cannot be read."""
    try:
        seen = await observe(reader, key)
    except ClusterError:
        return None
    return Known.of(seen) if seen is not None and seen.asked_for is not None else None
