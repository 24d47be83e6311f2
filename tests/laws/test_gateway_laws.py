"""The laws of architecture, section 4, over generated tenant gateways."""

import copy
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway_admission import APEX, V3, V4, V5, gateway, listener
from gateway_objects import (
    KEY,
    a_gateway,
    a_namespace,
    a_snapshot,
    http,
    owned,
    parents,
    served,
    tls,
)
from gateway_worlds import misfits
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.gateways.decide import decide, report
from roadstead.capabilities.gateways.render.spec import fault
from roadstead.capabilities.gateways.snapshot import Asked, Snapshot
from roadstead.decision import Decision, Did, How, Outcome
from roadstead.engine.check import check
from roadstead.errors import ClusterError
from roadstead.kube.names import is_subdomain
from roadstead.kube.objects import Object
from roadstead.sim.requests import By
from roadstead.sim.world import World

REASONS = {one.name for one in GATEWAYS_CONTROLLER.reasons}

# snapshots

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("apex", "certMode", "issuerName", "gatewayClassName", "dns01", "provider"),
                    *("cloudflare", "wildcardSecretRef", "name", "attachedNamespaces", "port"),
                    *("tlsPassthroughServices", "tlsPassthroughListeners", "hostname", "status"),
                    *("hostnames", "parentRefs", "sectionName", "namespace", "group", "kind"),
                    *("parents", "parentRef", "controllerName", "conditions", "listeners", "tls"),
                    *("certificateRefs", "observedGeneration", "reason", "message"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
PARTS = st.dictionaries(st.sampled_from(["spec", "status"]), ODD, max_size=2)
EDGE: dict[str, Any] = {"certMode": "edge", "tlsPassthroughServices": ["api"]}
DNS01: dict[str, Any] = {"certMode": "dns01", "dns01": {"cloudflare": {}}}
ROUTES = (
    http("tenant-foo/a", f"web.{APEX}", f"api.{APEX}"),
    http("cozy-x/b", f"web.{APEX}", "x.org", sectionName="http"),
    tls("tenant-foo/c", f"api.{APEX}", sectionName="tls-api"),
    tls("cozy-x/d"),
)
CHILD = a_namespace("tenant-foo-kid", "tenant-foo", f"kid.{APEX}")
MOODS = (
    a_snapshot(*ROUTES, tlsPassthroughServices=["api"], attachedNamespaces=["cozy-x"]),
    a_snapshot(*ROUTES, namespaces=[CHILD], **EDGE),
    a_snapshot(*ROUTES, namespaces=[CHILD], **DNS01),
    a_snapshot(certMode="existingSecret"),
)


def with_parts(seen: Object, parts: Mapping[str, Any]) -> Object:
    """An object with top-level parts of its body replaced."""
    return Object.of(seen.kind, {**seen.body, **parts})


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A snapshot with some of its facts gone, odd or contradictory."""
    seen = draw(st.sampled_from(MOODS))
    if draw(st.booleans()) and not fault(seen.asked):
        seen = served(seen)
    changes: dict[str, Any] = {"class_exists": draw(st.sampled_from([True, False, None]))}
    if draw(st.booleans()) and seen.asked_for is not None:
        odd = with_parts(seen.asked_for, draw(PARTS))
        changes["asked_for"] = draw(st.sampled_from([odd, odd, odd, None]))
    if draw(st.booleans()):
        changes["routes"] = tuple(
            replace(one, seen=with_parts(one.seen, draw(PARTS))) for one in seen.routes
        )
    for field, kind, name in (
        ("gateway", api.GATEWAY, "cozystack"),
        ("issuer", api.ISSUER, "cozystack-gateway"),
        ("redirect", api.HTTP_ROUTE, "cozystack-http-redirect"),
    ):
        uid = draw(st.sampled_from([None, None, KEY.name, "", "uid-tenant-foo-cozystack"]))
        if uid is not None:
            changes[field] = with_parts(owned(kind, name, uid, spec={}), draw(PARTS))
    if draw(st.booleans()):
        holder = draw(st.sampled_from(["", "tenant-foo", "tenant-x"]))
        there = a_namespace("cozy-x", draw(st.sampled_from(["", "tenant-x"])), holder=holder)
        changes["namespaces"] = {**seen.namespaces, "cozy-x": there}
        changes["holders"] = {"cozy-x": frozenset(draw(st.lists(st.just("tenant-x"))))}
    return replace(seen, **changes)


OUTCOMES = st.builds(
    Outcome,
    st.sampled_from([KEY, api.GATEWAY.ref("tenant-foo", "cozystack"), ROUTES[0].ref]),
    st.sampled_from(list(Did)),
    st.sampled_from([0, 403, 404, 409, 422, 500]),
    st.sampled_from(["", "Conflict", "Forbidden", "Invalid"]),
    how=st.sampled_from([None, *How]),
)

# the laws


@given(snapshots(), st.lists(OUTCOMES, max_size=2))
def test_total_every_snapshot_gets_an_answer(seen: Snapshot, outcomes: list[Outcome]) -> None:
    """Law 1: a decision that raises would leave its key in a back-off loop for ever."""
    decision = report(seen, decide(seen), tuple(outcomes))
    spoken = {one.reason for one in decision.findings if one.reason}

    assert spoken | {event.reason for event in decision.events} <= REASONS
    assert not {want.ref for want in decision.want} & {drop.ref for drop in decision.drop}
    failed = [one for one in outcomes if one.did is Did.FAILED]
    owned = [one for one in failed if one.how is not How.STATUS or one.ref != ROUTES[0].ref]
    stale = bool(owned) and all(one.reason == "Conflict" for one in owned)
    assert (decision.status is None) is (seen.asked_for is None or stale)


def told(decision: Decision) -> str:
    """A decision in full: what it writes too."""
    return repr((decision, [one.body for one in decision.want]))


@given(snapshots(), st.randoms(use_true_random=False))
def test_deterministic_and_order_free(seen: Snapshot, order: Any) -> None:
    """Law 2: the order in which routes and namespaces were listed is nobody's business."""
    routes, names = list(seen.routes), list(seen.namespaces)
    order.shuffle(routes)
    order.shuffle(names)
    shuffled = replace(
        seen, routes=tuple(routes), namespaces={name: seen.namespaces[name] for name in names}
    )
    one, other = decide(seen), decide(shuffled)

    assert told(one) == told(decide(copy.deepcopy(seen)))
    assert (one.status, one.events, one.drop) == (other.status, other.events, other.drop)
    assert {want.ref: want.body for want in one.want} == {w.ref: w.body for w in other.want}


LONGEST = ".".join(["a" * 60, "b" * 60, "c" * 60, "d" * (252 - 3 * 61 - len(APEX))])
"""Before the apex it makes a name of 253 characters."""
HOSTS = st.builds(
    "{}.{}".format,
    st.from_regex(re.compile(r"[a-z0-9][-a-z0-9_]{0,70}", re.ASCII), fullmatch=True)
    | st.sampled_from(["api", "pg", "*", "*.db", "pg.db", "a" * 240, "A"])
    | st.sampled_from(["a.*", "*a", "*.*", "bücher", "xn--bcher-kva", "", "a.", "-", LONGEST]),
    st.sampled_from([APEX, APEX, "x.org", "io", APEX + ".", APEX.upper()]),
)
LISTENERS = st.lists(
    st.builds(
        listener,
        st.sampled_from(["pg", "my", "api", "a.b", "x" * 64]),
        st.sampled_from([5432, 3306, 443, 80, 0, 65536]),
        HOSTS | st.sampled_from([APEX, f"*.{APEX}", f"*.*.{APEX}"]),
    ),
    max_size=3,
)
SPECS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "apex": st.sampled_from([APEX, APEX, "io", "Foo.Example.com", "a..b", "a" * 253, "*.x"])
        | st.sampled_from([f"{APEX}.", "bücher.example", "xn--bcher-kva.example", "a_b.org"]),
        "certMode": st.sampled_from(["http01", "http01", "dns01", "existingSecret", "edge"]),
        "wildcardSecretRef": st.sampled_from([{"name": "w"}, {"name": ""}]),
        "tlsPassthroughServices": st.lists(
            st.sampled_from(["api", "pg", "s3.storage", "A_", "a" * 249, "a" * 250]), max_size=2
        )
        | st.integers(58, 63).map(lambda n: [f"s{at}" for at in range(n)]),
        "tlsPassthroughListeners": LISTENERS,
    }
)


