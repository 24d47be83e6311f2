"""What stands behind a route or an attachment: a Service and its pods, as facts.

Nothing here is a verdict: whether a Service is there and how many of its pods are ready is what
views say, and unknown where they cannot be read.
"""

from collections.abc import Iterator

from roadstead.capabilities.attachments.snapshot import SERVICES, SLICES, pods_of
from roadstead.capabilities.gateways.snapshot.views import SERVICES as NAMES
from roadstead.capabilities.gateways.snapshot.views import backends
from roadstead.decision import Reader
from roadstead.errors import ClusterError, Unread
from roadstead.explain.graph.model import NO_SERVICE, NOT_READY, SERVICE, Spot
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE as SERVICE_KIND
from roadstead.kube.refs import Ref

Behind = tuple[Spot | None, Spot | None, tuple[tuple[int, str], ...]]
"""Service, pods, and where the way between them is broken."""


class Backends:
    """The Services and pods of one drawing. Cost: an index look-up each."""

    def __init__(self, reader: Reader) -> None:
        """Read through this."""
        self._reader = reader

    def of_route(self, route: Object) -> Iterator[tuple[Behind, str]]:
        """Everything that a route forwards to, with the break before it; empty for none."""
        for group, kind, place, name in dict.fromkeys(backends(route)):
            if group or kind != SERVICE_KIND.kind:
                key = f"backend:{group}/{kind}/{place}/{name}"
                yield (Spot("service", key, f"{kind} {name}", place), None, ()), ""
                continue
            ref = SERVICE_KIND.ref(place, name)
            there = self._is_there(ref)
            behind = self.of_service(ref) if there is not False else (_box(ref, ""), None, ())
            yield behind, NO_SERVICE if there is False else ""

    def of_service(self, ref: Ref, ports: str = "") -> Behind:
        """A Service and its pods. ports: shown beside its name."""
        service, pods = _box(ref, ports), self._pods(ref)
        if pods is None:
            return service, Spot("pods", f"pods:{ref.key}", "pods unknown", unread=True), ()
        ready, total = pods
        box = Spot("pods", f"pods:{ref.key}", f"{ready}/{total} pods")
        return service, box, () if ready else ((SERVICE, NOT_READY),)

    def _is_there(self, ref: Ref) -> bool | None:
        for view in (NAMES, SERVICES):
            try:
                return self._reader.get(view, ref.namespace, ref.name) is not None
            except ClusterError:
                continue
        return None

    def _pods(self, ref: Ref) -> tuple[int, int] | None:
        """How many are ready, and how many there are; None where nothing is known of pods.

        Every Service with a selector has a slice, an empty one too, as soon as Kubernetes looks
        after it: where there is none, nobody has counted.
        """
        try:
            slices = self._reader.list(SLICES, "service", ref.key)
        except Unread:
            return None
        if not slices:
            return None
        ready, all_of_them = pods_of(slices, ready=True), pods_of(slices)
        return len(ready & all_of_them), len(all_of_them)


def _box(ref: Ref, ports: str) -> Spot:
    text = f"Service {ref.name} {ports}".rstrip()
    return Spot("service", f"service:{ref.key} {ports}".rstrip(), text, ref.namespace, ref)
