"""`roadstead run --read-only` where every capability wants something, and not one write is sent."""

import re
from base64 import b64encode
from pathlib import Path

import pytest

from lineage_cases import offering
from lineage_objects import HELM, given, release, secret
from live_admin import wait_for
from live_cluster import Cluster
from live_run import Run, running
from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.lineage.api import DEFINITION
from roadstead.cli.up import WORLDS
from roadstead.kube.refs import HELM_RELEASE, LEASE, SECRET
from webhook_certificates import pair, put

pytestmark = pytest.mark.cluster

READS = {"get", "list", "watch"}


def summary(run: Run) -> int:
    """The number in the line that says how much would change."""

    def found() -> str:
        for line in run.lines:
            told = re.fullmatch(r"read-only: (\d+) objects would change", line.get("msg", ""))
            if told is not None:
                return told[1]
        return ""

    return int(wait_for(f"the summary in {run.text()[-2000:]}", found))


def test_nothing_is_written_though_everybody_wants_something(
    server: Cluster, tmp_path: Path
) -> None:
    """The audit log of a run with all rights has reads alone; the log has what it would do."""
    for name in ("anchors", "attachments", "gateways"):
        applied = server.own.kubectl("apply", "--server-side", "-f", str(WORLDS / name))
        assert applied.returncode == 0, applied.stderr
    admin = server.admin
    (definition,) = offering({"include": [{}]})
    admin.made(DEFINITION, definition)
    admin.made(HELM_RELEASE, release())
    admin.made(SECRET, secret("stale", labels={**HELM, **given("false")}))
    made = pair("*.white.example.org")
    wildcard = {"tls.crt": made.certificate, "tls.key": made.key}
    held = {name: b64encode(value).decode() for name, value in wildcard.items()}
    kept = secret("wildcard-tls", namespace="tenant-root", type="kubernetes.io/tls", data=held)
    admin.made(SECRET, kept)
    folder = tmp_path / "tls"
    put(folder, pair("lineage-controller-webhook.default.svc"))
    mark = server.own.audit_mark()
    leases = {one["name"] for one in admin.metadata(LEASE)}

    with running(
        server.kubeconfig, "--only=", "--read-only", f"--webhook-cert-dir={folder}"
    ) as run:
        count = summary(run)
        lines, ready = run.lines, run.ready()[0]
        assert 0 == run.stop()

    would = [one for one in lines if str(one.get("msg")).startswith("object would be")]
    sent = [
        f"{entry['verb']} {entry['requestURI']}"
        for entry in server.own.audit_entries(mark)
        if entry.get("userAgent", "").startswith("roadstead/") and entry["verb"] not in READS
    ]
    assert [] == sent
    assert ready
    assert set(CONTROLLERS) == {one["controller"] for one in would}
    assert count == len({one["about"] for one in would})
    assert leases == {one["name"] for one in admin.metadata(LEASE)}
    assert [one for one in lines if one.get("msg") == "read-only: refused"]
    assert lines[1]["msg"] == "read-only: no Lease is taken and no admission answered"
