"""Rules between services: names, hosts, dependencies, direct clients. Source: contract 4.1, 4.2."""

from collections.abc import Iterator, Mapping

from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.neighbours import Neighbours
from roadstead.capabilities.services.api.parts import TCP, Dependency
from roadstead.capabilities.services.decide.saying import meant, said
from roadstead.capabilities.services.snapshot import Snapshot

_TAKEN = frozenset({"auth", "direct", "gateway"})


def kind_and_source_agree(seen: Snapshot) -> Iterator[Finding]:
    """I-1: a container has an image and a vm a template, and nothing else."""
    service = seen.service
    wanted, other = ("vmTemplate", "image") if service.is_vm else ("image", "vmTemplate")
    stated = service.origin.value["source"]
    if wanted in stated and other not in stated:
        return
    path = ("source", other) if other in stated else ("source",)
    message = f"kind {service.kind} needs source.{wanted} and must not set source.{other}"
    yield said(seen, "I-1", path, message)


def name_is_defined_once(seen: Snapshot) -> Iterator[Finding]:
    """P-CAT-01, on every definition but the first of its name."""
    service = seen.service
    first = seen.catalog.first_of_name(service.name)
    if first is not None and first is not service:
        here, there = service.origin.place("name"), first.origin.place("name")
        message = f"{service.name} is defined twice, at {there} and at {here}"
        yield said(seen, "P-CAT-01", ("name",), message)


def name_is_not_reserved(seen: Snapshot) -> Iterator[Finding]:
    """P-CAT-02."""
    name = seen.service.name
    if seen.platform.reserved(name):
        why = "the platform file names a namespace so"
        if name == "default" or name.startswith("kube-"):
            why = "it belongs to Kubernetes"
        yield said(seen, "P-CAT-02", ("name",), f"{name} is reserved: {why}")


def hosts_are_declared_once(seen: Snapshot) -> Iterator[Finding]:
    """P-CAT-03, on every route but the first of its host."""
    for route in seen.service.ingress_routes:
        service, first = seen.catalog.first_of_host(route.host)
        if (service, first.index) != (seen.service, route.index):
            there = service.origin.place("ingressRoutes", first.index, "host")
            message = f"host {route.host} is declared by {service.name} at {there} already"
            yield said(seen, "P-CAT-03", ("ingressRoutes", route.index, "host"), message)


def file_is_named_after_the_service(seen: Snapshot) -> Iterator[Finding]:
    """P-CAT-05, of files with one definition."""
    service = seen.service
    file = service.origin.file.rpartition("/")[2]
    stem = file.rpartition(".")[0] or file
    if service.origin.single and not file.startswith("<") and stem != service.name:
        message = f"the file is named {stem}, the service {service.name}"
        yield said(seen, "P-CAT-05", ("name",), message)


def dependencies_exist(seen: Snapshot) -> Iterator[Finding]:
    """P-DEP-01 and P-DEP-02."""
    service, catalog, platform = seen.service, seen.catalog, seen.platform
    for one in service.dependencies:
        path = ("dependencies", one.index, "to")
        if one.to == service.name:
            yield said(seen, "P-DEP-02", path, f"{service.name} depends on itself")
        elif not catalog.knows(one.to) and one.to not in platform.platform_services:
            near = catalog.nearest_target(one.to)
            message = f"{one.to} is neither a catalog service nor a platform service"
            yield said(seen, "P-DEP-01", path, message, hint=meant(near))


def dependencies_end(seen: Snapshot) -> Iterator[Finding]:
    """P-DEP-03: no circle; told once for each, at the first edge of its smallest service."""
    name = seen.service.name
    if seen.catalog.get(name) is not seen.service:
        return
    group = seen.catalog.cycle_of(name)
    if group:
        circle = _circle(seen.catalog, name, frozenset(group))
        edge = next(one for one in seen.service.dependencies if one.to == circle[1])
        message = f"dependency cycle: {' -> '.join(circle)}"
        yield said(seen, "P-DEP-03", ("dependencies", edge.index, "to"), message)


def _circle(catalog: Neighbours, start: str, group: frozenset[str]) -> tuple[str, ...]:
    """The shortest way from a service back to itself within its group."""
    came: dict[str, str] = {}
    reached = [start]
    while start not in came:
        following = []
        for name in reached:
            for to in catalog.needs(name):
                if to in group and to not in came and to != name:
                    came[to] = name
                    following.append(to)
        reached = following
    way = [start]
    while len(way) == 1 or way[-1] != start:
        way.append(came[way[-1]])
    return tuple(reversed(way))


