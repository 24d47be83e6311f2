"""One whole process against a scripted server: how it starts, leads, stops and ends."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from faults import Faults, answer, broken, drop, error, lost, raw, refuse, slow, stream
from parts import CANARY, CARRIED, DATA, MAPS, NS, SECRETS, Lines, controller, owners_key, until
from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.decision import Cached, Decision, Did, Event, Outcome, Reader, Want
from roadstead.errors import BugError, ClusterError, InputError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, EVENT, HELM_RELEASE, LEASE, SECRET, Ref
from roadstead.kube.views import View
from roadstead.runtime import manager as manager_module
from roadstead.runtime import options as options_module
from roadstead.runtime.access import ACCOUNT, Config, Material
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.manager import Manager, run
from roadstead.runtime.options import RunOptions, chosen
from roadstead.runtime.page import Answer, Maker, Source
from roadstead.wiring import Controller, Watch

OPTIONS = RunOptions(
    metrics="127.0.0.1:0", health="127.0.0.1:0", leader_elect=True, lease_namespace=NS
)
KEY = SECRET.ref(NS, "a")
RELEASES = View("releases", HELM_RELEASE)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the collector as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def wanting(_key: Ref) -> Decision:
    """Want one Secret and tell of it; keys are a Secret and the owner its label would name."""
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "made", "namespace": NS},
        "type": "Opaque",
        "data": DATA,
    }
    event = Event(KEY, "uid", "Made", "it is made")
    return Decision(want=(Want.create(SECRET, body),), events=(event,), state="Made")


@asynccontextmanager
async def serving() -> AsyncIterator[Faults]:
    """Run a server with one Secret, room for events, and no Lease yet."""
    async with Faults() as server:
        server.serve(SECRET).put(NS, "a", data=DATA, meta={"annotations": CARRIED})
        server.serve(CONFIG_MAP)
        server.serve(EVENT)
        server.serve(LEASE)
        yield server


class Run:
    """One manager that runs."""

    def __init__(
        self,
        server: Faults,
        options: RunOptions,
        *controllers: Controller,
        pages: Maker | None = None,
    ) -> None:
        """Prepare it; `started` runs it."""
        self.lines = Lines()
        self.server = server
        self.manager = Manager(
            options,
            controllers or (controller(SECRETS),),
            Config(server=server.url),
            log=self.lines.log,
            clock=LiveClock(),
            dropped=lambda: 0,
            pages=pages,
        )
        self.tick = asyncio.Event()
        if self.manager.lease:
            self.manager.lease._sleep = self._sleep
        self.task: asyncio.Task[int] | None = None

    async def _sleep(self, _seconds: float) -> None:
        await self.tick.wait()
        self.tick.clear()

    async def page(self, server: str, path: str) -> tuple[int, str]:
        """Ask one of its own servers."""
        url = f"http://127.0.0.1:{self.manager.ports[server]}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status, await answer.text()

    @property
    def ready(self) -> bool:
        """Whether its views can answer."""
        return self.manager.engine.ready("probe")

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing runs."""
        queue = self.manager.engine.desks["probe"].queue
        return self.ready and not len(queue) and not queue.running()


@asynccontextmanager
async def started(
    server: Faults, options: RunOptions = OPTIONS, *controllers: Controller
) -> AsyncIterator[Run]:
    """Run a manager; it is stopped at the end."""
    running = Run(server, options, *controllers)
    running.task = asyncio.create_task(running.manager.run())
    try:
        yield running
    finally:
        running.manager.stop()
        await asyncio.gather(running.task, return_exceptions=True)


def lease_of(server: Faults) -> dict[str, Any]:
    """The spec of the Lease."""
    spec: dict[str, Any] = server.shelves["coordination.k8s.io", "v1", "leases"].at(
        NS, "roadstead-probe"
    )["spec"]
    return spec


