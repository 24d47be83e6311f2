"""The own-writes barrier and lost answers: runtime.md 6, points 7, 11 and 12."""

import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from attachment_play import (
    holder_of,
    settle,
    watched,
)
from attachment_worlds import (
    CLASSES,
    an_application,
    an_attachment,
    of_kind,
)
from attachment_worlds import a_claim as claims_of
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.snapshot import CLAIMS
from roadstead.decision import Decision, Did, Mint, Want
from roadstead.engine.memory import Withdrawals
from roadstead.engine.store import State
from roadstead.engine.writer import Writer
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SERVICE, Kind
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler, drive
from roadstead.sim.world import Admission, Reviewed, Serving
from watched_world import WatchedWorld

NS = "tenant-blue"
KEY = api.ATTACHMENT.ref(NS, "a-blue")
CUT = Fault(status=0, times=1, lost=True)


def staged(admission: Admission | None = None, **balancer: Any) -> tuple[WatchedWorld, Settler]:
    """An application and one attachment, and a process that has seen neither."""
    world = watched(admission)
    bodies = [*CLASSES, *an_application("blue", "shop", "one", "good")]
    if "claimName" in balancer:
        bodies += claims_of("blue", "held", "bound")
    bodies.append(an_attachment("blue", "a", "shop", balancer))
    for body in bodies:
        world.seed(copy.deepcopy(body), of_kind(body))
    return world, Settler(world, (ATTACHMENTS_CONTROLLER,), Settings())


def count(world: WatchedWorld, verb: str, kind: str) -> int:
    """How many of our writes of a sort were accepted."""
    return sum(1 for done, ref, _, _ in world.met if (done, ref.kind.kind) == (verb, kind))


def ours(world: WatchedWorld, kind: Any = SERVICE) -> list[Object]:
    """What attachments control."""
    return [seen for seen in world.store.all(kind) if holder_of(seen)]


def phase(world: WatchedWorld) -> str:
    """What is reported."""
    seen = world.store.get(KEY)
    assert seen is not None
    return str((seen.body.get("status") or {}).get("phase"))