def dependencies_are_served(seen: Snapshot) -> Iterator[Finding]:
    """P-DEP-04 and P-DEP-05: the callee, or the platform, lists the port."""
    for one in seen.service.dependencies:
        path = ("dependencies", one.index, "port")
        asked = f"{one.port}/{one.protocol}"
        closed = _closed_ports(seen.catalog, one)
        if closed is not None and (one.port, one.protocol) not in closed:
            message = f"{one.to} does not serve {asked}"
            yield said(seen, "P-DEP-04", path, message, hint=_listed(closed))
        outside = seen.platform.platform_services.get(one.to)
        if outside is None or seen.catalog.knows(one.to):
            continue
        listed = {(port.port, port.protocol) for port in outside.ports}
        if (one.port, one.protocol) not in listed:
            message = f"platform service {one.to} does not list {asked}"
            yield said(seen, "P-DEP-05", path, message, hint=_listed(dict.fromkeys(listed)))


def _closed_ports(catalog: Neighbours, edge: Dependency) -> Mapping[tuple[int, str], None] | None:
    """What a callee lets others depend on; None where it lists nothing. Source: contract 3.6."""
    callee = catalog.get(edge.to)
    if callee is None or not callee.ports:
        return None
    found = [(port.port, port.protocol) for port in callee.ports]
    found += [(route.port, TCP) for route in callee.ingress_routes]
    found += [(client.port, client.protocol) for client in callee.in_cluster_clients]
    return dict.fromkeys(found)


def _listed(ports: Mapping[tuple[int, str], None]) -> str:
    if not ports:
        return ""
    return "it serves " + ", ".join(f"{port}/{protocol}" for port, protocol in sorted(ports))


def ports_are_named_apart(seen: Snapshot) -> Iterator[Finding]:
    """S-09 of `ports[].name`: a Service has no two ports of one name, given or made."""
    service = seen.service
    if seen.catalog.get(service.name) is not service:
        return
    first: dict[str, str] = {}
    named = {(one.port, one.protocol): one for one in service.ports if one.name}
    for port in seen.catalog.served(service.name):
        asked = f"{port.port}/{port.protocol}"
        known = first.setdefault(port.entry, asked)
        if known == asked or not named:
            continue
        stated = named.get((port.port, port.protocol)) or next(iter(named.values()))
        message = f"ports {known} and {asked} are both named {port.entry}"
        path = ("ports", stated.index, "name")
        yield said(seen, "S-09", path, message, hint="give one of them another name")


def clients_are_told_apart(seen: Snapshot) -> Iterator[Finding]:
    """P-ICC-01 and P-ICC-02: each has a policy name of its own."""
    first: dict[str, int] = {}
    for one in sorted(seen.service.in_cluster_clients, key=lambda client: client.index):
        stated = seen.service.stated("inClusterClients")
        at = seen.service.origin.value["inClusterClients"][one.index] if stated else {}
        path = ("inClusterClients", one.index, "name" if "name" in at else "namespace")
        if one.name in _TAKEN:
            message = f"`{one.name}` is the name of a policy the renderer makes itself"
            hint = "set `name` to another word"
            yield said(seen, "P-ICC-02", path, message, hint=hint)
        known = first.setdefault(one.name, one.index)
        if known != one.index:
            policy = f"{seen.service.name}-allow-{one.name}-ingress"
            message = f"two entries would render policy {policy}"
            yield said(seen, "P-ICC-01", path, message, hint="set `name` on one of them")


def clients_are_platform_controllers(seen: Snapshot) -> Iterator[Finding]:
    """P-ICC-03 and P-ICC-04: no catalog service, and a namespace the platform lists."""
    listed = seen.platform.network.client_namespaces
    for one in seen.service.in_cluster_clients:
        path = ("inClusterClients", one.index, "namespace")
        if seen.catalog.knows(one.namespace):
            message = f"namespace {one.namespace} is a catalog service"
            hint = f"declare the edge under `dependencies` of {one.namespace}"
            yield said(seen, "P-ICC-03", path, message, hint=hint)
        if one.namespace not in listed:
            message = (
                f"namespace {one.namespace} is not among the platform's"
                f" `network.clientNamespaces` ({', '.join(listed)})"
            )
            yield said(seen, "P-ICC-04", path, message)
