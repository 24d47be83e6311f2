"""A process that is killed between two writes leaves nothing double, nothing behind, nothing lost.

`roadstead run` as a real process, with the rights it ships with, is killed by SIGKILL at every
boundary between two writes of a pass. What came of it is read from the server's audit log.
Source: endpoint-attachments 5 and 7; runtime 6, points 9 and 12.
"""

import os
from random import SystemRandom

import pytest

from kill_judge import Judge, table
from kill_relay import Relay
from kill_run import Campaign
from kill_world import World
from kill_writes import BOUNDARIES
from live_cluster import Cluster
from live_run import grant, server_context, user_of
from live_summary import NOTES
from roadstead.deploy.rbac import ATTACHMENTS

pytestmark = pytest.mark.cluster

FEW, MANY = 20, 200
LEAST_BETWEEN, LEAST_EACH = 150, 10
FIXED_SEED = "1"


def kill(server: Cluster, config: pytest.Config, total: int, seed: str, each: int = 0) -> Campaign:
    """Run so many kills and judge them; the table is said at the end of the test run.

    each: so many at each boundary, even if there are more in the end.
    """
    settings = server.folder / "kills.yaml"
    settings.write_text("cozyProxyContractImplemented: true\n")
    flags = ("--only=attachments", "--health-probe-bind-address=0", f"--settings={settings}")
    kubeconfig = grant(server, ATTACHMENTS.name, ATTACHMENTS)
    mark = server.own.audit_mark()
    world = World(server.admin)
    with (
        Relay(server.own.url, server_context(server)) as relay,
        Campaign(server, kubeconfig, flags, relay, world, seed) as campaign,
    ):
        campaign.run(total, each)
        assert 0 == campaign.stop()
        judge = Judge(user_of(ATTACHMENTS.name), world.kept, campaign.plans.spares)
        judge.read(server.own.audit_entries(mark))
        config.stash[NOTES].extend(table(campaign.kills, seed, judge.late()))
        faults = {
            "not shown by the log": judge.unshown(campaign.kills),
            "duplicates": judge.duplicates(),
            "orphans": world.orphans(),
            "lost claims": [*world.lost(), *judge.meddling(), *judge.minted_again()],
            "unsafe writes": judge.unsafe(),
        }
        found = [f"{what}: {one}" for what, listed in faults.items() for one in listed]
        assert not found, "\n".join([f"seed {seed}", *found])
        assert world.alive() == judge.alive()
    return campaign


def test_some_kills(server: Cluster, pytestconfig: pytest.Config) -> None:
    """The same ones in every run, no boundary twice before every other came once."""
    campaign = kill(server, pytestconfig, FEW, FIXED_SEED)
    assert len(campaign.counts) >= min(FEW // 2, len(BOUNDARIES))


@pytest.mark.soak
def test_many_kills(server: Cluster, pytestconfig: pytest.Config) -> None:
    """Every boundary many times, elsewhere in every run."""
    seed = os.environ.get("SOAK_SEED") or str(SystemRandom().randrange(2**32))
    pytestconfig.stash[NOTES].append(f"kills: SOAK_SEED={seed} replays these")
    campaign = kill(server, pytestconfig, MANY, seed, LEAST_EACH)
    assert campaign.counts.total() >= LEAST_BETWEEN
    assert all(campaign.counts[one] >= LEAST_EACH for one in BOUNDARIES), campaign.counts
