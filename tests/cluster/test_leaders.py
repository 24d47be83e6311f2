"""Two processes, one leader: only it writes, whatever befalls it, and nothing is lost.

`roadstead run` as real processes with the rights they ship with; the leader is stopped, killed,
frozen beyond its lease, and cut off. Who wrote what and who led when is read from the server's
audit log. Source: trust-anchors 9 and 12; runtime 6, point 9.
"""

import pytest

from lead_relay import Cut, Place
from lead_run import Reign
from live_cluster import Cluster
from live_summary import NOTES
from roadstead.runtime.lease import Terms

pytestmark = pytest.mark.cluster

FIXED_SEED = "1"
SHORT = Terms.lasting(3)
FREEZES = 20
WORST = (Place.SENDING, Place.ANSWERED, Place.RENEWING)


def judged(reign: Reign, config: pytest.Config) -> None:
    """Say what happened, and that nothing of it was wrong."""
    found = reign.faults()
    config.stash[NOTES].extend(reign.table())
    assert not found, "\n".join([f"seed {reign.seed}", *found])


def test_the_heir_leads_whatever_befalls_the_leader(
    server: Cluster, pytestconfig: pytest.Config
) -> None:
    """By a short lease: stopped, killed, frozen with a write on its lips, cut off in both ways."""
    with Reign(server, FIXED_SEED, SHORT) as reign:
        reign.stop()
        reign.kill()
        reign.freeze(Place.SENDING)
        reign.cut(Cut.REFUSED)
        reign.freeze(Place.ANYWHERE)
        reign.cut(Cut.SILENT)
        judged(reign, pytestconfig)
        assert 6 == len(reign.reigns.handovers())


@pytest.mark.soak
def test_twenty_freezes(server: Cluster, pytestconfig: pytest.Config) -> None:
    """In places of one fixed seed, longer each than the lease."""
    with Reign(server, FIXED_SEED, SHORT) as reign:
        for number in range(FREEZES):
            often = WORST[number % len(WORST)]
            reign.freeze(often if reign.rng.random() < 0.6 else Place.ANYWHERE)
        judged(reign, pytestconfig)
        assert FREEZES == len(reign.reigns.handovers())


@pytest.mark.soak
def test_the_lease_that_ships(server: Cluster, pytestconfig: pytest.Config) -> None:
    """All that may befall a leader, once, by the terms that a cluster has."""
    with Reign(server, FIXED_SEED) as reign:
        reign.freeze(WORST[0])
        reign.kill()
        reign.cut(Cut.REFUSED)
        reign.cut(Cut.SILENT)
        reign.stop()
        judged(reign, pytestconfig)
        assert 5 == len(reign.reigns.handovers())
