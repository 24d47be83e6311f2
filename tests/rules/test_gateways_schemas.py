"""What a tenant gateway sends is held against its schema: one wrong step each is never sent.

The server has the last word; a body that is wrong by our own fault should not get that far.
Source: tenant-gateway 3, 5.6, 14 and 15.
"""

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from gateway_objects import (
    APEX,
    a_foreign_entry,
    a_snapshot,
    attaching,
    http,
    served,
    standing,
    tls,
)
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import How
from roadstead.engine.check import check
from roadstead.errors import BugError
from roadstead.kube.refs import Kind

TOKEN = {"apiTokenSecretRef": {"name": "s", "key": "k"}}
DNS01: dict[str, Any] = {
    "certMode": "dns01",
    "dns01": {"provider": "cloudflare", "cloudflare": TOKEN},
}
SEEN = attaching(
    http("tenant-foo/h", f"harbor.{APEX}", entries=[a_foreign_entry()]),
    tls("tenant-foo/t", f"api.{APEX}", sectionName="tls-api"),
    tlsPassthroughServices=["api"],
    tlsPassthroughListeners=[{"name": "pg", "port": 5432, "hostname": f"pg.{APEX}"}],
)
EVERY = (
    SEEN,
    standing(SEEN),
    served(SEEN),
    a_snapshot(**DNS01),
    a_snapshot(certMode="edge"),
    a_snapshot(certMode="existingSecret", wildcardSecretRef={"name": "w"}),
)
Step = str | int


def bodies(kind: str) -> list[tuple[Kind, dict[str, Any]]]:
    """What a pass over fixture A sends of a kind, its own report included."""
    decision = decide(served(SEEN))
    first = decide(SEEN)
    sent = [(want.kind, dict(want.body)) for want in (*first.want, *decision.want)]
    assert decision.status is not None
    live = decision.status.live
    sent.append((live.kind, {**live.body, "status": dict(decision.status.value)}))
    return [(at, copy.deepcopy(body)) for at, body in sent if at.kind == kind]


def body_of(kind: str, *, status: bool = False) -> tuple[Kind, dict[str, Any]]:
    """The first of them; with a status, or without one."""
    found = bodies(kind)
    return next((at, body) for at, body in found if status is ("status" in body))


def changed(body: Any, path: tuple[Step, ...], value: Any) -> None:
    """Put a value at a path; None takes away what is there."""
    *way, last = path
    for step in way:
        body = body[step]
    if value is None:
        del body[last]
    else:
        body[last] = value


@pytest.mark.parametrize("seen", EVERY, ids=["first", "late", "good", "dns01", "edge", "secret"])
def test_what_is_sent_is_what_the_schema_says(seen: Snapshot) -> None:
    """A schema that is too strict stops a tenant's gateway."""
    decision = decide(seen)
    for want in decision.want:
        check(want.kind, want.body, patch=want.how is How.PATCH)
    assert decision.status is not None
    live = decision.status.live
    check(live.kind, {**live.body, "status": dict(decision.status.value)})


def test_what_a_user_may_write_is_left_to_the_server() -> None:
    """A value of a spec that no schema bounds is refused in its status, not as a fault of ours."""
    long = "x" * 300
    specs: tuple[dict[str, Any], ...] = (
        {"gatewayClassName": long},
        {"certMode": "existingSecret", "wildcardSecretRef": {"name": long}},
        {"certMode": "dns01", "dns01": {"provider": "rfc2136", "rfc2136": {}}},
        {"certMode": "dns01", "dns01": {"cloudflare": {"apiTokenSecretRef": {"key": "k"}}}},
    )
    for spec in specs:
        for want in decide(a_snapshot(**spec)).want:
            check(want.kind, want.body, patch=want.how is How.PATCH)


