"""One pass over one key: observe, decide, write, report, tell. Both drivers run this.

Nothing is re-sent here. A conflict ends the pass; the engine runs another at once, which reads
live what the first took from a view.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.decision import Decision, Did, Drop, Event, Finding, How, Outcome, Verdict, Want
from roadstead.engine.api import Api
from roadstead.engine.check import check
from roadstead.engine.memory import Withdrawals
from roadstead.engine.store import Store
from roadstead.errors import BugError, ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.pem import holds_private_key
from roadstead.kube.refs import SECRET, Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.wiring import Controller

Stores = Mapping[View, Store]


class PassReader:
    """The Reader of one pass: views from memory, the rest from the API, both counted."""

    def __init__(
        self, api: Api, stores: Stores, settings: Settings, now: datetime, *, repeated: bool = False
    ) -> None:
        """Read at one moment; a repeated pass trusts no cached absence."""
        self._api = api
        self._stores = stores
        self._repeated = repeated
        self._since: dict[str, timedelta] = {}
        self.now = now
        self.settings = settings
        self.reads = {"get": 0, "list": 0}

    def remember(self, state: str, span: timedelta) -> None:
        """Tell how long the key has been in a state."""
        self._since[state] = span

    def get(self, view: View, namespace: str, name: str) -> Object | None:
        """One stored object."""
        return self._stores[view].get(namespace, name)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """Stored objects."""
        return self._stores[view].list(index, value)

    def absent(self, view: View, namespace: str, name: str) -> bool:
        """Tell whether a view's word for an absence is enough."""
        return not self._repeated and self.get(view, namespace, name) is None

    def since(self, state: str) -> timedelta:
        """How long this key has been in a state."""
        return self._since.get(state, timedelta(0))

    async def live_get(self, ref: Ref) -> Object | None:
        """One object, whole, from the API server."""
        self.reads["get"] += 1
        return await self._api.get(ref)

    async def live_list(self, kind: Kind, namespace: str, labels: str) -> tuple[Object, ...]:
        """Metadata of what a selector matches, from the API server."""
        self.reads["list"] += 1
        return await self._api.list_metadata(kind, namespace, labels)


@dataclass(frozen=True, slots=True)
class Passed:
    """What came of one pass.

    decision: as reported, findings and all. made: metadata of what our writes made.
    conflict: a write met a newer object; another pass should run at once.
    error: a read failed before anything could be judged.
    """

    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    made: tuple[tuple[Want, Object], ...] = ()
    reads: Mapping[str, int] = field(default_factory=dict)
    conflict: bool = False
    error: ClusterError | None = None
    gone: bool = False

    @property
    def wrote(self) -> bool:
        """Whether anything changed on the server."""
        return any(o.did in {Did.CREATED, Did.UPDATED, Did.DELETED} for o in self.outcomes)


class Writer:
    """Carries out the writes of one decision, in order."""

    def __init__(
        self,
        api: Api,
        withdrawals: Withdrawals,
        *,
        dry: bool = False,
        in_flight: set[Ref] | None = None,
    ) -> None:
        """Write through an API; `dry` says what would be done and does nothing.

        in_flight: holds each object while a write of it is under way.
        """
        self._api = api
        self._withdrawals = withdrawals
        self._dry = dry
        self._in_flight = set() if in_flight is None else in_flight
        self.outcomes: list[Outcome] = []
        self.made: list[tuple[Want, Object]] = []
        self.conflict = False

    async def carry_out(self, key: Ref, decision: Decision, now: float) -> None:
        """Write every want, then every drop; the first conflict ends it."""
        for want in decision.want:
            await self._try(want.ref, self._write(want), want.note)
            if self.conflict:
                return
        for drop in decision.drop:
            if drop.bound and not self._withdrawals.admit(key, drop.bound, now):
                self.outcomes.append(Outcome(drop.ref, Did.HELD))
                continue
            await self._try(drop.ref, self._drop(drop), "")
            if self.conflict:
                return

    async def _try(self, ref: Ref, write: Any, note: str) -> None:
        self._in_flight.add(ref)
        try:
            did = await write
        except ClusterError as error:
            self.conflict = error.conflict
            self.outcomes.append(
                Outcome(ref, Did.FAILED, error.status, error.reason, error.cause, note)
            )
            return
        finally:
            self._in_flight.discard(ref)
        self.outcomes.append(Outcome(ref, did, note=note))

    async def _write(self, want: Want) -> Did:
        guard(want)
        check(want.kind, want.body)
        live = want.live
        if want.how is How.REPLACE and live is not None:
            if want.body == live.body:
                return Did.UNCHANGED
            await self._send(want, replace=True)
            return Did.UPDATED
        if want.how is How.RENEW and live is not None:
            if not self._dry:
                await self._api.delete(want.ref, live.meta.uid, live.meta.resource_version)
            await self._send(want, replace=False)
            return Did.UPDATED
        try:
            await self._send(want, replace=False)
        except ClusterError as error:
            if want.how is How.CREATE and error.reason == "AlreadyExists":
                return Did.UNCHANGED
            raise
        return Did.CREATED

    async def _send(self, want: Want, *, replace: bool) -> None:
        if self._dry:
            return
        send = self._api.replace if replace else self._api.create
        self.made.append((want, await send(want.kind, want.body)))

    async def _drop(self, drop: Drop) -> Did:
        if not self._dry:
            await self._api.delete(drop.ref, drop.uid, drop.resource_version)
        return Did.DELETED


def guard(want: Want) -> None:
    """Refuse to send an anchor that holds anything but certificates, whoever decided it.

    Source: seed 002, behaviour 3.
    Raises: BugError.
    """
    labels = want.body["metadata"].get("labels") or {}
    if want.kind != SECRET or TENANT_CA not in labels:
        return
    sealed = Object.of(SECRET, dict(want.body))
    if sealed.data_keys() != ("ca.crt",) or want.body.get("stringData"):
        raise BugError(f"{want.ref} would hold other keys than ca.crt; nothing was sent")
    if holds_private_key(sealed.decoded("ca.crt") or b""):
        raise BugError(f"{want.ref} would hold a private key; nothing was sent")


async def run_pass(
    controller: Controller, key: Ref, reader: PassReader, writer: Writer, now: float
) -> Passed:
    """Run one pass. An error of a read holds everything; it is in the answer, never raised."""
    try:
        seen = await controller.observe(reader, key)
    except ClusterError as error:
        return Passed(
            Decision(findings=(_unread(key, error),), state="Error", backoff=True),
            reads=reader.reads,
            conflict=error.conflict,
            error=error,
        )
    if seen is None:
        return Passed(Decision(), reads=reader.reads, gone=True)
    decision = controller.decide(seen)
    await writer.carry_out(key, decision, now)
    outcomes = tuple(writer.outcomes)
    return Passed(
        controller.report(seen, decision, outcomes),
        outcomes,
        tuple(writer.made),
        reader.reads,
        writer.conflict,
    )


def _unread(key: Ref, error: ClusterError) -> Finding:
    return Finding("readable", Verdict.WAIT, "ReadFailed", f"{error}; nothing was changed", (key,))


async def tell(api: Api, component: str, event: Event, times: int) -> bool:
    """Publish one event; an event that cannot be published never fails a pass."""
    try:
        await api.publish(component, event, times)
    except ClusterError:
        return False
    return True
