"""Two processes, one leader: only it writes, and a frozen one does no harm when it thaws.

Source: trust-anchors 9 and 12; runtime 6, point 9. Who wrote what is read from the audit log.
"""

import signal
from datetime import datetime
from typing import Any

import pytest

from certificates import CERT2
from live_admin import wait_for
from live_cluster import Cluster
from live_run import grant, running, user_of
from live_scene import NS, SOURCE, data, define, published, release, source
from roadstead.deploy.rbac import ACCOUNT, HOME
from roadstead.kube.refs import LEASE

pytestmark = pytest.mark.cluster

OTHER = f"{ACCOUNT}-other"
LOCK = LEASE.ref(HOME, "roadstead-anchors")
FLAGS = ("--leader-elect", f"--leader-election-namespace={HOME}")
CHANGES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def test_a_frozen_leader_is_followed_and_harmless(server: Cluster) -> None:
    """The second takes over when the lease has run out; the first wakes, is refused and ends."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    mark = server.own.audit_mark()
    with running(grant(server), *FLAGS) as first:
        first.said("lease acquired")
        published(admin)
        with running(grant(server, OTHER), *FLAGS) as second:
            second.wait_ready()
            second.said("lease not ours", reason="Held")
            assert [] == _writes(server, mark, OTHER)

            first.send(signal.SIGSTOP)
            admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
            release(admin, name="postgres-late")
            source(admin, SOURCE._replace(name="postgres-late-ca"))
            second.said("lease acquired")
            published(admin, of="two")
            taken = _acquired(server)

            first.send(signal.SIGCONT)
            assert first.code() == 1
            first.said("lease lost")
            late = [e for e in _writes(server, mark, ACCOUNT) if _received(e) > taken]
            assert [] == [e for e in late if e["responseStatus"]["code"] < 300]
            assert f"/{NS}/" in str([e["requestURI"] for e in _writes(server, mark, OTHER)])

            assert second.stop() == 0
            second.said("lease released")
    assert not _holder(server)


def test_the_lease_passes_on_at_a_stop(server: Cluster) -> None:
    """A leader that is told to stop gives the lease up, and the next need not wait it out."""
    define(server.admin)
    kubeconfig = grant(server)
    with running(kubeconfig, *FLAGS) as first, running(kubeconfig, *FLAGS) as second:
        both = (first, second)
        led = wait_for("a leader", lambda: [r for r in both if "lease acquired" in r.text()])
        leader, heir = (first, second) if led[0] is first else (second, first)
        before = _holder(server)
        assert leader.stop() == 0
        heir.said("lease acquired")
        assert _holder(server) not in {"", before}


def _lease(server: Cluster) -> dict[str, Any]:
    spec: dict[str, Any] = (server.admin.get(LOCK) or {}).get("spec", {})
    return spec


def _holder(server: Cluster) -> str:
    return str(_lease(server).get("holderIdentity") or "")


def _acquired(server: Cluster) -> datetime:
    return datetime.fromisoformat(_lease(server)["acquireTime"])


def _received(entry: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["requestReceivedTimestamp"])


def _writes(server: Cluster, since: int, account: str) -> list[dict[str, Any]]:
    """Writes of anything but leases by one account, accepted or not."""
    return [
        entry
        for entry in server.own.audit_entries(since)
        if entry["user"]["username"] == user_of(account)
        and entry["verb"] in CHANGES
        and entry["objectRef"]["resource"] != "leases"
    ]
