"""What an operator asks with kubectl, and what a tenant may not do: on the real API server.

Source: tenant-gateway TG-196 and TG-197; seed 004, "Checking what a tenant landed on".
"""

from typing import Any

import pytest

from live_admin import wait_for
from live_cluster import Cluster
from live_run import grant, kind_of, running
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.gateways import api
from roadstead.deploy.rbac import API_GROUP, ATTACHMENTS
from roadstead.deploy.tenants import tenant_roles, tenant_rules
from roadstead.kube.refs import NAMESPACE, Kind
from roadstead.testbed.server import kubectl

pytestmark = pytest.mark.cluster

NS, NAME, CLASS = "tenant-acme", "cozystack", "edge-tunnel"
ASKED = api.TENANT_GATEWAY.ref(NS, NAME)
APEX = "acme.example.com"
LABELS = {api.ATTACH_LABEL: NS, api.HOST_LABEL: APEX}
EDGE = f"edge\t80\t*.{APEX}\nedge-apex\t80\t{APEX}"


def body(kind: Kind, name: str, **rest: Any) -> dict[str, Any]:
    """An object of the tenant."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": NS},
        **rest,
    }


def said(server: Cluster, *arguments: str) -> str:
    """What kubectl prints of the tenant's objects."""
    done = kubectl(server.binary, server.kubeconfig, "--namespace", NS, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("mode", ["http01", "edge"])
def test_the_operators_commands_tell_how_a_tenant_is_served(server: Cluster, mode: str) -> None:
    """TG-197: the commands of the seed, word for word."""
    admin = server.admin
    admin.made(NAMESPACE, {"metadata": {"name": NS, "labels": LABELS}})
    parent = {"name": NAME, "group": api.GATEWAY_API, "kind": "Gateway"}
    claim = {"parentRefs": [parent], "hostnames": [f"web.{APEX}"]}
    admin.made(api.HTTP_ROUTE, body(api.HTTP_ROUTE, "web", spec=claim))
    spec = {"apex": APEX, "certMode": mode, "gatewayClassName": CLASS}
    with running(grant(server, ATTACHMENTS.name, ATTACHMENTS), "--only=gateways") as run:
        run.wait_ready()
        admin.made(api.TENANT_GATEWAY, body(api.TENANT_GATEWAY, NAME, spec=spec))

        def told() -> bool:
            seen = admin.get(ASKED) or {}
            return len((seen.get("status") or {}).get("listeners") or ()) == 2

        wait_for("listeners", told)
        assert run.stop() == 0
    landed = said(
        *(server, "get", "tenantgateway", NAME),
        *("--output", r'jsonpath={.spec.gatewayClassName}{"\t"}{.spec.certMode}{"\n"}'),
    )
    ready = said(
        *(server, "get", "tenantgateway", NAME),
        "--output",
        r'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status}{"\t"}{.reason}{"\n"}{end}',
    )
    listeners = said(
        *(server, "get", "gateway", NAME),
        "--output",
        r'jsonpath={range .spec.listeners[*]}{.name}{"\t"}{.port}{"\t"}{.hostname}{"\n"}{end}',
    )
    issued = said(server, "get", "certificate,issuer", "--output", "name").splitlines()

    assert f"{CLASS}\t{mode}" == landed
    assert "False\tGatewayNotAccepted" == ready
    rows = [line.split("\t") for line in listeners.splitlines()]
    if mode == "edge":
        assert EDGE == listeners
        assert [] == issued
    else:
        assert [["http", "80"], ["443", f"web.{APEX}"]] == [rows[0][:2], rows[1][1:]]
        assert 2 == len(issued)


@pytest.mark.parametrize("role", sorted(tenant_rules()))
def test_no_tenant_role_may_change_a_namespace(server: Cluster, role: str) -> None:
    """TG-196: so nobody stamps the attach label onto a namespace of theirs."""
    user = "somebody"
    made = next(one for one in tenant_roles() if one["metadata"]["name"] == role)
    binding = {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": API_GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user, "apiGroup": API_GROUP}],
    }
    server.admin.made(NAMESPACE, {"metadata": {"name": NS, "labels": LABELS}})
    server.admin.made(kind_of("ClusterRole"), made)
    server.admin.made(kind_of("ClusterRoleBinding"), binding)

    def asked(*arguments: str) -> str:
        done = kubectl(server.binary, server.kubeconfig, *arguments, "--as", user)
        return done.stdout.strip() or done.stderr.strip()

    verb = tenant_rules()[role][0]["verbs"][0]
    wait_for("the role", lambda: asked("auth", "can-i", verb, ATTACHMENT.resource) == "yes")
    for change in ("patch", "update"):
        assert "no" == asked("auth", "can-i", change, "namespaces")
    refused = asked("label", "namespace", NS, f"{api.ATTACH_LABEL}=tenant-other", "--overwrite")
    assert "forbidden" in refused.lower()
