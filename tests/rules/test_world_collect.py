"""What depends on what is gone goes, and a namespace with what it holds."""

from typing import Any

import pytest

from roadstead.errors import ClusterError
from roadstead.kube.refs import CONFIG_MAP, HELM_RELEASE, NAMESPACE, SECRET, Ref
from roadstead.sim.requests import By
from roadstead.sim.world import Serving, World
from worlds import body, get, owner, secret, world


def owned(at: World, *owners: dict[str, Any]) -> Ref:
    """A Secret `owned` with these owners."""
    made = at.create(SECRET, secret("owned", meta={"ownerReferences": list(owners)}), By.OTHER)
    return made.ref


def test_what_has_lost_its_last_owner_goes() -> None:
    """One owner that is still there keeps it, without the reference to the other."""
    at = world()
    first = at.create(CONFIG_MAP, body(CONFIG_MAP, "a"), By.OTHER)
    second = at.create(CONFIG_MAP, body(CONFIG_MAP, "b"), By.OTHER)
    ref = owned(at, owner(first), owner(second))

    at.delete(first.ref, By.OTHER)
    at.collect()
    assert ["b"] == [o.name for o in get(at, name="owned").owners]
    at.delete(second.ref, By.OTHER)

    assert at.store.get(ref) is None


def test_collection_follows_a_chain() -> None:
    """What an orphan owned is an orphan too."""
    at = world()
    first = at.create(CONFIG_MAP, body(CONFIG_MAP, "a"), By.OTHER)
    middle = at.store.get(owned(at, owner(first)))
    assert middle is not None
    last = secret("last", meta={"ownerReferences": [owner(middle)]})
    at.create(SECRET, last, By.OTHER)

    at.delete(first.ref, By.OTHER)

    assert [SECRET.ref("t", "s")] == [seen.ref for seen in at.store.all(SECRET)]


@pytest.mark.parametrize(
    ("change", "stays"),
    [
        pytest.param({}, False, id="gone"),
        pytest.param({"kind": "Postgres", "apiVersion": "apps.cozystack.io/v1"}, True, id="kind"),
        pytest.param({"uid": "former"}, False, id="former-incarnation"),
    ],
)
def test_an_owner_that_was_never_there(change: dict[str, Any], *, stays: bool) -> None:
    """It counts as gone, unless its kind is one the server knows nothing of."""
    at = world()
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "s", "uid": "u"} | change
    ref = owned(at, reference)

    at.collect()

    assert stays is (at.store.get(ref) is not None)


def test_an_owner_of_a_kind_that_is_not_served_keeps_its_dependents() -> None:
    """Nobody can tell whether it is still there."""
    at = world()
    release = at.create(HELM_RELEASE, body(HELM_RELEASE, "r"), By.OTHER)
    ref = owned(at, owner(release) | {"uid": "former"})
    at.serve(HELM_RELEASE, Serving(now=False))

    at.collect()
    assert at.store.get(ref) is not None
    at.serve(HELM_RELEASE, Serving())
    at.collect()

    assert at.store.get(ref) is None


def test_dependents_can_be_left_uncollected() -> None:
    """As if the garbage collector had not come round yet."""
    at = world()
    release = at.create(HELM_RELEASE, body(HELM_RELEASE, "r"), By.OTHER)
    ref = owned(at, owner(release))

    at.delete(release.ref, By.OTHER, cascade=False)
    at.collect()

    assert at.store.get(ref) is not None


def test_a_terminating_namespace_takes_nothing_new() -> None:
    """The refusal carries the cause that tells it from a missing permission."""
    at = world()
    ref = NAMESPACE.ref("", "t")
    at.delete(ref, By.OTHER, cascade=False)

    with pytest.raises(ClusterError) as refused:
        at.create(SECRET, secret("late"), By.US)

    assert (403, "NamespaceTerminating") == (refused.value.status, refused.value.cause)


def test_a_deleted_namespace_goes_with_what_it_holds() -> None:
    """An object with a finalizer holds it back until the finalizer is gone."""
    at = world()
    held = SECRET.ref("t", "held")
    at.create(SECRET, secret("held", meta={"finalizers": ["a.b/c"]}), By.OTHER)

    at.delete(NAMESPACE.ref("", "t"), By.OTHER)
    assert [held] == [seen.ref for seen in at.store.all(SECRET)]
    at.merge(held, {"metadata": {"finalizers": []}}, By.OTHER)
    at.collect()

    assert not at.store.all()
