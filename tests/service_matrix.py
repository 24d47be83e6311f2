"""Which connections a catalog allows, read off its definitions alone.

The definitions and the platform file are read with PyYAML and understood here a second time, from
the contract's words; nothing of the renderer is imported. `reach` then judges the rendered
policies, and both must say the same of every pair. Source: contract 1.4, 3.3, 3.4, 3.5, 3.9.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from ipaddress import ip_address, ip_network
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from reach import End, Flow

Body = Mapping[str, Any]
PROXY_PORT = 4180
UNUSED_PORT = 9
INTERNET, INTERNET6 = "203.0.113.7", "2001:db8::7"
LAN, SHARED, LINK = "192.168.1.10", "100.64.0.9", "169.254.169.254"
_PRIVATE = ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")
_PRIVATE6 = ("fc00::/7", "fe80::/10")


def at(body: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path, where there is one."""
    for key in path.split("."):
        if not isinstance(body, Mapping) or key not in body:
            return default
        body = body[key]
    return body


@dataclass(frozen=True)
class Definition:
    """One definition as its file states it, and what is meant where it says nothing."""

    body: Body
    platform: Body

    @property
    def name(self) -> str:
        """Its name, which is its namespace."""
        return str(self.body["name"])

    @property
    def routes(self) -> frozenset[int]:
        """Ports of its routes."""
        return frozenset(one["port"] for one in self.body.get("ingressRoutes") or ())

    @property
    def login(self) -> str:
        """The mode of sign-on."""
        return str(at(self.body, "auth.mode", "forward-auth" if self.routes else "none"))

    @property
    def proxied(self) -> bool:
        """Whether oauth2-proxy stands in the way of what comes through the Gateway."""
        mode = at(self.platform, "identity.forwardAuth.mode", "proxy")
        return self.login == "forward-auth" and mode == "proxy"

    @property
    def egress(self) -> str:
        """The north-south class."""
        return str(self.body.get("egress", "internet"))

    @property
    def scraped(self) -> int | None:
        """The metrics port."""
        seen = self.body.get("observability") or {}
        if not seen.get("metrics", True):
            return None
        if port := seen.get("port"):
            return int(port)
        routes = self.body.get("ingressRoutes") or ()
        if routes:
            own = [one for one in routes if one["host"].split(".")[0] == self.name]
            return int(min(own or routes, key=lambda one: one["host"])["port"])
        tcp = [one["port"] for one in self.body.get("ports") or () if _protocol(one) == "TCP"]
        return min(tcp, default=None)

    @property
    def calls(self) -> frozenset[tuple[str, int, str]]:
        """Whom it may call: service, port, protocol."""
        stated = self.body.get("dependencies") or ()
        return frozenset((one["to"], one["port"], _protocol(one)) for one in stated)

    @property
    def clients(self) -> frozenset[tuple[str, int, str]]:
        """Who may dial it directly: namespace, port, protocol."""
        stated = self.body.get("inClusterClients") or ()
        return frozenset((one["namespace"], one["port"], _protocol(one)) for one in stated)

    @property
    def direct(self) -> frozenset[tuple[int, str]]:
        """Ports that are published past the Gateway."""
        return frozenset(
            (one["port"], _protocol(one)) for one in self.body.get("directPorts") or ()
        )

    @property
    def imports(self) -> bool:
        """Whether a pod of its namespace fetches an image from the internet."""
        template = at(self.body, "source.vmTemplate")
        source = at(self.platform, f"vmTemplates.{template}.source", {}) if template else {}
        return bool({"http", "registry"} & set(source))

    def numbers(self) -> Iterator[int]:
        """Every port it names anywhere."""
        yield from self.routes
        yield from (port for _, port, _ in self.calls | self.clients)
        yield from (port for port, _ in self.direct)
        yield from (one["port"] for one in self.body.get("lanEgress") or ())
        if self.scraped:
            yield self.scraped


def _protocol(entry: Body) -> str:
    return str(entry.get("protocol", "TCP"))


