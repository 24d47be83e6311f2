"""Broken rows of the verdicts of tenant gateways: 4.2, 4.5, 5.2 to 5.4 of tenant-gateway."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from attachment_mutants import Mutant, Patch, always
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import entries, units, verdicts
from roadstead.capabilities.gateways.decide.verdicts import Cause, Claims

VERDICTS, CLAIMS = (f"tests/rules/test_gateways_{room}.py" for room in ("verdicts", "claims"))
Causes = Callable[..., Cause | None]


def guard(name: str, *patches: Patch, by: str, likely: tuple[str, ...] = ()) -> Mutant:
    """One guard of gateways that is dropped."""
    return Mutant(f"gateways: {name}", patches, by, "gateways", likely)


def silent_on(method: str, words: str) -> Patch:
    """A row, known by words of its cause, that lets everything through."""
    judge: Causes = getattr(Claims, method)

    @wraps(judge)
    def lenient(self: Any, *about: Any) -> Cause | None:
        found = judge(self, *about)
        return None if found is not None and words in found.text else found

    return (Claims, method, lenient)


def telling(method: str, words: str, reason: str) -> Patch:
    """A row, known by words of its cause, that gives another reason."""
    judge: Causes = getattr(Claims, method)

    @wraps(judge)
    def other(self: Any, *about: Any) -> Cause | None:
        found = judge(self, *about)
        return replace(found, reason=reason) if found and words in found.text else found

    return (Claims, method, other)


def plain_anywhere(_self: Any, unit: Any) -> bool:
    """The plain listener admits every namespace."""
    return unit.section == api.PLAIN or (not unit.section and unit.port == 80)


def every_overlap(self: Any) -> frozenset[str]:
    """A name is withdrawn as soon as a passthrough listener answers it."""
    return frozenset(host for host in self.wanted if self._overlapping(host))


def every_claim(self: Any) -> frozenset[str]:
    """A name is withdrawn as soon as a TLSRoute that forwards lists it."""
    listed = {host for unit in self.tls if unit.route.resolves for host in unit.hostnames}
    return frozenset(host for host in self.wanted if host in listed)


def alone_wins(unit: Any, race: verdicts.Race) -> bool:
    """Routes of one namespace race each other."""
    return bool(race) and race[0] is not unit


def by_name_alone(self: Any) -> tuple[bool, str, str]:
    """The platform comes first no more."""
    return (False, self.namespace, self.route.ref.name)


def plain_races(self: Any, host: str) -> list[Any]:
    """A route on the plain listener holds names."""
    return [unit for unit in self.http if host in unit.hostnames and not _refused(self, unit, host)]


def _refused(self: Any, unit: Any, host: str) -> bool:
    return self._before_race(unit, host) is not None


def refused_races(self: Any, host: str) -> list[Any]:
    """A route that can never be served holds names."""
    return [unit for unit in self.http if host in unit.hostnames]


def http_alone(self: Any, host: str) -> verdicts.Race:
    """TLSRoutes hold no HTTP name."""
    return verdicts.in_order(self._racing_http(host))


def all_tls(self: Any, host: str) -> verdicts.Race:
    """Every TLSRoute of a name holds it, eligible or not."""
    return verdicts.in_order(unit for unit in self.tls if host in self.names(unit))


def unselective(self: Any, unit: Any, one: Any) -> bool:
    """A listener admits whoever stands in the right namespace, selected or not."""
    return not one.tenant_only or unit.namespace == self._seen.namespace


def all_namespaces(_self: Any, unit: Any, one: Any) -> bool:
    """A native port admits every namespace."""
    return bool(unit.selects(one.section, one.port))


def uncovering(self: Any, unit: Any) -> set[str]:
    """A wildcard claims no listener below it."""
    return {host for host in self.names(unit) if self._eligible(unit, host)}


def own_names(_self: Any, unit: Any) -> tuple[str, ...]:
    """A TLSRoute without hostnames has none."""
    return tuple(unit.hostnames)


def unwanted(self: Any, unit: Any, host: str) -> Cause | None:
    """No HTTPRoute makes a TLSRoute's name served."""
    found = real_unanswered(self, unit, host)
    return found or Cause(api.NO_HOSTNAME, f"no listener serves {host}")


def no_other_section(self: Any, unit: Any, host: str) -> Cause | None:
    """A section outside `tls-` is missed like one inside."""
    found = real_nameless(self, unit, host)
    return found or Cause(api.NO_PARENT, f"there is no listener `{unit.section}`")


def resolving(self: Any, unit: Any, host: str, there: Any) -> Cause | None:
    """A TLSRoute needs a backend to be accepted."""
    found = real_on_listeners(self, unit, host, there)
    return found if unit.route.resolves else found or Cause(api.NO_HOSTNAME, f"no backend: {host}")


