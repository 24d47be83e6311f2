"""What is installed: each account's rights as its contract lists them, and the tenants' rules."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import yaml

from certificates import CERT1
from cli_command import run
from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.capabilities.lineage.webhook import LINEAGE as WEBHOOK
from roadstead.deploy import cel, owners
from roadstead.deploy.account_policies import GUARDS, HEADER, account_policies
from roadstead.deploy.admission import INJECT, registration, service
from roadstead.deploy.rbac import (
    ACCOUNTS,
    ANCHORS,
    ATTACHMENTS,
    LINEAGE,
    REFRESHER,
    Account,
    rbac,
)
from roadstead.deploy.shipped import files_of
from roadstead.deploy.tenants import tenant_roles, tenant_rules, tenant_tiers
from roadstead.kube.refs import EVENT
from roadstead.kube.selectors import LabelSelector

GROUP = "local.sdn.cozystack.io"
VIEW = {"get", "list", "watch"}
SEEN = {"list", "watch"}
"""Of what is read from views alone: the contracts list `get` as well, and nothing uses it."""
OWN = SEEN | {"create", "update", "delete"}
OF_GATEWAYS = {
    "tenantgateways.gateway.cozystack.io": SEEN,
    "tenantgateways/status.gateway.cozystack.io": {"update"},
    "tenantgateways/finalizers.gateway.cozystack.io": {"update"},
    "gateways.gateway.networking.k8s.io": SEEN | {"create", "update"},
    "httproutes.gateway.networking.k8s.io": OWN,
    "tlsroutes.gateway.networking.k8s.io": SEEN,
    "gatewayclasses.gateway.networking.k8s.io": SEEN,
    "httproutes/status.gateway.networking.k8s.io": {"update"},
    "tlsroutes/status.gateway.networking.k8s.io": {"update"},
    "referencegrants.gateway.networking.k8s.io": SEEN,
    "certificates.cert-manager.io": OWN,
    "issuers.cert-manager.io": OWN,
    "namespaces": SEEN | {"patch"},
}
"""What of tenant-gateway 10b is used, the grants that its sections 4.2 and 6 have read, and the
finalizers that OwnerReferencesPermissionEnforcement asks for. No Secret is read."""
OWN_PARTS = {"status", "finalizers"}
LEADS = {"leases.coordination.k8s.io": {"get", "create", "update"}}


def may(rules: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Verbs by `resource.group`, of RBAC rules."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name = f"{resource}.{group}" if group else resource
                found.setdefault(name, set()).update(rule["verbs"])
    return found


def granted(account: Account, role: str) -> dict[str, set[str]]:
    """What the documents of one account give it, in every namespace or in its own."""
    (body,) = (
        b
        for b in rbac("home", [account])
        if (b["kind"], b["metadata"]["name"]) == (role, account.name)
    )
    assert body["metadata"].get("namespace") == ("home" if role == "Role" else None)
    return may(body["rules"])


def test_the_anchors_may_do_what_the_contract_lists_and_no_more() -> None:
    """What of the list is used, and nothing beside it.

    Source: trust-anchors 10 and wildcard-secrets 10, which share one account.
    """
    assert {
        "secrets": VIEW | {"create", "update", "delete"},
        "events": {"create", "patch"},
        "namespaces": SEEN,
        "tenantgateways.gateway.cozystack.io": SEEN,
        "helmreleases.helm.toolkit.fluxcd.io": SEEN,
        "applicationdefinitions.cozystack.io": SEEN,
    } == granted(ANCHORS, "ClusterRole")
    assert LEADS == granted(ANCHORS, "Role")


def test_the_attachments_may_do_what_the_contract_lists_and_no_more() -> None:
    """Source: endpoint-attachments 8.1, with what an install without the platform needs. T78.

    Neither update nor patch on claims: what somebody else has made cannot be written to. `delete`
    on attachments is beyond the list: OwnerReferencesPermissionEnforcement asks for it.
    """
    assert {
        "services": VIEW | {"create", "update", "delete"},
        f"endpointattachments.{GROUP}": VIEW | {"patch", "delete"},
        f"endpointattachments/status.{GROUP}": {"update"},
        f"endpointattachments/finalizers.{GROUP}": {"update"},
        f"ipaddressclaims.{GROUP}": VIEW | {"create", "delete"},
        f"ipaddresses.{GROUP}": VIEW,
        f"ipaddressclasses.{GROUP}": VIEW,
        "endpointslices.discovery.k8s.io": SEEN,
        "helmreleases.helm.toolkit.fluxcd.io": SEEN,
        "events": {"create", "patch"},
        **OF_GATEWAYS,
    } == granted(ATTACHMENTS, "ClusterRole")
    assert LEADS == granted(ATTACHMENTS, "Role")


OWNED = {
    "applicationdefinitions.cozystack.io": SEEN,
    "helmreleases.helm.toolkit.fluxcd.io": SEEN,
}


def test_the_webhook_may_do_what_the_contract_lists_and_no_more() -> None:
    """Source: lineage 10. No Secret is read or watched, and nothing is written."""
    assert {
        **OWNED,
        "namespaces": SEEN,
        "schedulingclasses.cozystack.io": {"get"},
    } == granted(LINEAGE, "ClusterRole")
    assert not LINEAGE.home


def test_the_refresher_may_do_what_the_contract_lists_and_no_more() -> None:
    """Source: lineage 10. It creates and deletes nothing."""
    assert {
        **OWNED,
        "secrets": {"list", "patch"},
        "services": {"list", "patch"},
        "ingresses.networking.k8s.io": {"list", "patch"},
    } == granted(REFRESHER, "ClusterRole")
    assert LEADS == granted(REFRESHER, "Role")


def test_owners_are_read_and_never_secrets() -> None:
    """Whoever may get a Secret may read its value. Source: lineage 10."""
    rules = may(owners.owner_rules())

    assert {"get"} == set().union(*rules.values())
    assert "secrets" not in rules
    assert not any("*" in name for name in rules)


def test_our_own_namespace_is_out_of_the_webhooks_reach() -> None:
    """Its Pods must start while it is away. Source: lineage 3."""
    (space,) = (body for body in rbac("home") if body["kind"] == "Namespace")

    assert not LabelSelector.parse(WEBHOOK.namespaces).matches(space["metadata"]["labels"])


def test_the_registration_is_the_contracts() -> None:
    """A cluster may switch from upstream's webhook without a label changing. Source: lineage 3."""
    body = registration("cozy-system")
    (webhook,) = body["webhooks"]

    assert ("lineage", "lineage.cozystack.io") == (body["metadata"]["name"], webhook["name"])
    assert {
        "name": "lineage-controller-webhook",
        "namespace": "cozy-system",
        "path": "/mutate-lineage",
        "port": 443,
    } == webhook["clientConfig"]["service"]
    assert "cozy-system/lineage-controller-webhook" == body["metadata"]["annotations"][INJECT]
    assert [
        ([""], ["v1"], ["pods", "secrets", "services", "persistentvolumeclaims"]),
        (["networking.k8s.io"], ["v1"], ["ingresses"]),
        (["cozystack.io"], ["v1alpha1"], ["workloadmonitors"]),
    ] == [(one["apiGroups"], one["apiVersions"], one["resources"]) for one in webhook["rules"]]
    assert [["CREATE", "UPDATE"]] * 3 == [one["operations"] for one in webhook["rules"]]
    assert (["v1"], "None", "Fail", 10) == (
        webhook["admissionReviewVersions"],
        webhook["sideEffects"],
        webhook["failurePolicy"],
        webhook["timeoutSeconds"],
    )
    (port,) = service("cozy-system")["spec"]["ports"]
    assert (443, 9443) == (port["port"], port["targetPort"])


