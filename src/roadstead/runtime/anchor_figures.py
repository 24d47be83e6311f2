"""The figures of trust anchors, from what the last pass over each release came to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from roadstead.capabilities.anchors import api
from roadstead.decision import Did, Finding
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Desk
from roadstead.engine.passes import Passed
from roadstead.kube.refs import Ref

ANCHORS = "anchors"
_OPS = {Did.CREATED: "create", Did.UPDATED: "update", Did.DELETED: "delete"}


class AnchorFigures(Collector):
    """What is there now.

    An anchor that is held keeps the expiry that it had when it was published last.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        desk: Desk,
        states: Mapping[str, int],
        clock: Clock,
        *,
        dry: bool,
    ) -> None:
        """Know no anchor.

        states: releases by state, as they are at each scrape. dry: no write is carried out.
        """
        self._desk, self._states, self._clock, self._dry = desk, states, clock, dry
        self._expiry: dict[Ref, int] = {}
        self._writes = Counter(
            "roadstead_tenant_ca_writes", "Writes of anchors.", ("op",), registry=registry
        )
        for op in (*_OPS.values(), api.READMIT):
            self._writes.labels(op)
        self._refusals = Counter(
            "roadstead_tenant_ca_refusals",
            "Refusals, counted when they begin.",
            ("reason",),
            registry=registry,
        )
        registry.register(self)

    def passed(self, key: Ref, passed: Passed, begun: Sequence[Finding]) -> None:
        """Take in what a pass came to."""
        for found in begun:
            self._refusals.labels(found.reason).inc()
        for outcome in passed.outcomes:
            if outcome.did in _OPS and not self._dry:
                self._writes.labels(outcome.note or _OPS[outcome.did]).inc()
        if passed.gone or passed.decision.state == api.WITHDRAWN:
            self._expiry.pop(key, None)
        elif (expiry := dict(passed.decision.figures).get(api.EXPIRY)) is not None:
            self._expiry[key] = expiry

    def collect(self) -> Iterator[Metric]:
        """Give the gauges."""
        releases = GaugeMetricFamily(
            "roadstead_tenant_ca_releases", "Releases by state.", labels=("state",)
        )
        for state, count in sorted(self._states.items()):
            releases.add_metric((state,), count)
        held = GaugeMetricFamily(
            "roadstead_tenant_ca_withdrawals_held",
            "Withdrawals the mass withdrawal guard holds, by application kind.",
            labels=("kind",),
        )
        for kind, count in self._desk.withdrawals.held().items():
            held.add_metric((kind,), count)
        expiry = GaugeMetricFamily(
            "roadstead_anchor_expiry_seconds",
            "Seconds until the first of all anchors has no certificate left that is valid.",
        )
        if self._expiry:
            left = min(self._expiry.values()) - self._clock.wall().timestamp()
            expiry.add_metric((), left)
        yield from (releases, held, expiry)

    def describe(self) -> Iterable[Metric]:
        """Have nothing asked at registration."""
        return ()