def disturb(world: WatchedWorld, settler: Settler, number: int) -> None:
    """Lag, lost answers, refusals and restarts, another mixture for each number."""
    kinds = (api.CLAIM, SERVICE, api.ATTACHMENT, HELM_RELEASE)
    for place, kind in enumerate(kinds):
        settler.hold(kind, number // 4**place % 4)
    if number % 3:
        world.faults.set(replace(CUT, verb="create", kind="IPAddressClaim", lost=number % 3 == 1))
    if number % 5 == 1:
        world.faults.set(replace(CUT, verb="apply", kind="EndpointAttachment"))
    if number % 7 == 1:
        world.faults.set(replace(CUT, verb="create", kind="Service", status=500))
    if number % 11 == 1:
        world.faults.set(replace(CUT, verb="update-status", kind="EndpointAttachment"))


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_each_attachment_has_one_claim_however_late_the_watch_is(hundred: int) -> None:
    """Point 7: a thousand times, and each leaked claim would be a leaked address."""
    for number in range(hundred * 100, hundred * 100 + 100):
        world, settler = staged()
        disturb(world, settler, number)
        for _ in range(number % 4):
            settler.tick(timedelta(seconds=1))
            settler.restart(Settings())
        settler.tick(timedelta(minutes=1))
        assert 1 == count(world, "create", "IPAddressClaim"), number
        assert 1 == len(ours(world, api.CLAIM)), number


@pytest.mark.parametrize("number", range(0, 1000, 61))
def test_each_attachment_has_one_service_however_late_the_watch_is(number: int) -> None:
    """Point 7, for what takes the address: a second one would be given another."""
    world, settler = staged()
    disturb(world, settler, number)
    for _ in range(3):
        settler.tick(timedelta(minutes=1))
        settler.restart(Settings())
        settle(world, settler)
    assert (1, 1) == (count(world, "create", "Service"), len(ours(world)))
    assert "Attached" == phase(world)


@pytest.mark.parametrize("kind", ["Service", "IPAddressClaim"])
def test_a_mint_whose_answer_was_lost_ends_in_one_object(kind: str) -> None:
    """Point 12: the next try meets the first under the name it would take itself."""
    world, settler = staged()
    world.faults.set(replace(CUT, verb="create", kind=kind))
    settler.tick(timedelta(minutes=1))
    settle(world, settler)
    settler.tick(timedelta(minutes=1))
    assert (1, 1) == (count(world, "create", kind), count(world, "create", "Service"))
    assert "Attached" == phase(world)


@pytest.mark.parametrize("kind", ["Service", "IPAddressClaim"])
def test_a_name_that_is_free_again_is_taken(kind: str) -> None:
    """Who had it went between the answer and our look; another name would be another address."""
    calm, _ = attached()
    world, settler = staged()
    world.faults.set(replace(CUT, verb="create", kind=kind, status=409, lost=False))
    settle(world, settler)
    settler.tick(timedelta(minutes=6))
    settle(world, settler)
    assert "Attached" == phase(world)
    for minted in (SERVICE, api.CLAIM):
        assert [one.meta.name for one in ours(calm, minted)] == [
            one.meta.name for one in ours(world, minted)
        ]


def test_a_mint_that_meets_its_own_object_makes_no_second() -> None:
    """A list that lags behind shows nothing, so only the name keeps the second away."""
    world, _ = staged()
    body = {
        "apiVersion": api.CLAIM.api_version,
        "kind": api.CLAIM.kind,
        "metadata": {
            "generateName": "a-",
            "namespace": NS,
            "ownerReferences": [
                {
                    "apiVersion": api.ATTACHMENT.api_version,
                    "kind": api.ATTACHMENT.kind,
                    "name": "a",
                    "uid": "u-1",
                    "controller": True,
                }
            ],
        },
        "spec": {"className": "public"},
    }
    decision = Decision(want=(Want.mint(api.CLAIM, body, Mint("u-1", "claim")),))
    outcomes = []
    for _ in range(2):
        writer = Writer(Ours(world), Withdrawals())
        drive(writer.carry_out(KEY, decision, 0.0))
        outcomes += [one.did for one in writer.outcomes]

    assert [Did.CREATED, Did.UNCHANGED] == outcomes
    assert len([one for one in world.store.all(api.CLAIM) if one.meta.name.startswith("a-")]) == 1


def attached(**balancer: Any) -> tuple[WatchedWorld, Settler]:
    """A world at rest with an address."""
    world, settler = staged(**balancer)
    settle(world, settler)
    assert "Attached" == phase(world)
    return world, settler


def test_a_put_on_a_stale_version_is_decided_afresh() -> None:
    """Point 12: the second pass looks live, keeps what the other wrote, and puts ours right."""
    world, settler = attached()
    (service,) = ours(world)
    settler.hold(SERVICE, 3)
    for patch in (
        {"metadata": {"annotations": {"example.org/pin": "x"}}},
        {"spec": {"selector": {"app": "evil"}}},
        {"metadata": {"annotations": {"example.org/late": "y"}}},
    ):
        world.merge(service.ref, patch, By.OTHER)
    settler.settle()
    (after,) = ours(world)
    assert {"app": "shop"} == after.body["spec"]["selector"]
    assert {"example.org/pin", "example.org/late"} <= after.annotations.keys()
    assert service.meta.uid == after.meta.uid


def test_a_delete_of_a_stale_uid_spares_the_newcomer() -> None:
    """Point 12: what now has the name is somebody else's."""
    world, settler = attached()
    (service,) = ours(world)
    stranger = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service.meta.name, "namespace": NS},
        "spec": {"selector": {"app": "x"}, "ports": [{"port": 1, "protocol": "TCP"}]},
    }
    settler.hold(SERVICE, 4)
    world.delete(service.ref, By.OTHER)
    world.create(SERVICE, stranger, By.OTHER)
    world.delete(SERVICE.ref(NS, "shop-rw-blue"), By.OTHER)
    settler.settle()
    there = world.store.get(service.ref)
    assert there is not None
    assert "" == holder_of(there)
    assert [] == ours(world)
    assert "Detached" == phase(world)