@given(SPECS, st.lists(HOSTS, max_size=6), st.lists(HOSTS, max_size=3))
def test_a_gateway_that_would_be_refused_is_never_sent(
    spec: dict[str, Any], claimed: list[str], kids: list[str]
) -> None:
    """Law 6: one hostname, label or limit must not cost a tenant everything that is served."""
    children = [a_namespace(f"n{at}", "tenant-foo", host) for at, host in enumerate(kids)]
    decision = decide(a_snapshot(http("tenant-foo/r", *claimed), namespaces=children, **spec))
    for want in decision.want:
        if want.how is How.REPLACE:
            check(want.kind, dict(want.body))
            assert is_subdomain(want.ref.name)
        if want.kind == api.GATEWAY:
            assert [] == misfits(want.body)


@given(SPECS)
def test_what_the_definition_refuses_the_controller_refuses(spec: dict[str, Any]) -> None:
    """1.3: the two roll out separately, so an object of an older definition may be stored."""
    try:
        World(a_snapshot().now).create(api.TENANT_GATEWAY, gateway(**spec), By.OTHER)
    except ClusterError as error:
        repeated = (V3[1], V4[1], V5[1], "port must be a different one", "neither 80 nor 443")
        syntax = ("tlsPassthroughListeners[", "tlsPassthroughServices[")
        if any(words in error.message for words in (*repeated, *syntax)):
            assert fault(Asked.of(a_gateway(**spec)))


HOST = st.builds(
    "{}.{}".format,
    st.sampled_from(["*", "x", "a" * 64, "A", "a.*", "bücher", "a..b", LONGEST]),
    st.sampled_from([APEX, f"{APEX}.", APEX.upper()]),
)


@given(st.sampled_from(MOODS[:3]), HOST | st.sampled_from(["x.org", f"evil{APEX}", "*.x.org"]))
def test_reversible_a_refused_hostname_costs_its_own_route_alone(seen: Snapshot, host: str) -> None:
    """Law 10, 4.3: whatever is claimed, what others are served by and told stays as it is."""
    odd = http("tenant-foo/zz", host, sectionName="tls-absent")
    before, after = decide(seen), decide(replace(seen, routes=(*seen.routes, odd)))
    rendered = [
        [one.body for one in decision.want if one.how is How.REPLACE]
        for decision in (before, after)
    ]

    assert rendered[0] == rendered[1]
    for route in seen.routes:
        assert parents(before, route) == parents(after, route)
