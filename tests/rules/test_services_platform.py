"""The platform file: its schema, what its fields say together, and what services need of it."""

from typing import Any

import pytest

from roadstead.capabilities.services.api.findings import Finding, in_order
from roadstead.capabilities.services.reading.platform import PlatformRead, read_platform
from roadstead.capabilities.services.reading.texts import Text
from roadstead.kube.documents import dump
from roadstead.sim.merge import merged
from services_base import BASE, errors, findings

LEAST = "name: home\ndomain: home.example.net\ngateway: {name: shared, namespace: gateway-system}\n"


def read(text: str) -> PlatformRead:
    """A platform file as it is written."""
    return read_platform(Text("platform.yaml", text.encode()))


def changed(change: dict[str, Any]) -> tuple[Finding, ...]:
    """What is found in the example's platform file after a change."""
    return in_order(read(dump([merged(BASE.platform, change)])).findings)


def test_the_least_platform_has_every_default_of_the_table() -> None:
    """Section 2."""
    platform = read(LEAST).platform

    assert platform is not None
    assert ("cluster.local", ("IPv4",)) == (
        platform.cluster.dns_domain,
        platform.cluster.ip_families,
    )
    assert ("GitRepository", "flux-system") == (
        platform.flux.source_ref.kind,
        platform.flux.source_ref.name,
    )
    assert ("10m", "2m", "15m", "./rendered", "svc-") == (
        platform.flux.interval,
        platform.flux.retry_interval,
        platform.flux.timeout,
        platform.flux.output_path,
        platform.flux.kustomization_prefix,
    )
    assert ("https", "", "cilium") == (
        platform.gateway.https_listener,
        platform.gateway.public_listener,
        platform.gateway.dataplane,
    )
    assert ("roadstead.dev/routable", "true") == (
        platform.gateway.namespace_label.key,
        platform.gateway.namespace_label.value,
    )
    assert ("kube-system", {"k8s-app": "kube-dns"}, 53, False) == (
        platform.network.resolver.namespace,
        platform.network.resolver.pod_labels,
        platform.network.resolver.port,
        platform.network.resolver.l7,
    )
    assert ("jackett", "qbittorrent", "radarr", "sonarr") == platform.egress.vpn.required_for
    assert ("fc00::/7", "fe80::/10") == platform.egress.except_v6
    assert "${BULK_NFS_SERVER}" == platform.storage.bulk_server
    assert ("nfsvers=4.1", "hard", "noatime", "timeo=600", "retrans=2") == (
        platform.storage.mount_options
    )
    assert "automation@home.example.net" == platform.update.author_email
    assert {"requests": {"cpu": "50m", "memory": "128Mi"}} == platform.default_resources


def test_the_prefix_is_in_the_labels_that_follow_from_it() -> None:
    """`labelPrefix` is the one place of the prefix."""
    platform = read(f"{LEAST}labelPrefix: acme.example\n").platform

    assert platform is not None
    assert "acme.example/routable" == platform.gateway.namespace_label.key
    assert "acme.example/exposure" == platform.dns.public_label.key


