"""Our own requests: what fails on demand, what is logged, what an answer shows."""

import pytest

from roadstead.decision import Event
from roadstead.errors import ClusterError
from roadstead.kube.refs import EVENT, HELM_RELEASE, SECRET
from roadstead.sim.faults import Fault
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from roadstead.sim.world import Serving, World
from worlds import NOW, body, get, secret, world


@pytest.mark.parametrize(
    ("fault", "status", "there"),
    [
        pytest.param(Fault("create", "Secret", status=503), 503, False, id="by-kind"),
        pytest.param(Fault("create", name="x", status=0), 0, False, id="cut"),
        pytest.param(Fault("create", lost=True), 0, True, id="answer-lost"),
        pytest.param(Fault("create", "Secret", "t", "x", 409), 409, False, id="raced"),
    ],
)
def test_a_fault_answers_in_place_of_the_server(fault: Fault, status: int, *, there: bool) -> None:
    """A lost answer has done its work; every other fault has not."""
    at = world()
    at.faults.set(fault)

    with pytest.raises(ClusterError) as failed:
        drive(Ours(at).create(SECRET, secret("x")))

    assert status == failed.value.status
    assert there is (at.store.get(SECRET.ref("t", "x")) is not None)


def test_a_fault_is_used_up_or_lifted() -> None:
    """`times` bounds it, and `times: 0` ends every fault it covers."""
    at = world()
    ref = get(at).ref
    at.faults.set(Fault("get", "Secret", times=1))
    with pytest.raises(ClusterError):
        drive(Ours(at).get(ref))
    assert drive(Ours(at).get(ref)) is not None

    at.faults.set(Fault("get", "Secret", "t", "s"))
    at.faults.set(Fault("get", "Secret", times=0))

    assert drive(Ours(at).get(ref)) is not None


def test_a_kind_that_is_not_served_is_an_error_and_not_an_absence() -> None:
    """What cannot be read must never look like nothing."""
    at = world()
    at.serve(SECRET, Serving(versions=("v2",)))

    with pytest.raises(ClusterError) as refused:
        drive(Ours(at).get(SECRET.ref("t", "s")))

    assert refused.value.not_found


def test_a_list_shows_metadata_only() -> None:
    """No value and no annotation of a Secret leaves a list."""
    at = world()
    at.merge(get(at).ref, {"metadata": {"labels": {"a": "b"}, "annotations": {"x": "y"}}}, By.US)
    at.create(SECRET, secret("other"), By.OTHER)

    (seen,) = drive(Ours(at).list_metadata(SECRET, "t", "a=b"))

    assert ({}, {}, "s") == (seen.body, dict(seen.annotations), seen.meta.name)


def test_requests_of_ours_are_logged_with_their_preconditions() -> None:
    """A case reads from this what was written and with what care."""
    at = world()
    seen = get(at)
    ours = Ours(at)
    drive(ours.replace(SECRET, seen.body | {"data": {}}))
    drive(ours.delete(seen.ref, seen.meta.uid, get(at).meta.resource_version))
    drive(ours.delete(seen.ref, "", ""))

    logged = [(str(r), r.preconditions, r.accepted) for r in at.requests.since()]

    both = ("uid", "resourceVersion")
    assert [
        ("update Secret/t/s", both, True),
        ("delete Secret/t/s", both, True),
        ("delete Secret/t/s", (), False),
    ] == logged


def test_a_repeated_event_counts_up_the_one_that_is_there() -> None:
    """People see one line that says how often."""
    at = world()
    event = Event(get(at).ref, get(at).meta.uid, "Reason", "message")

    drive(Ours(at).publish("component", event, 0))
    drive(Ours(at).publish("component", event, 1))

    assert [2] == [seen.body["count"] for seen in at.store.all(EVENT)]
    assert [0, 1] == [told.times for told in at.told]


def test_our_own_patches_and_statuses_are_logged() -> None:
    """They have verbs of their own in a case."""
    at = World(NOW)
    at.create(HELM_RELEASE, body(HELM_RELEASE, "r"), By.OTHER)
    seen = get(at, HELM_RELEASE, "r")
    ours = Ours(at)

    drive(ours.replace_status(HELM_RELEASE, seen.body | {"status": {"x": 1}}))
    drive(ours.patch(seen.ref, {"metadata": {"labels": {"a": "b"}}}))
    with pytest.raises(ClusterError):
        drive(ours.patch(seen.ref, {"metadata": {"resourceVersion": "0"}}))

    assert [("update-status", True), ("patch", True), ("patch", False)] == [
        (request.verb, request.accepted) for request in at.requests.since()
    ]