def test_every_capability_has_one_account() -> None:
    """A capability that nobody may run would be refused at its first list."""
    named = sorted(name for one in ACCOUNTS for name in one.capabilities)

    assert sorted((*CONTROLLERS, *ADMISSIONS)) == named


@pytest.mark.parametrize("account", ACCOUNTS, ids=[one.name for one in ACCOUNTS])
def test_an_account_stands_alone(account: Account) -> None:
    """Its roles are bound to it and to nobody else, in the namespace that was asked for."""
    bodies = rbac("home", [account])

    assert [
        "Namespace",
        *(("ClusterRole",) * 2 if account.owners else ()),
        *("ServiceAccount", "ClusterRole", "ClusterRoleBinding"),
        *(("ClusterRoleBinding",) if account.owners else ()),
        *(("Role", "RoleBinding") if account.home else ()),
    ] == [body["kind"] for body in bodies]
    shared = {owners.AGGREGATED, owners.DEFAULT, f"{account.name}-owners"}
    assert {account.name} == {body["metadata"]["name"] for body in bodies[1:]} - shared
    subjects = [one for body in bodies for one in body.get("subjects", ())]
    assert {("ServiceAccount", account.name, "home")} == {
        (one["kind"], one["name"], one["namespace"]) for one in subjects
    }


@pytest.mark.parametrize("account", ACCOUNTS, ids=[one.name for one in ACCOUNTS])
def test_no_right_is_granted_by_a_star_or_twice(account: Account) -> None:
    """Each verb on each resource is stated once, says what it is for, and explains only itself."""
    rights = (*account.cluster, *account.home)

    assert len(rights) == len({(right.kind, right.part) for right in rights})
    assert [] == [right for right in rights if "*" in f"{right.resource}{right.verbs}"]
    assert [] == [right for right in rights if not right.why]
    assert [] == [right for right in rights if not set(right.idle) <= set(right.verbs)]


def test_attachments_and_anchors_share_no_write() -> None:
    """Whoever takes over the one account cannot do the other's harm."""
    reads = VIEW
    first, second = (
        {(name, verb) for name, verbs in granted(one, "ClusterRole").items() for verb in verbs}
        for one in (ANCHORS, ATTACHMENTS)
    )

    assert {"events"} == {name for name, verb in first & second if verb not in reads}


