"""Which routes count, what is withdrawn, and who races whom. tenant-gateway 4.1 to 4.7."""

from typing import Any

import pytest

from gateway_objects import (
    APEX,
    NS,
    UID,
    a_namespace,
    a_parent,
    a_snapshot,
    accepted,
    attaching,
    body_of,
    http,
    of_parents,
    owned,
    pl,
    reasons,
    sections,
    tls,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.render.listeners import section_of
from roadstead.capabilities.gateways.snapshot import Route, Snapshot

OK, NMLH, NAL, HC = (
    "Accepted", "NoMatchingListenerHostname", "NotAllowedByListeners", "HostnameConflict"
)  # fmt: skip
API, WEB, PG = f"api.{APEX}", f"web.{APEX}", f"pg.{APEX}"
SVC: dict[str, Any] = {"tlsPassthroughServices": ["api"]}
NATIVE: dict[str, Any] = {"tlsPassthroughListeners": [pl("pg", 5432)]}
WILD: dict[str, Any] = {"tlsPassthroughListeners": [pl("db", 5432, f"*.db.{APEX}")]}
PINNED = tls("tenant-foo/t", API, sectionName="tls-api")


def of_parent(ref: dict[str, Any], where: str = "tenant-foo/r") -> Route:
    """An HTTPRoute whose parentRef is exactly this."""
    return of_parents(where, [WEB], [ref])


@pytest.mark.parametrize(
    ("ref", "attaches"),
    [
        pytest.param({"name": "cozystack"}, True, id="TG-106-a-name-alone"),
        pytest.param(a_parent(), True, id="in-full"),
        pytest.param(a_parent(group=""), False, id="the-core-group"),
        pytest.param(a_parent(kind="Service"), False, id="another-kind"),
        pytest.param(a_parent(namespace="tenant-x"), False, id="another-namespace"),
        pytest.param(a_parent(name="other"), False, id="another-name"),
        pytest.param(a_parent(sectionName="nonsense"), True, id="any-section"),
    ],
)
def test_a_parent_ref_attaches(ref: dict[str, Any], attaches: bool) -> None:
    """4.1: defaults of Gateway API hold where a field is absent, and only there."""
    seen = a_snapshot(of_parent(ref))

    assert attaches is (section_of(WEB) in sections(seen))
    assert ([OK] if attaches else ["-"]) == reasons(seen)


def test_a_route_outside_the_attach_set_is_nobodys() -> None:
    """TG-104: no listener, no certificate, no word."""
    seen = a_snapshot(http("tenant-evil/x", WEB))

    assert ["http"] == sections(seen)
    assert ["-"] == reasons(seen)


@pytest.mark.parametrize(
    ("namespaces", "spec", "counts"),
    [
        pytest.param([], {"attachedNamespaces": ["cozy-x"]}, True, id="TG-107-not-there-yet"),
        pytest.param([a_namespace("cozy-x")], {"attachedNamespaces": ["cozy-x"]}, True,
                     id="not-labelled-yet"),
        pytest.param([a_namespace("cozy-x", NS)], {}, True, id="TG-105-by-label"),
        pytest.param([a_namespace("cozy-x", "tenant-x")], {"attachedNamespaces": ["cozy-x"]},
                     False, id="held-by-a-chart"),
        pytest.param([a_namespace("cozy-x", "tenant-x")], {}, False, id="of-another"),
    ],
)  # fmt: skip
def test_the_attach_set(namespaces: list[Any], spec: dict[str, Any], counts: bool) -> None:
    """4.1, 4.8: the list and the labels, but nothing that another holds."""
    seen = a_snapshot(http("cozy-x/r", WEB), namespaces=namespaces, **spec)

    assert counts is (section_of(WEB) in sections(seen))


def test_two_parents_are_two_units() -> None:
    """TG-110: each parentRef is judged alone."""
    route = of_parents("tenant-foo/r", [WEB], [a_parent(sectionName="tls-x"), a_parent(port=443)])
    seen = a_snapshot(route)

    assert "NoMatchingParent" == accepted(seen, route, 0)[0]
    assert OK == accepted(seen, route, 1)[0]


@pytest.mark.parametrize(
    ("name", "uid", "claims"),
    [
        pytest.param("cozystack-http-redirect", UID, False, id="ours"),
        pytest.param("cozystack-http-redirect", "other", True, id="of-another-owner"),
        pytest.param("copy", UID, True, id="of-another-name"),
    ],
)
def test_the_redirect_alone_makes_no_claim(name: str, uid: str, claims: bool) -> None:
    """TG-103, 3.7: by name and owner, never by a label that a tenant can copy."""
    labels = {api.MANAGED_LABEL: api.MANAGER, api.TENANT_GATEWAY_LABEL: "cozystack"}
    spec = {"parentRefs": [a_parent()], "hostnames": [WEB]}
    route = Route(owned(api.HTTP_ROUTE, name, uid, meta={"labels": labels}, spec=spec))
    seen = a_snapshot(route)

    assert claims is (section_of(WEB) in sections(seen))
    assert claims is (reasons(seen) == [OK])


R_API = http("tenant-foo/r", API)


@pytest.mark.parametrize(
    ("routes", "spec", "served", "expected"),
    [
        pytest.param([R_API], SVC, True, [OK], id="TG-122-nobody-forwards"),
        pytest.param([R_API, PINNED], SVC, False, [NMLH, OK], id="TG-123-withdrawn"),
        pytest.param([R_API, tls("tenant-foo/t", API, resolves=False, sectionName="tls-api")], SVC,
                     True, [OK, OK], id="TG-125-no-backend"),
        pytest.param([PINNED], SVC, False, [OK], id="TG-128-tls-alone"),
        pytest.param([PINNED], {}, False, [NMLH], id="TG-194-service-removed"),
        pytest.param([R_API, tls("tenant-foo/t", API, sectionName="tls-absent")], SVC, True,
                     [OK, "NoMatchingParent"], id="pinned-elsewhere-withdraws-nothing"),
        pytest.param([R_API, tls("tenant-foo/t", API, sectionName="other")], SVC, True, [OK, OK],
                     id="T6-holds-nothing"),
        pytest.param([R_API, tls("tenant-foo/t", API, port=5432)], SVC, True, [OK, NMLH],
                     id="wrong-port"),
        pytest.param([R_API, tls("tenant-foo/t", f"*.{APEX}", sectionName="tls-api")], SVC, False,
                     [NMLH, OK], id="a-wildcard-claims-what-it-covers"),
        pytest.param([R_API, tls("tenant-foo/t", sectionName="tls-api")], SVC, False, [NMLH, OK],
                     id="hostname-less"),
        pytest.param([http("tenant-foo/r", API, sectionName="http"), PINNED], SVC, False, [OK, OK],
                     id="plain-is-not-withdrawn"),
        pytest.param([R_API, PINNED], {**SVC, "certMode": "dns01",
                                       "dns01": {"cloudflare": {}}}, None, ["-", "-"],
                     id="dns01-withdraws-nothing"),
    ],
)  # fmt: skip
def test_what_is_withdrawn(
    routes: list[Route], spec: dict[str, Any], served: bool | None, expected: list[str]
) -> None:
    """4.2: a name leaves its pair once a TLSRoute forwards it, and not before."""
    seen = a_snapshot(*routes, **spec)

    assert bool(served) is (section_of(API) in sections(seen))
    assert expected == reasons(seen)


@pytest.mark.parametrize(
    ("claim", "host", "served"),
    [
        pytest.param(f"*.db.{APEX}", f"pg.db.{APEX}", True, id="on-the-entry-itself"),
        pytest.param(f"pg.db.{APEX}", f"pg.db.{APEX}", False, id="on-the-name"),
        pytest.param(f"pg.db.{APEX}", f"my.db.{APEX}", True, id="on-another-name"),
    ],
)
def test_a_wildcard_entry_leaves_concrete_names(claim: str, host: str, served: bool) -> None:
    """4.2: only what the TLSRoute claims itself goes over to it."""
    seen = a_snapshot(http("tenant-foo/r", host), tls("tenant-foo/t", claim), **WILD)

    assert served is (section_of(host) in sections(seen))


def test_withdrawal_is_of_one_hostname() -> None:
    """TG-124: the route's other names keep listener and certificate."""
    route = http("tenant-foo/r", API, f"app.{APEX}")
    seen = a_snapshot(route, PINNED, **SVC)

    assert ["http", "https-app-17e14fb0", "tls-api"] == sections(seen)
    assert [f"app.{APEX}"] == body_of(decide(seen), api.CERTIFICATE)["spec"]["dnsNames"]
    assert NMLH == accepted(seen, route)[0]


COZY = "cozy-public"


@pytest.mark.parametrize(
    ("routes", "spec", "expected"),
    [
        pytest.param([http(f"{COZY}/r", WEB), tls("tenant-foo/t", WEB)], {}, [OK, HC],
                     id="both-kinds-race"),
        pytest.param([http("a-public/r", WEB), http(f"{COZY}/r", WEB)], {}, [HC, OK],
                     id="the-platform-comes-first"),
        pytest.param([tls(f"{COZY}/t", WEB), http("tenant-foo/r", WEB)], {}, [OK, HC],
                     id="a-tls-route-may-hold-an-http-name"),
        pytest.param([tls(f"{COZY}/a", API, sectionName="tls-api"), PINNED], SVC, [OK, HC],
                     id="TG-141"),
        pytest.param([PINNED, tls("tenant-foo/u", API, sectionName="tls-api"),
                      http(f"{COZY}/r", API)], SVC, [OK, OK, NMLH], id="TG-142"),
        pytest.param([PINNED, http(f"{COZY}/c", API)], SVC, [OK, NMLH], id="TG-143"),
        pytest.param([tls(f"{COZY}/x", PG, sectionName="tls-pg"),
                      tls("tenant-foo/y", PG, sectionName="tls-pg")], NATIVE, [NAL, OK],
                     id="TG-144"),
        pytest.param([tls(f"{COZY}/x", PG), tls("default/y", PG)], NATIVE, [NAL, NAL],
                     id="TG-145"),
        pytest.param([tls(f"{COZY}/x", WEB), tls("tenant-foo/y", WEB)], {}, [NMLH, NMLH],
                     id="TG-146"),
        pytest.param([R_API, http(f"{COZY}/r", API), PINNED], SVC, [NMLH, NMLH, OK], id="TG-147"),
        pytest.param([http(f"{COZY}/r", "x.org"), http("tenant-foo/r", "x.org")], {},
                     [NMLH, NMLH], id="refused-units-race-nobody"),
        pytest.param([http(f"{COZY}/r", WEB, sectionName="http"), http("tenant-foo/r", WEB)], {},
                     [NAL, OK], id="refused-leaves-the-race"),
        pytest.param([http("cozy-cert-manager/acme", WEB, sectionName="http"),
                      http("tenant-foo/r", WEB)], {}, [OK, OK], id="a-challenge-holds-nothing"),
        pytest.param([http(f"{COZY}/r", API), tls("tenant-foo/t", API, resolves=False,
                                                  sectionName="tls-api")], SVC, [OK, OK],
                     id="overlapped-tls-races-tls-alone"),
        pytest.param([tls(f"{COZY}/t", API, resolves=False, sectionName="tls-api"), R_API], SVC,
                     [OK, HC], id="overlapped-http-races-both"),
        pytest.param([tls(f"{COZY}/t", API, sectionName="tls-absent"), R_API], SVC,
                     ["NoMatchingParent", OK], id="ineligible-tls-races-nobody"),
    ],
)  # fmt: skip
def test_who_races_whom(routes: list[Route], spec: dict[str, Any], expected: list[str]) -> None:
    """4.5: who can never be served takes no name from one that can."""
    seen = attaching(*routes, to=("a-public", COZY, "cozy-cert-manager", "default"), **spec)

    assert expected == reasons(seen)


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_routes_changes_nothing(turned: bool) -> None:
    """4.5: the order is by namespace and name, not by who was listed first."""
    routes = [http("cozy-b/r", WEB), http("cozy-a/z", WEB), http("tenant-foo/a", WEB)]
    listed = routes[::-1] if turned else routes
    seen = attaching(*listed, to=("cozy-a", "cozy-b"))
    found = dict(zip([str(one.ref.namespace) for one in seen.routes], reasons(seen), strict=True))

    assert {"cozy-a": OK, "cozy-b": HC, "tenant-foo": HC} == found


def test_no_message_of_a_refused_namespace_speaks_of_another_route() -> None:
    """TG-145: what is said to one tenant names nobody else's route."""
    one, other = tls(f"{COZY}/secret-x", PG), tls("default/secret-y", PG)
    seen = attaching(one, other, to=(COZY, "default"), **NATIVE)

    assert "secret" not in accepted(seen, one)[1] + accepted(seen, other)[1]


def test_the_smallest_refusing_listener_is_named() -> None:
    """T9, 5.4: one name of several, always the same."""
    both = {"tlsPassthroughListeners": [pl("z", 1, f"z.{APEX}"), pl("b", 2, f"b.{APEX}")]}
    route = tls("default/t", f"*.{APEX}")
    seen = attaching(route, to=("default",), **both)
    reason, message = accepted(seen, route)

    assert NAL == reason
    assert f"b.{APEX}" in message
    assert f" z.{APEX}" not in message


def test_a_wildcard_needs_one_listener_that_admits_it() -> None:
    """5.3: as soon as one selected listener takes it, it is served."""
    route = tls("default/t", f"*.{APEX}")
    seen: Snapshot = attaching(route, to=("default",), **SVC, **NATIVE)

    assert OK == accepted(seen, route)[0]
