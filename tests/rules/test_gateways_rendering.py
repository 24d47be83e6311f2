"""Issuer, Certificates, redirect, labels, the ownership guard. tenant-gateway 3.2 to 3.7, 8.2."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    BORN,
    NAME,
    NS,
    UID,
    a_namespace,
    a_snapshot,
    body_of,
    http,
    made,
    owned,
    ready,
    served,
    standing,
    told,
    writes,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.render.objects import UnrenderableError, issuer, solver
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import How
from roadstead.engine.check import check
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind

TOKEN = {"name": "s", "key": "k"}
CLOUD = {"provider": "cloudflare", "cloudflare": {"apiTokenSecretRef": TOKEN}}
DNS01: dict[str, Any] = {"certMode": "dns01", "dns01": CLOUD}
EXISTING: dict[str, Any] = {"certMode": "existingSecret", "wildcardSecretRef": {"name": "w"}}
HARBOR = http("tenant-foo/h", f"harbor.{APEX}")
PAIR = "cozystack-harbor-760d5a8a-tls"
MARK = {api.MANAGED_LABEL: api.MANAGER}


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("letsencrypt-prod", "https://acme-v02.api.letsencrypt.org/directory"),
        ("", "https://acme-v02.api.letsencrypt.org/directory"),
        ("letsencrypt-stage", "https://acme-staging-v02.api.letsencrypt.org/directory"),
    ],
)
def test_the_issuer_asks_the_right_server(name: str, server: str) -> None:
    """TG-095: a production order against the staging server is a browser's warning."""
    acme = issuer(a_snapshot(issuerName=name))["spec"]["acme"]

    assert server == acme["server"]
    assert {"name": "cozystack-acme-account"} == acme["privateKeySecretRef"]
    assert 1 == len(acme["solvers"])


def test_an_issuer_name_that_nobody_knows_names_both() -> None:
    """TG-095: the message says what to write instead."""
    with pytest.raises(UnrenderableError, match=r"zerossl.*letsencrypt-prod.*letsencrypt-stage"):
        issuer(a_snapshot(issuerName="zerossl"))


