"""What each of our accounts does in its whole life, step by step, so that every right is used.

A scene does what others do and, after each step, gives what must come of it. Where a right is
missing the step never comes, and the process says what it may not.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attachment_scene import (
    ELSEWHERE,
    NS,
    REF,
    associate,
    attachment,
    bind,
    body,
    controlled,
    platform,
    says_so,
)
from certificates import CERT1, CERT2, KEY
from lineage_objects import CONFIG, HELM, definition, given, namespace, owner, pod, secret
from lineage_objects import NS as TENANT
from lineage_objects import body as tenants
from lineage_objects import release as harbor
from live_admin import Admin
from live_cluster import Cluster
from live_run import Run, running
from live_scene import (
    ANCHOR,
    SOURCE,
    data,
    define,
    events,
    fingerprints,
    labelled,
    release,
    source,
)
from live_webhook import HOST, asked, free_port, serve_kinds
from live_webhook import flags as webhook_flags
from roadstead.capabilities.anchors.api import PUBLISH
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.capabilities.gateways import api as gateways
from roadstead.capabilities.lineage import api as lineage
from roadstead.capabilities.wildcards import api as wildcards
from roadstead.deploy.rbac import ANCHORS, ATTACHMENTS, HOME, LINEAGE, REFRESHER, Account
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, SECRET, SERVICE, Kind, Ref
from webhook_certificates import pair, put

Until = Callable[[], Any]
"""What must come, asked again and again."""
APEX, SPACE = "foo.example.com", "tenant-attached"
USUAL = gateways.TENANT_GATEWAY.ref(NS, gateways.USUAL)
GPU = "gpu"
SHOWN: dict[str, Any] = {"include": [{}]}


@dataclass
class At:
    """A scene's server and process. port: where the webhook answers; 0 for the others."""

    admin: Admin
    run: Run
    port: int = 0

    def has(self, ref: Ref, what: Any, *steps: str | int) -> bool:
        """Whether an object says something at a place."""
        seen: Any = self.admin.get(ref)
        for step in steps:
            if isinstance(step, int):
                seen = seen[step] if isinstance(seen, list) and len(seen) > step else None
            else:
                seen = seen.get(step) if isinstance(seen, dict) else None
        return bool(seen == what)

    def gone(self, *refs: Ref) -> bool:
        """Whether none of some objects is there."""
        return all(self.admin.get(ref) is None for ref in refs)


def anchors(at: At) -> Iterator[Until]:
    """An anchor from its first certificate to its withdrawal, and the replicas of a wildcard."""
    admin = at.admin
    wildcard = SECRET.ref("tenant-root", "wildcard-tls")
    for name in (wildcards.VALUES.namespace, wildcard.namespace, ELSEWHERE):
        admin.ensure_namespace(name)
    admin.patched(
        NAMESPACE.ref("", ELSEWHERE), {"metadata": {"labels": {wildcards.INGRESS_LABEL: ELSEWHERE}}}
    )
    told = f"{wildcards.CLUSTER}: {{{wildcards.SOURCE_NAME}: {wildcard.name}}}".encode()
    values = {"type": "Opaque", "data": data(values_yaml=told)}
    admin.made(SECRET, body(SECRET, wildcards.VALUES.name, wildcards.VALUES.namespace, **values))
    issued = {"type": wildcards.TLS, "data": data(tls_crt=b"CRT", tls_key=b"KEY")}
    admin.made(SECRET, body(SECRET, wildcard.name, wildcard.namespace, **issued))
    define(admin, declared=False)
    release(admin)
    source(admin, labels=labelled())
    yield lambda: at.run.ready()[0]
    yield lambda: fingerprints(admin.get(ANCHOR) or {})
    yield lambda: admin.get(SECRET.ref(ELSEWHERE, wildcard.name))
    first = fingerprints(admin.get(ANCHOR) or {})
    admin.patched(SOURCE, {"data": data(ca_crt=CERT2)})
    yield lambda: fingerprints(admin.get(ANCHOR) or {}) not in ([], first)
    for value in (CERT2 + KEY, CERT1, CERT2 + KEY):
        admin.patched(SOURCE, {"data": data(ca_crt=value)})
        if value == CERT1:
            yield lambda: fingerprints(admin.get(ANCHOR) or {}) == first
        else:
            yield lambda: events(admin, SOURCE)
    yield lambda: any(int(one.get("count", 1)) > 1 for one in events(admin, SOURCE))
    admin.patched(SOURCE, {"metadata": {"labels": {PUBLISH: "false"}}})
    yield lambda: at.gone(ANCHOR)


