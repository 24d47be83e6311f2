"""Each check finds what it is for, one step away from a cluster on which all is well."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from check_facts import (
    BEFORE,
    DEFINITIONS,
    INSTALLED,
    KINDS,
    WEBHOOK,
    gateway,
    registered,
    serving,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.lineage.api import DEFINITION
from roadstead.deploy.admission import REGISTRATION
from roadstead.explain.checks import CHECKS, ERROR, OK, UNASKED, WARNING, judge
from roadstead.explain.checks.facts import (
    Certificate,
    Facts,
    Granted,
    Held,
    Pod,
    Probed,
    Stated,
    Stored,
    Unasked,
    Unreadable,
)
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE
from roadstead.sim.flags import START
from webhook_certificates import LONG_AGO

ROOT = Path(__file__).parents[2]
NO = Unasked("you may not look")
DAY = timedelta(days=1)
FAILED = 'failed calling webhook "lineage.cozystack.io": failed to call webhook: refused'
DENIED = 'admission webhook "lineage.cozystack.io" denied the request: not ready'


def before(**facts: Any) -> Facts:
    """A cluster before an installation, with other facts."""
    return replace(BEFORE, **facts)


def after(**facts: Any) -> Facts:
    """An installation with other facts."""
    return replace(BEFORE, installed=replace(INSTALLED, **facts))


def hooked(**facts: Any) -> Facts:
    """An installation whose webhook has other facts."""
    return after(webhook=replace(WEBHOOK, **facts))


def without(*kinds: Any) -> Facts:
    """A cluster that lacks kinds."""
    return before(served=serving(*(one for one in KINDS if one not in kinds)))


def values(**gateway_values: Any) -> Facts:
    """A cluster, and platform values that state something of gateways."""
    return before(stated=Stated({"gateway": gateway_values}, "platform.yaml"))


def registration(**stated: Any) -> Object:
    """A registration with something stated otherwise."""
    body = registered().body
    body["webhooks"][0] |= stated
    return Object.of(REGISTRATION, body)


def certificate(*names: str, left: timedelta = 80 * DAY, since: timedelta = DAY) -> Certificate:
    """A serving certificate."""
    return Certificate(names or (WEBHOOK.host,), START - since, START + left)


ROWS = [
    ("kubernetes-version", ERROR, before(version="v1.31.9"), "it is 1.31.9"),
    ("kubernetes-version", OK, before(version="v1.32.0+k3s1"), "1.32.0+k3s1"),
    ("kubernetes-version", ERROR, before(version="edge"), "cannot be read"),
    ("may-install", ERROR, before(may={"create x.y": False}), "kubectl auth can-i create x.y"),
    ("system-namespaces", WARNING, before(systems={"cozy-cilium": False}), "cozy-cilium"),
    ("system-namespaces", UNASKED, before(systems=NO), NO.why),
    ("helm-releases", ERROR, without(HELM_RELEASE), "no application is known"),
    ("application-definitions", ERROR, without(DEFINITION), "no verdict"),
    ("gateway-api", ERROR, without(api.HTTP_ROUTE), "HTTPRoute v1 not served"),
    ("gateway-api", WARNING, without(api.REFERENCE_GRANT), "ReferenceGrant"),
    ("gateway-api", WARNING, without(*api.TLS_ROUTES), "TLSRoute is not served"),
    ("gateway-api", OK, without(api.TLS_ROUTES[0]), "v1.5.1, TLSRoute v1alpha3 v1alpha2"),
    ("gateway-api", OK, before(definitions=NO), "bundle not checked (you may not look)"),
    ("cert-manager", WARNING, without(api.CERTIFICATE), "Certificate v1 not served"),
    ("cert-manager", WARNING, before(owner_refs={"x/y": True}), "a Secret goes with"),
    ("cert-manager", OK, before(owner_refs={"x/y": None}), "a file of its own may state it"),
    ("cert-manager", OK, before(owner_refs=NO), "not checked (you may not look)"),
    ("cert-manager", OK, before(owner_refs={}), "no Deployment"),
    ("address-substrate", WARNING, without(*KINDS[2:5]), "ClaimPending"),
    ("address-substrate", WARNING, without(KINDS[2]), "IPAddressClaim v1alpha1 not served"),
    ("platform-values", ERROR, values(tenantSelectableClasses="a,b"), "platform.yaml"),
    (
        "class-names",
        ERROR,
        values(tenantSelectableClasses=["edge-tunel"]),
        "names `edge-tunel`, and no GatewayClass is called so; did you mean `edge-tunnel`?",
    ),
    ("class-names", UNASKED, before(classes=NO), NO.why),
    (
        "address-class-names",
        ERROR,
        before(stated=Stated(tenant_classes=frozenset({"publik"}))),
        "did you mean `public`?",
    ),
    ("address-class-names", UNASKED, before(address_classes=NO), NO.why),
    ("accounts", ERROR, after(accounts=()), "none of roadstead-anchors"),
    ("accounts", OK, after(accounts=("roadstead-anchors",)), "without roadstead-attachments"),
    ("accounts", UNASKED, after(accounts=NO), NO.why),
    ("rights", ERROR, after(rights=(Granted("a", "list secrets", False),)), "a: list secrets"),
    ("rights", UNASKED, after(rights=NO), NO.why),
    ("account-policies", WARNING, after(policies={"p": "", "q": "is not there"}), "q is not there"),
    ("account-policies", UNASKED, after(policies=NO), NO.why),
    ("definitions", ERROR, after(served=dict.fromkeys(DEFINITIONS)), "is not served"),
    ("definitions", ERROR, after(served=dict.fromkeys(DEFINITIONS, 1)), "older: revision 1"),
    ("definitions", WARNING, after(served=dict.fromkeys(DEFINITIONS, 3)), "newer: revision 3"),
    ("definitions", ERROR, after(changed={DEFINITIONS[0]: "v1.spec.x"}), "lacks v1.spec.x"),
    ("definitions", UNASKED, after(served=NO), NO.why),
    ("leaders", ERROR, after(leases={"x": None}), "nobody has ever led"),
    ("leaders", ERROR, after(leases={"x": Held("")}), "was given up"),
    ("leaders", ERROR, after(leases={"x": Held("p", START - DAY, DAY / 9)}), "p renewed it 24h"),
    ("leaders", ERROR, after(leases={"x": Held("p", START + DAY, DAY)}), "in the future"),
    ("leaders", OK, after(leases={"x": Held("p", START - DAY, DAY / 9, moves=True)}), "x"),
    ("leaders", UNASKED, after(leases=NO), NO.why),
    ("pods-ready", ERROR, after(pods=(Pod("p", False, "manager waits: CrashLoopBackOff"),)), "Cra"),
    ("pods-ready", WARNING, after(pods=()), "no Pod"),
    ("pods-ready", UNASKED, after(pods=NO), NO.why),
    (
        "stored-objects",
        ERROR,
        after(stored=Stored(unreadable=(Unreadable("X a/b", "does not fit at spec.y"),))),
        "X a/b: does not fit at spec.y",
    ),
    ("stored-objects", UNASKED, after(stored=Stored(unread=(NO, NO))), NO.why),
    ("listener-budget", WARNING, after(listeners={gateway("t"): 57}), "t/cozystack: 57 of 64"),
    ("listener-budget", OK, after(listeners={gateway("t"): 56}), "56 of 64"),
    ("listener-budget", UNASKED, after(listeners=NO), NO.why),
    ("webhook-registered", ERROR, hooked(registration=None), "nobody asks"),
    ("webhook-registered", ERROR, hooked(registration=registration(rules=[])), "rules is not"),
    (
        "webhook-registered",
        ERROR,
        hooked(registration=registration(failurePolicy="Ignore")),
        "failurePolicy is not what ships",
    ),
    ("webhook-registered", UNASKED, hooked(registration=NO), NO.why),
    ("webhook-bundle", ERROR, hooked(registration=registered(b"")), "is empty"),
    ("webhook-bundle", ERROR, hooked(registration=registered(b"?")), "no base64"),
    ("webhook-bundle", ERROR, hooked(registration=registered(b"eA==")), "no certificate"),
    ("webhook-service", ERROR, hooked(service=None), "there is no Service"),
    ("webhook-service", ERROR, hooked(endpoints=0), "no ready endpoint"),
    ("webhook-service", OK, hooked(endpoints=None), "ExternalName"),
    ("webhook-service", UNASKED, hooked(endpoints=NO), NO.why),
    ("webhook-service", UNASKED, hooked(service=NO), NO.why),
    ("webhook-certificate", WARNING, hooked(certificate=None), "holds none"),
    ("webhook-certificate", ERROR, hooked(certificate=certificate("a.b")), "is for a.b, not for"),
    ("webhook-certificate", ERROR, hooked(certificate=certificate(left=-DAY)), "expired 24h ago"),
    ("webhook-certificate", ERROR, hooked(certificate=certificate(since=-DAY)), "valid from 2026"),
    ("webhook-certificate", WARNING, hooked(certificate=certificate(left=DAY)), "expires in 24h"),
    ("webhook-certificate", UNASKED, hooked(certificate=NO), NO.why),
    ("webhook-answers", ERROR, hooked(probed=Probed("t", 500, FAILED)), "failed to call"),
    ("webhook-answers", ERROR, hooked(probed=Probed("t", 500, DENIED)), "answers no"),
    ("webhook-answers", ERROR, hooked(probed=Probed("t", 503, "away")), "in t: away"),
    (
        "webhook-answers",
        OK,
        hooked(probed=Probed("t", 403, "exceeded quota")),
        "refused by another",
    ),
    ("webhook-answers", UNASKED, hooked(probed=NO), NO.why),
]


@pytest.mark.parametrize(
    ("name", "level", "seen", "said"),
    [pytest.param(*row, id=f"{row[0]}-{number}") for number, row in enumerate(ROWS)],
)
def test_a_check_finds_what_it_is_for(name: str, level: str, seen: Facts, said: str) -> None:
    """The finding names what is wrong, at the level that the reference promises."""
    (one,) = [one for one in judge(seen) if one.check.name == name]

    assert (level, True) == (
        one.found.level,
        said in "\n".join((one.found.said, *one.found.more)),
    ), one.found
    assert one.found.level in {OK, UNASKED, *one.check.levels}


@pytest.mark.parametrize("seen", [BEFORE, after()], ids=["before", "after"])
def test_all_is_well_where_it_is(seen: Facts) -> None:
    """No check cries wolf."""
    assert {OK} == {one.found.level for one in judge(seen)}


def test_every_check_is_asked_and_can_fail() -> None:
    """None is spare: each has a row above that finds something."""
    asked = {one.check.name for seen in (BEFORE, after()) for one in judge(seen)}
    failing = {name for name, level, _, _ in ROWS if level in {WARNING, ERROR}}

    assert {one.name for one in CHECKS} == asked == failing
    assert len(CHECKS) == len(asked)


def test_an_expired_authority_is_an_error() -> None:
    """Whatever the serving certificate says, nobody trusts it any more."""
    seen = replace(after(), now=LONG_AGO + timedelta(days=365 * 40))
    found = {one.check.name: one.found for one in judge(seen)}

    assert (ERROR, True) == (
        found["webhook-bundle"].level,
        "expired" in found["webhook-bundle"].said,
    )


def test_a_webhook_by_address_needs_no_service() -> None:
    """A development server asks a URL."""
    seen = hooked(registration=registration(clientConfig={"url": "https://127.0.0.1:9443/x"}))
    found = {one.check.name: one.found.level for one in judge(seen)}

    assert "webhook-service" not in found
    assert OK == found["webhook-registered"]


def test_without_the_webhook_nothing_is_asked_about_it() -> None:
    """Who runs the anchors alone is not told of what was never installed."""
    names = {one.check.name for one in judge(after(webhook=None))}

    assert not [name for name in names if name.startswith("webhook-")]


def test_each_hint_leads_to_a_place_of_the_reference() -> None:
    """Whoever follows a hint arrives."""
    for one in CHECKS:
        page, _, anchor = one.anchor.partition("#")

        assert f"\n## {anchor}\n" in (ROOT / page).read_text(encoding="utf-8")
