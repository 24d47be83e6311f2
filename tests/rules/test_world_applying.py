"""Server-side apply, lists that lag, and the other requests of ours that attachments brought."""

from typing import Any

import pytest

from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.errors import BugError, ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, Kind
from roadstead.kube.views import Form, View
from roadstead.sim.applying import in_order
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from roadstead.sim.world import World
from worlds import NOW, body, get, owner

PROTECTION = "local.sdn.cozystack.io/claim-protection"
SPEC = {
    "applicationRef": {"kind": "Postgres", "name": "db"},
    "endpoint": {"serviceName": "x"},
    "loadBalancer": {},
}


def there(*names: str, kind: Kind = CONFIG_MAP) -> tuple[World, dict[str, Object]]:
    """A world with a few objects of a kind, and them by name."""
    at = World(NOW)
    return at, {name: at.create(kind, body(kind, name), By.OTHER) for name in names}


def applied(at: World, name: str, manager: str = "m", **meta: Any) -> Object:
    """One application by us."""
    drive(Ours(at).apply(CONFIG_MAP, body(CONFIG_MAP, name, meta=meta), manager))
    return get(at, CONFIG_MAP, name)


def test_an_application_that_changes_nothing_writes_nothing() -> None:
    """At steady state there is no write, and no event of one."""
    at, _ = there("a")
    first = applied(at, "a", labels={"l": "1"})

    assert first.meta.resource_version == applied(at, "a", labels={"l": "1"}).meta.resource_version


def test_what_is_left_out_goes_unless_it_is_somebody_elses() -> None:
    """Only what we alone have applied is ours to take away."""
    at, _ = there("a")
    at.merge(CONFIG_MAP.ref("t", "a"), {"metadata": {"labels": {"theirs": "1"}}}, By.OTHER)
    applied(at, "a", labels={"ours": "1", "theirs": "1", "both": "1", "taken": "1"})
    applied(at, "a", "other", labels={"both": "1"})
    at.merge(CONFIG_MAP.ref("t", "a"), {"metadata": {"labels": {"taken": "2"}}}, By.OTHER)

    left = applied(at, "a")

    assert {"theirs": "1", "both": "1", "taken": "2"} == dict(left.labels)


def test_an_owner_is_added_beside_those_of_others() -> None:
    """References are matched by uid; a stale one is not replaced by a new one of its name."""
    at, seen = there("a", "b", "c")
    at.merge(seen["a"].ref, {"metadata": {"ownerReferences": [owner(seen["b"])]}}, By.OTHER)
    both = applied(at, "a", ownerReferences=[owner(seen["c"])])
    one = applied(at, "a")

    assert ["b", "c"] == [one.name for one in both.owners]
    assert ["b"] == [one.name for one in one.owners]


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ("ac", "cb", "acb"),
        ("acb", "bc", "abc"),
        ("a", "da", "da"),
        ("ab", "ba", "ba"),
        ("", "ab", "ab"),
        ("ab", "c", "abc"),
        ("abc", "ca", "bca"),
    ],
)
def test_applied_owners_stand_in_the_servers_order(before: str, wanted: str, after: str) -> None:
    """A comparison with the real server is by position."""
    made = in_order([{"uid": uid} for uid in before], [{"uid": uid} for uid in wanted])

    assert after == "".join(one["uid"] for one in made)


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        pytest.param("gone", 409, "Conflict", id="absent"),
        pytest.param(
            "a",
            422,
            'Invalid: metadata.uid: Invalid value: "other": field is immutable',
            id="another",
        ),
    ],
)
def test_a_stated_uid_keeps_from_making_or_changing_another(
    name: str, status: int, said: str
) -> None:
    """The server's two answers differ in their status; neither writes."""
    at, seen = there("a")

    with pytest.raises(ClusterError) as refused:
        applied(at, name, uid="other", labels={"l": "1"})

    assert (status, said) == (refused.value.status, refused.value.said)
    assert seen["a"].meta == get(at, CONFIG_MAP, "a").meta
    assert [("apply", ("uid",), False)] == [
        (one.verb, one.preconditions, one.accepted) for one in at.requests.since()
    ]


def test_an_application_is_a_write_and_makes_what_is_absent() -> None:
    """It is counted, and a fault can hit it."""
    at = World(NOW)
    at.create(CONFIG_MAP, body(CONFIG_MAP, "first"), By.OTHER)
    made = applied(at, "a", labels={"l": "1"}, resourceVersion="1")
    at.faults.set(Fault("apply", "ConfigMap", times=1))
    with pytest.raises(ClusterError):
        applied(at, "a")

    assert {"l": "1"} == dict(made.labels)
    assert [("apply ConfigMap/t/a", True, True), ("apply ConfigMap/t/a", True, False)] == [
        (str(one), one.write, one.accepted) for one in at.requests.since()
    ]


