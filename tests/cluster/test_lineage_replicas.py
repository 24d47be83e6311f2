"""Two replicas of the webhook behind one Service: one goes, and tenants go on writing.

The registration that ships says `failurePolicy: Fail`; so a request that was lost with a replica
is refused, and nothing is stored unlabelled. Source: lineage 11; issue 7, point 4.
"""

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from lineage_cases import offering
from lineage_objects import given, release, secret
from live_admin import Admin, Reply, wait_for
from live_cluster import Cluster
from live_run import Run, logged_in, running
from live_summary import NOTES
from live_webhook import Place, flags, free_port, reviewed
from roadstead.deploy.rbac import LINEAGE
from roadstead.kube.refs import SECRET

pytestmark = pytest.mark.cluster

WRITERS = 8
PRE_STOP_SECONDS = 0.5
"""As a Pod sleeps between leaving its Service and being told to stop; endpoints are quick here."""
LOST = "failed calling webhook"


@dataclass
class Writers:
    """Tenants that create Secrets without a pause. went: so many went through.

    refused: what the server said of the others, and when. unlabelled: what should not exist.
    """

    went: int = 0
    refused: list[tuple[float, Reply]] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)

    def since(self, moment: float) -> list[Reply]:
        """What was refused from a moment on."""
        return [reply for at, reply in self.refused if at >= moment]

    def go_on(self, count: int = 60) -> None:
        """Wait until so many more went through."""
        goal = self.went + count
        wait_for("writes that go through", lambda: self.went >= goal)


@contextmanager
def writing(server: Cluster) -> Iterator[Writers]:
    """Have tenants write until the block ends; nothing of it is stored."""
    found, ended, lock = Writers(), threading.Event(), threading.Lock()

    def write(number: int) -> None:
        admin = Admin(server.kubeconfig)
        one = secret(f"s-{number}")
        path = SECRET.path(one["metadata"]["namespace"])
        while not ended.is_set():
            began = time.monotonic()
            reply = admin.call("POST", path, one, query={"dryRun": "All"})
            with lock:
                if reply.refused:
                    found.refused.append((began, reply))
                    continue
                found.went += 1
                if not given("true").items() <= reply.body["metadata"]["labels"].items():
                    found.unlabelled.append(str(reply.body["metadata"]))
        admin.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@contextmanager
def second(at: Place) -> Iterator[tuple[Run, int]]:
    """Another replica, ready and in the Service."""
    port = free_port()
    kubeconfig = logged_in(at.server, LINEAGE.name)
    with running(kubeconfig, *flags(port, at.folder)) as run:
        run.wait_ready()
        at.relay.ports.append(port)
        at.relay.cut()  # so that both have connections that the API server keeps
        wait_for("a write", lambda: not at.make(secret(), dryRun="All").refused)
        yield run, port


def test_a_replica_goes_and_tenants_go_on_writing(
    server: Cluster, pytestconfig: pytest.Config
) -> None:
    """One that is told to stop fails no request; one that is killed fails those it had."""
    with reviewed(server) as at:
        at.stand(*offering({}), release())
        at.seen()
        with second(at) as (killed, port):
            first = at.relay.ports[0]
            with writing(server) as writers:
                writers.go_on()
                at.relay.ports.remove(first)
                time.sleep(PRE_STOP_SECONDS)
                assert 0 == at.run.stop()
                writers.go_on()
            stopped = writers

            with second(at), writing(server) as writers:
                writers.go_on()
                killed.send(signal.SIGKILL)
                assert -signal.SIGKILL == killed.code()
                time.sleep(PRE_STOP_SECONDS)
                at.relay.ports.remove(port)
                gone = time.monotonic()
                writers.go_on()

    said = Counter(reply.code for _, reply in writers.refused)
    pytestconfig.stash[NOTES] += [
        f"replicas: one told to stop: {stopped.went} writes, {len(stopped.refused)} refused",
        f"replicas: one killed: {writers.went} writes, refused by code: {dict(said)}",
    ]
    assert [] == [reply.message for _, reply in stopped.refused]
    assert [] == stopped.unlabelled + writers.unlabelled
    assert [] == [reply.message for reply in writers.since(gone)]
    assert all(reply.code == 500 and LOST in reply.message for _, reply in writers.refused)
