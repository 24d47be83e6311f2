"""Tenant gateways with exactly the rights that ship, from the first Namespace to mode edge.

Source: tenant-gateway 10b. Who asked for what is read from the audit log.
"""

from typing import Any

import pytest

from live_admin import Admin, wait_for
from live_cluster import Cluster
from live_run import grant, running, user_of
from live_scene import gone
from roadstead.capabilities.gateways import api
from roadstead.deploy.rbac import ATTACHMENTS, GATEWAY_RIGHTS
from roadstead.kube.refs import NAMESPACE, SERVICE, Kind, Ref

pytestmark = pytest.mark.cluster

NS, ELSEWHERE, APEX = "tenant-foo", "tenant-bar", "foo.example.com"
FLAGS = ("--only=attachments,gateways",)
FORBIDDEN = 403
NAME = "cozystack"
ASKED = api.TENANT_GATEWAY.ref(NS, NAME)
TLS_ROUTE = api.TLS_ROUTES[0]
CERTIFICATE = api.CERTIFICATE.ref(NS, "cozystack-harbor-760d5a8a-tls")
ISSUER = api.ISSUER.ref(NS, "cozystack-gateway")
REDIRECT = api.HTTP_ROUTE.ref(NS, "cozystack-http-redirect")


def body(kind: Kind, name: str, namespace: str = NS, **rest: Any) -> dict[str, Any]:
    """An object."""
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def route(kind: Kind, host: str, backend: str, **parent: str) -> dict[str, Any]:
    """A route to the gateway, for one hostname."""
    spec = {
        "parentRefs": [{"name": NAME, **parent}],
        "hostnames": [f"{host}.{APEX}"],
        "rules": [{"backendRefs": [{"name": backend, "port": 443}]}],
    }
    return body(kind, host, spec=spec)


def until(admin: Admin, ref: Ref, what: str, *steps: Any) -> None:
    """Wait until an object says something at a place."""

    def says() -> bool:
        seen: Any = admin.get(ref)
        for step in steps:
            if isinstance(step, str):
                seen = seen.get(step) if isinstance(seen, dict) else None
            else:
                seen = seen[step] if isinstance(seen, list) and len(seen) > step else None
        return bool(seen == what)

    wait_for(f"{what} of {ref}: {admin.get(ref)}", says)


def accepted(admin: Admin, kind: Kind, name: str) -> None:
    """Wait until a route is told that it is served."""
    place = ("status", "parents", 0, "conditions", 0, "reason")
    until(admin, kind.ref(NS, name), "Accepted", *place)


def test_the_rights_that_ship_are_enough_and_are_used(server: Cluster) -> None:
    """From the first label to the last deletion nothing is forbidden, and nothing is for naught."""
    admin, mark = server.admin, server.own.audit_mark()
    for name in (NS, ELSEWHERE):
        admin.ensure_namespace(name)
    admin.made(SERVICE, body(SERVICE, "api", spec={"ports": [{"port": 443}]}))
    with running(grant(server, ATTACHMENTS.name, ATTACHMENTS), *FLAGS) as run:
        run.wait_ready()
        spec = {
            "apex": APEX,
            "tlsPassthroughServices": ["api"],
            "attachedNamespaces": [ELSEWHERE],
        }
        admin.made(api.TENANT_GATEWAY, body(api.TENANT_GATEWAY, NAME, spec=spec))
        until(admin, NAMESPACE.ref("", ELSEWHERE), NS, "metadata", "labels", api.ATTACH_LABEL)
        admin.made(api.HTTP_ROUTE, route(api.HTTP_ROUTE, "harbor", "web"))
        admin.made(TLS_ROUTE, route(TLS_ROUTE, "api", "api", sectionName="tls-api"))
        accepted(admin, api.HTTP_ROUTE, "harbor")
        accepted(admin, TLS_ROUTE, "api")

        until(admin, CERTIFICATE, f"harbor.{APEX}", "spec", "dnsNames", 0)
        admin.patched(CERTIFICATE, {"spec": {"dnsNames": ["a.example.org"]}})
        until(admin, CERTIFICATE, f"harbor.{APEX}", "spec", "dnsNames", 0)
        admin.patched(REDIRECT, {"spec": {"hostnames": ["a.example.org"]}})
        until(admin, REDIRECT, APEX, "spec", "hostnames", 0)
        admin.patched(ASKED, {"spec": {"issuerName": "letsencrypt-stage"}})
        staging = "https://acme-staging-v02.api.letsencrypt.org/directory"
        until(admin, ISSUER, staging, "spec", "acme", "server")

        admin.patched(ASKED, {"spec": {"certMode": "edge"}})
        for ref in (CERTIFICATE, ISSUER, REDIRECT):
            gone(admin, ref)
        until(admin, ASKED, "GatewayNotAccepted", "status", "conditions", 0, "reason")
        assert run.stop() == 0

    used = asked(server, mark)
    granted = {(r.kind.group, r.resource, verb) for r in GATEWAY_RIGHTS for verb in r.verbs}
    idle = {(r.kind.group, r.resource, verb) for r in GATEWAY_RIGHTS for verb in r.idle}
    every = {
        (r.kind.group, r.resource, verb)
        for r in (*ATTACHMENTS.cluster, *ATTACHMENTS.home)
        for verb in r.verbs
    }
    assert {} == {verb: codes for verb, codes in used.items() if FORBIDDEN in codes}
    assert set() == set(used) - every
    assert set() == granted - set(used) - idle


def asked(server: Cluster, since: int) -> dict[tuple[str, str, str], set[int]]:
    """What the account has asked for, with the codes of the answers."""
    found: dict[tuple[str, str, str], set[int]] = {}
    for entry in server.own.audit_entries(since):
        ref = entry.get("objectRef") or {}
        if entry["user"]["username"] != user_of(ATTACHMENTS.name) or "resource" not in ref:
            continue
        part = f"/{ref['subresource']}" if "subresource" in ref else ""
        verb = (ref.get("apiGroup", ""), ref["resource"] + part, entry["verb"])
        found.setdefault(verb, set()).add(entry["responseStatus"]["code"])
    return found
