"""Which parentRefs of which routes count, as units that verdicts are passed on.

Source: tenant-gateway 4.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot import Route, Snapshot
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.kube.shapes import Json, items, part, texts

Order = tuple[bool, str, str]


@dataclass(frozen=True)
class Unit:
    """One attaching parentRef of one route.

    parent: a verbatim copy of the parentRef. section, port: what it selects; empty and 0 for all.
    """

    route: Route
    parent: Json

    @cached_property
    def section(self) -> str:
        """The listener it names; empty for any."""
        return str(self.parent.get("sectionName") or "")

    @cached_property
    def port(self) -> int:
        """The port it names; 0 for any."""
        port: Any = self.parent.get("port")
        return port if type(port) is int else 0

    @cached_property
    def hostnames(self) -> tuple[str, ...]:
        """The route's hostnames, each once, in its order."""
        return tuple(dict.fromkeys(texts(part(self.route.seen.body, "spec"), "hostnames")))

    @property
    def namespace(self) -> str:
        """Where the route stands."""
        return self.route.ref.namespace

    @property
    def is_tls(self) -> bool:
        """Whether it is of a TLSRoute."""
        return self.route.is_tls

    @property
    def order(self) -> Order:
        """Who comes first where two claim one name. Source: 4.5."""
        platform = self.namespace.startswith(api.PLATFORM_PREFIX)
        return (not platform, self.namespace, self.route.ref.name)

    def selects(self, section: str, port: int) -> bool:
        """Whether it selects a listener. Source: 5.1, selecting keys."""
        return self.section in {"", section} and self.port in {0, port}


def units_of(seen: Snapshot, route: Route) -> Iterator[Unit]:
    """The attaching parentRefs of a route, in order; none for one outside the attach set."""
    if route.ref.namespace not in seen.attach_set or is_redirect(seen, route):
        return
    for parent in items(part(route.seen.body, "spec"), "parentRefs"):
        if gateway_of(parent, route.ref.namespace) == seen.key.key:
            yield Unit(route, parent)


def is_redirect(seen: Snapshot, route: Route) -> bool:
    """Whether a route is our own redirect: by name and owner, never by label. Source: 3.7."""
    ours = f"{seen.name}-http-redirect"
    mine = route.ref.name == ours and route.ref.namespace == seen.namespace
    return mine and not route.is_tls and seen.owns(route.seen)
