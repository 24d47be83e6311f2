"""Tenant gateways where Gateway API is installed from its standard bundle, as on most clusters.

It serves TLSRoute at v1 alone. A server of its own: a bundle is not exchanged under running tests.
"""

from collections.abc import Iterator

import pytest

from live_cluster import OLD, Cluster, cluster
from live_differential import play
from live_summary import VERSION
from roadstead.testbed.crds import STANDARD

pytestmark = pytest.mark.cluster

CASES = (
    "class-serves-a-hostname",
    "class-reports-a-protocol-conflict",
    "class-serves-an-edge-gateway",
    "certificate-is-issued-anew-for-a-child",
    "native-port-listener-is-for-the-tenant-alone",
    "tls-route-by-port-443",
    "withdrawal-waits-for-the-backend",
)
"""One of each mode, and of each kind of object that we or a stand-in write."""


@pytest.fixture(scope="module")
def standard(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The server, booted once."""
    with cluster(STANDARD) as found:
        request.config.stash[VERSION] = found.version
        yield found


def test_the_old_versions_are_not_served(standard: Cluster) -> None:
    """Or nothing here would be another test than that of the experimental bundle."""
    assert {404} == {standard.admin.call("GET", kind.path()).code for kind in OLD}


@pytest.mark.parametrize("name", CASES)
def test_a_case_ends_as_in_the_world(standard: Cluster, name: str) -> None:
    """Each object that is sent is one that this schema takes, too."""
    standard.reset()
    assert play(standard, f"gateways/{name}", unserved=OLD) == []
