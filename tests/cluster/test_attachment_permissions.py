"""Attachments with exactly the rights that ship: an address from end to end, and what is refused.

Source: endpoint-attachments 8.1, 8.2 and 9.1 (T35, T78, T80). Who asked for what is read from the
audit log.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from live_admin import Admin, wait_for
from live_cluster import Cluster
from live_run import Run, grant, kind_of, logged_in, running, user_of
from live_scene import gone, release
from roadstead.capabilities.attachments.api.names import (
    ADDRESS,
    ATTACHMENT,
    CLAIM,
    CLASS,
    DEFAULT_ANNOTATION,
    TENANT_RESOURCE,
    TRIPLE,
)
from roadstead.deploy.rbac import ATTACHMENTS, GATEWAY_RIGHTS, HOME
from roadstead.deploy.tenants import tenant_roles
from roadstead.kube.refs import NAMESPACE, SERVICE, Kind
from roadstead.sim.quota import QUOTA

pytestmark = pytest.mark.cluster

NS, ELSEWHERE = "tenant-foo", "tenant-bar"
REF = ATTACHMENT.ref(NS, "a")
ENDPOINT = SERVICE.ref(NS, "postgres-mydb-rw")
HELD = ADDRESS.ref("", "ip-203-0-113-7")
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
Verb = tuple[str, str, str]
"""Group, resource with its subresource, verb."""


@contextmanager
def at_work(server: Cluster, *flags: str) -> Iterator[Run]:
    """A process with exactly the rights that ship, ready."""
    with running(grant(server, ATTACHMENTS.name, ATTACHMENTS), *FLAGS, *flags) as run:
        yield run.wait_ready()


def body(kind: Kind, name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    """An object. rest: `labels`, `annotations` or `owners`, and parts of the body."""
    places = {"labels": "labels", "annotations": "annotations", "owners": "ownerReferences"}
    meta = {place: rest.pop(key) for key, place in places.items() if key in rest}
    meta |= {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def attachment(name: str = "a", **balancer: Any) -> dict[str, Any]:
    """An attachment of the scene's endpoint."""
    spec = {
        "applicationRef": {"kind": "Postgres", "name": "mydb"},
        "endpoint": {"serviceName": ENDPOINT.name},
        "loadBalancer": balancer,
    }
    return body(ATTACHMENT, name, NS, spec=spec)


def platform(admin: Admin) -> None:
    """An application with an endpoint that tenants may see, and a class of addresses."""
    release(admin, NS)
    triple = dict(zip(TRIPLE, ("apps.cozystack.io", "Postgres", "mydb"), strict=True))
    admin.made(
        SERVICE,
        body(
            SERVICE,
            ENDPOINT.name,
            NS,
            labels={**triple, TENANT_RESOURCE: "true"},
            spec={"selector": {"role": "primary"}, "ports": [{"name": "db", "port": 5432}]},
        ),
    )
    spec = {"provisioner": "tests", "loadBalancerClass": "example.org/tests"}
    marks = {DEFAULT_ANNOTATION: "true"}
    admin.made(CLASS, body(CLASS, "public", annotations=marks, spec=spec))


def bind(admin: Admin, claim: str) -> None:
    """Do what the address substrate does: hold an address for a claim."""
    spec = {
        "className": "public",
        "address": "203.0.113.7",
        "claimRef": {"namespace": NS, "name": claim},
        "source": {},
    }
    admin.made(ADDRESS, body(ADDRESS, HELD.name, spec=spec))
    addresses = [{"name": HELD.name, "address": "203.0.113.7"}]
    status = {"phase": "Bound", "className": "public", "addresses": addresses}
    admin.patched(CLAIM.ref(NS, claim), {"status": status}, "/status")


def associate(admin: Admin, namespace: str | None) -> None:
    """Say that a Service of a namespace holds the address; None for nobody."""
    told = {"kind": "Service", "namespace": namespace, "name": "holder"} if namespace else None
    admin.patched(HELD, {"status": {"associatedTo": told}}, "/status")


def provisioned(admin: Admin, reason: str, saying: str = "") -> dict[str, Any]:
    """Wait until an attachment says so of its address; give it."""

    def found() -> dict[str, Any] | None:
        seen = admin.get(REF) or {}
        for one in (seen.get("status") or {}).get("conditions") or ():
            if (one["type"], one["reason"]) == ("Provisioned", reason) and saying in one["message"]:
                return seen
        return None

    seen: dict[str, Any] = wait_for(f"{reason} of {REF}: {admin.get(REF)}", found)
    return seen