def test_the_solver_of_http01_is_the_plain_listener() -> None:
    """TG-096: a challenge that attaches elsewhere is never answered."""
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": NAME,
        "namespace": NS,
        "sectionName": "http",
    }

    assert {"http01": {"gatewayHTTPRoute": {"parentRefs": [parent]}}} == solver(a_snapshot())


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        pytest.param(CLOUD, {"cloudflare": {"apiTokenSecretRef": TOKEN}}, id="cloudflare"),
        pytest.param({"cloudflare": {"apiTokenSecretRef": TOKEN}},
                     {"cloudflare": {"apiTokenSecretRef": TOKEN}}, id="no-provider"),
        pytest.param({"provider": "route53", "route53": {"region": "eu", "accessKeyID": "A",
                                                         "secretAccessKeySecretRef": TOKEN}},
                     {"route53": {"region": "eu", "accessKeyID": "A",
                                  "secretAccessKeySecretRef": TOKEN}}, id="route53"),
        pytest.param({"provider": "route53", "route53": {"region": "eu"}},
                     {"route53": {"region": "eu"}}, id="route53-ambient"),
        pytest.param({"provider": "digitalocean", "digitalocean": {"tokenSecretRef": TOKEN}},
                     {"digitalocean": {"tokenSecretRef": TOKEN}}, id="digitalocean"),
        pytest.param({"provider": "rfc2136", "rfc2136": {"nameserver": "n", "tsigKeyName": "t",
                                                         "tsigSecretSecretRef": TOKEN}},
                     {"rfc2136": {"nameserver": "n", "tsigKeyName": "t",
                                  "tsigAlgorithm": "HMACSHA256", "tsigSecretSecretRef": TOKEN}},
                     id="rfc2136"),
        pytest.param({"provider": "digitalocean", "digitalocean": {"tokenSecretRef": TOKEN},
                      "cloudflare": {"apiTokenSecretRef": TOKEN}},
                     {"digitalocean": {"tokenSecretRef": TOKEN}}, id="one-of-two-blocks"),
        pytest.param({"cloudflare": {"apiTokenSecretRef": {**TOKEN, "optional": True}}},
                     {"cloudflare": {"apiTokenSecretRef": TOKEN}}, id="optional-is-not-known"),
    ],
)  # fmt: skip
def test_the_solver_of_dns01_is_the_providers(
    stated: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    """TG-097: exactly the block of the provider, and nothing cert-manager would not take."""
    assert {"dns01": expected} == solver(a_snapshot(certMode="dns01", dns01=stated))


@pytest.mark.parametrize("spec", [EXISTING, {"certMode": "edge"}], ids=["existingSecret", "edge"])
def test_a_mode_without_issuer_has_no_solver(spec: dict[str, Any]) -> None:
    """TG-099: whoever asks for one anyway has mixed the modes up, and is told which."""
    with pytest.raises(UnrenderableError, match=str(spec["certMode"])):
        solver(a_snapshot(**spec))


def test_a_pair_is_a_listener_and_a_certificate_of_one_name() -> None:
    """TG-078: the Secret is the one that the listener reads."""
    decision = decide(a_snapshot(HARBOR))
    body = body_of(decision, api.CERTIFICATE)

    assert {
        "dnsNames": [f"harbor.{APEX}"],
        "issuerRef": {"kind": "Issuer", "name": "cozystack-gateway"},
        "secretName": PAIR,
    } == body["spec"]
    assert PAIR == body["metadata"]["name"]
    assert {
        **MARK,
        "cozystack.io/tenantgateway": NAME,
        "cozystack.io/per-listener-cert": "true",
    } == body["metadata"]["labels"]


def test_the_wildcard_certificate_covers_apex_and_children_in_order() -> None:
    """TG-082, TG-083: an order that changes is a new certificate of fifty a week."""
    children = [
        a_namespace("z", NS, f"alice.{APEX}"),
        a_namespace("b", NS, f"bob.{APEX}"),
        a_namespace("c", NS, APEX),
    ]
    body = body_of(decide(a_snapshot(namespaces=children, **DNS01)), api.CERTIFICATE)
    names = [APEX, f"*.{APEX}"]
    names += [f"alice.{APEX}", f"*.alice.{APEX}", f"bob.{APEX}", f"*.bob.{APEX}"]

    assert "cozystack-gateway-tls" == body["metadata"]["name"]
    assert names == body["spec"]["dnsNames"]
    assert MARK == body["metadata"]["labels"]


@pytest.mark.parametrize(("children", "fits"), [(49, True), (50, False)])
def test_a_certificate_has_at_most_a_hundred_names(children: int, fits: bool) -> None:
    """TG-192: Let's Encrypt refuses more; the old Certificate goes on."""
    named = [a_namespace(f"n{n}", NS, f"n{n}.{APEX}") for n in range(children)]
    old = owned(api.CERTIFICATE, "cozystack-gateway-tls", meta={"labels": MARK})
    seen = a_snapshot(namespaces=named, **DNS01)
    decision = decide(replace(seen, certificates={old.meta.name: old}))
    said = ready(decision)["message"]

    assert fits is ("replace Certificate cozystack-gateway-tls" in writes(decision))
    assert "drop Certificate cozystack-gateway-tls" not in writes(decision)
    assert fits or ("102" in said and "100" in said)


def test_the_redirect_is_of_the_apex_and_what_is_below() -> None:
    """TG-103: a redirect of every name would take the children's challenges."""
    spec = body_of(decide(a_snapshot()), api.HTTP_ROUTE)["spec"]
    (rule,) = spec["rules"]
    redirect = {"scheme": "https", "statusCode": 301}

    assert [APEX, f"*.{APEX}"] == spec["hostnames"]
    assert [{"type": "RequestRedirect", "requestRedirect": redirect}] == rule["filters"]
    (parent,) = spec["parentRefs"]
    assert ("http", NAME) == (parent["sectionName"], parent["name"])
    assert "namespace" not in parent


ALL = ["Certificate", "Gateway", "HTTPRoute", "Issuer"]


@pytest.mark.parametrize(
    ("spec", "kinds"),
    [
        pytest.param({}, ALL, id="http01"),
        pytest.param(DNS01, ALL, id="dns01"),
        pytest.param(EXISTING, ["Gateway", "HTTPRoute"], id="existingSecret"),
        pytest.param({"certMode": "edge"}, ["Gateway"], id="edge"),
    ],
)
def test_what_is_made_is_controlled_and_valid(spec: dict[str, Any], kinds: list[str]) -> None:
    """TG-100: garbage collection is the only clean-up of it; and the server takes it as sent."""
    bodies = [
        (want.kind, dict(want.body))
        for want in decide(a_snapshot(HARBOR, **spec)).want
        if want.how is How.REPLACE
    ]
    for kind, body in bodies:
        (owner,) = body["metadata"]["ownerReferences"]
        assert ("TenantGateway", NAME, UID) == (owner["kind"], owner["name"], owner["uid"])
        assert owner["controller"]
        assert owner["blockOwnerDeletion"]
        check(kind, body)

    assert kinds == sorted(kind.kind for kind, _ in bodies)


@pytest.mark.parametrize(
    "spec",
    [{}, DNS01, EXISTING, {"certMode": "edge"}],
    ids=["http01", "dns01", "existingSecret", "edge"],
)
def test_what_stands_as_it_should_is_not_written(spec: dict[str, Any]) -> None:
    """TG-077: a second pass writes nothing but what routes are told."""
    seen = served(a_snapshot(HARBOR, **spec))

    assert not [line for line in writes(decide(seen)) if line.startswith(("replace", "drop"))]


def test_labels_of_others_stay_and_ours_come_back() -> None:
    """TG-101, TG-102: an edited Gateway is put right, and nobody's label is lost."""
    seen = standing(a_snapshot())
    assert seen.gateway is not None
    body = dict(seen.gateway.body)
    body["metadata"] = {**body["metadata"], "labels": {"x": "y", api.GATEWAY_LABEL: "odd"}}
    odd = {"name": "odd", "port": 8080, "protocol": "HTTP"}
    body["spec"] = {**body["spec"], "listeners": [*body["spec"]["listeners"], odd]}
    edited = replace(seen, gateway=Object.of(api.GATEWAY, body))
    mended = body_of(decide(edited), api.GATEWAY)

    assert {"x": "y", api.GATEWAY_LABEL: NS, **MARK} == mended["metadata"]["labels"]
    assert ["http"] == [one["name"] for one in mended["spec"]["listeners"]]
    assert "9" == mended["metadata"]["resourceVersion"]


def foreign(kind: Kind, name: str, uid: str) -> Object:
    """Somebody else's object of a name that we render."""
    return owned(kind, name, uid, meta={"labels": MARK}, spec={"theirs": True})


FOREIGN = [
    pytest.param({}, "gateway", api.GATEWAY, NAME, id="Gateway"),
    pytest.param({}, "issuer", api.ISSUER, "cozystack-gateway", id="Issuer"),
    pytest.param({}, "redirect", api.HTTP_ROUTE, "cozystack-http-redirect", id="redirect"),
    pytest.param(DNS01, "", api.CERTIFICATE, "cozystack-gateway-tls", id="wildcard"),
    pytest.param({}, "", api.CERTIFICATE, PAIR, id="per-listener"),
]


def beside(seen: Snapshot, field: str, there: Object) -> Snapshot:
    """With an object standing at a name that is rendered."""
    if field:
        return replace(seen, **{field: there})  # type: ignore[arg-type]  # any field of it
    return replace(seen, certificates={there.meta.name: there})


@pytest.mark.parametrize("uid", ["", "uid-of-an-older-one"])
@pytest.mark.parametrize(("spec", "field", "kind", "name"), FOREIGN)
def test_what_is_not_ours_is_never_taken_over(
    spec: dict[str, Any], field: str, kind: Kind, name: str, uid: str
) -> None:
    """TG-164, 8.2: same name and another uid is another's; both words are told, and why."""
    seen = beside(a_snapshot(HARBOR, **spec), field, foreign(kind, name, uid))
    decision = decide(seen)

    assert not [line for line in writes(decision) if line.endswith(f"{kind.kind} {name}")]
    assert ("False", "ReconcileError") == (ready(decision)["status"], ready(decision)["reason"])
    assert "not owned by TenantGateway" in ready(decision)["message"]
    assert {"OwnershipConflict", "ReconcileError"} <= set(told(decision))
    others = [one for one in ALL if one != kind.kind] if kind != api.GATEWAY else []
    assert others == sorted(
        want.kind.kind for want in decision.want if want.how is How.REPLACE and want.kind != kind
    )


def test_every_foreign_object_is_named_in_one_message() -> None:
    """8.2: who removes the first must not find the second a pass later."""
    seen = a_snapshot(HARBOR)
    for _, field, kind, name in (one.values for one in FOREIGN[1:3]):
        seen = beside(seen, str(field), foreign(kind, str(name), ""))  # type: ignore[arg-type]  # a kind, by its row
    said = ready(decide(seen))["message"]

    assert "Issuer" in said
    assert "cozystack-http-redirect" in said


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        pytest.param({"certMode": "edge"}, {"Gateway"}, id="TG-170-to-edge"),
        pytest.param(EXISTING, {"Gateway", "HTTPRoute"}, id="TG-169-to-existingSecret"),
        pytest.param(DNS01, {"Gateway", "HTTPRoute", "Issuer"}, id="TG-167-to-dns01"),
    ],
)
def test_a_mode_that_is_left_takes_what_was_ours(spec: dict[str, Any], kept: set[str]) -> None:
    """8.3: ours goes with uid and version, somebody else's stays without a word."""
    before = standing(a_snapshot(HARBOR))
    theirs = made(api.CERTIFICATE, NS, "theirs", meta={"labels": MARK})
    before = replace(before, certificates={**before.certificates, "theirs": theirs})
    decision = decide(replace(a_snapshot(HARBOR, **spec), gateway=before.gateway,
                              issuer=before.issuer, redirect=before.redirect,
                              certificates=before.certificates))  # fmt: skip
    dropped = {drop.ref.kind.kind for drop in decision.drop}

    assert {"Certificate", *ALL} - kept == dropped
    assert "theirs" not in {drop.ref.name for drop in decision.drop}
    assert all(drop.uid and drop.resource_version for drop in decision.drop)
    assert "OwnershipConflict" not in told(decision)


