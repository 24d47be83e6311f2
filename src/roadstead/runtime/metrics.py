"""Figures under controller-runtime's names and our own.

No label ever holds the name of an object, but for one of tenant gateways.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import prometheus_client
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from roadstead.decision import Decision, Did, How, Outcome, Verdict
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.engine.passes import Passed
from roadstead.kube.conditions import FALSE, TRUE
from roadstead.kube.refs import Ref
from roadstead.runtime.anchor_figures import ANCHORS, AnchorFigures
from roadstead.runtime.gateway_figures import GATEWAYS, GatewayFigures
from roadstead.runtime.lineage_figures import REFRESHER, AdmissionFigures, RefresherFigures
from roadstead.runtime.own_figures import RESULTS, OwnFigures
from roadstead.runtime.tally import Tally
from roadstead.runtime.wildcard_figures import WILDCARDS, WildcardFigures

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # its package has no types

RECONCILE_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50,
    60,
)  # fmt: skip
QUEUE_BUCKETS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000)
_OPS = {Did.CREATED: "create", Did.UPDATED: "update", Did.DELETED: "delete"}
_WAYS = {How.APPLY: "apply", How.MINT: "mint", How.STATUS: "status"}
"""The ways to write that are counted as such, whatever came of them."""
_NOTHING_SENT = frozenset({Did.UNCHANGED, Did.HELD, Did.SKIPPED})
_METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "update-status": "PUT",
    "patch": "PATCH",
    "apply": "PATCH",
    "delete": "DELETE",
}
_NAMED = ("name", "controller")


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is read at each scrape.

    ages: of the watches, by name. lag: the longest the loop stood still within a minute.
    leader: the lease's name and whether it is ours; None without election.
    dropped: log lines lost.
    """

    ages: Callable[[], Mapping[str, float]]
    lag: Callable[[], float]
    leader: Callable[[], tuple[str, bool] | None]
    dropped: Callable[[], int]


