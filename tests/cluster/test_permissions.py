"""A role that lacks one permission: the sentence says which, the process goes on and recovers.

Source: trust-anchors 10 and 12.
"""

import pytest

from certificates import CERT2
from live_admin import wait_for
from live_cluster import Cluster
from live_run import grant, running, with_, without
from live_scene import (
    ANCHOR,
    NS,
    SOURCE,
    data,
    define,
    events,
    gone,
    labelled,
    published,
    release,
    source,
    told,
)
from roadstead.capabilities.anchors.api import DEFINITION, PUBLISH
from roadstead.kube.refs import HELM_RELEASE, SECRET

pytestmark = pytest.mark.cluster

VIEWS = {
    "secrets": ("secrets", "list"),
    "helmreleases": ("helmreleases", "watch"),
    "applicationdefinitions": ("applicationdefinitions", "watch"),
}
RESOURCES = {
    "secrets": SECRET.resource,
    "helmreleases": HELM_RELEASE.resource,
    "applicationdefinitions": DEFINITION.resource,
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_may_not_be_seen(server: Cluster, view: str) -> None:
    """Nothing is decided without it, and everything once it may be seen."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin)
    kubeconfig = grant(server)
    without(server, *VIEWS[view])
    with running(kubeconfig) as run:
        line = run.said("view lost", kind=RESOURCES[view], state="forbidden")
        assert ("anchors", 403) == (line["needed_by"], line["status"])
        wait_for("what is missing", lambda: "forbidden" in run.ready()[1])
        assert (False, True) == (run.ready()[0], run.alive())
        assert admin.get(ANCHOR) is None

        with_(server, *VIEWS[view])
        published(admin)
        run.wait_ready()


def test_a_watch_list_needs_no_right_to_list(server: Cluster) -> None:
    """What comes as the first events of a watch is not listed: `watch` alone is asked for."""
    define(server.admin)
    release(server.admin)
    source(server.admin)
    kubeconfig = grant(server)
    without(server, "helmreleases", "list")
    with running(kubeconfig) as run:
        run.wait_ready()
        published(server.admin)


def test_writes_that_are_not_allowed(server: Cluster) -> None:
    """Each is told on the release it is about, and made up for once it is allowed."""
    admin = server.admin
    define(admin, declared=False)
    of = release(admin)
    kubeconfig = grant(server)
    without(server, "secrets", "create")
    with running(kubeconfig) as run:
        run.wait_ready()
        source(admin, labels=labelled())
        assert ANCHOR.key in told(admin, "CACertWriteDenied", of)["message"]
        with_(server, "secrets", "create")
        published(admin)

        without(server, "secrets", "update")
        admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
        wait_for("a second refusal", lambda: _denials(server) > 1)
        published(admin)  # the last good one stays
        with_(server, "secrets", "update")
        published(admin, of="two")

        without(server, "secrets", "delete")
        admin.patched(SOURCE, {"metadata": {"labels": {PUBLISH: "false"}}})
        wait_for("a third refusal", lambda: _denials(server) > 2)
        published(admin, of="two")
        with_(server, "secrets", "delete")
        gone(admin, ANCHOR)
        assert run.alive()
        assert run.stop() == 0


def _denials(server: Cluster) -> int:
    of = HELM_RELEASE.ref(NS, "postgres-mydb")
    every = [e for e in events(server.admin, of) if e["reason"] == "CACertWriteDenied"]
    return sum(int(e.get("count", 1)) for e in every)


def test_events_that_may_not_be_told(server: Cluster) -> None:
    """What cannot be said costs nothing else, and is said at the next chance."""
    admin = server.admin
    define(admin)
    release(admin)
    source(admin, pem=b"no certificate")
    release(admin, "tenant-bar")
    kubeconfig = grant(server)
    without(server, "events", "create")
    with running(kubeconfig) as run:
        run.wait_ready()
        source(admin, SECRET.ref("tenant-bar", SOURCE.name))
        published(admin, SECRET.ref("tenant-bar", ANCHOR.name))
        assert [] == events(admin, SOURCE)

        with_(server, "events", "create")
        admin.patched(SOURCE, {"metadata": {"labels": {"touched": "yes"}}})
        told(admin, "CACertInvalid", SOURCE)
        assert run.alive()
