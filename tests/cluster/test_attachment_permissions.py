"""Attachments with exactly the rights that ship: what is refused, and to whom.

Source: endpoint-attachments 8.2 and 9.1 (T35, T78, T80). An address from end to end, and that no
right is spare, stand in test_rights.py.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from attachment_scene import (
    ELSEWHERE,
    NS,
    REF,
    attachment,
    body,
    controlled,
    platform,
    says_so,
)
from live_admin import Admin, wait_for
from live_cluster import Cluster
from live_run import Run, grant, kind_of, logged_in, running
from roadstead.capabilities.attachments.api.names import ADDRESS, ATTACHMENT, CLAIM, CLASS
from roadstead.deploy.rbac import ATTACHMENTS, HOME
from roadstead.deploy.tenants import tenant_roles
from roadstead.kube.refs import NAMESPACE, Kind
from roadstead.sim.quota import QUOTA

pytestmark = pytest.mark.cluster

FLAGS = (
    "--only=attachments",
    "--leader-elect",
    f"--leader-election-namespace={HOME}",
)
FORBIDDEN = 403
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = {
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
}


@contextmanager
def at_work(server: Cluster, *flags: str) -> Iterator[Run]:
    """A process with exactly the rights that ship, ready."""
    with running(grant(server, ATTACHMENTS.name, ATTACHMENTS), *FLAGS, *flags) as run:
        yield run.wait_ready()


def provisioned(admin: Admin, reason: str, saying: str = "") -> None:
    """Wait until an attachment says so of its address."""
    wait_for(f"{reason} of {REF}: {admin.get(REF)}", lambda: says_so(admin, reason, saying))


def test_a_claim_that_a_quota_refuses_is_waited_for(server: Cluster) -> None:
    """T35: the tenant reads the quota's words, and the wait ends by itself once there is room."""
    admin = server.admin
    platform(admin)
    quota(admin, CLAIM, 0)
    with at_work(server):
        admin.made(ATTACHMENT, attachment())
        provisioned(admin, "ClaimPending", "exceeded quota: few")

        admin.patched(QUOTA.ref(NS, "few"), {"spec": {"hard": {_count(CLAIM): "1"}}})
        wait_for("a claim", lambda: controlled(admin, CLAIM))


def test_a_class_that_is_not_offered_is_not_minted_from(server: Cluster) -> None:
    """`--attachment-tenant-classes` limits whom an address is minted for, not who holds one."""
    admin = server.admin
    platform(admin)
    with at_work(server, "--attachment-tenant-classes=internal"):
        admin.made(ATTACHMENT, attachment(className="public"))
        provisioned(admin, "ClaimPending", "class not offered: `public`")
        assert () == admin.objects(CLAIM, NS)


def test_a_quota_limits_how_many_attachments_there_are(server: Cluster) -> None:
    """T80: the API server itself refuses the second."""
    admin = server.admin
    quota(admin, ATTACHMENT, 1)
    admin.made(ATTACHMENT, attachment("a"))

    refused = admin.create(ATTACHMENT, attachment("b"))

    assert FORBIDDEN == refused.code
    assert f"exceeded quota: few, requested: {_count(ATTACHMENT)}=1" in refused.message


def quota(admin: Admin, kind: Kind, most: int) -> None:
    """Let a namespace hold so many objects of a kind, and wait until they are counted."""
    admin.ensure_namespace(NS)
    hard = {_count(kind): str(most)}
    admin.made(QUOTA, body(QUOTA, "few", NS, spec={"hard": hard}))

    def counted() -> bool:
        status = (admin.get(QUOTA.ref(NS, "few")) or {}).get("status") or {}
        return bool(status.get("hard") == hard and status.get("used"))

    wait_for("a counted quota", counted)


@pytest.fixture
def policy(server: Cluster) -> Iterator[str]:
    """The policy of the pages, applied; it goes on a cluster that cannot be reset, too."""
    page = (Path(__file__).parents[2] / "docs/concepts/access.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.+?kind: ValidatingAdmissionPolicy\n.+?)```", page, re.DOTALL)
    parts = [(POLICIES[one["kind"]], one) for one in yaml.safe_load_all(text)]
    for path, one in parts:
        assert 201 == server.admin.call("POST", path, one).code
    yield text
    for path, one in parts:
        server.admin.call("DELETE", f"{path}/{one['metadata']['name']}")


