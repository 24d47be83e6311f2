"""Plays generated worlds of attachments: a watched world, an address substrate, and laws."""

import copy

from attachment_objects import NOW
from attachment_worlds import Scene, an_address, of_kind, place_of
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.snapshot.views import claim_annotation
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import EVENT, SERVICE
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import Admission, World
from watched_world import WatchedWorld


def watched(admission: Admission | None = None) -> WatchedWorld:
    """An empty world that knows what attachments look at."""
    return WatchedWorld(NOW, ATTACHMENTS_CONTROLLER.views, admission)


def world_of(scene: Scene) -> WatchedWorld:
    """The world before anybody acts, with what has lost its owners collected."""
    world = watched()
    for body in scene.objects:
        world.seed(copy.deepcopy(body), of_kind(body))
    while world.collect():
        pass
    return world


def play(scene: Scene, *faults: Fault) -> tuple[WatchedWorld, Settler]:
    """Let attachments and the substrate settle a world."""
    world = world_of(scene)
    for fault in faults:
        world.faults.set(fault)
    settler = Settler(world, (ATTACHMENTS_CONTROLLER,), scene.settings)
    settle(world, settler)
    return world, settler


def settle(world: World, settler: Settler) -> None:
    """Let both go on until neither changes anything."""
    settler.settle()
    for _ in range(20):
        if not substrate(world):
            return
        settler.settle()
    raise AssertionError("the substrate and we do not come to rest")


def substrate(world: World) -> bool:
    """Bind what waits, pin what is annotated, clear what has gone; tell whether anything changed.

    A class that is not there binds nothing. An address goes to the first Service that asks.
    """
    before = world.store.version
    for claim in world.store.all(api.CLAIM):
        if not claim.deleting and not (claim.body.get("status") or {}).get("phase"):
            _bind(world, claim)
    for address in world.store.all(api.ADDRESS):
        _associate(world, address)
    return world.store.version != before


def _bind(world: World, claim: Object) -> None:
    spec = claim.body.get("spec") or {}
    name = spec.get("className") or "public"
    if world.store.get(api.CLASS.ref("", name)) is None:
        return
    number = 100 + len(world.store.all(api.ADDRESS))
    bound = [{"name": f"ip-{number}", "address": f"203.0.113.{number}"}]
    if spec.get("family") == "Dual":
        bound.append({"name": f"ip-{number}-6", "address": f"2001:db8::{number}"})
    for one in bound:
        made = an_address(one["name"], one["address"], claim.meta.namespace, claim.meta.name)
        world.seed(made, api.ADDRESS.ref("", one["name"]))
    status = {"phase": "Bound", "className": name, "addresses": bound}
    world.merge(claim.ref, {"status": status}, By.OTHER)


def _associate(world: World, address: Object) -> None:
    ref = address.body["spec"]["claimRef"]
    place = ref["namespace"]
    now = (address.body.get("status") or {}).get("associatedTo")
    if now and world.store.get(SERVICE.ref(now["namespace"], now["name"])) is not None:
        return
    wanted = [
        one
        for one in world.store.all(SERVICE, place)
        if claim_annotation(one) == ref["name"] and not one.deleting
    ]
    first = min(
        wanted, key=lambda one: (one.meta.creation_timestamp or "", one.meta.name), default=None
    )
    there = first and {"kind": "Service", "namespace": place, "name": first.meta.name}
    if there != now:
        world.merge(address.ref, {"status": {"associatedTo": there}}, By.OTHER)
    if first is not None:
        claim = world.store.get(api.CLAIM.ref(place, ref["name"]))
        held = (claim.body.get("status") or {}).get("addresses") if claim is not None else ()
        ingress = [{"ip": one["address"]} for one in held or ()]
        world.merge(first.ref, {"status": {"loadBalancer": {"ingress": ingress}}}, By.OTHER)


PASSING = ("uid", "resourceVersion", "creationTimestamp", "generation")
ALLOCATED = ("clusterIP", "clusterIPs", "healthCheckNodePort")


def substance(world: World, tenant: str = "") -> list[bytes]:
    """Everything in a world but events and what the server counts or draws."""
    found = []
    for seen in world.store.all(namespace=place_of(tenant) if tenant else ""):
        if seen.kind == EVENT:
            continue
        body = copy.deepcopy(seen.body)
        for key in PASSING:
            body["metadata"].pop(key, None)
        if seen.kind == SERVICE:
            for key in ALLOCATED:
                body["spec"].pop(key, None)
            for port in body["spec"].get("ports") or ():
                port.pop("nodePort", None)
        for condition in (body.get("status") or {}).get("conditions") or ():
            condition.pop("lastTransitionTime", None)
            condition.pop("observedGeneration", None)
        if seen.kind == api.ATTACHMENT:
            (body.get("status") or {}).pop("observedGeneration", None)
        found.append(canonical(body))
    return found


def holder_of(seen: Object) -> str:
    """The uid of the attachment that controls an object; empty for none."""
    owner = seen.controller
    ours = owner is not None and (owner.group, owner.kind) == (api.GROUP, api.ATTACHMENT.kind)
    return owner.uid if owner is not None and ours else ""


def assert_only_ours_is_written(world: WatchedWorld) -> None:
    """Every write met an object of ours, or states on the attachment what we own of it."""
    for verb, ref, met, sent in world.met:
        if ref.kind == api.ATTACHMENT:
            assert verb in {"apply", "update-status"}
            if verb == "apply":
                assert {"apiVersion", "kind", "metadata"} == set(sent)
                assert set(sent["metadata"]) <= {
                    *("name", "namespace", "uid", "resourceVersion"),
                    *("labels", "annotations", "ownerReferences"),
                }
                assert set(api.TRIPLE) == set(sent["metadata"]["labels"])
            continue
        assert ref.kind in {SERVICE, api.CLAIM}
        assert ref.kind == SERVICE or verb in {"create", "delete"}
        assert (met is None) is (verb == "create")
        uid = holder_of(met if met is not None else Object.of(ref.kind, dict(sent)))
        assert uid
        assert any(new and uid == new.meta.uid for _, new in world.store.log)
