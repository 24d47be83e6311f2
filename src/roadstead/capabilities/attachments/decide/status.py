"""What an attachment's status says, and whom it tells. Source: endpoint-attachments 3.4 to 3.8."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from roadstead.capabilities.attachments.decide.claims import overlapping, recorded_claim
from roadstead.capabilities.attachments.decide.rendering import oddities
from roadstead.capabilities.attachments.snapshot import Snapshot, addresses_of, age_order
from roadstead.capabilities.attachments.snapshot.views import condition
from roadstead.decision import Event, Finding, Status, Telling, Verdict
from roadstead.kube.conditions import FALSE, TRUE, UNKNOWN, Condition, fold
from roadstead.kube.shapes import items, part, text, texts

PROVISIONED = "address bound and Service wired; reachability also depends on CNI policy objects"


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass says. stop: the finding that keeps it from being attached; None for none.

    withdrawn: whether the Service goes with this pass.
    """

    seen: Snapshot
    resolved: bool
    stop: Finding | None
    withdrawn: bool

    def conditions(self) -> tuple[Condition, ...]:
        """Every condition, those of the seed first."""
        resolved, provisioned = self._resolved(), self._provisioned()
        assigned = self._assigned()
        first = next((one for one in (resolved, provisioned) if not one.true), None)
        ready = (
            Condition("Ready", TRUE, "Attached", provisioned.message)
            if first is None
            else Condition("Ready", FALSE, first.reason, first.message)
        )
        return (resolved, provisioned, assigned, ready, *self._abnormal())

    def _resolved(self) -> Condition:
        if self.resolved or self.stop is None:
            message = f"{self.seen.endpoint_ref} of {self.seen.asked.application}"
            return Condition("Resolved", TRUE, "Resolved", message)
        return Condition("Resolved", FALSE, self.stop.reason, self.stop.message)

    def _provisioned(self) -> Condition:
        if self.stop is None:
            return Condition("Provisioned", TRUE, "Provisioned", PROVISIONED)
        if self.resolved:
            return Condition("Provisioned", FALSE, self.stop.reason, self.stop.message)
        if self.seen.was_attached:
            message = "the Service is withdrawn and the claim kept until the endpoint resolves"
            return Condition("Provisioned", FALSE, "Detached", message)
        message = "nothing is made before the endpoint resolves"
        return Condition("Provisioned", FALSE, "NotResolved", message)

    def _assigned(self) -> Condition:
        service = None if self.withdrawn else self.seen.service
        if service is None:
            return Condition("AddressAssigned", UNKNOWN, "NoService", "there is no Service")
        ingress = items(part(service.body, "status", "loadBalancer"), "ingress")
        there = {_parsed(ip) for one in ingress if (ip := text(one, "ip"))}
        wanted = {_parsed(one) for one in self.addresses}
        if foreign := sorted(there - wanted):
            message = (
                f"the load balancer announces {', '.join(foreign)} where the claim holds "
                f"{', '.join(sorted(wanted)) or 'nothing'}"
            )
            return Condition("AddressAssigned", FALSE, "AddressMismatch", message)
        if there == wanted and wanted:
            message = f"the load balancer announces {', '.join(self.addresses)}"
            return Condition("AddressAssigned", TRUE, "AddressAssigned", message)
        missing = ", ".join(sorted(wanted - there)) or "an address"
        message = f"the load balancer does not announce {missing} yet"
        return Condition("AddressAssigned", FALSE, "AddressNotAssigned", message)

    def _abnormal(self) -> Iterator[Condition]:
        """kstatus: who must act, while all is not well. Switchable, docs/reference/differences."""
        if self.stop is None or not self.seen.kstatus:
            return
        stalled = self.stop.verdict is Verdict.REFUSE
        type_ = "Stalled" if stalled else "Reconciling"
        yield Condition(type_, TRUE, self.stop.reason, self.stop.message)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The claim's addresses; those reported last where claims cannot be read."""
        if self.seen.claim_kind:
            return addresses_of(self.seen.claim)
        return texts(self.seen.status, "addresses")

    @property
    def claim_name(self) -> str:
        """The claim in use: the referenced one, even a missing one, or the minted one."""
        if self.seen.asked.claim_name:
            return self.seen.asked.claim_name
        if not self.seen.claim_kind:
            return recorded_claim(self.seen)
        return self.seen.claim.meta.name if self.seen.claim is not None else ""

    def phase(self, provisioned: Condition) -> str:
        """The projection of the conditions. Source: 3.6."""
        if provisioned.reason == "Detached":
            return "Detached"
        return "Attached" if self.resolved and provisioned.true else "Pending"

    def status(self, now: tuple[Condition, ...]) -> Status:
        """The whole status, as it is to be written. now: its conditions."""
        seen = self.seen
        provisioned = next(one for one in now if one.type == "Provisioned")
        service = None if self.withdrawn else seen.service
        generation = seen.attachment.meta.generation
        value: dict[str, Any] = {
            "observedGeneration": generation,
            "phase": self.phase(provisioned),
            "serviceName": service.meta.name if service is not None else "",
            "claimName": self.claim_name,
            "addresses": list(self.addresses),
            "conditions": fold(items(seen.status, "conditions"), now, seen.now, generation),
        }
        return Status(seen.attachment, value)

    def events(self, now: tuple[Condition, ...]) -> tuple[Event, ...]:
        """What has changed since the last status, and what is odd. now: the conditions."""
        flips = [
            event
            for one in now
            if one.type in {"Resolved", "Provisioned"} and (event := self._flip(one))
        ]
        return (*flips, *self._warnings(now))

    def _flip(self, now: Condition) -> Event | None:
        """One Normal event per flip to True, one Warning per new False reason. Source: 3.7."""
        before = condition(self.seen.attachment, now.type)
        if (before.get("status"), before.get("reason")) == (now.status, now.reason):
            return None
        if now.true and before.get("status") == TRUE:
            return None
        return self._event(
            now.reason,
            now.message,
            "Normal" if now.true else "Warning",
            Telling.CHANGE,
        )

    def _warnings(self, now: tuple[Condition, ...]) -> Iterator[Event]:
        mismatch = next(one for one in now if one.type == "AddressAssigned")
        before = condition(self.seen.attachment, mismatch.type)
        told = (before.get("reason"), before.get("message")) == (mismatch.reason, mismatch.message)
        if mismatch.reason == "AddressMismatch":
            telling = Telling.TOLD if told else Telling.FIRST
            yield self._event(mismatch.reason, mismatch.message, telling=telling)
        if not self.resolved or not self.seen.contract:
            return
        if odd := oddities(self.seen):
            yield self._event("DatapathLimited", f"cozy-proxy does not carry {'; '.join(odd)}")
        if self.seen.service is not None and self.stop is None and self.seen.asked.method:
            mine = age_order(self.seen.service)
            younger = [one.service.meta.name for one in overlapping(self.seen) if one.order > mine]
            if younger:
                message = (
                    f"younger Services delegate the same backend: {', '.join(younger)}; the proxy "
                    "lets the last writer win until they are deleted"
                )
                yield self._event("BackendContended", message)

    def _event(
        self,
        reason: str,
        message: str,
        type_: str = "Warning",
        telling: Telling = Telling.ONCE,
    ) -> Event:
        meta = self.seen.attachment.meta
        return Event(self.seen.ref, meta.uid, reason, message, type_, telling)


def _parsed(address: str) -> str:
    """An address as it compares; what is none compares as text."""
    try:
        return str(ip_address(address))
    except ValueError:
        return address