@pytest.mark.usefixtures("policy")
def test_the_policy_of_the_pages_tells_classes_apart(server: Cluster) -> None:
    """What a quota cannot do: a class that is not offered to a namespace is refused there."""
    admin = server.admin
    offers = {"annotations": {"example.org/address-classes": "public,internal"}}
    admin.ensure_namespace(NS)
    admin.patched(NAMESPACE.ref("", NS), {"metadata": offers})

    def created(class_name: str) -> str:
        tried = attachment(**({"className": class_name} if class_name else {}))
        path, query = ATTACHMENT.path(NS), {"dryRun": "All"}
        return admin.call("POST", path, tried, query=query).message

    wait_for("the policy to count", lambda: "not offered" in created("dear"))
    # The server judges by its own view of the namespace, which comes a little later, too.
    wait_for("the offer to count", lambda: not created("public"))
    assert ["", "", ""] == [created("public"), created("internal"), created("")]
    claim = body(CLAIM, "own", NS, spec={"className": "dear"})
    assert "not offered" in admin.create(CLAIM, claim).message


def _count(kind: Kind) -> str:
    return f"count/{kind.resource}"


@pytest.fixture
def tenant(server: Cluster) -> Iterator[Admin]:
    """A tenant's ServiceAccount; its roles are bound by `hold`."""
    admin = server.admin
    admin.made(kind_of("ServiceAccount"), body(kind_of("ServiceAccount"), "tenant", NS))
    for role in tenant_roles():
        admin.made(kind_of("ClusterRole"), role)
    client = Admin(logged_in(server, "tenant", NS))
    yield client
    client.close()


def hold(admin: Admin, tenant: Admin, role: str) -> None:
    """Bind one of the roles to the tenant in its namespace, and wait until it counts."""
    group = "rbac.authorization.k8s.io"
    admin.made(
        kind_of("RoleBinding"),
        body(
            kind_of("RoleBinding"),
            role.replace(":", "-"),
            NS,
            roleRef={"apiGroup": group, "kind": "ClusterRole", "name": role},
            subjects=[{"kind": "ServiceAccount", "name": "tenant", "namespace": NS}],
        ),
    )
    verb = "create" if role == "cozy:tenant:admin:base" else "list"
    wait_for(f"{role} to count", lambda: allowed(tenant, verb))


def allowed(
    tenant: Admin, verb: str, kind: Kind = ATTACHMENT, part: str = "", ns: str = NS
) -> bool:
    """What the server answers a tenant who asks whether it may."""
    asked = {"verb": verb, "group": kind.group, "resource": kind.plural, "namespace": ns}
    spec = {"resourceAttributes": {**asked, "subresource": part}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    return bool(tenant.call("POST", path, {**head, "spec": spec}).body["status"]["allowed"])


def test_a_tenant_makes_attachments_and_no_addresses(server: Cluster, tenant: Admin) -> None:
    """T78 as the server sees it: everything on the object, nothing on what it is told."""
    hold(server.admin, tenant, "cozy:tenant:base")
    told = {"addresses": ["203.0.113.66"], "phase": "Attached"}

    made = tenant.call("POST", ATTACHMENT.path(NS), {**attachment(), "status": told})
    forged = tenant.patch(REF, {"status": told}, "/status")
    around = tenant.patch(REF, {"metadata": {"labels": {"a": "b"}}, "status": told})
    abroad = tenant.call("POST", ATTACHMENT.path(ELSEWHERE), attachment())

    assert (201, FORBIDDEN, 200, FORBIDDEN) == (made.code, forged.code, around.code, abroad.code)
    assert "endpointattachments/status" in forged.message
    assert "status" not in (server.admin.get(REF) or {})
    assert [] == [
        (kind.kind, verb)
        for kind in (CLAIM, ADDRESS, CLASS)
        for verb in ("get", "list", "create", "delete")
        if allowed(tenant, verb, kind)
    ]
    assert 200 == tenant.delete(REF).code


@pytest.mark.parametrize(
    ("role", "verbs"),
    [
        ("cozy:tenant:view:base", {"get", "list", "watch"}),
        ("cozy:tenant:admin:base", {"create", "update", "patch", "delete"}),
    ],
)
def test_a_persons_role_adds_its_own_verbs(
    server: Cluster, tenant: Admin, role: str, verbs: set[str]
) -> None:
    """Viewing and writing are two tiers; neither reaches the status or a mass deletion."""
    hold(server.admin, tenant, role)
    every = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

    assert verbs == {verb for verb in every if allowed(tenant, verb)}
    assert [] == [verb for verb in every if allowed(tenant, verb, part="status")]