async def test_a_run_leads_works_and_stops_with_0() -> None:
    """First lines first; the lease is released after the last write, then all is closed."""
    async with (
        serving() as server,
        started(server, OPTIONS, controller(SECRETS, decide=wanting)) as running,
    ):
        await until(lambda: running.idle and server.asked("create")[2:])
        status, page = await running.page("health", "/readyz?verbose")
        _, metrics = await running.page("metrics", "/metrics")
        holder = lease_of(server)["holderIdentity"]
        running.manager.stop()
        assert running.task is not None
        code = await running.task
        first, *_, last = running.lines.all()
        writes = [(seen.verb, seen.resource) for seen in server.asked("create", "update")]

        assert code == 0
        assert (first["msg"], first["capabilities"], first["lease"]) == (
            "roadstead starts",
            "probe",
            f"{NS}/roadstead-probe",
        )
        assert (status, page) == (200, "[+]probe ok\nreadyz check passed\n")
        assert 'leader_election_master_status{name="roadstead-probe"} 1.0' in metrics
        assert 'rest_client_requests_total{code="201",method="POST"}' in metrics
        assert "_" in holder
        assert "holderIdentity" not in lease_of(server)
        assert writes[0] == ("create", "leases")
        assert writes[-1] == ("update", "leases")
        assert {("create", "secrets"), ("create", "events")} <= set(writes)
        assert last["msg"] == "stopped"
        for text in (running.lines.text.decode(), metrics):
            assert CANARY not in text
            assert DATA["password"] not in text


@pytest.mark.parametrize("qps", [0.0, 20.0], ids=["no-slot-is-free", "no-turn-for-long"])
async def test_the_lease_waits_for_nothing_that_passes_wait_for(qps: float) -> None:
    """Reads that hang, or a limit of requests, cost a leader its work and never its lease."""
    never = asyncio.Event()

    async def observe(reader: Reader, key: Ref) -> Ref:
        await reader.live_get(key)
        return key

    options = replace(OPTIONS, qps=qps, workers=40)
    async with serving() as server:
        shelf = server.serve(SECRET)
        for number in range(40):
            shelf.put(NS, f"s{number}", data=DATA)
        server.next("get", *[slow(never)] * 100, kind=SECRET)
        probe = controller(SECRETS, observe=observe)
        async with started(server, options, probe) as running:
            running_keys = running.manager.engine.desks["probe"].queue.running
            await until(lambda: len(running_keys()) == 40)
            await until(lambda: bool(qps) or len(server.asked("get")) > 32)
            before = lease_of(server)["renewTime"]
            running.tick.set()
            await until(lambda: lease_of(server)["renewTime"] != before)
            sent = len([one for one in server.asked("get") if one.resource == "secrets"])
            never.set()

    assert sent < 40, "the lease had its turn after all of them"