def test_a_name_that_is_taken_gives_way_to_the_next() -> None:
    """5.2: a foreign object under our name is neither adopted nor touched."""
    world, settler = staged()
    rehearsal, rehearsing = staged()
    settle(rehearsal, rehearsing)
    (would_be,) = ours(rehearsal)
    taken = copy.deepcopy(would_be.body)
    meta = {"name": would_be.meta.name, "namespace": NS, "labels": taken["metadata"]["labels"]}
    spec = {"selector": {"app": "x"}, "ports": [{"port": 1, "protocol": "TCP"}]}
    world.create(SERVICE, {**taken, "metadata": meta, "spec": spec}, By.OTHER)
    settle(world, settler)
    (made,) = ours(world)
    assert would_be.meta.name != made.meta.name
    assert world.store.is_as_left(would_be.ref)
    assert "Attached" == phase(world)


def test_a_status_after_an_apply_meets_no_conflict() -> None:
    """Point 12: it carries the version that this pass's own apply left."""
    world, settler = staged()
    settle(world, settler)
    asked = [one for one in world.requests.since() if one.kind == api.ATTACHMENT and one.write]
    assert ["apply", "update-status"] == [one.verb for one in asked[:2]]
    assert asked[0].turn == asked[1].turn
    assert all(one.accepted for one in asked)


def test_a_status_on_a_stale_version_is_decided_afresh() -> None:
    """3.7: a 409 requeues; the status that stands in the end is of the newest generation."""
    world, settler = attached(claimName="held")
    settler.hold(api.ATTACHMENT, 2)
    world.merge(KEY, {"spec": {"loadBalancer": {"ports": [9999]}}}, By.OTHER)
    world.delete(SERVICE.ref(NS, "shop-rw-blue"), By.OTHER)
    settler.settle()
    seen = world.store.get(KEY)
    assert seen is not None
    assert seen.meta.generation == seen.body["status"]["observedGeneration"]


def test_a_kind_that_is_not_served_waits_without_a_request() -> None:
    """Point 11: discovery has said so; asking again for every attachment would be a storm."""
    world, settler = staged()
    for kind in (api.CLAIM, api.ADDRESS, api.CLASS):
        world.serve(kind, Serving(now=False))
    settler.settle()
    asked = {one.kind for one in world.requests.since() if one.kind.group == api.GROUP}
    assert {api.ATTACHMENT} == asked
    assert "ClaimPending" == reason(world)
    assert 30 == settler.lengths[ATTACHMENTS_CONTROLLER.name, KEY]


def reason(world: WatchedWorld) -> str:
    """Why it is not provisioned."""
    seen = world.store.get(KEY)
    assert seen is not None
    conditions = (seen.body.get("status") or {}).get("conditions") or ()
    return next((str(c["reason"]) for c in conditions if c["type"] == "Provisioned"), "")


def test_a_kind_that_appears_is_picked_up_and_one_that_goes_cuts_nothing() -> None:
    """6.3: without a restart; what was made stays, and the address goes on being named."""
    world, settler = staged()
    substrate_kinds = (api.CLAIM, api.ADDRESS, api.CLASS)
    for kind in substrate_kinds:
        world.serve(kind, Serving(now=False))
    settler.settle()
    for kind in substrate_kinds:
        world.serve(kind, Serving())
    settle(world, settler)
    assert "Attached" == phase(world)
    status = attachment_status(world)
    for kind in substrate_kinds:
        world.serve(kind, Serving(now=False))
    settler.settle()
    after = attachment_status(world)
    assert ("ClaimPending", 1) == (reason(world), len(ours(world)))
    for key in ("serviceName", "claimName", "addresses"):
        assert status[key] == after[key]


