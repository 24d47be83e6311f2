"""What one attachment is judged on. Source: endpoint-attachments 3.1, 3.3 and 5.3."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot.views import claim_annotation, condition, truncated
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import items, part, text


@dataclass(frozen=True, slots=True)
class Asked:
    """What the spec asks for, read once.

    ports: as written: numbers, or `N/PROTO`. family, method, class_name, claim_name: empty when
    not stated. allow_icmp: True where it is not stated, as the VM chart has it.
    """

    group: str
    kind: str
    name: str
    service: str
    class_name: str
    claim_name: str
    family: str
    ports: tuple[int | str, ...]
    method: str
    allow_icmp: bool

    @classmethod
    def of(cls, attachment: Object) -> "Asked":
        """Read an attachment's spec; total, what has another shape reads as not stated."""
        spec = part(attachment.body, "spec")
        application, balancer = part(spec, "applicationRef"), part(spec, "loadBalancer")
        ports = balancer.get("ports")
        return cls(
            group=text(application, "group") or api.APPLICATION_GROUP,
            kind=text(application, "kind"),
            name=text(application, "name"),
            service=text(part(spec, "endpoint"), "serviceName"),
            class_name=text(balancer, "className"),
            claim_name=text(balancer, "claimName"),
            family=text(balancer, "family"),
            ports=tuple(one for one in ports if isinstance(one, int | str))
            if isinstance(ports, list)
            else (),
            method=text(balancer, "method"),
            allow_icmp=balancer.get("allowICMP") is not False,
        )

    @property
    def application(self) -> str:
        """The application in messages."""
        return f"{self.group} {self.kind} {self.name}"

    @property
    def triple(self) -> dict[str, str]:
        """The lineage labels the application's objects carry."""
        return dict(zip(api.TRIPLE, (truncated(self.group), self.kind, self.name), strict=True))


@dataclass(frozen=True, slots=True)
class Association:
    """What an address says it is associated to. exists: it names an object that is there."""

    kind: str
    namespace: str
    name: str
    exists: bool


