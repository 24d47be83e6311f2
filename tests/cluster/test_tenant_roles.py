"""What a tenant's accounts, viewers, users and admins may do, asked of the API server itself.

The table is written by hand from the contracts, and not computed from the rules: who changes a
rule changes the table as well. Source: issue 7, point 2; endpoint-attachments 8.2 and T78; lineage
8; trust-anchors 10; wildcard-secrets 10; tenant-gateway TG-196.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from account_rows import SPECS, body, merged
from live_accounts import As, minimal
from live_admin import Admin, wait_for
from live_cluster import ROLE, Cluster
from live_run import kind_of, logged_in
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.capabilities.gateways.api import ATTACH_LABEL, GATEWAY, HTTP_ROUTE, TENANT_GATEWAY
from roadstead.deploy.rbac import API_GROUP
from roadstead.deploy.tenants import PLATFORM, tenant_tiers
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE

pytestmark = pytest.mark.cluster

NS, ELSEWHERE = "tenant-foo", "tenant-bar"
EVERY = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("bind", "escalate", "impersonate"),
)
WHO = ("account", "viewer", "user", "admin")
BOUND = {
    "account": "cozy:tenant",
    "viewer": "cozy:tenant:view",
    "user": "cozy:tenant:use",
    "admin": "cozy:tenant:admin",
}
"""The platform's role of each: an aggregation, which this file has stand in without its rules."""
AGGREGATED = {
    "cozy:tenant": ("", ()),
    "cozy:tenant:view": ("-view", ("-use", "-admin", "-super-admin")),
    "cozy:tenant:use": ("-use", ("-admin", "-super-admin")),
    "cozy:tenant:admin": ("-admin", ("-super-admin",)),
}
"""Of each role what it takes up, and which tiers take it up; as the platform's chart has them."""

BUILTIN_ROLES = ("view", "edit", "admin")
ALL = " ".join(EVERY)
READ = "get list watch"
WRITE = f"{READ} create update patch delete"
NO = ""
Row = tuple[str, str, str, str, str, str]
"""Group, resource with its subresource, and what each of WHO may."""

LOCAL, GATEWAYS, ROUTES = (
    "local.sdn.cozystack.io",
    "gateway.cozystack.io",
    "gateway.networking.k8s.io",
)
TABLE: tuple[Row, ...] = (
    # group, resource, account, viewer, user, admin
    (LOCAL, "endpointattachments", ALL, READ, READ, WRITE),
    (LOCAL, "endpointattachments/status", NO, NO, NO, NO),
    (LOCAL, "endpointattachments/finalizers", NO, NO, NO, NO),
    (LOCAL, "ipaddressclaims", NO, NO, NO, NO),
    (LOCAL, "ipaddressclaims/status", NO, NO, NO, NO),
    (LOCAL, "ipaddresses", NO, NO, NO, NO),
    (LOCAL, "ipaddresses/status", NO, NO, NO, NO),
    (LOCAL, "ipaddressclasses", NO, NO, NO, NO),
    (LOCAL, "ipaddressclasses/status", NO, NO, NO, NO),
    ("core.cozystack.io", "tenantsecrets", READ, NO, READ, READ),
    ("core.cozystack.io", "tenantsecrets/status", NO, NO, NO, NO),
    ("", "secrets", NO, NO, NO, NO),
    ("", "services", NO, NO, NO, NO),
    ("", "services/status", NO, NO, NO, NO),
    ("", "services/proxy", NO, NO, NO, NO),
    ("", "configmaps", NO, NO, NO, NO),
    ("", "pods", NO, NO, NO, NO),
    ("", "pods/exec", NO, NO, NO, NO),
    ("", "events", NO, NO, NO, NO),
    ("", "namespaces", NO, NO, NO, NO),
    ("", "namespaces/status", NO, NO, NO, NO),
    ("", "namespaces/finalize", NO, NO, NO, NO),
    ("", "resourcequotas", NO, NO, NO, NO),
    ("", "serviceaccounts", NO, NO, NO, NO),
    ("", "serviceaccounts/token", NO, NO, NO, NO),
    (GATEWAYS, "tenantgateways", NO, NO, NO, NO),
    (GATEWAYS, "tenantgateways/status", NO, NO, NO, NO),
    (GATEWAYS, "tenantgateways/finalizers", NO, NO, NO, NO),
    (ROUTES, "gateways", NO, NO, NO, NO),
    (ROUTES, "gateways/status", NO, NO, NO, NO),
    (ROUTES, "gatewayclasses", NO, NO, NO, NO),
    (ROUTES, "httproutes", NO, NO, NO, NO),
    (ROUTES, "httproutes/status", NO, NO, NO, NO),
    (ROUTES, "tlsroutes", NO, NO, NO, NO),
    (ROUTES, "tlsroutes/status", NO, NO, NO, NO),
    (ROUTES, "referencegrants", NO, NO, NO, NO),
    (ROUTES, "listenersets", NO, NO, NO, NO),
    ("cert-manager.io", "certificates", NO, NO, NO, NO),
    ("cert-manager.io", "issuers", NO, NO, NO, NO),
    ("cert-manager.io", "clusterissuers", NO, NO, NO, NO),
    ("cozystack.io", "applicationdefinitions", NO, NO, NO, NO),
    ("cozystack.io", "schedulingclasses", NO, NO, NO, NO),
    ("cozystack.io", "workloadmonitors", NO, NO, NO, NO),
    ("apps.cozystack.io", "postgreses", NO, NO, NO, NO),
    ("helm.toolkit.fluxcd.io", "helmreleases", NO, NO, NO, NO),
    ("discovery.k8s.io", "endpointslices", NO, NO, NO, NO),
    ("networking.k8s.io", "ingresses", NO, NO, NO, NO),
    ("coordination.k8s.io", "leases", NO, NO, NO, NO),
    ("rbac.authorization.k8s.io", "roles", NO, NO, NO, NO),
    ("rbac.authorization.k8s.io", "rolebindings", NO, NO, NO, NO),
    ("rbac.authorization.k8s.io", "clusterroles", NO, NO, NO, NO),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies", NO, NO, NO, NO),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", NO, NO, NO, NO),
    ("apiextensions.k8s.io", "customresourcedefinitions", NO, NO, NO, NO),
)
"""What our roles grant, each kind of ours and each that the contracts name. What the platform's
own roles add on Pods or Services is the platform's to say."""
BUILTIN: tuple[tuple[str, str, str, str, str], ...] = (
    # group, resource, Kubernetes' view, edit, admin
    (LOCAL, "endpointattachments", READ, READ, WRITE),
    (LOCAL, "endpointattachments/status", NO, NO, NO),
    (LOCAL, "ipaddressclaims", NO, NO, NO),
    (LOCAL, "ipaddresses", NO, NO, NO),
    (LOCAL, "ipaddressclasses", NO, NO, NO),
    (GATEWAYS, "tenantgateways", NO, NO, NO),
    ("core.cozystack.io", "tenantsecrets", NO, READ, READ),
)
"""The same through Kubernetes' own roles, for a cluster without the platform."""


