"""One pass: what is sent, what is refused before it is sent, what a failure leaves."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.anchors.snapshot import SECRETS
from roadstead.decision import Bound, Decision, Did, Drop, Event, Want
from roadstead.engine.check import check
from roadstead.engine.memory import Withdrawals
from roadstead.engine.reader import PassReader
from roadstead.engine.store import Store
from roadstead.engine.writer import Writer, guard
from roadstead.errors import BugError, ClusterError
from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import HELM_RELEASE, SECRET, Kind, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings

KEY = HELM_RELEASE.ref("tenant-foo", "postgres-mydb")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEADER = b"-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n"


def secret(data: Mapping[str, bytes], **more: Any) -> dict[str, Any]:
    """A Secret with the anchor's label."""
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    meta = {
        "name": "postgres-mydb.tenant-ca",
        "namespace": "tenant-foo",
        "labels": {TENANT_CA: "true"},
    }
    return {
        "apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": encoded,
    } | more  # fmt: skip


class Recorder:
    """An API that notes what it is sent and refuses what it is told to."""

    def __init__(self, refuse: Mapping[str, ClusterError] | None = None) -> None:
        """Refuse the named verbs."""
        self.sent: list[str] = []
        self._refuse = refuse or {}

    def _answer(self, verb: str) -> None:
        self.sent.append(verb)
        if verb in self._refuse:
            raise self._refuse[verb]

    async def get(self, _ref: Ref) -> Object | None:
        """Nothing is there."""
        return None

    async def owner(self, _owner: Owner, _namespace: str) -> Object | None:
        """Nothing is there."""
        return None

    async def list_metadata(
        self, _kind: Kind, _namespace: str = "", _labels: str = ""
    ) -> tuple[Object, ...]:
        """Nothing is there."""
        return ()

    async def list_view(self, _view: View, _namespace: str) -> tuple[Object, ...]:
        """Nothing is there."""
        return ()

    async def apply(self, kind: Kind, body: Mapping[str, Any], _manager: str) -> Object:
        """Note it."""
        self._answer("apply")
        return Object.of(kind, dict(body))

    async def patch(self, ref: Ref, merge: Mapping[str, Any]) -> Object:
        """Nothing here patches."""
        raise AssertionError((ref, merge))

    async def replace_status(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Note it."""
        self._answer("replace-status")
        return Object.of(kind, dict(body))

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Note it."""
        self._answer("create")
        return Object.of(kind, dict(body))

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """Note it."""
        self._answer("replace")
        return Object.of(kind, dict(body))

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """Note it, preconditions and all."""
        self._answer(f"delete {ref.name} {uid} {resource_version}")

    async def publish(self, _component: str, event: Event, _times: int) -> None:
        """Note it."""
        self._answer(f"event {event.reason}")


LIVE = Object.of(
    SECRET,
    secret({"ca.crt": b"x"})
    | {"metadata": {"name": "postgres-mydb.tenant-ca", "namespace": "tenant-foo", "uid": "u",
                    "resourceVersion": "7"}},
)  # fmt: skip
DROP = Drop(LIVE.ref, "u", "7")


@pytest.mark.parametrize(
    ("did", "sent", "want"),
    [
        pytest.param(
            Did.CREATED, ["create"], Want.replace(SECRET, secret({"ca.crt": b"x"}), None), id="new"
        ),
        pytest.param(
            Did.UPDATED,
            ["replace"],
            Want.replace(SECRET, secret({"ca.crt": b"y"}), LIVE),
            id="drift",
        ),
        pytest.param(Did.UNCHANGED, [], Want.replace(SECRET, dict(LIVE.body), LIVE), id="equal"),
        pytest.param(
            Did.UPDATED,
            ["delete postgres-mydb.tenant-ca u 7", "create"],
            Want.renew(SECRET, secret({"ca.crt": b"y"}), LIVE),
            id="immutable",
        ),
    ],
)
async def test_a_want_is_written_the_way_it_says(did: Did, sent: list[str], want: Want) -> None:
    """A PUT where a POST belongs, or a write where nothing differs, is a fault users see."""
    api = Recorder()
    writer = Writer(api, Withdrawals())

    await writer.carry_out(KEY, Decision(want=(want,)), 0.0)

    assert sent == api.sent
    assert [did] == [outcome.did for outcome in writer.outcomes]


async def test_a_rehearsal_says_what_it_would_do_and_sends_nothing() -> None:
    """`--read-only` on a live cluster must not write."""
    api = Recorder()
    writer = Writer(api, Withdrawals(), dry=True)
    wants = (
        Want.replace(SECRET, secret({"ca.crt": b"x"}), None),
        Want.renew(SECRET, secret({"ca.crt": b"y"}), LIVE),
    )

    await writer.carry_out(KEY, Decision(want=wants, drop=(DROP,)), 0.0)

    assert [] == api.sent
    assert [Did.CREATED, Did.UPDATED, Did.DELETED] == [o.did for o in writer.outcomes]


async def test_a_conflict_ends_the_pass() -> None:
    """What follows a conflict was decided on an object that is no more."""
    conflict = ClusterError("no", status=409, reason="Conflict")
    api = Recorder({"replace": conflict})
    writer = Writer(api, Withdrawals())
    want = Want.replace(SECRET, secret({"ca.crt": b"y"}), LIVE)

    await writer.carry_out(KEY, Decision(want=(want,), drop=(DROP,)), 0.0)

    assert ["replace"] == api.sent
    assert writer.conflict


async def test_a_stand_in_that_is_already_there_is_left_alone() -> None:
    """`create` wants an object of this name, whatever it holds."""
    taken = ClusterError("there", status=409, reason="AlreadyExists")
    writer = Writer(Recorder({"create": taken}), Withdrawals())

    await writer.carry_out(
        KEY, Decision(want=(Want.create(SECRET, secret({"ca.crt": b"x"})),)), 0.0
    )

    assert [Did.UNCHANGED] == [outcome.did for outcome in writer.outcomes]
    assert not writer.conflict


async def test_a_drop_beyond_the_bound_is_held() -> None:
    """The guard against mass withdrawal stands before the DELETE."""
    api, withdrawals = Recorder(), Withdrawals()
    for number in range(5):
        withdrawals.admit(HELM_RELEASE.ref("t", f"r{number}"), Bound("Postgres", 6), 0.0)
    writer = Writer(api, withdrawals)
    drop = Drop(LIVE.ref, "u", "7", Bound("Postgres", 6))

    await writer.carry_out(KEY, Decision(drop=(drop,)), 0.0)

    assert [] == api.sent
    assert [Did.HELD] == [outcome.did for outcome in writer.outcomes]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(secret({"ca.crt": b"x", "tls.key": b"y"}), id="another-key"),
        pytest.param(secret({"ca.crt": HEADER}), id="private-key"),
        pytest.param(secret({"ca.crt": b"x"}, stringData={"tls.key": "y"}), id="string-data"),
        pytest.param(secret({}), id="empty"),
    ],
)
async def test_an_anchor_that_is_no_anchor_is_never_sent(body: dict[str, Any]) -> None:
    """Whoever decided it, a key must not leave under the label tenants read."""
    api = Recorder()
    writer = Writer(api, Withdrawals())

    with pytest.raises(BugError) as caught:
        await writer.carry_out(KEY, Decision(want=(Want.replace(SECRET, body, None),)), 0.0)

    assert [] == api.sent
    assert "AA==" not in str(caught.value)


