"""The stand-in for a class controller says what the Gateway API says that one says."""

from typing import Any

import pytest

from class_objects import (
    CILIUM,
    TLS_ROUTE,
    Class,
    a_class,
    a_gateway,
    a_listener,
    a_route,
    a_secret,
    a_service,
    a_space,
    https,
    tls,
)
from gateway_objects import an_entry
from roadstead.capabilities.gateways import api
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE
from roadstead.sim.actors import needed
from worlds import body

Json = dict[str, Any]
GATEWAY, ROUTE = api.GATEWAY.ref("t", "g"), api.HTTP_ROUTE.ref("t", "r")
GOOD = {"Accepted": "True Accepted", "Programmed": "True Programmed"}
FINE = {**GOOD, "ResolvedRefs": "True ResolvedRefs", "Conflicted": "False NoConflicts"}
UNSEEN = {"Accepted": "Unknown Pending", "Programmed": "Unknown Pending"}
EVERYWHERE = {"from": "All"}
ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"


def test_a_class_is_accepted_by_who_plays_it() -> None:
    """At its generation; one of somebody else stays as nobody has looked at it."""
    at = Class(a_class(), a_class("other", "edge.example.net/tunnel"))

    assert {"Accepted": "True Accepted"} == at.told("c", api.GATEWAY_CLASS)
    (condition,) = at.status(api.GATEWAY_CLASS, "c")["conditions"]
    assert 1 == condition["observedGeneration"]
    assert {"Accepted": "Unknown Pending"} == at.told("other", api.GATEWAY_CLASS)


@pytest.mark.parametrize(
    "classes",
    [
        pytest.param([], id="absent"),
        pytest.param([a_class(controller="edge.example.net/tunnel")], id="of-another"),
        pytest.param([a_class("d")], id="of-another-name"),
    ],
)
def test_it_is_silent_about_what_is_not_its_own(classes: list[Json]) -> None:
    """No class, no word: that is what an uninstalled class looks like for ever."""
    at = Class(*classes, a_gateway(), a_route("a.example.org"))

    assert UNSEEN == at.told()
    assert [] == at.entries()
    assert "addresses" not in at.status(api.GATEWAY, "g")


def test_a_gateway_is_accepted_and_programmed() -> None:
    """With an address, and with a word on each listener, at its generation."""
    at = Class(a_class(), a_gateway())

    assert (GOOD, FINE) == (at.told(), at.heard())
    status = at.status(api.GATEWAY, "g")
    assert [{"type": "IPAddress", "value": "198.18.0.1"}] == status["addresses"]
    kinds = [{"group": api.GATEWAY_API, "kind": "HTTPRoute"}]
    assert (kinds, 0) == (at.listener()["supportedKinds"], at.listener()["attachedRoutes"])
    stated = [*status["conditions"], *at.listener()["conditions"]]
    assert {1} == {one["observedGeneration"] for one in stated}
    at.merge(GATEWAY, spec={"listeners": [a_listener("plain")]})
    assert ["plain"] == [one["name"] for one in at.status(api.GATEWAY, "g")["listeners"]]
    stated = at.status(api.GATEWAY, "g")["conditions"]
    assert {2} == {one["observedGeneration"] for one in stated}


def test_each_gateway_keeps_an_address_of_its_own() -> None:
    """The smallest that nobody has; one that is freed is given out again."""
    at = Class(a_class(), *(a_gateway(name=name) for name in "ghi"))

    def addresses() -> list[str]:
        found = at.world.store.all(api.GATEWAY)
        return [one["value"] for seen in found for one in seen.body["status"]["addresses"]]

    assert ["198.18.0.1", "198.18.0.2", "198.18.0.3"] == addresses()
    at.delete(api.GATEWAY.ref("t", "h"))
    at.seed(a_gateway(name="j"))
    at.settle()
    assert ["198.18.0.1", "198.18.0.3", "198.18.0.2"] == addresses()


def test_an_address_that_is_asked_for_is_not_given() -> None:
    """It says so, rather than to give another one."""
    asked = [{"type": "IPAddress", "value": "192.0.2.1"}]
    at = Class(a_class(), a_gateway(addresses=asked))

    assert {"Accepted": "False UnsupportedAddress", "Programmed": "False Invalid"} == at.told()


