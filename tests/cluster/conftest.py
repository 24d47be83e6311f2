"""One cluster for all of these tests; each starts from the same state of it."""

from collections.abc import Iterator

import pytest

from live_accounts import equipped
from live_cluster import Cluster, cluster
from live_summary import VERSION


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster, booted once, with our accounts and what holds them to less than RBAC says."""
    with cluster() as found, equipped(found) as found.tokens:
        request.config.stash[VERSION] = found.version
        yield found


@pytest.fixture
def server(shared: Cluster) -> Iterator[Cluster]:
    """The cluster as every test finds it."""
    yield shared
    shared.reset()
