"""Rows H1 to H10 and T1 to T11, and how several of them fold. tenant-gateway 5.2 to 5.5."""

from typing import Any

import pytest

from gateway_objects import (
    APEX,
    KEY,
    NS,
    accepted,
    an_entry,
    attaching,
    http,
    pl,
    reasons,
    sections,
    tls,
)
from roadstead.capabilities.gateways.decide.verdicts import Cause, folded
from roadstead.capabilities.gateways.render.listeners import section_of
from roadstead.capabilities.gateways.snapshot import Route
from roadstead.kube.hostnames import covers, overlap

OK, NMP, NMLH = "Accepted", "NoMatchingParent", "NoMatchingListenerHostname"
NAL, HC = "NotAllowedByListeners", "HostnameConflict"
API, WEB, PG = f"api.{APEX}", f"web.{APEX}", f"pg.{APEX}"
SPEC: dict[str, Any] = {
    "tlsPassthroughServices": ["api"],
    "tlsPassthroughListeners": [pl("pg", 5432)],
}
FORWARDING = tls("tenant-foo/z", API, sectionName="tls-api")


@pytest.mark.parametrize(
    ("route", "reason", "words", "without"),
    [
        pytest.param(http("tenant-foo/r", WEB, sectionName="tls-absent"), NMP, ("tls-absent",), (),
                     id="H1-TG-115"),
        pytest.param(http("tenant-foo/r", API, sectionName="tls-absent"), NMP, ("tls-absent",), (),
                     id="H1-TG-115-answered"),
        pytest.param(http("tenant-foo/r", "x.org", sectionName="tls-absent"), NMP, ("tls-absent",),
                     ("x.org",), id="H1-before-H7"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="http", port=443), NMP,
                     ("http", "443"), (), id="H2-TG-117"),
        pytest.param(http("tenant-foo/r", API, sectionName="tls-api", port=80), NMP,
                     ("tls-api", "80"), (), id="H2-passthrough"),
        pytest.param(http("tenant-foo/r", WEB, sectionName=section_of(WEB), port=80), NMP,
                     (section_of(WEB), "80"), (), id="H2-terminating"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="http"), OK, (), (), id="H3"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="http", port=80), OK, (), (),
                     id="H3-both"),
        pytest.param(http("tenant-foo/r", WEB, port=80), OK, (), (), id="H3-port"),
        pytest.param(http("tenant-foo/r", f"*.{APEX}", sectionName="http"), OK, (), (),
                     id="H3-TG-113-wildcard"),
        pytest.param(http("tenant-foo/r", "x.org", sectionName="http"), OK, (), (),
                     id="H3-outside-the-apex"),
        pytest.param(http("cozy-cert-manager/r", WEB, sectionName="http"), OK, (), (),
                     id="H3-cert-manager"),
        pytest.param(http("default/r", WEB, sectionName="http"), NAL, ("http",), (),
                     id="H4-TG-116"),
        pytest.param(http("default/r", WEB, port=80), NAL, ("http",), (), id="H4-port"),
        pytest.param(http("tenant-foo/r", API, sectionName="tls-api"), NMLH, ("tls-api", API), (),
                     id="H5-TG-120"),
        pytest.param(http("tenant-foo/r", PG, sectionName="tls-pg", port=5432), NMLH,
                     ("tls-pg", PG), (), id="H5-native-port"),
        pytest.param(http("tenant-foo/r", WEB, port=5432), NMLH, ("5432", WEB), (),
                     id="H6-TG-118"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="nonsense", port=8080), NMLH,
                     ("8080", WEB), (), id="H6-beside-a-section"),
        pytest.param(http("tenant-foo/r", f"*.{APEX}"), NMLH, (f"*.{APEX}",), (),
                     id="H7-TG-112"),
        pytest.param(http("tenant-foo/r", "x.other.org"), NMLH, ("x.other.org", APEX), (),
                     id="H7-TG-114"),
        pytest.param(http("tenant-foo/r", f"evil{APEX}"), NMLH, (f"evil{APEX}", APEX), (),
                     id="H7-same-ending"),
        pytest.param(http("tenant-foo/r", "*.x.org"), NMLH, ("*.x.org", APEX), (),
                     id="H7-wildcard-outside"),
        pytest.param(http("tenant-foo/r", f"{'a' * 64}.{APEX}"), NMLH, ("a" * 64,), (),
                     id="H7-no-dns-label"),
        pytest.param(http("tenant-foo/r", API), NMLH, (API, "answered"), (), id="H8-TG-123"),
        pytest.param(http("tenant-foo/r", API, sectionName="nonsense"), NMLH, (API, "answered"),
                     (), id="H8-any-section"),
        pytest.param(http("tenant-foo/r", WEB), OK, (), (), id="H10"),
        pytest.param(http("tenant-foo/r", APEX), OK, (), (), id="H10-the-apex"),
        pytest.param(http("tenant-foo/r", WEB, port=443), OK, (), (), id="H10-port-443"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="nonsense"), OK, (), (),
                     id="H10-TG-119"),
        pytest.param(http("tenant-foo/r", WEB, sectionName="nonsense", port=80), OK, (), (),
                     id="H10-a-section-that-names-nothing-on-80"),
        pytest.param(http("tenant-foo/r", WEB, sectionName=section_of(WEB), port=443), OK, (), (),
                     id="H10-its-own-section"),
    ],
)  # fmt: skip
def test_an_http_route_gets_its_row(
    route: Route, reason: str, words: tuple[str, ...], without: tuple[str, ...]
) -> None:
    """Each row is one step from a route that is served."""
    seen = attaching(route, FORWARDING, to=("cozy-cert-manager", "default"), **SPEC)
    given, message = accepted(seen, route)

    assert reason == given
    assert [] == [word for word in words if word not in message]
    assert [] == [word for word in without if word in message]
    assert KEY.key in message


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(http("cozy-public/r", WEB), http("tenant-foo/r", WEB), [OK, HC],
                     id="H9-TG-108-platform-first"),
        pytest.param(http("tenant-foo/a", WEB), http("tenant-foo/b", WEB), [OK, OK],
                     id="H10-TG-109-one-namespace"),
        pytest.param(http("default/z", WEB), http("tenant-foo/a", WEB), [OK, HC],
                     id="H9-plain-order"),
    ],
)  # fmt: skip
def test_a_name_is_held_by_who_comes_first(
    first: Route, second: Route, expected: list[str]
) -> None:
    """H9: the loser is told which name; the name stays served."""
    seen = attaching(first, second, **SPEC)

    assert expected == reasons(seen)
    assert section_of(WEB) in sections(seen)
    assert HC not in expected or WEB in accepted(seen, second)[1]


