"""The control plane is Kubernetes' own in all that we rely on, and leaves nothing behind."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from roadstead.errors import TestbedError
from roadstead.testbed import crds, server
from roadstead.testbed.server import ControlPlane

pytestmark = pytest.mark.cluster

PARENT = """
import json, sys
from roadstead.testbed.server import ControlPlane
plane = ControlPlane.start()
print(json.dumps([plane.pid, plane.url, str(plane.folder)]), flush=True)
sys.stdin.read()
"""

SIZED = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boats.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Boat", "plural": "boats"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"length": {"type": "integer"}},
                        "x-kubernetes-validations": [
                            {"rule": "self.length > 3", "message": "too short to sail"}
                        ],
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def running() -> Iterator[ControlPlane]:
    """One control plane for this file."""
    with ControlPlane.start() as plane:
        plane.baseline()
        yield plane


@pytest.fixture
def plane(running: ControlPlane) -> ControlPlane:
    """That control plane as it was at first."""
    running.reset()
    return running


def ask(plane: ControlPlane, *arguments: str, wanted: dict[str, Any] | None = None) -> str:
    """Run kubectl, which must succeed, and give what it printed."""
    done = plane.kubectl(*arguments, input=json.dumps(wanted) if wanted else None)

    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.strip()


def eventually(true: Callable[[], bool], seconds: float) -> bool:
    """Ask until it is so, or the time is over."""
    end = time.monotonic() + seconds
    while not (now := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return now


def listens(url: str) -> bool:
    """Tell whether somebody listens there."""
    address = urlsplit(url)
    with socket.socket() as client:
        return client.connect_ex((address.hostname or "", address.port or 0)) == 0


def lives(pid: int) -> bool:
    """Tell whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_is_the_version_that_go_mod_names(plane: ControlPlane) -> None:
    """A test that says "on Kubernetes v1.36.3" ran on it, and kubectl is the same."""
    versions = json.loads(ask(plane, "version", "-o", "json"))

    assert "v1.36.3" == plane.version
    assert plane.version == versions["serverVersion"]["gitVersion"]
    assert plane.version == versions["clientVersion"]["gitVersion"]


def test_only_its_user_reads_its_files_and_only_loopback_reaches_it(plane: ControlPlane) -> None:
    """Nobody else on the machine or the network becomes administrator."""
    assert (0o600, 0o700) == (
        stat.S_IMODE(plane.kubeconfig.stat().st_mode),
        stat.S_IMODE(plane.folder.stat().st_mode),
    )
    assert plane.url.startswith("https://127.0.0.1:")


def test_kubeconfig_of_the_shell_is_ignored(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's cluster is never what kubectl here talks to."""
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")

    assert plane.url in ask(plane, "cluster-info")


def test_a_service_account_may_do_what_its_role_says(plane: ControlPlane) -> None:
    """RBAC is on: a restricted account is refused by the server, and a role lifts that."""
    ask(plane, "create", "serviceaccount", "guest")
    guest = f"--kubeconfig={plane.login('guest')}"
    refused = plane.kubectl(guest, "get", "secrets")
    ask(plane, "create", "role", "reader", "--verb=list", "--resource=secrets")
    ask(plane, "create", "rolebinding", "guest", "--role=reader", "--serviceaccount=default:guest")

    assert 'User "system:serviceaccount:default:guest" cannot list' in refused.stderr
    assert eventually(lambda: plane.kubectl(guest, "get", "secrets").returncode == 0, 30)


def test_the_view_role_is_filled(plane: ControlPlane) -> None:
    """A tenant bound to `view` can read, since roles that aggregate others are kept up."""

    def may() -> str:
        asked = ("auth", "can-i", "list", "pods", "--as=tina", "--as-group=tenants")
        return plane.kubectl(*asked).stdout.strip()

    assert "no" == may()
    ask(plane, "create", "clusterrolebinding", "v", "--clusterrole=view", "--group=tenants")
    assert eventually(lambda: may() == "yes", 30)


def test_a_rule_of_a_definition_refuses(plane: ControlPlane) -> None:
    """CEL in a definition is evaluated."""
    crds.install(plane, [SIZED])
    short = {"apiVersion": "example.org/v1", "kind": "Boat", "metadata": {"name": "a"}, "length": 2}
    refused = plane.kubectl("create", "-f", "-", input=json.dumps(short))

    assert "too short to sail" in refused.stderr
    assert "boat.example.org/a created" == ask(
        plane, "create", "-f", "-", wanted={**short, "length": 4}
    )


def test_an_admission_policy_refuses(plane: ControlPlane) -> None:
    """ValidatingAdmissionPolicy is on, and takes effect at once rather than seconds later."""
    admission = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    policy = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "named"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "object.metadata.name != 'bad'", "message": "bad name"}],
        },
    }
    binding = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "named"},
        "spec": {"policyName": "named", "validationActions": ["Deny"]},
    }
    ask(plane, "create", "-f", "-", wanted=policy)
    ask(plane, "create", "-f", "-", wanted=binding)

    def refuses() -> bool:
        asked = ("create", "configmap", "bad", "--dry-run=server")
        return "bad name" in plane.kubectl(*asked).stderr

    assert eventually(refuses, 30)
    plane.reset()
    assert not refuses()


