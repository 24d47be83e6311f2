"""What came of the attachments of an example, told by readings of its API server alone.

Each reading holds what the server showed once everything had settled; a line is a difference of
two of them, so another world gives another table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from roadstead.capabilities.attachments.snapshot import Asked
from roadstead.capabilities.attachments.snapshot.views import condition
from roadstead.explain.results import KEPT, REFUSED, WAITING, Result
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text

ATTACHED, DETACHED, GONE = "attached", "detached", "gone"
MOVED, TOOK_OVER, WAITS, RENUMBERED = "moved", "took over", "waits", "renumbered"
CONTESTED = frozenset({"BackendAlreadyDelegated", "ClaimInUse"})
"""Reasons that end when somebody else lets go."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """One attachment at one moment. service: the one its status names; None where none is."""

    attachment: Object
    service: Object | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses it holds."""
        stated = part(self.attachment.body, "status").get("addresses") or ()
        return tuple(str(one) for one in stated)

    @property
    def phase(self) -> str:
        """Its phase."""
        return text(part(self.attachment.body, "status"), "phase")

    @property
    def serves(self) -> bool:
        """Whether it is attached, and its Service announces the addresses it holds."""
        assigned = condition(self.attachment, "AddressAssigned").get("status") == "True"
        return condition(self.attachment, "Ready").get("status") == "True" and assigned

    @property
    def stop(self) -> tuple[str, str]:
        """Reason and message of what keeps it from being attached."""
        first = "Resolved" if self.phase == "Detached" else "Ready"
        said = condition(self.attachment, first)
        return text(said, "reason"), text(said, "message")

    @property
    def application(self) -> str:
        """Whom it serves."""
        asked = Asked.of(self.attachment)
        return f"{asked.kind} {asked.name}"

    @property
    def where(self) -> str:
        """The addresses, the Service that has them, and whom they serve."""
        ports = items(part(self.service.body, "spec"), "ports") if self.service is not None else ()
        numbers = ", ".join(str(port.get("port")) for port in ports)
        name = self.service.ref.key if self.service is not None else "no Service"
        return f"{', '.join(self.addresses)} at {name}:{numbers}, for {self.application}"

    @property
    def word(self) -> tuple[object, ...]:
        """What makes it another state."""
        return (self.phase, self.serves, self.addresses, self.stop)


Exposures = Mapping[Ref, Exposure]


def outcomes(readings: Sequence[Exposures]) -> tuple[Result, ...]:
    """Lay out what happened to each attachment, in order; one that stays as it is adds no line."""
    refs = sorted({ref for reading in readings for ref in reading})
    return tuple(line for ref in refs for line in _story(ref, readings))


def _story(ref: Ref, readings: Sequence[Exposures]) -> Iterable[Result]:
    past: list[Exposure] = []
    for number, reading in enumerate(readings):
        now = reading.get(ref)
        before = readings[number - 1].get(ref) if number else None
        if now is None:
            if before is not None:
                held = ", ".join(before.addresses) or "no address"
                yield Result(ref, GONE, "-", f"deleted; it held {held}")
            continue
        if before is None or before.word != now.word:
            yield _line(ref, now, past, readings[:number])
        past.append(now)


def _line(ref: Ref, now: Exposure, past: list[Exposure], readings: Sequence[Exposures]) -> Result:
    reason, message = now.stop
    if now.serves:
        word, what = _served(now, past, readings)
        return Result(ref, word, reason, what)
    if now.phase == "Detached":
        held = ", ".join(now.addresses) or "no address"
        return Result(ref, DETACHED, reason, f"{message}; {held} is held")
    if reason in CONTESTED:
        return Result(ref, WAITS, reason, message)
    if condition(now.attachment, "Stalled").get("status") == "True":
        return Result(ref, REFUSED, reason, message)
    return Result(ref, WAITING, reason or "-", message or "no word of why")


def _served(now: Exposure, past: list[Exposure], readings: Sequence[Exposures]) -> tuple[str, str]:
    """How it came to its addresses, and what they lead to."""
    before = past[-1] if past else None
    served = next((one for one in reversed(past) if one.serves), None)
    if before is not None and served is not None:
        if served.addresses == now.addresses:
            return KEPT, f"{now.where}, as before"
        return RENUMBERED, f"{now.where}; it held {', '.join(served.addresses)} before"
    if before is not None and before.stop[0] in CONTESTED:
        cause = before.stop[1].partition("; ")[0]
        return TOOK_OVER, f"{now.where}; it had waited, since {cause}"
    for reading in reversed(readings):
        for one in reading.values():
            other = one.application != now.application
            if one.serves and other and set(one.addresses) & set(now.addresses):
                return MOVED, f"{now.where}; it served {one.application} before"
    return ATTACHED, now.where


def failed(found: Iterable[Result]) -> bool:
    """Tell whether an attachment has come to nothing, or to another address than it held."""
    return any(one.word in {WAITING, RENUMBERED} for one in found)