@pytest.mark.parametrize(
    ("route", "reason", "words", "without"),
    [
        pytest.param(tls("tenant-foo/t", WEB), OK, (), (), id="T1-TG-130"),
        pytest.param(tls("tenant-foo/t", WEB, sectionName="tls-absent"), OK, (), (),
                     id="T1-TG-131"),
        pytest.param(tls("tenant-foo/t", f"redis.{APEX}", sectionName="tls-pg"), NMLH,
                     ("tls-pg", PG), (), id="T2-TG-132"),
        pytest.param(tls("tenant-foo/t", f"db.{APEX}"), NMLH, (f"db.{APEX}",), (),
                     id="T3-TG-129"),
        pytest.param(tls("tenant-foo/t", f"db.{APEX}", sectionName="tls-absent"), NMLH,
                     (f"db.{APEX}",), ("tls-absent",), id="T3-TG-131-not-the-section"),
        pytest.param(tls("tenant-foo/t", PG, sectionName="tls-api"), NMLH, ("tls-api", API), (),
                     id="T4-TG-133"),
        pytest.param(tls("default/t", API, sectionName="tls-pg"), NMLH, ("tls-pg", PG), (),
                     id="T4-TG-133-whatever-the-namespace"),
        pytest.param(tls("tenant-foo/t", API, sectionName="tls-absent"), NMP, ("tls-absent",), (),
                     id="T5-TG-139"),
        pytest.param(tls("tenant-foo/t", API, sectionName="other"), OK, (), (), id="T6-TG-140"),
        pytest.param(tls("tenant-foo/t", API, sectionName="other", port=5432), OK, (), (),
                     id="T6-whatever-the-port"),
        pytest.param(tls("tenant-foo/t", PG, sectionName="tls-pg", port=443), NMP,
                     ("tls-pg", "443"), (), id="T7"),
        pytest.param(tls("tenant-foo/t", PG, port=443), NMLH, (PG, "443"), (), id="T8-TG-137"),
        pytest.param(tls("tenant-foo/t", API, port=5432), NMLH, (API, "5432"), (), id="T8-TG-138"),
        pytest.param(tls("default/t", PG, sectionName="tls-pg"), NAL, (PG, NS), (),
                     id="T9-TG-134"),
        pytest.param(tls("default/t", PG), NAL, (PG, NS), (), id="T9-without-a-section"),
        pytest.param(tls("tenant-foo/t", PG, sectionName="tls-pg"), OK, (), (), id="T11-TG-135"),
        pytest.param(tls("default/t", API, sectionName="tls-api"), OK, (), (), id="T11-TG-136"),
        pytest.param(tls("tenant-foo/t", PG, port=5432, sectionName="tls-pg"), OK, (), (),
                     id="T11-TG-137"),
        pytest.param(tls("tenant-foo/t", API, port=443), OK, (), (), id="T11-TG-138"),
        pytest.param(tls("tenant-foo/t", API, resolves=False), OK, (), (), id="T11-unresolved"),
        pytest.param(tls("tenant-foo/t", f"*.{APEX}"), OK, (), (), id="T11-wildcard"),
    ],
)  # fmt: skip
def test_a_tls_route_gets_its_row(
    route: Route, reason: str, words: tuple[str, ...], without: tuple[str, ...]
) -> None:
    """Each row is one step from a route that is served."""
    seen = attaching(route, http("tenant-foo/h", WEB), to=("default",), **SPEC)
    given, message = accepted(seen, route)

    assert reason == given
    assert [] == [word for word in words if word not in message]
    assert [] == [word for word in without if word in message]


