"""Leadership by a Lease, as controller-runtime holds it, and the gate every write passes.

How long a lease is ours is counted by the steady clock from the moment its renewal was sent, so
that neither a slow answer nor a jump of the wall clock makes it longer. Another's lease has run
out once it has not changed before our eyes for as long as it says. Wall times are only written.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from roadstead.engine.clock import Clock
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import LEASE, Kind, Ref
from roadstead.kube.times import format_micro_time
from roadstead.runtime.logs import Log

SPREAD = 0.2
WRITE_DEADLINE = 8.0
"""Seconds a write may take, under a lease of the usual length or none."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds. duration: a lease lasts. renew_within: without renewal it is given up.

    period: between attempts. request: one attempt may take. write: any other write may take, and
    the gate asks for more lease time than that.
    """

    duration: float = 15.0
    renew_within: float = 10.0
    period: float = 2.0
    request: float = 5.0
    write: float = WRITE_DEADLINE

    @classmethod
    def lasting(cls, seconds: float) -> "Terms":
        """Terms in the usual proportions for a lease of another length."""
        usual = cls()
        share = seconds / usual.duration
        return cls(
            seconds,
            usual.renew_within * share,
            usual.period * share,
            usual.request * share,
            usual.write * share,
        )


class Requests(Protocol):
    """What of the client is used here. None of it passes the gate."""

    async def get(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """One object."""

    async def create(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """POST."""

    async def replace(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """PUT."""


@dataclass(slots=True)
class _Observed:
    """The lease as it was last seen. at: when it was first seen like that, steady seconds."""

    body: dict[str, Any]
    at: float

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.body.get("spec") or {}

    @property
    def holder(self) -> str:
        return self.spec.get("holderIdentity") or ""

    @property
    def version(self) -> str:
        return str(self.body["metadata"].get("resourceVersion", ""))


class Lease:
    """One candidate for a Lease.

    leading: set while it is ours. ref, identity: of the lease, and of this process.
    """

    def __init__(
        self,
        api: Requests,
        ref: Ref,
        identity: str,
        *,
        clock: Clock,
        log: Log,
        jitter: Callable[[], float],
        terms: Terms = Terms(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Ask for nothing yet. jitter: a number from -1 to 1."""
        self.ref = ref
        self.identity = identity
        self.leading = asyncio.Event()
        self._api, self._clock, self._log = api, clock, log
        self._jitter, self._terms, self._sleep = jitter, terms, sleep
        self._seen: _Observed | None = None
        self._sent = float("-inf")
        self._until = float("-inf")
        self._reason = ""

    def left(self) -> float:
        """Seconds the lease is ours for sure."""
        return max(0.0, self._until - self._clock.steady())

    def gate(self, seconds: float) -> None:
        """Let a write pass whose request ends while the lease is ours.

        Raises: ClusterError, reason `NotLeader`.
        """
        if self.left() <= seconds:
            raise ClusterError(
                f"not sent: the lease {self.ref.key} is ours for {self.left():.1f} s, "
                f"a write may take {seconds:g} s",
                reason="NotLeader",
                about=str(self.ref),
            )

    async def run(self) -> None:
        """Wait for the lease, then hold it; comes back when it is lost."""
        while not await self._attempt(self._terms.request):
            await self._sleep(self._terms.period * (1 + SPREAD * self._jitter()))
        self._log.info("lease acquired", lease=self.ref.key)
        self.leading.set()
        try:
            while self._within() > 0:
                await self._sleep(self._terms.period)
                if self._within() > 0:  # the machine may have slept as well
                    await self._attempt(min(self._terms.request, self._within()))
        finally:
            self.leading.clear()
        self._until = float("-inf")
        self._log.error("lease lost", lease=self.ref.key, reason=self._reason)

    async def release(self) -> None:
        """Give the lease up, so that another need not wait; only after the last write."""
        seen = self._seen
        held, self._until = self.left() > 0, float("-inf")
        if not held or seen is None:
            return
        try:
            await self._leave(seen)
        except ClusterError as error:
            self._log.warning(
                "lease not released",
                lease=self.ref.key,
                reason=error.reason,
                said=error.message,
            )
        else:
            self._log.info("lease released", lease=self.ref.key)

    async def _leave(self, seen: _Observed) -> None:
        deadline = self._terms.request
        try:
            body = self._body(seen, leaving=True)
            await self._api.replace(LEASE, body, gated=False, deadline=deadline)
        except ClusterError as error:
            if error.status != HTTPStatus.CONFLICT:
                raise
            live = await self._api.get(self.ref, deadline=deadline)
            now = _Observed(live.body, 0) if live is not None else seen
            if now.holder != self.identity or now.version == seen.version:
                raise
            # A renewal that we did not wait for was carried out.
            body = self._body(now, leaving=True)
            await self._api.replace(LEASE, body, gated=False, deadline=deadline)

    def _within(self) -> float:
        """Seconds until the lease is given up for want of a renewal."""
        return self._sent + self._terms.renew_within - self._clock.steady()

    async def _attempt(self, seconds: float) -> bool:
        """Try once to take or renew the lease."""
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                done = await self._try(seconds)
        except ClusterError as error:
            self._note(error.reason, error.message)
            return False
        except TimeoutError:
            self._note("Timeout")
            return False
        self._note("" if done else "Held")
        return done

    async def _try(self, seconds: float) -> bool:
        if self._seen is not None and self._seen.holder == self.identity:
            try:
                return await self._put(self._seen, seconds)
            except ClusterError as error:
                if error.status not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                    raise
        live = await self._api.get(self.ref, deadline=seconds)
        if live is None:
            return await self._post(seconds)
        if self._seen is None or self._seen.version != live.meta.resource_version:
            # Counted from the answer, which is later than whatever the holder did.
            self._seen = _Observed(live.body, self._clock.steady())
        if not self._free(self._seen):
            if self._seen.holder != self.identity:
                self._sent = self._until = float("-inf")
            return False
        return await self._put(self._seen, seconds)

    def _free(self, seen: _Observed) -> bool:
        if seen.holder in {"", self.identity}:
            return True
        lasts = float(seen.spec.get("leaseDurationSeconds") or self._terms.duration)
        return self._clock.steady() - seen.at > lasts

    async def _post(self, seconds: float) -> bool:
        meta = {"namespace": self.ref.namespace, "name": self.ref.name}
        fresh = _Observed(
            {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": meta}, 0
        )
        body, sent = self._body(fresh), self._clock.steady()
        made = await self._api.create(LEASE, body, gated=False, deadline=seconds)
        self._ours(body, made, sent)
        return True

    async def _put(self, seen: _Observed, seconds: float) -> bool:
        body, sent = self._body(seen), self._clock.steady()
        made = await self._api.replace(LEASE, body, gated=False, deadline=seconds)
        self._ours(body, made, sent)
        return True

    def _ours(self, body: dict[str, Any], made: Object, sent: float) -> None:
        meta = body["metadata"] | {"resourceVersion": made.meta.resource_version}
        self._seen = _Observed(body | {"metadata": meta}, sent)
        self._sent = sent
        self._until = sent + self._terms.duration

    def _body(self, seen: _Observed, *, leaving: bool = False) -> dict[str, Any]:
        """The lease as we write it, starting from what is there."""
        now = format_micro_time(self._clock.wall())
        spec = dict(seen.spec)
        if seen.holder != self.identity:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + bool(seen.spec)
        spec |= {"renewTime": now, "leaseDurationSeconds": int(self._terms.duration)}
        spec["holderIdentity"] = self.identity
        if leaving:
            del spec["holderIdentity"]
            spec["leaseDurationSeconds"] = 1
        return seen.body | {"spec": spec}

    def _note(self, reason: str, said: str = "") -> None:
        if reason not in {"", self._reason}:
            about = {"lease": self.ref.key, "reason": reason}
            self._log.info("lease not ours", **about, **({"said": said} if said else {}))
        self._reason = reason
