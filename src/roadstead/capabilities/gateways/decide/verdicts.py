"""Who is served on which hostname, and why not. Mode http01 alone.

Source: tenant-gateway 4.2, 4.4, 4.5, 5.2 and 5.3; the names of the rows stand beside them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.api import (
    ACCEPTED,
    CONFLICT,
    NO_HOSTNAME,
    NO_PARENT,
    NOT_ALLOWED,
)
from roadstead.capabilities.gateways.decide.units import Unit
from roadstead.capabilities.gateways.render.listeners import Passthrough, section_of
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.kube.hostnames import WILDCARD, covers, is_within, overlap
from roadstead.kube.names import is_label

HTTPS_PORT, HTTP_PORT = 443, 80


@dataclass(frozen=True, slots=True)
class Cause:
    """Why one hostname is not served through one unit."""

    reason: str
    text: str


Race = tuple[Unit, ...]
"""Who claims one hostname; the first is the winner. Source: 4.5."""


def in_order(units: Iterable[Unit]) -> Race:
    """Units in the order of claimants."""
    return tuple(sorted(units, key=lambda one: one.order))


class Claims:
    """Every claim of one gateway in mode http01, judged together.

    units: those of routes in the attach set. rendered: the passthrough listeners of the spec.
    Cost: about linear in the units; what is asked of a hostname is found out once, so that a
    tenant with thousands of routes on one name holds nobody else up.
    """

    def __init__(
        self, seen: Snapshot, units: Iterable[Unit], rendered: tuple[Passthrough, ...]
    ) -> None:
        """Judge nothing yet."""
        self._seen = seen
        self._rendered = rendered
        self.http = tuple(one for one in units if not one.is_tls)
        self.tls = tuple(one for one in units if one.is_tls)
        self._judged: dict[int, tuple[tuple[str, Cause | None], ...]] = {}
        self._overlaps: dict[str, tuple[Passthrough, ...]] = {}
        self._races: dict[tuple[bool, str], Race] = {}

    # what is served

    @cached_property
    def _sections(self) -> dict[str, int]:
        """The port of every section that counts as rendered. Source: 5.2, the note on H2."""
        ports = {api.PLAIN: HTTP_PORT, **{one.section: one.port for one in self._rendered}}
        for unit in (*self.http, *self.tls):
            ports |= {section_of(host): HTTPS_PORT for host in unit.hostnames}
        return ports

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The hostnames that an HTTPRoute wants termination for: those that reach row H8."""
        return frozenset(
            host
            for unit in self.http
            for host in unit.hostnames
            if not self._is_plain(unit) and self._before_race(unit, host) is None
        )

    @cached_property
    def withdrawn(self) -> frozenset[str]:
        """The wanted hostnames that a forwarding TLSRoute answers on a passthrough listener."""
        claimed = {host for unit in self.tls if unit.route.resolves for host in self._claimed(unit)}
        return frozenset(h for h in self.wanted if self._overlapping(h) and h in claimed)

    @property
    def served(self) -> tuple[str, ...]:
        """The hostnames with a listener and a Certificate of their own, sorted."""
        return tuple(sorted(self.wanted - self.withdrawn))

    def _overlapping(self, host: str) -> tuple[Passthrough, ...]:
        if host not in self._overlaps:
            found = tuple(one for one in self._rendered if overlap(one.hostname, host))
            self._overlaps[host] = found
        return self._overlaps[host]

    def _admits(self, unit: Unit, one: Passthrough) -> bool:
        """Whether a passthrough listener admits a unit that selects it."""
        inside = not one.tenant_only or unit.namespace == self._seen.namespace
        return inside and unit.selects(one.section, one.port)

    def _eligible(self, unit: Unit, host: str) -> bool:
        return any(self._admits(unit, one) for one in self._overlapping(host))

    def names(self, unit: Unit) -> tuple[str, ...]:
        """The hostnames a unit is judged on: its own, or those of the listeners it selects."""
        if unit.hostnames or not unit.is_tls:
            return unit.hostnames
        return tuple(one.hostname for one in self._rendered if unit.selects(one.section, one.port))

    def _claimed(self, unit: Unit) -> set[str]:
        """What a TLSRoute claims. Source: 4.2, claiming."""
        found = {host for host in self.names(unit) if self._eligible(unit, host)}
        for host in tuple(found):
            found |= {
                one.hostname
                for one in self._rendered
                if covers(host, one.hostname) and self._admits(unit, one)
            }
        return found

    # HTTPRoutes

    def _is_plain(self, unit: Unit) -> bool:
        target = unit.section == api.PLAIN or (not unit.section and unit.port == HTTP_PORT)
        return target and unit.namespace in {self._seen.namespace, api.CERT_MANAGER}

    def _before_race(self, unit: Unit, host: str) -> Cause | None:
        """Rows H1 to H7; None for a unit that is plain or reaches H8."""
        parent = self._parent_missing(unit)
        if parent is not None:
            return parent
        if unit.section == api.PLAIN or (not unit.section and unit.port == HTTP_PORT):
            return None if self._is_plain(unit) else self._not_admitted()  # H3, H4
        return self._hostname_missing(unit, host)

    def _parent_missing(self, unit: Unit) -> Cause | None:
        """Rows H1 and H2, and T5 and T7 of the other kind."""
        section, port = unit.section, unit.port
        if section.startswith(api.PASSTHROUGH_PREFIX) and section not in self._sections:
            return Cause(NO_PARENT, f"there is no listener `{section}`")
        if section in self._sections and port not in {0, self._sections[section]}:
            return Cause(NO_PARENT, f"the listener `{section}` is not on port {port}")
        return None

    def _not_admitted(self) -> Cause:
        admitted = f"`{self._seen.namespace}` and `{api.CERT_MANAGER}`"
        text = f"the listener `{api.PLAIN}` admits routes of {admitted} alone"
        return Cause(NOT_ALLOWED, text)

    def _hostname_missing(self, unit: Unit, host: str) -> Cause | None:
        """Rows H5 to H7."""
        section, apex, text = unit.section, self._seen.asked.apex, ""
        if section.startswith(api.PASSTHROUGH_PREFIX):
            text = f"the listener `{section}` ends no TLS, so no HTTPRoute is served on it: {host}"
        elif unit.port not in {0, HTTP_PORT, HTTPS_PORT}:
            text = f"no listener on port {unit.port} serves {host}"
        elif not is_within(host.removeprefix(WILDCARD), apex):
            text = f"{host} is outside the apex {apex}"
        elif host.startswith(WILDCARD):
            text = f"no certificate can be had for the wildcard {host}"
        elif not all(is_label(label) for label in host.split(".")):
            text = f"no certificate can be had for {host}: a part of it is no DNS label"
        return Cause(NO_HOSTNAME, text) if text else None

    def of_http(self, unit: Unit, host: str) -> Cause | None:
        """Why an HTTPRoute is not served on a hostname. Source: 5.2."""
        early = self._before_race(unit, host)
        if early is not None or self._is_plain(unit):
            return early
        if host in self.withdrawn:  # H8
            answering = min(one.hostname for one in self._overlapping(host))
            return Cause(
                NO_HOSTNAME, f"{host} is answered by the passthrough listener of {answering}"
            )
        if self._loses(unit, self._race_of_http(host)):  # H9
            return Cause(CONFLICT, f"{host} is held by a route that comes first")
        return None

    @cached_property
    def _claimants(self) -> dict[tuple[bool, str], list[Unit]]:
        """Who claims a hostname, by whether it is a TLSRoute."""
        found: dict[tuple[bool, str], list[Unit]] = {}
        for unit in (*self.http, *self.tls):
            for host in self.names(unit):
                found.setdefault((unit.is_tls, host), []).append(unit)
        return found

    def _racing_http(self, host: str) -> Iterator[Unit]:
        for unit in self._claimants.get((False, host), ()):
            if not self._is_plain(unit) and self._before_race(unit, host) is None:
                yield unit

    def _race_of_http(self, host: str) -> Race:
        if (False, host) not in self._races:
            others: Iterable[Unit] = self._claimants.get((True, host), ())
            if self._overlapping(host):
                others = self._eligible_tls(host)
            self._races[False, host] = in_order((*self._racing_http(host), *others))
        return self._races[False, host]

    # TLSRoutes

    def of_tls(self, unit: Unit, host: str) -> Cause | None:
        """Why a TLSRoute is not served on a hostname. Source: 5.3."""
        there = self._overlapping(host)
        if not there:
            return self._unanswered(unit, host)
        mine = {one.section: one for one in self._rendered}
        if unit.section in mine and mine[unit.section] not in there:  # T4
            return self._answers_another(mine[unit.section], host)
        if unit.section and unit.section not in mine:
            return self._nameless(unit, host)
        return self._on_listeners(unit, host, there)

    def _nameless(self, unit: Unit, host: str) -> Cause | None:
        """Rows T5 and T6: the section is none that is rendered for passthrough."""
        if self._ranks_after(unit, host):
            return Cause(CONFLICT, f"{host} is held by a route that comes first")
        if unit.section.startswith(api.PASSTHROUGH_PREFIX):
            return Cause(NO_PARENT, f"there is no listener `{unit.section}`")
        return None

    def _on_listeners(self, unit: Unit, host: str, there: tuple[Passthrough, ...]) -> Cause | None:
        """Rows T7 to T11."""
        selected = [one for one in there if unit.selects(one.section, one.port)]
        if not selected:
            return self._nothing_selected(unit, host)
        if not any(self._admits(unit, one) for one in selected):  # T9
            smallest = min(one.hostname for one in selected)
            admitted = f"routes of `{self._seen.namespace}` alone"
            return Cause(NOT_ALLOWED, f"the listener of {smallest} admits {admitted}: {host}")
        if self._loses(unit, self._eligible_tls(host)):  # T10
            return Cause(CONFLICT, f"{host} is held by a route that comes first")
        return None

    @staticmethod
    def _nothing_selected(unit: Unit, host: str) -> Cause:
        """Rows T7 and T8."""
        if unit.section:
            return Cause(NO_PARENT, f"the listener `{unit.section}` is not on port {unit.port}")
        return Cause(NO_HOSTNAME, f"no listener on port {unit.port} serves {host}")

    def _unanswered(self, unit: Unit, host: str) -> Cause | None:
        """Rows T1 to T3: no passthrough listener answers the name."""
        if host in self.wanted:  # T1
            if self._loses(unit, self._race_of_http(host)):
                return Cause(CONFLICT, f"{host} is held by a route that comes first")
            return None
        mine = {one.section: one for one in self._rendered}
        if unit.section in mine:  # T2
            return self._answers_another(mine[unit.section], host)
        return Cause(NO_HOSTNAME, f"no listener serves {host}")  # T3

    @staticmethod
    def _answers_another(one: Passthrough, host: str) -> Cause:
        return Cause(
            NO_HOSTNAME, f"the listener `{one.section}` answers {one.hostname}, not {host}"
        )

    def _eligible_tls(self, host: str) -> Race:
        if (True, host) not in self._races:
            claimants = self._claimants.get((True, host), ())
            eligible = (unit for unit in claimants if self._eligible(unit, host))
            self._races[True, host] = in_order(eligible)
        return self._races[True, host]

    def _ranks_after(self, unit: Unit, host: str) -> bool:
        """Whether an eligible unit of another namespace comes before. Source: T5."""
        race = self._eligible_tls(host)
        return self._loses(unit, race) and race[0].order < unit.order

    @staticmethod
    def _loses(unit: Unit, race: Race) -> bool:
        """Whether another namespace's unit wins. Source: 4.5."""
        return bool(race) and race[0].namespace != unit.namespace

    # the answer

    def causes(self, unit: Unit) -> tuple[Cause, ...]:
        """Everything that is not served through a unit, each cause once, sorted."""
        found = {cause for _, cause in self.judged(unit) if cause is not None}
        return tuple(sorted(found, key=lambda one: (one.reason, one.text)))

    def judged(self, unit: Unit) -> tuple[tuple[str, Cause | None], ...]:
        """Each hostname a unit is judged on, with why it is not served; None where it is."""
        if id(unit) not in self._judged:
            judge = self.of_tls if unit.is_tls else self.of_http
            self._judged[id(unit)] = tuple((host, judge(unit, host)) for host in self.names(unit))
        return self._judged[id(unit)]

    def winner(self, unit: Unit, host: str) -> Unit | None:
        """Who comes before a unit that has lost a hostname; None where nobody does."""
        whole = not unit.is_tls or not self._overlapping(host)
        race = self._race_of_http(host) if whole else self._eligible_tls(host)
        ahead = (one for one in race if one.namespace != unit.namespace and one.order < unit.order)
        return next(ahead, None)


def folded(causes: tuple[Cause, ...]) -> str:
    """The one reason of several causes. Source: 5.4."""
    reasons = {cause.reason for cause in causes}
    if CONFLICT in reasons:
        return CONFLICT
    return reasons.pop() if len(reasons) == 1 else NO_HOSTNAME


def by_verdict(claims: Claims) -> dict[str, int]:
    """How many hostnames each verdict has, for metrics; one counts for each unit claiming it."""
    return Counter(
        cause.reason if cause else ACCEPTED
        for unit in (*claims.http, *claims.tls)
        for _, cause in claims.judged(unit)
    )