def attachment_status(world: WatchedWorld) -> dict[str, Any]:
    """The whole of what is reported."""
    seen = world.store.get(KEY)
    assert seen is not None
    status: dict[str, Any] = copy.deepcopy(seen.body["status"])
    return status


@pytest.mark.parametrize(
    ("status", "state"),
    [pytest.param(500, State.SYNCING, id="syncing"), pytest.param(403, State.FORBIDDEN, id="403")],
)
def test_a_view_that_cannot_answer_changes_nothing(status: int, state: State) -> None:
    """Point 11: unknown is never none; an attachment is not judged on half a world."""
    world, settler = attached()
    before, writes = attachment_status(world), len(world.met)
    world.faults.set(Fault(verb="list", kind="IPAddressClaim", status=status))
    settler.restart(Settings())
    settler.tick(timedelta(minutes=11))
    assert state is settler.engine.stores[CLAIMS].state
    assert before == attachment_status(world)
    assert writes == len(world.met)


def test_an_unanswered_endpoint_withdraws_nothing() -> None:
    """O8: a failed live read is no absence, however long it fails."""
    world, settler = attached()
    world.delete(SERVICE.ref(NS, "shop-rw-blue"), By.OTHER)
    world.faults.set(Fault(verb="list", kind="Service", status=500))
    settler.tick(timedelta(minutes=11))
    assert 1 == len(ours(world))
    world.faults.set(Fault(times=0))
    settler.tick(timedelta(minutes=6))
    assert [] == ours(world)


def with_a_pin(kind: Kind, body: dict[str, Any], old: Object | None) -> Reviewed:
    """A policy that annotates every load balancer when it is made."""
    if kind == SERVICE and old is None and body["spec"].get("type") == "LoadBalancer":
        notes = {**body["metadata"].get("annotations", {}), "example.org/pool": "x"}
        body = {**body, "metadata": {**body["metadata"], "annotations": notes}}
    return Reviewed(body)


def test_what_admission_added_survives_our_next_write() -> None:
    """4.7: a create is answered without annotations; the watch's word for them must count."""
    world, settler = staged(with_a_pin, claimName="held")
    settler.settle()
    assert "Attached" == phase(world)
    endpoint = SERVICE.ref(NS, "shop-rw-blue")
    world.merge(endpoint, {"spec": {"selector": {"app": "new"}}}, By.OTHER)
    settler.settle()
    (after,) = ours(world)
    assert {"app": "new"} == after.body["spec"]["selector"]
    assert "x" == after.annotations.get("example.org/pool")


def test_what_we_write_for_one_wakes_another() -> None:
    """5.3: a slot that is given up by our own PUT is taken at once, not with the next resync."""
    world = watched()
    bodies = [*CLASSES, *an_application("blue", "shop", "one", "good")]
    bodies.append(an_attachment("blue", "b", "shop", {"method": "WholeIP"}))
    for body in bodies:
        world.seed(copy.deepcopy(body), of_kind(body))
    flags = Settings(cozy_proxy_contract_implemented=True)
    settler = Settler(world, (ATTACHMENTS_CONTROLLER,), flags)
    settle(world, settler)
    world.seed(an_attachment("blue", "a", "shop", {"method": "WholeIP"}), KEY)
    settle(world, settler)
    assert "BackendAlreadyDelegated" == reason(world)
    holder = api.ATTACHMENT.ref(NS, "b-blue")
    world.merge(holder, {"spec": {"loadBalancer": {"method": None}}}, By.OTHER)
    settle(world, settler)
    assert "Attached" == phase(world)
