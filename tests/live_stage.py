"""The Stage on a real API server, with the live runtime: `sim.stage.Stage` for the second time.

World, other writers and what is looked at go through `live_admin`; ours is what `live_process`
runs. Every step waits for a condition of the server and of the process, never for a time.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from live_admin import Admin, Reply, attempts, wait_for
from live_neighbours import unsettled
from live_process import LoopThread, Process, Shared
from live_review import register
from live_time import Births, CaseClock
from live_versions import is_served, readable, set_served, stated_in, versions_of
from roadstead.decision import Finding
from roadstead.errors import BugError, ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, NAMESPACE, Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds, is_custom
from roadstead.sim.load import Placed
from roadstead.sim.requests import Request, Told
from roadstead.sim.settle import DoesNotSettleError
from roadstead.sim.stage import Answer, Target, Timer
from roadstead.sim.world import Serving
from roadstead.wiring import Admission, Controller

MOST_PASSES = 2_000
QUIET_LOOKS = 2
"""So many looks in a row must find nothing going on."""
_SERVER_SETS = ("uid", "resourceVersion", "creationTimestamp", "generation", "selfLink")
_NOT_FOUND = 404


class NeverQuietError(Exception):
    """A live case did not come to rest in time."""


class LiveStage:
    """`stage.Stage` over a real server that is empty but for what every test begins with."""

    def __init__(
        self,
        admin: Admin,
        kinds: Kinds,
        controllers: Iterable[Controller],
        now: datetime,
        *,
        workers: int = 1,
        stand_ins: Iterable[Controller] = (),
        unserved: Iterable[Kind] = (),
        kubeconfig: Path | None = None,
        admissions: Iterable[Admission] = (),
    ) -> None:
        """Start a thread; our process starts when the first step asks for it.

        stand_ins: neighbours, run beside it by a client of their own that nobody counts.
        unserved: kinds that this server does not have.
        kubeconfig: as whom our process runs; the administrator when None.
        admissions: who reviews what is written after the start.
        """
        self._admissions = tuple(admissions)
        self._admin, self._kinds = admin, kinds
        self._controllers, self._workers = tuple(controllers), workers
        self._clock = CaseClock(now)
        self._births = Births(self._clock)
        self._shared = Shared(kubeconfig or admin.kubeconfig, self._clock, self._births)
        self._thread = LoopThread()
        self._process: Process | None = None
        self._stand_ins = tuple(stand_ins)
        self._neighbours: Process | None = None
        self._settings = Settings()
        self._mark = 0
        self._left: dict[Ref, str] = {}
        self._unserved: dict[Kind, dict[Ref, Object]] = {kind: {} for kind in unserved}
        everybody = (*self._controllers, *self._stand_ins)
        self._known: set[Kind] = {v.kind for c in everybody for v in c.views}
        self._known |= {v.kind for one in self._admissions for v in one.views}

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End our process, the neighbours and the thread."""
        self._end_process()
        if self._neighbours is not None:
            self._thread.run(self._neighbours.stop())
        self._thread.close()

    @property
    def kinds(self) -> Kinds:
        """The kinds of the case."""
        return self._kinds

    def now(self) -> datetime:
        """The case's time."""
        return self._clock.wall()

    def begin(self) -> None:
        """Count requests from here."""
        self._mark = len(self._shared.log)

    # what happens

    def seed(self, placed: Placed) -> None:
        """Put one object there, its status through the subresource."""
        ref, body = placed.ref, placed.body
        meta = {k: v for k, v in body["metadata"].items() if k not in _SERVER_SETS}
        stated = {k: v for k, v in body.items() if k != "status"} | {"metadata": meta}
        there = ref.kind == NAMESPACE and self._admin.get(ref) is not None
        born = str(body["metadata"].get("creationTimestamp") or "")
        reply = self._admin.patch(ref, stated) if there else self._create(ref, stated, born)
        if not reply.refused and "status" in body:
            reply = self._patch_status(ref, body["status"])
        if reply.refused:
            raise ClusterError(reply.message, status=reply.code, reason=reply.reason)
        self._note(ref, reply)

    def apply(self, ref: Ref, body: Mapping[str, object]) -> Answer:
        """Create, or merge what is stated."""
        self._be_asked()
        if self._admin.get(ref) is not None:
            return self.patch(ref, body)
        reply = self._create(ref, {k: v for k, v in body.items() if k != "status"})
        if not reply.refused and body.get("status") is not None:
            status = self._patch_status(ref, body["status"])
            reply = Reply(status.code, status.body, reply.warnings)
        return self._answered(ref, reply)

    def patch(self, ref: Ref, merge: Mapping[str, object]) -> Answer:
        """Merge; the status after the rest."""
        self._be_asked()
        self._known.add(ref.kind)
        rest = {key: value for key, value in merge.items() if key != "status"}
        reply = self._admin.patch(ref, rest) if rest or "status" not in merge else None
        if "status" in merge and (reply is None or not reply.refused):
            status = self._patch_status(ref, merge["status"])
            reply = Reply(status.code, status.body, reply.warnings if reply else ())
        assert reply is not None
        return self._answered(ref, reply)

    def delete(self, ref: Ref, *, collect: bool) -> Answer:
        """Delete; what depends on it is the server's to collect."""
        if not collect:
            raise NotImplementedError("a real server collects")
        reply = self._admin.delete(ref)
        if reply.refused:
            return self._answered(ref, reply)
        self._left.pop(ref, None)
        if (seen := self._admin.get(ref)) is not None:
            self._left[ref] = seen["metadata"]["resourceVersion"]
        return Answer(warnings=reply.warnings)

    def _be_asked(self) -> None:
        """Have reviewers in front of the first write of another, who know all that stands."""
        if not self._admissions or self._process is not None:
            return
        self.settle()

    def _create(self, ref: Ref, body: Mapping[str, Any], born: str = "") -> Reply:
        self._known.add(ref.kind)
        reply = self._admin.create(stated_in(ref.kind, body), body)
        if not reply.refused:
            self._births.note(reply.body["metadata"]["uid"], ref, born)
        return reply

    def _patch_status(self, ref: Ref, status: object) -> Reply:
        reply = self._admin.patch(ref, {"status": status}, "/status")
        if reply.code == _NOT_FOUND and self._admin.get(ref) is not None:
            return self._admin.patch(ref, {"status": status})  # the kind has no subresource
        return reply

    def _answered(self, ref: Ref, reply: Reply) -> Answer:
        if reply.refused:
            return Answer(reply.code, reply.message, reply.warnings)
        self._note(ref, reply)
        return Answer(warnings=reply.warnings)

    def _note(self, ref: Ref, reply: Reply) -> None:
        self._left.pop(ref, None)
        if self._admin.get(ref) is not None:  # a patch that took the last finalizer ended it
            self._left[ref] = reply.body["metadata"]["resourceVersion"]

    def settle(self) -> None:
        """Run the keys that events have woken; views that were lost are listed once more."""
        self._start_process()
        assert self._process is not None
        process = self._process
        self._thread.ask(lambda: process.wake_lost(self._unserved, faulted=True))
        self._quiet()

    def tick(self, span: timedelta) -> None:
        """Let time pass; due timers fire in order."""
        self._start_process()
        assert self._process is not None
        process, end = self._process, self._clock.steady() + span.total_seconds()
        self._quiet()
        while (due := self._thread.ask(process.next_due)) is not None and due <= end:
            self._move(process, due)
            self._quiet()
        self._move(process, end)
        self._quiet()

    def _move(self, process: Process, steady: float) -> None:
        self._thread.ask(lambda: process.move(steady))
        if self._neighbours is not None:
            self._thread.ask(self._neighbours.ring)

    def _quiet(self) -> None:
        """Wait until nothing goes on with us, with a neighbour or with the server's controllers."""
        process = self._process
        assert process is not None
        everybody = [process, *([self._neighbours] if self._neighbours else [])]
        first, looks, busy = process.holds.passes, 0, ""
        for _ in attempts():
            busy = next((found for one in everybody if (found := self._busy(one))), "")
            busy = busy or unsettled(self._admin, self._kinds, self._known, self._unserved)
            for one in everybody:
                self._raise_bugs(one)
            looks = 0 if busy else looks + 1
            if looks == QUIET_LOOKS:
                return
            if process.holds.passes - first > MOST_PASSES:
                raise DoesNotSettleError(f"{MOST_PASSES} passes were not enough: {busy}", ())
        raise NeverQuietError(f"still busy: {busy}")

    def _busy(self, process: Process) -> str:
        """Say what still goes on in a process."""
        self._thread.ask(lambda: process.wake_lost(self._unserved, faulted=False))
        if busy := self._thread.ask(lambda: process.busy({})):
            return busy
        listed = {view: self._listed(process, view) for view in process.engine.stores}
        return self._thread.ask(lambda: process.busy(listed))

    def _listed(self, process: Process, view: View) -> Mapping[tuple[str, str], str] | None:
        """What a view should know of; None when it can be told of nothing."""
        feed = next(feed for feed in process.feeds.all if feed.view is view)
        if view.kind in self._unserved or (
            view not in process.wire.seen and process.is_faulted(feed)
        ):
            return None
        found = self._admin.metadata(view.kind, view.labels, view.fields)
        return {(m.get("namespace", ""), m["name"]): m["resourceVersion"] for m in found}

    def _raise_bugs(self, process: Process) -> None:
        if process.engine.bugs:
            raise BugError("; ".join(process.engine.bugs))

    def fault(self, fault: Fault) -> None:
        """Begin or lift a fault."""
        self._thread.ask(lambda: self._shared.faults.set(fault))

    def hold(self, kind: Kind, passes: int) -> None:
        """Hold back the events of a kind; a list is always fresh here."""
        self._start_process()
        assert self._process is not None
        holds = self._process.holds
        self._thread.ask(lambda: holds.hold(kind, passes))

    def serve(self, kind: Kind, serving: Serving) -> None:
        """Serve a kind's versions or none; what is stored stays."""
        if not is_custom(kind):
            raise NotImplementedError(f"{kind.kind} is built in")
        versions = versions_of(kind, self._known)
        before = {seen.ref: seen for seen in self.objects(kind, "")}
        set_served(self._admin, kind, versions, serving)
        for one in versions:
            if is_served(one, serving):
                self._unserved.pop(one, None)
                continue
            self._unserved.setdefault(one, before)
            for process in (self._process, self._neighbours):
                if process is not None:  # the server may take more than a minute
                    self._thread.ask(lambda: process.wire.end_streams(one))  # noqa: B023 - asked at once

    def restart(self, settings: Settings) -> None:
        """End our process; it starts again with the next step."""
        self._end_process()
        self._settings = settings
        self._shared.run += 1

    def _start_process(self) -> None:
        if self._stand_ins and self._neighbours is None:
            theirs = Shared(self._admin.kubeconfig, self._clock, self._births)
            made = self._made(self._stand_ins, Settings(), theirs, 1, ())
            self._neighbours = self._thread.run(made)
            self._thread.run(self._neighbours.start())
        if self._process is None:
            made = self._made(
                self._controllers, self._settings, self._shared, self._workers, self._admissions
            )
            self._process = process = self._thread.run(made)
            self._thread.run(process.start())
            if (reviewer := process.reviewer) is not None:
                wait_for("all was read", lambda: self._thread.ask(self._answers))
                (path,) = {one.path for one in self._admissions}
                register(self._admin, lambda: reviewer.webhook.asked, reviewer.port, path)

    def _answers(self) -> bool:
        """Whether whoever reviews has read all that it judges by."""
        process = self._process
        return process is not None and all(
            process.engine.answers(one.name) for one in self._admissions
        )

    async def _made(
        self,
        controllers: tuple[Controller, ...],
        settings: Settings,
        shared: Shared,
        workers: int,
        admissions: tuple[Admission, ...],
    ) -> Process:
        return Process(controllers, settings, shared, workers, admissions)

    def _end_process(self) -> None:
        if self._process is not None:
            self._thread.run(self._process.stop())
            self._process = None

    # what is to be seen

    def get(self, ref: Ref) -> Object | None:
        """One object; of a kind that is not served, as it was last seen."""
        kind = readable(ref.kind, self._known, self._unserved)
        if kind is None:
            return self._unserved[ref.kind].get(ref)
        body = self._admin.get(ref._replace(kind=kind))
        return None if body is None else self._seen(ref.kind, body)

    def objects(self, kind: Kind, namespace: str) -> tuple[Object, ...]:
        """All objects of a kind; those of all namespaces where none is named."""
        at = readable(kind, self._known, self._unserved)
        if at is None:
            every = self._unserved[kind].values()
            return tuple(seen for seen in every if namespace in {"", seen.meta.namespace})
        return tuple(self._seen(kind, body) for body in self._admin.objects(at, namespace))

    def _seen(self, kind: Kind, body: dict[str, Any]) -> Object:
        return self._births.shifted(Object.of(kind, body | {"apiVersion": kind.api_version}))

    def as_left(self, ref: Ref) -> bool:
        """Whether the resourceVersion is that of another writer's last answer."""
        seen = self.get(ref)
        theirs = self._neighbours.wire.left.get(ref) if self._neighbours else None
        left = {self._left.get(ref), *([theirs] if theirs else [])}
        return (seen.meta.resource_version if seen else None) in left

    def names_by_uid(self) -> Mapping[str, str]:
        """The path of every object that was met, by its uid."""
        return self._births.names

    def minted(self) -> tuple[Ref, ...]:
        """What we made by `generateName`."""
        return tuple(self._shared.minted)

    def events(self) -> tuple[Told, ...]:
        """Every publication that the server has taken, as the Events there say it."""
        ours = {controller.component for controller in self._controllers}
        there = {
            (body["metadata"]["namespace"], body["metadata"]["name"]): body
            for body in self._admin.objects(EVENT)
            if (body.get("source") or {}).get("component") in ours
        }
        told = []
        for name, times in self._shared.times():
            body = there.get(name)
            if body is not None and times < self._shared.most(name, int(body["count"])):
                about = self._about(body["involvedObject"])
                told.append(Told(about, body["type"], body["reason"], body["message"], times))
        return tuple(told)

    def _about(self, involved: Mapping[str, str]) -> Ref:
        namespace = involved.get("namespace", "")
        kind = self._kinds.of(involved["apiVersion"], involved["kind"], namespace)
        return kind.ref(namespace, involved["name"])

    def requests(self, *, since_step: bool) -> Iterable[Request]:
        """Our requests."""
        return self._shared.log.since(self._mark if since_step else 0)

    def reads(self) -> Mapping[str, int]:
        """Live reads of the last pass."""
        last = self._process.engine.last if self._process else None
        return last.reads if last else {}

    def timers(self) -> Mapping[Target, Timer]:
        """The next timer of each key that has one."""
        if self._process is None:
            return {}
        now, engine, found = self._clock.steady(), self._process.engine, {}
        for (name, key), length in engine.lengths.items():
            timer = engine.desks[name].queue.timer_of(key)
            if timer is not None:
                left = timedelta(seconds=timer[0] - now)
                found[name, key] = Timer(timedelta(seconds=length), left, timer[1])
        return found

    def trails(self) -> Mapping[Target, tuple[Finding, ...]]:
        """The findings of the last pass of each key."""
        desks = self._process.engine.desks.items() if self._process else ()
        return {
            (name, key): decision.findings
            for name, desk in desks
            for key, decision in sorted(desk.trails.items())
        }
