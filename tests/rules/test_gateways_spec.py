"""P1 to P13: what a spec must not say, in agreement with its definition. tenant-gateway 7.2."""

from dataclasses import replace
from typing import Any

import pytest

from gateway_admission import LISTENERS, ROWS, SERVICES, V3, V4, V5, Row
from gateway_objects import (
    APEX,
    a_gateway,
    a_snapshot,
    body_of,
    http,
    pl,
    ready,
    served,
    standing,
    writes,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.render.spec import fault
from roadstead.capabilities.gateways.snapshot import Asked
from roadstead.kube.objects import Object

MANY = "Too many"
"""Lengths of lists are the definition's alone: P11 counts what is rendered."""
STRICTER = {
    "TG-009-twice": "`api` twice",
    "TG-009-longest": "253",
    "TG-011-existingSecret-none": "wildcardSecretRef",
    "TG-003-longest": "253",
}
"""What the definition cannot say; `<service>.<apex>` and `*.<apex>` are at most 253 long."""


def theirs(row: Row) -> bool:
    """Whether the definition refuses a row for something that the controller repeats."""
    return any(
        (field, says) in {V3, V4, V5}
        or (field.startswith((LISTENERS, SERVICES)) and MANY not in says)
        for field, says in row.problems
    )


def said_of(spec: dict[str, Any]) -> str:
    """What the controller says of a spec."""
    return fault(Asked.of(Object.of(api.TENANT_GATEWAY, {"metadata": {}, "spec": spec})))


@pytest.mark.parametrize("row", [r for r in ROWS if "spec" in r.new], ids=lambda row: str(row.id))
def test_the_controller_agrees_with_the_definition(row: Row) -> None:
    """The two roll out separately: what one refuses must not slip through the other."""
    said = said_of(row.new["spec"])

    if theirs(row):
        assert said
    elif not row.problems:
        assert STRICTER.get(row.id, "") in said
        assert bool(said) is (row.id in STRICTER)


PG = pl("pg", 5432)
LONG_APEX = ".".join(["a" * 60] * 4)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"certMode": "edge", "tlsPassthroughListeners": [PG]},
                     ("tlsPassthroughListeners", "edge"), id="P1-edge"),
        pytest.param({"certMode": "dns01", "tlsPassthroughListeners": [PG]},
                     ("tlsPassthroughListeners", "dns01"), id="P1-dns01"),
        pytest.param({"apex": "foo.example.com."}, ("apex `foo.example.com.`",), id="apex-dot"),
        pytest.param({"apex": ".foo.example.com"}, ("`.foo.example.com`",), id="apex-dot-first"),
        pytest.param({"apex": "a..b"}, ("apex `a..b`",), id="apex-empty-label"),
        pytest.param({"apex": "*.example.com"}, ("`*.example.com`",), id="apex-wildcard"),
        pytest.param({"apex": "a.*.example.com"}, ("`a.*.example.com`",), id="apex-star-inside"),
        pytest.param({"apex": "bücher.example"}, ("apex `bücher.example`",), id="apex-idn"),
        pytest.param({"apex": "foo_bar.example"}, ("`foo_bar.example`",), id="apex-underscore"),
        pytest.param({"apex": LONG_APEX + "." + "b" * 9}, ("253",), id="apex-253"),
        pytest.param({"tlsPassthroughServices": ["b", "api", "api"]},
                     ("tlsPassthroughServices", "`api`"), id="P2-TG-150"),
        pytest.param({"tlsPassthroughServices": ["api", "api"], "tlsPassthroughListeners": [PG]},
                     ("tlsPassthroughServices", "`api`"), id="P2-TG-150-with-listeners"),
        pytest.param({"tlsPassthroughServices": ["API_X"]},
                     ("tlsPassthroughServices", "`API_X`"), id="P3-letters"),
        pytest.param({"tlsPassthroughServices": ["a..b"]},
                     ("tlsPassthroughServices", "`a..b`"), id="P3-empty-label"),
        pytest.param({"tlsPassthroughServices": ["a" * 250], "apex": "io"},
                     ("listener", "a" * 250, "253"), id="P4-TG-153-section"),
        pytest.param({"tlsPassthroughServices": ["a" * 249], "apex": LONG_APEX},
                     ("hostname", "a" * 249, "253"), id="P4-TG-153-hostname"),
        pytest.param({"tlsPassthroughListeners": [PG], "apex": "Foo.Example.com"},
                     ("Foo.Example.com",), id="P5-TG-156"),
        pytest.param({"tlsPassthroughListeners": [pl("a.b", 5432, APEX)]},
                     ("tlsPassthroughListeners", "a.b"), id="P6-no-label"),
        pytest.param({"tlsPassthroughListeners": [PG, pl("pg", 5433, f"x.{APEX}")]},
                     ("tlsPassthroughListeners", "pg", "twice"), id="P6-twice"),
        pytest.param({"tlsPassthroughListeners": [PG], "tlsPassthroughServices": ["pg"]},
                     ("tlsPassthroughListeners", "pg", "tlsPassthroughServices"), id="P6-service"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 0)]}, ("pg", "0"), id="P7-zero"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 65536)]}, ("pg", "65536"), id="P7-much"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 80)]}, ("pg", "80"), id="P7-80"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 443)]}, ("pg", "443"), id="P7-443"),
        pytest.param({"tlsPassthroughListeners": [PG, pl("my", 5432)]},
                     ("my", "5432", "twice"), id="P7-twice"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, f"PG.{APEX}")]},
                     ("pg", f"PG.{APEX}"), id="P8"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, f"*.*.{APEX}")]},
                     ("pg", f"*.*.{APEX}"), id="P8-two-stars"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, f"pg.{APEX}.")]},
                     ("pg", f"pg.{APEX}."), id="P8-dot-at-the-end"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, f"bücher.{APEX}")]},
                     ("pg", f"bücher.{APEX}"), id="P8-idn"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, f"a.*.{APEX}")]},
                     ("pg", f"a.*.{APEX}"), id="P8-star-inside"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, "pg.example.org")]},
                     ("pg", "pg.example.org", APEX), id="P9"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 5432, "pg.evilfoo.example.com")]},
                     ("pg", "pg.evilfoo.example.com", APEX), id="P9-same-ending"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 1), pl("my", 2, f"pg.{APEX}")]},
                     ("my", "entry `pg`"), id="P10-TG-151-one-hostname"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 1, f"api.{APEX}")],
                      "tlsPassthroughServices": ["api"]},
                     ("pg", "tlsPassthroughServices entry `api`"), id="P10-TG-151-service"),
        pytest.param({"tlsPassthroughListeners": [pl("pg", 1, f"*.{APEX}")],
                      "tlsPassthroughServices": ["api"]},
                     ("pg", "tlsPassthroughServices entry `api`"), id="P10-TG-151-wildcard"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, f"*.db.{APEX}"),
                                                  pl("b", 2, f"pg.db.{APEX}")]},
                     ("`b`", "entry `a`"), id="P10-TG-151-below-a-wildcard"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, f"*.db.{APEX}"),
                                                  pl("b", 2, f"*.db.{APEX}")]},
                     ("`b`", "entry `a`"), id="P10-TG-151-wildcard-twice"),
        pytest.param({"certMode": "existingSecret"}, ("wildcardSecretRef",), id="P12-TG-085"),
        pytest.param({"certMode": "existingSecret", "wildcardSecretRef": {"name": ""}},
                     ("wildcardSecretRef",), id="P12-empty"),
    ],
)  # fmt: skip
def test_a_fault_is_told_and_leaves_everything_as_it_was(
    spec: dict[str, Any], words: tuple[str, ...]
) -> None:
    """A person must know which field to mend; the gateway that serves goes on."""
    decision = decide(a_snapshot(http("tenant-foo/a", f"a.{APEX}"), **spec))
    said = ready(decision)

    assert ("False", "ReconcileError") == (said["status"], said["reason"])
    assert [] == [word for word in words if word not in said["message"]]
    assert [] == writes(decision)
    assert decision.backoff


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, f"*.{APEX}")]}, id="wildcard-at-apex"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, APEX)]}, id="apex"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, f"*.a.{APEX}"),
                                                  pl("b", 2, f"*.b.{APEX}")]},
                     id="TG-152-disjoint-wildcards"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, f"*.db.{APEX}"),
                                                  pl("b", 2, f"db.{APEX}")]},
                     id="TG-152-beside-its-suffix"),
        pytest.param({"tlsPassthroughServices": ["s3.storage"]}, id="dotted-service"),
        pytest.param({"apex": "Foo.Example.com", "tlsPassthroughServices": ["api"]},
                     id="TG-156-upper-case-apex"),
        pytest.param({"certMode": "edge", "tlsPassthroughListeners": []}, id="empty-list"),
    ],
)  # fmt: skip
def test_what_is_legal_on_purpose_is_rendered(spec: dict[str, Any]) -> None:
    """A rule that refuses more than it says takes a tenant's gateway down."""
    decision = decide(a_snapshot(**spec))

    assert "ReconcileError" != ready(decision)["reason"]
    assert body_of(decision, api.GATEWAY)


