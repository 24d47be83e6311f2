"""The laws of architecture, section 4, over worlds in which tenant gateways are played."""

from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_admission import APEX
from gateway_objects import KEY, a_gateway, a_namespace, http
from gateway_worlds import (
    PLATFORM,
    TENANTS,
    Scene,
    accept,
    controllers_of,
    entries,
    misfits,
    place_of,
    play,
    scenes,
    settle,
    spaces,
    substance,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SERVICE, Ref
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.world import World
from watched_world import WatchedWorld

FEW = settings(max_examples=settings().max_examples // 8)
"""A world takes a tenth of a second; an eighth of the profile's examples keeps tests quick."""
NAME = GATEWAYS_CONTROLLER.name


@FEW
@given(scenes(contests=False), st.randoms(use_true_random=False))
def test_confluent_the_order_of_objects_changes_nothing(scene: Scene, order: Any) -> None:
    """Law 5: which gateway is looked at first is chance."""
    shuffled = list(scene.objects)
    order.shuffle(shuffled)

    assert substance(play(scene)[0]) == substance(play(Scene(tuple(shuffled)))[0])


@FEW
@given(scenes())
def test_settled_and_idempotent_a_further_pass_writes_and_tells_nothing(scene: Scene) -> None:
    """Laws 3 and 4: every world settles, and stays as it is."""
    world, settler = play(scene)
    writes, said = len(world.met), len(world.told)
    settler.engine.resync(NAME)
    settler.settle()
    settler.tick(timedelta(hours=11))
    assert writes == len(world.met)
    assert said == len(world.told)
    settler.restart(settler.engine.settings)
    settler.settle()
    assert writes == len(world.met)


@FEW
@given(scenes())
def test_valid_and_never_another_writers(scene: Scene) -> None:
    """Laws 6 and 8: what is sent is valid, and meets our own, or our share of another's."""
    world, settler = play(scene)
    for step in settler.steps:
        for want in step.decision.want:
            if want.kind == api.GATEWAY:
                assert [] == misfits(want.body)
    assert_only_ours_is_written(world)


def assert_only_ours_is_written(world: WatchedWorld) -> None:
    """Every write met an object of ours, two keys of a Namespace, or entries of a route."""
    for verb, ref, met, sent in world.met:
        if ref.kind == NAMESPACE:
            assert verb == "patch"
            meta = sent["metadata"]
            assert set(meta.get("labels", {})) <= {api.ATTACH_LABEL}
            assert set(meta.get("annotations", {})) <= {api.ATTACHED_BY}
            assert {"metadata"} == set(sent)
        elif verb == "update-status":
            assert met is not None
            if ref.kind != api.TENANT_GATEWAY:
                after = Object.of(ref.kind, dict(sent))
                assert entries(met, ours=False) == entries(after, ours=False)
        else:
            assert ref.kind in {api.GATEWAY, api.ISSUER, api.CERTIFICATE, api.HTTP_ROUTE}
            assert (met is None) is (verb == "create")
            ours = met if met is not None else Object.of(ref.kind, dict(sent))
            gateways = [new for _, new in world.store.log if new is not None]
            assert set(controllers_of(ours)) & {one.meta.uid for one in gateways}


@FEW
@given(scenes())
def test_foreign_entries_and_objects_survive(scene: Scene) -> None:
    """Law 8: what others said and made is there afterwards, in their order."""
    world, _ = play(scene)
    first: dict[Ref, Object] = {}
    for _, new in world.store.log:
        if new is not None:
            first.setdefault(new.ref, new)
    for one in (first[there.ref] for there in scene.objects):
        there = world.store.get(one.ref)
        assert there is not None
        if one.kind in {api.HTTP_ROUTE, api.TLS_ROUTES[0]}:
            assert entries(one, ours=False) == entries(there, ours=False)
            assert one.body["spec"] == there.body["spec"]
        if one.kind in {api.GATEWAY, api.ISSUER, api.CERTIFICATE}:
            assert one.body["spec"] == there.body["spec"]
            assert one.labels == there.labels


def rendered_by(world: World, tenant: str) -> dict[str, Any]:
    """The Gateways, Issuers, Certificates and redirects of a tenant."""
    kinds = {api.GATEWAY, api.ISSUER, api.CERTIFICATE}
    found = [one for one in world.store.all(namespace=place_of(tenant)) if one.kind in kinds]
    return {one.ref.path: one.body["spec"] for one in found}


@FEW
@given(scenes(contests=False), st.sampled_from(TENANTS), st.data())
def test_bounded_blast_one_tenants_routes_never_change_anothers_gateway(
    scene: Scene, tenant: str, data: st.DataObject
) -> None:
    """Law 7: without a label, a list or a parentRef nothing ties two tenants."""
    theirs = [one for one in scene.objects if one.meta.namespace.startswith(place_of(tenant))]
    left = data.draw(st.sampled_from(theirs))
    other = next(name for name in TENANTS if name != tenant)
    whole, less = play(scene)[0], play(scene.without(left))[0]

    assert rendered_by(whole, other) == rendered_by(less, other)


@FEW
@given(scenes(foreign=False))
def test_reversible_a_deleted_gateway_leaves_nothing_and_keeps_what_it_referenced(
    scene: Scene,
) -> None:
    """Law 10, 8.6: objects by their owner, labels and entries by the sweep; no word of another."""
    world, settler = play(scene)
    for one in world.store.all(api.TENANT_GATEWAY):
        world.delete(one.ref, By.OTHER)
    settler.settle()
    settler.tick(timedelta(hours=11))
    while world.collect():
        pass
    for one in world.store.all():
        assert not controllers_of(one)
        if one.kind in {api.HTTP_ROUTE, api.TLS_ROUTES[0]}:
            assert [] == entries(one, ours=True)
    for name, one in spaces(world).items():
        assert api.ATTACHED_BY not in one.annotations
        if name in {place_of(tenant) for tenant in TENANTS}:
            assert name == one.labels[api.ATTACH_LABEL]
        if name in PLATFORM and api.ATTACH_LABEL in one.labels:
            assert one.labels[api.ATTACH_LABEL] == "tenant-chart"
    assert {one.ref for one in scene.objects if one.kind == SERVICE} <= {
        one.ref for one in world.store.all(SERVICE)
    }


FAULTS = st.lists(
    st.builds(
        Fault,
        verb=st.sampled_from(["list", "create", "update", "update-status", "patch", "delete"]),
        kind=st.sampled_from(
            ["Gateway", "Certificate", "HTTPRoute", "TenantGateway", "Namespace", "TLSRoute"]
        ),
        status=st.sampled_from([0, 409, 429, 500]),
        times=st.integers(1, 3),
        lost=st.booleans(),
    ),
    max_size=3,
)


@FEW
@given(scenes(contests=False), FAULTS)
def test_faults_that_pass_leave_no_trace(scene: Scene, faults: list[Fault]) -> None:
    """Laws 1, 4 and 5: an error holds, and what comes after it is what would have come anyway."""
    calm, _ = play(scene)
    world, settler = play(scene, *faults)
    for _ in range(3):
        settler.tick(timedelta(minutes=6))
        settle(world, settler)

    assert substance(calm) == substance(world)


def test_worlds_of_the_generator_are_served() -> None:
    """A generator whose gateways are never accepted would prove nothing."""
    route = http("tenant-foo/r", f"web.{APEX}").seen
    spec = {"apex": APEX, "certMode": "http01"}
    target = Object.of(api.TENANT_GATEWAY, {**a_gateway().body, "spec": spec})
    world, _ = play(Scene((a_namespace("tenant-foo", "tenant-foo", APEX), target, route)))
    seen = world.store.get(KEY)
    assert seen is not None
    verbs = Counter(verb for verb, *_ in world.met)

    assert "Reconciled" == seen.body["status"]["conditions"][0]["reason"]
    assert 2 == len(seen.body["status"]["listeners"])
    assert not accept(world)
    assert verbs["create"] == 4
