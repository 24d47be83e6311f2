"""Tells of decisions in core `v1` Events: one object for each, its count raised by repeats."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from roadstead.decision import Event, Telling
from roadstead.engine.clock import Clock
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, Kind, Ref
from roadstead.kube.times import format_time
from roadstead.kube.views import View
from roadstead.runtime.clock import Turns
from roadstead.runtime.lease import WRITE_DEADLINE
from roadstead.runtime.logs import Log
from roadstead.runtime.owners import Owners

LONGEST_MESSAGE = 1024
REMEMBERED = 10_000
HOME = "default"
"""Where events about cluster-scoped objects live, as Kubernetes' own do."""
_LONGEST_NAME = 253


class Requests(Protocol):
    """What of the client is used here."""

    async def get(self, ref: Ref) -> Object | None:
        """One object."""

    async def metadata(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """Metadata of one object."""

    async def kinds(self, *, deadline: float | None = None) -> dict[tuple[str, str], Kind]:
        """What is served."""

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """Metadata of a selection."""

    async def list_view(self, view: View, namespace: str = "") -> tuple[Object, ...]:
        """What a view selects."""

    async def create(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """POST."""

    async def replace(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """PUT."""

    async def replace_status(
        self, kind: Kind, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """PUT to `/status`."""

    async def apply(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        manager: str,
        *,
        deadline: float | None = None,
    ) -> Object:
        """Server-side apply."""

    async def patch(
        self, ref: Ref, body: Mapping[str, Any], *, deadline: float | None = None
    ) -> Object:
        """PATCH."""

    async def delete(
        self, ref: Ref, uid: str, resource_version: str, *, deadline: float | None = None
    ) -> None:
        """DELETE."""


@dataclass(slots=True)
class _Series:
    first: str
    count: int


class LiveApi:
    """The client as the engine uses it: with a deadline for writes, and a voice."""

    def __init__(
        self,
        client: Requests,
        clock: Clock,
        instance: str = "",
        owners: Owners | None = None,
        rate: float = 0.0,
        *,
        deadline: float = WRITE_DEADLINE,
        log: Log | None = None,
    ) -> None:
        """Write through a client.

        instance: who reports, the pod's name. rate: writes a second at most, events aside.
        deadline: seconds a write may take. log: hears of an event that could not be told, which
        nothing else shows.
        """
        self._deadline, self._log = deadline, log
        self._turns = Turns(rate, clock.steady)
        self._client = client
        self._clock = clock
        self._instance = instance
        self._series: OrderedDict[str, _Series] = OrderedDict()
        self.get = client.get
        self.owner = (owners or Owners(client, clock.steady)).owner
        self.list_metadata = client.list_metadata

    async def list_view(self, view: View, namespace: str) -> tuple[Object, ...]:
        """All objects of a view's selection in a namespace, in its form."""
        return await self._client.list_view(view, namespace)

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """POST; gives the metadata of what was made."""
        await self._turns.wait()
        return await self._client.create(kind, body, deadline=self._deadline)

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT; gives the metadata of what is now there."""
        await self._turns.wait()
        return await self._client.replace(kind, body, deadline=self._deadline)

    async def replace_status(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT to `/status`; gives the metadata after it."""
        await self._turns.wait()
        return await self._client.replace_status(kind, body, deadline=self._deadline)

    async def patch(self, ref: Ref, merge: Mapping[str, Any]) -> Object:
        """PATCH by RFC 7396."""
        await self._turns.wait()
        return await self._client.patch(ref, merge, deadline=self._deadline)

    async def apply(self, kind: Kind, body: Mapping[str, Any], manager: str) -> Object:
        """Server-side apply, forced; gives the metadata of what is now there."""
        await self._turns.wait()
        return await self._client.apply(kind, body, manager, deadline=self._deadline)

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """DELETE with the preconditions that are given."""
        await self._turns.wait()
        await self._client.delete(ref, uid, resource_version, deadline=self._deadline)

    async def publish(self, component: str, event: Event, times: int) -> None:  # noqa: ARG002 - what the engine tells with
        """Create the event, or raise the count of the one that tells the same.

        times: how often it was told since it became true; the series counts further back.
        Raises: ClusterError.
        """
        try:
            await self._publish(component, event)
        except ClusterError as error:
            if self._log is not None:
                self._log.warning(
                    "event not told",
                    about=event.about.path,
                    telling=event.reason,
                    status=error.status,
                    reason=error.reason,
                    said=error.message,
                )
            raise

    async def _publish(self, component: str, event: Event) -> None:
        now = format_time(self._clock.wall())
        name = name_of(component, event)
        known = self._series.get(name)
        if known is not None:
            repeat = {"count": known.count + 1, "lastTimestamp": now}
            if await self._repeated(event, name, repeat):
                known.count += 1
                return
        series = _Series(known.first if known else now, (known.count if known else 0) + 1)
        body = body_of(component, event, name) | {
            "reportingInstance": self._instance,
            "firstTimestamp": series.first,
            "lastTimestamp": now,
            "count": series.count,
        }
        try:
            await self._client.create(EVENT, body, deadline=self._deadline)
        except ClusterError as error:
            if error.status != HTTPStatus.CONFLICT:
                raise
            # Told before this process started, or by a request whose answer was lost.
            if event.telling is not Telling.ONCE:
                await self._repeated(event, name, {"lastTimestamp": now})
        self._remember(name, series)

    async def _repeated(self, event: Event, name: str, body: Mapping[str, Any]) -> bool:
        """Change an event; False when the server has dropped it, as it does after an hour."""
        try:
            await self._client.patch(EVENT.ref(home_of(event), name), body, deadline=self._deadline)
        except ClusterError as error:
            if not error.not_found:
                raise
            return False
        return True

    def _remember(self, name: str, series: _Series) -> None:
        self._series[name] = series
        self._series.move_to_end(name)
        while len(self._series) > REMEMBERED:
            self._series.popitem(last=False)


def home_of(event: Event) -> str:
    """The namespace an event is stored in."""
    return event.about.namespace or HOME


def name_of(component: str, event: Event) -> str:
    """Name an event by what it says: the same one twice is one object."""
    said = "\0".join((component, event.uid, str(event.about), event.reason, event.message))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return f"{event.about.name[: _LONGEST_NAME - 17].rstrip('.-')}.{digest}"


def body_of(component: str, event: Event, name: str) -> dict[str, Any]:
    """Write one event out, but for its times and its count."""
    about = event.about
    involved = {
        "apiVersion": about.kind.api_version,
        "kind": about.kind.kind,
        "name": about.name,
        "namespace": about.namespace,
        "uid": event.uid,
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": home_of(event)},
        "involvedObject": {key: value for key, value in involved.items() if value},
        "type": event.type,
        "reason": event.reason,
        "message": shortened(event.message),
        "source": {"component": component},
        "reportingComponent": component,
    }


def shortened(message: str) -> str:
    """Cut a message at what an event may hold."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    return message[: LONGEST_MESSAGE - 1] + "…"