def test_the_wildcard_certificate_goes_though_its_label_went_first() -> None:
    """TG-168: it is ours by name and owner; a label can be taken off by anybody."""
    seen = a_snapshot(HARBOR)
    bare = owned(api.CERTIFICATE, "cozystack-gateway-tls")
    decision = decide(replace(seen, certificates={bare.meta.name: bare}))

    assert "drop Certificate cozystack-gateway-tls" in writes(decision)


@pytest.mark.parametrize(
    ("meta", "goes"),
    [
        pytest.param({"labels": MARK}, True, id="surplus"),
        pytest.param({}, False, id="nobody-manages-it"),
        pytest.param({"labels": MARK, "deletionTimestamp": BORN}, False, id="on-its-way-out"),
    ],
)
def test_a_surplus_certificate_goes_once_and_by_its_mark(meta: dict[str, Any], goes: bool) -> None:
    """8.2: what is ours is found by the label; what a finalizer holds is not deleted again."""
    seen = a_snapshot(HARBOR)
    old = owned(api.CERTIFICATE, "cozystack-old-00000000-tls", meta=meta)
    decision = decide(replace(seen, certificates={old.meta.name: old}))

    assert goes is (f"drop Certificate {old.meta.name}" in writes(decision))


@pytest.mark.parametrize("field", ["issuer", "redirect"])
def test_edge_leaves_what_is_foreign_without_an_error(field: str) -> None:
    """TG-166: on the way to deletion a foreign object is none of our business."""
    kind, name = {
        "issuer": (api.ISSUER, "cozystack-gateway"),
        "redirect": (api.HTTP_ROUTE, "cozystack-http-redirect"),
    }[field]
    decision = decide(beside(a_snapshot(certMode="edge"), field, foreign(kind, name, "")))

    assert () == decision.drop
    assert "ReconcileError" != ready(decision)["reason"]