@pytest.mark.parametrize(
    ("spec", "first"),
    [
        pytest.param({"certMode": "dns01", "tlsPassthroughListeners": [pl("pg", 1, "_")],
                      "tlsPassthroughServices": ["a", "a"]}, "dns01", id="P1-before-P2-TG-154"),
        pytest.param({"apex": "Foo", "tlsPassthroughListeners": [PG],
                      "tlsPassthroughServices": ["a", "a"]}, "`a` twice", id="P2-before-P5"),
        pytest.param({"apex": "Foo", "tlsPassthroughListeners": [PG],
                      "tlsPassthroughServices": ["A_"]}, "`Foo`", id="P5-before-P3"),
        pytest.param({"tlsPassthroughServices": ["a" * 250, "A_"]}, "`A_`", id="P3-before-P4"),
        pytest.param({"tlsPassthroughServices": ["a" * 250],
                      "tlsPassthroughListeners": [pl("a.b", 1)]}, "253", id="P4-before-P6"),
        pytest.param({"tlsPassthroughListeners": [pl("a.b", 80, "_")]}, "label", id="P6-before-P7"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 80, "_")]}, "port 80", id="P7-before-P8"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, "*.x.org"), pl("b", 2, "*.x.org")]},
                     "outside", id="P9-before-P10"),
        pytest.param({"tlsPassthroughListeners": [pl("a", 1, "_"), pl("b.c", 2)]},
                     "`_`", id="listener-by-listener"),
    ],
)  # fmt: skip
def test_the_first_fault_alone_is_told(spec: dict[str, Any], first: str) -> None:
    """An order that changes is a message that flaps. Source: 7.2."""
    said = said_of({"apex": APEX, "certMode": "http01", **spec})

    assert first in said


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"certMode": "dns01"}, ("spec.dns01",), id="P13-none"),
        pytest.param({"certMode": "dns01", "dns01": {"provider": "route53"}},
                     ("dns01.route53",), id="P13-TG-098-no-block"),
        pytest.param({"certMode": "dns01", "dns01": {"provider": "akamai"}},
                     ("akamai",), id="P13-provider"),
        pytest.param({"issuerName": "zerossl"},
                     ("zerossl", "letsencrypt-prod", "letsencrypt-stage"), id="P13-TG-095-issuer"),
    ],
)  # fmt: skip
def test_an_issuer_that_cannot_be_made_is_told(
    spec: dict[str, Any], words: tuple[str, ...]
) -> None:
    """The mode that serves goes on: its Gateway, its Certificates and its account stay."""
    before = standing(a_snapshot(http("tenant-foo/a", f"a.{APEX}")))
    seen = replace(before, asked_for=a_gateway(**spec))
    decision = decide(seen)

    assert [] == [word for word in words if word not in ready(decision)["message"]]
    assert ["patch Namespace tenant-foo"] == writes(decision)


def test_a_cause_that_is_gone_clears_the_condition() -> None:
    """TG-165: nobody has to touch the object a second time."""
    before = ready(decide(a_snapshot(certMode="existingSecret")))
    now = served(a_snapshot(status={"conditions": [before]}))
    after = ready(decide(now))

    assert ("True", "Reconciled") == (after["status"], after["reason"])
    assert a_gateway().meta.generation == after["observedGeneration"]
