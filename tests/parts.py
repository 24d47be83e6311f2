"""Stand-ins for the edges of the runtime: clocks, logs, pauses, a controller, one Lease."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from roadstead.decision import Cached, Decision, Event, Outcome, Reader
from roadstead.engine.engine import Engine
from roadstead.errors import ClusterError
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import CONFIG_MAP, LEASE, SECRET, Kind, Ref
from roadstead.kube.views import Form, Index, View
from roadstead.runtime.logs import LEVELS, Log, open_log
from roadstead.settings import Settings
from roadstead.wiring import Controller, Watch

CANARY = "c4n4ry-of-a-secret-value"
DATA = {"password": b64encode(CANARY.encode()).decode()}
CARRIED = {"kubectl.kubernetes.io/last-applied-configuration": CANARY}
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWNER = "owner"
NS = "ns"


def owner_of(seen: Object) -> tuple[str, ...]:
    """The value of the label `owner`."""
    return (seen.labels[OWNER],) if OWNER in seen.labels else ()


def only_owned(seen: Object) -> Object | None:
    """Store what has an owner."""
    return seen if OWNER in seen.labels else None


MAPS = View("maps", CONFIG_MAP, indexes=(Index(OWNER, owner_of),))
SECRETS = View("secrets", SECRET, Form.METADATA)
FEW = View("few", SECRET, Form.METADATA, keep=only_owned)


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        """Begin at START and zero."""
        self.now, self.skew = 0.0, timedelta(0)

    def wall(self) -> datetime:
        """The time of day, with the jumps a test made."""
        return START + timedelta(seconds=self.now) + self.skew

    def steady(self) -> float:
        """Seconds since the start."""
        return self.now


class LoopClock:
    """The event loop's time, which looptime moves."""

    def wall(self) -> datetime:
        """The time of day."""
        return START + timedelta(seconds=self.steady())

    def steady(self) -> float:
        """Seconds."""
        return asyncio.get_running_loop().time()


class Lines:
    """A log that is kept. text: all of it."""

    def __init__(self, level: str = "debug") -> None:
        """Keep nothing yet."""
        assert level in LEVELS
        self.text = b""
        self.log: Log = open_log(self, level=level, form="json", wall=lambda: START)

    def write(self, line: bytes) -> None:
        """Keep a line."""
        self.text += line

    def all(self, msg: str = "") -> list[dict[str, Any]]:
        """The lines, or those with one message."""
        lines = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in lines if msg in {"", line["msg"]}]


@dataclass
class Pauses:
    """Takes no time to wait, and remembers for how long it should have been."""

    taken: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float, _woken: asyncio.Event) -> None:
        """Turn the loop once."""
        self.taken.append(seconds)
        await asyncio.sleep(0)


async def until(true: Callable[[], object]) -> None:
    """Turn the loop until something is so; half a minute is for ever."""
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0)


async def later(true: Callable[[], object]) -> None:
    """Let looptime's time pass until something is so."""
    async with asyncio.timeout(2_000):
        while not true():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.125)


def owners_key(seen: Object, _cached: Cached) -> Iterator[Ref]:
    """Wake the object itself and the key its label names."""
    yield seen.ref
    for owner in owner_of(seen):
        yield CONFIG_MAP.ref(seen.meta.namespace, owner)


async def see_key(_reader: Reader, key: Ref) -> Ref | None:
    """Observe nothing but the key."""
    return key


def content(_seen: Ref) -> Decision:
    """Decide that all is well."""
    return Decision(state="Fine")


def as_is(_seen: Any, decision: Decision, _outcomes: tuple[Outcome, ...]) -> Decision:
    """Report a decision unchanged."""
    return decision


def controller(*views: View, **rest: Any) -> Controller:
    """A controller over views that wakes each object and its owner."""
    watches = tuple(Watch(view, owners_key) for view in views)
    plain = Controller("probe", "probe-controller", watches, see_key, content, as_is)
    return replace(plain, **rest)


def engine(*views: View, clock: Any = None, **rest: Any) -> Engine:
    """An engine with that controller; views that are not fed are those it lacks."""
    options = {key: rest.pop(key) for key in ("dry", "on_bug", "jitter") if key in rest}
    return Engine((controller(*views, **rest),), Settings(), clock or HandClock(), **options)