def one_of(admin: Admin, kind: Kind) -> dict[str, Any]:
    """Wait for the one object of a kind that the attachment controls; give it."""

    def found() -> dict[str, Any] | None:
        every = [
            seen
            for seen in admin.objects(kind, NS)
            if any(
                o["kind"] == ATTACHMENT.kind for o in seen["metadata"].get("ownerReferences", ())
            )
        ]
        return every[0] if len(every) == 1 else None

    seen: dict[str, Any] = wait_for(f"one {kind.kind}", found)
    return seen


def asked(server: Cluster, since: int) -> dict[Verb, set[int]]:
    """What the account has asked for, with the codes of the answers."""
    found: dict[Verb, set[int]] = {}
    for entry in server.own.audit_entries(since):
        ref = entry.get("objectRef") or {}
        if entry["user"]["username"] != user_of(ATTACHMENTS.name) or "resource" not in ref:
            continue
        part = f"/{ref['subresource']}" if "subresource" in ref else ""
        verb = (ref.get("apiGroup", ""), ref["resource"] + part, entry["verb"])
        found.setdefault(verb, set()).add(entry["responseStatus"]["code"])
    return found


def test_the_rights_that_ship_are_enough_and_are_used(server: Cluster) -> None:
    """From the first write to the last nothing is forbidden, and no right is there for nothing."""
    admin, mark = server.admin, server.own.audit_mark()
    platform(admin)
    admin.made(SERVICE, body(SERVICE, "holder", ELSEWHERE, spec={"ports": [{"port": 1}]}))
    declared = ("--cozy-proxy-contract-implemented", "--attachment-tenant-classes=public")
    with at_work(server, *declared) as run:
        uid = admin.made(ATTACHMENT, attachment(method="PortList", ports=[5432]))["metadata"]["uid"]
        claim = one_of(admin, CLAIM)["metadata"]["name"]
        bind(admin, claim)
        service = one_of(admin, SERVICE)
        assert "example.org/tests" == service["spec"]["loadBalancerClass"]
        assert ["203.0.113.7"] == provisioned(admin, "Provisioned")["status"]["addresses"]

        moved = {"name": "db", "port": 5432, "targetPort": 5433}
        admin.patched(ENDPOINT, {"spec": {"ports": [moved]}})
        wait_for("5433", lambda: one_of(admin, SERVICE)["spec"]["ports"][0]["targetPort"] == 5433)

        owner = {"apiVersion": ATTACHMENT.api_version, "kind": ATTACHMENT.kind, "name": "a"}
        owners = [{**owner, "uid": uid, "controller": True}]
        admin.made(CLAIM, body(CLAIM, "spare", NS, owners=owners, spec={}))
        gone(admin, CLAIM.ref(NS, "spare"))

        associate(admin, ELSEWHERE)
        provisioned(admin, "ClaimInUse")
        gone(admin, SERVICE.ref(NS, service["metadata"]["name"]))
        associate(admin, None)
        provisioned(admin, "Provisioned")
        assert run.stop() == 0

    used = asked(server, mark)
    rights = [one for one in ATTACHMENTS.cluster if one not in GATEWAY_RIGHTS]
    rights += ATTACHMENTS.home
    granted = {(r.kind.group, r.resource, verb) for r in rights for verb in r.verbs}
    idle = {(r.kind.group, r.resource, verb) for r in rights for verb in r.idle}
    assert {} == {verb: codes for verb, codes in used.items() if FORBIDDEN in codes}
    assert set() == set(used) - granted
    assert set() == granted - set(used) - idle


def test_a_claim_that_a_quota_refuses_is_waited_for(server: Cluster) -> None:
    """T35: the tenant reads the quota's words, and the wait ends by itself once there is room."""
    admin = server.admin
    platform(admin)
    quota(admin, CLAIM, 0)
    with at_work(server):
        admin.made(ATTACHMENT, attachment())
        provisioned(admin, "ClaimPending", "exceeded quota: few")

        admin.patched(QUOTA.ref(NS, "few"), {"spec": {"hard": {_count(CLAIM): "1"}}})
        one_of(admin, CLAIM)


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