def test_a_secret_without_the_label_is_not_the_guards_concern() -> None:
    """A replica of a TLS Secret carries its key by purpose."""
    body = secret({"tls.key": HEADER})
    body["metadata"] = {"name": "x", "namespace": "y"}

    guard(Want.replace(SECRET, body, None))


@pytest.mark.parametrize(
    ("place", "more"),
    [
        pytest.param("type", {"type": ""}, id="no-type"),
        pytest.param("", {"spec": {}}, id="unknown-field"),
        pytest.param(
            "metadata/name", {"metadata": {"name": "Up", "namespace": "x"}}, id="bad-name"
        ),
        pytest.param("data/canary", {"data": {"canary": "~canary~"}}, id="no-base64"),
    ],
)
def test_an_object_that_is_not_valid_is_never_sent(place: str, more: dict[str, Any]) -> None:
    """The sentence names the place, and never the value."""
    with pytest.raises(BugError) as caught:
        check(SECRET, secret({"ca.crt": b"x"}) | more)

    assert f"not valid at `{place}`" in str(caught.value)
    assert "~canary~" not in str(caught.value)


async def test_a_want_that_is_not_valid_fails_its_pass_before_anything_is_sent() -> None:
    """The self-check stands in the way of every write, not beside it."""
    api = Recorder()
    want = Want.replace(SECRET, secret({"ca.crt": b"x"}) | {"spec": {}}, None)

    with pytest.raises(BugError, match="is not valid"):
        await Writer(api, Withdrawals()).carry_out(KEY, Decision(want=(want,)), 0.0)

    assert [] == api.sent


@pytest.mark.parametrize(("enough", "repeated"), [(True, False), (False, True)])
def test_a_pass_after_a_conflict_takes_no_views_word_for_an_absence(
    enough: bool, repeated: bool
) -> None:
    """The view has just been shown to lag; believing it again would meet the same conflict."""
    store = Store(SECRETS)
    store.begin_list()
    list(store.end_list("1"))
    reader = PassReader(Recorder(), {SECRETS: store}, Settings(), NOW, repeated=repeated)

    assert enough == reader.absent(SECRETS, "tenant-foo", "postgres-mydb.tenant-ca")


@pytest.mark.parametrize(("independent", "sent"), [(False, 1), (True, 3)])
async def test_a_conflict_ends_the_writing_unless_all_stand_alone(
    independent: bool, sent: int
) -> None:
    """One namespace's conflict keeps no other's copy from being written or taken away."""
    refused = ClusterError("newer", status=409, reason="Conflict")
    api = Recorder({"create": refused})
    other = secret({"ca.crt": b"x"})
    wants = (Want.replace(SECRET, other, None), Want.replace(SECRET, dict(other), LIVE))
    writer = Writer(api, Withdrawals())

    await writer.carry_out(KEY, Decision(want=wants, drop=(DROP,), independent=independent), 0.0)

    assert writer.conflict
    assert sent == len(writer.outcomes)
    assert Did.FAILED is writer.outcomes[0].did


async def test_a_later_failure_does_not_hide_a_conflict() -> None:
    """The pass is repeated at once for what met a newer object."""
    api = Recorder({"create": ClusterError("newer", status=409), "replace": ClusterError("no")})
    body = secret({"ca.crt": b"x"})
    wants = (Want.replace(SECRET, body, None), Want.replace(SECRET, dict(body), LIVE))
    writer = Writer(api, Withdrawals())

    await writer.carry_out(KEY, Decision(want=wants, independent=True), 0.0)

    assert writer.conflict
