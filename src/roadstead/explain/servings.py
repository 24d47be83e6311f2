"""What came of the tenant gateways of an example, told by readings of its API server alone.

Each reading holds what the server showed once everything had settled: gateways, the routes that
are judged at them, and the replicas of the platform's wildcard. A line is a difference of two of
them, so another world gives another table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import EDGE
from roadstead.capabilities.gateways.snapshot import Asked
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.capabilities.wildcards import api as wildcards
from roadstead.explain.results import REFUSED, WAITING, Result
from roadstead.kube.conditions import TRUE, condition_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.kube.shapes import Json, items, part, text, texts

SERVES, STUCK, GONE = "serves", "stuck", "gone"
SERVED, HELD, MOVED_UP = "served", "waits", "moved up"
COPIED, WITHDRAWN = "copied", "withdrawn"


class Moment(Protocol):
    """One object at one moment."""

    @property
    def word(self) -> object:
        """What makes it another state."""


@dataclass(frozen=True, slots=True)
class Serving:
    """One TenantGateway. gateway: what it rendered. has_class: whether its class is there."""

    asked_for: Object
    gateway: Object | None = None
    has_class: bool = True

    @property
    def ready(self) -> Json:
        """The one condition."""
        return condition_of(part(self.asked_for.body, "status"), "Ready")

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the Gateway."""
        status = part(self.gateway.body, "status") if self.gateway is not None else {}
        return tuple(text(one, "value") for one in items(status, "addresses"))

    @property
    def sections(self) -> tuple[str, ...]:
        """The listeners of the Gateway."""
        spec = part(self.gateway.body, "spec") if self.gateway is not None else {}
        return tuple(text(one, "name") for one in items(spec, "listeners"))

    @property
    def word(self) -> object:
        """Readiness, and what is served where."""
        said = (self.ready.get("status"), self.ready.get("reason"), self.ready.get("message"))
        return (said, self.addresses, Asked.of(self.asked_for).mode)

    @property
    def where(self) -> str:
        """Address, listeners and where TLS ends."""
        asked = Asked.of(self.asked_for)
        ends = "TLS ends before it" if asked.mode == EDGE else f"mode {asked.mode}"
        listeners = ", ".join(self.sections)
        return f"{', '.join(self.addresses)} by class {asked.class_name}, {ends}: {listeners}"


@dataclass(frozen=True, slots=True)
class Claiming:
    """One route, at the gateways it was judged at."""

    route: Object

    @property
    def said(self) -> tuple[Json, str]:
        """Our condition, and the gateway it is of; the first one that is no, else the first."""
        found = []
        for entry in items(part(self.route.body, "status"), "parents"):
            stated = items(entry, "conditions")
            if entry.get("controllerName") == api.COMPONENT and stated:
                named = gateway_of(part(entry, "parentRef"), self.route.meta.namespace)
                found.append((stated[0], named))
        bad = [one for one in found if one[0].get("status") != TRUE]
        return next(iter([*bad, *found]), ({}, ""))

    @property
    def hostnames(self) -> tuple[str, ...]:
        """What it claims."""
        return texts(part(self.route.body, "spec"), "hostnames")

    @property
    def word(self) -> object:
        """The verdict."""
        said, gateway = self.said
        verdict = (said.get("status"), said.get("reason"), said.get("message"))
        return (verdict, gateway, self.hostnames)


@dataclass(frozen=True, slots=True)
class Copied:
    """One replica."""

    source: str

    @property
    def word(self) -> object:
        """Whose replica it is."""
        return self.source


@dataclass(frozen=True, slots=True)
class Servings:
    """Everything of it at one moment. copies: by the Secret that is a replica."""

    gateways: Mapping[Ref, Serving]
    routes: Mapping[Ref, Claiming]
    copies: Mapping[Ref, Copied]


One = TypeVar("One", bound=Moment)
Line = Callable[[Ref, One, One | None], Result]
Gone = Callable[[Ref, One], Result]