@pytest.mark.slow
async def test_a_log_that_nobody_reads_costs_the_process_nothing(tmp_path: Path) -> None:
    """Its stderr is a full pipe from the start: it leads, renews, and ends when it is told to."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 512)
    os.set_blocking(writer, True)
    async with serving() as server:
        for kind in (HELM_RELEASE, DEFINITION):
            server.serve(kind)
        kubeconfig = tmp_path / "kubeconfig"
        cluster = {"name": "c", "cluster": {"server": server.url}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        stated = {"clusters": [cluster], "contexts": [context], "users": [{"name": "u"}]}
        kubeconfig.write_text(json.dumps({**stated, "current-context": "c"}))
        line = ["--only=anchors", "--kubeconfig", str(kubeconfig), "--log-level=debug"]
        line += ["--leader-elect", f"--leader-election-namespace={NS}"]
        line += ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
        program = await asyncio.create_subprocess_exec(
            Path(sys.executable).parent / "roadstead", "run", *line, stderr=writer
        )
        os.close(writer)
        try:
            async with asyncio.timeout(30):
                while not server.asked("update"):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.05)
                program.terminate()
                code = await program.wait()
        finally:
            if program.returncode is None:
                program.kill()
            os.close(reader)

    assert 0 == code


FAULTS = {
    "401": ("get", refuse(401)),
    "403": ("get", refuse(403, "Forbidden", name="a")),
    "404-of-the-path": ("get", refuse(404)),
    "429": ("get", refuse(429, "TooManyRequests", retry_after="1")),
    "500": ("get", refuse(500)),
    "cut": ("get", broken()),
    "junk": ("get", answer(b"<html>no</html>")),
    "403-of-a-write": ("update", refuse(403, "Forbidden", name="a")),
    "409-of-a-write": ("update", refuse(409, "Conflict", name="a")),
    "422-of-a-write": ("update", refuse(422, "Invalid", name="a")),
    "429-of-a-write": ("update", refuse(429, "TooManyRequests", retry_after="1")),
    "500-of-a-write": ("update", refuse(500)),
    "write-cut": ("update", broken()),
    "write-whose-answer-is-lost": ("update", lost()),
    "410-of-a-watch": ("watch", stream(error(410, "Expired"))),
    "500-of-a-watch": ("watch", stream(error(500))),
    "403-of-a-watch": ("watch", refuse(403, "Forbidden")),
    "watch-cut-in-a-line": ("watch", stream(raw(b'{"type":"MODIFIED","obj'), drop())),
    "list-cut": ("list", broken()),
    "500-of-a-list": ("list", refuse(500)),
    "list-that-is-none": ("list", answer(b"{}")),
}
"""Answers that a run meets in the middle of its work, once each."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_run_keeps_going_through_a_fault(fault: str) -> None:
    """Each costs a pause: what changed meanwhile is acted on, the lease stays, nothing ends."""
    verb, wrong = FAULTS[fault]

    async def observe(reader: Reader, key: Ref) -> Object | None:
        return await reader.live_get(key)

    def decide(seen: Object) -> Decision:
        meta = {**seen.body["metadata"], "labels": {"seen": seen.body["data"]["v"]}}
        return Decision(want=(Want.replace(SECRET, {**seen.body, "metadata": meta}, seen),))

    def report(_seen: Object, decision: Decision, outcomes: tuple[Outcome, ...]) -> Decision:
        return replace(decision, backoff=any(one.did is Did.FAILED for one in outcomes))

    async with serving() as server:
        shelf = server.serve(SECRET)
        shelf.put(NS, "a", type="Opaque", data={"v": "b25l"})
        probe = replace(controller(SECRETS, observe=observe, decide=decide), report=report)
        async with started(server, OPTIONS, probe) as running:
            await until(lambda: shelf.at(NS, "a")["metadata"]["labels"].get("seen") == "b25l")
            await until(lambda: running.idle)
            holder = lease_of(server)["holderIdentity"]
            if verb in {"watch", "list"}:
                # A list is only asked for again where the watch cannot go on.
                gone = () if verb == "watch" else (stream(error(410, "Expired")),)
                server.next("watch", *gone, *((wrong,) if verb == "watch" else ()), kind=SECRET)
                server.next("list", *((wrong,) if verb == "list" else ()), kind=SECRET)
                shelf.end_streams()
            else:
                server.next(verb, wrong, kind=SECRET)
            shelf.put(NS, "a", type="Opaque", data={"v": "dHdv"}, labels={"seen": "b25l"})
            await until(lambda: shelf.at(NS, "a")["metadata"]["labels"].get("seen") == "dHdv")
            await until(lambda: running.idle)
            ready, _ = await running.page("health", "/readyz")
            alive, _ = await running.page("health", "/healthz")

            assert not any(server._scripts.values()), "the fault was met"
            assert (200, 200) == (ready, alive)
            assert holder == lease_of(server)["holderIdentity"]
            assert running.task is not None
            assert not running.task.done()
            assert CANARY not in running.lines.text.decode()


async def test_a_standby_is_warm_and_works_nothing() -> None:
    """Its views are full before it leads, so that taking over costs no list."""
    async with serving() as server:
        leases = server.shelves["coordination.k8s.io", "v1", "leases"]
        leases.put(
            NS, "roadstead-probe", spec={"holderIdentity": "other", "leaseDurationSeconds": 15}
        )
        async with started(server, OPTIONS, controller(SECRETS, decide=wanting)) as running:
            await until(lambda: running.ready)
            status, _ = await running.page("health", "/readyz")
            with pytest.raises(ClusterError) as refused:
                await running.manager.client.create(
                    SECRET, {"metadata": {"name": "x", "namespace": NS}}
                )
            before = server.asked("create")
            listed = len(server.asked("list"))
            leases.put(NS, "roadstead-probe", spec={})
            running.tick.set()
            await until(lambda: running.idle and server.asked("create"))

            assert status == 200
            assert refused.value.reason == "NotLeader"
            assert before == []
            assert len(server.asked("list")) == listed


