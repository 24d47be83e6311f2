"""Issuers, tenants, releases and the clean-up: rows TG-060 to TG-074, and TG-196.

Source: tenant-gateway 2.8 to 2.10, 11.4.
"""

from typing import Any

import pytest

from gateway_chain import CLUSTER, cluster, tenant, values
from roadstead.capabilities.gateways.api import ATTACH_LABEL, HOST_LABEL
from roadstead.capabilities.gateways.chain import (
    Tenant,
    cleanup,
    issuers,
    place_all,
    release,
    resolve,
    tenant_of,
)
from roadstead.capabilities.gateways.chain.issuers import solver_for
from roadstead.capabilities.gateways.chain.names import TENANT
from roadstead.deploy.tenants import tenant_rules

INGRESS = {"http01": {"ingress": {"ingressClassName": "tenant-root"}}}
PARENT = {
    "group": "gateway.networking.k8s.io",
    "kind": "Gateway",
    "name": "cozystack",
    "namespace": "tenant-root",
}
PINNED = {"http01": {"gatewayHTTPRoute": {"parentRefs": [{**PARENT, "sectionName": "http"}]}}}
BY_NAME = {"http01": {"gatewayHTTPRoute": {"parentRefs": [PARENT]}}}
ENABLED = {"gateway_enabled": "true"}
CLOUDFLARE = {
    "dns01": {
        "cloudflare": {
            "apiTokenSecretRef": {"name": "cloudflare-api-token-secret", "key": "api-token"}
        }
    }
}
SOLVED = [
    pytest.param(cluster(gateway_enabled="false"), INGRESS, id="TG-060-false"),
    pytest.param(CLUSTER, INGRESS, id="TG-060-unset"),
    pytest.param(cluster(gateway_enabled=""), INGRESS, id="TG-060-empty"),
    pytest.param(cluster(**ENABLED), PINNED, id="TG-061"),
    pytest.param(cluster(solver="dns01", **ENABLED), CLOUDFLARE, id="TG-062"),
    pytest.param(
        cluster(solver="dns01", dns01_provider="route53", dns01_route53_region="eu"),
        {"dns01": {"route53": {"region": "eu"}}},
        id="TG-063-route53",
    ),
    pytest.param(
        cluster(solver="dns01", dns01_provider="digitalocean"),
        {
            "dns01": {
                "digitalocean": {
                    "tokenSecretRef": {
                        "name": "digitalocean-api-token-secret",
                        "key": "access-token",
                    }
                }
            }
        },
        id="TG-063-digitalocean",
    ),
    pytest.param(
        cluster(
            solver="dns01",
            dns01_provider="rfc2136",
            dns01_rfc2136_nameserver="ns",
            dns01_rfc2136_tsig_key_name="k",
            dns01_rfc2136_secret_name="s",
        ),
        {
            "dns01": {
                "rfc2136": {
                    "nameserver": "ns",
                    "tsigKeyName": "k",
                    "tsigAlgorithm": "HMACSHA256",
                    "tsigSecretSecretRef": {"name": "s", "key": "tsig-secret-key"},
                }
            }
        },
        id="TG-063-rfc2136",
    ),
    pytest.param(
        cluster(gateway_class_name="e", gateway_edge_classes="e", **ENABLED), BY_NAME, id="TG-064"
    ),
    pytest.param(
        cluster(gateway_class_name=" e ", gateway_edge_classes="x, e ", **ENABLED),
        BY_NAME,
        id="TG-064-padded",
    ),
    pytest.param(cluster(gateway_edge_classes="e", **ENABLED), PINNED, id="TG-065"),
    pytest.param(
        cluster(gateway_class_name="e", gateway_edge_classes="e"), INGRESS, id="TG-064-not-enabled"
    ),
]