class Metrics:
    """Everything `/metrics` shows of one process."""

    def __init__(
        self, engine: Engine, clock: Clock, limits: Mapping[str, int], *, dry: bool = False
    ) -> None:
        """Register every name.

        limits: the most passes at once, by controller. dry: no write is carried out.
        """
        self._dry = dry
        self.registry = CollectorRegistry()
        self.tallies = {name: Tally() for name in engine.desks}
        self._reconciles()
        self._queues()
        self._ours()
        self._own = dict(self._owned(engine, clock))
        admissions = engine.admissions.values()
        self.admission = AdmissionFigures(self.registry, admissions) if admissions else None
        for name, limit in limits.items():
            self.maximum.labels(name).set(limit)
            self.active.labels(name).set(0)
            for result in RESULTS:
                self.total.labels(name, result)
            for counter in (self.errors, self.terminal, self.panics, self.timeouts):
                counter.labels(name)
        self.registry.register(_AtScrape(engine, clock, self.tallies, dry=dry))
        prometheus_client.ProcessCollector(registry=self.registry)
        prometheus_client.PlatformCollector(registry=self.registry)

    def _owned(self, engine: Engine, clock: Clock) -> Iterator[tuple[str, OwnFigures]]:
        """What the capabilities count of their own, by the controller that it is about."""
        if (desk := engine.desks.get(ANCHORS)) is not None:
            states = self.tallies[ANCHORS].states
            yield ANCHORS, AnchorFigures(self.registry, desk, states, clock, dry=self._dry)
        if GATEWAYS in engine.desks:
            yield GATEWAYS, GatewayFigures(self.registry)
        if REFRESHER in engine.desks:
            yield REFRESHER, RefresherFigures(self.registry)
        if WILDCARDS in engine.desks:
            yield WILDCARDS, WildcardFigures(self.registry, dry=self._dry)

    def _reconciles(self) -> None:
        prefix, by = "controller_runtime_", ("controller",)
        self.total = self._counter(f"{prefix}reconcile", "Passes.", ("controller", "result"))
        self.errors = self._counter(f"{prefix}reconcile_errors", "Failed passes.", by)
        self.terminal = self._counter(
            f"{prefix}terminal_reconcile_errors", "Failed passes that are not repeated: none.", by
        )
        self.panics = self._counter(f"{prefix}reconcile_panics", "Passes that met a bug.", by)
        self.timeouts = self._counter(f"{prefix}reconcile_timeouts", "Passes cut off.", by)
        self.seconds = prometheus_client.Histogram(
            f"{prefix}reconcile_time_seconds",
            "Length of a pass.",
            by,
            registry=self.registry,
            buckets=RECONCILE_BUCKETS,
        )
        self.active = self._gauge(f"{prefix}active_workers", "Passes running.", by)
        self.maximum = self._gauge(
            f"{prefix}max_concurrent_reconciles", "Passes that may run at once.", by
        )

    def _queues(self) -> None:
        self.waited, self.worked = (
            prometheus_client.Histogram(
                f"workqueue_{what}_duration_seconds",
                said,
                _NAMED,
                registry=self.registry,
                buckets=QUEUE_BUCKETS,
            )
            for what, said in (("queue", "How long keys waited."), ("work", "Length of a pass."))
        )

    def _ours(self) -> None:
        self.requests = self._counter(
            "rest_client_requests", "Requests by status and method.", ("code", "method")
        )
        self.applied = self._counter(
            "roadstead_apply", "Writes and what came of them.", ("kind", "op", "result")
        )

    def _counter(self, name: str, said: str, by: tuple[str, ...]) -> prometheus_client.Counter:
        return prometheus_client.Counter(name, said, by, registry=self.registry)

    def _gauge(self, name: str, said: str, by: tuple[str, ...]) -> prometheus_client.Gauge:
        return prometheus_client.Gauge(name, said, by, registry=self.registry)

    def attach(self, gauges: Gauges) -> None:
        """Show what the rest of the process knows, too."""
        self.registry.register(_Outside(gauges))

    def observe(self, verb: str, status: int, _seconds: float) -> None:
        """Count one request. status: 0 when no answer came."""
        method = _METHODS.get(verb, verb.upper())
        self.requests.labels(str(status) if status else "<error>", method).inc()

    def of(self, name: str) -> "Figures":
        """The figures of one controller's passes."""
        return Figures(self, name)

    def passed(self, name: str, key: Ref, passed: Passed) -> None:
        """Take in what a pass came to."""
        begun = self.tallies[name].note(key, passed)
        if (own := self._own.get(name)) is not None:
            own.passed(key, passed, begun)
        for outcome in passed.outcomes:
            done = "dry" if self._dry else "ok"
            result = done if outcome.did is not Did.FAILED else outcome.reason or "failed"
            op = _op(passed.decision, outcome)
            if outcome.did in _NOTHING_SENT:
                result = outcome.did.value
            self.applied.labels(outcome.ref.kind.kind, op, result).inc()

    def exposition(self) -> bytes:
        """Give the page in Prometheus' text form."""
        return prometheus_client.generate_latest(self.registry)


