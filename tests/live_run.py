"""`roadstead run` as a real process against the tests' cluster, with the rights it ships with."""

import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import yaml

from live_admin import wait_for
from live_cluster import Cluster
from roadstead.deploy.rbac import ANCHORS, HOME, Account, rbac
from roadstead.kube.refs import Kind

PATIENCE_SECONDS = 60.0
_PLURALS = {
    "Namespace": ("", "namespaces", False),
    "ServiceAccount": ("", "serviceaccounts", True),
    "ClusterRole": ("rbac.authorization.k8s.io", "clusterroles", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io", "clusterrolebindings", False),
    "Role": ("rbac.authorization.k8s.io", "roles", True),
    "RoleBinding": ("rbac.authorization.k8s.io", "rolebindings", True),
}


def kind_of(name: str) -> Kind:
    """One of the kinds that rights are made of."""
    group, plural, namespaced = _PLURALS[name]
    return Kind(name, group, "v1", plural, namespaced)


CLUSTER_ROLE = kind_of("ClusterRole").ref("", ANCHORS.name)


def user_of(account: str) -> str:
    """How the audit log names an account of ours."""
    return f"system:serviceaccount:{HOME}:{account}"


def grant(cluster: Cluster, account: str = ANCHORS.name, like: Account = ANCHORS) -> Path:
    """Give an account exactly the rights that ship; give its kubeconfig.

    account: another name than `like` has stands in for another replica, so that the audit log
    tells the two apart. like: whose rights they are.
    """
    for document in rbac(accounts=[like]):
        body = json.loads(json.dumps(document))
        # The role of owner kinds is shared, and stands already where another account has it.
        body["metadata"]["name"] = body["metadata"]["name"].replace(like.name, account)
        for subject in body.get("subjects") or ():
            subject["name"] = account
        cluster.admin.create(kind_of(body["kind"]), body)
    return logged_in(cluster, account)


def logged_in(cluster: Cluster, account: str, namespace: str = HOME) -> Path:
    """Write a kubeconfig with a fresh token of an account, and only that."""
    path = kind_of("ServiceAccount").path(namespace, account) + "/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.admin.call("POST", path, asked).body["status"]["token"]
    stated = yaml.safe_load(cluster.kubeconfig.read_text())
    context = _named(stated, "context", stated["current-context"])
    place = _named(stated, "cluster", context["cluster"])
    return _written(cluster.folder / f"{account}.kubeconfig", place, {"token": token})


def through(cluster: Cluster, kubeconfig: Path, server: str) -> Path:
    """Copy a kubeconfig with another address to ask, over plain HTTP."""
    stated = yaml.safe_load(kubeconfig.read_text())
    context = _named(stated, "context", stated["current-context"])
    user = _named(stated, "user", context["user"])
    return _written(cluster.folder / f"{kubeconfig.name}.through", {"server": server}, user)


def _named(stated: dict[str, Any], room: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(e[room] for e in stated[f"{room}s"] if e["name"] == name)
    return found


def _written(path: Path, cluster: dict[str, Any], user: dict[str, Any]) -> Path:
    path.touch(mode=0o600)
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "tests",
                "clusters": [{"name": "tests", "cluster": cluster}],
                "users": [{"name": "tests", "user": user}],
                "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
            }
        )
    )
    return path


def without(cluster: Cluster, resource: str, verb: str) -> None:
    """Take one verb on one resource out of the ClusterRole."""
    rules = _rules(cluster)
    for rule in rules:
        if resource in rule["resources"]:
            rule["verbs"] = [one for one in rule["verbs"] if one != verb]
    cluster.admin.patched(CLUSTER_ROLE, {"rules": rules})
    _await(cluster, resource, verb, allowed=False)


def with_(cluster: Cluster, resource: str, verb: str) -> None:
    """Put one verb on one resource into the ClusterRole."""
    rules = _rules(cluster)
    for rule in rules:
        if resource in rule["resources"] and verb not in rule["verbs"]:
            rule["verbs"].append(verb)
    cluster.admin.patched(CLUSTER_ROLE, {"rules": rules})
    _await(cluster, resource, verb, allowed=True)


