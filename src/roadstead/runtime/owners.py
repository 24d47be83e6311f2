"""Reads what owner references name: metadata alone, by whatever kind they state.

A found owner is kept for half a minute, an absent one never: it is often made moments before its
dependant. No error is kept. Source: lineage 5.1.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import NamedTuple, Protocol

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import Kind, Ref

KEPT_SECONDS = 30.0
KEPT_OWNERS = 10_000
DISCOVERY_PAUSE = 10.0
"""Seconds after which a kind that nobody serves is looked up again."""
DEADLINE = 2.4
"""Seconds for one try: three, and the pauses between them, fit an admission's budget."""
PAUSES = (0.1, 0.4)
"""Seconds before a question that was not answered in time is asked again. Any other failure that
may pass the client asks again about by itself."""
RESULTS = ("cached", "found", "absent", "unserved", "forbidden", "error")

Fetched = Callable[[str], None]
Forbidden = Callable[[Kind], None]


class Asks(Protocol):
    """What of the client is used here."""

    async def metadata(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """The metadata of one object; None when it is not there."""

    async def kinds(self, *, deadline: float | None = None) -> dict[tuple[str, str], Kind]:
        """Every kind that is served, by `apiVersion` and name."""


class _Kept(NamedTuple):
    owner: Object
    until: float


def _ignore(_what: object) -> None:
    """Have nobody told."""


class Owners:
    """Owners by reference, through one client.

    fetched: hears one of RESULTS for each question. forbidden: hears a kind that may not be read,
        once.
    """

    def __init__(
        self,
        ask: Asks,
        steady: Callable[[], float],
        *,
        fetched: Fetched = _ignore,
        forbidden: Forbidden = _ignore,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Know nothing yet."""
        self._sleep = sleep
        self._ask, self._steady = ask, steady
        self._fetched, self._forbidden = fetched, forbidden
        self._kept: OrderedDict[tuple[str, str, str, str], _Kept] = OrderedDict()
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._looked: float | None = None
        self._looking = asyncio.Lock()
        self._told: set[Kind] = set()

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of an owner; None when it is not there or its kind is not served.

        namespace: of what it owns; a cluster-scoped owner is read without one.
        Raises: ClusterError, 403 among them.
        """
        try:
            found, result = await self._find(owner, namespace)
        except ClusterError as error:
            refused = error.status == HTTPStatus.FORBIDDEN
            self._fetched("forbidden" if refused else "error")
            raise
        self._fetched(result)
        return found

    async def _find(self, owner: Owner, namespace: str) -> tuple[Object | None, str]:
        known = self._known(owner, namespace)
        if known is not None:
            return known, "cached"
        kind = self._kinds.get((owner.api_version, owner.kind))
        found = await self._served(kind, owner, namespace)
        if found is None:
            found = await self._served(await self._looked_up(owner, known=kind), owner, namespace)
        return found or (None, "unserved")

    async def _served(
        self, kind: Kind | None, owner: Owner, namespace: str
    ) -> tuple[Object | None, str] | None:
        """What a read finds; None where the kind is unknown or not served."""
        if kind is None:
            return None
        try:
            return await self._read(kind, owner, namespace)
        except ClusterError as error:
            if not error.unserved:
                raise
            return None

    def _known(self, owner: Owner, namespace: str) -> Object | None:
        """A kept owner, unless it is another than the reference names."""
        for where in (namespace, ""):
            kept = self._kept.get((owner.group, owner.kind, where, owner.name))
            if kept is not None and self._steady() < kept.until:
                same = not owner.uid or kept.owner.meta.uid == owner.uid
                return kept.owner if same else None
        return None

    async def _read(self, kind: Kind, owner: Owner, namespace: str) -> tuple[Object | None, str]:
        if kind.namespaced and not namespace:
            return None, "absent"
        try:
            found = await self._patiently(kind.ref(namespace, owner.name))
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN and kind not in self._told:
                self._told.add(kind)
                self._forbidden(kind)
            if _has_no_answer(error):
                return None, "absent"
            raise
        if found is None:
            return None, "absent"
        where = namespace if kind.namespaced else ""
        place = (kind.group, kind.kind, where, owner.name)
        self._kept[place] = _Kept(found, self._steady() + KEPT_SECONDS)
        self._kept.move_to_end(place)
        while len(self._kept) > KEPT_OWNERS:
            self._kept.popitem(last=False)
        return found, "found"

    async def _patiently(self, ref: Ref) -> Object | None:
        """Read one object, again where no answer came in time."""
        for pause in PAUSES:
            try:
                return await self._ask.metadata(ref, deadline=DEADLINE)
            except ClusterError as error:
                if error.reason != "Timeout":
                    raise
            await self._sleep(pause)
        return await self._ask.metadata(ref, deadline=DEADLINE)

    async def _looked_up(self, owner: Owner, *, known: Kind | None) -> Kind | None:
        """The kind of a reference by discovery, asked anew at most every ten seconds.

        known: what was thought to be served, and is not.
        """
        async with self._looking:
            kind = self._kinds.get((owner.api_version, owner.kind))
            if kind is not None and kind is not known:
                return kind  # somebody else has just asked
            now = self._steady()
            if self._looked is None or now - self._looked >= DISCOVERY_PAUSE:
                self._kinds = await self._ask.kinds(deadline=DEADLINE)
                self._looked = now
            return self._kinds.get((owner.api_version, owner.kind))


def _has_no_answer(error: ClusterError) -> bool:
    """Tell whether a refusal says of itself that asking again is no use: no such name or verb."""
    final = {HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_ACCEPTABLE}
    return error.status in final
