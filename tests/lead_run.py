"""A run of leaders: two candidates before one server, and what befalls whoever leads.

Attachments come, change and go all the while; one seed says which, and where a leader is frozen.
After each blow the heir has to lead and bring everything to rest, and a new candidate stands by.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from kill_judge import Judge
from kill_plans import Plans
from kill_world import World
from lead_judge import Reigns
from lead_relay import Candidate, Cut, Place, Strait
from live_admin import wait_for
from live_cluster import Cluster
from live_run import Run, grant, server_context, through, user_of
from roadstead.deploy.rbac import ATTACHMENTS, HOME
from roadstead.kube.refs import LEASE
from roadstead.runtime.lease import Terms

LOCK = LEASE.ref(HOME, "roadstead-attachments")
MOST_WRITES = 6
"""A leader is frozen at one of its next so many writes."""
LOST, STOPPED = 1, 0
SHIPPED = Terms()


@dataclass
class Reign:
    """One run. terms: of the lease. told: one line for each blow.

    leader, heir: those who run, with their logs.
    """

    cluster: Cluster
    seed: str
    terms: Terms = SHIPPED
    told: list[str] = field(default_factory=list)
    _lives: int = 0
    _runs: dict[int, Run] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Get ready; nothing runs yet."""
        self.rng = Random(self.seed)  # noqa: S311 - not a secret
        settings = self.cluster.folder / "leaders.yaml"
        settings.write_text("cozyProxyContractImplemented: true\n")
        self._flags = (
            "--only=attachments",
            f"--settings={settings}",
            "--leader-elect",
            f"--leader-election-namespace={HOME}",
            f"--leader-elect-lease-duration={self.terms.duration:g}s",
        )
        self._account = grant(self.cluster, ATTACHMENTS.name, ATTACHMENTS)
        self.mark = self.cluster.own.audit_mark()
        self.relay = Strait(self.cluster.own.url, server_context(self.cluster))
        self.world = World(self.cluster.admin)
        self.plans = Plans(self.world, self.relay.note)

    def __enter__(self) -> Self:
        """Have one lead, and another stand by."""
        self.relay.__enter__()
        self.world.begin()
        self.plans.stock(self.rng)
        self.leader = self._start()
        self._led(self.leader)
        self.heir = self._stand_by()
        self._settle()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what still runs."""
        for run in self._runs.values():
            run.end()
        for one in (self.leader, self.heir):
            self.relay.leave(one)
        self.relay.__exit__(kind, error, trace)

    # what befalls a leader

    def stop(self) -> None:
        """Ask it to end: it finishes its passes, gives the lease up, and the heir need not wait."""
        self._load()
        self._blow("stopped", lambda: self._run(self.leader).send(signal.SIGTERM))
        self._run(self.leader).said("lease released")
        self._follow(STOPPED)

    def kill(self) -> None:
        """Kill it in the middle of its work."""
        self._load()
        self._blow("killed", lambda: self._run(self.leader).send(signal.SIGKILL))
        self._follow(-signal.SIGKILL)

    def cut(self, how: Cut) -> None:
        """Cut it off from the server in the middle of its work: it ends by itself."""
        self._load()
        self._blow(f"cut off, {how}", lambda: self.relay.cut(self.leader, how))
        self._run(self.leader).said("lease lost")
        self._follow(LOST)

    def freeze(self, place: Place) -> None:
        """Freeze it beyond its lease: it does nothing when it thaws, but to end."""
        nth = self.rng.randint(1, MOST_WRITES)
        beyond = self.terms.duration * self.rng.uniform(1.0, 1.5)
        rest = self.rng.uniform(0.0, 0.5)
        at_a_write = place in {Place.SENDING, Place.ANSWERED}

        def freeze() -> None:
            if place is Place.ANYWHERE:
                time.sleep(rest)
                self.relay.freeze(self.leader)
            wait_for(f"{self.leader.number} frozen", self.leader.frozen.is_set)

        if place is not Place.ANYWHERE:
            self.relay.arm(self.leader, place, nth if at_a_write else 1)
        self._load()
        which = f", the {nth}. from then" if at_a_write else ""
        began = time.monotonic()
        if place in {Place.ANYWHERE, Place.ANSWERED}:
            # What was sent before is with the server: it may thaw at any time beyond its lease.
            self._blow(f"frozen {place}{which}", freeze, lambda: self._thaw(began + beyond))
        else:
            # What it was about to send comes when the heir has done the same long since.
            self._blow(f"frozen {place}{which}", freeze)
            self._thaw(0.0)
        self._run(self.leader).said("lease lost")
        self._follow(LOST)

    def _thaw(self, when: float) -> None:
        time.sleep(max(0.0, when - time.monotonic()))
        self._run(self.leader).send(signal.SIGCONT)
        self.relay.thaw(self.leader)

    # the heir

    def _blow(
        self, what: str, act: Callable[[], None], then: Callable[[], None] | None = None
    ) -> None:
        """Let something befall the leader; the heir has to lead and to make up for it.

        then: what happens before the heir is waited for.
        """
        watches = self.heir.watches
        act()
        began = time.monotonic()
        self._load()
        if then is not None:
            then()
        self._led(self.heir)
        led = time.monotonic() - began
        self._settle()
        rest = time.monotonic() - began
        assert watches == self.heir.watches, "its views were not ready before it led"
        self.told.append(f"life {self.leader.number} {what}: led {led:.2f} s, at rest {rest:.2f} s")

    def _follow(self, code: int) -> None:
        """See the old leader off; the heir is the new one, and another stands by."""
        run = self._run(self.leader)
        assert code == run.code(), run.text()[-2000:]
        run.end()
        self.relay.leave(self.leader)
        self.leader, self.heir = self.heir, self._stand_by()

    def _stand_by(self) -> Candidate:
        """Start a candidate that will not lead yet; its views are full."""
        one = self._start()
        self._run(one).wait_ready().said("lease not ours", reason="Held")
        return one

    def _start(self) -> Candidate:
        self._lives += 1
        number = self._lives
        one = Candidate(
            number,
            lambda: self._run(one).send(signal.SIGKILL),
            freeze=lambda: self._run(one).send(signal.SIGSTOP),
        )
        self.relay.admit(one)
        path: Path = through(self.cluster, self._account, one.address)
        path = path.rename(path.with_name(f"candidate-{number}.kubeconfig"))
        self._runs[number] = Run(path, *self._flags)
        return one

    def _run(self, one: Candidate) -> Run:
        return self._runs[one.number]

    def _led(self, one: Candidate) -> None:
        self._run(one).said("lease acquired")

    # the world

    def _load(self) -> None:
        """Have tenants change things, some of them on an attachment nobody has seen yet."""
        self.world.create(self.plans.new(self.rng))
        self.plans.meanwhile(self.rng, None, hot=True)
        self.world.create(self.plans.new(self.rng, referenced=True))

    def _settle(self) -> None:
        """Nothing that tenants asked for is lost, and nothing of theirs."""
        try:
            self.world.settle(self.terms.duration + 30.0)
        except TimeoutError as late:
            said = "\n".join(run.text()[-1500:] for run in self._runs.values() if run.running)
            raise AssertionError(f"seed {self.seed}: {late}\n{said}") from late
        assert [] == self.world.lost()

    # the judgement

    def faults(self) -> list[str]:
        """Stop both, and say all that was wrong by the server's audit log.

        The last leader gives the lease up; the other has none to give up.
        """
        for one in (self.heir, self.leader):
            assert STOPPED == self._run(one).stop()
        log = self.cluster.own.audit_entries(self.mark)
        ours = user_of(ATTACHMENTS.name)
        self.reigns = Reigns.read(log, LOCK, ours, self.terms)
        judge = Judge(ours, self.world.kept, self.plans.spares)
        judge.read(one for one in log if one["objectRef"].get("resource") != LEASE.plural)
        found = {
            "two leaders": self.reigns.together(),
            "a write without the lease": self.reigns.without_lease(),
            "a slow takeover": self.reigns.slow(),
            "a duplicate": judge.duplicates(),
            "an orphan": self.world.orphans(),
            "a lost claim": [*self.world.lost(), *judge.meddling(), *judge.minted_again()],
            "an unsafe write": judge.unsafe(),
            "not by the log": [] if self.world.alive() == judge.alive() else [str(judge.alive())],
        }
        return [f"{what}: {one}" for what, listed in found.items() for one in listed]

    def table(self) -> list[str]:
        """What befell whom, and how long it took by the server's clock."""
        spans = [(one.seconds, one.old.released is not None) for one in self.reigns.handovers()]
        passed = [f"{seconds:.2f}" for seconds, released in spans if released]
        taken = [f"{seconds:.2f}" for seconds, released in spans if not released]
        lines = [f"leaders: seed {self.seed}, a lease lasts {self.terms.duration:g} s"]
        lines += [f"leaders: {one}" for one in self.told]
        lines.append(f"leaders: seconds from a release to the next: {', '.join(passed)}")
        lines.append(f"leaders: seconds from a last renewal to the next: {', '.join(taken)}")
        answers = ", ".join(f"{n} x {code}" for code, n in sorted(self.reigns.late().items()))
        lines.append(f"leaders: answers to writes that came late: {answers or 'none'}")
        return lines