@dataclass(frozen=True)
class Matrix:
    """A catalog and everyone around it."""

    definitions: tuple[Definition, ...]
    platform: Body

    @cached_property
    def by_name(self) -> dict[str, Definition]:
        """Definitions by name."""
        return {one.name: one for one in self.definitions}

    @property
    def prefix(self) -> str:
        """The prefix of labels."""
        return str(at(self.platform, "labelPrefix", "roadstead.dev"))

    def component(self, end: End) -> str:
        """`main`, `auth`, `importer`, or nothing for another pod of a service's namespace."""
        if end.labels.get("cdi.kubevirt.io") == "importer":
            return "importer"
        if end.labels.get(f"{self.prefix}/service") != end.namespace:
            return ""
        return str(end.labels.get(f"{self.prefix}/component", ""))

    def around(self) -> Iterator[End]:
        """Everyone who is no pod of the catalog."""
        get = partial(at, self.platform)
        resolver = get("network.resolver.podLabels", {"k8s-app": "kube-dns"})
        yield End("resolver", get("network.resolver.namespace", "kube-system"), resolver)
        yield End("scraper", get("observability.namespace", "monitoring"), {"app": "prometheus"})
        yield End("source-controller", get("flux.namespace", "flux-system"), {"app": "source"})
        if where := get("identity.namespace"):
            yield End("keycloak", where, get("identity.podLabels", {}))
            yield End("beside-keycloak", where, {"app": "other"})
        for key, one in sorted(get("platformServices", {}).items()):
            yield End(key, one["namespace"], one["podLabels"])
            yield End(f"beside-{key}", one["namespace"], {"app": "other"})
        for role, path in (("gateway", "gateway"), ("vpn", "egress.vpn.proxy")):
            if labels := get(f"{path}.podLabels"):
                yield End(f"{role}-pod", get(f"{path}.namespace"), labels)
        yield End("neighbour", "tenant-blue", {f"{self.prefix}/component": "main"})
        yield from (End(one, reserved=one) for one in ("host", "ingress", "kube-apiserver"))
        yield End("remote-node", reserved="remote-node")
        for address in (INTERNET, INTERNET6, LAN, SHARED, LINK):
            yield End(address, address=address)

    def ports(self) -> tuple[int, ...]:
        """Every port that matters, and one that does not."""
        named = {number for one in self.definitions for number in one.numbers()}
        resolver = at(self.platform, "network.resolver.port", 53)
        identity = at(self.platform, "identity.port", 443)
        vpn = at(self.platform, "egress.vpn.proxy.port", 443)
        served = {
            port["port"]
            for one in (self.platform.get("platformServices") or {}).values()
            for port in one["ports"]
        }
        fixed = {443, 10443, PROXY_PORT, UNUSED_PORT, resolver, identity, vpn}
        return tuple(sorted(named | served | fixed))

    def flows(self, pods: Iterable[End]) -> list[Flow]:
        """Every pair of ends on every port, where at least one end is of the catalog."""
        ours, around = list(pods), list(self.around())
        pairs = [*product(ours, ours), *product(ours, around), *product(around, ours)]
        return [
            Flow(source, target, port, protocol)
            for source, target in pairs
            if source is not target
            for port in self.ports()
            for protocol in ("TCP", "UDP")
        ]

    def allows(self, flow: Flow) -> bool:
        """Whether the definitions say that a connection comes about."""
        leaves = self.by_name.get(flow.source.namespace)
        enters = self.by_name.get(flow.target.namespace)
        return (leaves is None or self._leaves(leaves, flow)) and (
            enters is None or self._enters(enters, flow)
        )

    def _leaves(self, one: Definition, flow: Flow) -> bool:
        """Whether a pod of this service may open it."""
        if self._asks_a_name(flow):
            return True
        component = self.component(flow.source)
        if component == "importer":
            return one.imports and self._internet(flow.target, "cluster.ipFamilies")
        if component == "auth":
            back = self._is(flow.target, one.name, "main") and flow.port in one.routes
            return flow.protocol == "TCP" and (
                (back and one.proxied) or self._is_keycloak(flow.target, flow.port)
            )
        return component == "main" and (
            self._calls(one, flow) or self._goes_out(one, flow) or self._logs_in(one, flow)
        )

    def _calls(self, one: Definition, flow: Flow) -> bool:
        """Whether it is a declared dependency."""
        outside = self.platform.get("platformServices") or {}
        for to, port, protocol in one.calls:
            if (port, protocol) != (flow.port, flow.protocol):
                continue
            if to in self.by_name:
                if self._is(flow.target, to, "main"):
                    return True
            elif _carries(flow.target, outside[to]["namespace"], outside[to]["podLabels"]):
                return True
        return False

    def _goes_out(self, one: Definition, flow: Flow) -> bool:
        """Whether its class, or an extension, lets it leave the cluster."""
        if flow.target.reserved == "kube-apiserver" and one.body.get("clusterApi"):
            return True
        for lan in one.body.get("lanEgress") or ():
            there = flow.target.outside and _inside(flow.target.address, [lan["cidr"]])
            if there and (lan["port"], _protocol(lan)) == (flow.port, flow.protocol):
                return True
        if one.egress == "vpn" and at(self.platform, "egress.vpn.mode") == "proxy":
            proxy = at(self.platform, "egress.vpn.proxy")
            there = _carries(flow.target, proxy["namespace"], proxy["podLabels"])
            return there and (flow.port, flow.protocol) == (proxy["port"], "TCP")
        families = "egress.vpn.ipv6" if one.egress == "vpn" else "cluster.ipFamilies"
        return one.egress != "none" and self._internet(flow.target, families)

    def _logs_in(self, one: Definition, flow: Flow) -> bool:
        """Whether the application itself talks to the identity provider."""
        if one.login != "oidc" or flow.protocol != "TCP":
            return False
        pods = at(self.platform, "gateway.dataplane") == "pods"  # serve 443 on a higher port
        front = self._is_gateway(flow.target) and flow.port in ({443, 10443} if pods else {443})
        around = front and one.egress != "vpn"  # the kill-switch has no exception (I-4)
        return around or self._is_keycloak(flow.target, flow.port)

    def _enters(self, one: Definition, flow: Flow) -> bool:
        """Whether a pod of this service is open to it."""
        if flow.source.reserved == "host":  # kubelet's probes
            return True
        component, tcp = self.component(flow.target), flow.protocol == "TCP"
        gateway = self._is_gateway(flow.source)
        if gateway and tcp and one.login == "forward-auth" and not one.proxied:
            return component in {"auth", "main"} and flow.port in one.routes | {PROXY_PORT}
        if component == "auth":
            return gateway and tcp and flow.port == PROXY_PORT
        if component != "main":
            return False
        caller = self.by_name.get(flow.source.namespace)
        if caller is not None and self.component(flow.source) == "main":
            return (one.name, flow.port, flow.protocol) in caller.calls
        scraper = flow.source.namespace == at(
            self.platform, "observability.namespace", "monitoring"
        )
        proxy = one.proxied and self._is(flow.source, one.name, "auth")
        routed = proxy or (gateway and not one.proxied)
        return (
            (routed and tcp and flow.port in one.routes)
            or (scraper and tcp and flow.port == one.scraped)
            or (flow.source.namespace, flow.port, flow.protocol) in one.clients
            or (flow.source.outside and (flow.port, flow.protocol) in one.direct)
        )

    def _asks_a_name(self, flow: Flow) -> bool:
        seen = at(self.platform, "network.resolver", {})
        if flow.port != seen.get("port", 53):
            return False
        labels = seen.get("podLabels", {"k8s-app": "kube-dns"})
        node = flow.target.reserved in {"host", "remote-node", "kube-apiserver"}
        return _carries(flow.target, seen.get("namespace", "kube-system"), labels) or (
            node and seen.get("nodeLocal", False)
        )

    def _internet(self, target: End, families: str) -> bool:
        """Whether an address is on the internet and of a family that is let out."""
        if not target.outside:
            return False
        if ip_address(target.address).version == 6:
            out = at(self.platform, families) or ()
            private = [one for one in self._excepted(_PRIVATE6) if ":" in one]
            return (out is True or "IPv6" in out) and not _inside(target.address, private)
        private = [one for one in self._excepted(_PRIVATE) if "." in one]
        return not _inside(target.address, private)

    def _excepted(self, default: Iterable[str]) -> Iterable[str]:
        stated = at(self.platform, "egress.internet.exceptCIDRs", ())
        family = [one for one in stated if (":" in one) == (":" in next(iter(default)))]
        return family or default

    def _is(self, end: End, service: str, component: str) -> bool:
        return end.namespace == service and self.component(end) == component

    def _is_keycloak(self, end: End, port: int) -> bool:
        seen = at(self.platform, "identity", {})
        there = _carries(end, seen.get("namespace", ""), seen.get("podLabels", {}))
        return there and port == seen.get("port", 443)

    def _is_gateway(self, end: End) -> bool:
        seen = at(self.platform, "gateway", {})
        if seen.get("dataplane", "cilium") == "pods":
            return _carries(end, seen["namespace"], seen["podLabels"])
        return end.reserved == "ingress"


