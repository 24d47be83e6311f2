"""Whatever gateways, routes and certificates there are, the stand-ins settle beside us."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acting import Acting, ref_of
from class_objects import (
    TLS_ROUTE,
    a_class,
    a_gateway,
    a_listener,
    a_route,
    a_service,
    a_space,
    https,
    tls,
)
from gateway_worlds import Scene, scenes
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import SECRET, Ref
from roadstead.sim.actors.certificates.issuing import NAME
from roadstead.sim.actors.gateway_class import OWNED
from worlds import body

Json = dict[str, Any]
FEW = settings(max_examples=settings().max_examples // 8)
"""A world takes a tenth of a second; an eighth of the profile's examples keeps tests quick."""
BOTH = ("gateway-class", "certificates")
NAMES = st.sampled_from(["a.example.org", "b.example.org", "*.example.org", ""])
SPACES = st.sampled_from(
    [{"from": "Same"}, {"from": "All"}, {"from": "Selector", "selector": {}}, {}]
)


def kinds_written(at: Acting) -> set[str]:
    """The kinds of the objects that stand-ins have written."""
    return {ref.kind.kind for ref in at.settler.acted}


def of_others(route: Object) -> bytes:
    """The entries of a route that no stand-in may touch."""
    stored = (route.body.get("status") or {}).get("parents") or []
    return canonical([one for one in stored if one.get("controllerName") not in OWNED])


def check(at: Acting) -> None:
    """Hold what must be so however it came about."""
    version, acted = at.world.store.version, len(at.settler.acted)
    at.settle()
    assert (version, acted) == (at.world.store.version, len(at.settler.acted)), "settled"
    for gateway in at.world.store.all(api.GATEWAY):
        status, spec = gateway.body.get("status") or {}, gateway.body["spec"]
        if status.get("addresses"):
            names = [one["name"] for one in spec["listeners"]]
            assert names == [one["name"] for one in status["listeners"]]
    held = [
        one["value"]
        for gateway in at.world.store.all(api.GATEWAY)
        for one in (gateway.body.get("status") or {}).get("addresses") or ()
    ]
    assert len(held) == len(set(held)), "one address, one Gateway"


@st.composite
def certificates(draw: st.DrawFn) -> list[Json]:
    """Certificates, some into one Secret, of issuers that are there or not."""
    found = []
    for name in draw(st.lists(st.sampled_from("xyz"), max_size=3, unique=True)):
        names = draw(st.lists(NAMES.filter(bool), max_size=2, unique=True))
        issuer = {"name": draw(st.sampled_from(["i", "j"]))}
        spec = {"secretName": draw(st.sampled_from("st")), "issuerRef": issuer, "dnsNames": names}
        found.append(body(api.CERTIFICATE, name, spec=spec))
    return [*found, body(api.ISSUER, "i", spec={draw(st.sampled_from(["acme", "vault"])): {}})]


@st.composite
def listeners(draw: st.DrawFn) -> list[Json]:
    """Up to three listeners that a server would let stand beside each other."""
    makers: st.SearchStrategy[Callable[..., Json]] = st.sampled_from([https, tls, a_listener])
    found: dict[tuple[int, str, str | None], Json] = {}
    for at in range(draw(st.integers(1, 3))):
        hostname = draw(NAMES)
        named = {"hostname": hostname} if hostname else {}
        made = draw(makers)(f"l{at}", **named, space=draw(SPACES))
        found[made["port"], made["protocol"], made.get("hostname")] = made
    return list(found.values())


@st.composite
def routes(draw: st.DrawFn, name: str) -> Json:
    """A route to one of the Gateways."""
    kind = draw(st.sampled_from([api.HTTP_ROUTE, TLS_ROUTE]))
    hostnames = draw(st.lists(NAMES.filter(bool), min_size=1, max_size=2, unique=True))
    section: Json = draw(st.sampled_from([{}, {"sectionName": "l0"}, {"port": 443}]))
    made = a_route(*hostnames, name=name, place=draw(st.sampled_from("tu")), kind=kind, **section)
    made["spec"]["rules"] = [{"backendRefs": [{"name": "b", "port": 80}]}]
    made["spec"]["parentRefs"][0]["name"] = draw(st.sampled_from("gh"))
    return made


@st.composite
def worlds(draw: st.DrawFn) -> list[Json]:
    """Some of everything."""
    gateways = [
        a_gateway(*draw(listeners()), name=name, class_name=draw(st.sampled_from("cd")))
        for name in "gh"
    ]
    others = [a_class(), a_space("u", team="a"), a_service()]
    made = [*others, *gateways, *(draw(routes(f"r{at}")) for at in range(3))]
    return draw(st.permutations([*made, *draw(certificates())]))


@FEW
@given(worlds(), st.lists(st.integers(0, 20), max_size=4))
def test_the_stand_ins_settle_alone(objects: list[Json], gone: list[int]) -> None:
    """At rest, after each deletion too; they write what is theirs to write."""
    at = Acting(BOTH, objects)
    check(at)
    for number in gone:
        ref = ref_of(objects[number % len(objects)])
        if at.find(ref) is not None:
            at.delete(ref)
            check(at)
    assert kinds_written(at) <= {
        *("GatewayClass", "Gateway", "HTTPRoute", "TLSRoute"),
        *("Issuer", "Certificate", "Secret"),
    }


@FEW
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_objects_changes_nothing(objects: list[Json], order: Any) -> None:
    """Which of them is looked at first is chance; an address alone may be another's."""
    shuffled = list(objects)
    order.shuffle(shuffled)

    assert said(Acting(BOTH, objects)) == said(Acting(BOTH, shuffled))


def said(at: Acting) -> dict[Ref, Any]:
    """What is said of everything; who has which address, and which Secret, goes by who came."""
    found = {}
    for seen in at.world.store.all():
        if seen.kind in {SECRET, api.CERTIFICATE}:
            continue
        status = dict(seen.body.get("status") or {})
        status.pop("addresses", None)
        status["conditions"] = [{**one, "message": ""} for one in status.get("conditions") or ()]
        found[seen.ref] = status
    return found


@FEW
@given(scenes(contests=False))
def test_the_stand_ins_settle_beside_us(scene: Scene) -> None:
    """Both write into one status and one list of entries, and neither undoes the other."""
    objects = [a_class("cilium"), *(seen.body for seen in scene.objects)]
    at = Acting(BOTH, objects, (GATEWAYS_CONTROLLER,))
    check(at)
    alone = Acting((), objects, (GATEWAYS_CONTROLLER,))
    for kind in (api.HTTP_ROUTE, *api.TLS_ROUTES[:1]):
        for route in at.world.store.all(kind):
            before = alone.find(route.ref)
            assert before is not None
            assert of_others(before) == of_others(route), "no entry of ours is touched"
    for kind in (api.GATEWAY, api.CERTIFICATE, api.ISSUER):
        wanted = {seen.ref: seen.body["spec"] for seen in alone.world.store.all(kind)}
        assert wanted == {seen.ref: seen.body["spec"] for seen in at.world.store.all(kind)}
    for secret in at.world.store.all(SECRET):
        if secret.ref in at.settler.acted:
            assert secret.annotations[NAME]
