"""Every case ends on a real API server as it ends in the offline world, and as it wants.

A sample runs with every commit, the whole set in `make soak`. What may differ is in ignored.txt.
"""

from pathlib import Path

import pytest

from live_cluster import Cluster
from live_differential import FOLDERS, play
from live_summary import NOTES
from roadstead.sim.cases import read_case

pytestmark = pytest.mark.cluster

SAMPLE = Path(__file__).parent / "sample.txt"


def sample() -> dict[str, str]:
    """The cases of the sample, each with why it is in it."""
    lines = (line.partition("#") for line in SAMPLE.read_text().splitlines())
    return {name.strip(): why.strip() for name, _, why in lines if name.strip()}


def only(name: str) -> str:
    """What a case says of where it is played."""
    return read_case(FOLDERS[name], name).only


def steps(folder: Path) -> str:
    """The text of a case's steps; empty where it has none."""
    file = folder / "steps.yaml"
    return file.read_text() if file.is_file() else ""


EVERY = tuple(name for name in FOLDERS if only(name) != "world")
_PAUSE = "how many growing pauses it takes depends on whether a write's echo precedes its answer"
_SECOND = "a server gives no two objects one age"
OTHERWISE = {
    "attachments/claim-of-another-shape-is-pending": "the definition refuses such an object",
    "attachments/conflicting-status-write-is-repeated": _PAUSE,
    "attachments/delegations-of-one-second-go-by-name": _SECOND,
    "attachments/failed-status-write-undoes-nothing": _PAUSE,
    "attachments/first-by-name-is-kept-of-two": _SECOND,
    "attachments/lost-answer-of-a-status-loses-no-event": _PAUSE,
    "attachments/minted-claim-states-no-class-and-no-family": "the schema fills the family in",
    "attachments/refused-mint-backs-off": _PAUSE,
    "attachments/refused-service-backs-off": _PAUSE,
    "attachments/second-look-at-a-backend-finds-its-own-service": "no list of a server lags",
    "attachments/second-look-finds-its-own-service": "no list of a server lags",
    "gateways/namespace-that-goes-in-the-middle-of-a-transition": "Events go with their namespace",
}
"""Cases of the world that a server answers otherwise, each with why."""
SPOILED = tuple(
    name
    for name, folder in FOLDERS.items()
    if name not in {*EVERY, *OTHERWISE} and "collect: false" not in steps(folder)
)
"""Cases that need a fault no healthy server shows: put in between, they can be played, too."""
FIRST_COME = ("lost-engine-table-withdraws-five", "pruned-definitions-withdraw-five")
"""Which five of many go is up to who comes first; with one worker that is certain."""
OFTEN = tuple(name for name in EVERY if name in sample() or only(name) == "cluster")


@pytest.mark.parametrize("name", OFTEN)
def test_a_case_of_the_sample_ends_alike(server: Cluster, name: str) -> None:
    """The world is a model; here it is held to what it models."""
    assert play(server, name) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", EVERY)
def test_every_case_ends_alike(server: Cluster, name: str) -> None:
    """The whole set."""
    assert play(server, name) == []


@pytest.mark.soak
@pytest.mark.parametrize(
    "name", [name for name in OFTEN if not any(part in name for part in FIRST_COME)]
)
def test_many_workers_end_alike(server: Cluster, name: str) -> None:
    """Offline one key is worked after the other; here as many at once as the capability asks."""
    controllers = read_case(FOLDERS[name], name).controllers
    # What has the webhook alone has nobody that takes keys.
    workers = max((one.workers for one in controllers), default=1)

    assert play(server, name, workers) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", SPOILED)
def test_a_case_with_faults_ends_alike(server: Cluster, name: str) -> None:
    """A healthy server, and on our side of the wire the fault that the case asks for."""
    assert play(server, name) == []


def test_the_sample_is_of_cases_that_exist(request: pytest.FixtureRequest) -> None:
    """A renamed case does not drop out unseen, and who reads a run sees what was compared."""
    noted = request.config.stash[NOTES]
    noted.append(f"differential: {len(OFTEN)} of {len(EVERY)} cases in this run's sample:")
    noted += [f"  {name}: {sample().get(name, 'only: cluster')}" for name in OFTEN]

    assert [] == sorted(set(sample()) - set(EVERY))
    assert [] == sorted(set(OTHERWISE) - set(FOLDERS))
    assert all(sample().values())
