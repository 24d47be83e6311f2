"""From the platform's values to `_cluster`: rows TG-014 to TG-026, and what is remarked on.

Source: tenant-gateway 2.1 to 2.4, 8.5, 9, 11.2.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway_chain import publishing, values
from roadstead.capabilities.gateways.chain import (
    cilium_values,
    cluster_of,
    remarks,
    values_secret,
)
from roadstead.capabilities.gateways.chain.findings import MEANINGS
from roadstead.capabilities.gateways.chain.providers import DEFAULTS
from roadstead.decision import Verdict

CARRIED = [
    pytest.param(
        {},
        {
            "gateway-class-name": "cilium",
            "gateway-edge-classes": "",
            "gateway-tenant-classes": "",
            "gateway-enabled": "false",
            "solver": "http01",
            "issuer-name": "letsencrypt-prod",
            "expose-ingress": "tenant-root",
            "expose-ingress-admin": "",
            "expose-services": "",
            "root-host": "",
            "wildcard-secret-name": "",
            "wildcard-issue": "false",
            "gateway-attached-namespaces": (
                "cozy-cert-manager,cozy-dashboard,cozy-keycloak,cozy-system,cozy-harbor,"
                "cozy-bucket,cozy-kubevirt,cozy-kubevirt-cdi,cozy-monitoring,cozy-linstor-gui,"
                "default"
            ),
        },
        id="TG-014",
    ),
    pytest.param(
        values(
            className="edge-tunnel",
            edgeTerminatedClasses=["edge-tunnel", "other-tunnel"],
            tenantSelectableClasses=["edge-tunnel"],
        ),
        {
            "gateway-class-name": "edge-tunnel",
            "gateway-edge-classes": "edge-tunnel,other-tunnel",
            "gateway-tenant-classes": "edge-tunnel",
        },
        id="TG-015",
    ),
    pytest.param(
        values(className="  edge-tunnel  "), {"gateway-class-name": "edge-tunnel"}, id="TG-016"
    ),
    pytest.param(values(className=None), {"gateway-class-name": "cilium"}, id="TG-019-null"),
    pytest.param(values(className=""), {"gateway-class-name": "cilium"}, id="TG-019-empty"),
    pytest.param(
        values(edgeTerminatedClasses=None, tenantSelectableClasses=["", " x "]),
        {"gateway-edge-classes": "", "gateway-tenant-classes": ", x "},
        id="TG-019-lists-keep-blanks",
    ),
    pytest.param(
        publishing(solver="dns01", wildcard=True),
        {"wildcard-secret-name": "cozystack-wildcard-tls", "wildcard-issue": "true"},
        id="TG-022",
    ),
    pytest.param(
        publishing({"enabled": True}, solver="dns01", wildcard=True),
        {"wildcard-secret-name": "", "wildcard-issue": "false", "gateway-enabled": "true"},
        id="TG-023-gateway",
    ),
    pytest.param(
        publishing(solver="dns01", wildcard=True, wildcardSecretName="w"),
        {"wildcard-secret-name": "w", "wildcard-issue": "false"},
        id="TG-023-named",
    ),
    pytest.param(
        publishing(solver="http01", wildcard=True),
        {"wildcard-secret-name": "", "wildcard-issue": "false"},
        id="TG-023-http01",
    ),
    pytest.param(
        publishing(solver="dns01"),
        {"wildcard-secret-name": "", "wildcard-issue": "false"},
        id="TG-023-not-asked",
    ),
    pytest.param(
        publishing(solver="http01"), {"dns01-provider": "cloudflare", **DEFAULTS}, id="TG-025"
    ),
    pytest.param(
        publishing(dns01={"route53": {"region": "eu", "accessKeyID": "A", "secretName": "s"}}),
        {
            "dns01-route53-region": "eu",
            "dns01-route53-access-key-id": "A",
            "dns01-route53-secret-name": "s",
            "dns01-route53-secret-key": "secret-access-key",
        },
        id="TG-025-carried",
    ),
    pytest.param(
        values(attachedNamespaces=["tenant-foo"]),
        {"gateway-attached-namespaces": "tenant-foo"},
        id="TG-026",
    ),
    pytest.param(values(enabled="true"), {"gateway-enabled": "true"}, id="2.1-spelled-out"),
    pytest.param(values(enabled="false"), {"gateway-enabled": "false"}, id="14-false-is-a-text"),
    pytest.param(
        {"publishing": {"host": "example.org", "exposedServices": ["api", "dashboard"]}},
        {"root-host": "example.org", "expose-services": "api,dashboard"},
        id="2.1-publishing",
    ),
]


@pytest.mark.parametrize(("given", "wanted"), CARRIED)
def test_a_value_is_carried(given: dict[str, Any], wanted: dict[str, str]) -> None:
    """Each key of the channel has the text that the charts compare with."""
    platform = cluster_of(given)

    assert () == platform.refusals
    assert wanted == {key: platform.cluster.get(key) for key in wanted}


LISTS = ("edgeTerminatedClasses", "tenantSelectableClasses")
NO_LISTS: tuple[Any, ...] = ("edge-tunnel", "", 0, False, {}, 5)
REFUSED = [
    pytest.param(values(className="   "), ["gateway.className"], id="TG-017"),
    pytest.param(values(className=123), ["gateway.className", "123"], id="TG-018"),
    pytest.param(values(className=0), ["gateway.className", "0"], id="TG-018-zero"),
    pytest.param(values(className=False), ["gateway.className", "false"], id="TG-018-false"),
    pytest.param(values(className=[]), ["gateway.className", "[]"], id="TG-018-list"),
    pytest.param(values(className={"a": 1}), ["gateway.className", '{"a": 1}'], id="TG-018-map"),
    *(
        pytest.param(values(**{key: [42]}), [f"gateway.{key}", "42"], id=f"TG-020-{key}")
        for key in LISTS
    ),
    *(
        pytest.param(
            values(**{key: ["edge-tunnel,sneaky"]}),
            [f"gateway.{key}", "edge-tunnel,sneaky"],
            id=f"TG-021-{key}",
        )
        for key in LISTS
    ),
    *(
        pytest.param(values(**{key: found}), [f"gateway.{key}"], id=f"2.4-{key}-{found!r}")
        for key in LISTS
        for found in NO_LISTS
    ),
    pytest.param(values(enabled="yes"), ["gateway.enabled", '"yes"'], id="14-flag"),
    pytest.param(values(enabled=1), ["gateway.enabled", "1"], id="14-flag-number"),
    pytest.param({"gateway": []}, ["gateway", "must be a map"], id="14-no-map"),
    pytest.param(
        publishing(issuerName=7), ["publishing.certificates.issuerName", "7"], id="14-text"
    ),
]


@pytest.mark.parametrize(("given", "named"), REFUSED)
def test_a_value_is_refused(given: dict[str, Any], named: list[str]) -> None:
    """The whole chart fails, with the key and the value in its message."""
    platform = cluster_of(given)
    told = " ".join(one.finding.message for one in platform.refusals)

    assert {} == platform.cluster
    assert {Verdict.REFUSE} == {one.finding.verdict for one in platform.refusals}
    assert [] == [part for part in named if part not in told]


def test_every_refusal_of_a_run_is_told_once_and_sorted() -> None:
    """A person mends the whole file at once."""
    given = {
        "gateway": {"className": 0, "edgeTerminatedClasses": [1, "a,b"]},
        "publishing": "example.org",
    }

    assert [
        "gateway.className must be a string, not 0",
        "gateway.edgeTerminatedClasses must hold one name an entry, and `a,b` has a comma",
        "gateway.edgeTerminatedClasses must hold strings alone, not 1",
        'publishing must be a map, not "example.org"',
    ] == [one.finding.message for one in cluster_of(given).refusals]


def test_the_config_map_has_the_last_word_on_the_root_host() -> None:
    """Source: 2.1, first row."""
    given = {"publishing": {"host": "example.org"}}

    assert "example.net" == cluster_of(given, "example.net").cluster["root-host"]


@pytest.mark.parametrize(
    ("given", "enabled"),
    [
        pytest.param({}, True, id="TG-024-default"),
        pytest.param(values(http2=False), False, id="TG-024-off"),
    ],
)
def test_http2_is_switched_on_the_cilium_release(given: dict[str, Any], enabled: bool) -> None:
    """And nothing else of its values is touched."""
    others = {"hubble": {"enabled": True}, "gatewayAPI": {"enabled": True}}

    assert {
        "hubble": {"enabled": True},
        "gatewayAPI": {"enabled": True, "enableAlpn": enabled},
    } == cilium_values(given, others)
    assert {"gatewayAPI": {"enableAlpn": enabled}} == cilium_values(given, {})
    assert {"hubble": {"enabled": True}, "gatewayAPI": {"enabled": True}} == others


def test_the_channel_is_a_secret_of_texts() -> None:
    """Every value is read back as a text, `false` among them."""
    cluster = cluster_of({}).cluster
    body = values_secret(cluster)

    assert ("cozy-system", "cozystack-values") == (
        body["metadata"]["namespace"],
        body["metadata"]["name"],
    )
    assert {"_cluster": cluster} == yaml.safe_load(body["stringData"]["values.yaml"])


def test_every_word_is_in_the_reference() -> None:
    """Whoever meets a word in an answer finds what it means. Source: cli.md 4."""
    page = Path(__file__).parent.parent.parent / "docs/reference/gateways.md"
    text = page.read_text(encoding="utf-8")

    assert [] == [word for word, means in MEANINGS.items() if f"| `{word}` | {means} |" not in text]


EDGE_DEFAULT = {"gateway-class-name": "edge-tunnel", "gateway-edge-classes": "edge-tunnel"}
ENABLED = {"gateway-enabled": "true"}
EXPOSED = {"expose-services": "dashboard,cdi-uploadproxy,api"}
REMARKED = [
    pytest.param({}, {}, [], id="nothing"),
    pytest.param(
        {**EDGE_DEFAULT, **ENABLED, **EXPOSED},
        {},
        [("PassthroughUnpublished", "api, cdi-uploadproxy of"), ("", "no tls-api, tls-cdi-upl")],
        id="TG-188",
    ),
    pytest.param({**EDGE_DEFAULT, **EXPOSED}, {}, [], id="TG-188-not-enabled"),
    pytest.param({**EDGE_DEFAULT, **ENABLED}, {}, [], id="TG-188-not-exposed"),
    pytest.param(
        {**ENABLED, **EXPOSED, "gateway-tenant-classes": "e", "gateway-edge-classes": "e"},
        {},
        [],
        id="TG-188-child-tenants-alone",
    ),
    pytest.param(
        ENABLED, {"root_owns": False}, [("RootWithoutGateway", "tenant-root")], id="no-gateway"
    ),
    pytest.param(
        {"gateway-tenant-classes": "edge-tunnel", "gateway-edge-classes": "edge-tunel"},
        {},
        [("EdgeClassUnused", "`edge-tunel`"), ("", "did you mean `edge-tunnel`?")],
        id="9-misspelt",
    ),
    pytest.param(
        {"gateway-edge-classes": "Cilium"},
        {},
        [("EdgeClassUnused", "did you mean `cilium`?")],
        id="9-letters",
    ),
    pytest.param(
        {"gateway-edge-classes": "cilium"},
        {},
        [("EdgeClassTerminates", "clear text")],
        id="9-cilium",
    ),
    pytest.param(
        {"gateway-tenant-classes": "edge-tunnel", "gateway-edge-classes": "edge-tunel"},
        {"installed": {"cilium", "edge-tunnel"}},
        [("GatewayClassNotFound", "gateway.edgeTerminatedClasses names `edge-tunel`")],
        id="9-not-installed",
    ),
    pytest.param(
        {"gateway-tenant-classes": "quite-another"},
        {"installed": {"cilium"}},
        [("GatewayClassNotFound", "gateway.tenantSelectableClasses names `quite-another`")],
        id="9-not-installed-and-nothing-near",
    ),
    pytest.param(EDGE_DEFAULT, {"installed": {"edge-tunnel"}}, [], id="9-all-installed"),
]


@pytest.mark.parametrize(("cluster", "more", "wanted"), REMARKED)
def test_what_renders_and_is_not_meant_is_remarked_on(
    cluster: dict[str, str], more: dict[str, Any], wanted: list[tuple[str, str]]
) -> None:
    """Nothing is stopped by it, and whoever reads it knows what to change."""
    found = remarks(cluster, **more)

    assert {Verdict.PASS} >= {one.verdict for one in found}
    assert sorted({reason for reason, _ in wanted if reason}) == [one.reason for one in found]
    told = " ".join(one.message for one in found)
    assert [] == [part for _, part in wanted if part not in told]
