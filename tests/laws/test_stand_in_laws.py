"""Whatever claims, classes, addresses and Services there are, the address stand-in settles."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from roadstead.capabilities.attachments import api
from roadstead.kube.refs import SERVICE
from roadstead.sim.requests import By
from substrate import Substrate, a_balancer, a_claim, a_class, an_address

Json = dict[str, Any]
FAMILIES = st.sampled_from([None, "IPv4", "IPv6", "Dual"])
RANGES = st.sampled_from(
    [None, ["203.0.113.1-203.0.113.2"], ["203.0.113.2", "2001:db8::9"], ["nonsense"], []]
)
CLASSES, CLAIMS, SERVICES = ("p", "q"), ("a", "b", "c"), ("s", "t", "u")
NAMES = st.sampled_from(CLASSES)
POLICIES = st.sampled_from(["Retain", "Delete"])


@st.composite
def classes(draw: st.DrawFn, name: str) -> Json:
    """A class, the default or not, with ranges or without."""
    ranges = draw(RANGES)
    more = {} if ranges is None else {"parameters": {"addresses": ranges}}
    return a_class(name, default=draw(st.booleans()), reclaimPolicy=draw(POLICIES), **more)


@st.composite
def claims(draw: st.DrawFn, name: str) -> Json:
    """A claim of some family and of some class."""
    stated: Json = {"family": draw(FAMILIES), "className": draw(st.none() | NAMES)}
    return a_claim(name, **{key: value for key, value in stated.items() if value})


@st.composite
def addresses(draw: st.DrawFn) -> Json:
    """An address that somebody made, for nobody or for a claim that is not there."""
    number, policy = draw(st.integers(1, 3)), draw(POLICIES)
    more: Json = {"reclaimPolicy": policy}
    if draw(st.booleans()):
        more["claimRef"] = {"namespace": "t", "name": draw(st.sampled_from(CLAIMS)), "uid": "x"}
    return an_address(f"203.0.113.{number}", draw(NAMES), **more)


@st.composite
def worlds(draw: st.DrawFn) -> list[Json]:
    """Some of everything."""
    found = [draw(classes(name)) for name in CLASSES if draw(st.booleans())]
    found += [draw(claims(name)) for name in CLAIMS]
    spare = draw(st.lists(addresses(), max_size=2, unique_by=lambda one: one["metadata"]["name"]))
    pinned = [a_balancer(name, claim=draw(st.sampled_from(CLAIMS))) for name in SERVICES]
    return draw(st.permutations([*found, *spare, *pinned]))


def check(at: Substrate) -> None:
    """Hold what must be so however it came about."""
    version = at.world.store.version
    at.settle()
    assert version == at.world.store.version, "settled is settled"
    held = [address for name in CLAIMS if at.there(api.CLAIM, name) for address in at.claimed(name)]
    assert len(held) == len(set(held)), "one address, one claim"
    uids = {seen.meta.uid for seen in at.world.store.all(api.CLAIM)}
    for seen in at.world.store.all(api.ADDRESS):
        spec, status = seen.body["spec"], seen.body["status"]
        bound = (spec.get("claimRef") or {}).get("uid") in uids
        assert bound == (status["phase"] == "Bound")
        assert bound or spec["address"] not in held
        assert bound or "associatedTo" not in status
    announced = [one for name in SERVICES if at.there(SERVICE, name) for one in at.announced(name)]
    assert len(announced) == len(set(announced)), "one address, one Service"
    assert set(announced) <= set(held)


@settings(max_examples=60, deadline=None)
@given(worlds(), st.lists(st.sampled_from([*CLAIMS, *SERVICES, *CLASSES]), max_size=3))
def test_the_stand_in_settles(objects: list[Json], gone: list[str]) -> None:
    """At rest, after each deletion too; nobody shares an address, and nothing is left behind."""
    at = Substrate(*objects)
    check(at)
    for name in gone:
        kind = api.CLAIM if name in CLAIMS else SERVICE if name in SERVICES else api.CLASS
        if at.there(kind, name):
            released = {a for a, phase in at.addresses().items() if phase == "Released"}
            at.world.delete(kind.ref("t", name), By.OTHER)
            at.settle()
            check(at)
            assert not at.there(kind, name), "no finalizer is forgotten"
            assert all(at.addresses().get(one) == "Released" for one in released)
