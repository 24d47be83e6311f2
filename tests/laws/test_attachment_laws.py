"""The ten laws of architecture, section 4, over generated worlds of endpoint attachments."""

import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from attachment_objects import BARE, MINTED, MINTING, SEEN, delegated, pinned
from attachment_play import (
    assert_only_ours_is_written,
    holder_of,
    play,
    settle,
    substance,
)
from attachment_worlds import (
    CLASSES,
    TENANTS,
    Scene,
    an_application,
    an_attachment,
    of_kind,
    place_of,
    scenes,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.decide import RULES, decide, report
from roadstead.capabilities.attachments.snapshot import (
    Association,
    Delegation,
    Snapshot,
    selector_of,
)
from roadstead.decision import Did, Finding, How, Outcome, Verdict
from roadstead.engine.check import check
from roadstead.kube import names
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import EVENT, SERVICE
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from watched_world import WatchedWorld

FEW = settings(max_examples=settings().max_examples // 4)
"""A world takes a tenth of a second; a quarter of the profile's examples keeps tests quick."""
NAME = ATTACHMENTS_CONTROLLER.name

# snapshots

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("applicationRef", "endpoint", "loadBalancer", "ports", "conditions"),
                    *("addresses", "type", "status", "phase", "name", "address", "className"),
                    *("family", "method"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


def with_parts(seen: Object | None, parts: dict[str, Any]) -> Object | None:
    """An object with top-level parts of its body replaced."""
    return None if seen is None else Object.of(seen.kind, {**seen.body, **parts})


MOODS = st.sampled_from([SEEN, SEEN, BARE, MINTED, MINTING])
PARTS = st.dictionaries(st.sampled_from(["spec", "status"]), ODD, max_size=2)
RARELY = st.sampled_from([False, False, False, True])
ASSOCIATIONS = st.lists(
    st.builds(
        Association,
        st.sampled_from(["Service", "Service", "", "Machine"]),
        st.sampled_from(["tenant-blue", "tenant-red", ""]),
        st.sampled_from(["shop-db-abcde", "web", ""]),
        exists=st.booleans(),
    ),
    max_size=2,
).map(tuple)
BIRTHS = st.sampled_from(["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"])


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A snapshot with some of its facts gone, odd or contradictory."""
    seen = draw(MOODS)
    changes: dict[str, Any] = {
        "releases": draw(st.sampled_from([seen.releases, seen.releases, (), seen.releases * 2])),
        "endpoint": draw(st.sampled_from([seen.endpoint, seen.endpoint, None])),
        "endpoint_holder": draw(st.sampled_from(["", "", "", "web"])),
        "owned": draw(st.sampled_from([seen.owned, seen.owned, ()])),
        "claim_kind": not draw(RARELY),
        "class_kind": not draw(RARELY),
        "class_name": draw(st.sampled_from(["public", ""])),
        "ip_class": draw(st.sampled_from([seen.ip_class, None])),
        "contract": draw(st.booleans()),
        "node_ports": draw(st.booleans()),
        "classes": draw(st.sampled_from([frozenset[str](), frozenset({"gold"})])),
        "associations": draw(ASSOCIATIONS),
        "rivals": tuple(pinned(n, draw(BIRTHS)) for n in draw(st.sampled_from(["", "r", "rs"]))),
        "ready": draw(st.integers(0, 3)),
    }
    if draw(RARELY):
        changes["attachment"] = with_parts(seen.attachment, draw(PARTS))
    if draw(RARELY):
        changes["claim"] = with_parts(seen.claim, draw(PARTS))
    if draw(RARELY):
        other = delegated("other", draw(BIRTHS))
        pods = frozenset(draw(st.lists(st.sampled_from(["pod-1", "pod-2"]), max_size=1)))
        changes["delegations"] = (Delegation(other, pods, selector_of(other)),)
    return replace(seen, **changes)


OUTCOMES = st.builds(
    Outcome,
    st.sampled_from([SEEN.ref, SERVICE.ref("tenant-blue", "x"), api.CLAIM.ref("tenant-blue", "x")]),
    st.sampled_from(list(Did)),
    st.sampled_from([0, 401, 403, 404, 409, 413, 422, 500]),
    st.sampled_from(["", "Conflict", "Forbidden", "AlreadyExists", "Terminating"]),
    st.sampled_from(["", "NamespaceTerminating", "FieldValueTooLong"]),
    how=st.sampled_from([None, *How]),
)

# the laws


@given(snapshots(), st.lists(OUTCOMES, max_size=2))
def test_total_every_snapshot_gets_an_answer(seen: Snapshot, outcomes: list[Outcome]) -> None:
    """Law 1: a rule that raises would leave its key in a back-off loop for ever."""
    for rule in RULES:
        finding = rule(seen)
        assert isinstance(finding, Finding)
        assert (finding.verdict is Verdict.PASS) is (finding.reason == "")
    decision = report(seen, decide(seen), tuple(outcomes))
    assert decision.findings
    assert all(finding.reason in api.BY_NAME for finding in decision.findings if finding.reason)
    assert not {want.ref for want in decision.want} & {drop.ref for drop in decision.drop}


@given(snapshots())
def test_deterministic_the_same_snapshot_gives_the_same_decision(seen: Snapshot) -> None:
    """Law 2: `why` and `plan` print what the loop would do."""
    again = copy.deepcopy(seen)
    assert repr(decide(seen)) == repr(decide(again))
    assert [want.body for want in decide(seen).want] == [want.body for want in decide(again).want]


@given(snapshots())
def test_what_makes_or_deletes_is_sure(seen: Snapshot) -> None:
    """O8: a cache miss alone never deletes, and none doubles an object."""
    decision = decide(seen)
    writes = {want.how for want in decision.want} - {How.REPLACE}
    assert decision.sure or not (writes or decision.drop)
    assert all(drop.uid for drop in decision.drop)
    assert all(want.kind != api.CLAIM or want.how is How.MINT for want in decision.want)
    assert all(
        drop.ref.kind == SERVICE or drop.ref in {one.ref for one in seen.minted}
        for drop in decision.drop
    )


@FEW
@given(scenes(contests=False), st.randoms(use_true_random=False))
def test_deterministic_and_confluent_the_order_of_objects_changes_nothing(
    scene: Scene, order: Any
) -> None:
    """Laws 2 and 5: which attachment is looked at first is chance."""
    shuffled = list(scene.objects)
    order.shuffle(shuffled)
    one, _ = play(scene)
    other, _ = play(replace(scene, objects=tuple(shuffled)))
    assert substance(one) == substance(other)
    assert sorted(map(str, one.told)) == sorted(map(str, other.told))


@FEW
@given(scenes())
def test_settled_and_idempotent_a_further_pass_writes_and_tells_nothing(scene: Scene) -> None:
    """Laws 3 and 4: every world settles, and stays as it is."""
    world, settler = play(scene)
    writes, told = len(world.met), len(world.told)
    settler.engine.resync(NAME)
    settler.settle()
    settler.tick(timedelta(minutes=21))
    assert writes == len(world.met)
    assert told == len(world.told)
    settler.restart(scene.settings)
    settler.settle()
    assert writes == len(world.met)


@FEW
@given(scenes())
def test_valid_and_never_another_writers(scene: Scene) -> None:
    """Laws 6 and 8: what is sent is valid, and meets nothing but our own and the attachment."""
    world, settler = play(scene)
    for step in settler.steps:
        for want in step.decision.want:
            check(want.kind, want.body)
            assert want.kind != SERVICE or names.is_service_name(want.ref.name)
            assert names.is_subdomain(want.ref.name)
    assert_only_ours_is_written(world)


@FEW
@given(scenes(), st.sampled_from(TENANTS), st.data())
def test_bounded_blast_one_tenant_changes_nothing_for_another(
    scene: Scene, tenant: str, data: st.DataObject
) -> None:
    """Law 7: addresses and classes aside, nothing ties two namespaces."""
    theirs = [b for b in scene.objects if b["metadata"].get("namespace") == place_of(tenant)]
    left = data.draw(st.sampled_from(theirs)) if theirs else None
    without = replace(scene, objects=tuple(body for body in scene.objects if body is not left))
    other = next(name for name in TENANTS if name != tenant)
    assert specs(play(scene)[0], other) == specs(play(without)[0], other)


def specs(world: WatchedWorld, tenant: str) -> list[bytes]:
    """What is wanted in a namespace; which address the substrate hands out is its own matter."""
    found = []
    for seen in world.store.all(namespace=place_of(tenant)):
        if seen.kind in {SERVICE, api.CLAIM} and holder_of(seen):
            spec = {k: v for k, v in seen.body["spec"].items() if k in {"selector", "className"}}
            found.append(canonical([seen.ref.path, spec, dict(seen.annotations)]))
        if seen.kind == api.ATTACHMENT:
            conditions = seen.body["status"]["conditions"]
            reasons = [(c["type"], c["reason"]) for c in conditions if "Assigned" not in c["type"]]
            found.append(canonical([seen.ref.path, reasons]))
    return found


@FEW
@given(scenes())
def test_tenant_safe_no_word_names_another_namespace(scene: Scene) -> None:
    """3.7: conditions and events of one tenant never spell the other."""
    world, settler = play(scene)
    for tenant, other in (TENANTS, TENANTS[::-1]):
        place = place_of(tenant)
        for seen in world.store.all(namespace=place):
            if seen.kind in {api.ATTACHMENT, EVENT}:
                assert other not in str({k: seen.body.get(k) for k in ("status", "message")})
        for step in settler.steps:
            if step.key.namespace == place:
                assert other not in repr([f.message for f in step.decision.findings])
                assert other not in repr([e.message for e in step.decision.events])


@FEW
@given(scenes(leftovers=False))
def test_reversible_a_withdrawn_endpoint_takes_the_service_and_brings_it_back(
    scene: Scene,
) -> None:
    """Law 10: the address waits; whoever comes back has the one it had."""
    world, settler = play(scene)
    before = dict(attached(world))
    endpoints = [
        ref
        for body in scene.objects
        if (ref := of_kind(body)).kind == SERVICE and "-rw-" in ref.name
    ]
    for ref in endpoints:
        if (seen := world.store.get(ref)) is not None and not seen.deleting:
            world.delete(ref, By.OTHER)
    settle(world, settler)
    assert not [one for one in world.store.all(SERVICE) if holder_of(one)]
    for body in scene.objects:
        if of_kind(body) in endpoints and world.store.get(of_kind(body)) is None:
            world.seed(copy.deepcopy(body), of_kind(body))
    settle(world, settler)
    after = dict(attached(world))
    assert {uid: after.get(uid) for uid in before} == before
    for body in scene.objects:
        if body["kind"] == "IPAddressClaim":
            held = world.store.get(of_kind(body))
            assert held is not None
            assert body.get("status") == held.body.get("status")


def attached(world: WatchedWorld) -> list[tuple[str, Any]]:
    """Each attachment with an address, and which. A shared claim may change hands: first come."""
    users: dict[str, int] = {}
    found = []
    for seen in world.store.all(api.ATTACHMENT):
        status = seen.body.get("status") or {}
        key = f"{seen.meta.namespace}/{status.get('claimName')}"
        users[key] = users.get(key, 0) + 1
        alone = "method" not in seen.body["spec"]["loadBalancer"]
        if status.get("phase") == "Attached" and alone:
            found.append((key, (seen.meta.uid, status["addresses"])))
    return [(uid, addresses) for key, (uid, addresses) in found if users[key] == 1]


@FEW
@given(scenes(leftovers=False))
def test_reversible_a_deleted_attachment_leaves_nothing_and_keeps_what_it_referenced(
    scene: Scene,
) -> None:
    """Law 10: by garbage collection alone; we delete nothing."""
    world, settler = play(scene)
    deletions = len([1 for verb, *_ in world.met if verb == "delete"])
    for seen in world.store.all(api.ATTACHMENT):
        world.delete(seen.ref, By.OTHER)
    settler.settle()
    assert not [one for one in world.store.all() if holder_of(one)]
    assert deletions == len([1 for verb, *_ in world.met if verb == "delete"])
    for body in scene.objects:
        if body["kind"] in {"IPAddressClaim", "Service", "HelmRelease", "IPAddressClass"}:
            assert world.store.get(of_kind(body)) is not None


FAULTS = st.lists(
    st.builds(
        Fault,
        verb=st.sampled_from(["get", "list", "create", "update", "update-status", "apply"]),
        kind=st.sampled_from(["Service", "IPAddressClaim", "EndpointAttachment", "HelmRelease"]),
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
    assert plain(calm) == plain(world)


def plain(world: WatchedWorld) -> list[bytes]:
    """What stands, whichever address came first."""
    return [one for tenant in TENANTS for one in specs(world, tenant)]


def test_a_plain_world_of_the_generator_attaches() -> None:
    """A generator that never attaches anything would prove nothing."""
    application = an_application("blue", "shop", "one", "good")
    attachment = an_attachment("blue", "a", "shop", {})
    world, _ = play(Scene((*CLASSES, *application, attachment), Settings()))
    (seen,) = world.store.all(api.ATTACHMENT)
    assert "Attached" == seen.body["status"]["phase"]