def review(admin: Admin, who: str, verb: str, on: str, namespace: str = NS) -> bool:
    """What the server's authorizer says of one request. on: as `resource/part.group`."""
    resource, _, group = on.partition(".")
    plural, _, part = resource.partition("/")
    asked = {"group": group, "resource": plural, "subresource": part, "verb": verb}
    spec: dict[str, Any] = {"resourceAttributes": {**asked, "namespace": namespace}}
    if who == "account":
        named = f"system:serviceaccount:{NS}:tenant"
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{NS}"]
        spec |= {"user": named, "groups": [*groups, "system:authenticated"]}
    else:
        spec |= {"user": who, "groups": ["system:authenticated"]}
    head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(admin.call("POST", path, {**head, "spec": spec}).body["status"]["allowed"])


def may(admin: Admin, who: str, on: str, namespace: str = NS) -> str:
    """Every verb that somebody may use."""
    return " ".join(verb for verb in EVERY if review(admin, who, verb, on, namespace))


def named(row: tuple[str, ...]) -> str:
    """The resource of a row, as `resource/part.group`."""
    return f"{row[1]}.{row[0]}".rstrip(".")


def bound(admin: Admin, who: str, role: str) -> None:
    """Give somebody a role in the tenant's namespace."""
    subject: dict[str, str] = {"kind": "User", "name": who, "apiGroup": API_GROUP}
    if who == "account":
        subject = {"kind": "ServiceAccount", "name": "tenant", "namespace": NS}
    made = body(
        kind_of("RoleBinding"),
        f"{who}-{role.replace(':', '-')}",
        roleRef={"apiGroup": API_GROUP, "kind": "ClusterRole", "name": role},
        subjects=[subject],
    )
    admin.made(kind_of("RoleBinding"), made)


@pytest.fixture(scope="module")
def tenants(shared: Cluster) -> Iterator[Admin]:
    """A tenant with everybody bound; the platform's roles take ours up, and Kubernetes' own do."""
    admin = shared.admin
    for name in (NS, ELSEWHERE):
        admin.ensure_namespace(name)
    for tier in tenant_tiers():
        admin.made(ROLE, tier)
    for name, (taken, takers) in AGGREGATED.items():
        meta = {"name": name, "labels": {f"{PLATFORM}{tail}": "true" for tail in takers}}
        selector = {"matchLabels": {f"{PLATFORM}{taken}": "true"}}
        rule = {"clusterRoleSelectors": [selector]}
        admin.made(ROLE, {"metadata": meta, "rules": [], "aggregationRule": rule})
    admin.made(kind_of("ServiceAccount"), body(kind_of("ServiceAccount"), "tenant"))
    for who, role in BOUND.items():
        bound(admin, who, role)
    for builtin_role in BUILTIN_ROLES:
        bound(admin, f"kubernetes-{builtin_role}", builtin_role)
    attachments, secrets = f"endpointattachments.{LOCAL}", "tenantsecrets.core.cozystack.io"
    builtin = tuple(f"kubernetes-{role}" for role in BUILTIN_ROLES)
    for who in (*WHO, *builtin):
        verb = "create" if who.endswith(("admin", "account")) else "list"
        wait_for(who, lambda: review(admin, who, verb, attachments))  # noqa: B023 - asked at once
        if not who.endswith("view") and who != "viewer":
            wait_for(who, lambda: review(admin, who, "get", secrets))  # noqa: B023 - asked at once
    yield admin
    shared.reset()