def last_reason(causes: tuple[Cause, ...]) -> str:
    """Several reasons fold into the last."""
    return causes[-1].reason


def no_conflict(causes: tuple[Cause, ...]) -> str:
    """A lost race is a cause like any other."""
    found = {cause.reason for cause in causes}
    return found.pop() if len(found) == 1 else api.NO_HOSTNAME


real_unanswered, real_nameless = Claims._unanswered, Claims._nameless
real_on_listeners = Claims._on_listeners
CONTAINED = "is outside the apex"
ROWS = (
    guard("H1 is not asked", silent_on("_parent_missing", "there is no"), by=VERDICTS),
    guard("H2 is not asked", silent_on("_parent_missing", "not on port"), by=VERDICTS),
    guard("H3: nothing is plain", (Claims, "_is_plain", always(False)), by=VERDICTS),
    guard("H4: plain anywhere", (Claims, "_is_plain", plain_anywhere), by=VERDICTS),
    guard("H5 is not asked", silent_on("_hostname_missing", "ends no TLS"), by=VERDICTS),
    guard("H6 is not asked", silent_on("_hostname_missing", "no listener on port"), by=VERDICTS),
    guard("H7: nothing is outside", silent_on("_hostname_missing", CONTAINED), by=VERDICTS),
    guard("H7: wildcards are served", silent_on("_hostname_missing", "the wildcard"), by=VERDICTS),
    guard("H7: any label is served", silent_on("_hostname_missing", "no DNS label"), by=VERDICTS),
    guard("H8: nothing is withdrawn", (Claims, "withdrawn", property(always(frozenset()))),
          by=VERDICTS),
    guard("H8: every overlap is withdrawn", (Claims, "withdrawn", property(every_overlap)),
          by=CLAIMS),
    guard("H8: every claim is withdrawn", (Claims, "withdrawn", property(every_claim)), by=CLAIMS),
    guard("H8: words of a race", telling("of_http", "is answered", "HostnameConflict"),
          by=VERDICTS),
    guard("H9, T10: nobody loses", (Claims, "_loses", staticmethod(always(False))), by=VERDICTS),
    guard("H9: namespaces do not merge", (Claims, "_loses", staticmethod(alone_wins)),
          by=VERDICTS),
    guard("H9: the platform is nobody", (units.Unit, "order", property(by_name_alone)), by=CLAIMS,
          likely=("platform-wins",)),
    guard("H9: the plain listener races", (Claims, "_racing_http", plain_races), by=CLAIMS),
    guard("H9: who is refused races", (Claims, "_racing_http", refused_races), by=CLAIMS),
    guard("H9: HTTP races HTTP", (Claims, "_race_of_http", http_alone), by=CLAIMS),
    guard("T1: a name is nobody's", (Claims, "_unanswered", unwanted), by=VERDICTS),
    guard("T2 is not asked", silent_on("_unanswered", "answers"), by=VERDICTS),
    guard("T3 is not asked", silent_on("_unanswered", "no listener serves"), by=VERDICTS),
    guard("T4 is not asked", silent_on("of_tls", "answers"), by=VERDICTS),
    guard("T5 is not asked", silent_on("_nameless", "there is no"), by=VERDICTS),
    guard("T5: nobody comes first", (Claims, "_ranks_after", always(False)), by=VERDICTS),
    guard("T6: is missed", (Claims, "_nameless", no_other_section), by=VERDICTS),
    guard("T7 is not asked", silent_on("of_tls", "is not on port"), by=VERDICTS),
    guard("T8 is not asked", silent_on("of_tls", "no listener on port"), by=VERDICTS),
    guard("T9: all namespaces", (Claims, "_admits", all_namespaces), by=VERDICTS),
    guard("T9: sections do not matter", (Claims, "_admits", unselective), by=CLAIMS),
    guard("T10: who is not eligible races", (Claims, "_eligible_tls", all_tls), by=CLAIMS),
    guard("T11: needs a backend", (Claims, "_on_listeners", resolving), by=VERDICTS),
    guard("wildcards claim nothing below", (Claims, "_claimed", uncovering), by=CLAIMS),
    guard("names of nobody", (Claims, "names", own_names), by=CLAIMS),
    guard("the last reason of several", (entries, "folded", last_reason), by=VERDICTS),
    guard("a lost race is mixed", (entries, "folded", no_conflict), by=VERDICTS,
          likely=("lost-name-beside",)),
    guard("nothing overlaps", (verdicts, "overlap", always(False)), by=VERDICTS),
)  # fmt: skip
