"""The per-tenant gateway release: rows TG-027 to TG-059, TG-188 and TG-195's render half.

Source: tenant-gateway 2.5 to 2.7, 11.3.
"""

from typing import Any

import pytest

from gateway_chain import c, cluster, d, made, spec
from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.capabilities.gateways.chain.gateway import RULES, Release
from roadstead.capabilities.gateways.chain.names import PASSTHROUGH
from roadstead.capabilities.gateways.fields import MODES
from roadstead.decision import Verdict
from roadstead.sim.flags import START as NOW
from roadstead.sim.requests import By
from roadstead.sim.world import World

ABSENT = object()
SERVICES = list(PASSTHROUGH)
CLOUDFLARE = {
    "provider": "cloudflare",
    "cloudflare": {
        "apiTokenSecretRef": {"name": "cloudflare-api-token-secret", "key": "api-token"}
    },
}
RFC2136 = {
    "dns01_provider": "rfc2136",
    "dns01_rfc2136_nameserver": "10.0.0.53:53",
    "dns01_rfc2136_tsig_key_name": "cozy.",
    "dns01_rfc2136_secret_name": "tsig",
}
EDGE_CHILD = {"gateway_tenant_classes": "edge-tunnel", "gateway_edge_classes": "edge-tunnel"}

RENDERED = [
    pytest.param(
        c(),
        {
            "apex": "example.org",
            "certMode": "http01",
            "gatewayClassName": "cilium",
            "issuerName": "letsencrypt-prod",
            "dns01": ABSENT,
            "wildcardSecretRef": ABSENT,
        },
        id="TG-027",
    ),
    pytest.param(d(), {"apex": "alice.example.org"}, id="TG-028"),
    pytest.param(c(solver="dns01"), {"certMode": "dns01", "dns01": CLOUDFLARE}, id="TG-030"),
    pytest.param(
        c(
            solver="dns01",
            dns01_cloudflare_secret_name="mine",
            dns01_cloudflare_secret_key="token",
        ),
        {
            "dns01": {
                "provider": "cloudflare",
                "cloudflare": {"apiTokenSecretRef": {"name": "mine", "key": "token"}},
            }
        },
        id="TG-031",
    ),
    pytest.param(
        c(
            solver="dns01",
            dns01_provider="route53",
            dns01_route53_region="eu-west-1",
            dns01_route53_access_key_id="AKIA",
            dns01_route53_secret_name="aws",
        ),
        {
            "dns01": {
                "provider": "route53",
                "route53": {
                    "region": "eu-west-1",
                    "accessKeyID": "AKIA",
                    "secretAccessKeySecretRef": {"name": "aws", "key": "secret-access-key"},
                },
            }
        },
        id="TG-032",
    ),
    pytest.param(
        c(solver="dns01", dns01_provider="route53", dns01_route53_region="eu-west-1"),
        {"dns01": {"provider": "route53", "route53": {"region": "eu-west-1"}}},
        id="TG-032-ambient-credentials",
    ),
    pytest.param(
        c(solver="dns01", dns01_provider="digitalocean"),
        {
            "dns01": {
                "provider": "digitalocean",
                "digitalocean": {
                    "tokenSecretRef": {
                        "name": "digitalocean-api-token-secret",
                        "key": "access-token",
                    }
                },
            }
        },
        id="TG-033",
    ),
    pytest.param(
        c(solver="dns01", **RFC2136),
        {
            "dns01": {
                "provider": "rfc2136",
                "rfc2136": {
                    "nameserver": "10.0.0.53:53",
                    "tsigKeyName": "cozy.",
                    "tsigAlgorithm": "HMACSHA256",
                    "tsigSecretSecretRef": {"name": "tsig", "key": "tsig-secret-key"},
                },
            }
        },
        id="TG-034",
    ),
    pytest.param(
        c(gateway_attached_namespaces="cozy-cert-manager, cozy-dashboard,,cozy-keycloak"),
        {"attachedNamespaces": ["cozy-cert-manager", "cozy-dashboard", "cozy-keycloak"]},
        id="TG-037",
    ),
    pytest.param(
        d(gateway_attached_namespaces="cozy-dashboard"),
        {"attachedNamespaces": ABSENT},
        id="TG-037-child",
    ),
    pytest.param(c(), {"tlsPassthroughServices": SERVICES}, id="TG-038"),
    pytest.param(
        c(wildcard_secret_name="w"),
        {
            "certMode": "existingSecret",
            "wildcardSecretRef": {"name": "w"},
            "issuerName": ABSENT,
            "dns01": ABSENT,
            "tlsPassthroughServices": SERVICES,
        },
        id="TG-039",
    ),
    pytest.param(
        c(wildcard_secret_name="w", solver="dns01"),
        {"certMode": "existingSecret", "dns01": ABSENT},
        id="TG-040-dns01",
    ),
    pytest.param(
        c(wildcard_secret_name="w", issuer_name="zerossl"),
        {"certMode": "existingSecret", "issuerName": ABSENT},
        id="TG-040-issuer",
    ),
    pytest.param(c(gateway_class_name="ext"), {"gatewayClassName": "ext"}, id="TG-041"),
    pytest.param(
        d("x", gateway_class_name="ext", gateway_tenant_classes="x"),
        {"gatewayClassName": "x"},
        id="TG-042",
    ),
    pytest.param(c(), {"gatewayClassName": "cilium"}, id="TG-043"),
    pytest.param(
        d("edge-tunnel", **EDGE_CHILD),
        {
            "certMode": "edge",
            "gatewayClassName": "edge-tunnel",
            "issuerName": ABSENT,
            "dns01": ABSENT,
            "wildcardSecretRef": ABSENT,
            "tlsPassthroughServices": ABSENT,
        },
        id="TG-044",
    ),
    pytest.param(
        d("edge-tunnel", gateway_tenant_classes="edge-tunnel"),
        {"certMode": "http01", "issuerName": "letsencrypt-prod"},
        id="TG-045",
    ),
    pytest.param(
        d(gateway_class_name="edge-tunnel", gateway_edge_classes="edge-tunnel"),
        {"certMode": "edge"},
        id="TG-046",
    ),
    pytest.param(
        d(gateway_class_name="  edge-tunnel ", gateway_edge_classes="edge-tunnel"),
        {"certMode": "edge", "gatewayClassName": "edge-tunnel"},
        id="TG-047",
    ),
    pytest.param(d(" x ", gateway_tenant_classes="x"), {"gatewayClassName": "x"}, id="TG-048"),
    pytest.param(
        d("edge-tunnel", wildcard_secret_name="w", **EDGE_CHILD),
        {"certMode": "edge", "wildcardSecretRef": ABSENT},
        id="TG-050",
    ),
    pytest.param(
        d("edge-tunnel", issuer_name="zerossl", solver="tls01", **EDGE_CHILD),
        {"certMode": "edge", "issuerName": ABSENT},
        id="TG-051",
    ),
    pytest.param(d("cilium"), {"gatewayClassName": "cilium"}, id="TG-053"),
    pytest.param(d("edge-tunnel", **EDGE_CHILD), {"certMode": "edge"}, id="TG-055"),
    pytest.param(
        c("x", gateway_tenant_classes="x"), {"gatewayClassName": "x"}, id="TG-056-neither"
    ),
    pytest.param(
        c("x", gateway_tenant_classes="x", gateway_edge_classes="x, cilium"),
        {"gatewayClassName": "x", "certMode": "edge"},
        id="TG-056-both",
    ),
    pytest.param(d(gateway_tenant_classes=""), {"certMode": "http01"}, id="TG-057-no-pin"),
    pytest.param(
        d(gateway_class_name="edge-tunnel", gateway_edge_classes="edge-tunel"),
        {"certMode": "http01"},
        id="TG-058",
    ),
    pytest.param(d(gateway_edge_classes="Cilium"), {"certMode": "http01"}, id="TG-059"),
    pytest.param(
        c(
            gateway_class_name="edge-tunnel",
            gateway_edge_classes="edge-tunnel",
            gateway_enabled="true",
            expose_services="api",
        ),
        {"certMode": "edge", "tlsPassthroughServices": ABSENT},
        id="TG-188",
    ),
]