def attachments(at: At) -> Iterator[Until]:
    """An address from end to end, one that another uses, and one that is named; then gateways."""
    admin = at.admin
    platform(admin)
    admin.made(SERVICE, body(SERVICE, "holder", ELSEWHERE, spec={"ports": [{"port": 1}]}))
    yield lambda: at.run.ready()[0]
    uid = admin.made(ATTACHMENT, attachment(method="PortList", ports=[5432]))["metadata"]["uid"]
    yield lambda: controlled(admin, CLAIM)
    bind(admin, (controlled(admin, CLAIM) or {})["metadata"]["name"])
    yield lambda: controlled(admin, SERVICE)
    service = SERVICE.ref(NS, (controlled(admin, SERVICE) or {})["metadata"]["name"])
    yield lambda: at.has(service, "example.org/tests", "spec", "loadBalancerClass")
    yield lambda: says_so(admin, "Provisioned")
    yield lambda: at.has(REF, ["203.0.113.7"], "status", "addresses")
    moved = {"name": "db", "port": 5432, "targetPort": 5433}
    admin.patched(SERVICE.ref(NS, "postgres-mydb-rw"), {"spec": {"ports": [moved]}})
    yield lambda: at.has(service, 5433, "spec", "ports", 0, "targetPort")
    by = {"apiVersion": ATTACHMENT.api_version, "kind": ATTACHMENT.kind, "name": REF.name}
    admin.made(
        CLAIM, body(CLAIM, "spare", NS, owners=[{**by, "uid": uid, "controller": True}], spec={})
    )
    yield lambda: at.gone(CLAIM.ref(NS, "spare"))
    for holder in (ELSEWHERE, None, ELSEWHERE):
        associate(admin, holder)
        reason = "ClaimInUse" if holder else "Provisioned"
        yield lambda: says_so(admin, reason)  # noqa: B023 - asked before the next
    yield lambda: at.gone(service)
    yield lambda: any(int(one.get("count", 1)) > 1 for one in events(admin, REF))
    admin.made(CLAIM, body(CLAIM, "named", NS, spec={}))
    named = ATTACHMENT.ref(NS, "b")
    admin.made(ATTACHMENT, attachment(named.name, claimName="named"))
    yield lambda: at.has(named, "named", "status", "claimName")
    yield from _gateways(at)


def _route(kind: Kind, host: str, **parent: str) -> dict[str, Any]:
    """A route to the gateway, for one hostname."""
    spec = {
        "parentRefs": [{"name": USUAL.name, **parent}],
        "hostnames": [f"{host}.{APEX}"],
        "rules": [{"backendRefs": [{"name": "api", "port": 443}]}],
    }
    return body(kind, host, NS, spec=spec)


def _gateways(at: At) -> Iterator[Until]:
    """From the first label of a Namespace to mode edge, in which nothing is issued."""
    admin, label = at.admin, gateways.ATTACH_LABEL
    admin.ensure_namespace(SPACE)
    admin.made(SERVICE, body(SERVICE, "api", NS, spec={"ports": [{"port": 443}]}))
    spec = {"apex": APEX, "tlsPassthroughServices": ["api"], "attachedNamespaces": [SPACE]}
    admin.made(gateways.TENANT_GATEWAY, body(USUAL.kind, USUAL.name, NS, spec=spec))
    yield lambda: at.has(NAMESPACE.ref("", SPACE), NS, "metadata", "labels", label)
    admin.made(gateways.HTTP_ROUTE, _route(gateways.HTTP_ROUTE, "harbor"))
    tls = gateways.TLS_ROUTES[0]
    admin.made(tls, _route(tls, "api", sectionName="tls-api"))
    place = ("status", "parents", 0, "conditions", 0, "reason")
    yield lambda: at.has(gateways.HTTP_ROUTE.ref(NS, "harbor"), "Accepted", *place)
    yield lambda: at.has(tls.ref(NS, "api"), "Accepted", *place)
    certificate = gateways.CERTIFICATE.ref(NS, "cozystack-harbor-760d5a8a-tls")
    issuer = gateways.ISSUER.ref(NS, "cozystack-gateway")
    redirect = gateways.HTTP_ROUTE.ref(NS, "cozystack-http-redirect")
    names, hosts = ("spec", "dnsNames", 0), ("spec", "hostnames", 0)
    yield lambda: at.has(certificate, f"harbor.{APEX}", *names)
    admin.patched(certificate, {"spec": {"dnsNames": ["a.example.org"]}})
    yield lambda: at.has(certificate, f"harbor.{APEX}", *names)
    admin.patched(redirect, {"spec": {"hostnames": ["a.example.org"]}})
    yield lambda: at.has(redirect, APEX, *hosts)
    admin.patched(USUAL, {"spec": {"issuerName": "letsencrypt-stage"}})
    staging = "https://acme-staging-v02.api.letsencrypt.org/directory"
    yield lambda: at.has(issuer, staging, "spec", "acme", "server")
    admin.patched(USUAL, {"spec": {"certMode": "edge"}})
    yield lambda: at.gone(certificate, issuer, redirect)
    said = ("status", "conditions", 0, "reason")
    yield lambda: at.has(USUAL, "GatewayNotAccepted", *said)


