"""Each account's own token, trying to do more than its program does: the policies refuse it.

The rows are sent as dry runs, which admission judges as any other write. Source: issue 7, point 2.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from account_rows import NS, OWNERS, ROWS, SPECS, Json, Row, body, merged
from live_accounts import As, minimal, refused_by
from live_admin import Admin, Reply
from live_cluster import Cluster
from live_run import user_of
from live_scene import release
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.deploy.account_policies import GUARDS
from roadstead.deploy.rbac import ACCOUNTS, LINEAGE

pytestmark = pytest.mark.cluster

DRY = {"dryRun": "All"}
MERGE = "application/merge-patch+json"


class Sender:
    """Sends rows. uids: of the owners, by kind."""

    def __init__(self, server: Cluster) -> None:
        """Have the owners stand in the tenant's namespace."""
        self.server, self.admin = server, server.admin
        release(self.admin, NS)
        spec = minimal(ATTACHMENT)["spec"]
        self.admin.made(ATTACHMENT, body(ATTACHMENT, OWNERS[ATTACHMENT], spec=spec))
        asked = {"apex": "foo.example.com"}
        name = OWNERS[TENANT_GATEWAY]
        self.admin.made(TENANT_GATEWAY, body(TENANT_GATEWAY, name, spec=asked))
        self.uids = {
            kind.kind: self._there(kind.ref(NS, name))["metadata"]["uid"]
            for kind, name in OWNERS.items()
        }
        self._clients = {one.name: Admin(server.tokens[one.name]) for one in ACCOUNTS}
        self._masters = {one.name: As(server.kubeconfig, user_of(one.name)) for one in ACCOUNTS}

    def close(self) -> None:
        """End the connections."""
        for client in (*self._clients.values(), *self._masters.values()):
            client.close()

    def _there(self, ref: Any) -> Json:
        found = self.admin.get(ref)
        assert found is not None, ref
        return found

    def _real(self, sent: Json) -> Json:
        """A body whose owner references have their uids."""
        owners = [
            {**one, "uid": self.uids[one["uid"]]}
            for one in sent.get("metadata", {}).get("ownerReferences", ())
        ]
        return merged(sent, {"metadata": {"ownerReferences": owners}}) if owners else sent

    def stand(self, row: Row) -> Json | None:
        """Put there what stands before the row's write."""
        if row.old is None:
            return None
        old = self._real(row.old)
        if self.admin.get(row.ref) is not None:
            self.admin.delete(row.ref)
        made = self.admin.made(row.ref.kind, {k: v for k, v in old.items() if k != "status"})
        if "status" in old:
            made = self.admin.patched(row.ref, {"status": old["status"]}, "/status")
        return made

    def send(self, row: Row) -> Reply:
        """The answer to the row's write, sent with the token of its account."""
        ref = row.ref
        client = (self._masters if row.masters else self._clients)[row.account.name]
        sent, path = self._real(row.sends), ref.kind.path(ref.namespace, ref.name)
        if row.how == "create":
            return client.call("POST", ref.kind.path(ref.namespace), sent, query=DRY)
        if row.how == "delete":
            return client.call("DELETE", path, query=DRY)
        if row.how == "patch":
            return client.call("PATCH", path, sent, content=MERGE, query=DRY)
        live = self._there(ref)
        if row.how == "status":
            whole = {**live, **sent}
            return client.call("PUT", f"{path}/status", whole, query=DRY)
        version = {"metadata": {"resourceVersion": live["metadata"]["resourceVersion"]}}
        return client.call("PUT", path, merged(sent, version), query=DRY)


@pytest.fixture(scope="module")
def sender(shared: Cluster) -> Iterator[Sender]:
    """One scene for every row."""
    found = Sender(shared)
    yield found
    found.close()
    shared.reset()


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_an_account_writes_its_own_and_nothing_else(sender: Sender, row: Row) -> None:
    """What the program writes goes through; what a thief of its token would write does not."""
    made = sender.stand(row)

    reply = sender.send(row)

    if made is not None:
        sender.admin.delete(row.ref)
    if not row.says:
        assert (False, "") == (reply.refused, reply.message)
        return
    assert 403 == reply.code, (reply.code, reply.message)
    assert row.says in reply.message
    assert f"{row.account.name} may not" in reply.message
    named = f"{row.ref.namespace}/" if row.ref.namespace else ""
    assert f"{row.ref.kind.plural} {named}" in reply.message
    assert any(refused_by(reply, guard) for guard in GUARDS)


def test_every_policy_lets_something_through_and_refuses_something() -> None:
    """A policy that no row meets, or that refuses all or nothing, would not be tested."""
    asked = {
        (guard.policy, bool(row.says))
        for guard in GUARDS
        for row in ROWS
        if row.account is guard.account
        and any(
            kind.plural == row.ref.kind.plural and (part == "status") is (row.how == "status")
            for kind, part in guard.resources
        )
    }

    assert asked == {(guard.policy, refused) for guard in GUARDS for refused in (True, False)}
    assert LINEAGE not in [guard.account for guard in GUARDS]


def test_others_are_not_asked(sender: Sender) -> None:
    """The policies are about our accounts in our namespace: another of the same name is free."""
    spec = SPECS[next(iter(SPECS))]
    one = body(next(iter(SPECS)), "free", spec=spec)
    path = next(iter(SPECS)).path(NS)
    for user in ("system:serviceaccount:elsewhere:roadstead-attachments", "roadstead-attachments"):
        client = As(sender.server.kubeconfig, user)
        assert 201 == client.call("POST", path, one, query=DRY).code
        client.close()
