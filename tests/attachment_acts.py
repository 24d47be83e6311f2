"""What others do to a world of attachments, and what goes wrong meanwhile, as drawn data."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from attachment_play import (
    holder_of,
    settle,
    substrate,
)
from attachment_worlds import (
    Scene,
    a_foreign_service,
    of_kind,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.snapshot.views import claim_annotation
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, SERVICE, Kind
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from watched_world import WatchedWorld

Json = dict[str, Any]


@dataclass(frozen=True)
class Act:
    """One thing that happens. which: of the objects it could be done to, counted from 0."""

    what: str
    which: int = 0
    fault: Fault | None = None
    passes: int = 0
    on: bool = True


@dataclass
class Stage:
    """A world in motion."""

    scene: Scene
    world: WatchedWorld
    settler: Settler

    @classmethod
    def of(cls, scene: Scene, world: WatchedWorld) -> "Stage":
        """Start a process over a world, before it has looked."""
        return cls(scene, world, Settler(world, (ATTACHMENTS_CONTROLLER,), scene.settings))

    def play(self, act: Act) -> None:
        """Let one thing happen; another writer that is refused goes away."""
        try:
            ACTS[act.what](self, act)
        except ClusterError:
            return

    def calm_down(self) -> None:
        """Lift every fault, let what was left uncollected go, and let everything come to rest."""
        self.world.faults.set(Fault(times=0))
        self.world.uncollected.clear()
        for kind in HELD_KINDS:
            self.settler.hold(kind, 0)
        for _ in range(3):
            settle(self.world, self.settler)
            self.settler.tick(timedelta(minutes=6))

    def _pick(self, kind: Kind, act: Act, *, ours: bool | None = None) -> Object | None:
        found = [
            seen
            for seen in self.world.store.all(kind)
            if ours is None or bool(holder_of(seen)) is ours
        ]
        return found[act.which % len(found)] if found else None

    def delete(self, kind: Kind, act: Act, *, ours: bool | None = None) -> None:
        """Somebody deletes one."""
        seen = self._pick(kind, act, ours=ours)
        if seen is not None:
            self.world.delete(seen.ref, By.OTHER, cascade=act.on)

    def change(self, kind: Kind, act: Act, patch: Json, *, ours: bool | None = None) -> None:
        """Somebody changes one."""
        seen = self._pick(kind, act, ours=ours)
        if seen is not None:
            self.world.merge(seen.ref, patch, By.OTHER)

    def bring_back(self, act: Act, kind: Kind) -> None:
        """Somebody makes one anew that the scene began with; its uid is another."""
        missing = [
            body
            for body in self.scene.objects
            if of_kind(body).kind == kind and self.world.store.get(of_kind(body)) is None
        ]
        if not missing:
            return
        body = copy.deepcopy(missing[act.which % len(missing)])
        for key in ("uid", "creationTimestamp", "deletionTimestamp", "finalizers"):
            body["metadata"].pop(key, None)
        self.world.seed(body, of_kind(body))

    def let_go(self, act: Act) -> None:
        """A finalizer that held something is taken off."""
        held = [seen for seen in self.world.store.all() if seen.deleting]
        if held:
            ref = held[act.which % len(held)].ref
            self.world.merge(ref, {"metadata": {"finalizers": None}}, By.OTHER)

    def hold_back(self, act: Act) -> None:
        """A Service of ours gets a finalizer, as cloud controllers put one on."""
        self.change(SERVICE, act, {"metadata": {"finalizers": ["example.org/lb"]}}, ours=True)

    def rival(self, act: Act) -> None:
        """Somebody makes a Service that is pinned, delegated, or both."""
        sort = ("pinned", "delegated", "both")[act.which % 3]
        tenant = "blue" if act.on else "pink"
        body = a_foreign_service(tenant, "rival", sort, "shop", "2026-01-01T00:00:00Z")
        if self.world.store.get(of_kind(body)) is None:
            self.world.seed(body, of_kind(body))


HELD_KINDS = (SERVICE, api.CLAIM, api.ATTACHMENT, HELM_RELEASE, api.ADDRESS, ENDPOINT_SLICE)
UNBOUND: Json = {"status": {"phase": None, "addresses": None}}
LOST_CLAIM: Json = {"status": {"phase": "Lost", "addresses": []}}
ACTS: dict[str, Callable[[Stage, Act], None]] = {
    "settle": lambda stage, _: stage.settler.settle(),
    "tick": lambda stage, act: stage.settler.tick(timedelta(minutes=1 + act.which)),
    "restart": lambda stage, _: stage.settler.restart(stage.scene.settings),
    "fault": lambda stage, act: stage.world.faults.set(act.fault or Fault(times=0)),
    "hold": lambda stage, act: stage.settler.hold(
        HELD_KINDS[act.which % len(HELD_KINDS)], act.passes
    ),
    "substrate": lambda stage, _: void(substrate(stage.world)),
    "endpoint gone": lambda stage, act: stage.delete(SERVICE, act, ours=False),
    "endpoint back": lambda stage, act: stage.bring_back(act, SERVICE),
    "endpoint changed": lambda stage, act: stage.change(
        SERVICE, act, {"spec": {"selector": {"app": f"new-{act.passes}"}}}, ours=False
    ),
    "verdict": lambda stage, act: stage.change(
        SERVICE,
        act,
        {"metadata": {"labels": {api.TENANT_RESOURCE: str(act.on).lower()}}},
        ours=False,
    ),
    "claim gone": lambda stage, act: stage.delete(api.CLAIM, act),
    "claim back": lambda stage, act: stage.bring_back(act, api.CLAIM),
    "claim lost": lambda stage, act: stage.change(api.CLAIM, act, LOST_CLAIM),
    "claim unbound": lambda stage, act: stage.change(api.CLAIM, act, UNBOUND),
    "release gone": lambda stage, act: stage.delete(HELM_RELEASE, act),
    "release back": lambda stage, act: stage.bring_back(act, HELM_RELEASE),
    "service gone": lambda stage, act: stage.delete(SERVICE, act, ours=True),
    "service edited": lambda stage, act: stage.change(
        SERVICE, act, {"spec": {"selector": {"app": "evil"}}}, ours=True
    ),
    "service held": Stage.hold_back,
    "let go": Stage.let_go,
    "rival": Stage.rival,
    "attachment gone": lambda stage, act: stage.delete(api.ATTACHMENT, act),
    "attachment back": lambda stage, act: stage.bring_back(act, api.ATTACHMENT),
    "method": lambda stage, act: stage.change(
        api.ATTACHMENT,
        act,
        {"spec": {"loadBalancer": {"method": "WholeIP" if act.on else None, "allowICMP": None}}},
    ),
}
MOST_LAG = 2
"""Passes. A hold delays live lists too: a deletion is repeated as often, and three are a loop."""
OURS = frozenset({"settle", "tick", "restart"})
"""What lets us act; everything else happens behind our back."""
UNDONE = {what: what.replace("gone", "back") for what in ACTS if what.endswith("gone")}
UNDONE |= {"service held": "let go", "service gone": "settle"}


def void(_: object) -> None:
    """Forget an answer."""


FAULTS = st.builds(
    Fault,
    verb=st.sampled_from(
        ["", "get", "list", "create", "create", "update", "update-status", "delete", "apply"]
    ),
    kind=st.sampled_from(["", "Service", "Service", "IPAddressClaim", "EndpointAttachment"]),
    status=st.sampled_from([0, 409, 500]),
    times=st.integers(1, 4),
    lost=st.booleans(),
)


@st.composite
def plays(draw: st.DrawFn) -> tuple[Act, ...]:
    """A dozen things that happen, each followed by our looking or not."""
    acts = [Act("substrate"), Act("settle")] * draw(st.sampled_from([1, 1, 0]))
    others = sorted(set(ACTS) - OURS)
    for _ in range(draw(st.integers(1, 12))):
        what = draw(st.sampled_from([*others, "fault", "hold", "restart"]))
        which, on = draw(st.integers(0, 5)), draw(st.booleans())
        fault = draw(FAULTS) if what == "fault" else None
        acts.append(Act(what, which, fault, draw(st.integers(0, MOST_LAG)), on))
        acts += [Act("settle")] * draw(st.sampled_from([1, 1, 0]))
        acts += [Act("tick", which)] * draw(st.sampled_from([0, 0, 1]))
        acts += [Act("substrate"), Act("settle")] * draw(st.sampled_from([0, 1]))
        if what in UNDONE and draw(st.booleans()):
            acts.append(Act(UNDONE[what], which))
    return tuple(acts)


def moments(world: WatchedWorld, since: int) -> Iterator[dict[tuple[str, str], Object]]:
    """What Services and claims stood after each change of the log, by kind and path."""
    held: dict[tuple[str, str], Object] = {}
    for number, (old, new) in enumerate(world.store.log):
        if old is not None:
            held.pop((old.kind.kind, old.ref.key), None)
        if new is not None and new.kind in {SERVICE, api.CLAIM}:
            held[new.kind.kind, new.ref.key] = new
        if number >= since:
            yield held


def doubled(held: dict[tuple[str, str], Object]) -> list[str]:
    """Each kind and attachment of which more than one is there, on its way out or not."""
    owners = [(kind, uid) for (kind, _), seen in held.items() if (uid := holder_of(seen))]
    return sorted({f"{kind} of {uid}" for kind, uid in owners if owners.count((kind, uid)) > 1})


def shared_addresses(world: WatchedWorld) -> list[str]:
    """Each claim that two Services of ours are pinned to and stand for."""
    pins = [
        f"{seen.meta.namespace}/{claim_annotation(seen)}"
        for seen in world.store.all(SERVICE)
        if holder_of(seen) and not seen.deleting
    ]
    return sorted({one for one in pins if pins.count(one) > 1})
