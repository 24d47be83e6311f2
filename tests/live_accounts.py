"""Our accounts as they ship, on a server for tests: rights, policies, and a token of each.

They are part of what every test finds, so that a process that runs with an account's token is
held to its policies as well.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from live_admin import Admin, Reply, wait_for
from live_cluster import Cluster
from live_run import grant, kind_of, user_of
from roadstead.capabilities.gateways.chain.policies import BINDING, POLICY
from roadstead.deploy.account_policies import GUARDS, Guard, account_policies
from roadstead.deploy.rbac import ACCOUNTS, HOME, Account
from roadstead.kube.refs import NAMESPACE, Kind

MASTERS = "system:masters"
FORBIDDEN = 403
POLICIES = {POLICY.kind: POLICY, BINDING.kind: BINDING}


def policies() -> Iterator[tuple[Kind, dict[str, Any]]]:
    """Every policy and binding, in the order in which it is applied."""
    for body in account_policies(HOME):
        yield POLICIES[body["kind"]], body


@contextmanager
def equipped(cluster: Cluster) -> Iterator[dict[str, Path]]:
    """Accounts and policies, in force, within the baseline; gives a kubeconfig of each account."""
    tokens = {account.name: grant(cluster, account.name, account) for account in ACCOUNTS}
    for kind, body in policies():
        cluster.admin.made(kind, body)
    for guard in GUARDS:
        if not any(part for _, part in guard.resources[:1]):  # what is made last is heard of last
            wait_for(guard.policy, lambda: in_force(cluster, guard))  # noqa: B023 - asked at once
    cluster.baseline()
    try:
        yield tokens
    finally:
        if cluster.plane is None:
            taken_away(cluster.admin)


def taken_away(admin: Admin) -> None:
    """Leave a cluster that was lent as it was."""
    for kind, body in policies():
        admin.delete(kind.ref("", body["metadata"]["name"]))
    for account in ACCOUNTS:
        for name in ("ClusterRole", "ClusterRoleBinding"):
            admin.delete(kind_of(name).ref("", account.name))
    admin.delete(NAMESPACE.ref("", HOME))


class As(Admin):
    """The client as somebody else, whom RBAC allows everything: policies alone refuse."""

    def __init__(self, kubeconfig: Path, user: str, group: str = MASTERS) -> None:
        """Impersonate a user within one group."""
        super().__init__(kubeconfig)
        self._headers |= {"Impersonate-User": user, "Impersonate-Group": group}


def in_force(cluster: Cluster, guard: Guard) -> bool:
    """Whether a policy refuses what it must, as a dry run: it is heard of a little later."""
    client = As(cluster.kubeconfig, user_of(guard.account.name))
    kind, _ = guard.resources[0]
    try:
        path, query = kind.path("default" if kind.namespaced else ""), {"dryRun": "All"}
        return refused_by(client.call("POST", path, minimal(kind), query=query), guard)
    finally:
        client.close()


def refused_by(reply: Reply, guard: Guard) -> bool:
    """Whether an answer is this policy's."""
    return reply.code == FORBIDDEN and f"'{guard.policy}'" in reply.message


def minimal(kind: Kind) -> dict[str, Any]:
    """An object that the API server takes, and that no policy lets any account of ours create."""
    specs: Mapping[str, Mapping[str, Any]] = {
        "Service": {"ports": [{"port": 1}]},
        "EndpointAttachment": {
            "applicationRef": {"kind": "Postgres", "name": "mydb"},
            "endpoint": {"serviceName": "postgres-mydb-rw"},
            "loadBalancer": {},
        },
        "Gateway": {
            "gatewayClassName": "cilium",
            "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
        },
    }
    spec = {"spec": specs[kind.kind]} if kind.kind in specs else {}
    head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "probe"}}
    return {**head, **spec}


def account_of(capabilities: Iterable[str]) -> Account | None:
    """The account that runs all of some capabilities; None where no single one does."""
    names = set(capabilities)
    return next((one for one in ACCOUNTS if names <= set(one.capabilities)), None)