def gateways(readings: Sequence[Servings]) -> tuple[Result, ...]:
    """What became of each gateway."""
    return _stories([one.gateways for one in readings], _of_gateway, _gateway_gone)


def routes(readings: Sequence[Servings]) -> tuple[Result, ...]:
    """What became of each route."""
    return _stories([one.routes for one in readings], _of_route, _route_gone)


def copies(readings: Sequence[Servings]) -> tuple[Result, ...]:
    """What became of each replica."""

    def withdrawn(ref: Ref, before: Copied) -> Result:
        number = next(at for at, one in enumerate(readings) if ref in one.copies)
        last = next(one for one in readings[number:] if ref not in one.copies)
        return Result(
            ref, WITHDRAWN, "-", f"no longer a replica of {before.source}{_why(ref, last)}"
        )

    def copied(ref: Ref, now: Copied, _: Copied | None) -> Result:
        return Result(ref, COPIED, "-", f"a replica of {now.source}")

    return _stories([one.copies for one in readings], copied, withdrawn)


def _why(ref: Ref, reading: Servings) -> str:
    mine = [one for at, one in reading.gateways.items() if at.namespace == ref.namespace]
    if mine and all(Asked.of(one.asked_for).mode == EDGE for one in mine):
        named = ", ".join(sorted(one.asked_for.ref.path for one in mine))
        return f": TLS ends before {named}"
    return ""


def _stories(
    readings: Sequence[Mapping[Ref, One]], line: Line[One], gone: Gone[One]
) -> tuple[Result, ...]:
    """Every object's lines, in order; one that stays as it is adds none."""
    found: list[Result] = []
    for ref in sorted({ref for reading in readings for ref in reading}):
        before: One | None = None
        for reading in readings:
            now = reading.get(ref)
            if now is None and before is not None:
                found.append(gone(ref, before))
            elif now is not None and (before is None or before.word != now.word):
                found.append(line(ref, now, before))
            before = now
    return tuple(found)


def _of_gateway(ref: Ref, now: Serving, before: Serving | None) -> Result:
    reason, message = text(now.ready, "reason"), text(now.ready, "message")
    if now.ready.get("status") == TRUE:
        was = f"; it was {Asked.of(before.asked_for).mode}" if before is not None else ""
        changed = before is not None and _mode(before) != _mode(now)
        return Result(ref, SERVES, reason, now.where + (was if changed else ""))
    if reason == api.FAULT or not now.has_class:
        return Result(ref, STUCK, reason, message)
    return Result(ref, WAITING, reason or "-", message or "no word of why")


def _mode(one: Serving) -> str:
    return Asked.of(one.asked_for).mode


def _gateway_gone(ref: Ref, before: Serving) -> Result:
    return Result(ref, GONE, "-", f"deleted; it had {', '.join(before.addresses) or 'no address'}")


def _of_route(ref: Ref, now: Claiming, before: Claiming | None) -> Result:
    said, gateway = now.said
    reason, names = text(said, "reason"), ", ".join(now.hostnames)
    if said.get("status") == TRUE:
        waited = before is not None and before.said[0].get("reason") == api.CONFLICT
        told = f"{names} at {gateway}" + ("; it had waited for another route" if waited else "")
        return Result(ref, MOVED_UP if waited else SERVED, reason, told)
    if reason == api.CONFLICT:
        return Result(ref, HELD, reason, text(said, "message"))
    return Result(ref, REFUSED, reason, text(said, "message"))


def _route_gone(ref: Ref, before: Claiming) -> Result:
    return Result(ref, GONE, "-", f"deleted; it claimed {', '.join(before.hostnames)}")


def replica(seen: Object) -> tuple[Ref, Copied]:
    """A replica as a reading has it."""
    source: Any = seen.annotations.get(wildcards.COPY_SOURCE, "")
    return SECRET.ref(seen.meta.namespace, seen.meta.name), Copied(source)
