"""Owners by reference: what is asked again, what is kept, and for how long.

Source: lineage 5.1.
"""

import pytest

from lineage_objects import NS
from roadstead.errors import ClusterError
from roadstead.kube.objects import Meta, Object, Owner
from roadstead.kube.refs import Kind, Ref
from roadstead.runtime import owners
from roadstead.runtime.clock import Turns
from roadstead.runtime.owners import Owners

SET = Kind("ReplicaSet", "apps", "v1", "replicasets")
NODE = Kind("Node", "", "v1", "nodes", namespaced=False)
LATE = ClusterError("no answer in time", reason="Timeout")
WEB = Owner("apps/v1", "ReplicaSet", "web", "u")


class Server:
    """What is asked of a client. script: what the next questions about objects are answered."""

    def __init__(self, *script: ClusterError | str) -> None:
        """Serve two kinds."""
        self.script = list(script)
        self.asked: list[Ref] = []
        self.looked = 0
        self.now = 0.0
        self.slept: list[float] = []
        self.told: list[str] = []
        self.owners = Owners(self, lambda: self.now, fetched=self.told.append, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def metadata(self, ref: Ref, *, deadline: float | None = None) -> Object | None:
        """Answer by the script, at the end that the object has the uid `u`."""
        assert deadline == owners.DEADLINE
        self.asked.append(ref)
        answer = self.script.pop(0) if self.script else "u"
        if isinstance(answer, ClusterError):
            raise answer
        if not answer:
            return None
        return Object(ref.kind, Meta(name=ref.name, namespace=ref.namespace, uid=answer))

    async def kinds(self, *, deadline: float | None = None) -> dict[tuple[str, str], Kind]:
        """What is served."""
        assert deadline == owners.DEADLINE
        self.looked += 1
        return {(kind.api_version, kind.kind): kind for kind in (SET, NODE)}


async def test_no_answer_in_time_is_asked_for_twice_more() -> None:
    """With pauses of 100 and 400 ms, and no longer."""
    patient, given_up = Server(LATE, LATE), Server(LATE, LATE, LATE)

    assert await patient.owners.owner(WEB, NS) is not None
    with pytest.raises(ClusterError, match="in time"):
        await given_up.owners.owner(WEB, NS)

    assert [0.1, 0.4] == patient.slept == given_up.slept
    assert (3, ["found"]) == (len(patient.asked), patient.told)
    assert (3, ["error"]) == (len(given_up.asked), given_up.told)


async def test_a_found_owner_is_kept_for_half_a_minute() -> None:
    """And not a moment longer; another uid than the kept one is asked for."""
    server = Server()
    for now in (0.0, 29.9, 30.1):
        server.now = now
        assert await server.owners.owner(WEB, NS) is not None
    other = Owner("apps/v1", "ReplicaSet", "web", "older")
    await server.owners.owner(other, NS)

    assert ["found", "cached", "found", "found"] == server.told


async def test_neither_an_absence_nor_an_error_is_kept() -> None:
    """An owner is often made moments before what it owns."""
    refused = ClusterError("no", status=403)
    server = Server("", refused, "u")

    assert await server.owners.owner(WEB, NS) is None
    with pytest.raises(ClusterError):
        await server.owners.owner(WEB, NS)
    assert await server.owners.owner(WEB, NS) is not None

    assert ["absent", "forbidden", "found"] == server.told


async def test_a_kind_that_is_not_served_is_looked_up_every_ten_seconds() -> None:
    """A kind that is installed meanwhile is found then."""
    server = Server()
    odd = Owner("x.example.org/v1", "Thing", "x", "u")
    for now in (0.0, 9.9, 10.1, 15.0):
        server.now = now
        assert await server.owners.owner(odd, NS) is None

    assert (2, []) == (server.looked, server.asked)
    assert ["unserved"] * 4 == server.told


async def test_a_kind_that_went_away_is_looked_up_again() -> None:
    """The path answers that nobody serves it: discovery says what is so now."""
    gone = ClusterError("not served", status=404, reason="NotServed")
    server = Server("u", gone, gone)
    await server.owners.owner(WEB, NS)
    server.now = 60.0

    assert await server.owners.owner(WEB, NS) is None

    assert (2, "unserved") == (server.looked, server.told[-1])


@pytest.mark.parametrize(
    ("one", "namespace", "asked"),
    [
        pytest.param(WEB, NS, [SET.ref(NS, "web")], id="namespaced"),
        pytest.param(Owner("v1", "Node", "n", "u"), NS, [NODE.ref("", "n")], id="cluster-scoped"),
        pytest.param(WEB, "", [], id="above-a-cluster-scoped-one"),
    ],
)
async def test_an_owner_is_looked_for_where_it_can_be(
    one: Owner, namespace: str, asked: list[Ref]
) -> None:
    """In the namespace of what it owns, or in none."""
    server = Server()

    await server.owners.owner(one, namespace)

    assert asked == server.asked


@pytest.mark.parametrize("status", [400, 405, 406])
async def test_a_reference_that_can_never_be_read_is_passed_over(status: int) -> None:
    """A name that no object can have must not keep anybody from writing."""
    server = Server(ClusterError("no", status=status))

    assert await server.owners.owner(WEB, NS) is None


async def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever names are made up."""
    monkeypatch.setattr(owners, "KEPT_OWNERS", 3)
    server = Server()
    for number in range(10):
        await server.owners.owner(Owner("apps/v1", "ReplicaSet", f"w{number}", "u"), NS)

    assert 3 == len(server.owners._kept)


@pytest.mark.looptime
async def test_turns_come_so_many_a_second(looptime: float) -> None:
    """The first is free; without a rate all are."""
    clock = {"now": 0.0}
    turns, free = Turns(10.0, lambda: float(looptime)), Turns(0.0, lambda: clock["now"])
    for _ in range(5):
        await turns.wait()
        await free.wait()

    assert 0.4 == pytest.approx(float(looptime), abs=0.01)