@pytest.mark.parametrize(
    ("route", "reason"),
    [
        pytest.param(tls("tenant-foo/t", API, sectionName="tls-api"), HC, id="T10-TG-141"),
        pytest.param(tls("tenant-foo/t", API, sectionName="tls-absent"), HC, id="T5-ranks-after"),
        pytest.param(tls("tenant-foo/t", API, sectionName="other"), HC, id="T6-ranks-after"),
        pytest.param(tls("tenant-foo/t", API, sectionName="tls-pg"), NMLH, id="T4-is-no-race"),
        pytest.param(tls("cozy-public/t", API, sectionName="tls-absent"), NMP, id="T5-of-the-winner"),
        pytest.param(tls("cozy-public/t", API, sectionName="other"), OK, id="T6-of-the-winner"),
        pytest.param(tls("cozy-aaa/t", API, sectionName="tls-absent"), NMP, id="T5-ranks-before"),
    ],
)  # fmt: skip
def test_a_tls_route_behind_an_eligible_one(route: Route, reason: str) -> None:
    """T5, T6 and T10: who stands behind a held name hears of that, and holds nothing."""
    holder = tls("cozy-public/a", API, sectionName="tls-api")
    seen = attaching(route, holder, to=("cozy-aaa", "cozy-public"), **SPEC)

    assert reason == accepted(seen, route)[0]
    assert OK == accepted(seen, holder)[0]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([NMP], NMP, id="one"),
        pytest.param([NMLH, NMLH], NMLH, id="shared"),
        pytest.param([NAL, NMLH], NMLH, id="mixed"),
        pytest.param([NMP, NAL], NMLH, id="mixed-without-it"),
        pytest.param([NMP, HC, NAL], HC, id="a-lost-race-is-loudest"),
    ],
)
def test_causes_fold_into_one_reason(found: list[str], expected: str) -> None:
    """5.4: one condition speaks for all hostnames of a unit."""
    causes = tuple(Cause(reason, f"{at}") for at, reason in enumerate(found))

    assert expected == folded(causes)