@pytest.mark.parametrize(("seen", "wanted"), RENDERED)
def test_a_release_renders(seen: Release, wanted: dict[str, Any]) -> None:
    """Each field of the TenantGateway follows from the values alone."""
    found = spec(seen)

    assert wanted == {name: found.get(name, ABSENT) for name in wanted}


REFUSED = [
    pytest.param(c(host=""), ["_namespace.host", "tenant.spec.host"], id="TG-029"),
    pytest.param(
        c(solver="dns01", dns01_provider="route53"),
        ["_cluster.dns01-route53-region"],
        id="TG-035-region",
    ),
    pytest.param(
        c(solver="dns01", **{**RFC2136, "dns01_rfc2136_nameserver": " "}),
        ["_cluster.dns01-rfc2136-nameserver"],
        id="TG-035-nameserver",
    ),
    pytest.param(
        c(solver="dns01", **{**RFC2136, "dns01_rfc2136_tsig_key_name": ""}),
        ["_cluster.dns01-rfc2136-tsig-key-name"],
        id="TG-035-tsig-key",
    ),
    pytest.param(
        c(solver="dns01", **{**RFC2136, "dns01_rfc2136_secret_name": ""}),
        ["_cluster.dns01-rfc2136-secret-name"],
        id="TG-035-tsig-secret",
    ),
    pytest.param(
        c(solver="dns01", dns01_provider="akamai"),
        ["_cluster.dns01-provider", "akamai", "cloudflare, route53, digitalocean, rfc2136"],
        id="TG-036-provider",
    ),
    pytest.param(
        c(solver="tls01"), ["_cluster.solver", "tls01", "http01, dns01"], id="TG-036-solver"
    ),
    pytest.param(
        c(issuer_name="zerossl"),
        ["issuerName", "zerossl", "letsencrypt-prod, letsencrypt-stage"],
        id="TG-036-issuer",
    ),
    pytest.param(c(gateway_class_name="  "), ["_cluster.gateway-class-name"], id="TG-049-default"),
    pytest.param(
        d("  "),
        ["gatewayClass", "tenant.spec.gatewayClass", "gateway.tenantSelectableClasses"],
        id="TG-049-tenant",
    ),
    pytest.param(
        d("internal", gateway_tenant_classes="x"),
        ["internal", "cilium, x", "gateway.tenantSelectableClasses"],
        id="TG-052",
    ),
    pytest.param(
        d("Cilium"),
        ["`Cilium`", "none of cilium", "did you mean `cilium`?"],
        id="TG-052-names-are-compared-by-byte",
    ),
    pytest.param(
        c("edge-tunnel", **EDGE_CHILD),
        ["tenant-root", "edge-tunnel", "cilium", "gateway.className"],
        id="TG-054",
    ),
    pytest.param(
        c(
            "x",
            gateway_class_name="edge-tunnel",
            gateway_tenant_classes="x",
            gateway_edge_classes="edge-tunnel",
        ),
        ["tenant-root", "`x`", "edge-tunnel", "gateway.className"],
        id="TG-054-the-other-way",
    ),
    pytest.param(d("x", gateway_tenant_classes=""), ["`x`"], id="TG-057-pinned"),
]