def test_garbage_is_collected_of_a_kind_that_is_new(plane: ControlPlane) -> None:
    """What an owner owned goes with it within seconds, also for a definition just installed."""
    crds.install(plane, [SIZED])
    boat = {"apiVersion": "example.org/v1", "kind": "Boat", "metadata": {"name": "a"}, "length": 9}
    ask(plane, "create", "-f", "-", wanted=boat)
    owner = {
        "apiVersion": "example.org/v1",
        "kind": "Boat",
        "name": "a",
        "uid": ask(plane, "get", "boat", "a", "-o", "jsonpath={.metadata.uid}"),
    }
    sail = {"metadata": {"name": "sail", "ownerReferences": [owner]}}
    ask(plane, "create", "-f", "-", wanted={"apiVersion": "v1", "kind": "ConfigMap", **sail})
    ask(plane, "delete", "boat", "a")

    assert eventually(lambda: plane.kubectl("get", "configmap", "sail").returncode != 0, 60)


def test_a_namespace_goes_with_all_in_it(plane: ControlPlane) -> None:
    """Deleting a namespace ends; a tenant's leftovers do not hold it for ever."""
    ask(plane, "create", "namespace", "gone")
    ask(plane, "create", "configmap", "inside", "-n", "gone")
    ask(plane, "delete", "namespace", "gone", "--timeout=90s")

    assert "NotFound" in plane.kubectl("get", "namespace", "gone").stderr


def test_quota_refuses_the_one_too_many(plane: ControlPlane) -> None:
    """A full quota refuses with Kubernetes' own words, and counts again after a deletion."""
    ask(plane, "create", "namespace", "small")
    ask(plane, "create", "quota", "q", "--hard=count/secrets=1", "-n", "small")
    used = ("get", "quota", "q", "-n", "small", "-o", r"jsonpath={.status.used.count/secrets}")
    create = ("create", "secret", "generic", "-n", "small")

    assert eventually(lambda: plane.kubectl(*used).stdout == "0", 30)
    ask(plane, *create, "one")
    assert "exceeded quota: q" in plane.kubectl(*create, "two").stderr
    ask(plane, "delete", "secret", "one", "-n", "small")
    assert eventually(lambda: plane.kubectl(*create, "two").returncode == 0, 30)


def test_an_owner_reference_needs_permission(plane: ControlPlane) -> None:
    """OwnerReferencesPermissionEnforcement is on: who cannot delete cannot block a deletion."""
    ask(plane, "create", "serviceaccount", "guest")
    ask(plane, "create", "role", "r", "--verb=create", "--resource=configmaps")
    ask(plane, "create", "rolebinding", "r", "--role=r", "--serviceaccount=default:guest")
    owner = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "name": "guest",
        "uid": "u",
        "blockOwnerDeletion": True,
    }
    meta = {"name": "held", "namespace": "default", "ownerReferences": [owner]}
    wanted = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    guest = f"--kubeconfig={plane.login('guest')}"

    def refused() -> bool:
        done = plane.kubectl(guest, "create", "--validate=false", "-f", "-", input=wanted)
        return "cannot set blockOwnerDeletion" in done.stderr

    assert eventually(refused, 30)


def test_the_audit_log_tells_who_did_what(plane: ControlPlane) -> None:
    """User, verb, object, code and both times are on record once the answer is there."""
    mark = plane.audit_mark()
    ask(plane, "create", "configmap", "seen", "--from-literal=a=b")
    (entry,) = [
        entry
        for entry in plane.audit_entries(mark)
        if entry["verb"] == "create" and entry["objectRef"]["resource"] == "configmaps"
    ]

    assert "kubernetes-super-admin" == entry["user"]["username"]
    assert ("default", "seen", 201) == (
        entry["objectRef"]["namespace"],
        entry["objectRef"]["name"],
        entry["responseStatus"]["code"],
    )
    assert {"a": "b"} == entry["requestObject"]["data"]
    assert entry["requestReceivedTimestamp"] <= entry["stageTimestamp"]


def test_no_secret_is_in_the_audit_log(plane: ControlPlane) -> None:
    """A Secret's value and a token never reach a file that tests print."""
    ask(plane, "create", "secret", "generic", "s", "--from-literal=a=canary")
    patch = '--patch={"stringData":{"a":"canary"}}'
    ask(plane, "patch", "secret", "s", patch)
    token = json.loads(plane.login("default").read_bytes())["users"][0]["user"]["token"]
    text = plane.audit.read_text()

    assert '"resource":"secrets"' in text
    assert not [word for word in ("canary", "Y2FuYXJ5", token) if word in text]