@dataclass(frozen=True, slots=True)
class Delegation:
    """A Service that cozy-proxy carries, and the backends it stands for.

    selector: without the pair that holds it dark.
    """

    service: Object
    pods: frozenset[str]
    selector: tuple[tuple[str, str], ...]

    @property
    def order(self) -> tuple[str, str]:
        """The oldest goes first, ties by name."""
        return age_order(self.service)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One attachment, as observed.

    releases: metadata of every HelmRelease that carries the application's triple.
    endpoint: the Service to mirror. endpoint_holder: the attachment that rendered it, if one did.
    owned: the Services this attachment controls, deleting ones too.
    claim_kind, address_kind: whether claims and addresses can be read.
    claim: the referenced one, or the best minted one.
    minted: every claim this attachment controls.
    class_name: the claim's resolved class. ip_class: it, where it is there.
    class_kind: whether classes can be read.
    default_class: what a claim that names no class gets; read only where classes are limited.
    associations: what the claim's addresses say; empty where that cannot be read.
    rivals: other Services pinned to the claim.
    pods, ready: backends of the endpoint, and how many are ready; only with a method.
    delegations: other Services cozy-proxy carries in the namespace; only with a method.
    """

    attachment: Object
    now: datetime
    contract: bool = False
    node_ports: bool = False
    classes: frozenset[str] = frozenset()
    kstatus: bool = True
    releases: tuple[Object, ...] = ()
    endpoint: Object | None = None
    endpoint_holder: str = ""
    owned: tuple[Object, ...] = ()
    claim_kind: bool = True
    address_kind: bool = True
    claim: Object | None = None
    minted: tuple[Object, ...] = ()
    class_kind: bool = True
    default_class: str = ""
    class_name: str = ""
    ip_class: Object | None = None
    associations: tuple[Association, ...] = ()
    rivals: tuple[Object, ...] = ()
    pods: frozenset[str] = frozenset()
    ready: int = 0
    delegations: tuple[Delegation, ...] = ()
    asked: Asked = field(init=False)

    def __post_init__(self) -> None:
        """Read the spec once."""
        object.__setattr__(self, "asked", Asked.of(self.attachment))

    @property
    def namespace(self) -> str:
        """Where everything but addresses and classes is."""
        return self.attachment.meta.namespace

    @property
    def ref(self) -> Ref:
        """The attachment."""
        return self.attachment.ref

    @property
    def endpoint_ref(self) -> Ref:
        """The Service it mirrors, there or not."""
        return SERVICE.ref(self.namespace, self.asked.service)

    @property
    def standing(self) -> tuple[Object, ...]:
        """The owned Services that are not on their way out, the one to keep first.

        That is the one an address is associated to, then the oldest, then by name. Source: 5.2.
        """
        held = {
            one.name
            for one in self.associations
            if (one.kind, one.namespace) == (SERVICE.kind, self.namespace)
        }
        alive = (seen for seen in self.owned if not seen.deleting)
        return tuple(sorted(alive, key=lambda seen: (seen.meta.name not in held, age_order(seen))))

    @property
    def service(self) -> Object | None:
        """The owned Service that stands."""
        return next(iter(self.standing), None)

    @property
    def present(self) -> Object | None:
        """The owned Service, also one that is on its way out: it holds its place until it is gone.

        Source: 3.1, live.
        """
        return self.service or next(iter(self.owned), None)

    @property
    def dying_claim(self) -> Object | None:
        """The minted claim the standing Service is pinned to, where that one is being deleted."""
        pinned = claim_annotation(self.service) if self.service is not None else ""
        return next((one for one in self.minted if one.deleting and one.meta.name == pinned), None)

    @property
    def release(self) -> Object | None:
        """The application's HelmRelease: the only one, or the one the attachment references."""
        if len(self.releases) == 1:
            return self.releases[0]
        known = {owner.uid for owner in self.attachment.owners}
        return next((seen for seen in self.releases if seen.meta.uid in known), None)

    @property
    def status(self) -> Mapping[str, Any]:
        """What was reported last."""
        return part(self.attachment.body, "status")

    @property
    def was_attached(self) -> bool:
        """Whether it ever held an address for somebody. Source: 3.1."""
        before = condition(self.attachment, "Resolved").get("status") == "True"
        detached = condition(self.attachment, "Provisioned").get("reason") == "Detached"
        return before or detached or bool(self.owned) or bool(self.minted)


def age_order(seen: Object) -> tuple[str, str]:
    """Oldest first, ties by name; times are RFC 3339 in one zone, so text compares."""
    return (seen.meta.creation_timestamp or "", seen.meta.name)


def is_bound(claim: Object) -> bool:
    """Whether a claim has its addresses. Source: 2.2."""
    status = part(claim.body, "status")
    return text(status, "phase") == "Bound" and bool(addresses_of(claim))


def addresses_of(claim: Object | None) -> tuple[str, ...]:
    """A claim's addresses in its own order."""
    if claim is None:
        return ()
    stated = items(part(claim.body, "status"), "addresses")
    return tuple(address for one in stated if (address := text(one, "address")))


def family_of(claim: Object) -> str:
    """A claim's family; the schema's default where it is not stated."""
    return text(part(claim.body, "spec"), "family") or "IPv4"


def best_claim(minted: tuple[Object, ...]) -> Object | None:
    """The one to keep: bound before not, then oldest, then by name. Source: 3.3, P5b."""
    alive = [seen for seen in minted if not seen.deleting] or list(minted)
    return min(alive, key=lambda seen: (not is_bound(seen), age_order(seen)), default=None)


def selector_of(service: Object) -> tuple[tuple[str, str], ...]:
    """A Service's selector, sorted, without the pair that holds it dark."""
    stated = part(service.body, "spec", "selector")
    return tuple(sorted((str(k), str(v)) for k, v in stated.items() if k != api.DARK_LABEL))


def pins(service: Object, claim: Object) -> bool:
    """Whether a Service is pinned to a claim."""
    return claim_annotation(service) == claim.meta.name