def _carries(end: End, namespace: str, labels: Mapping[str, str]) -> bool:
    return end.namespace == namespace != "" and labels.items() <= end.labels.items()


def _inside(address: str, ranges: Iterable[str]) -> bool:
    return any(ip_address(address) in ip_network(one) for one in ranges)


def read_matrix(definitions: Iterable[Path], platform: Path) -> Matrix:
    """Read files as they are."""
    settings = yaml.safe_load(platform.read_text())
    found = []
    for path in sorted(definitions):
        body = yaml.safe_load(path.read_text())
        found += [Definition(one, settings) for one in body.get("services", [body])]
    return Matrix(tuple(found), settings)


def pods_of(matrix: Matrix, bodies: Iterable[Body]) -> list[End]:
    """The pods that rendered objects make, with the labels they are made with.

    Beside them, in each namespace: the importer of a machine's image, and one of somebody else.
    """
    found = []
    for body in bodies:
        if body["kind"] not in {"Deployment", "StatefulSet", "VirtualMachine"}:
            continue
        meta = body["metadata"]
        labels = body["spec"]["template"]["metadata"]["labels"]
        found.append(End(f"{meta['namespace']}/{meta['name']}", meta["namespace"], labels))
    for one in matrix.definitions:
        if one.imports:
            labels = {"cdi.kubevirt.io": "importer"}
            found.append(End(f"{one.name}/importer", one.name, labels))
        found.append(End(f"{one.name}/stray", one.name, {"app": "stray"}))
    return found
