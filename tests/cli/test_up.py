"""`up`, `status` and `why` on Kubernetes' own API server: read back, never made up."""

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
import yaml

from certificates import CERT1
from cli_command import Ran, run
from live_summary import VERSION
from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.cli import readings
from roadstead.cli.up import LATER, WORLDS
from roadstead.deploy.crds import crds
from roadstead.kube.refs import HELM_RELEASE
from roadstead.runtime.client import Client
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.kubeconfig import find
from roadstead.testbed.crds import install, neighbours
from roadstead.testbed.server import ControlPlane

pytestmark = pytest.mark.cluster
PROGRAM = [sys.executable, "-m", "roadstead.cli.main"]


def up(folder: Path, *args: str) -> Ran:
    """Run `roadstead up --once` in a folder, with a KUBECONFIG that must not matter."""
    environ = {**os.environ, "KUBECONFIG": "/nonexistent/kubeconfig"}
    ran = subprocess.run(  # noqa: S603 - our own program
        [*PROGRAM, "up", "--once", *args],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@contextmanager
def started(
    command: list[str], folder: Path, stdout: TextIO | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a command in the background; it is gone afterwards, whatever the test found."""
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def asked(url: str) -> str:
    """The body of a page that must be there."""
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - our own, on loopback
        body: bytes = answer.read()
    return body.decode()


def table(ran: Ran) -> dict[str, tuple[str, str]]:
    """The result and the reason of each release."""
    head, *lines = ran.out.splitlines()
    at = [head.index(word) for word in ("RESULT", "REASON", "READ")]
    return {
        line[: at[0]].strip(): (line[at[0] : at[1]].strip(), line[at[1] : at[2]].strip())
        for line in lines
    }


OUTCOMES = {
    "tenant-blue/mongodb-orders": ("rotated", "Published"),
    "tenant-blue/postgres-shop": ("published", "Published"),
    "tenant-green/nats-bus": ("left alone", "CACertSecretCollision"),
    "tenant-green/nats-feed": ("withdrawn", "Withdrawn"),
    "tenant-green/postgres-wiki": ("refused", "CACertPrivateKeyRefused"),
}
ADDRESSES = {
    "tenant-blue/shop-db": [
        ("attached", "Attached"),
        ("detached", "EndpointNotFound"),
        ("kept", "Attached"),
    ],
    "tenant-blue/shop-metrics": [("refused", "EndpointNotTenantFacing")],
    "tenant-green/cache": [("attached", "Attached"), ("gone", "-")],
    "tenant-green/dev-first": [("attached", "Attached"), ("gone", "-")],
    "tenant-green/dev-second": [
        ("waits", "BackendAlreadyDelegated"),
        ("took over", "Attached"),
    ],
    "tenant-green/next": [("moved", "Attached")],
}
GATEWAYS = {
    "tenant-blue/cozystack": [("serves", "Reconciled")],
    "tenant-edge/cozystack": [("serves", "Reconciled")],
    "tenant-grey/cozystack": [("stuck", "GatewayNotAccepted")],
    "tenant-white/cozystack": [("serves", "Reconciled"), ("serves", "Reconciled")],
}
HOSTNAMES = {
    "tenant-blue/shop": [("served", "Accepted"), ("gone", "-")],
    "tenant-green/web": [("waits", "HostnameConflict"), ("moved up", "Accepted")],
}
REPLICAS = {
    "tenant-blue/wildcard-tls": [("copied", "-")],
    "tenant-grey/wildcard-tls": [("copied", "-")],
    "tenant-white/wildcard-tls": [("copied", "-"), ("withdrawn", "-")],
}


@pytest.mark.soak
def test_the_example_shows_the_five_outcomes(tmp_path: Path) -> None:
    """A published anchor, a rotated, a withdrawn, a refused key, a foreign Secret left alone."""
    ran = up(tmp_path, "--keep", "kept")
    assert ran.code == 0, ran.err
    assert table(ran) == OUTCOMES
    assert "PRIVATE KEY" not in ran.out + ran.err
    assert not (tmp_path / ".roadstead" / "kubeconfig").exists()
    assert not (tmp_path / ".roadstead" / "plane").exists()
    kept = tmp_path / "kept"
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept.iterdir())
    planned = run("plan", "-f", str(kept), "-o", "json")
    assert planned.code == 1, planned.err
    assert json.loads(planned.out)["changes"] == []


def test_the_table_follows_the_world(tmp_path: Path) -> None:
    """Another world, another table: nothing of it is written into the program."""
    shutil.copytree(WORLDS / "anchors", tmp_path / "mine")
    shutil.copytree(WORLDS / f"anchors{LATER}", tmp_path / "mine-later")
    (tmp_path / "mine-later" / "20-opt-out-feed.yaml").unlink()
    file = tmp_path / "mine" / "10-tenant-green.yaml"
    bodies = []
    for body in yaml.safe_load_all(file.read_text()):
        name = body["metadata"]["name"]
        if name == "nats-bus.tenant-ca":
            continue
        if name == "postgres-wiki-ca":
            body["stringData"]["ca.crt"] = CERT1.decode()
        if name == "nats-feed-ca":
            body["stringData"]["ca.crt"] = "no certificate"
        bodies.append(body)
    file.write_text(yaml.safe_dump_all(bodies))
    ran = up(tmp_path, "--example", "./mine")
    assert ran.code == 0, ran.err
    assert table(ran) == {
        "tenant-blue/mongodb-orders": ("rotated", "Published"),
        "tenant-blue/postgres-shop": ("published", "Published"),
        "tenant-green/nats-bus": ("published", "Published"),
        "tenant-green/nats-feed": ("refused", "CACertInvalid"),
        "tenant-green/postgres-wiki": ("published", "Published"),
    }


ADDRESS = re.compile(r"(203\.0\.113|198\.18\.0)\.\d+")


def stories(ran: Ran, name: str = "ATTACHMENT") -> dict[str, list[tuple[str, str, str]]]:
    """Result, reason and first address of each line of one of the tables, in order."""
    (found_table,) = [one for one in ran.out.split("\n\n") if one.startswith(f"{name} ")]
    head, *lines = found_table.splitlines()
    at = [head.index(word) for word in ("RESULT", "REASON", "READ")]
    found: dict[str, list[tuple[str, str, str]]] = {}
    for line in lines:
        address = ADDRESS.search(line)
        told = (line[at[0] : at[1]].strip(), line[at[1] : at[2]].strip())
        story = found.setdefault(line[: at[0]].strip(), [])
        story.append((*told, address[0] if address else ""))
    return found


@pytest.mark.soak
def test_the_example_of_attachments_shows_what_becomes_of_addresses(tmp_path: Path) -> None:
    """Claimed, kept over a gap, moved to another application, waited for and taken over."""
    ran = up(tmp_path, "--example", "attachments", "--keep", "kept")
    assert ran.code == 0, ran.err
    assert words(ran, "ATTACHMENT") == ADDRESSES
    found = stories(ran)
    addresses = {name: {line[2] for line in story} - {""} for name, story in found.items()}
    assert len(addresses["tenant-blue/shop-db"]) == 1, "the claim outlives the Service"
    assert addresses["tenant-green/next"] == addresses["tenant-green/cache"]
    assert "stand-ins: addresses" in ran.err
    settings = tmp_path / "settings.yaml"
    settings.write_text("cozyProxyContractImplemented: true")
    kept = ("-f", str(tmp_path / "kept"), "--settings", str(settings))
    planned = run("plan", *kept, "-o", "json")
    assert json.loads(planned.out)["changes"] == [], planned.err


def test_an_address_that_never_comes_is_a_failure(tmp_path: Path) -> None:
    """No class, no address: the table says what is missing, and the exit code that it is."""
    shutil.copytree(WORLDS / "attachments", tmp_path / "mine")
    platform = tmp_path / "mine" / "00-platform.yaml"
    bodies = yaml.safe_load_all(platform.read_text())
    kept = [one for one in bodies if one["kind"] != "IPAddressClass"]
    platform.write_text(yaml.safe_dump_all(kept))
    ran = up(tmp_path, "--example", "./mine")
    assert ran.code == 1, ran.err
    assert stories(ran)["tenant-blue/shop-db"] == [("waiting", "ClaimPending", "")]
    assert "no IPAddressClass is the default and the claim names none" in ran.out


def words(ran: Ran, name: str) -> dict[str, list[tuple[str, str]]]:
    """Result and reason of each line of one of the tables."""
    return {key: [line[:2] for line in lines] for key, lines in stories(ran, name).items()}


@pytest.mark.soak
def test_the_example_of_gateways_shows_what_becomes_of_hostnames(tmp_path: Path) -> None:
    """Served, held and moved up; an edge, a class that is not there, a replica withdrawn."""
    ran = up(tmp_path, "--example", "gateways", "--keep", "kept")
    assert ran.code == 0, ran.err
    assert words(ran, "GATEWAY") == GATEWAYS
    assert words(ran, "ROUTE") == HOSTNAMES
    assert words(ran, "REPLICA") == REPLICAS
    addresses = [{line[2] for line in story} for story in stories(ran, "GATEWAY").values()]
    assert [1, 1, 1, 1] == [len(one) for one in addresses], "the class keeps an address"
    assert "there is no such GatewayClass" in ran.out
    assert "PRIVATE KEY" not in ran.out + ran.err
    assert "stand-ins: gateway class, certificates" in ran.err
    planned = run("plan", "-f", str(tmp_path / "kept"), "-o", "json")
    changed = [row["object"]["namespace"] for row in json.loads(planned.out)["changes"]]
    assert changed == ["tenant-white"], "files state no generation, and it is the one that changed"


@pytest.mark.soak
def test_a_gateway_that_nobody_programs_is_a_failure(tmp_path: Path) -> None:
    """A class of somebody else, whose program is not here: the table says so, and the exit code."""
    shutil.copytree(WORLDS / "gateways", tmp_path / "mine")
    platform = tmp_path / "mine" / "00-platform.yaml"
    platform.write_text(platform.read_text().replace("gateways.example.org", "edge.example.net"))
    ran = up(tmp_path, "--example", "./mine")
    assert ran.code == 1, ran.err
    assert stories(ran, "GATEWAY")["tenant-edge/cozystack"] == [
        ("waiting", "GatewayNotAccepted", "")
    ]


def test_all_examples_share_one_control_plane(tmp_path: Path) -> None:
    """A table for each capability; a release that owes no anchor is no line of the first."""
    ran = up(tmp_path, "--example", "all")
    assert ran.code == 0, ran.err
    anchors, _, _ = ran.out.partition("\n\nATTACHMENT ")
    assert table(Ran(ran.code, anchors, "")) == OUTCOMES
    assert words(ran, "ATTACHMENT") == ADDRESSES
    assert words(ran, "GATEWAY") == GATEWAYS
    assert words(ran, "ROUTE") == HOSTNAMES
    assert words(ran, "REPLICA") == REPLICAS
    assert words(ran, "SECRET") == {
        **{
            f"tenant-{name}.tenant-ca": [("visible", "-")]
            for name in ("blue/mongodb-orders", "blue/postgres-shop")
        },
        "tenant-blue/harbor-registry-credentials": [("visible", "-")],
        "tenant-blue/harbor-registry-database": [("hidden", "-")],
        "tenant-blue/harbor-registry-robot": [("visible", "-"), ("hidden", "-")],
        "tenant-green/nats-feed.tenant-ca": [("visible", "-"), ("gone", "-")],
    }
    assert "stand-ins: addresses, gateway class, certificates" in ran.err
    assert " lineage " in ran.err
    assert not (tmp_path / ".roadstead" / "webhook").exists()


def test_an_interrupt_ends_it_clean(tmp_path: Path) -> None:
    """In the foreground it runs until told to stop, and then leaves nothing behind."""
    kubeconfig = tmp_path / ".roadstead" / "kubeconfig"
    lines: list[str] = []
    # Whoever has the usual port keeps it; the page takes a free one, and says which.
    with socket.socket() as other, started([*PROGRAM, "up"], tmp_path) as child:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", 8080))
            other.listen()
        assert child.stderr is not None
        for line in child.stderr:
            lines.append(line)
            if line.startswith("^C"):
                break
        said = re.search(r"page: (http://127\.0\.0\.1:(\d+)/)$", "".join(lines), re.MULTILINE)
        assert said, lines
        assert said[2] != "8080"
        shown = {path: asked(said[1] + path) for path in ("", "readyz", "metrics", "graph")}
        assert kubeconfig.stat().st_mode & 0o777 == 0o600, lines
        kubectl = tmp_path / ".roadstead" / "bin" / "kubectl"
        listed = subprocess.run(  # noqa: S603 - the one we were given
            [str(kubectl), "get", "secret", "-n", "tenant-blue", "-o", "name"],
            capture_output=True,
            text=True,
            check=False,
        )
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=60)
    assert "secret/postgres-shop.tenant-ca" in listed.stdout.split(), lines
    assert "CACertPrivateKeyRefused" in shown[""]
    assert "capabilities: addresses" not in shown[""]
    assert "PRIVATE KEY" not in "".join(shown.values())
    assert "ok" == shown["readyz"]
    assert 'controller_runtime_reconcile_total{controller="anchors"' in shown["metrics"]
    assert 'controller_runtime_reconcile_total{controller="gateways"' in shown["metrics"]
    assert child.returncode == 0, rest
    assert not kubeconfig.exists()
    assert "Traceback" not in rest


@pytest.fixture(scope="module")
def plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A server with the example in it and no controller, and a tenant that may read little."""
    folder = tmp_path_factory.mktemp("plane") / "data"
    with ControlPlane.start(folder=folder) as running:
        request.config.stash[VERSION] = running.version
        install(running, [*neighbours(), *crds().values()])
        applied = running.kubectl("apply", "--server-side", "-f", str(WORLDS / "anchors"))
        assert applied.returncode == 0, applied.stderr
        rules = [
            ("create", "serviceaccount", "viewer", "-n", "tenant-blue"),
            ("create", "clusterrole", "viewer", "--verb=get,list",
             f"--resource={HELM_RELEASE.resource},{DEFINITION.resource},events"),
            ("create", "clusterrolebinding", "viewer", "--clusterrole=viewer",
             "--serviceaccount=tenant-blue:viewer"),
        ]  # fmt: skip
        for rule in rules:
            made = running.kubectl(*rule)
            assert made.returncode == 0, made.stderr
        yield running


def writes(running: ControlPlane, mark: int, user: str = "") -> list[str]:
    """What was asked of the server that is no read."""
    return [
        f"{entry['verb']} {entry['objectRef']['resource']}"
        for entry in running.audit_entries(mark)
        if entry["verb"] not in {"get", "list", "watch"}
        and user in entry["user"]["username"]
        and "controller" not in entry.get("userAgent", "")
        and entry.get("userAgent", "").startswith("roadstead")
    ]


def test_status_judges_afresh_and_writes_nothing(plane: ControlPlane) -> None:
    """Without a controller every anchor is still to be written, and looking does not write it."""
    mark = plane.audit_mark()
    ran = run("status", "-A", "-o", "json", "--kubeconfig", str(plane.kubeconfig))
    assert ran.code == 1, ran.err
    found = {item["name"]: item["reason"] for item in json.loads(ran.out)["items"]}
    assert found == {
        "mongodb-orders": "Pending",
        "postgres-shop": "Pending",
        "nats-bus": "CACertSecretCollision",
        "nats-feed": "Pending",
        "postgres-wiki": "CACertPrivateKeyRefused",
    }
    assert writes(plane, mark) == []
    names = run("status", "-A", "-q", "-o", "name", "--kubeconfig", str(plane.kubeconfig))
    assert len(names.out.splitlines()) == len(found)
    assert names.code == ran.code


def test_why_answers_on_the_server(plane: ControlPlane) -> None:
    """The same trail as offline, judged live."""
    flags = ("--kubeconfig", str(plane.kubeconfig), "-n", "tenant-green")
    live = run("why", "helmrelease/postgres-wiki", *flags)
    offline = run("why", "helmrelease/postgres-wiki", "-f", str(WORLDS / "anchors"))
    assert live == offline
    secret = run("why", "secret/postgres-shop-ca", *flags[:2], "-n", "tenant-blue")
    assert "holds a private key; Secret/tenant-blue/postgres-shop.tenant-ca" in secret.out
    assert "PRIVATE KEY" not in secret.out


def test_why_does_not_take_a_wish_for_a_fact(plane: ControlPlane) -> None:
    """With no controller at work an anchor is to be written; nobody says it is there."""
    flags = ("--kubeconfig", str(plane.kubeconfig), "-n", "tenant-blue")
    ran = run("why", "trustanchor/postgres-shop", *flags)
    assert ran.code == 1
    assert "Secret tenant-blue/postgres-shop.tenant-ca is to be written." in ran.out
    assert "Published" not in ran.out


@pytest.mark.parametrize("line", ["status -A", "why trustanchor/nats-feed -n tenant-green"])
def test_watching_prints_again_on_a_change(plane: ControlPlane, line: str, tmp_path: Path) -> None:
    """And ends with an interrupt."""
    shown = tmp_path / "shown"
    command = [*PROGRAM, *line.split(), "--watch", "--kubeconfig", str(plane.kubeconfig)]
    with shown.open("w") as out, started(command, tmp_path, stdout=out) as child:

        def times(word: str, least: int) -> bool:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if shown.read_text().count(word) >= least:
                    return True
                time.sleep(0.2)
            return False

        assert times("Pending", 1)
        change = ("label", "secret", "nats-feed-ca", "-n", "tenant-green", "--overwrite")
        for value, word in (("false", "NothingToDo"), ("true", "Pending")):
            done = plane.kubectl(*change, f"internal.cozystack.io/publish-ca-cert={value}")
            assert done.returncode == 0, done.stderr
            assert times(word, 1 if value == "false" else 2)
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "Traceback" not in rest


def test_a_caller_who_may_not_read_secrets_learns_nothing_false(plane: ControlPlane) -> None:
    """Unknown is not absent: neither published nor missing is claimed."""
    kubeconfig = str(plane.login("viewer", "tenant-blue"))
    ran = run("status", "-A", "--kubeconfig", kubeconfig)
    assert ran.code == 1, ran.err
    assert ran.out.count("Unknown (may not read secrets)") == 5
    secret = run("why", "secret/postgres-shop-ca", "-n", "tenant-blue", "--kubeconfig", kubeconfig)
    assert "is an object you may not read" in secret.out
    release = run("why", "hr/postgres-shop", "-n", "tenant-blue", "--kubeconfig", kubeconfig)
    assert release.code == 1
    assert "ReadFailed" in release.out


def test_a_caller_who_may_list_nothing_is_told_what_to_ask_for(plane: ControlPlane) -> None:
    """An empty table would be a false answer."""
    made = plane.kubectl("create", "serviceaccount", "nobody", "-n", "tenant-green")
    assert made.returncode == 0, made.stderr
    kubeconfig = str(plane.login("nobody", "tenant-green"))
    for line in (["status", "-A"], ["why", "hr/nats-bus"]):
        ran = run(*line, "--kubeconfig", kubeconfig)
        assert ran.code == 2
        assert "error: you may not list" in ran.err
        assert "hint: kubectl auth can-i list" in ran.err
        assert not ran.out


def test_a_plan_against_the_cluster_shows_what_is_missing(plane: ControlPlane) -> None:
    """What the files and the server share is no change; the anchors are."""
    flags = ("--against", "cluster", "--kubeconfig", str(plane.kubeconfig), "--fail-on", "never")
    mark = plane.audit_mark()
    ran = run("plan", "-f", str(WORLDS / "anchors"), *flags, "-o", "json", "--exit-code")
    assert ran.code == 1, ran.err
    found = {(row["action"], row["object"]["name"]) for row in json.loads(ran.out)["changes"]}
    assert found == {
        ("create", "mongodb-orders.tenant-ca"),
        ("create", "nats-feed.tenant-ca"),
        ("create", "postgres-shop.tenant-ca"),
    }
    assert writes(plane, mark) == []


def test_waiting_ends_with_its_time(plane: ControlPlane) -> None:
    """`--wait` gives up when it said it would, with the same table."""
    began = time.monotonic()
    ran = run("status", "-n", "tenant-blue", "--wait", "3s", "--kubeconfig", str(plane.kubeconfig))
    assert ran.code == 1
    assert "Pending" in ran.out
    assert time.monotonic() - began >= 3


def test_a_cluster_that_lacks_neighbours_is_told_so_before(plane: ControlPlane) -> None:
    """Here neither Gateway API nor cert-manager is installed; nothing is asked of what is not."""
    ran = run("check", "--pre", "-o", "json", "--kubeconfig", str(plane.kubeconfig))
    found = {one["name"]: one["result"] for one in json.loads(ran.out)["checks"]}
    assert ran.code == 1, ran.err
    assert found == {
        "kubernetes-version": "ok",
        "may-install": "ok",
        "helm-releases": "ok",
        "application-definitions": "ok",
        "gateway-api": "error",
        "cert-manager": "warning",
        "address-substrate": "ok",
    }
    viewer = str(plane.login("viewer", "tenant-blue"))
    asked = run("check", "--pre", "-o", "short", "--kubeconfig", viewer)
    assert "error: may-install" in asked.out
    assert "kubectl auth can-i create clusterroles.rbac.authorization.k8s.io" in asked.out


def test_the_server_is_asked_for_its_version(plane: ControlPlane) -> None:
    """`version` tells both."""
    ran = run("version", "--kubeconfig", str(plane.kubeconfig))
    assert ran.code == 0, ran.err
    assert f"server {plane.version}" in ran.out


def test_readings_come_from_the_server(plane: ControlPlane) -> None:
    """What the table is made of changes when the server does, with no controller at work."""

    async def read() -> set[str]:
        credentials = Credentials(find(str(plane.kubeconfig), "", {}))
        async with Client(credentials) as client:
            seen = await readings.read(client, ["tenant-green"])
        return {ref.name for ref, one in seen.anchors.items() if one.anchor is not None}

    assert asyncio.run(read()) == {"nats-bus"}
    gone = plane.kubectl("delete", "secret", "nats-bus.tenant-ca", "-n", "tenant-green")
    assert gone.returncode == 0
    assert asyncio.run(read()) == set()


BUS = "label secret nats-bus-ca -n tenant-green --overwrite internal.cozystack.io/publish-ca-cert"
BAD = '{"spec":{"caCert":{"sourceSecretName":"Not_A_Name"}}}'
STEPS = [
    ("helmrelease/postgres-wiki", (), "CACertPrivateKeyRefused"),
    ("helmrelease/nats-feed", (f"{BUS}-release=nats-feed",), "CACertSourceAmbiguous"),
    ("secret/nats-bus-ca", (f"{BUS}-release-", f"{BUS}=true"), "CACertSourceUnattributable"),
    (
        "helmrelease/postgres-wiki",
        (f"patch applicationdefinition postgres --type merge -p {BAD}",),
        "CACertDeclarationInvalid",
    ),
    (
        "helmrelease/postgres-wiki",
        ("create secret generic postgres-wiki.tenant-ca -n tenant-green --from-literal=a=b",),
        "CACertSecretCollision",
    ),
]


@pytest.mark.parametrize(("target", "before", "reason"), STEPS, ids=[step[2] for step in STEPS])
def test_what_why_says_to_type_works_on_the_server(
    plane: ControlPlane, target: str, before: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """The lines are kubectl's own language, typed into a shell as they stand."""
    for line in before:
        done = plane.kubectl(*line.split())
        assert done.returncode == 0, done.stderr
    flags = ("-n", "tenant-green", "--kubeconfig", str(plane.kubeconfig), "-o", "json")
    (trail,) = json.loads(run("why", target, *flags).out)["trails"]
    assert reason == trail["reason"]
    (tmp_path / "ca.pem").write_text(CERT1.decode())
    lines = "\n".join(trail["next"][0]["commands"])
    shell = shlex.join([str(plane.binary), "kubectl", "--kubeconfig", str(plane.kubeconfig)])
    typed = subprocess.run(  # noqa: S603 - what a person would type
        ["/bin/bash", "-ec", f'kubectl() {{ {shell} "$@"; }}\n{lines}\n'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert typed.returncode == 0, typed.stderr
    after = json.loads(run("why", target, *flags).out)
    assert reason not in [one["reason"] for one in after["trails"]]
