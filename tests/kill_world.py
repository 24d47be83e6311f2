"""What the kill runs do to the world: tenants, applications, and the address substrate.

Each attachment has a model of what it must come to, whatever happens to our process meanwhile.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from kill_writes import Key, Sent, controller
from live_admin import Admin, wait_for
from roadstead.capabilities.attachments.api.names import (
    ADDRESS,
    APPLICATION_GROUP,
    ATTACHMENT,
    CLAIM,
    CLAIM_ANNOTATION,
    CLASS,
    GROUP_LABEL,
    KIND_LABEL,
    NAME_LABEL,
    TENANT_RESOURCE,
)
from roadstead.kube.refs import HELM_RELEASE, SERVICE, Kind, Ref

Json = dict[str, Any]
PLACES = ("tenant-blue", "tenant-red")
PORTS = {"http": 80, "tls": 443, "admin": 8080}
SELECTIONS: tuple[tuple[int, ...], ...] = ((), (80,), (443,), (80, 443), (443, 8080))
NOWHERE = (9,)
"""A port that no endpoint has."""
APPLICATION = "shop"
FIRST_ADDRESS = int(ip_address("198.18.0.1"))


@dataclass
class Model:
    """One attachment and what it must come to.

    there: its endpoint exists. referenced: it names a claim of the tenant's.
    claim: name, uid and address of the bound claim; None while none is bound.
    deleted_claims: so many minted ones somebody has deleted.
    """

    key: Key
    referenced: bool = False
    method: str = ""
    there: bool = True
    ports: tuple[int, ...] = ()
    uid: str = ""
    claim: tuple[str, str, str] | None = None
    deleted_claims: int = 0

    @property
    def endpoint(self) -> Ref:
        """Its endpoint."""
        return SERVICE.ref(self.key.namespace, f"{self.key.name}-app")

    @property
    def ref(self) -> Ref:
        """Itself."""
        return ATTACHMENT.ref(*self.key)

    @property
    def tenants(self) -> Ref:
        """The claim it names."""
        return CLAIM.ref(self.key.namespace, f"{self.key.name}-own")

    @property
    def serves(self) -> bool:
        """Whether it has a Service in the end."""
        return self.there and self.claim is not None and self.ports != NOWHERE

    @property
    def wanted(self) -> list[int]:
        """The ports of its Service in the end."""
        return sorted(self.ports or PORTS.values())


@dataclass
class World:
    """The server as everybody but us writes to it.

    models: of the attachments that are there. kept: claims of tenants, with their uids.
    addresses: so many were given out.
    """

    admin: Admin
    models: dict[Key, Model] = field(default_factory=dict)
    kept: dict[Ref, str] = field(default_factory=dict)
    addresses: int = 0

    def begin(self) -> None:
        """Make the class and the applications."""
        head = {"apiVersion": CLASS.api_version, "kind": CLASS.kind}
        spec = {"provisioner": "example.org/pool"}
        self.admin.made(CLASS, {**head, "metadata": {"name": "public"}, "spec": spec})
        for place in PLACES:
            self._release(place)

    def _release(self, place: str) -> None:
        chart = {"kind": "OCIRepository", "name": "shop"}
        self._made(
            HELM_RELEASE,
            place,
            f"shop-{APPLICATION}",
            labels=_lineage(),
            spec={"interval": "5m", "chartRef": chart},
        )

    def _made(self, kind: Kind, place: str, name: str, **rest: Any) -> Json:
        meta: Json = {"name": name, "namespace": place}
        for part in ("labels", "ownerReferences"):
            if stated := rest.pop(part, None):
                meta[part] = stated
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}
        return self.admin.made(kind, body)

    # what tenants do

    def create(self, model: Model) -> None:
        """Make an attachment, and before it what it is to find."""
        self.models[model.key] = model
        if model.there:
            self._endpoint(model)
        balancer: Json = {"className": "public"}
        if model.referenced:
            balancer = {"claimName": model.tenants.name}
            made = self._made(CLAIM, *model.tenants[::2], spec={"className": "public"})
            self._bound(model, made)
            self.kept[model.tenants] = made["metadata"]["uid"]
        if model.method:
            balancer["method"] = model.method
        if model.ports:
            balancer["ports"] = list(model.ports)
        spec = {
            "applicationRef": {"kind": "Shop", "name": APPLICATION},
            "endpoint": {"serviceName": model.endpoint.name},
            "loadBalancer": balancer,
        }
        model.uid = self._made(ATTACHMENT, *model.key, spec=spec)["metadata"]["uid"]

    def _endpoint(self, model: Model) -> None:
        ports = [{"name": name, "port": port} for name, port in PORTS.items()]
        self._made(
            SERVICE,
            *model.endpoint[::2],
            labels={**_lineage(), TENANT_RESOURCE: "true"},
            spec={"selector": {"app": model.key.name}, "ports": ports},
        )

    def remove_endpoint(self, model: Model) -> None:
        """Scale the application down."""
        self.admin.delete(model.endpoint)
        model.there = False

    def return_endpoint(self, model: Model) -> None:
        """Scale it up."""
        self._endpoint(model)
        model.there = True

    def edit_ports(self, model: Model, ports: tuple[int, ...]) -> None:
        """Ask for other ports."""
        merge = {"spec": {"loadBalancer": {"ports": list(ports) or None}}}
        self.admin.patched(model.ref, merge)
        model.ports = ports

    def drop_service(self, model: Model) -> None:
        """Delete what was rendered, by hand."""
        for body in self.owned(SERVICE, model):
            self.admin.delete(_ref(SERVICE, body))

    def drop_claim(self, model: Model) -> None:
        """Delete a minted claim, by hand; its address is lost with it."""
        for body in self.owned(CLAIM, model):
            self.admin.delete(_ref(CLAIM, body))
            model.deleted_claims += 1
        model.claim = None

    def strip(self, model: Model) -> None:
        """Take a lineage label off an attachment."""
        self.admin.patched(model.ref, {"metadata": {"labels": {NAME_LABEL: None}}})

    def plant(self, model: Model, kind: Kind, name: str) -> Sent:
        """Put a second claim or Service beside ours, as nobody should."""
        owner = {
            "apiVersion": ATTACHMENT.api_version,
            "kind": ATTACHMENT.kind,
            "name": model.key.name,
            "uid": model.uid,
            "controller": True,
        }
        spec = {"className": "public"} if kind == CLAIM else {"ports": [{"port": PORTS["http"]}]}
        place = model.key.namespace
        body = self._made(kind, place, name, ownerReferences=[owner], spec=spec)
        return Sent("create", kind.plural, "", place, name, body)

    def delete(self, model: Model) -> None:
        """Delete an attachment, and its endpoint with it; a claim of the tenant's stays."""
        self.admin.delete(model.ref)
        if model.there:
            self.admin.delete(model.endpoint)
        del self.models[model.key]

    def recreate_application(self, place: str) -> None:
        """Delete an application and make it anew: what belonged to the old one goes with it."""
        ref = HELM_RELEASE.ref(place, f"shop-{APPLICATION}")
        old = (self.admin.get(ref) or {})["metadata"]["uid"]
        before = self.admin.objects(ATTACHMENT, place)  # the collector may be quick
        self.admin.delete(ref)
        self._release(place)
        for body in before:
            owners = body["metadata"].get("ownerReferences") or ()
            model = self.models.get(Key(place, body["metadata"]["name"]))
            if model is not None and any(owner["uid"] == old for owner in owners):
                if model.there:
                    self.admin.delete(model.endpoint)
                del self.models[model.key]

    # what the substrate does

    def bindable(self, model: Model) -> bool:
        """Whether the one minted claim is there."""
        found = self.owned(CLAIM, model)
        return len(found) == 1 and not found[0]["metadata"].get("deletionTimestamp")

    def bind(self, model: Model) -> bool:
        """Bind the one minted claim, if it is there."""
        found = self.owned(CLAIM, model)
        if len(found) != 1:
            return False
        self._bound(model, found[0])
        return True

    def _bound(self, model: Model, claim: Json) -> None:
        meta = claim["metadata"]
        address = str(ip_address(FIRST_ADDRESS + self.addresses))
        name = f"address-{self.addresses}"
        self.addresses += 1
        holder = {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}
        head = {"apiVersion": ADDRESS.api_version, "kind": ADDRESS.kind}
        spec = {"className": "public", "address": address, "source": {"fromClass": {}}}
        body = {**head, "metadata": {"name": name}, "spec": {**spec, "claimRef": holder}}
        self.admin.made(ADDRESS, body)
        status = {
            "phase": "Bound",
            "className": "public",
            "addresses": [{"name": name, "address": address}],
        }
        self.admin.patched(_ref(CLAIM, claim), {"status": status}, "/status")
        model.claim = (meta["name"], meta["uid"], address)

    def associate(self) -> None:
        """Say on each address which Service has it, as a driver does."""
        for model in self.models.values():
            for service in self.owned(SERVICE, model) if model.claim else ():
                there = {"kind": "Service", "namespace": model.key.namespace}
                status = {"associatedTo": {**there, "name": service["metadata"]["name"]}}
                number = int(ip_address(model.claim[2])) - FIRST_ADDRESS if model.claim else 0
                ref = ADDRESS.ref("", f"address-{number}")
                self.admin.patched(ref, {"status": status}, "/status")

    # what is there

    def owned(self, kind: Kind, model: Model) -> list[Json]:
        """What an attachment controls."""
        found = self.admin.objects(kind, model.key.namespace)
        return [one for one in found if (controller(one) or ("", ""))[1] == model.uid]

    def waiting(self) -> Iterator[Model]:
        """Those whose claim is to be bound."""
        return (one for one in self.models.values() if one.claim is None and not one.referenced)

    def wrong(self, model: Model) -> str:
        """Say what an attachment still lacks; empty when all is as it must come to."""
        body = self.admin.get(model.ref)
        if body is None or body["metadata"]["uid"] != model.uid:
            return f"{model.ref} is gone"
        status, services = body.get("status") or {}, self.owned(SERVICE, model)
        faults = {
            "is not looked at": status.get("observedGeneration") != body["metadata"]["generation"],
            "serves, or does not": (status.get("phase") == "Attached") is not model.serves,
            "has too many Services, or none": len(services) != model.serves,
            "has not its claim": not _claims(model, status),
            "has no stamp": NAME_LABEL not in (body["metadata"].get("labels") or {}),
        }
        found = [fault for fault, true in faults.items() if true]
        found += [fault for one in services if (fault := _unlike(model, one, status))]
        return f"{model}: {', '.join(found)}: {json.dumps(status)}" if found else ""

    def settled(self, model: Model) -> bool:
        """Whether an attachment is as it must come to."""
        return not self.wrong(model)

    def lost(self) -> list[str]:
        """Claims that are not what they were: bound ones, and the tenants' own."""
        found = []
        for model in self.models.values():
            if model.claim is not None:
                body = self.admin.get(CLAIM.ref(model.key.namespace, model.claim[0]))
                if body is None or body["metadata"]["uid"] != model.claim[1]:
                    found.append(f"{model.ref} has lost {model.claim}")
        for ref, uid in self.kept.items():
            body = self.admin.get(ref)
            if body is None or body["metadata"]["uid"] != uid:
                found.append(f"{ref} of a tenant is not what it was")
        return found

    def orphans(self) -> list[str]:
        """Services and claims whose attachment is gone."""
        there = {body["metadata"]["uid"] for body in self.admin.objects(ATTACHMENT)}
        return [
            str(_ref(kind, body))
            for kind in (SERVICE, CLAIM)
            for body in self.admin.objects(kind)
            if (owner := controller(body)) and owner[1] not in there
        ]

    def alive(self) -> dict[str, set[str]]:
        """What is controlled by attachments now: `namespace/name` by plural."""
        return {
            kind.plural: {
                _ref(kind, one).key for one in self.admin.objects(kind) if controller(one)
            }
            for kind in (SERVICE, CLAIM)
        }

    def settle(self, patience: float) -> None:
        """Bind what is to be bound, and wait until all is as it must come to.

        Raises: TimeoutError that says what is not.
        """
        left: list[str] = []

        def done() -> bool:
            for model in tuple(self.waiting()):
                self.bind(model)
            left[:] = [wrong for one in self.models.values() if (wrong := self.wrong(one))]
            left.extend(f"{one} is an orphan" for one in self.orphans())
            left.extend(f"{one} waits" for one in self.waiting() if one.there)
            return not left

        try:
            wait_for("a settled world", done, patience, pause=0.1)
        except TimeoutError as late:
            raise TimeoutError(json.dumps(left, indent=1, ensure_ascii=False)) from late