def test_every_cause_is_in_the_message_sorted_and_once() -> None:
    """TG-111, TG-148: an unchanged world gives the same words, or the watch loops for ever."""
    names = [f"*.{APEX}", "x.org", "b.org", "x.org"]
    one = http("tenant-foo/r", *names)
    other = http("tenant-foo/r", *reversed(names))
    said = accepted(attaching(one, **SPEC), one)[1]

    assert said == accepted(attaching(other, **SPEC), other)[1]
    assert 1 == said.count("x.org")
    assert said.index("b.org") < said.index("x.org")
    assert said.startswith("TenantGateway tenant-foo/cozystack")


def test_one_refused_namespace_beside_another_cause() -> None:
    """T9: `NotAllowedByListeners` stands alone or not at all."""
    route = tls("default/t", PG, f"db.{APEX}")
    seen = attaching(route, to=("default",), **SPEC)

    assert NMLH == accepted(seen, route)[0]
    assert "admits routes" in accepted(seen, route)[1]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"certMode": "edge"}, ["-", NMP, NMP, "-"], id="edge-TG-174"),
        pytest.param({"certMode": "dns01", "dns01": {"cloudflare": {}}}, ["-"] * 4, id="dns01"),
        pytest.param({"certMode": "existingSecret", "wildcardSecretRef": {"name": "w"}}, ["-"] * 4,
                     id="existingSecret"),
        pytest.param({}, [OK, NMLH, NMP, OK], id="http01-TG-175"),
    ],
)  # fmt: skip
def test_modes_that_follow_no_hostnames_judge_none(
    spec: dict[str, Any], expected: list[str]
) -> None:
    """5.5: an entry that nobody keeps up is a lie; edge says that it serves no TLS."""
    routes = (
        http("tenant-foo/a", WEB, entries=[an_entry()]),
        tls("tenant-foo/b", f"db.{APEX}", entries=[an_entry()]),
        tls("tenant-foo/c", API, sectionName="tls-absent"),
        tls("tenant-foo/d", entries=[an_entry()]),
    )
    seen = attaching(*routes, to=(), **{"tlsPassthroughServices": ["api"], **spec})

    assert expected == reasons(seen)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("*.db", "*.db", True),
        ("*.foo", "*.db.foo", True),
        ("*.foo", "db.foo", True),
        ("*.foo", "foo", False),
        ("*.a", "*.b", False),
        ("db", "db", True),
        ("*.foo", "a.b.foo", True),
        ("*.foo", "barfoo", False),
    ],
)
def test_what_overlaps(one: str, other: str, expected: bool) -> None:
    """TG-149: a wildcard covers deeper names and narrower wildcards, never its own suffix."""
    assert expected is overlap(one, other)
    assert expected is overlap(other, one)
    assert not covers(one, one)


def test_an_upper_case_apex_serves_what_is_below_it() -> None:
    """4.6: routes are lower case by schema, the apex may not be. TG-156."""
    route = http("tenant-foo/h", WEB)
    seen = attaching(route, apex="Foo.Example.com", to=())

    assert [OK] == reasons(seen)
    assert ["http", section_of(WEB)] == sections(seen)