@pytest.mark.parametrize(("seen", "named"), REFUSED)
def test_a_release_is_refused(seen: Release, named: list[str]) -> None:
    """The release alone fails, and its message names what a person must change."""
    found = made(seen)

    assert found.gateway is None
    assert Verdict.REFUSE == found.findings[-1].verdict
    assert [] == [part for part in named if part not in found.findings[-1].message]


ALL_WRONG = {
    "gateway_class_name": " ",
    "solver": "dns01",
    "dns01_provider": "akamai",
    "issuer_name": "zerossl",
}


@pytest.mark.parametrize(
    ("seen", "rule"),
    [
        pytest.param(c(" ", host="", **ALL_WRONG), "has-a-host", id="1"),
        pytest.param(c(" ", **ALL_WRONG), "default-class-is-a-name", id="2"),
        pytest.param(
            c(" ", **{**ALL_WRONG, "gateway_class_name": "x"}), "chosen-class-is-a-name", id="3"
        ),
        pytest.param(
            c("y", **{**ALL_WRONG, "gateway_class_name": "x"}), "chosen-class-is-allowed", id="4"
        ),
        pytest.param(
            c(
                "y",
                **{
                    **ALL_WRONG,
                    "gateway_class_name": "x",
                    "gateway_tenant_classes": "y",
                    "gateway_edge_classes": "x",
                },
            ),
            "publishing-class-ends-tls-as-the-default",
            id="5",
        ),
        pytest.param(c(solver="tls01", issuer_name="zerossl"), "solver-is-supported", id="6"),
        pytest.param(
            c(solver="dns01", dns01_provider="akamai", issuer_name="zerossl"),
            "provider-is-supported",
            id="7",
        ),
        pytest.param(
            c(solver="dns01", dns01_provider="route53", issuer_name="zerossl"),
            "issuer-is-supported",
            id="8",
        ),
        pytest.param(c(solver="dns01", dns01_provider="route53"), "provider-is-whole", id="9"),
    ],
)
def test_the_first_refusal_is_reported(seen: Release, rule: str) -> None:
    """The checks have an order, and a person mends one thing after another. Source: 2.5."""
    assert rule == made(seen).findings[-1].rule


def test_every_rule_is_asked_of_a_release_that_renders() -> None:
    """`resolve` shows the whole trail."""
    assert len(RULES) == len(made(c()).findings)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="http01"),
        pytest.param({"solver": "dns01"}, id="dns01"),
        pytest.param({"wildcard_secret_name": "w"}, id="existingSecret"),
        pytest.param({"gateway_edge_classes": "cilium"}, id="edge"),
    ],
)
def test_what_renders_is_admitted_and_states_no_listener(more: dict[str, str]) -> None:
    """TG-195: a hand-set list survives, since neither manifest has it; and the schema agrees."""
    seen = c(**more)
    body = made(seen).gateway
    assert body is not None
    stored = World(NOW).create(TENANT_GATEWAY, body, By.OTHER).body["spec"]

    assert "tlsPassthroughListeners" not in body["spec"]
    assert seen.mode in MODES
    assert body["spec"] == {name: stored[name] for name in body["spec"]}
    assert made(seen) == made(Release(seen.namespace, cluster(**more), seen.host))
    assert ("edge" == seen.mode) is ("tlsPassthroughServices" not in body["spec"])