class Figures:
    """One controller's figures, looked up once instead of for every pass."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        """Look them up."""
        self.panics = metrics.panics.labels(name)
        self.timeouts = metrics.timeouts.labels(name)
        self._errors = metrics.errors.labels(name)
        self._active = metrics.active.labels(name)
        self._totals = {result: metrics.total.labels(name, result) for result in RESULTS}
        self._seconds = metrics.seconds.labels(name)
        self._waited = metrics.waited.labels(name, name)
        self._worked = metrics.worked.labels(name, name)

    def began(self, waited: float) -> None:
        """A key was taken, after so many seconds."""
        self._waited.observe(waited)
        self._active.inc()

    def ended(self, seconds: float, result: str) -> None:
        """A pass is over. result: one of RESULTS."""
        self._active.dec()
        self._totals[result].inc()
        self._seconds.observe(seconds)
        self._worked.observe(seconds)
        if result == "error":
            self._errors.inc()


def _op(decision: Decision, outcome: Outcome) -> str:
    """Say what was done, or what was tried where nothing came of it."""
    if outcome.how in _WAYS:
        return _WAYS[outcome.how]
    if outcome.did in _OPS:
        return _OPS[outcome.did]
    ref = outcome.ref
    if any(drop.ref == ref for drop in decision.drop):
        return "delete"
    return "update" if any(want.ref == ref and want.live for want in decision.want) else "create"


class _AtScrape(Collector):
    """Reads queues, views and tallies when they are asked for."""

    def __init__(
        self, engine: Engine, clock: Clock, tallies: Mapping[str, Tally], *, dry: bool
    ) -> None:
        self._dry = dry
        self._engine = engine
        self._clock = clock
        self._tallies = tallies

    def collect(self) -> Iterator[Metric]:
        yield from self._of_queues()
        yield from self._of_findings()
        yield self._of_objects()
        yield self._of_changes()

    def _of_queues(self) -> Iterator[Metric]:
        now = self._clock.steady()
        adds, retries = (
            CounterMetricFamily(f"workqueue_{what}", said, labels=_NAMED)
            for what, said in (("adds", "Keys added."), ("retries", "Keys put back to retry."))
        )
        depth, unfinished, longest = (
            GaugeMetricFamily(f"workqueue_{what}", said, labels=_NAMED)
            for what, said in (
                ("depth", "Keys that wait for a worker."),
                ("unfinished_work_seconds", "Seconds of work in progress, summed up."),
                ("longest_running_processor_seconds", "Age of the oldest pass that runs."),
            )
        )
        for name, desk in self._engine.desks.items():
            by, spans = (name, name), [now - since for since in desk.queue.running().values()]
            adds.add_metric(by, desk.queue.adds)
            retries.add_metric(by, desk.queue.retries)
            depth.add_metric(by, len(desk.queue))
            unfinished.add_metric(by, sum(spans))
            longest.add_metric(by, max(spans, default=0.0))
        yield from (adds, retries, depth, unfinished, longest)

    def _of_findings(self) -> Iterator[Metric]:
        sums: Counter[tuple[str, Verdict]] = Counter()
        for tally in self._tallies.values():
            sums.update(tally.findings)
        family = GaugeMetricFamily(
            "roadstead_findings", "Keys by the verdict of each rule.", labels=("rule", "verdict")
        )
        for (rule, verdict), count in sorted(sums.items()):
            family.add_metric((rule, verdict.value), count)
        yield family
        objects = GaugeMetricFamily("roadstead_view_objects", "Stored objects.", labels=("watch",))
        states = GaugeMetricFamily(
            "roadstead_view_state", "1 for the state a view is in.", labels=("watch", "state")
        )
        for view, store in self._engine.stores.items():
            objects.add_metric((view.name,), len(store))
            states.add_metric((view.name, store.state.value), 1)
        yield from (objects, states)

    def _of_objects(self) -> Metric:
        """Objects by their condition Ready, as the last pass over each found that it should be."""
        sums: Counter[tuple[str, str, str]] = Counter()
        for tally in self._tallies.values():
            sums.update(tally.ready)
        family = GaugeMetricFamily(
            "roadstead_object_ready",
            "Objects by the status of their condition Ready.",
            labels=("kind", "namespace", "status"),
        )
        for kind, namespace in sorted({(kind, namespace) for kind, namespace, _ in sums}):
            for status in (FALSE, TRUE):
                family.add_metric((kind, namespace, status), sums[kind, namespace, status])
        return family

    def _of_changes(self) -> Metric:
        """What a rehearsal would do; where writes are carried out there is nothing to count."""
        family = GaugeMetricFamily(
            "roadstead_read_only_changes",
            "Objects that would change but for --read-only.",
            labels=("controller",),
        )
        for name, tally in self._tallies.items() if self._dry else ():
            family.add_metric((name,), len(tally.would_change()))
        return family

    def describe(self) -> Iterable[Metric]:
        return ()


class _Outside(Collector):
    """Reads what feeds, lease, loop and log know."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        ages = self._gauges.ages()
        for name in ("roadstead_watch_age_seconds", "roadstead_tenant_ca_watch_age_seconds"):
            family = GaugeMetricFamily(
                name,
                "Seconds since a watch last delivered or was re-established.",
                labels=["watch"],
            )
            for watch, age in sorted(ages.items()):
                family.add_metric((watch,), age)
            yield family
        yield GaugeMetricFamily(
            "roadstead_loop_lag_seconds",
            "The longest the event loop stood still within the last minute.",
            value=self._gauges.lag(),
        )
        yield CounterMetricFamily(
            "roadstead_log_lines_dropped",
            "Log lines lost because nobody read them.",
            value=self._gauges.dropped(),
        )
        if (leader := self._gauges.leader()) is not None:
            status = GaugeMetricFamily(
                "leader_election_master_status", "1 while this process leads.", labels=("name",)
            )
            status.add_metric((leader[0],), float(leader[1]))
            yield status

    def describe(self) -> Iterable[Metric]:
        return ()
