"""Where a case is played: the offline world, or a real API server with the live controllers.

The steps and wants of a case act on a Stage and know nothing of what is behind it. All calls are
plain; a stage that needs an event loop runs its own. What a stage cannot know it answers with
None, and the want is not judged there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from roadstead.decision import Finding
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import Placed
from roadstead.sim.requests import Request, Told
from roadstead.sim.world import Serving


@dataclass(frozen=True, slots=True)
class Answer:
    """What another writer was answered. code: HTTP status, 200 when it went through."""

    code: int = 200
    message: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether it did not go through."""
        return self.code >= 400  # noqa: PLR2004 - where HTTP's errors begin


Target = tuple[str, Ref]
"""A controller's name and one of its keys."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A key's next timer. length: as it was set. left: what is left of it."""

    length: timedelta
    left: timedelta
    backoff: bool


class Stage(Protocol):
    """One place to play a case.

    `seed` is called once, before anything else; `begin` before every step but `expect`. Our
    process starts with the first `settle`, `tick` or `restart`.
    """

    @property
    def kinds(self) -> Kinds:
        """The kinds that refs of the case may name."""

    def now(self) -> datetime:
        """The time the case has reached."""

    def begin(self) -> None:
        """A step begins: `requests(since_step=True)` counts from here."""

    # what happens

    def seed(self, placed: Placed) -> None:
        """Put one object of world.yaml there, past admission, its status too.

        Raises: ClusterError when the API server refuses it.
        """

    def apply(self, ref: Ref, body: Mapping[str, object]) -> Answer:
        """Another writer creates an object or replaces what the body states of it."""

    def patch(self, ref: Ref, merge: Mapping[str, object]) -> Answer:
        """Another writer's merge patch, a `status` in it through the subresource."""

    def delete(self, ref: Ref, *, collect: bool) -> Answer:
        """Another writer deletes; `collect` False leaves its dependents uncollected so far."""

    def settle(self) -> None:
        """Run the keys that events have woken until nothing is written.

        Raises: DoesNotSettleError.
        """

    def tick(self, span: timedelta) -> None:
        """Let time pass; due timers fire in order."""

    def fault(self, fault: Fault) -> None:
        """Have requests of ours fail from here on, or again succeed."""

    def hold(self, kind: Kind, passes: int) -> None:
        """Let what we see of a kind lag behind by so many passes; 0 ends it."""

    def serve(self, kind: Kind, serving: Serving) -> None:
        """Begin or stop serving a kind."""

    def restart(self, settings: Settings) -> None:
        """End our process and start it with these flags; nothing runs yet."""

    # what is to be seen

    def get(self, ref: Ref) -> Object | None:
        """One object, whole."""

    def objects(self, kind: Kind, namespace: str) -> tuple[Object, ...]:
        """All objects of a kind in a namespace."""

    def as_left(self, ref: Ref) -> bool:
        """Whether an object is byte for byte what another writer made of it last."""

    def minted(self) -> tuple[Ref, ...]:
        """What our process made under names it left to chance."""

    def events(self) -> tuple[Told, ...]:
        """Every publication of an event since the start, in order.

        An Event of the API with a `count` was told that often.
        """

    def requests(self, *, since_step: bool) -> Iterable[Request]:
        """Our requests since the last step began, or since the start."""

    def reads(self) -> Mapping[str, int] | None:
        """Live reads of the last pass: `get`, `list`."""

    def timers(self) -> Mapping[Target, Timer] | None:
        """The next timer of each key that has one."""

    def trails(self) -> Mapping[Target, tuple[Finding, ...]] | None:
        """The findings of the last pass of each key."""