def drain(of: Engine, name: str = "probe") -> list[Ref]:
    """Take every ready key and give it back."""
    taken = []
    queue = of.desks[name].queue
    while (next_one := queue.take(0.0)) is not None:
        taken.append(next_one.key)
        queue.done(next_one.key, 0.0)
    return taken


def thing(
    name: str,
    version: int = 1,
    *,
    kind: Kind = CONFIG_MAP,
    uid: str = "",
    owner: str = "",
    namespace: str = NS,
) -> Object:
    """One object as a view receives it."""
    labels = {OWNER: owner} if owner else {}
    uid = uid or f"uid-{name}"
    meta = Meta(name, namespace, uid=uid, resource_version=str(version), labels=labels)
    return Object(kind, meta, {"metadata": {"name": name, "namespace": namespace}})


class LeaseApi:
    """The API server, as far as one Lease goes.

    away: it does not answer. slow: seconds an answer takes; what was asked is done at once.
    lost: how many answers of writes get lost on the way.
    """

    def __init__(self, clock: HandClock) -> None:
        """Hold no Lease."""
        self.clock = clock
        self.body: dict[str, Any] | None = None
        self.version = 10
        self.away = False
        self.slow = 0.0
        self.lost = 0
        self.writes: list[tuple[float, str]] = []

    def of(self, client: str) -> "LeaseClient":
        """The API as one process reaches it."""
        return LeaseClient(self, client)

    def answer(self) -> None:
        """Let an answer take its time, or not come."""
        self.clock.now += self.slow
        if self.away:
            raise ClusterError("no answer", reason="Unreachable")

    def write(self, client: str, body: Mapping[str, Any]) -> Object:
        """Store a Lease under the next version."""
        self.version += 1
        meta = {**body["metadata"], "resourceVersion": str(self.version), "uid": "lease"}
        self.body = {**body, "metadata": meta}
        self.writes.append((self.clock.now, client))
        made = Object(LEASE, Object.of(LEASE, self.body).meta)
        if self.lost:
            self.lost -= 1
            raise ClusterError("the answer was lost", reason="Cut")
        return made

    @property
    def spec(self) -> dict[str, Any]:
        """What the Lease says."""
        assert self.body is not None
        spec: dict[str, Any] = self.body["spec"]
        return spec


@dataclass
class LeaseClient:
    """One process's way to the Lease. cut: it alone has no way."""

    api: LeaseApi
    name: str
    cut: bool = False

    async def get(self, _ref: Ref, *, deadline: float | None = None) -> Object | None:
        """GET."""
        self._reach(deadline)
        self.api.answer()
        return None if self.api.body is None else Object.of(LEASE, self.api.body)

    async def create(
        self,
        _kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """POST."""
        assert not gated
        self._reach(deadline)
        if self.api.body is not None:
            raise ClusterError("there already", status=409, reason="AlreadyExists")
        return self._sent(body)

    async def replace(
        self,
        _kind: Kind,
        body: Mapping[str, Any],
        *,
        gated: bool = True,
        deadline: float | None = None,
    ) -> Object:
        """PUT."""
        assert not gated
        self._reach(deadline)
        live = self.api.body
        if live is None:
            raise ClusterError("not there", status=404, reason="NotFound")
        if live["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"]:
            raise ClusterError("changed since", status=409, reason="Conflict")
        return self._sent(body)

    def _sent(self, body: Mapping[str, Any]) -> Object:
        if self.api.away:
            self.api.answer()
        made = self.api.write(self.name, body)
        self.api.answer()
        return made

    def _reach(self, deadline: float | None) -> None:
        assert deadline is not None
        if self.cut:
            raise ClusterError("no route", reason="Unreachable")


def event(reason: str = "Odd", message: str = "it is odd", **about: Any) -> Event:
    """An event about a ConfigMap."""
    ref = about.get("ref") or CONFIG_MAP.ref(NS, about.get("name", "a"))
    return Event(ref, about.get("uid", "uid-a"), reason, message)