LISTENERS = ("spec", "listeners")
SOLVER = ("spec", "acme", "solvers", 0)
PARENT = {"group": api.GATEWAY_API, "kind": "Gateway", "name": "g", "sectionName": "http"}
PLAIN, PAIR, PASS, NATIVE = 0, 1, 2, 3
WRONG: list[tuple[str, tuple[Step, ...], Any]] = [
    ("Gateway", ("apiVersion",), "gateway.networking.k8s.io/v1beta1"),
    ("Gateway", ("metadata", "namespace"), None),
    ("Gateway", ("metadata", "labels", api.MANAGED_LABEL), "somebody"),
    ("Gateway", ("metadata", "ownerReferences"), []),
    ("Gateway", ("metadata", "ownerReferences", 0, "controller"), False),
    ("Gateway", ("metadata", "ownerReferences", 0, "uid"), ""),
    ("Gateway", ("spec", "gatewayClassName"), ""),
    ("Gateway", ("spec", "gatewayClass"), "cilium"),
    ("Gateway", LISTENERS, []),
    ("Gateway", (*LISTENERS, PLAIN, "name"), "https-*-1"),
    ("Gateway", (*LISTENERS, PLAIN, "tls"), {"mode": "Terminate"}),
    ("Gateway", (*LISTENERS, PLAIN, "port"), 8080),
    ("Gateway", (*LISTENERS, PLAIN, "port"), "80"),
    ("Gateway", (*LISTENERS, PLAIN, "protocol"), "TCP"),
    ("Gateway", (*LISTENERS, PLAIN, "allowedRoutes"), None),
    ("Gateway", (*LISTENERS, PLAIN, "allowedRoutes", "namespaces", "from"), "All"),
    ("Gateway", (*LISTENERS, PLAIN, "allowedRoutes", "namespaces", "selector"), {}),
    ("Gateway", (*LISTENERS, PAIR, "hostname"), None),
    ("Gateway", (*LISTENERS, PAIR, "hostname"), "Foo.example.com"),
    ("Gateway", (*LISTENERS, PAIR, "hostname"), "a.*.example.com"),
    ("Gateway", (*LISTENERS, PAIR, "port"), 8443),
    ("Gateway", (*LISTENERS, PAIR, "tls"), None),
    ("Gateway", (*LISTENERS, PAIR, "tls", "mode"), "Passthrough"),
    ("Gateway", (*LISTENERS, PAIR, "tls", "certificateRefs"), []),
    ("Gateway", (*LISTENERS, PAIR, "tls", "certificateRefs", 0, "namespace"), "elsewhere"),
    ("Gateway", (*LISTENERS, PAIR, "allowedRoutes", "kinds", 0, "kind"), "GRPCRoute"),
    ("Gateway", (*LISTENERS, PASS, "tls", "mode"), "Terminate"),
    ("Gateway", (*LISTENERS, PASS, "tls", "certificateRefs"), [{"name": "x"}]),
    ("Gateway", (*LISTENERS, NATIVE, "port"), 80),
    ("Gateway", (*LISTENERS, NATIVE, "port"), 65536),
    ("Certificate", ("spec", "dnsNames"), []),
    ("Certificate", ("spec", "dnsNames"), ["a.example.org", "a.example.org"]),
    ("Certificate", ("spec", "dnsNames"), ["not a name"]),
    ("Certificate", ("spec", "dnsNames"), [f"{n}.example.org" for n in range(101)]),
    ("Certificate", ("spec", "issuerRef", "kind"), "ClusterIssuer"),
    ("Certificate", ("spec", "issuerRef", "name"), None),
    ("Certificate", ("spec", "secretName"), ""),
    ("Certificate", ("spec", "secret"), "s"),
    ("Certificate", ("metadata", "ownerReferences"), []),
    ("Issuer", ("spec", "acme", "server"), "https://example.org"),
    ("Issuer", ("spec", "acme", "privateKeySecretRef"), None),
    ("Issuer", ("spec", "acme", "solvers"), []),
    ("Issuer", SOLVER, {}),
    ("Issuer", SOLVER, {"dns01": {}}),
    ("Issuer", SOLVER, {"dns01": {"cloudflare": {}, "route53": {}}}),
    ("Issuer", SOLVER, {"dns01": {"cloudflare": {"optional": True}}}),
    ("Issuer", (*SOLVER, "http01", "gatewayHTTPRoute", "parentRefs", 0, "namespace"), None),
    ("Issuer", (*SOLVER, "http01", "gatewayHTTPRoute", "parentRefs", 0, "sectionName"), "https"),
    ("HTTPRoute", ("spec", "hostnames"), []),
    ("HTTPRoute", ("spec", "parentRefs"), [PARENT, PARENT]),
    ("HTTPRoute", ("spec", "parentRefs", 0, "sectionName"), None),
    ("HTTPRoute", ("spec", "rules", 0, "matches"), None),
    ("HTTPRoute", ("spec", "rules", 0, "filters", 0, "requestRedirect", "statusCode"), 302),
    ("HTTPRoute", ("spec", "rules", 0, "filters", 0, "requestRedirect", "statusCode"), None),
    ("HTTPRoute", ("metadata", "labels", api.TENANT_GATEWAY_LABEL), None),
]