def test_reset_restores_what_was_created_changed_and_deleted(plane: ControlPlane) -> None:
    """A test starts from the same server, whatever the one before it did."""
    before = ask(plane, "get", "namespace,configmap,clusterrole,sa", "-A", "-o", "name")
    uid = ask(plane, "get", "clusterrole", "edit", "-o", "jsonpath={.metadata.uid}")
    crds.install(plane, [SIZED])
    ask(plane, "create", "namespace", "new")
    ask(plane, "create", "configmap", "new", "-n", "new")
    ask(plane, "label", "namespace", "default", "changed=yes")
    ask(plane, "delete", "clusterrole", "edit")
    plane.reset()

    assert before == ask(plane, "get", "namespace,configmap,clusterrole,sa", "-A", "-o", "name")
    assert uid == ask(plane, "get", "clusterrole", "edit", "-o", "jsonpath={.metadata.uid}")
    assert "changed" not in ask(plane, "get", "namespace", "default", "--show-labels")
    assert "doesn't have a resource type" in plane.kubectl("get", "boats").stderr


def test_a_baseline_with_definitions_comes_back(plane: ControlPlane) -> None:
    """A neighbour's definition that a test deletes is served again after the reset."""
    crds.install(plane, [SIZED])
    plane.baseline()
    try:
        ask(plane, "delete", "crd", "boats.example.org")
        plane.reset()

        assert "" == plane.kubectl("get", "boats").stdout
        assert 0 == plane.kubectl("get", "boats").returncode
    finally:
        ask(plane, "delete", "crd", "boats.example.org")
        plane.baseline()


@pytest.mark.parametrize("times", [5, pytest.param(40, marks=pytest.mark.soak)])
def test_many_resets_leave_it_healthy(plane: ControlPlane, times: int) -> None:
    """The server of the last test is as good as that of the first."""
    for _ in range(times):
        ask(plane, "create", "namespace", "again")
        ask(plane, "create", "configmap", "again", "-n", "again")
        ask(plane, "label", "namespace", "kube-public", "again=yes")

        assert plane.reset()["restored"] >= 1

    assert "ok" == ask(plane, "get", "--raw", "/readyz")
    assert "again" not in ask(plane, "get", "namespaces", "--show-labels")


def test_a_line_it_does_not_know_is_refused(plane: ControlPlane) -> None:
    """A misspelt command is an error, and the server goes on."""
    with pytest.raises(TestbedError, match='cannot "bogus"'):
        plane._ask("bogus")

    assert "ok" == ask(plane, "get", "--raw", "/livez")


def test_a_cluster_without_permission_is_not_tested_on(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a cluster that says so may be changed by tests; the error names the ConfigMap."""
    monkeypatch.setenv(server.OTHER_CLUSTER, str(plane.kubeconfig))
    with pytest.raises(TestbedError, match="kube-system/roadstead-test-ok"):
        server.selected_cluster(plane.binary)
    ask(plane, "create", "configmap", "roadstead-test-ok", "-n", "kube-system")

    assert plane.kubeconfig == server.selected_cluster(plane.binary)


def test_a_folder_in_use_is_refused_and_a_stale_one_is_taken_over(
    plane: ControlPlane, tmp_path: Path
) -> None:
    """What a killed server left is no obstacle, and no running one is ever robbed."""
    with pytest.raises(TestbedError, match="in use by another control plane"):
        ControlPlane.start(plane.binary, plane.folder)
    stale = tmp_path / "data"
    first = ControlPlane.start(plane.binary, stale)
    os.kill(first.pid, signal.SIGKILL)
    first._child.wait()

    assert (stale / "etcd").is_dir()
    with ControlPlane.start(plane.binary, stale) as second:
        assert "Active" in ask(second, "get", "namespace", "default")
    assert not stale.exists()
    first.stop()


def test_a_boot_that_fails_names_its_log(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port that is taken ends in one sentence with the log, and leaves no folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    port = urlsplit(plane.url).port or 0
    with pytest.raises(TestbedError, match="address already in use") as failed:
        ControlPlane.start(plane.binary, tmp_path / "data", port)

    assert "boot" == failed.value.step
    assert "address already in use" in Path(failed.value.log).read_text()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("when", ["running", "booting"])
def test_a_killed_parent_leaves_nothing(when: str) -> None:
    """SIGKILL of whoever started it: no process, no port and no folder after 5 s."""
    parent = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        if when == "running":
            pid, url, folder = json.loads(parent.stdout.readline())
            assert lives(pid)
            assert listens(url)
            assert Path(folder).is_dir()
        else:
            children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
            assert eventually(lambda: children.read_text() != "", 60)
            pid = int(children.read_text().split()[0])
            url = "https://127.0.0.1:1"  # not known yet
            assert eventually(lambda: b"--data" in Path(f"/proc/{pid}/cmdline").read_bytes(), 60)
            folder = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[2].decode()
            assert eventually(Path(folder, "etcd").exists, 60)
        os.kill(parent.pid, signal.SIGKILL)

    assert eventually(lambda: not (lives(pid) or listens(url) or Path(folder).exists()), 5)


def test_sigterm_ends_it_cleanly(plane: ControlPlane) -> None:
    """Whoever stops the child itself gets the same clean end."""
    other = ControlPlane.start(plane.binary)
    os.kill(other.pid, signal.SIGTERM)

    assert 0 == other._child.wait(5)
    assert not other.folder.exists()
    other.stop()