@pytest.mark.parametrize(
    ("secrets", "resolved"),
    [
        pytest.param([], "False InvalidCertificateRef", id="absent"),
        pytest.param([a_secret(type_="Opaque")], "False InvalidCertificateRef", id="opaque"),
        pytest.param([a_secret()], "True ResolvedRefs", id="there"),
    ],
)
def test_a_listener_waits_for_its_certificate(secrets: list[Json], resolved: str) -> None:
    """It is accepted all the same; the Gateway and the other listeners are served."""
    at = Class(a_class(), *secrets, a_gateway(a_listener(), https()))

    programmed = "True Programmed" if secrets and "True" in resolved else "False Invalid"
    wanted = {**FINE, "ResolvedRefs": resolved, "Programmed": programmed}
    assert (wanted, FINE, GOOD) == (at.heard("web"), at.heard(), at.told())


def test_a_certificate_that_comes_or_goes_is_noticed() -> None:
    """By the event of the Secret alone."""
    at = Class(a_class(), a_gateway(https()))
    at.seed(a_secret())
    at.settle()
    assert FINE == at.heard("web")
    at.delete(SECRET.ref("t", "s"))

    assert "False InvalidCertificateRef" == at.heard("web")["ResolvedRefs"]


@pytest.mark.parametrize(
    ("grants", "resolved"),
    [
        pytest.param([], "False RefNotPermitted", id="no-grant"),
        pytest.param(
            [
                body(
                    api.REFERENCE_GRANT,
                    "lend",
                    "vault",
                    spec={
                        "from": [{"group": api.GATEWAY_API, "kind": "Gateway", "namespace": "t"}],
                        "to": [{"group": "", "kind": "Secret"}],
                    },
                )
            ],
            "False InvalidCertificateRef",
            id="granted-and-absent",
        ),
    ],
)
def test_a_certificate_elsewhere_needs_a_grant(grants: list[Json], resolved: str) -> None:
    """Without one nobody learns whether it is there."""
    listener = https()
    listener["tls"]["certificateRefs"] = [{"name": "s", "namespace": "vault"}]
    at = Class(a_class(), *grants, a_gateway(listener))

    assert resolved == at.heard("web")["ResolvedRefs"]


@pytest.mark.parametrize(
    ("listeners", "conflicting"),
    [
        pytest.param([https(), tls()], {"web", "tls"}, id="one-name-twice"),
        pytest.param([https(), tls(hostname="b.example.org")], set(), id="two-names"),
        pytest.param([https(hostname="*.example.org"), tls()], set(), id="wildcard-beside-a-name"),
        pytest.param([https(), a_listener("p", 443)], {"web", "p"}, id="plain-on-443"),
        pytest.param([a_listener(hostname="a.example.org"), https()], set(), id="two-ports"),
    ],
)
def test_listeners_that_conflict_are_not_accepted(
    listeners: list[Json], conflicting: set[str]
) -> None:
    """Only they; the Gateway is accepted while one of its listeners is."""
    at = Class(a_class(), a_secret(), a_gateway(*listeners, a_listener("more", 8080)))

    for one in listeners:
        heard = at.heard(one["name"])
        bad = one["name"] in conflicting
        assert ("True ProtocolConflict" if bad else "False NoConflicts") == heard["Conflicted"]
        assert ("False ProtocolConflict" if bad else "True Accepted") == heard["Accepted"]
    accepted = "True ListenersNotValid" if conflicting else "True Accepted"
    assert {**GOOD, "Accepted": accepted} == at.told()


def test_a_gateway_without_any_good_listener_is_refused() -> None:
    """Nothing of it can be served."""
    at = Class(a_class(), a_gateway(a_listener(protocol="UDP")))

    assert "False UnsupportedProtocol" == at.heard()["Accepted"]
    assert {"Accepted": "False ListenersNotValid", "Programmed": "False Invalid"} == at.told()


@pytest.mark.parametrize(
    ("listener", "kinds", "resolved"),
    [
        (https(kinds=["HTTPRoute", "TLSRoute"]), ["HTTPRoute"], "False InvalidRouteKinds"),
        (tls("web", kinds=["HTTPRoute", "TLSRoute"]), ["TLSRoute"], "False InvalidRouteKinds"),
        (tls("web"), ["TLSRoute"], "True ResolvedRefs"),
        (https(kinds=["TCPRoute"]), [], "False InvalidRouteKinds"),
    ],
)
def test_kinds_that_a_protocol_cannot_carry_are_told(
    listener: Json, kinds: list[str], resolved: str
) -> None:
    """What is left is served. Source: tenant-gateway 3.3, known cosmetic effect."""
    at = Class(a_class(), a_secret(), a_gateway(listener))

    assert kinds == [one["kind"] for one in at.listener("web")["supportedKinds"]]
    assert resolved == at.heard("web")["ResolvedRefs"]
    assert "True Programmed" == at.heard("web")["Programmed"]