async def test_a_lost_lease_ends_with_1() -> None:
    """Another holds it; nothing is written or released on the way out."""
    async with serving() as server, started(server) as running:
        await until(lambda: running.idle and server.asked("create"))
        leases = server.shelves["coordination.k8s.io", "v1", "leases"]
        leases.put(NS, "roadstead-probe", spec={"holderIdentity": "other"})
        writes = len(server.asked("create", "update", "delete"))
        running.tick.set()
        assert running.task is not None
        code = await running.task

        assert code == 1
        assert lease_of(server) == {"holderIdentity": "other"}
        # one renewal met the newer version and was refused
        assert len(server.asked("create", "update", "delete")) == writes + 1
        assert running.lines.all("lease lost")


async def test_a_read_only_run_writes_nothing_and_says_what_it_would() -> None:
    """No object, no event, no Lease; a standing count of what would change."""
    options = replace(OPTIONS, read_only=True, leader_elect=None)
    async with (
        serving() as server,
        started(server, options, controller(SECRETS, decide=wanting)) as running,
    ):
        await until(lambda: running.lines.all("read-only: 1 objects would change"))
        told = running.lines.all("read-only: 1 objects would change")[0]
        with pytest.raises(ClusterError) as refused:
            await running.manager.client.create(
                SECRET, {"metadata": {"name": "x", "namespace": NS}}
            )

        assert told["would_change"] == 1
        counted = 'roadstead_read_only_changes{controller="probe"} 1.0'
        assert counted in running.manager.metrics.exposition().decode()
        assert running.lines.all("object would be created")[0]["about"] == f"Secret/{NS}/made"
        assert refused.value.reason == "ReadOnly"
        assert server.asked("create", "update", "patch", "delete") == []
        assert not [seen for seen in server.requests if seen.resource == "leases"]


@pytest.mark.slow
@pytest.mark.parametrize("answer", [broken(), refuse(500), refuse(401), refuse(403)])
async def test_a_cluster_that_is_away_at_the_start_is_waited_for(answer: Any) -> None:
    """What can pass does not end a run; probes say what is missing meanwhile."""
    async with serving() as server:
        server.next("*", *[answer] * 12)
        options = replace(OPTIONS, leader_elect=False)
        async with started(server, options) as running:
            running.manager.feeds.rest = _no_rest
            await server.until(3)
            status, page = await running.page("health", "/readyz")
            await until(lambda: running.idle)

            assert (status, "[-]probe failed: secrets" in page) in {(500, True), (200, False)}
            assert running.lines.all("view lost")


async def _no_rest(_seconds: float, _woken: asyncio.Event) -> None:
    await asyncio.sleep(0)


async def test_an_absent_kind_is_told_and_holds_its_capability_only() -> None:
    """The other one works."""
    missing = replace(controller(MAPS), name="other")
    async with serving() as server:
        server.shelves.pop(("", "v1", "configmaps"))
        async with started(
            server, replace(OPTIONS, leader_elect=False), controller(SECRETS), missing
        ) as running:
            await until(lambda: running.idle and running.lines.all("kind absent"))
            status, page = await running.page("health", "/readyz")
            own, _ = await running.page("health", "/readyz/probe")

            assert running.lines.all("kind absent")[0]["needed_by"] == "other"
            assert (status, own) == (500, 200)
            assert "[-]other failed: maps absent" in page


async def test_a_process_works_without_an_optional_kind_and_says_so() -> None:
    """Ready, with what is missed named; the kind is taken in once it is served."""
    watches = (Watch(SECRETS, owners_key), Watch(RELEASES, owners_key, optional=True))
    async with serving() as server:
        options = replace(OPTIONS, leader_elect=False)
        async with started(server, options, controller(watches=watches)) as running:
            running.manager.feeds.rest = _no_rest
            await until(lambda: running.idle)
            status, page = await running.page("health", "/readyz")
            asked = [seen for seen in server.requests if seen.resource == HELM_RELEASE.plural]
            server.serve(HELM_RELEASE).put(NS, "r")
            await until(lambda: len(running.manager.engine.stores[RELEASES]))
            after = await running.page("health", "/readyz")

            assert status == 200
            assert page == "[+]probe ok, without: releases absent\nreadyz check passed\n"
            assert asked == []
            assert len(running.lines.all("kind absent")) == 1
            assert after == (200, "ok")


