"""Carries out one decision: each way to write, in order, and what came of every entry.

Nothing is re-sent here. A conflict ends the writing, but where a decision's entries stand each for
itself; the engine runs another pass at once.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.decision import Decision, Did, Drop, How, Outcome, Status, Want
from roadstead.engine.api import Api
from roadstead.engine.check import check
from roadstead.engine.memory import Spent, Withdrawals
from roadstead.errors import BugError, ClusterError
from roadstead.kube.names import minted_name
from roadstead.kube.objects import Object
from roadstead.kube.pem import holds_private_key
from roadstead.kube.refs import SECRET, Ref

NONCES = 8
"""So many minted names may be somebody else's before it is given up. Source: attachments 5.2."""


class Writer:
    """Carries out the writes of one decision, in order.

    made: each object as our write left it, for the views to know before a watch tells.
    """

    def __init__(
        self,
        api: Api,
        withdrawals: Withdrawals,
        *,
        dry: bool = False,
        in_flight: set[Ref] | None = None,
        checked: bool = True,
        spent: Spent | None = None,
    ) -> None:
        """Write through an API; `dry` says what would be done and does nothing.

        in_flight: holds each object while a write of it is under way.
        checked: whether each body is held against our schema of its kind first.
        spent: hears what was written once for something.
        """
        self._api = api
        self._withdrawals = withdrawals
        self._dry = dry
        self._checked = checked
        self._spent = Spent() if spent is None else spent
        self._in_flight = set() if in_flight is None else in_flight
        self._failed: set[Ref] = set()
        self._independent = False
        self._versions: dict[Ref, str] = {}
        self._ways: dict[How, Callable[[Want], Awaitable[Did]]] = {
            How.REPLACE: self._replace,
            How.RENEW: self._renew,
            How.CREATE: self._create,
            How.APPLY: self._apply,
            How.MINT: self._mint,
            How.PATCH: self._patch,
            How.STATUS: self._entry,
        }
        self.outcomes: list[Outcome] = []
        self.made: list[Object] = []
        self.conflict = False

    async def carry_out(self, key: Ref, decision: Decision, now: float) -> None:
        """Write every want, then every drop; the first conflict ends it unless all stand alone."""
        self._independent = decision.independent
        for want in decision.want:
            if self._failed & set(want.needs):
                self._failed.add(want.ref)
                self.outcomes.append(Outcome(want.ref, Did.SKIPPED, note=want.note, how=want.how))
                continue
            await self._try(want.ref, self._write(want), want.note, want.how)
            if self.conflict and not decision.independent:
                return
        for drop in decision.drop:
            if drop.bound and not self._withdrawals.admit(key, drop.bound, now):
                self.outcomes.append(Outcome(drop.ref, Did.HELD))
                continue
            await self._try(drop.ref, self._drop(drop), "", None)
            if self.conflict and not decision.independent:
                return

    async def report(self, status: Status | None) -> None:
        """Write a status that differs, over the version of this pass's own last write.

        A conflict of another object stops it, but where a decision's entries stand each for itself.
        """
        stopped = self.conflict and not self._independent
        if status is None or stopped or not status.differs:
            return
        ref = status.live.ref
        await self._try(ref, self._status(status), "", How.STATUS)

    async def _try(self, ref: Ref, write: Awaitable[Did], note: str, how: How | None) -> None:
        self._in_flight.add(ref)
        try:
            did = await write
        except ClusterError as error:
            # A name that is taken is no conflict of versions: every name of a mint was tried.
            self.conflict |= error.conflict and how is not How.MINT
            self._failed.add(ref)
            self.outcomes.append(
                Outcome(
                    ref,
                    Did.FAILED,
                    error.status,
                    error.reason,
                    error.cause,
                    note,
                    error.said,
                    error.message,
                    how,
                    error.retry_after,
                )
            )
            return
        finally:
            self._in_flight.discard(ref)
        self.outcomes.append(Outcome(ref, did, note=note, how=how))

    async def _write(self, want: Want) -> Did:
        guard(want)
        if self._checked:
            check(want.kind, want.body, patch=want.how is How.PATCH)
        return await self._ways[want.how](want)

    async def _replace(self, want: Want) -> Did:
        if want.live is None:
            return await self._create(want)
        if want.body == want.live.body:
            return Did.UNCHANGED
        if not self._dry:
            self._remember(want.body, await self._api.replace(want.kind, want.body))
        return Did.UPDATED

    async def _renew(self, want: Want) -> Did:
        if want.live is None:
            return await self._create(want)
        if not self._dry:
            meta = want.live.meta
            await self._api.delete(want.ref, meta.uid, meta.resource_version)
        await self._create(want)
        return Did.UPDATED

    async def _create(self, want: Want) -> Did:
        try:
            if not self._dry:
                self._remember(want.body, await self._api.create(want.kind, want.body))
        except ClusterError as error:
            if want.how is How.CREATE and error.reason == "AlreadyExists":
                return Did.UNCHANGED
            raise
        return Did.CREATED

    async def _apply(self, want: Want) -> Did:
        if not self._dry and want.live is not None:
            made = await self._api.apply(want.kind, want.body, want.manager)
            self._remember(want.live.body, made)
        return Did.UPDATED

    async def _patch(self, want: Want) -> Did:
        if not self._dry and want.live is not None:
            made = await self._api.patch(want.ref, want.body)
            self._spent.add(want.once)
            self._remember(want.live.body or {"metadata": {}}, made)
        return Did.UPDATED

    async def _entry(self, want: Want) -> Did:
        """Write a status, and know it at the version at which the object was read."""
        if not self._dry:
            made = await self._api.replace_status(want.kind, want.body)
            read = want.live.kind if want.live is not None else want.kind
            body = {**want.body, "apiVersion": read.api_version}
            self._remember(body, Object(read, made.meta))
        return Did.UPDATED

    async def _mint(self, want: Want) -> Did:
        """Create under the first of our names that is free, or find that an answer was lost.

        Raises: ClusterError; reason `AlreadyExists` when every name is somebody else's, or one
            was until just now, `Terminating` when ours is still on its way out.
        """
        if want.minted is None:
            raise BugError(f"a {want.kind.kind} is to be minted for nobody")
        if self._dry:
            return Did.CREATED
        for nonce in range(NONCES):
            meta = want.body["metadata"]
            name = minted_name(meta["generateName"], want.minted.owner, want.minted.role, nonce)
            body = {**want.body, "metadata": {**meta, "name": name}}
            try:
                self._remember(body, await self._api.create(want.kind, body))
            except ClusterError as error:
                if error.reason != "AlreadyExists":
                    raise
                refused = error
            else:
                return Did.CREATED
            there = await self._api.get(want.kind.ref(meta.get("namespace", ""), name))
            if there is None:
                raise refused  # who had the name has just gone: the next pass takes it
            if _same_controller(there, want):
                return self._met(there)
        raise refused

    def _met(self, ours: Object) -> Did:
        """Take what an earlier request of ours has made, its answer lost."""
        if ours.deleting:
            raise ClusterError(
                f"{ours.ref} is still being deleted", reason="Terminating", about=str(ours.ref)
            )
        self._remember(ours.body, ours)
        return Did.UNCHANGED

    async def _status(self, status: Status) -> Did:
        live = status.live
        version = self._versions.get(live.ref, live.meta.resource_version)
        meta = {**live.body["metadata"], "resourceVersion": version}
        body = {**live.body, "metadata": meta, "status": dict(status.value)}
        if not self._dry:
            if self._checked:
                check(live.kind, body)
            self._remember(body, await self._api.replace_status(live.kind, body))
        return Did.UPDATED

    async def _drop(self, drop: Drop) -> Did:
        if not self._dry:
            await self._api.delete(drop.ref, drop.uid, drop.resource_version)
        return Did.DELETED

    def _remember(self, body: Mapping[str, Any], made: Object) -> None:
        """Note an object as our write left it: what was sent, under what the server made of it."""
        self._versions[made.ref] = made.meta.resource_version
        whole = {**body, "metadata": {**body["metadata"], **_spelt(made)}}
        self.made.append(Object.of(made.kind, whole))


