"""The figures of admission, and of the refresher. Source: lineage 9 and 10.

No label ever holds the name of an object; kinds that nobody registered us for are one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from roadstead.capabilities.lineage.snapshot import SWEEP
from roadstead.decision import Finding
from roadstead.engine.passes import Passed
from roadstead.engine.review import Answered
from roadstead.kube.refs import Kind, Ref
from roadstead.runtime.owners import RESULTS
from roadstead.wiring import Admission

REFRESHER = "refresher"
OTHER = "other"
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_OPERATIONS = frozenset({"CREATE", "UPDATE"})
RELOADS = ("ok", "refused")


class AdmissionFigures:
    """What was asked, what came of it, and how long it took."""

    def __init__(self, registry: CollectorRegistry, admissions: Iterable[Admission]) -> None:
        """Register every name."""
        self._admissions = tuple(admissions)
        self._kinds = {kind.kind for one in self._admissions for kind in one.reviewed}
        self._requests = Counter(
            "roadstead_lineage_requests",
            "Objects under review and what came of them.",
            ("kind", "operation", "outcome"),
            registry=registry,
        )
        self._verdicts = Counter(
            "roadstead_lineage_verdict",
            "Verdicts on objects of applications.",
            ("kind", "verdict"),
            registry=registry,
        )
        self._seconds = Histogram(
            "roadstead_lineage_duration_seconds",
            "Time from the first byte of a request to its answer.",
            registry=registry,
            buckets=SECONDS,
        )
        self._fetches = Counter(
            "roadstead_lineage_owner_fetch",
            "Owners asked for, and where the answer came from.",
            ("result",),
            registry=registry,
        )
        self._answers = Counter(
            "controller_runtime_webhook_requests",
            "Requests by HTTP status.",
            ("webhook", "code"),
            registry=registry,
        )
        self._latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Length of a request.",
            ("webhook",),
            registry=registry,
        )
        self._reloads = Counter(
            "roadstead_webhook_certificate_reloads",
            "New pairs found in the certificate's folder, and whether they serve.",
            ("result",),
            registry=registry,
        )
        self._expiry = Gauge(
            "roadstead_webhook_certificate_expiry_timestamp_seconds",
            "When the serving certificate expires; 0 while there is none.",
            registry=registry,
        )
        for result in RESULTS:
            self._fetches.labels(result)
        for result in RELOADS:
            self._reloads.labels(result)

    def fetched(self, result: str) -> None:
        """Count one owner that was asked for."""
        self._fetches.labels(result).inc()

    def reloaded(self, why: str) -> None:
        """Count one pair that was found; why: it does not serve, empty when it does."""
        self._reloads.labels("refused" if why else "ok").inc()

    def expires(self, at: Callable[[], datetime | None]) -> None:
        """Show when the serving certificate expires."""

        def seconds() -> float:
            found = at()
            return found.timestamp() if found is not None else 0.0

        self._expiry.set_function(seconds)

    def reviewed(self, kind: Kind | None, operation: str, answered: Answered) -> None:
        """Take in what came of one object. kind: None where it could not be read."""
        name = kind.kind if kind is not None and kind.kind in self._kinds else OTHER
        operation = operation if operation in _OPERATIONS else OTHER
        admitted = answered.admitted
        outcome = admitted.outcome if admitted is not None else "error"
        self._requests.labels(name, operation, outcome).inc()
        if admitted is not None and admitted.verdict:
            self._verdicts.labels(name, admitted.verdict).inc()

    def answered(self, path: str, code: int, seconds: float) -> None:
        """Take in one request. path: where it was asked."""
        self._answers.labels(path, str(code)).inc()
        self._latency.labels(path).observe(seconds)
        self._seconds.observe(seconds)


class RefresherFigures(Collector):
    """What the last round over all visible Secrets has found."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register every name."""
        self._unowned = 0
        registry.register(self)

    def passed(self, key: Ref, passed: Passed, _begun: Sequence[Finding]) -> None:
        """Take in one round; one that could not read leaves the figure as it was."""
        if key == SWEEP and passed.error is None:
            self._unowned = dict(passed.decision.figures).get("unowned", 0)

    def collect(self) -> Iterator[Metric]:
        """Give the gauge."""
        yield GaugeMetricFamily(
            "roadstead_lineage_unowned_visible_secrets",
            "Secrets that tenants see though no application owns them.",
            value=self._unowned,
        )

    def describe(self) -> Iterable[Metric]:
        """Have nothing asked at registration."""
        return ()