def test_what_was_deleted_and_made_anew_belongs_to_nobody() -> None:
    """Fields are owned by uid, not by name."""
    at, _ = there("a")
    applied(at, "a", labels={"l": "1"})
    at.delete(CONFIG_MAP.ref("t", "a"), By.OTHER)
    at.create(CONFIG_MAP, body(CONFIG_MAP, "a", meta={"labels": {"l": "1"}}), By.OTHER)

    assert {"l": "1"} == dict(applied(at, "a").labels)


def test_maps_below_the_spec_are_merged_and_other_lists_refused() -> None:
    """The offline world says so rather than to make something up."""
    at = World(NOW)
    at.create(CONFIG_MAP, body(CONFIG_MAP, "a", data={"k": "1"}), By.OTHER)
    ours = Ours(at)

    drive(ours.apply(CONFIG_MAP, body(CONFIG_MAP, "a", data={"l": "2"}), "m"))
    assert {"k": "1", "l": "2"} == get(at, CONFIG_MAP, "a").body["data"]
    drive(ours.apply(CONFIG_MAP, body(CONFIG_MAP, "a"), "m"))
    assert {"k": "1"} == get(at, CONFIG_MAP, "a").body["data"]
    with pytest.raises(BugError, match=r"list spec\.ports is applied"):
        drive(ours.apply(CONFIG_MAP, body(CONFIG_MAP, "a", spec={"ports": [1]}), "m"))


@pytest.mark.parametrize("form", list(Form))
def test_a_live_list_has_the_selection_and_the_form_of_its_view(form: Form) -> None:
    """It stands in for the view where that may not be trusted."""
    at, _ = there("a", "b")
    meta = {"labels": {"l": "1"}, "annotations": {"x": "y"}}
    for name in ("a", "b"):
        at.merge(CONFIG_MAP.ref("t", name), {"metadata": meta}, By.OTHER)
    at.create(CONFIG_MAP, body(CONFIG_MAP, "a", "u", meta=meta), By.OTHER)
    view = View("maps", CONFIG_MAP, form, labels="l=1", fields="metadata.name!=b")
    ours = Ours(at)

    (seen,) = drive(ours.list_view(view, "t"))
    at.faults.set(Fault("list", "ConfigMap", times=1))
    with pytest.raises(ClusterError):
        drive(ours.list_view(view, "t"))

    assert form is Form.FULL if seen.body else form is Form.METADATA
    assert form is Form.FULL if seen.annotations else form is Form.METADATA
    assert ["list ConfigMap/t/", "list ConfigMap/t/"] == [str(one) for one in at.requests.since()]


def test_lists_of_a_kind_that_lags_are_old_and_single_reads_are_not() -> None:
    """And what is there is there to a creation, seen or not."""
    at, _ = there("a")
    position = len(at.store.log)
    at.create(CONFIG_MAP, body(CONFIG_MAP, "b"), By.OTHER)
    ours = Ours(at, lambda _kind: position)

    listed = drive(ours.list_metadata(CONFIG_MAP, "t"))
    viewed = drive(ours.list_view(View("maps", CONFIG_MAP), "t"))
    with pytest.raises(ClusterError) as taken:
        drive(ours.create(CONFIG_MAP, body(CONFIG_MAP, "b")))

    assert ["a"] == [seen.meta.name for seen in listed]
    assert ["a"] == [seen.meta.name for seen in viewed]
    assert drive(ours.list_view(View("maps", CONFIG_MAP), "elsewhere")) == ()
    assert drive(ours.get(CONFIG_MAP.ref("t", "b"))) is not None
    assert "AlreadyExists" == taken.value.reason


def test_a_uid_alone_can_be_the_precondition_of_a_deletion() -> None:
    """An older version of the same object is no reason to keep it."""
    at, seen = there("a")
    at.merge(seen["a"].ref, {"metadata": {"labels": {"l": "1"}}}, By.OTHER)
    ours = Ours(at)

    with pytest.raises(ClusterError):
        drive(ours.delete(seen["a"].ref, "other", ""))
    drive(ours.delete(seen["a"].ref, seen["a"].meta.uid, ""))

    assert [("uid",), ("uid",)] == [one.preconditions for one in at.requests.since()]
    assert at.store.get(seen["a"].ref) is None


def test_a_protected_claim_stays_to_be_read_while_it_is_deleted() -> None:
    """Its owner has gone already: nothing waits for what blocks its deletion in the foreground."""
    at = World(NOW, Kinds([ATTACHMENT]))
    parent = at.create(ATTACHMENT, body(ATTACHMENT, "a", spec=SPEC), By.OTHER)
    owners = [owner(parent, controller=True, blockOwnerDeletion=True)]
    meta = {"ownerReferences": owners, "finalizers": [PROTECTION]}
    at.create(CLAIM, body(CLAIM, "c", meta=meta, spec={}), By.US)

    at.delete(parent.ref, By.OTHER)
    held = get(at, CLAIM, "c")
    with pytest.raises(ClusterError, match="object is being deleted"):
        at.create(CLAIM, body(CLAIM, "c", spec={}), By.US)

    assert at.store.get(parent.ref) is None
    assert held.deleting
    at.merge(held.ref, {"metadata": {"finalizers": None}}, By.OTHER)
    assert at.store.get(held.ref) is None
