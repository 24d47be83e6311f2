"""The namespace of a service. Source: contract 3.2; R-DNS-01, R-GITOPS-02, R-STATE-01."""

from collections.abc import Iterator

from roadstead.capabilities.services.render import part, roles
from roadstead.capabilities.services.render.part import Rendered, rendered
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import NAMESPACE

_LEVEL = "pod-security.kubernetes.io"


def namespace(seen: Snapshot) -> Iterator[Rendered]:
    """The trust zone; guarded against pruning where its deletion would lose data."""
    service, platform = seen.service, seen.platform
    security, label = platform.pod_security, platform.gateway.namespace_label
    labels = {
        f"{_LEVEL}/audit": security.audit,
        f"{_LEVEL}/enforce": service.pod_security or security.enforce,
        f"{_LEVEL}/warn": security.warn,
        f"{platform.label_prefix}/exposure": service.exposure,
    }
    if service.ingress_routes:
        labels[label.key] = label.value
    durable = service.durable
    yield rendered(
        seen,
        NAMESPACE,
        service.name,
        file=part.NAMESPACE_FILE,
        field="name",
        role=roles.NAMESPACE,
        rest={},
        labels=labels,
        annotations={part.PRUNE: part.DISABLED} if durable else None,
        more=("R-STATE-01",) if durable else (),
    )