LABELLED = {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}}
BY_NAME = {
    "from": "Selector",
    "selector": {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["u"]}
        ]
    },
}
NEIGHBOUR = a_space("u", team="a")
NOWHERE, CLOSED, NAMELESS = (
    f"False {one}" for one in (api.NO_PARENT, api.NOT_ALLOWED, api.NO_HOSTNAME)
)
SERVED = "True Accepted"


@pytest.mark.parametrize(
    ("listener", "route", "accepted"),
    [
        pytest.param(a_listener(), a_route("a.example.org"), SERVED, id="same-namespace"),
        pytest.param(a_listener(), a_route(), SERVED, id="any-name"),
        pytest.param(a_listener(), a_route("a.example.org", place="u"), CLOSED, id="elsewhere"),
        pytest.param(a_listener(space=EVERYWHERE), a_route(place="u"), SERVED, id="from-all"),
        pytest.param(a_listener(space=LABELLED), a_route(place="u"), SERVED, id="by-label"),
        pytest.param(a_listener(space=LABELLED), a_route(), CLOSED, id="without-the-label"),
        pytest.param(a_listener(space=BY_NAME), a_route(place="u"), SERVED, id="by-name"),
        pytest.param(a_listener(space=BY_NAME), a_route(), CLOSED, id="by-another-name"),
        pytest.param(a_listener(), a_route(sectionName="x"), NOWHERE, id="no-such-section"),
        pytest.param(a_listener(), a_route(port=8080), NOWHERE, id="no-such-port"),
        pytest.param(a_listener(), a_route(sectionName="http", port=80), SERVED, id="both"),
        pytest.param(
            a_listener(hostname="*.example.org"), a_route("a.example.org"), SERVED, id="covered"
        ),
        pytest.param(
            a_listener(hostname="a.example.org"), a_route("*.example.org"), SERVED, id="covers"
        ),
        pytest.param(
            a_listener(hostname="*.example.org"), a_route("example.org"), NAMELESS, id="suffix"
        ),
        pytest.param(tls("http"), a_route("a.example.org"), CLOSED, id="no-such-kind"),
        pytest.param(tls("http"), a_route("a.example.org", kind=TLS_ROUTE), SERVED, id="tls"),
    ],
)
def test_a_route_hears_where_it_attaches(listener: Json, route: Json, accepted: str) -> None:
    """And the listener counts it."""
    at = Class(a_class(), NEIGHBOUR, a_gateway(listener), route)
    kind = TLS_ROUTE if route["kind"] == "TLSRoute" else api.HTTP_ROUTE

    entry = at.entry(kind=kind, place=route["metadata"]["namespace"])
    assert accepted == entry["Accepted"]
    assert (accepted == SERVED) == at.listener()["attachedRoutes"]


def test_attaching_does_not_depend_on_how_a_listener_fares() -> None:
    """So that one can see what a listener without a certificate concerns."""
    at = Class(a_class(), a_gateway(https()), a_route("a.example.org"))

    assert ("False Invalid", 1) == (
        at.heard("web")["Programmed"],
        at.listener("web")["attachedRoutes"],
    )


@pytest.mark.parametrize(
    ("backend", "there", "resolved"),
    [
        pytest.param({"name": "b", "port": 80}, [a_service()], "True ResolvedRefs", id="there"),
        pytest.param({"name": "b", "port": 80}, [], "False BackendNotFound", id="absent"),
        pytest.param({"name": "b", "kind": "Pod"}, [], "False InvalidKind", id="kind"),
        pytest.param(
            {"name": "b", "namespace": "u", "port": 80},
            [a_service(place="u")],
            "False RefNotPermitted",
            id="no-grant",
        ),
    ],
)
def test_a_route_hears_of_its_backends(backend: Json, there: list[Json], resolved: str) -> None:
    """It is attached all the same."""
    at = Class(a_class(), *there, a_gateway(), a_route(backends=[backend]))

    assert {"Accepted": SERVED, "ResolvedRefs": resolved} == at.entry()