@pytest.mark.parametrize(("given", "solver"), SOLVED)
def test_both_issuers_have_the_one_solver(given: dict[str, str], solver: dict[str, Any]) -> None:
    """Whether it pins a section follows from the platform's default class."""
    made, stops = issuers(given)

    assert () == stops
    assert solver == solver_for(given)
    assert [("letsencrypt-prod", [solver]), ("letsencrypt-stage", [solver])] == [
        (one["spec"]["acme"]["privateKeySecretRef"]["name"], one["spec"]["acme"]["solvers"])
        for one in made[:2]
    ]
    assert [
        "https://acme-v02.api.letsencrypt.org/directory",
        "https://acme-staging-v02.api.letsencrypt.org/directory",
    ] == [one["spec"]["acme"]["server"] for one in made[:2]]
    assert ("selfsigned-cluster-issuer", {"selfSigned": {}}) == (
        made[2]["metadata"]["name"],
        made[2]["spec"],
    )


@pytest.mark.parametrize(
    ("given", "named"),
    [
        pytest.param(
            cluster(solver="dns01", dns01_provider="akamai"), ["akamai"], id="TG-063-unknown"
        ),
        pytest.param(
            cluster(solver="dns01", dns01_provider="route53"),
            ["_cluster.dns01-route53-region"],
            id="TG-063-region",
        ),
        pytest.param(
            cluster(solver="dns01", dns01_provider="rfc2136"),
            ["_cluster.dns01-rfc2136-nameserver"],
            id="2.10-nameserver",
        ),
        pytest.param(
            cluster(gateway_class_name="  "), ["_cluster.gateway-class-name"], id="TG-066"
        ),
        pytest.param(cluster(solver="tls01"), ["_cluster.solver", "tls01"], id="2.10-solver"),
    ],
)
def test_the_issuers_are_refused(given: dict[str, str], named: list[str]) -> None:
    """None of them renders, and each cause is told."""
    made, stops = issuers(given)

    assert () == made
    assert [] == [part for part in named if part not in " ".join(one.message for one in stops)]


PLATFORM = {"publishing": {"host": "example.org"}}


def released(one: Tenant, *, enabled: bool = False) -> bool:
    """Whether a tenant has a release of its own that renders."""
    given = {**PLATFORM, **values(enabled=enabled, tenantSelectableClasses=["x"])}
    rows = {row.place.namespace: row for row in resolve(given, [one]).rows}
    rendered = rows[one.namespace].rendered
    return rendered is not None and rendered.gateway is not None


@pytest.mark.parametrize(
    ("one", "enabled", "owns"),
    [
        pytest.param(tenant("a"), True, False, id="TG-067-unset"),
        pytest.param(
            tenant_of(TENANT.ref("tenant-root", "a"), {"spec": {"gateway": False}}),
            True,
            False,
            id="TG-067-false",
        ),
        pytest.param(tenant("a", host="al.io"), True, False, id="TG-067-custom-host"),
        pytest.param(tenant("a", gateway=True), True, True, id="TG-068-derived"),
        pytest.param(tenant("a", gateway=True, host="al.io"), True, True, id="TG-068-custom"),
        pytest.param(tenant("a", gateway=True), False, True, id="TG-068-not-enabled"),
        pytest.param(tenant("a", chosen="x"), True, False, id="TG-070"),
        pytest.param(tenant("a", chosen="nothing-of-ours"), True, False, id="TG-070-not-judged"),
    ],
)
def test_an_owner_has_a_release(one: Tenant, enabled: bool, owns: bool) -> None:
    """`gateway: true` alone decides."""
    assert owns is released(one, enabled=enabled)


@pytest.mark.parametrize(
    ("chosen", "given"),
    [
        pytest.param("x", {"gatewayClassName": "x"}, id="TG-069-chosen"),
        pytest.param("", None, id="TG-069-none"),
    ],
)
def test_a_release_carries_the_tenants_class(chosen: str, given: dict[str, str] | None) -> None:
    """No key at all where the tenant chose nothing, so that the platform's default applies."""
    assert given == release("tenant-a", chosen)["spec"].get("values")


def test_a_release_is_tried_again_and_never_forced() -> None:
    """TG-071: a reinstall would throw the ACME account away."""
    body = release("tenant-a")
    spec = body["spec"]
    tries = {
        "strategy": {"name": "RetryOnFailure", "retryInterval": "30s"},
        "remediation": {"retries": -1},
    }

    assert ("gateway", "tenant-a") == (body["metadata"]["name"], body["metadata"]["namespace"])
    assert {
        "kind": "ExternalArtifact",
        "name": "cozystack-gateway-application-default-gateway",
        "namespace": "cozy-system",
    } == spec["chartRef"]
    assert [{"kind": "Secret", "name": "cozystack-values"}] == spec["valuesFrom"]
    assert (tries, tries) == (spec["install"], spec["upgrade"])