def _spelt(made: Object) -> dict[str, Any]:
    """The metadata of an answer as it stands in a body, without what it does not state."""
    meta = made.meta
    owners = meta.owner_references
    stated: dict[str, Any] = {
        "name": meta.name,
        "namespace": meta.namespace,
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
        "generation": meta.generation,
        "creationTimestamp": meta.creation_timestamp,
        "deletionTimestamp": meta.deletion_timestamp,
        "labels": meta.labels,
        "annotations": meta.annotations,
        "finalizers": list(meta.finalizers or ()),
        "ownerReferences": [
            {
                key: value
                for key, value in {
                    "apiVersion": owner.api_version,
                    "kind": owner.kind,
                    "name": owner.name,
                    "uid": owner.uid,
                    "controller": owner.controller,
                    "blockOwnerDeletion": owner.block_owner_deletion,
                }.items()
                if value is not None
            }
            for owner in owners or ()
        ],
    }
    return {key: value for key, value in stated.items() if value}


def _same_controller(there: Object, want: Want) -> bool:
    """Whether what stands at a minted name is controlled by whom the wanted object would be."""
    one, other = there.controller, Object.of(want.kind, dict(want.body)).controller
    if one is None or other is None:
        return False
    return (one.group, one.kind, one.uid) == (other.group, other.kind, other.uid)


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
