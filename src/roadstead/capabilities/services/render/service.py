"""Services: the ports others may use. Source: contract 3.6; R-PLAT-02."""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import SERVICE
from roadstead.capabilities.services.api.parts import STATEFUL_SET
from roadstead.capabilities.services.api.platform import ServedPort
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import (
    MAIN,
    SERVICE_FILE,
    Rendered,
    in_order,
    rendered,
    selector,
)
from roadstead.capabilities.services.snapshot import Snapshot


def services(seen: Snapshot) -> Iterator[Rendered]:
    """The Service, the headless one of a StatefulSet, and the one of ports past the Gateway.

    Every port is the container's own: policies name the pod's port, and one number everywhere is
    right on both sides.
    """
    service, served = seen.service, seen.catalog.served(seen.service.name)
    if served:
        rest = {"type": "ClusterIP", "selector": selector(seen), "ports": _entries(served)}
        cause, field = _cause(seen)
        yield rendered(
            seen,
            SERVICE,
            service.name,
            file=SERVICE_FILE,
            field=field,
            role=roles.SERVICE,
            rest={"spec": rest},
            component=MAIN,
            cause=cause,
        )
    if service.workload == STATEFUL_SET and not service.is_vm:
        rest = {"type": "ClusterIP", "clusterIP": "None", "selector": selector(seen)}
        yield rendered(
            seen,
            SERVICE,
            f"{service.name}-headless",
            file=SERVICE_FILE,
            field="workload",
            role=roles.SERVICE,
            rest={"spec": {**rest, **({"ports": _entries(served)} if served else {})}},
            component=MAIN,
        )
    if service.direct_ports:
        yield _direct(seen)


def _direct(seen: Snapshot) -> Rendered:
    spec = {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "allocateLoadBalancerNodePorts": False,
        "selector": selector(seen),
        "ports": _entries(
            tuple(
                ServedPort(one.port, one.protocol)
                for one in sorted(
                    seen.service.direct_ports, key=lambda one: (one.port, one.protocol)
                )
            )
        ),
    }
    return rendered(
        seen,
        SERVICE,
        f"{seen.service.name}-direct",
        file=SERVICE_FILE,
        field="directPorts",
        role=roles.DIRECT_SERVICE,
        rest={"spec": spec},
        component=MAIN,
        annotations=in_order(seen.platform.gateway.direct_annotations),
    )


def _entries(served: tuple[ServedPort, ...]) -> list[dict[str, Any]]:
    return [
        {"name": one.entry, "port": one.port, "protocol": one.protocol, "targetPort": one.port}
        for one in served
    ]


def _cause(seen: Snapshot) -> tuple[Any, str]:
    """The first field that asks for a Service, in the contract's order, and whose it is."""
    service = seen.service
    for field, entries in (
        ("ports", service.ports),
        ("ingressRoutes", service.ingress_routes),
        ("inClusterClients", service.in_cluster_clients),
    ):
        if entries:
            return service, field
    for caller, one in seen.catalog.callers_of(service.name):
        return caller, f"dependencies[{one.key}]"
    return service, "observability.port"