def _lineage() -> dict[str, str]:
    return {GROUP_LABEL: APPLICATION_GROUP, KIND_LABEL: "Shop", NAME_LABEL: APPLICATION}


def _ref(kind: Kind, body: Json) -> Ref:
    return kind.ref(body["metadata"]["namespace"], body["metadata"]["name"])


def _claims(model: Model, status: Json) -> bool:
    """Whether a status names the claim that is bound, or one that is minted and not bound yet."""
    if model.claim is not None:
        name, _, address = model.claim
        return (status.get("claimName"), status.get("addresses")) == (name, [address])
    return not status.get("addresses") and bool(status.get("claimName") or not model.there)


def _unlike(model: Model, service: Json, status: Json) -> str:
    """Say in what a rendered Service differs."""
    meta, spec = service["metadata"], service["spec"]
    ports = sorted(port["port"] for port in spec["ports"])
    claim = model.claim[0] if model.claim else ""
    if ports != model.wanted or spec["selector"] != {"app": model.key.name}:
        return f"its Service has {ports}, {spec['selector']}"
    if (meta.get("annotations") or {}).get(CLAIM_ANNOTATION) != claim:
        return f"its Service is not pinned to {claim}"
    return "" if status.get("serviceName") == meta["name"] else "it names another Service"
