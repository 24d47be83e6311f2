"""The stand-in for the address substrate does what the substrate is documented to do."""

from typing import Any

import pytest

from roadstead.capabilities.attachments import api
from roadstead.kube.refs import NAMESPACE, SERVICE
from roadstead.sim.actors import STAND_INS, needed
from roadstead.sim.actors.addresses.pool import name_of, next_free
from roadstead.sim.requests import By
from substrate import Substrate, a_balancer, a_claim, a_class, an_address

Json = dict[str, Any]
FIRST, SECOND = "203.0.113.1", "203.0.113.2"
OTHERS = a_class("other", default=False)
PREMIUM = a_class("premium", default=False, parameters={"addresses": ["198.51.100.8/30"]})


@pytest.mark.parametrize(
    ("classes", "claim", "phase", "class_name", "reason"),
    [
        pytest.param([a_class()], a_claim(), "Bound", "public", "", id="the-default"),
        pytest.param([], a_claim(), "Pending", None, "ClassNotFound", id="no-class"),
        pytest.param([OTHERS], a_claim(), "Pending", None, "ClassNotFound", id="no-default"),
        pytest.param(
            [a_class(), a_class("b")], a_claim(), "Pending", None, "ClassAmbiguous", id="several"
        ),
        pytest.param(
            [a_class(), OTHERS], a_claim(className="other"), "Bound", "other", "", id="named"
        ),
        pytest.param(
            [a_class()], a_claim(className="x"), "Pending", "x", "ClassNotFound", id="named-absent"
        ),
        pytest.param(
            [a_class(), OTHERS],
            a_claim(status={"phase": "Pending", "className": "other"}),
            "Bound",
            "other",
            "",
            id="sticky",
        ),
        pytest.param(
            [a_class(parameters={"addresses": ["nonsense"]})],
            a_claim(),
            "Pending",
            "public",
            "PoolExhausted",
            id="nothing-to-give",
        ),
    ],
)
def test_a_class_is_resolved(
    classes: list[Json], claim: Json, phase: str, class_name: str | None, reason: str
) -> None:
    """Spec, then what is recorded, then the only default; else the claim waits and says why."""
    status = Substrate(*classes, claim).status(api.CLAIM, "c")

    assert phase == status["phase"]
    assert class_name == status.get("className")
    assert [reason] * bool(reason) == [one["reason"] for one in status.get("conditions", ())]


def test_a_bound_claim_says_so_and_nothing_more() -> None:
    """The claim's status is a projection of the addresses; both are protected."""
    at = Substrate(a_class(reclaimPolicy="Delete"), a_claim())

    claim, address = at.get(api.CLAIM, "c"), at.get(api.ADDRESS, "ip-203-0-113-1")
    listed = [{"name": "ip-203-0-113-1", "address": FIRST}]
    assert {"phase": "Bound", "className": "public", "addresses": listed} == claim.body["status"]
    assert ("local.sdn.cozystack.io/claim-protection",) == claim.meta.finalizers
    assert {
        "className": "public",
        "address": FIRST,
        "reclaimPolicy": "Delete",
        "claimRef": {"namespace": "t", "name": "c", "uid": claim.meta.uid},
        "source": {"fromClass": {}},
    } == address.body["spec"]
    assert ("local.sdn.cozystack.io/address-protection",) == address.meta.finalizers
    assert {"phase": "Bound"} == address.body["status"]


def test_both_families_are_two_addresses_sorted_by_name() -> None:
    """`ip-2001-...` sorts before `ip-203-...`."""
    assert ["2001:db8::1", FIRST] == Substrate(a_class(), a_claim(family="Dual")).claimed()
    assert ["2001:db8::1"] == Substrate(a_class(), a_claim(family="IPv6")).claimed()


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        pytest.param(a_claim(), "203.0.113.18", id="available"),
        pytest.param(a_claim(className="premium"), "198.51.100.8", id="of-another-class"),
        pytest.param(a_claim(family="IPv6"), "2001:db8::1", id="of-another-family"),
        pytest.param(a_claim(addressName="ip-203-0-113-19"), "203.0.113.19", id="named"),
    ],
)
def test_an_available_address_is_preferred(stated: Json, wanted: str) -> None:
    """Of its class and family, the smallest name first; else the pool is asked."""
    spare = [an_address("203.0.113.19"), an_address("203.0.113.18")]
    at = Substrate(a_class(), PREMIUM, *spare, stated)

    assert [wanted] == at.claimed()


def test_each_claim_has_an_address_of_its_own() -> None:
    """The smallest that nobody holds, whatever class holds it."""
    at = Substrate(a_class(), OTHERS, a_claim("a"), a_claim("b", className="other"), a_claim("c"))

    assert [[FIRST], [SECOND], ["203.0.113.3"]] == [at.claimed(name) for name in "abc"]