@pytest.mark.parametrize(("kind", "path", "value"), WRONG)
def test_a_wrong_object_is_never_sent(kind: str, path: tuple[Step, ...], value: Any) -> None:
    """Each is one step away from what a pass sends."""
    at, body = body_of(kind)
    check(at, body)
    changed(body, path, value)

    with pytest.raises(BugError, match="nothing was sent"):
        check(at, body)


PARENTS = ("status", "parents")
CONDITION = (*PARENTS, 0, "conditions", 0)
ENTRIES: list[tuple[tuple[Step, ...], Any]] = [
    (("status",), {"parents": None}),
    (("status", "conditions"), []),
    ((*PARENTS, 0, "parentRef"), None),
    ((*PARENTS, 0, "parentRef", "group"), None),
    ((*PARENTS, 0, "parentRef", "port"), 0),
    ((*PARENTS, 0, "parentRef", "sectionName"), ""),
    ((*PARENTS, 0, "controllerName"), None),
    ((*PARENTS, 0, "conditions"), []),
    ((*CONDITION, "status"), True),
    ((*CONDITION, "reason"), ""),
    ((*CONDITION, "reason"), "two words"),
    ((*CONDITION, "message"), None),
    ((*CONDITION, "message"), "x" * 32_769),
    ((*CONDITION, "lastTransitionTime"), None),
    ((*CONDITION, "observedGeneration"), -1),
]


@pytest.mark.parametrize(("path", "value"), ENTRIES)
@pytest.mark.parametrize("kind", ["HTTPRoute", "TLSRoute"])
def test_a_wrong_entry_is_never_sent(kind: str, path: tuple[Step, ...], value: Any) -> None:
    """One wrong entry has the server refuse the others beside it."""
    at, body = body_of(kind, status=True)
    check(at, body)
    changed(body, path, value)

    with pytest.raises(BugError, match="nothing was sent"):
        check(at, body)


def test_more_entries_than_a_route_may_have_are_never_sent() -> None:
    """The server refuses the thirty-third."""
    at, body = body_of("HTTPRoute", status=True)
    body["status"]["parents"] = [body["status"]["parents"][0]] * 33

    with pytest.raises(BugError, match="nothing was sent"):
        check(at, body)


REPORTS: list[tuple[tuple[Step, ...], Any]] = [
    (("status", "observedGeneration"), None),
    (("status", "phase"), "Ready"),
    (("status", "conditions"), []),
    (("status", "conditions", 0, "message"), None),
    (("status", "listeners", 0, "ready"), "true"),
    (("status", "listeners", 0, "reason"), "Conflicted"),
    (("status", "listeners", 0, "hostname"), ""),
]


@pytest.mark.parametrize(("path", "value"), REPORTS)
def test_a_wrong_report_is_never_sent(path: tuple[Step, ...], value: Any) -> None:
    """Our own definition would refuse it, and the pass with it."""
    at, body = bodies("TenantGateway")[0]
    check(at, body)
    changed(body, path, value)

    with pytest.raises(BugError, match="nothing was sent"):
        check(at, body)


PATCHES: list[Mapping[str, Any]] = [
    {"metadata": {"name": "n", "labels": {api.ATTACH_LABEL: "t"}}},
    {"metadata": {"name": "n", "resourceVersion": "1", "labels": {api.HOST_LABEL: "t"}}},
    {"metadata": {"name": "n", "resourceVersion": "1", "annotations": {"a": "t"}}},
    {"metadata": {"name": "n", "resourceVersion": "1", "finalizers": []}},
    {"metadata": {"name": "n", "resourceVersion": "1"}, "spec": {}},
]


@pytest.mark.parametrize("patch", PATCHES)
def test_a_namespace_is_patched_in_two_keys_alone(patch: Mapping[str, Any]) -> None:
    """Whatever else a Namespace says is the platform's."""
    wants = [want for want in decide(SEEN).want if want.how is How.PATCH]
    for want in wants:
        check(want.kind, want.body, patch=want.how is How.PATCH)

    assert wants
    with pytest.raises(BugError, match="nothing was sent"):
        check(wants[0].kind, patch, patch=True)