def test_tenants_write_attachments_and_never_their_status() -> None:
    """T78: three roles, one rule each, on the objects alone. Source: endpoint-attachments 8.2."""
    resource = f"endpointattachments.{GROUP}"

    assert {
        "cozy:tenant:base": {resource: {"*"}},
        "cozy:tenant:view:base": {resource: VIEW},
        "cozy:tenant:admin:base": {resource: {"create", "update", "patch", "delete"}},
    } == {role: may(rules) for role, rules in tenant_rules().items()}
    assert tenant_rules() == {one["metadata"]["name"]: one["rules"] for one in tenant_roles()}


def test_a_tier_is_taken_up_by_the_platform_and_by_kubernetes() -> None:
    """By the labels that both select; the rules on attachments are those of the platform's roles.

    The labels are those of the platform's chart `cozystack-basics`.
    """
    resource, secrets = f"endpointattachments.{GROUP}", "tenantsecrets.core.cozystack.io"
    platform, builtin = "rbac.cozystack.io/aggregate-to-", "rbac.authorization.k8s.io/aggregate-to-"

    assert {
        "roadstead:tenant": ({f"{platform}tenant"}, {resource: {"*"}, secrets: VIEW}),
        "roadstead:tenant:view": (
            {f"{platform}tenant-view", f"{builtin}view"},
            {resource: VIEW},
        ),
        "roadstead:tenant:use": ({f"{platform}tenant-use", f"{builtin}edit"}, {secrets: VIEW}),
        "roadstead:tenant:admin": (
            {f"{platform}tenant-admin", f"{builtin}admin"},
            {resource: {"create", "update", "patch", "delete"}},
        ),
    } == {
        one["metadata"]["name"]: (
            {key for key in one["metadata"]["labels"] if "aggregate-to" in key},
            may(one["rules"]),
        )
        for one in tenant_tiers()
    }


def test_the_file_for_tenants_says_that_it_is_to_be_merged() -> None:
    """Applied as it stands it would take the platform's other rules away."""
    (text,) = files_of("tenant-roles").values()

    assert text.startswith("# Merge")
    assert list(tenant_roles()) == list(yaml.safe_load_all(text))


def test_one_account_is_printed_alone() -> None:
    """A cluster that runs one process installs one account."""
    printed = run("manifests", "rbac", "--account", ATTACHMENTS.name).out

    assert list(rbac(accounts=[ATTACHMENTS])) == list(yaml.safe_load_all(printed))
    assert ANCHORS.name not in printed


@pytest.mark.parametrize(
    ("name", "hint"),
    [("roadstead-anchor", f"did you mean `{ANCHORS.name}`?"), ("x", ATTACHMENTS.name)],
)
def test_an_account_that_does_not_exist_is_named(name: str, hint: str) -> None:
    """With the one that was meant, or those that do."""
    ran = run("manifests", "rbac", "--account", name)

    assert (2, "") == (ran.code, ran.out)
    assert f"there is no account `{name}`" in ran.err
    assert hint in ran.err


def test_the_policies_are_about_accounts_in_the_namespace_asked_for() -> None:
    """Closed by default, without parameters, each for one account."""
    bodies = account_policies("home")
    users = {f"system:serviceaccount:home:{one.name}" for one in ACCOUNTS}

    for policy in (one for one in bodies if one["kind"] == "ValidatingAdmissionPolicy"):
        assert "Fail" == policy["spec"]["failurePolicy"]
        assert "paramKind" not in policy["spec"]
        (condition,) = policy["spec"]["matchConditions"]
        assert any(condition["expression"].endswith(f"== '{user}'") for user in users)
    bindings = [one for one in bodies if one["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert [["Deny"]] * len(GUARDS) == [one["spec"]["validationActions"] for one in bindings]
    assert {guard.policy for guard in GUARDS} == {one["spec"]["policyName"] for one in bindings}


def test_the_certificate_and_the_key_are_known_within_base64() -> None:
    """What the anchors' policy looks for, wherever in a group of three bytes it begins."""
    for before in range(6):
        for after in range(6):
            packed = b64encode(b"x" * before + b"PRIVATE KEY" + b"y" * after).decode()
            assert 1 == sum(one in packed for one in cel.spellings("PRIVATE KEY"))
    assert not any(one in b64encode(CERT1).decode() for one in cel.spellings("PRIVATE KEY"))
    assert 0 == len(HEADER) % 3
    assert b64encode(CERT1).startswith(b64encode(HEADER.encode()))


@pytest.mark.parametrize("account", ACCOUNTS, ids=[one.name for one in ACCOUNTS])
def test_every_right_to_write_is_under_a_policy(account: Account) -> None:
    """But for what a policy could not narrow: our own statuses, events, and the lease at home."""
    writes = {
        right.resource
        for right in account.cluster
        if set(right.verbs) - {"get", "list", "watch"} and right.kind != EVENT
    }
    judged = {
        f"{kind.plural}/{part}" if part else kind.plural
        for guard in GUARDS
        if guard.account == account
        for kind, part in guard.resources
    }

    assert {one for one in writes - judged if one.partition("/")[2] not in OWN_PARTS} == set()