async def test_a_part_that_ends_is_our_bug() -> None:
    """The sentence names the part and the place, and nothing it said."""
    async with serving() as server:
        running = Run(server, replace(OPTIONS, leader_elect=False))

        async def ends() -> None:
            raise KeyError(CANARY)

        running.manager.feeds.run = ends  # type: ignore[method-assign]  # a fault is put in its place
        with pytest.raises(BugError) as broke:
            await running.manager.run()

        assert str(broke.value).startswith("the feeds of `run` ended: KeyError at test_manager.py:")
        assert CANARY.encode() not in running.lines.text


async def test_signals_stop_and_report() -> None:
    """SIGUSR1 prints tasks, queues and views; SIGTERM is a stop."""
    async with serving() as server:
        running = Run(server, OPTIONS)
        with running.manager.signals():
            running.task = asyncio.create_task(running.manager.run())
            await until(lambda: running.idle)
            os.kill(os.getpid(), signal.SIGUSR1)
            await until(lambda: running.lines.all("view"))
            os.kill(os.getpid(), signal.SIGTERM)
            code = await running.task

        assert code == 0
        assert {"feed secrets", "lease", "workers"} <= {
            line["task"] for line in running.lines.all("task")
        }


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "%s"}}]
contexts: [{name: here, context: {cluster: c, user: u, namespace: ns}}]
users: [{name: u, user: {token: t}}]
"""


@contextmanager
def known(*controllers: Controller) -> Iterator[pytest.MonkeyPatch]:
    """Have `run` know these controllers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(options_module, "CONTROLLERS", {one.name: one for one in controllers})
        yield patch


class Echo:
    """Pages that name what they are asked for. sources: what they are made of."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Of one process."""
        self.sources = sources

    @classmethod
    def of(cls, sources: Sequence[Source]) -> "Echo":
        """Make them."""
        return cls(sources)

    async def answer(self, path: str, _query: Mapping[str, str]) -> Answer:
        """The path, and whether the process leads."""
        leads = self.sources[0].leads()
        passes = self.sources[0].history.of("probe", KEY)
        return Answer(200, f"{path} {leads} {[one.result for one in passes][:1]}")

    def refusal(self, status: int, words: str, hint: str = "") -> Answer:
        """No."""
        return Answer(status, f"{words} {hint}")


async def test_a_run_serves_its_page_while_it_runs() -> None:
    """On loopback, over what its own loops have done; and no longer than that."""
    async with serving() as server:
        options = replace(OPTIONS, page=":0", leader_elect=False)
        running = Run(server, options, pages=Echo.of)
        running.task = asyncio.create_task(running.manager.run())
        await until(lambda: running.manager.history and running.manager.history.of("probe", KEY))
        found = await running.page("page", "/x")
        health = await running.page("page", "/readyz")
        running.manager.stop()
        assert 0 == await running.task
        with pytest.raises(aiohttp.ClientError):
            await running.page("page", "/x")

    assert found == (200, "/x None ['success']")
    assert health == (200, "ok")


async def test_a_page_that_nobody_makes_is_a_bug() -> None:
    """It is never silently left out."""
    with pytest.raises(BugError, match="page"):
        Run(Faults(), replace(OPTIONS, page=":0"))