def test_a_bound_claim_outlives_its_class() -> None:
    """The class is asked for only while a family is missing."""
    at = Substrate(a_class(), a_claim())
    at.world.delete(api.CLASS.ref("", "public"), By.OTHER)
    at.settle()

    status = at.status(api.CLAIM, "c")
    assert ("Bound", "public") == (status["phase"], status["className"])


def test_a_class_that_comes_later_binds_what_waits() -> None:
    """Nothing has to be touched again."""
    at = Substrate(a_claim())
    at.seed(a_class())
    at.settle()

    assert [FIRST] == at.claimed()


@pytest.mark.parametrize(
    ("policy", "left", "second"),
    [("Retain", {FIRST: "Released", SECOND: "Bound"}, SECOND), ("Delete", {FIRST: "Bound"}, FIRST)],
)
def test_an_address_is_freed_by_its_own_policy(
    policy: str, left: dict[str, str], second: str
) -> None:
    """What is kept is never given to anybody: the claim of the same name has another uid."""
    at = Substrate(a_class(reclaimPolicy=policy), a_claim(), a_balancer())
    former = at.get(api.CLAIM, "c").meta.uid
    at.world.delete(api.CLAIM.ref("t", "c"), By.OTHER)
    assert at.there(api.CLAIM, "c"), "the finalizer holds it"
    at.settle()

    assert not at.there(api.CLAIM, "c")
    assert [] == at.announced()
    at.seed(a_claim())
    at.settle()
    assert (left, [second]) == (at.addresses(), at.claimed())
    if policy == "Retain":
        kept = at.get(api.ADDRESS, "ip-203-0-113-1")
        assert former == kept.body["spec"]["claimRef"]["uid"]
        assert {"phase": "Released"} == kept.body["status"]


def test_an_address_that_is_cleared_can_be_had_again() -> None:
    """An admin takes the reference off, and whoever waits is bound."""
    one = a_class(parameters={"addresses": [FIRST]})
    at = Substrate(one, a_claim("a"))
    at.world.delete(api.CLAIM.ref("t", "a"), By.OTHER)
    at.settle()
    at.seed(a_claim("b"))
    at.settle()
    assert "Pending" == at.status(api.CLAIM, "b")["phase"]
    at.world.merge(api.ADDRESS.ref("", "ip-203-0-113-1"), {"spec": {"claimRef": None}}, By.OTHER)
    at.settle()

    assert [FIRST] == at.claimed("b")


def test_a_namespace_takes_its_claims_along() -> None:
    """The finalizer is let go once the addresses are free."""
    at = Substrate(a_class(), a_claim(), a_balancer())
    at.world.delete(NAMESPACE.ref("", "t"), By.OTHER)
    at.settle()

    assert not at.there(api.CLAIM, "c")
    assert at.world.store.get(NAMESPACE.ref("", "t")) is None
    assert {FIRST: "Released"} == at.addresses()


def test_what_has_lost_its_last_finalizer_is_not_remembered() -> None:
    """Its deletion may be told before our own write is answered; nothing would undo the ghost."""
    at = Substrate(a_class(reclaimPolicy="Delete"), a_claim())
    at.world.delete(api.CLAIM.ref("t", "c"), By.OTHER)
    at.settle()
    gone = at.settler.neighbours
    assert gone is not None
    stored = {view.name: len(store) for view, store in gone.engine.stores.items()}

    assert {"claims": 0, "addresses": 0, "classes": 1, "balancers": 0} == stored


def test_a_bound_address_is_protected() -> None:
    """Its deletion waits for the claim's."""
    at = Substrate(a_class(), a_claim(), a_balancer())
    at.world.delete(api.ADDRESS.ref("", "ip-203-0-113-1"), By.OTHER)
    at.settle()
    assert ([FIRST], [FIRST]) == (at.claimed(), at.announced())
    at.world.delete(api.CLAIM.ref("t", "c"), By.OTHER)
    at.settle()

    assert {} == at.addresses()
    assert not at.there(api.CLAIM, "c")


def test_a_claim_whose_address_is_gone_is_lost() -> None:
    """It does not take another: whoever relied on the address must hear of it."""
    at = Substrate(a_class(), a_claim(), a_balancer())
    at.world.store.remove(api.ADDRESS.ref("", "ip-203-0-113-1"), By.OTHER)
    at.settle()

    status = at.status(api.CLAIM, "c")
    assert ("Lost", "public", []) == (status["phase"], status["className"], at.claimed())
    assert ([], {}) == (at.announced(), at.addresses())


def test_a_service_announces_what_its_claim_holds() -> None:
    """Both addresses in the claim's order; each says who has it."""
    at = Substrate(a_class(), a_claim(family="Dual"), a_balancer())

    assert at.claimed() == at.announced() == ["2001:db8::1", FIRST]
    named = {"kind": "Service", "namespace": "t", "name": "s"}
    for one in at.world.store.all(api.ADDRESS):
        assert named == one.body["status"]["associatedTo"]


