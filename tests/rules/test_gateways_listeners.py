"""What a gateway listens on, mode by mode, and how it is called. tenant-gateway 3.1 to 3.4."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    NS,
    a_gateway,
    a_namespace,
    a_snapshot,
    attaching,
    body_of,
    http,
    listeners,
    made,
    pl,
    ready,
    sections,
    served,
    tls,
    told,
    writes,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.render.listeners import (
    certificate_of,
    children,
    passthrough,
    section_of,
)
from roadstead.capabilities.gateways.render.listeners import listeners as rendered
from roadstead.capabilities.gateways.render.objects import UnrenderableError, gateway
from roadstead.capabilities.gateways.snapshot import Asked, Snapshot
from roadstead.kube.hostnames import digest

Json = dict[str, Any]
HT = [
    {"group": api.GATEWAY_API, "kind": "HTTPRoute"},
    {"group": api.GATEWAY_API, "kind": "TLSRoute"},
]
BY_LABEL = {"from": "Selector", "selector": {"matchLabels": {api.ATTACH_LABEL: NS}}}
EXISTING: Json = {"certMode": "existingSecret", "wildcardSecretRef": {"name": "w"}}
CLOUD = {"provider": "cloudflare", "cloudflare": {"apiTokenSecretRef": {"name": "t", "key": "k"}}}
DNS01: Json = {"certMode": "dns01", "dns01": CLOUD}
EDGE: Json = {"certMode": "edge"}
CHILD = a_namespace("tenant-foo-alice", NS, f"alice.{APEX}")


def by_name(*names: str) -> dict[str, Any]:
    """A selector of namespaces by their names."""
    term = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(names)}
    return {"from": "Selector", "selector": {"matchExpressions": [term]}}


@pytest.mark.parametrize(
    ("hostname", "hashed"),
    [
        ("harbor.foo.example.com", "760d5a8a"),
        ("HARBOR.foo.example.com", "760d5a8a"),
        ("harbor.alice.example.com", "c31cf8bc"),
        ("api.foo.example.com", "0d0905b9"),
        ("dashboard.example.org", "dfe8b0e4"),
        ("harbor.alice.example.org", "45348fe9"),
        ("harbor.bob.example.org", "3005190e"),
        ("app.foo.example.com", "17e14fb0"),
        ("alice.example.org", "cf290f3a"),
        ("bob.example.org", "116343d5"),
        ("foo.example.com", "45a335de"),
    ],
)
def test_names_are_the_contracts(hostname: str, hashed: str) -> None:
    """TG-078, TG-080, TG-082: an upgrade that computes other names orders everything anew."""
    first = hostname.lower().partition(".")[0]

    assert hashed == digest(hostname)
    assert f"https-{first}-{hashed}" == section_of(hostname)
    assert f"cozystack-{first}-{hashed}-tls" == certificate_of("cozystack", hostname)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(a_snapshot(), ["http"], id="http01-TG-076"),
        pytest.param(
            a_snapshot(http("tenant-foo/h", f"z.{APEX}", f"harbor.{APEX}"),
                       tlsPassthroughServices=["vm", "api"],
                       tlsPassthroughListeners=[pl("pg", 5432), pl("my", 3306)]),
            ["http", "https-harbor-760d5a8a", section_of(f"z.{APEX}"),
             "tls-vm", "tls-api", "tls-pg", "tls-my"], id="http01-in-order-TG-092"),
        pytest.param(a_snapshot(namespaces=[CHILD]), ["http"], id="http01-without-children"),
        pytest.param(
            a_snapshot(http("tenant-foo/h", f"harbor.{APEX}"), namespaces=[CHILD], **DNS01,
                       tlsPassthroughServices=["api"]),
            ["http", "https", "https-apex", "https-child-alice-" + digest(f"alice.{APEX}"),
             "tls-api"], id="dns01-TG-081"),
        pytest.param(
            a_snapshot(http("tenant-foo/h", f"harbor.{APEX}"), namespaces=[CHILD], **EXISTING,
                       tlsPassthroughServices=["api"]),
            ["http", "https", "https-apex", "https-child-alice-" + digest(f"alice.{APEX}"),
             "tls-api"], id="existingSecret-TG-084"),
        pytest.param(
            a_snapshot(http("tenant-foo/h", f"harbor.{APEX}"), namespaces=[CHILD], **EDGE,
                       tlsPassthroughServices=["api"]),
            ["edge", "edge-apex", "edge-child-alice-" + digest(f"alice.{APEX}")],
            id="edge-TG-087"),
    ],
)  # fmt: skip
def test_sections_follow_the_mode(seen: Snapshot, expected: list[str]) -> None:
    """A section that is missing or moved takes every route that names it along."""
    assert expected == sections(seen)


def the(seen: Snapshot, section: str) -> dict[str, Any]:
    """One listener."""
    return next(one for one in listeners(seen) if one["name"] == section)


@pytest.mark.parametrize(
    ("seen", "section", "expected"),
    [
        pytest.param(a_snapshot(), "http",
                     (80, "HTTP", None, None, by_name(NS, "cozy-cert-manager"), None),
                     id="plain-TG-089"),
        pytest.param(a_snapshot(http("tenant-foo/h", f"harbor.{APEX}")), "https-harbor-760d5a8a",
                     (443, "HTTPS", f"harbor.{APEX}", "cozystack-harbor-760d5a8a-tls",
                      BY_LABEL, HT), id="terminate-TG-078"),
        pytest.param(a_snapshot(**DNS01), "https",
                     (443, "HTTPS", f"*.{APEX}", "cozystack-gateway-tls", BY_LABEL, HT),
                     id="dns01"),
        pytest.param(a_snapshot(**EXISTING), "https-apex",
                     (443, "HTTPS", APEX, "w", BY_LABEL, HT), id="existingSecret"),
        pytest.param(a_snapshot(tlsPassthroughServices=["api"]), "tls-api",
                     (443, "TLS", f"api.{APEX}", None, BY_LABEL, HT), id="service-TG-091"),
        pytest.param(a_snapshot(tlsPassthroughListeners=[pl("postgres", 5432)]), "tls-postgres",
                     (5432, "TLS", f"postgres.{APEX}", None, by_name(NS), None),
                     id="native-port-TG-093"),
        pytest.param(a_snapshot(**EDGE), "edge",
                     (80, "HTTP", f"*.{APEX}", None, BY_LABEL, HT[:1]), id="edge"),
        pytest.param(a_snapshot(**EDGE), "edge-apex",
                     (80, "HTTP", APEX, None, BY_LABEL, HT[:1]), id="edge-apex"),
    ],
)  # fmt: skip
def test_a_listener_has_its_shape(seen: Snapshot, section: str, expected: tuple[Any, ...]) -> None:
    """Port, protocol, hostname, certificate, namespaces, kinds: each is a serving path. 3.3."""
    one = the(seen, section)
    refs = one.get("tls", {}).get("certificateRefs") or [{}]
    allowed = one["allowedRoutes"]

    assert expected == (
        one["port"],
        one["protocol"],
        one.get("hostname"),
        refs[0].get("name"),
        allowed["namespaces"],
        allowed.get("kinds"),
    )
    assert ("tls" in one) is (one["protocol"] != "HTTP")


def test_a_gateway_of_cert_manager_admits_one_name() -> None:
    """TG-090: a list with one name twice is refused by nobody, and written for ever."""
    key = api.TENANT_GATEWAY.ref(api.CERT_MANAGER, "cozystack")
    target = made(api.TENANT_GATEWAY, api.CERT_MANAGER, "cozystack", spec={"apex": APEX})
    seen = replace(a_snapshot(), key=key, asked_for=target)

    assert by_name(api.CERT_MANAGER) == the(seen, "http")["allowedRoutes"]["namespaces"]


def test_the_judged_set_is_the_rendered_one() -> None:
    """TG-092: a verdict about a listener that is not there is a lie, port and order included."""
    seen = a_snapshot(
        tlsPassthroughServices=["vm", "api"], tlsPassthroughListeners=[pl("pg", 5432)]
    )
    judged = [(one.section, one.port, one.hostname) for one in passthrough(seen.asked)]
    there = [(one["name"], one["port"], one["hostname"]) for one in listeners(seen)[1:]]

    assert there == judged


@pytest.mark.parametrize(
    "spec", [{}, DNS01, EXISTING, EDGE], ids=["http01", "dns01", "own", "edge"]
)
def test_every_listener_owns_its_values(spec: dict[str, Any]) -> None:
    """TG-094: what is changed in one place must not change another."""
    seen = a_snapshot(http("tenant-foo/h", f"a.{APEX}", f"b.{APEX}"), namespaces=[CHILD], **spec)
    listed = rendered(seen, (f"a.{APEX}", f"b.{APEX}"))
    for at, one in enumerate(listed):
        others = [copy.deepcopy(other) for other in listed if other is not one]
        one["allowedRoutes"].setdefault("kinds", []).append({"kind": "GRPCRoute"})
        one["allowedRoutes"]["namespaces"]["selector"]["odd"] = at
        one.setdefault("tls", {}).setdefault("certificateRefs", []).append({"name": "odd"})

        assert others == [other for other in listed if other is not one]


def test_a_copied_gateway_owns_its_lists() -> None:
    """TG-094: the object that was read stays as it was read."""
    original = a_gateway(tlsPassthroughServices=["api"], tlsPassthroughListeners=[pl("pg", 5432)])
    before = copy.deepcopy(original.body)
    seen = replace(a_snapshot(), asked_for=original)
    decide(seen)
    copied = copy.deepcopy(original)
    copied.body["spec"]["tlsPassthroughServices"].append("vm")

    assert before == original.body
    assert ("api",) == Asked.of(original).services


LONG = f"{'a' * (250 - len(APEX))}.{APEX}"
"""With `*.` before it a name of 253 characters."""


@pytest.mark.parametrize(
    ("namespaces", "inside", "outside"),
    [
        pytest.param([CHILD], (f"alice.{APEX}",), (), id="a-child"),
        pytest.param([a_namespace("x", NS, f"Alice.{APEX}")], (f"alice.{APEX}",), (), id="letters"),
        pytest.param([a_namespace("x", NS, APEX)], (), (), id="TG-083-the-apex-itself"),
        pytest.param([a_namespace("x", NS)], (), (), id="no-host"),
        pytest.param([a_namespace(NS, NS, f"own.{APEX}")], (), (), id="its-own-namespace"),
        pytest.param([a_namespace("x", "tenant-x", f"x.{APEX}")], (), (), id="of-another"),
        pytest.param([a_namespace("x", NS, "x.org")], (), (("x", "x.org"),), id="outside"),
        pytest.param([a_namespace("x", NS, f"evil{APEX}")], (), (("x", f"evil{APEX}"),),
                     id="same-ending"),
        pytest.param([a_namespace("x", NS, f"a_b.{APEX}")], (), (("x", f"a_b.{APEX}"),),
                     id="no-dns-name"),
        pytest.param([a_namespace("x", NS, LONG)], (LONG,), (), id="as-long-as-can-be"),
        pytest.param([a_namespace("x", NS, f"a{LONG}")], (), (("x", f"a{LONG}"),),
                     id="no-room-for-what-is-below-it"),
        pytest.param([a_namespace("b", NS, f"b.{APEX}"), CHILD, a_namespace("c", NS, f"b.{APEX}")],
                     (f"alice.{APEX}", f"b.{APEX}"), (), id="sorted-and-each-once"),
        pytest.param([CHILD, a_namespace("y", NS, f"x.alice.{APEX}")],
                     (f"alice.{APEX}", f"x.alice.{APEX}"), (), id="child-of-a-child"),
    ],
)  # fmt: skip
def test_children_are_what_hangs_below(
    namespaces: list[Any], inside: tuple[str, ...], outside: tuple[Any, ...]
) -> None:
    """A host that no listener can have would cost the parent its whole Gateway. 3.4."""
    seen = a_snapshot(namespaces=namespaces, **EDGE)
    decision = decide(seen)

    assert (inside, outside) == children(seen)
    assert 2 + len(inside) == len(listeners(seen))
    assert ("ChildHostOutsideApex" in told(decision)) is bool(outside)


def many(count: int, **spec: Any) -> Snapshot:
    """A gateway with so many published hostnames."""
    return a_snapshot(http("tenant-foo/h", *(f"h{n:02}.{APEX}" for n in range(count))), **spec)


def test_sixty_four_listeners_fit_and_one_more_leaves_the_last_good_gateway() -> None:
    """TG-155: the API server refuses a Gateway of 65 as a whole."""
    full, services = many(60, tlsPassthroughServices=["a", "b", "c"]), ["a", "b", "c"]
    over = decide(many(61, tlsPassthroughServices=services))

    assert 64 == len(listeners(full))
    assert not [line for line in writes(over) if "Gateway" in line or "Certificate" in line]
    assert "ReconcileError" == ready(over)["reason"]
    assert "65" in ready(over)["message"]
    assert "64" in ready(over)["message"]


@pytest.mark.parametrize(("count", "low"), [(55, False), (56, True)])
def test_a_budget_that_runs_low_is_told_as_long_as_it_is(count: int, low: bool) -> None:
    """Above 56 of 64; a pass that writes nothing still says so, or each write tells it again."""
    assert low is ("ListenerBudget" in told(decide(many(count))))
    assert low is ("ListenerBudget" in told(decide(served(many(count)))))


@pytest.mark.parametrize(
    ("seen", "count", "word"),
    [
        pytest.param(
            a_snapshot(certMode="dns01", tlsPassthroughListeners=[pl("pg", 1, "_bad")]), 1, "dns01",
            id="TG-154-P1"),
        pytest.param(a_snapshot(tlsPassthroughServices=["a", "a"]), 1, "`a`", id="P2"),
        pytest.param(a_snapshot(tlsPassthroughServices=["A_"]), 1, "`A_`", id="P3"),
        pytest.param(a_snapshot(tlsPassthroughListeners=[pl("pg", 80)]), 1, "80", id="P7"),
        pytest.param(a_snapshot(tlsPassthroughListeners=[pl("pg", 1, "x.org")]), 1, "x.org",
                     id="P9"),
        pytest.param(a_snapshot(apex="a..b"), 1, "a..b", id="apex"),
        pytest.param(a_snapshot(), 65, "65", id="P11"),
    ],
)  # fmt: skip
def test_the_builder_returns_nothing_for_a_spec_it_refuses(
    seen: Snapshot, count: int, word: str
) -> None:
    """TG-154: whoever calls it, no object leaves for a spec that was not judged."""
    with pytest.raises(UnrenderableError, match=word) as error:
        gateway(seen, [{"name": f"l{n}"} for n in range(count)])

    assert "_bad" not in str(error.value)


@pytest.mark.parametrize(
    ("host", "route"),
    [
        pytest.param(f"*.{APEX}", http, id="TG-112-wildcard"),
        pytest.param("x.other.org", http, id="TG-114-outside"),
        pytest.param(f"{'a' * 64}.{APEX}", http, id="long-label"),
        pytest.param(f"db.{APEX}", tls, id="TG-129-tls-alone"),
    ],
)
def test_a_name_that_cannot_be_served_costs_its_own_route_alone(host: str, route: Any) -> None:
    """One hostname must never cost a tenant's Gateway. Source: 4.3, 4.4."""
    seen = attaching(route("cozy-public/bad", host), http("tenant-foo/good", f"good.{APEX}"))

    assert ["http", section_of(f"good.{APEX}")] == sections(seen)
    assert [certificate_of("cozystack", f"good.{APEX}")] == [
        want.ref.name for want in decide(seen).want if want.kind == api.CERTIFICATE
    ]
    assert body_of(decide(seen), api.CERTIFICATE)["spec"]["dnsNames"] == [f"good.{APEX}"]