@pytest.mark.parametrize(
    ("change", "expected", "says"),
    [
        pytest.param({"gatway": {}}, ["S-01"], "`gateway`", id="misspelt"),
        pytest.param({"domain": None}, ["S-03"], "`domain`", id="no domain"),
        pytest.param({"gateway": {"namespace": None}}, ["S-03"], "namespace", id="no namespace"),
        pytest.param({"domain": "Home.example"}, ["S-04"], "lower case", id="domain"),
        pytest.param({"cluster": {"ipFamilies": ["IPv5"]}}, ["S-05"], "IPv6", id="family"),
        pytest.param({"flux": {"timeout": "10m"}}, ["S-06"], "healthTimeout", id="timeout"),
        pytest.param({"flux": {"outputPath": "../x"}}, ["S-04"], "normalised", id="output path"),
        pytest.param({"flux": {"outputPath": "rendered/"}}, ["S-04"], "", id="trailing slash"),
        pytest.param({"gateway": {"dataplane": "pods"}}, ["S-03"], "podLabels", id="pods"),
        pytest.param(
            {"gateway": {"podLabels": {"app": "envoy"}}}, ["S-04"], "dataplane: pods", id="labels"
        ),
        pytest.param(
            {"identity": {"forwardAuth": {"mode": "envoy-gateway"}}},
            ["S-05"],
            "dataplane: pods",
            id="envoy gateway without its pods",
        ),
        pytest.param({"egress": {"vpn": {"egressIP": "10.0.0.1"}}}, ["S-04"], "both", id="both"),
        pytest.param({"egress": {"vpn": {"interface": None}}}, ["S-04"], "exactly", id="neither"),
        pytest.param({"egress": {"vpn": {"nodeSelector": None}}}, ["S-03"], "", id="no node"),
        pytest.param({"egress": {"vpn": {"mode": "proxy"}}}, ["S-03"], "proxy", id="no proxy"),
        pytest.param({"backup": {"defaultSchedule": None}}, ["S-03"], "", id="no default"),
        pytest.param(
            {"backup": {"defaultSchedule": "daily-offsite"}},
            ["P-BAK-01"],
            "daily-offcluster",
            id="default schedule",
        ),
        pytest.param(
            {"backup": {"schedules": {"daily-offcluster": {"cron": "H 25 * * *"}}}},
            ["S-04"],
            "cron",
            id="hour 25",
        ),
        pytest.param(
            {"backup": {"schedules": {"daily-offcluster": {"cron": "0 3 * *"}}}},
            ["S-04"],
            "cron",
            id="four fields",
        ),
        pytest.param(
            {
                "backup": {
                    "schedules": {"reacquirable": {"cron": "0 3 * * *", "ttl": "1h", "retain": 1}}
                }
            },
            ["S-04"],
            "no schedule",
            id="a schedule of that name",
        ),
        pytest.param(
            {"identity": {"provider": "realm-import"}}, ["S-05"], "edp", id="refused provider"
        ),
        pytest.param(
            {"vmTemplates": {"debian-12": {"source": {"registry": {"url": "docker://x"}}}}},
            ["S-04"],
            "exactly one",
            id="two sources",
        ),
        pytest.param(
            {"storage": {"bulk": {"server": "a b"}}}, ["S-04"], "variable", id="bulk server"
        ),
        pytest.param(
            {"storage": {"bulk": {"mountOptions": ["hard", "${X}"]}}}, ["S-04"], "", id="option"
        ),
        pytest.param(
            {"waivers": [{"check": "I-6", "service": "*", "reason": "all of them, always"}]},
            ["S-04"],
            "service",
            id="waiver for all",
        ),
        pytest.param(
            {"waivers": [{"check": "I-6", "service": "gitea", "reason": "because"}]},
            ["S-04"],
            "10 characters",
            id="waiver without a reason",
        ),
        pytest.param(
            {"dns": {"publicGuardPrefixes": ["external-dns.alpha.kubernetes.io"]}},
            ["S-04"],
            "slash",
            id="prefix without slash",
        ),
        pytest.param({"schemaVersion": "2.0.0"}, ["S-10"], "2.0.0", id="newer"),
        pytest.param({"gateway": {"httpsListener": ""}}, [], "", id="listeners after hostnames"),
        pytest.param({"storage": {"bulk": {"server": "10.0.0.9"}}}, [], "", id="literal server"),
    ],
)
def test_what_is_wrong_with_the_platform_is_told(
    change: dict[str, Any], expected: list[str], says: str
) -> None:
    """One change, one finding, in words."""
    found = changed(change)

    assert expected == [one.id for one in found]
    assert all(one.service == "platform" for one in found)
    assert any(says in f"{one.message} {one.hint}" for one in found) or not says


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ({"identity": {"realm": None}}, "identity.realm"),
        ({"identity": {"realmRef": None}}, "identity.realmRef"),
        ({"identity": {"issuerURL": None}}, "identity.issuerURL"),
        ({"identity": {"podLabels": None}}, "identity.podLabels"),
        ({"identity": {"port": None}}, "identity.port"),
        ({"egress": {"vpn": None}}, "egress.vpn.nodeSelector"),
    ],
)
def test_a_setting_is_required_as_soon_as_a_service_needs_it(
    change: dict[str, Any], setting: str
) -> None:
    """Section 2: `R when any service uses oidc or forward-auth`; the VPN's node likewise."""
    found = [one for one in findings(platform=change) if one.id == "S-03"]

    assert [f"`{setting}`"] == [one.message.split()[0] for one in found]
    assert "since" in found[0].message


def test_no_setting_is_required_that_no_service_needs() -> None:
    """A platform without logins and without VPN needs neither Keycloak nor a tunnel."""
    found = findings(
        platform={"identity": None, "egress": None},
        change={
            "qbittorrent": {"egress": "internet", "auth": {"mode": "none"}, "name": "torrent"},
            "wiki": {"auth": {"mode": "none", "groups": None}},
        },
    )

    assert [] == errors(found)


def test_a_broken_platform_keeps_no_definition_from_being_looked_at() -> None:
    """All problems of all files in one run."""
    found = findings(platform={"gatway": {}}, change={"wiki": {"exposure": "inside"}})

    assert {"S-01", "S-05"} == {one.id for one in found}
