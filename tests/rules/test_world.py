"""The API in memory takes and refuses writes as Kubernetes' own does."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Kind
from roadstead.settings import Settings
from roadstead.sim.offline import Offline
from roadstead.sim.requests import By
from roadstead.sim.world import Reviewed, World
from worlds import CANARY, NOW, QUOTA, SERVICE, body, get, put, secret, world


def controller_twice() -> list[dict[str, Any]]:
    """Two owners that both claim to be the controller."""
    one = {"apiVersion": "v1", "kind": "ConfigMap", "uid": "u", "controller": True}
    return [one | {"name": "a"}, one | {"name": "b"}]


@pytest.mark.parametrize(
    ("write", "status", "reason"),
    [
        pytest.param(
            lambda at: at.create(SECRET, secret(), By.US), 409, "AlreadyExists", id="exists"
        ),
        pytest.param(
            lambda at: at.create(SECRET, body(SECRET, "x", "nowhere"), By.US),
            404,
            "NotFound",
            id="no-namespace",
        ),
        pytest.param(
            lambda at: at.create(SECRET, body(SECRET, "Under_score"), By.US),
            422,
            "Invalid",
            id="name",
        ),
        pytest.param(
            lambda at: at.create(SERVICE, body(SERVICE, "Not-lower"), By.US),
            422,
            "Invalid",
            id="service-name",
        ),
        pytest.param(
            lambda at: at.create(SECRET, body(SECRET, "x", data={"k": "AAAA" * 349_526}), By.US),
            422,
            "Invalid",
            id="too-large",
        ),
        pytest.param(
            lambda at: at.create(SECRET, body(SECRET, "x", data={"k": "%"}), By.US),
            400,
            "BadRequest",
            id="no-base64",
        ),
        pytest.param(
            lambda at: at.create(
                SECRET, secret("x", meta={"ownerReferences": controller_twice()}), By.US
            ),
            422,
            "Invalid",
            id="second-controller",
        ),
        pytest.param(
            lambda at: at.create(SECRET, secret("x", meta={"resourceVersion": "1"}), By.US),
            400,
            "BadRequest",
            id="version-on-create",
        ),
        pytest.param(
            lambda at: at.create(SECRET, secret("x", meta={"labels": {"a": "b c"}}), By.US),
            422,
            "Invalid",
            id="label",
        ),
        pytest.param(
            lambda at: at.create(SECRET, secret("x", meta={"labels": {"/": "b"}}), By.US),
            422,
            "Invalid",
            id="label-key",
        ),
        pytest.param(
            lambda at: at.create(SECRET, secret("x", meta={"labels": ["a"]}), By.US),
            400,
            "BadRequest",
            id="labels",
        ),
        pytest.param(
            lambda at: at.create(SECRET, body(SECRET, "x", data={"a/b": ""}), By.US),
            422,
            "Invalid",
            id="data-key",
        ),
        pytest.param(
            lambda at: at.create(
                SECRET, secret("x", meta={"ownerReferences": [{"name": "a"}]}), By.US
            ),
            422,
            "Invalid",
            id="owner-without-uid",
        ),
        pytest.param(
            lambda at: put(at, get(at), type="other"), 422, "Invalid", id="type-is-immutable"
        ),
        pytest.param(
            lambda at: at.replace(SECRET, secret("gone"), By.US), 404, "NotFound", id="put-absent"
        ),
        pytest.param(
            lambda at: at.replace(SECRET, secret(meta={"resourceVersion": "0"}), By.US),
            409,
            "Conflict",
            id="stale-version",
        ),
        pytest.param(
            lambda at: at.replace(SECRET, secret(meta={"uid": "other"}), By.US),
            409,
            "Conflict",
            id="other-uid",
        ),
        pytest.param(
            lambda at: at.delete(get(at).ref, By.US, uid="other"), 409, "Conflict", id="delete-uid"
        ),
        pytest.param(
            lambda at: at.delete(get(at).ref, By.US, resource_version="0"),
            409,
            "Conflict",
            id="delete-version",
        ),
        pytest.param(
            lambda at: at.delete(SECRET.ref("t", "x"), By.US), 404, "NotFound", id="delete-absent"
        ),
    ],
)
def test_a_write_is_refused_as_the_api_server_refuses_it(
    write: Callable[[World], object], status: int, reason: str
) -> None:
    """Each refusal is one step from a write that goes through, and shows no value."""
    at = world()
    before = at.store.version

    with pytest.raises(ClusterError) as refused:
        write(at)

    assert (status, reason) == (refused.value.status, refused.value.reason)
    assert before == at.store.version
    assert CANARY not in repr(refused.value) + str(refused.value)


def test_an_immutable_secret_keeps_its_data_and_nothing_else() -> None:
    """Its labels can change; its data and the mark itself cannot."""
    at = world()
    put(at, get(at), immutable=True)
    seen = get(at)

    at.merge(seen.ref, {"metadata": {"labels": {"a": "b"}}}, By.OTHER)

    assert {"a": "b"} == get(at).labels
    changes: tuple[dict[str, Any], ...] = (
        {"data": {"k": "AA=="}},
        {"immutable": False},
        {"stringData": {"k": "other"}},
    )
    for change in changes:
        with pytest.raises(ClusterError) as refused:
            at.merge(seen.ref, change, By.OTHER)
        assert refused.value.status == 422


def test_a_write_that_changes_nothing_keeps_the_version() -> None:
    """A watcher hears nothing of it, as with the API server."""
    at = world()
    before = get(at).meta.resource_version

    put(at, get(at))

    assert before == get(at).meta.resource_version


def test_generation_counts_wishes_only() -> None:
    """Neither labels nor status raise it; Secrets have none."""
    at = World(NOW)
    at.create(HELM_RELEASE, body(HELM_RELEASE, "r", spec={"a": 1}), By.OTHER)
    ref = HELM_RELEASE.ref("t", "r")

    at.merge(ref, {"metadata": {"labels": {"a": "b"}}}, By.OTHER)
    at.merge(ref, {"status": {"x": 1}}, By.OTHER)
    at.merge(ref, {"spec": {"a": 2}}, By.OTHER)

    assert get(at, HELM_RELEASE, "r").meta.generation == 2
    assert get(world()).meta.generation == 0


def test_status_is_written_through_its_own_door() -> None:
    """A PUT of the object leaves the status alone; a PUT of the status leaves the rest alone."""
    at = World(NOW)
    at.create(HELM_RELEASE, body(HELM_RELEASE, "r", spec={"a": 1}, status={"x": 0}), By.OTHER)
    seen = get(at, HELM_RELEASE, "r")
    assert "status" not in seen.body

    put(at, seen, spec={"a": 2}, status={"x": 1})
    seen = get(at, HELM_RELEASE, "r")
    changed = seen.body | {"spec": {"a": 3}, "status": {"x": 2}}
    at.replace(HELM_RELEASE, changed, By.US, status=True)

    seen = get(at, HELM_RELEASE, "r")
    assert ({"a": 2}, {"x": 2}) == (seen.body["spec"], seen.body["status"])


def test_a_put_of_a_custom_resource_names_its_version() -> None:
    """Without a resourceVersion it would overwrite what it has not seen."""
    at = World(NOW)
    at.create(HELM_RELEASE, body(HELM_RELEASE, "r"), By.OTHER)

    with pytest.raises(ClusterError) as refused:
        at.replace(HELM_RELEASE, body(HELM_RELEASE, "r"), By.US)

    assert refused.value.status == 422


def test_a_secret_that_is_too_large_says_so_in_its_cause() -> None:
    """By it a value that is too large is told from a policy. Source: trust-anchors 11."""
    at = world()
    value = b64encode(b"x" * (1024 * 1024 + 1)).decode()

    with pytest.raises(ClusterError) as refused:
        at.create(SECRET, body(SECRET, "x", data={"a": value}), By.US)

    assert (422, "FieldValueTooLong") == (refused.value.status, refused.value.cause)


def test_a_finalizer_keeps_a_deleted_object_readable() -> None:
    """It goes when the last finalizer does, and gets no new one."""
    at = world()
    ref = get(at).ref
    at.merge(ref, {"metadata": {"finalizers": ["a.example.org/b"]}}, By.OTHER)

    at.delete(ref, By.OTHER)

    assert get(at).deleting
    with pytest.raises(ClusterError):
        at.merge(ref, {"metadata": {"finalizers": ["a.example.org/b", "c.d/e"]}}, By.OTHER)
    at.merge(ref, {"metadata": {"finalizers": None}}, By.OTHER)
    assert at.store.get(ref) is None


@pytest.mark.parametrize("resource", ["secrets", "count/secrets"])
def test_a_quota_bounds_how_many_there_are(resource: str) -> None:
    """One more than `hard` is refused, for us and for others."""
    at = world()
    at.create(QUOTA, body(QUOTA, "q", spec={"hard": {resource: "2"}}), By.OTHER)
    at.create(SECRET, secret("second"), By.US)

    with pytest.raises(ClusterError, match="exceeded quota: q") as refused:
        at.create(SECRET, secret("third"), By.US)

    assert refused.value.status == 403


def test_the_same_history_gives_the_same_world() -> None:
    """Uids and versions are derived, never random."""
    one, other = world(), world()

    assert [seen.body for seen in one.store.all()] == [seen.body for seen in other.store.all()]


def test_a_reader_cannot_change_what_is_stored() -> None:
    """Each read gives its own copy."""
    at = world()
    get(at).body["data"]["k"] = "changed"

    assert get(at).body["data"]["k"] != "changed"


def test_only_another_writers_last_word_is_untouched() -> None:
    """A write of ours that changes nothing leaves it so; one that does, does not."""
    at = world()
    put(at, get(at))
    assert at.store.is_as_left(get(at).ref)

    put(at, get(at), data={})

    assert not at.store.is_as_left(get(at).ref)


def test_admission_reviews_what_others_write() -> None:
    """It may change a body, warn, or refuse; world.yaml passes it by."""

    def review(kind: Kind, new: dict[str, Any], _old: Object | None) -> Reviewed:
        if new["metadata"]["name"] == "no":
            raise ClusterError("not this one", status=403, reason="Forbidden")
        meta = new["metadata"] | {"labels": {"seen": kind.kind}}
        return Reviewed(new | {"metadata": meta}, ("a warning",))

    at = World(NOW, admission=review)
    stage = Offline(at, (), Settings())
    at.seed(secret("seeded"), SECRET.ref("t", "seeded"))

    answers = [stage.apply(SECRET.ref("t", name), secret(name)) for name in ("s", "no")]

    assert [(200, ("a warning",)), (403, ())] == [(a.code, a.warnings) for a in answers]
    assert {"seen": "Secret"} == get(at).labels
    assert {} == get(at, name="seeded").labels


def test_status_of_an_applied_object_goes_through_its_own_door() -> None:
    """Both when it is made and when it is changed."""
    at = World(NOW)
    stage = Offline(at, (), Settings())
    ref = HELM_RELEASE.ref("t", "r")

    for number in (1, 2):
        stage.apply(ref, body(HELM_RELEASE, "r", spec={"a": 1}, status={"x": number}))
        assert {"x": number} == get(at, HELM_RELEASE, "r").body["status"]

    assert get(at, HELM_RELEASE, "r").meta.generation == 1
