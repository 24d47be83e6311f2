"""What one tenant gateway is judged on. Source: tenant-gateway 1.2, 4.1, 4.8 and 8.2."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import DEFAULT_CLASS, HTTP01
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.shapes import Json, items, part, text, texts


@dataclass(frozen=True, slots=True)
class NativePort:
    """One entry of `tlsPassthroughListeners`, as it is written."""

    name: str
    port: int
    hostname: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the spec asks for, read once.

    apex: in lower case. written_apex: as it stands. secret: of `wildcardSecretRef`.
    """

    apex: str
    written_apex: str
    mode: str
    issuer: str
    class_name: str
    dns01: Json
    secret: str
    attached: tuple[str, ...]
    services: tuple[str, ...]
    listeners: tuple[NativePort, ...]

    @classmethod
    def of(cls, gateway: Object) -> "Asked":
        """Read a spec; total, what has another shape reads as not stated."""
        spec = part(gateway.body, "spec")
        listeners = tuple(
            NativePort(text(one, "name"), _number(one.get("port")), text(one, "hostname"))
            for one in items(spec, "tlsPassthroughListeners")
        )
        return cls(
            apex=text(spec, "apex").lower(),
            written_apex=text(spec, "apex"),
            mode=text(spec, "certMode") or HTTP01,
            issuer=text(spec, "issuerName"),
            class_name=text(spec, "gatewayClassName") or DEFAULT_CLASS,
            dns01=part(spec, "dns01"),
            secret=text(part(spec, "wildcardSecretRef"), "name"),
            attached=texts(spec, "attachedNamespaces"),
            services=texts(spec, "tlsPassthroughServices"),
            listeners=listeners,
        )


def _number(value: Any) -> int:
    return value if type(value) is int else 0


@dataclass(frozen=True, slots=True)
class Route:
    """A route that names the gateway, now or in an entry of ours.

    resolves: whether a rule of it has a backend that is there; asked of TLSRoutes alone.
    status_kind: the version its status is written at; None for that it was read at.
    """

    seen: Object
    resolves: bool = False
    status_kind: Kind | None = None

    @property
    def ref(self) -> Ref:
        """The route."""
        return self.seen.ref

    @property
    def is_tls(self) -> bool:
        """Whether it is a TLSRoute."""
        return self.seen.kind.kind == "TLSRoute"


@dataclass(frozen=True)
class Snapshot:
    """One TenantGateway, as observed.

    key: its name. asked_for: it, whole; None when it is gone and something of it may be left.
    siblings: the other TenantGateways of its namespace. holders: of each listed namespace, who
        its annotation names, where a TenantGateway of that one lists it or stands in it.
    namespaces: every Namespace it names, holds or is named by, by name.
    routes: every route that names it, or carries an entry of ours that does.
    gateway, issuer, redirect: what stands at the names it renders, whoever made it.
    certificates: every Certificate of its namespace, by name.
    cert_manager: whether the kinds of cert-manager are served.
    class_exists: whether its GatewayClass is there; None where that cannot be read.
    """

    key: Ref
    now: datetime
    asked_for: Object | None = None
    siblings: tuple[Object, ...] = ()
    holders: Mapping[str, frozenset[str]] = field(default_factory=dict)
    namespaces: Mapping[str, Object] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    gateway: Object | None = None
    issuer: Object | None = None
    redirect: Object | None = None
    certificates: Mapping[str, Object] = field(default_factory=dict)
    cert_manager: bool = True
    class_exists: bool | None = None
    asked: Asked = field(init=False)

    def __post_init__(self) -> None:
        """Read the spec once."""
        target = self.asked_for or Object.of(api.TENANT_GATEWAY, {"metadata": {}})
        object.__setattr__(self, "asked", Asked.of(target))

    @property
    def namespace(self) -> str:
        """Where it stands."""
        return self.key.namespace

    @property
    def name(self) -> str:
        """Its name, which most names it renders begin with."""
        return self.key.name

    @property
    def uid(self) -> str:
        """Its uid; empty when it is gone."""
        return self.asked_for.meta.uid if self.asked_for is not None else ""

    @property
    def status(self) -> Json:
        """What was reported last."""
        return part(self.asked_for.body, "status") if self.asked_for is not None else {}

    def owns(self, seen: Object) -> bool:
        """Whether an object is controlled by this TenantGateway, by uid. Source: 8.2."""
        return seen.controller is not None and seen.controller.uid == self.uid

    def holder_of(self, name: str) -> str:
        """Who else holds a namespace that the spec lists; empty when it is free or ours.

        Source: 4.8.
        """
        seen = self.namespaces.get(name)
        if seen is None or name == self.namespace:
            return ""
        by = seen.annotations.get(api.ATTACHED_BY, "")
        if by == self.namespace:
            return ""
        if by:
            return by if by in self.holders.get(name, frozenset()) else ""
        label = seen.labels.get(api.ATTACH_LABEL, "")
        return label if label not in {"", self.namespace} else ""

    @cached_property
    def attach_set(self) -> frozenset[str]:
        """The namespaces whose routes count. Source: short names, 4.1 and 4.8."""
        listed = {name for name in self.asked.attached if not self.holder_of(name)}
        labelled = {
            name
            for name, seen in self.namespaces.items()
            if seen.labels.get(api.ATTACH_LABEL) == self.namespace
        }
        return frozenset({self.namespace} | listed | labelled)

    @property
    def expected(self) -> frozenset[str]:
        """The namespaces that carry our label: by all TenantGateways of this namespace. 4.8."""
        alive = [self.asked_for, *self.siblings]
        found = {self.namespace} if any(one is not None for one in alive) else set()
        for one in alive:
            found |= set(Asked.of(one).attached) if one is not None else set()
        return frozenset(found)