OWNERS = [
    pytest.param(
        {"gateway-enabled": "true", "root-host": "example.org"},
        [
            tenant("root", gateway=True),
            tenant("a"),
            tenant("a/b", gateway=True),
            tenant("a/b/c"),
        ],
        {
            "tenant-root": "tenant-root",
            "tenant-a": "tenant-root",
            "tenant-a-b": "tenant-a-b",
            "tenant-a-b-c": "tenant-a-b",
        },
        id="TG-072",
    ),
    pytest.param(
        {"gateway-enabled": "false", "root-host": "example.org"},
        [tenant("root", gateway=True), tenant("a"), tenant("b", gateway=True), tenant("b/c")],
        {"tenant-root": "", "tenant-a": "", "tenant-b": "tenant-b", "tenant-b-c": "tenant-b"},
        id="2.8-nobody-up-the-chain",
    ),
]


@pytest.mark.parametrize(("given", "tenants", "owners"), OWNERS)
def test_a_tenant_publishes_through_the_nearest_owner(
    given: dict[str, str], tenants: list[Tenant], owners: dict[str, str]
) -> None:
    """At any depth, whatever the order of the files; an empty label is no label."""
    for order in (tenants, tenants[::-1]):
        places, problems = place_all(order, given)

        assert () == problems
        assert owners == {one.namespace: one.values["gateway"] for one in places}
        assert {space for space, owner in owners.items() if owner} == {
            one.namespace for one in places if ATTACH_LABEL in one.labels
        }


@pytest.mark.parametrize(
    ("root_host", "one", "host"),
    [
        pytest.param("example.org", tenant("alice"), "alice.example.org", id="TG-073-derived"),
        pytest.param("example.org", tenant("alice", host="al.io"), "al.io", id="TG-073-own"),
        pytest.param("", tenant("alice"), "", id="2.8-no-host-above"),
    ],
)
def test_a_tenants_domain(root_host: str, one: Tenant, host: str) -> None:
    """Its own, or its name below that of the tenant above it."""
    places, _ = place_all([one], {"root-host": root_host})
    found = {place.namespace: place for place in places}["tenant-alice"]

    assert host == found.values["host"]
    assert ({HOST_LABEL: host} if host else {}) == found.labels


def test_a_domain_goes_on_below_a_tenant_with_its_own() -> None:
    """TG-073, one step further down."""
    places, _ = place_all(
        [tenant("alice", host="al.io"), tenant("alice/shop")], {"root-host": "example.org"}
    )

    assert "shop.al.io" == {one.namespace: one.host for one in places}["tenant-alice-shop"]


def test_a_tenant_that_has_no_place_is_refused() -> None:
    """The rest of the chain stands; each problem is told, sorted."""
    places, problems = place_all(
        [tenant("a"), tenant("a/b"), tenant("a-b"), tenant("gone/x")], {"root-host": "o.org"}
    )

    assert ["tenant-a", "tenant-a-b", "tenant-root"] == [one.namespace for one in places]
    shared, gone = sorted(one.message for one in problems)
    assert shared.startswith(
        "Tenant tenant-root/a-b would share the namespace tenant-a-b with Tenant tenant-a/b: "
    )
    assert gone.startswith(
        "no tenant of these files has the namespace tenant-gone of Tenant tenant-gone/x: "
    )


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        pytest.param({"gateway": "false"}, ["tenant.spec.gateway", '"false"'], id="14-text"),
        pytest.param({"gateway": 1}, ["tenant.spec.gateway", "1"], id="14-number"),
        pytest.param({"gatewayClass": 0}, ["tenant.spec.gatewayClass", "0"], id="14-zero"),
        pytest.param({"host": []}, ["tenant.spec.host", "[]"], id="14-list"),
        pytest.param([], ["tenant.spec", "[]"], id="14-spec"),
    ],
)
def test_a_tenants_types_are_judged_before_their_truth(spec: Any, named: list[str]) -> None:
    """`"false"` is true in Python, and owns no Gateway."""
    one = tenant_of(TENANT.ref("tenant-root", "a"), {"spec": spec})
    chain = resolve(PLATFORM, [one])
    row = {row.place.namespace: row for row in chain.rows}["tenant-a"]

    assert row.refused
    assert [] == [part for part in named if part not in " ".join(f.message for f in chain.refused)]