@pytest.mark.parametrize("row", TABLE, ids=map(named, TABLE))
def test_everybody_may_what_the_table_says(tenants: Admin, row: Row) -> None:
    """Each verb on each resource, a yes or a no, in the tenant's namespace; elsewhere none."""
    on, expected = named(row), row[2:]

    assert dict(zip(WHO, expected, strict=True)) == {who: may(tenants, who, on) for who in WHO}
    assert [] == [who for who in WHO if may(tenants, who, on, ELSEWHERE)]


@pytest.mark.parametrize("row", BUILTIN, ids=map(named, BUILTIN))
def test_kubernetes_own_roles_take_ours_up(
    tenants: Admin, row: tuple[str, str, str, str, str]
) -> None:
    """Who may view, edit or administer a namespace may do what the tier of that rank may."""
    asked = tuple(may(tenants, f"kubernetes-{role}", named(row)) for role in BUILTIN_ROLES)

    assert row[2:] == asked


@pytest.fixture
def somebody(tenants: Admin, shared: Cluster) -> Iterator[dict[str, Admin]]:
    """Clients of each, by impersonation; the account by its token."""
    clients: dict[str, Admin] = {
        who: As(tenants.kubeconfig, who, "system:authenticated") for who in WHO[1:]
    }
    clients["account"] = Admin(logged_in(shared, "tenant", NS))
    yield clients
    for client in clients.values():
        client.close()


DRY = {"dryRun": "All"}
CREATED, DONE, FORBIDDEN = 201, 200, 403


def test_who_may_write_attachments_writes_no_status(
    tenants: Admin, somebody: dict[str, Admin]
) -> None:
    """Real writes of each: viewers and users none, admins and accounts the object alone."""
    one = body(ATTACHMENT, "a", spec=minimal(ATTACHMENT)["spec"])
    path, ref = ATTACHMENT.path(NS), ATTACHMENT.ref(NS, "a")
    told = {"status": {"addresses": ["203.0.113.66"]}}

    assert {"viewer": FORBIDDEN, "user": FORBIDDEN, "admin": CREATED, "account": CREATED} == {
        who: client.call("POST", path, one, query=DRY).code for who, client in somebody.items()
    }
    tenants.made(ATTACHMENT, one)
    for who, client in somebody.items():
        assert DONE == client.call("GET", f"{path}/a").code
        assert FORBIDDEN == client.patch(ref, told, "/status").code
        writes = who in {"admin", "account"}
        touched = client.patch(ref, {"metadata": {"labels": {"by": who}}, **told})
        assert (DONE if writes else FORBIDDEN) == touched.code
        assert (DONE if writes else FORBIDDEN) == client.call("DELETE", f"{path}/a", query=DRY).code
    stored = tenants.get(ref)
    assert stored is not None
    assert "status" not in stored
    assert FORBIDDEN == somebody["admin"].call("DELETE", path).code
    assert DONE == somebody["account"].call("DELETE", path).code


def test_nobody_reads_a_secret_or_reaches_what_the_platform_writes(
    tenants: Admin, somebody: dict[str, Admin]
) -> None:
    """Real requests at what a tenant would want most."""
    tenants.made(SECRET, body(SECRET, "postgres-mydb.tenant-ca", data={}))
    gateway = body(GATEWAY, "g", spec=SPECS[GATEWAY])
    grants = merged(body(NAMESPACE, NS), {"metadata": {"labels": {ATTACH_LABEL: "tenant-root"}}})

    for client in somebody.values():
        answers = [
            client.call("GET", SECRET.path(NS, "postgres-mydb.tenant-ca")),
            client.call("GET", SECRET.path(NS)),
            client.call("POST", CLAIM.path(NS), body(CLAIM, "c", spec={}), query=DRY),
            client.call(
                "POST", SERVICE.path(NS), body(SERVICE, "s", spec=SPECS[SERVICE]), query=DRY
            ),
            client.call("POST", GATEWAY.path(NS), gateway, query=DRY),
            client.call("GET", HTTP_ROUTE.path(NS)),
            client.call("GET", TENANT_GATEWAY.path(NS)),
            client.patch(NAMESPACE.ref("", NS), {"metadata": grants["metadata"]}),
        ]
        assert {FORBIDDEN} == {answer.code for answer in answers}
