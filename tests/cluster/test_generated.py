"""The same writes, sent to the offline world and to a real server, are answered alike.

Generated: creations, replacements with fresh and stale versions, merge patches, deletions with
preconditions, immutable Secrets, finalizers, second controller owners. Compared: status and
reason of every answer, and every object after every write.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live_admin import Admin, Reply
from live_cluster import Cluster
from live_compare import IGNORED, State, Words, differences, ignored_paths, state_of
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, HELM_RELEASE, NAMESPACE, SECRET, Kind, Ref
from roadstead.sim.requests import By
from roadstead.sim.world import World

pytestmark = pytest.mark.cluster

EXAMPLES, MANY_EXAMPLES = 60, 600
NAMES = ("a", "b")
OTHER_UID = "00000000-0000-4000-8000-000000000000"
FINALIZER = "example.org/hold"
IGNORED_HERE = (("*", "metadata.creationTimestamp"),)
"""Beside ignored.txt: no case gives these writes a time."""
_numbers = count(1)


@dataclass(frozen=True)
class Write:
    """One write. version, uid: fresh, stale (of the uid: another's), or empty for not stated."""

    verb: str
    ref: Ref
    body: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    uid: str = ""


def _owner(name: str, *, controller: bool) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": name,
        "uid": f"uid of {name}",
        "controller": controller,
    }


VALUES = st.sampled_from(["AA==", "QUJD", "", "no base64!"])
DATA = st.dictionaries(st.sampled_from(["ca.crt", "ca.key", "not/ a key"]), VALUES, max_size=2)
LABELS = st.dictionaries(
    st.sampled_from(["app", "example.org/part"]), st.sampled_from(["x", "", "not a value"])
)
OWNERS = st.sampled_from(
    [
        [],
        [_owner("one", controller=True)],
        [_owner("one", controller=True), _owner("two", controller=False)],
        [_owner("one", controller=True), _owner("two", controller=True)],
    ]
)
FINALIZERS = st.sampled_from([[], [FINALIZER], [FINALIZER, "example.org/second"]])
META = st.fixed_dictionaries(
    {}, optional={"labels": LABELS, "ownerReferences": OWNERS, "finalizers": FINALIZERS}
)
SECRET_PARTS = st.fixed_dictionaries(
    {"metadata": META},
    optional={
        "data": DATA,
        "immutable": st.booleans(),
        "type": st.sampled_from(["Opaque", "example.org/other"]),
    },
)
RELEASE_PARTS = st.fixed_dictionaries(
    {"metadata": META},
    optional={"spec": st.fixed_dictionaries({"interval": st.sampled_from(["5m", "6m"])})},
)
PRECONDITIONS = st.sampled_from(["", "fresh", "stale"])


@st.composite
def write(draw: st.DrawFn) -> Write:
    """One write of a Secret or a HelmRelease."""
    kind = draw(st.sampled_from([SECRET, SECRET, HELM_RELEASE]))
    ref = kind.ref("", draw(st.sampled_from(NAMES)))
    verb = draw(st.sampled_from(["create", "replace", "replace", "patch", "patch", "delete"]))
    body: dict[str, Any] = draw(SECRET_PARTS if kind == SECRET else RELEASE_PARTS)
    if kind == HELM_RELEASE and verb != "patch":
        chart = {"chartRef": {"kind": "OCIRepository", "name": "postgres"}}
        body = body | {"spec": {"interval": "5m", **body.get("spec", {}), **chart}}
    return Write(verb, ref, body, draw(PRECONDITIONS), draw(PRECONDITIONS))


WRITES = st.lists(write(), min_size=3, max_size=10)