def _rules(cluster: Cluster) -> list[dict[str, Any]]:
    role = cluster.admin.get(CLUSTER_ROLE)
    assert role is not None
    return list(role["rules"])


def _await(cluster: Cluster, resource: str, verb: str, *, allowed: bool) -> None:
    """Wait until the authorizer has heard of a change."""
    group = next(r["apiGroups"][0] for r in _rules(cluster) if resource in r["resources"])
    asked = {
        "user": user_of(ANCHORS.name),
        "groups": ["system:authenticated"],
        "resourceAttributes": {
            "namespace": "any",
            "verb": verb,
            "resource": resource,
            "group": group,
        },
    }
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

    def answered() -> bool:
        body = cluster.admin.call("POST", path, {**review, "spec": asked}).body
        return bool(body["status"]["allowed"]) is allowed

    wait_for(f"{verb} {resource} {'allowed' if allowed else 'refused'}", answered)


class Run:
    """One `roadstead run`, of the anchors unless a flag says otherwise.

    lines: what it has logged so far.
    """

    def __init__(self, kubeconfig: Path, *flags: str) -> None:
        """Start it; its log goes to a file that nobody else sees."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._port = free_port()
        self._child = subprocess.Popen(  # noqa: S603 - our own program
            [
                sys.executable,
                "-m",
                "roadstead.cli.main",
                "run",
                f"--kubeconfig={kubeconfig}",
                "--log-format=json",
                "--metrics-bind-address=0",
                "--only=anchors",
                f"--health-probe-bind-address=127.0.0.1:{self._port}",
                *flags,
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={k: v for k, v in os.environ.items() if k != "KUBECONFIG"},
        )

    def text(self) -> str:
        """Everything it has said."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Its log, line by line; what is no JSON is under `text`."""
        return [_parsed(line) for line in self.text().splitlines()]

    def said(self, message: str, **keys: object) -> dict[str, Any]:
        """Wait for a line with these keys, and give it."""

        def found() -> dict[str, Any] | None:
            for line in self.lines:
                if line.get("msg") == message and all(line.get(k) == v for k, v in keys.items()):
                    return line
            return None

        line: dict[str, Any] = wait_for(f"`{message}` {keys} in {self.text()[-2000:]}", found)
        return line

    def ready(self) -> tuple[bool, str]:
        """What /readyz answers."""
        return self._asked("readyz")

    def alive(self) -> bool:
        """Whether it runs, and /healthz says that it does."""
        return self._child.poll() is None and self._asked("healthz")[0]

    def _asked(self, page: str) -> tuple[bool, str]:
        url = f"http://127.0.0.1:{self._port}/{page}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return True, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return False, refused.read().decode()
        except OSError:
            return False, "no answer"

    def wait_ready(self) -> Self:
        """Wait until it is ready."""
        wait_for(f"readiness: {self.text()[-500:]}", lambda: self.ready()[0])
        return self

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._child.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._child.send_signal(number)

    def code(self) -> int:
        """Wait for its end; give its exit code."""
        return self._child.wait(PATIENCE_SECONDS)

    def stop(self) -> int:
        """Ask it to stop; give its exit code."""
        self.send(signal.SIGTERM)
        return self.code()

    def resident_bytes(self) -> int:
        """Memory it holds now."""
        pages = int(Path(f"/proc/{self._child.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        """End it, whatever it does."""
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        self._log.close()


@contextmanager
def running(kubeconfig: Path, *flags: str) -> Iterator[Run]:
    """A process that ends with the block."""
    run = Run(kubeconfig, *flags)
    try:
        yield run
    finally:
        run.end()


def server_context(cluster: Cluster) -> ssl.SSLContext:
    """How to trust the cluster's server, without being anybody."""
    stated = yaml.safe_load(cluster.kubeconfig.read_text())
    context = _named(stated, "context", stated["current-context"])
    authority = _named(stated, "cluster", context["cluster"])["certificate-authority-data"]
    return ssl.create_default_context(cadata=base64.b64decode(authority).decode())


def _parsed(line: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"text": line}
    return found


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