@pytest.mark.parametrize(
    ("ages", "holder"),
    [
        pytest.param({"a": "2026-01-01T00:00:02Z", "b": "2026-01-01T00:00:01Z"}, "b", id="oldest"),
        pytest.param({"b": "2026-01-01T00:00:01Z", "a": "2026-01-01T00:00:01Z"}, "a", id="by-name"),
    ],
)
def test_one_claim_is_one_service(ages: dict[str, str], holder: str) -> None:
    """The other waits, and follows when the first goes."""
    both = [a_balancer(name, made=made) for name, made in ages.items()]
    at = Substrate(a_class(), a_claim(), *both)
    other = next(name for name in ages if name != holder)
    assert ([FIRST], []) == (at.announced(holder), at.announced(other))
    at.world.delete(SERVICE.ref("t", holder), By.OTHER)
    at.settle()

    assert [FIRST] == at.announced(other)
    associated = at.status(api.ADDRESS, "ip-203-0-113-1")["associatedTo"]
    assert other == associated["name"]


def test_an_address_stays_held_when_its_service_goes() -> None:
    """Un-association leaves it bound and inert."""
    at = Substrate(a_class(), a_claim(), a_balancer())
    at.world.delete(SERVICE.ref("t", "s"), By.OTHER)
    at.settle()

    assert {"phase": "Bound"} == at.status(api.ADDRESS, "ip-203-0-113-1")


@pytest.mark.parametrize(
    "service",
    [
        pytest.param(a_balancer(claim=""), id="unpinned"),
        pytest.param(a_balancer(type="ClusterIP"), id="no-balancer"),
        pytest.param(a_balancer(claim="another"), id="pinned-to-nothing"),
    ],
)
def test_other_services_are_left_alone(service: Json) -> None:
    """They are other drivers' or nobody's; not a byte of them changes."""
    at = Substrate(a_class(), a_claim(), service)
    before = at.get(SERVICE, "s").meta.resource_version
    at.settle()

    assert before == at.get(SERVICE, "s").meta.resource_version
    assert ([], {"phase": "Bound"}) == (
        at.announced(),
        at.status(api.ADDRESS, "ip-203-0-113-1"),
    )


def test_nothing_it_does_is_ours() -> None:
    """No request, no pass and no last word of ours; what it leaves counts as another's."""
    at = Substrate(a_class(), a_claim(), a_balancer())

    assert ([], []) == (list(at.world.requests.since()), at.settler.steps)
    assert at.world.store.is_as_left(api.CLAIM.ref("t", "c"))
    names = {ref.path for ref in at.settler.acted}
    assert {"IPAddressClaim/t/c", "IPAddress/ip-203-0-113-1", "Service/t/s"} == names


@pytest.mark.parametrize(
    ("stated", "family", "held", "address"),
    [
        pytest.param(None, "IPv4", [], FIRST, id="default"),
        pytest.param(None, "IPv6", [], "2001:db8::1", id="default-of-six"),
        pytest.param({"addresses": ["10.0.0.0/30"]}, "IPv4", [], "10.0.0.0", id="prefix"),
        pytest.param({"addresses": ["10.0.0.0/30"]}, "IPv6", [], "", id="no-such-family"),
        pytest.param({"addresses": ["10.0.0.9", "10.0.0.3"]}, "IPv4", [], "10.0.0.3", id="single"),
        pytest.param(
            {"addresses": ["10.0.0.1-10.0.0.2"]}, "IPv4", ["10.0.0.1"], "10.0.0.2", id="range"
        ),
        pytest.param(
            {"addresses": ["10.0.0.1-10.0.0.2"], "exclude": ["10.0.0.1"]},
            "IPv4",
            ["10.0.0.2"],
            "",
            id="exhausted",
        ),
    ],
)
def test_the_smallest_free_address_comes_next(
    stated: Json | None, family: str, held: list[str], address: str
) -> None:
    """Of the class's own ranges, or of the documentation's prefixes."""
    one = a_class(parameters=stated or {})
    at = Substrate(one, *(an_address(each) for each in held))
    objects = at.world.store.all(api.ADDRESS)

    assert address == next_free(at.get(api.CLASS, "public"), family, objects)


def test_names_are_the_digits_in_full() -> None:
    """So that they are legal and two spellings of one address are one name."""
    assert "ip-203-0-113-7" == name_of("203.0.113.7")
    assert "ip-2001-0db8-0000-0000-0000-0000-0000-0001" == name_of("2001:db8::1")


def test_a_stand_in_acts_where_there_is_something_to_do() -> None:
    """`plan` asks for the others' silence by not naming what they act on."""
    assert () == needed([SERVICE, NAMESPACE])
    for kind in (api.ATTACHMENT, api.CLAIM, api.CLASS, api.ADDRESS):
        assert ("addresses",) == needed([SERVICE, kind])
    names = [one.name for stand_in in STAND_INS.values() for one in stand_in.controllers]
    assert all(name.startswith("stand-in-") for name in names)


def test_without_its_kinds_it_does_nothing() -> None:
    """A Service that is pinned to a kind nobody has made is left as it is."""
    at = Substrate(a_balancer())

    assert [] == at.announced()