@dataclass
class Side:
    """One of the two: how it is written to, and what it had before."""

    create: Callable[[Kind, dict[str, Any]], Reply]
    replace: Callable[[Kind, dict[str, Any]], Reply]
    patch: Callable[[Ref, dict[str, Any]], Reply]
    delete: Callable[[Ref, dict[str, str]], Reply]
    get: Callable[[Ref], dict[str, Any] | None]
    first: dict[Ref, str] = field(default_factory=dict)
    uids: dict[str, str] = field(default_factory=dict)

    def send(self, one: Write, namespace: str) -> tuple[int, str]:
        """Send one write; give status and reason."""
        ref = one.ref._replace(namespace=namespace)
        seen = (self.get(ref) or {}).get("metadata", {})
        if seen:
            self.first.setdefault(ref, seen["resourceVersion"])
        stale = self.first.get(ref, "1")
        version = {"fresh": seen.get("resourceVersion", ""), "stale": stale}.get(one.version, "")
        uid = {"fresh": seen.get("uid", ""), "stale": OTHER_UID}.get(one.uid, "")
        stated = {k: v for k, v in (("resourceVersion", version), ("uid", uid)) if v}
        reply = self._sent(one, ref, stated)
        return (reply.code if reply.refused else 200), reply.reason

    def _sent(self, one: Write, ref: Ref, stated: dict[str, str]) -> Reply:
        if one.verb == "delete":
            return self.delete(ref, stated)
        meta = {**one.body["metadata"]}
        if owners := meta.get("ownerReferences"):
            meta["ownerReferences"] = [o | {"uid": self.uids[o["name"]]} for o in owners]
        if one.verb == "patch":
            version = {k: v for k, v in stated.items() if k == "resourceVersion"}
            return self.patch(ref, {**one.body, "metadata": meta | version})
        head = {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind}
        named = {"namespace": ref.namespace, "name": ref.name}
        if one.verb == "create":
            return self.create(ref.kind, {**head, **one.body, "metadata": meta | named})
        return self.replace(ref.kind, {**head, **one.body, "metadata": meta | named | stated})

    def begin(self, namespace: str) -> None:
        """Make the owners."""
        for name in ("one", "two"):
            meta = {"namespace": namespace, "name": name}
            made = self.create(
                CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
            )
            self.uids[name] = made.body["metadata"]["uid"]

    def state(self, namespace: str) -> State:
        """What is there now."""
        refs = [kind.ref(namespace, name) for kind in (SECRET, HELM_RELEASE) for name in NAMES]
        bodies = [(ref.kind, self.get(ref)) for ref in refs]
        found = [Object.of(kind, body) for kind, body in bodies if body is not None]
        uids = {uid: f"ConfigMap {name}" for name, uid in self.uids.items()}
        return state_of(found, Words(uids | {seen.meta.uid: seen.ref.path for seen in found}))


def world_side(world: World) -> Side:
    """The offline world, written to by another than us."""

    def answered(write: Callable[[], Object | None]) -> Reply:
        try:
            made = write()
        except ClusterError as error:
            return Reply(error.status, {"reason": error.reason, "message": error.message})
        return Reply(200, {} if made is None else dict(made.body))

    def get(ref: Ref) -> dict[str, Any] | None:
        seen = world.store.get(ref)
        return None if seen is None else dict(seen.body)

    return Side(
        create=lambda kind, body: answered(lambda: world.create(kind, body, By.OTHER)),
        replace=lambda kind, body: answered(lambda: world.replace(kind, body, By.OTHER)),
        patch=lambda ref, body: answered(lambda: world.merge(ref, body, By.OTHER)),
        delete=lambda ref, stated: answered(
            lambda: world.delete(
                ref,
                By.OTHER,
                uid=stated.get("uid", ""),
                resource_version=stated.get("resourceVersion", ""),
            )
        ),
        get=get,
    )


def server_side(admin: Admin) -> Side:
    """The real server.

    What its schema defaults in a status is stored by the second write only, which is then no
    empty one; so a release is put back once, as it was answered.
    """

    def create(kind: Kind, body: dict[str, Any]) -> Reply:
        made = admin.create(kind, body)
        if kind == HELM_RELEASE and not made.refused:
            replace(kind, made.body)
        return made

    def replace(kind: Kind, body: dict[str, Any]) -> Reply:
        meta = body["metadata"]
        return admin.call("PUT", kind.path(meta["namespace"], meta["name"]), body)

    return Side(
        create=create,
        replace=replace,
        patch=admin.patch,
        delete=lambda ref, stated: admin.delete(ref, {"preconditions": stated} if stated else {}),
        get=admin.get,
    )


def compare(admin: Admin, writes: list[Write]) -> None:
    """Send writes to both, and hold them against each other after each."""
    namespace = f"generated-{next(_numbers)}"
    world, server = world_side(World(datetime(2026, 1, 1, tzinfo=UTC))), server_side(admin)
    ignored = [*ignored_paths(IGNORED.read_text()), *IGNORED_HERE]
    for side in (world, server):
        side.begin(namespace)
    for number, one in enumerate(writes):
        answers = world.send(one, namespace), server.send(one, namespace)
        about = f"write {number}: {one}: world {answers[0]}, server {answers[1]}"
        assert answers[0] == answers[1], about
        found = differences(world.state(namespace), server.state(namespace), ignored)
        assert [] == found, about
    admin.delete(NAMESPACE.ref("", namespace))


@settings(max_examples=EXAMPLES, derandomize=True, report_multiple_bugs=False)
@given(WRITES)
def _often(writes: list[Write]) -> None:
    compare(_ADMIN[0], writes)


@settings(
    max_examples=MANY_EXAMPLES,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
@given(WRITES)
def _many(writes: list[Write]) -> None:
    compare(_ADMIN[0], writes)


_ADMIN: list[Admin] = []
"""Who writes; hypothesis gives no fixture to what it repeats."""


def test_generated_writes_are_answered_alike(server: Cluster) -> None:
    """The same sequences in every run."""
    _ADMIN[:] = [server.admin]
    _often()


@pytest.mark.soak
def test_many_generated_writes_are_answered_alike(server: Cluster) -> None:
    """Other sequences in every run."""
    _ADMIN[:] = [server.admin]
    _many()
