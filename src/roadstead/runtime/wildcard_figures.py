"""The figures of the wildcard replicas, from what each pass over their one key came to."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from roadstead.decision import Did, Finding
from roadstead.engine.passes import Passed
from roadstead.kube.refs import Ref
from roadstead.runtime.own_figures import RESULTS, result_of

WILDCARDS = "wildcards"
_STATES = ("kept", "skipped")


class WildcardFigures(Collector):
    """What is there now, and what the passes ended in.

    A pass that could not read anything leaves the figures as they were.
    """

    def __init__(self, registry: CollectorRegistry, *, dry: bool) -> None:
        """Register every name. dry: no write is carried out."""
        self._dry = dry
        self._figures: dict[str, int] = {}
        self._pruned = 0
        self._passes = Counter(
            "roadstead_wildcard_passes",
            "Passes over all replicas.",
            ("result",),
            registry=registry,
        )
        for result in RESULTS:
            self._passes.labels(result)
        registry.register(self)

    def passed(self, _key: Ref, passed: Passed, _begun: Sequence[Finding]) -> None:
        """Take in what a pass came to."""
        self._passes.labels(result_of(passed)).inc()
        if passed.error is None:
            self._figures = dict(passed.decision.figures)
        if not self._dry:
            self._pruned += sum(
                one.did is Did.DELETED and one.how is None for one in passed.outcomes
            )

    def collect(self) -> Iterator[Metric]:
        """Give the gauges."""
        replicas = GaugeMetricFamily(
            "roadstead_wildcard_replicas",
            "Replicas that stand, names somebody else has, and replicas taken away so far.",
            labels=("state",),
        )
        for state in _STATES:
            replicas.add_metric((state,), self._figures.get(state, 0))
        replicas.add_metric(("pruned",), self._pruned)
        yield replicas
        yield GaugeMetricFamily(
            "roadstead_wildcard_source_usable",
            "1 while the wildcard certificate can be copied.",
            value=self._figures.get("usable", 0),
        )

    def describe(self) -> Iterable[Metric]:
        """Have nothing asked at registration."""
        return ()
