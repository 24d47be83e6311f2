"""What is installed: each account's rights as its contract lists them, and the tenants' rules."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import yaml

from cli_command import run
from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.capabilities.lineage.webhook import LINEAGE as WEBHOOK
from roadstead.deploy import owners
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
from roadstead.deploy.tenants import tenant_roles, tenant_rules
from roadstead.kube.selectors import LabelSelector

GROUP = "local.sdn.cozystack.io"
VIEW = {"get", "list", "watch"}
OWN = VIEW | {"create", "update", "delete"}
OF_GATEWAYS = {
    "tenantgateways.gateway.cozystack.io": VIEW,
    "tenantgateways/status.gateway.cozystack.io": {"get", "update"},
    "tenantgateways/finalizers.gateway.cozystack.io": {"update"},
    "gateways.gateway.networking.k8s.io": OWN,
    "httproutes.gateway.networking.k8s.io": OWN,
    "tlsroutes.gateway.networking.k8s.io": VIEW,
    "gatewayclasses.gateway.networking.k8s.io": VIEW,
    "httproutes/status.gateway.networking.k8s.io": {"get", "update"},
    "tlsroutes/status.gateway.networking.k8s.io": {"get", "update"},
    "referencegrants.gateway.networking.k8s.io": VIEW,
    "certificates.cert-manager.io": OWN,
    "issuers.cert-manager.io": OWN,
    "namespaces": VIEW | {"patch"},
}
"""Tenant-gateway 10b, the grants that its sections 4.2 and 6 have read, and the finalizers that
OwnerReferencesPermissionEnforcement asks for. No Secret is read."""
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
    """Source: trust-anchors 10 and wildcard-secrets 10, which share one account."""
    assert {
        "secrets": VIEW | {"create", "update", "delete"},
        "events": {"create", "patch"},
        "namespaces": VIEW,
        "tenantgateways.gateway.cozystack.io": VIEW,
        "helmreleases.helm.toolkit.fluxcd.io": VIEW,
        "applicationdefinitions.cozystack.io": VIEW,
    } == granted(ANCHORS, "ClusterRole")
    assert LEADS == granted(ANCHORS, "Role")


def test_the_attachments_may_do_what_the_contract_lists_and_no_more() -> None:
    """Source: endpoint-attachments 8.1, with what an install without the platform needs. T78.

    Neither update nor patch on claims: what somebody else has made cannot be written to. `delete`
    on attachments is beyond the list: OwnerReferencesPermissionEnforcement asks for it.
    """
    write = {"get", "update", "patch"}

    assert {
        "services": VIEW | {"create", "update", "patch", "delete"},
        f"endpointattachments.{GROUP}": VIEW | {"update", "patch", "delete"},
        f"endpointattachments/status.{GROUP}": write,
        f"endpointattachments/finalizers.{GROUP}": write,
        f"ipaddressclaims.{GROUP}": VIEW | {"create", "delete"},
        f"ipaddresses.{GROUP}": VIEW,
        f"ipaddressclasses.{GROUP}": VIEW,
        "endpointslices.discovery.k8s.io": VIEW,
        "helmreleases.helm.toolkit.fluxcd.io": VIEW,
        "events": {"create", "patch"},
        **OF_GATEWAYS,
    } == granted(ATTACHMENTS, "ClusterRole")
    assert LEADS == granted(ATTACHMENTS, "Role")


OWNED = {
    "applicationdefinitions.cozystack.io": {"list", "watch"},
    "helmreleases.helm.toolkit.fluxcd.io": {"list", "watch"},
}


def test_the_webhook_may_do_what_the_contract_lists_and_no_more() -> None:
    """Source: lineage 10. No Secret is read or watched, and nothing is written."""
    assert {
        **OWNED,
        "namespaces": {"list", "watch"},
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


def test_an_account_that_does_not_exist_is_named() -> None:
    """With those that do."""
    ran = run("manifests", "rbac", "--account", "roadstead-anchor")

    assert (2, "") == (ran.code, ran.out)
    assert "there is no account `roadstead-anchor`" in ran.err
    assert ATTACHMENTS.name in ran.err