def test_a_backend_that_comes_is_noticed() -> None:
    """By its own event."""
    at = Class(a_class(), a_gateway(), a_route(backends=[{"name": "b", "port": 80}]))
    at.seed(a_service())
    at.settle()
    assert "True ResolvedRefs" == at.entry()["ResolvedRefs"]
    at.delete(SERVICE.ref("t", "b"))

    assert "False BackendNotFound" == at.entry()["ResolvedRefs"]


def test_entries_of_others_stay_where_they_are() -> None:
    """Ours, somebody else's, and whatever order they came in."""
    ours = an_entry({"name": "g", "namespace": "t"}, "False")
    foreign = an_entry({"name": "g", "namespace": "t"}, controllerName="x.example.net/c")
    status = {"parents": [foreign, ours]}
    at = Class(a_class(), a_gateway(), a_route("a.example.org", status=status))
    before = [one for one in at.entries() if one["controllerName"] != CILIUM]

    assert [foreign["controllerName"], ours["controllerName"], CILIUM] == [
        one["controllerName"] for one in at.entries()
    ]
    at.merge(ROUTE, spec={"hostnames": ["b.example.org"]})
    assert before == [one for one in at.entries() if one["controllerName"] != CILIUM]
    at.delete(GATEWAY)
    assert before == at.entries()


def test_an_entry_follows_the_parent_ref_and_the_class() -> None:
    """What is edited away is taken back; another controller speaks under its own name."""
    at = Class(a_class(), a_class("e", ENVOY), a_gateway(), a_route(sectionName="http"))
    refs = [{"name": "g", "namespace": "t", "sectionName": "x"}]
    at.merge(ROUTE, spec={"parentRefs": refs})
    (entry,) = at.entries()
    assert "x" == entry["parentRef"]["sectionName"]
    assert NOWHERE == at.entry()["Accepted"]
    at.merge(GATEWAY, spec={"gatewayClassName": "e"})
    assert [ENVOY] == [one["controllerName"] for one in at.entries()]
    told = at.entries()
    at.merge(GATEWAY, spec={"gatewayClassName": "nobodys"})

    assert told == at.entries(), "who has stopped to look takes nothing back"
    assert GOOD == at.told()


def test_a_label_that_moves_is_noticed() -> None:
    """By the event of the Namespace alone."""
    at = Class(a_class(), NEIGHBOUR, a_gateway(a_listener(space=LABELLED)), a_route(place="u"))
    at.merge(NAMESPACE.ref("", "u"), metadata={"labels": {"team": None}})
    assert (CLOSED, 0) == (at.entry(place="u")["Accepted"], at.listener()["attachedRoutes"])
    at.merge(NAMESPACE.ref("", "u"), metadata={"labels": {"team": "a"}})

    assert (SERVED, 1) == (at.entry(place="u")["Accepted"], at.listener()["attachedRoutes"])


def test_a_class_that_comes_later_plays_what_waits() -> None:
    """Nothing has to be touched again."""
    at = Class(a_gateway(), a_route())
    at.seed(a_class())
    at.settle()

    assert (GOOD, SERVED) == (at.told(), at.entry()["Accepted"])


def test_a_full_status_is_left_alone() -> None:
    """A list of more than 32 entries would be refused."""
    entries = [
        an_entry({"name": f"g{at}"}, controllerName="x.example.net/c")
        for at in range(api.MOST_ENTRIES)
    ]
    at = Class(a_class(), a_gateway(), a_route(status={"parents": entries}))

    assert api.MOST_ENTRIES == len(at.entries())


def test_it_acts_where_there_is_a_class() -> None:
    """In a world without one there is nothing to play."""
    assert "gateway-class" in needed([api.GATEWAY_CLASS])
    assert "gateway-class" not in needed([api.GATEWAY, api.TENANT_GATEWAY, NAMESPACE])


def test_nothing_it_does_is_ours() -> None:
    """No request, no pass and no last word of ours; it settles, and writes nothing more."""
    at = Class(a_class(), a_secret(), a_gateway(a_listener(), https()), a_route("a.example.org"))
    version = at.world.store.version
    at.settle()

    assert version == at.world.store.version
    assert ([], []) == (list(at.world.requests.since()), at.settler.steps)
    assert {"GatewayClass/c", "Gateway/t/g", "HTTPRoute/t/r"} == {
        ref.path for ref in at.settler.acted
    }
    assert at.world.store.is_as_left(GATEWAY)