async def test_run_reads_a_kubeconfig_and_logs_json(tmp_path: Path) -> None:
    """From flags to exit code, with the lines on the descriptor that was given."""
    file = tmp_path / "config"
    reading, writing = os.pipe()
    async with serving() as server:
        file.write_text(KUBECONFIG % server.url)
        with known(controller(SECRETS)):
            task = asyncio.create_task(
                run(replace(OPTIONS, kubeconfig=str(file), log_descriptor=writing))
            )
            await server.until(1, "watch")
            os.kill(os.getpid(), signal.SIGINT)
            code = await task
    os.close(writing)
    text = os.read(reading, 1 << 16)
    os.close(reading)
    lines = [json.loads(line) for line in text.splitlines()]

    assert code == 0
    assert lines[0]["msg"] == "roadstead starts"
    assert lines[-1]["msg"] == "stopped"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kubeconfig": "/nowhere/config"}, "/nowhere/config"),
        ({"only": ("nothing",)}, "there is no capability `nothing`"),
        ({"page": "0.0.0.0:8082"}, "--page-bind-address"),
        ({"metrics": "8080"}, "--metrics-bind-address"),
        ({"health": "host:port"}, "--health-probe-bind-address"),
    ],
)
async def test_what_cannot_be_meant_is_the_users_to_change(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    """An InputError, which the command turns into exit code 2; nothing stays open."""
    file = tmp_path / "config"
    file.write_text(KUBECONFIG % "http://127.0.0.1:9")
    with known(controller(SECRETS)), open(os.devnull, "wb") as sink:  # noqa: ASYNC230, PTH123 - a descriptor at hand
        options = replace(OPTIONS, kubeconfig=str(file), log_descriptor=sink.fileno())
        with pytest.raises(InputError, match=said):
            await run(replace(options, **change), Echo.of)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"workers": 0}, "--max-concurrent-reconciles"),
        ({"qps": -1.0}, "--kube-api-qps"),
        ({"log_level": "loud"}, "--log-level"),
        ({"log_format": "xml"}, "--log-format"),
        ({"read_only": True, "leader_elect": True}, "--read-only"),
    ],
)
def test_flags_that_contradict_are_refused(flags: dict[str, Any], said: str) -> None:
    """Before anything is opened."""
    with pytest.raises(InputError, match=said):
        RunOptions(**flags)


def test_only_chooses_and_sorts() -> None:
    """Without it everything runs."""
    all_of = {name: replace(controller(), name=name) for name in ("b", "a")}

    assert [one.name for one in chosen(all_of, ())] == ["a", "b"]
    assert [one.name for one in chosen(all_of, ("b", "b"))] == ["b"]


@pytest.mark.parametrize(
    ("wanted", "pod", "read_only", "elects"),
    [
        (None, True, False, True),
        (None, False, False, False),
        (True, False, False, True),
        (False, True, False, False),
        (None, True, True, False),
    ],
)
async def test_a_lease_is_for_a_cluster(
    wanted: bool | None, pod: bool, read_only: bool, elects: bool
) -> None:
    """On in a pod, off elsewhere and in a rehearsal, unless a flag says otherwise."""
    path = ACCOUNT / "token" if pod else Path("/some/token")
    config = Config(server="http://127.0.0.1:9", token=Material("a token", path=path))
    options = replace(OPTIONS, leader_elect=wanted, read_only=read_only)
    lines = Lines()
    made = Manager(
        options,
        (controller(),),
        config,
        log=lines.log,
        clock=LiveClock(),
        dropped=lambda: 0,
    )

    assert (made.lease is not None) is elects


def test_the_live_clock_is_utc_and_steady() -> None:
    """The steady one counts sleep where the machine can."""
    clock = LiveClock()
    asked: list[Callable[[], float]] = [clock.steady, clock.steady]
    first, second = (ask() for ask in asked)

    assert first <= second
    assert str(clock.wall().tzinfo) == "UTC"


async def test_a_stop_cuts_off_what_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease is released all the same: what was cut off writes no more."""
    monkeypatch.setattr(manager_module, "JOIN_SECONDS", 0.0)

    async def hangs(_reader: Reader, _key: Ref) -> Ref:
        await asyncio.Event().wait()
        raise AssertionError

    async with (
        serving() as server,
        started(server, OPTIONS, controller(SECRETS, observe=hangs)) as running,
    ):
        await until(running.manager.engine.desks["probe"].queue.running)
        running.manager.stop()
        assert running.task is not None
        code = await running.task

        assert code == 0
        assert running.lines.all("passes cut off")[0]["count"] == 1
        assert "holderIdentity" not in lease_of(server)


async def test_a_bug_in_a_mapper_is_counted_and_told() -> None:
    """By type and place; the process goes on."""

    def odd(_seen: Object, _cached: Cached) -> tuple[Ref, ...]:
        raise KeyError(CANARY)

    broken_mapper = controller(SECRETS, watches=(Watch(SECRETS, odd),))
    async with (
        serving() as server,
        started(server, replace(OPTIONS, leader_elect=False), broken_mapper) as running,
    ):
        await until(lambda: running.idle)
        told = running.lines.all("bug in a mapper")[0]
        panics = running.manager.metrics.panics.labels("probe")

        assert (told["type"], told["controller"]) == ("KeyError", "probe")
        assert panics._value.get() == 1
        assert CANARY.encode() not in running.lines.text