def test_the_clean_up_removes_the_account_and_can_do_nothing_else() -> None:
    """TG-074."""
    account, role, binding, job = cleanup("tenant-a", "gateway")
    pod = job["spec"]["template"]
    (container,) = pod["spec"]["containers"]

    assert [
        ("ServiceAccount", "gateway-cleanup"),
        ("Role", "gateway-cleanup"),
        ("RoleBinding", "gateway-cleanup"),
        ("Job", "gateway-cleanup"),
    ] == [(one["kind"], one["metadata"]["name"]) for one in (account, role, binding, job)]
    assert {"post-delete"} == {
        one["metadata"]["annotations"]["helm.sh/hook"] for one in (account, role, binding, job)
    }
    (rule,) = role["rules"]
    assert (["secrets"], ["cozystack-acme-account"]) == (rule["resources"], rule["resourceNames"])
    assert "cozystack-acme-account" in container["command"]
    assert {"policy.cozystack.io/allow-to-apiserver": "true"} == pod["metadata"]["labels"]
    assert (True, 65534) == (
        pod["spec"]["securityContext"]["runAsNonRoot"],
        pod["spec"]["securityContext"]["runAsUser"],
    )
    assert {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    } == container["securityContext"]


def test_no_tenant_role_may_change_a_namespace() -> None:
    """TG-196: so nobody stamps the attach label onto a namespace of theirs."""
    touched = {
        resource
        for rules in tenant_rules().values()
        for rule in rules
        for resource in rule["resources"]
    }

    assert not touched & {"namespaces", "*"}


def test_the_rows_say_where_tls_ends_and_why() -> None:
    """What `roadstead gateways resolve` prints."""
    given = {
        **PLATFORM,
        **values(enabled=True, tenantSelectableClasses=["e"], edgeTerminatedClasses=["e"]),
    }
    tenants = [
        tenant("root", gateway=True),
        tenant("a", gateway=True, chosen="e"),
        tenant("a/b", chosen="cilium"),
        tenant("c", gateway=True, chosen="internal"),
        tenant("c/d"),
        tenant("f"),
    ]
    chain = resolve(given, tenants)

    assert {
        "tenant-root": ("cilium", "http01", "gateway"),
        "tenant-a": ("e", "edge", "edge"),
        "tenant-a-b": ("e", "edge", "edge"),
        "tenant-c": ("internal", "", ""),
        "tenant-c-d": ("", "", ""),
        "tenant-f": ("cilium", "http01", "gateway"),
    } == {row.place.namespace: (row.gateway_class, row.mode, row.tls_ends) for row in chain.rows}
    why = {row.place.namespace: row.why for row in chain.rows}
    assert "its own choice; e is in gateway.edgeTerminatedClasses" == why["tenant-a"]
    assert "inherits from tenant-a; its gatewayClass has no effect" == why["tenant-a-b"]
    assert "inherits from tenant-c, whose release is refused" == why["tenant-c-d"]
    assert ["chosen-class-is-allowed"] == [one.rule for one in chain.refused]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(
            values(enabled=True),
            "publishes through tenant-root, whose tenant has no Gateway",
            id="root-asks-for-none",
        ),
        pytest.param(
            values(enabled=False), "neither it nor a tenant above it owns a Gateway", id="nobody"
        ),
    ],
)
def test_a_tenant_without_any_gateway(given: dict[str, Any], why: str) -> None:
    """It has no class and no mode, and the row says what is missing."""
    row = {one.place.namespace: one for one in resolve(given, [tenant("a")]).rows}["tenant-a"]

    assert (why, "", False) == (row.why, row.mode, row.refused)


def test_values_that_are_refused_leave_no_row() -> None:
    """What every tenant would land on is not known then."""
    chain = resolve(values(className=0), [tenant("a", gateway=True)])

    assert ((), ()) == (chain.rows, chain.issuers)
    assert ["PlatformValuesRefused"] == [one.reason for one in chain.refused]
