"""The figures of tenant gateways, from what the last pass over each came to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from roadstead.capabilities.gateways.api import RECONCILED, VERDICTS
from roadstead.decision import Finding
from roadstead.engine.passes import Passed
from roadstead.kube.refs import Ref

GATEWAYS = "gateways"
_LISTENERS = "listeners"


@dataclass(frozen=True, slots=True)
class _Last:
    """What the last judged pass said of one TenantGateway. claims: hostnames by verdict."""

    ready: bool
    listeners: int
    claims: tuple[tuple[str, int], ...]


class GatewayFigures(Collector):
    """What is there now.

    A pass that could not read anything leaves the figures of its gateway as they were.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Know no gateway."""
        self._last: dict[Ref, _Last] = {}
        registry.register(self)

    def passed(self, key: Ref, passed: Passed, _begun: Sequence[Finding]) -> None:
        """Take in what a pass came to."""
        decision = passed.decision
        if passed.error is not None:
            return
        if passed.gone or decision.status is None:
            self._last.pop(key, None)
            return
        claims = tuple(one for one in decision.figures if one[0] != _LISTENERS)
        listeners = dict(decision.figures).get(_LISTENERS, 0)
        self._last[key] = _Last(decision.state == RECONCILED, listeners, claims)

    def collect(self) -> Iterator[Metric]:
        """Give the gauges."""
        listeners = GaugeMetricFamily(
            "roadstead_listener_budget",
            "Listeners that a Gateway has or needs, of 64.",
            labels=("namespace", "gateway"),
        )
        for key, one in sorted(self._last.items()):
            listeners.add_metric((key.namespace, key.name), one.listeners)
        claims = GaugeMetricFamily(
            "roadstead_hostname_claims",
            "Hostnames that routes claim, by what is said of them; mode http01 alone.",
            labels=("verdict",),
        )
        counted = Counter(dict.fromkeys(VERDICTS, 0))
        for one in self._last.values():
            counted.update(dict(one.claims))
        for verdict, count in sorted(counted.items()):
            claims.add_metric((verdict,), count)
        yield from (listeners, claims, self._ready())

    def _ready(self) -> Metric:
        ready = GaugeMetricFamily(
            "roadstead_tenantgateway_ready",
            "TenantGateways by the status of their condition Ready.",
            labels=("namespace", "status"),
        )
        counted = Counter((key.namespace, one.ready) for key, one in self._last.items())
        for namespace in sorted({space for space, _ in counted}):
            for state in (False, True):
                ready.add_metric((namespace, str(state)), counted[namespace, state])
        return ready

    def describe(self) -> Iterable[Metric]:
        """Have nothing asked at registration."""
        return ()