def webhook(at: At) -> Iterator[Until]:
    """A Secret by its label and one by its owner, and a Pod of a namespace with a class."""
    admin, space = at.admin, namespace(scheduling=GPU)
    admin.made(lineage.DEFINITION, definition(secrets=SHOWN))
    admin.made(NAMESPACE, space)
    admin.made(HELM_RELEASE, harbor())
    config = admin.made(CONFIG, tenants(CONFIG, "owner", labels=HELM))
    head = {"apiVersion": lineage.SCHEDULING_CLASS.api_version, "kind": "SchedulingClass"}
    admin.made(lineage.SCHEDULING_CLASS, {**head, "metadata": {"name": GPU}})
    owned = secret(labels={}, owners=[owner(CONFIG, "owner", config["metadata"]["uid"])])
    yield lambda: at.run.ready()[0]
    yield lambda: lineage.MANAGED_BY in judged(at, secret(labels=HELM))
    yield lambda: lineage.SCHEDULER in judged(at, pod(labels=HELM))
    yield lambda: lineage.MANAGED_BY in judged(at, owned)


def judged(at: At, one: Mapping[str, Any]) -> str:
    """What the webhook changes of an object, asked as the API server does: its JSON patch."""
    text = json.dumps(reviewed(one)).encode()
    response = asked(f"127.0.0.1:{at.port}", text)[1]["response"]
    return base64.b64decode(response.get("patch", "")).decode().replace("~1", "/")


def reviewed(one: Mapping[str, Any]) -> dict[str, Any]:
    """The AdmissionReview of an object that is created."""
    group, _, version = str(one["apiVersion"]).rpartition("/")
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": group, "version": version, "kind": one["kind"]},
        "operation": "CREATE",
        "namespace": TENANT,
        "object": one,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def refresher(at: At) -> Iterator[Until]:
    """A verdict that is old on each kind, and a Secret that never passed the webhook."""
    admin = at.admin
    shown = definition(secrets=SHOWN, services=SHOWN, ingresses=SHOWN)
    admin.made(lineage.DEFINITION, shown)
    admin.ensure_namespace(TENANT)
    admin.made(HELM_RELEASE, harbor())
    uid = admin.made(CONFIG, tenants(CONFIG, "owner", labels=HELM))["metadata"]["uid"]
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    rest: dict[Kind, dict[str, Any]] = {
        SECRET: {"type": "Opaque"},
        SERVICE: {"spec": {"ports": [{"port": 1}]}},
        lineage.INGRESS: {"spec": {"defaultBackend": backend}},
    }
    for kind, more in rest.items():
        admin.made(kind, tenants(kind, "old", labels={**HELM, **given("false")}, **more))
    stamped = {lineage.MANAGED_BY: "true", lineage.TENANT_RESOURCE: "true"}
    by = owner(CONFIG, "owner", uid)
    admin.made(SECRET, secret("skipped", labels=stamped, owners=[by]))

    def is_off(kind: Kind, name: str) -> bool:
        seen = admin.get(kind.ref(TENANT, name)) or {}
        return lineage.MANAGED_BY not in seen["metadata"]["labels"]

    yield lambda: at.run.ready()[0]
    for kind in rest:
        yield lambda: is_off(kind, "old")  # noqa: B023 - asked before the next
    hidden: dict[str, Any] = {"spec": {"secrets": {"include": []}}}
    admin.patched(lineage.DEFINITION.ref("", "harbor"), hidden)
    yield lambda: is_off(SECRET, "skipped")


SCENES: dict[str, Callable[[At], Iterator[Until]]] = {
    ANCHORS.name: anchors,
    ATTACHMENTS.name: attachments,
    LINEAGE.name: webhook,
    REFRESHER.name: refresher,
}
FLAGS = {
    ATTACHMENTS.name: (
        "--cozy-proxy-contract-implemented",
        "--attachment-tenant-classes=public",
    ),
}


@contextmanager
def at_work(server: Cluster, account: Account, kubeconfig: Path) -> Iterator[At]:
    """The process of an account, as it is deployed: with a lease where it needs one."""
    port, folder = 0, server.folder / f"tls-{account.name}"
    flags: tuple[str, ...] = (f"--only={','.join(account.capabilities)}",)
    if account is LINEAGE:
        serve_kinds(server)
        put(folder, pair(HOST))
        port = free_port()
        flags = webhook_flags(port, folder)
    if account.home:
        flags += ("--leader-elect", f"--leader-election-namespace={HOME}")
    with running(kubeconfig, *flags, *FLAGS.get(account.name, ())) as run:
        yield At(server.admin, run, port)
