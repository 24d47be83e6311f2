"""Services and server-side apply are answered by the offline world as by a real server.

Each row is a history of one Service: what is there, and what is sent over it. Compared: status,
reason, first cause, message and what a tenant may read of every answer, and the object after it,
but for the numbers that are given out.
"""

import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
import yaml

from live_admin import Admin, Reply, wait_for
from live_cluster import Cluster
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.runtime.refusals import refusal
from roadstead.sim.merge import merged
from roadstead.sim.quota import QUOTA
from roadstead.sim.requests import By
from roadstead.sim.world import World

pytestmark = pytest.mark.cluster

APPLY = "application/apply-patch+yaml"
OTHER_UID = "00000000-0000-4000-8000-000000000000"
GIVEN = re.compile(r"10\.96\.[0-9.]+|fd00:10:96:[0-9a-f:]+")
_numbers = count(1)
Body = dict[str, Any]


def spec(text: str) -> Body:
    """A spec, written short."""
    read: Body = yaml.safe_load(f"{{{text}}}")
    return read


P, TWO = "ports: [{port: 80}]", "ports: [{port: 80, name: a}, {port: 81, name: b}]"
LB = f"type: LoadBalancer, selector: {{a: b}}, loadBalancerClass: x/y, {P}"
DUAL = f"{LB}, ipFamilyPolicy: RequireDualStack"
LOCAL = f"{LB}, externalTrafficPolicy: Local"
BARE = "allocateLoadBalancerNodePorts: false"
LONG = "a" * 64

CREATIONS = [
    P,
    "",
    "clusterIP: None",
    f"clusterIP: None, selector: {{a: b}}, {P}",
    f"clusterIP: None, selector: {{}}, {P}",
    LB,
    f"{LOCAL}, {BARE}, ipFamilyPolicy: SingleStack, ipFamilies: [IPv4]",
    "type: LoadBalancer, ports: [{port: 80, name: a}, {port: 80, name: b, protocol: UDP}]",
    "type: LoadBalancer, ports: [{port: 80, name: a, targetPort: http, appProtocol: x.y/z}]",
    f"type: NodePort, {P}",
    "type: ExternalName, externalName: example.org",
    "type: ExternalName",
    "type: ExternalName, externalName: A_b",
    f"type: ExternalName, externalName: a.b, clusterIP: None, {P}",
    "type: ExternalName, externalName: a.b, ipFamilies: [IPv4], ipFamilyPolicy: SingleStack",
    f"type: LoadBalancer, clusterIP: None, {P}",
    f"type: NodePort, clusterIP: None, {P}",
    f"{LB}, ipFamilyPolicy: RequireDualStack",
    f"{LB}, ipFamilyPolicy: PreferDualStack",
    f"{LB}, ipFamilyPolicy: SingleStack, ipFamilies: [IPv6]",
    f"{P}, ipFamilies: [IPv6]",
    f"{P}, ipFamilies: [IPv4, IPv6]",
    f"{P}, ipFamilies: [IPv4, IPv6], ipFamilyPolicy: RequireDualStack",
    f"{P}, ipFamilies: [IPv4, IPv6], ipFamilyPolicy: PreferDualStack",
    f"{P}, ipFamilies: [IPv4, IPv4]",
    f"{P}, ipFamilies: [ipv4]",
    f"{P}, ipFamilyPolicy: Nope",
    f"clusterIP: None, selector: {{a: b}}, {P}, ipFamilies: [IPv6]",
    f"clusterIP: None, {P}, ipFamilies: [IPv6]",
    f"clusterIP: None, {P}, ipFamilyPolicy: SingleStack",
    f"clusterIP: None, {P}, ipFamilyPolicy: PreferDualStack",
    "ports: [{port: 80}, {port: 81}]",
    "ports: [{port: 80, name: a}, {port: 81, name: a}]",
    "ports: [{port: 80, name: a}, {port: 80, name: b}]",
    "ports: [{port: 0}]",
    "ports: [{name: x}]",
    "ports: [{port: 70000}]",
    "ports: [{port: 80, protocol: ICMP}]",
    "ports: [{port: 80, name: A_B}]",
    f"ports: [{{port: 80, name: {LONG}}}]",
    "ports: [{port: 80, targetPort: 0}]",
    "ports: [{port: 80, targetPort: Not_ok-but-far-too-long}]",
    'ports: [{port: 80, targetPort: "80"}]',
    "ports: [{port: 80, targetPort: -a--b}]",
    "ports: [{port: 80, appProtocol: a b}]",
    "type: LoadBalancer, ports: [{port: 0}, {port: 0, protocol: X}], selector: {a: b c}",
    f"{P}, selector: {{a b: c d}}",
    f"{P}, selector: {{a: {LONG}}}",
    f"{P}, loadBalancerClass: x",
    f"type: LoadBalancer, {P}, loadBalancerClass: x y",
    f'type: LoadBalancer, {P}, loadBalancerClass: ""',
    f"type: LoadBalancer, {P}, loadBalancerClass: null, selector: null",
    f"{P}, allocateLoadBalancerNodePorts: true",
    f"{P}, externalTrafficPolicy: Local",
    f"type: LoadBalancer, {P}, externalTrafficPolicy: Some",
    f'type: LoadBalancer, {P}, externalTrafficPolicy: ""',
    f"type: Foo, {P}",
    "ports: [{port: 80, nodePort: 30080}]",
    f"type: LoadBalancer, {BARE}, ports: [{{port: 80, nodePort: 30081}}]",
    "type: LoadBalancer, ports: [{port: 80, nodePort: 80}]",
    f"{P}, sessionAffinity: ClientIP",
    f"{P}, sessionAffinity: Never",
    f"{P}, internalTrafficPolicy: Local",
    f"{P}, internalTrafficPolicy: x",
    f"type: LoadBalancer, {P}, healthCheckNodePort: 30100",
    f"{P}, ipFamilies: [IPv6], ipFamilyPolicy: RequireDualStack",
    f"{P}, ipFamilies: [IPv6, IPv4], ipFamilyPolicy: PreferDualStack",
    f"clusterIP: None, selector: {{a: b}}, {P}, ipFamilyPolicy: RequireDualStack",
    f'{P}, clusterIP: "fd00:10:96::777"',
    f'{P}, clusterIP: "fd00:10:96::78", ipFamilies: [IPv4]',
    f"{P}, clusterIP: 10.96.4.4, ipFamilyPolicy: RequireDualStack",
    f'{P}, clusterIP: 10.96.5.5, clusterIPs: [10.96.5.5, "fd00:10:96::99"]',
    f"{P}, clusterIP: 10.96.5.7, clusterIPs: [10.96.5.6], ipFamilyPolicy: PreferDualStack",
    f"{P}, clusterIP: 1.2.3.4",
    f"{P}, clusterIP: x",
    f"{P}, clusterIPs: [10.96.3.4]",
    "type: LoadBalancer, ports: [{port: 0}], ipFamilyPolicy: RequireDualStack",
]
"""Specs that are created."""

CHANGES = [
    (LB, "{}"),
    (LB, "loadBalancerClass: z/z"),
    (LB, "loadBalancerClass: null"),
    (f"type: LoadBalancer, {P}", "loadBalancerClass: z/z"),
    (LB, "clusterIP: 10.96.1.1"),
    (LB, "clusterIP: 10.96.1.1, clusterIPs: [10.96.1.1]"),
    (LB, "clusterIP: null"),
    (LB, "clusterIPs: null"),
    (LB, "clusterIP: null, clusterIPs: null, sessionAffinity: null, internalTrafficPolicy: null"),
    (LB, "clusterIP: None, clusterIPs: [None]"),
    (LB, "type: ClusterIP"),
    (LB, "type: ClusterIP, loadBalancerClass: null"),
    (LB, "type: NodePort"),
    (LB, "type: null"),
    (P, "type: LoadBalancer, loadBalancerClass: x/y"),
    (P, "type: ExternalName, externalName: a.b"),
    ("type: ExternalName, externalName: a.b", f"type: null, externalName: null, {P}"),
    (f"clusterIP: None, {P}", "type: LoadBalancer"),
    (f"clusterIP: None, {P}", "clusterIP: null, clusterIPs: null, ipFamilies: null"),
    (LOCAL, "healthCheckNodePort: null"),
    (LOCAL, "externalTrafficPolicy: Cluster"),
    (LOCAL, "externalTrafficPolicy: null, healthCheckNodePort: null"),
    (LOCAL, "healthCheckNodePort: 30555"),
    (LOCAL, "type: ClusterIP, externalTrafficPolicy: null"),
    (LB, "externalTrafficPolicy: Local"),
    (LB, BARE),
    (LB, f"{BARE}, {P}"),
    (f"{LB}, {BARE}", "allocateLoadBalancerNodePorts: true"),
    (f"{LB}, {BARE}", "allocateLoadBalancerNodePorts: null"),
    (LB, P),
    (LB, "ports: [{port: 81}]"),
    (LB, TWO),
    (LB, "ports: []"),
    (LB, "ports: [{port: 80, protocol: UDP}]"),
    (f"type: LoadBalancer, {TWO}", "ports: [{port: 81, name: b}, {port: 80, name: a}]"),
    ("ports: [{port: 80, targetPort: x}]", P),
    (LB, "selector: null"),
    (LB, "ipFamilies: [IPv6]"),
    (LB, "ipFamilies: null"),
    (LB, "ipFamilyPolicy: null, ipFamilies: null"),
    (LB, "ipFamilyPolicy: RequireDualStack"),
    (LB, "ipFamilyPolicy: PreferDualStack"),
    (f"{LB}, ipFamilyPolicy: PreferDualStack", "ipFamilyPolicy: null"),
    (DUAL, "{}"),
    (DUAL, "ipFamilies: null, ipFamilyPolicy: null, clusterIP: null, clusterIPs: null"),
    (DUAL, "clusterIPs: null"),
    (DUAL, "ipFamilyPolicy: SingleStack"),
    (DUAL, "ipFamilyPolicy: SingleStack, ipFamilies: [IPv4]"),
    (DUAL, "ipFamilyPolicy: SingleStack, ipFamilies: null, clusterIP: null, clusterIPs: null"),
    (DUAL, "ipFamilies: [IPv6, IPv4]"),
    (DUAL, "ipFamilies: [IPv4]"),
    (DUAL, "type: ExternalName, externalName: a.b, loadBalancerClass: null"),
    (f"{LB}, ipFamilies: [IPv6]", "ipFamilies: null, clusterIPs: null"),
    (f"{P}, sessionAffinity: ClientIP", "sessionAffinity: null"),
    (LB, "loadBalancerClass: z, ports: [{port: 0}]"),
]
"""A spec that is there, and what a PUT changes of it; null leaves a field out."""

STATUSES = [
    (LB, "loadBalancer: {ingress: [{ip: 192.0.2.1}]}"),
    (LB, "loadBalancer: {ingress: [{ip: 192.0.2.1, ipMode: Proxy}, {hostname: x.y}]}"),
    (LB, "loadBalancer: {ingress: [{ip: nope}]}"),
    (P, "loadBalancer: {ingress: [{ip: 192.0.2.1}]}"),
    (P, "loadBalancer: {}"),
]
"""A spec that is there, and the status that is put on it."""


@dataclass
class Side:
    """One of the two, by the four ways to write."""

    create: Callable[[Kind, Body], Reply]
    replace: Callable[[Kind, Body, str], Reply]
    apply: Callable[[Kind, Body, str], Reply]
    get: Callable[[Ref], Body | None]


def world_side(world: World) -> Side:
    """The offline world."""

    def answered(write: Callable[[], Object]) -> Reply:
        try:
            made = write()
        except ClusterError as error:
            told = {"message": error.message, "cause": error.cause, "said": error.said}
            return Reply(error.status, {"reason": error.reason, **told})
        return Reply(200, dict(made.body))

    def get(ref: Ref) -> Body | None:
        seen = world.store.get(ref)
        return None if seen is None else dict(seen.body)

    return Side(
        create=lambda kind, body: answered(lambda: world.create(kind, body, By.OTHER)),
        replace=lambda kind, body, part: answered(
            lambda: world.replace(kind, body, By.OTHER, status=bool(part))
        ),
        apply=lambda kind, body, who: answered(lambda: world.apply(kind, body, who, By.OTHER)),
        get=get,
    )


def server_side(admin: Admin) -> Side:
    """The real server."""

    def path(kind: Kind, body: Body) -> str:
        return kind.path(body["metadata"]["namespace"], body["metadata"]["name"])

    return Side(
        create=admin.create,
        replace=lambda kind, body, part: admin.call("PUT", path(kind, body) + part, body),
        apply=lambda kind, body, who: admin.call(
            "PATCH",
            path(kind, body),
            body,
            content=APPLY,
            query={"fieldManager": who, "force": "true"},
        ),
        get=admin.get,
    )


@dataclass
class Pair:
    """Both sides, and a namespace that is theirs alone."""

    world: Side
    server: Side
    namespace: str

    def both(self, send: Callable[[Side], Reply]) -> tuple[Body, Body]:
        """Send one write to both; give what they answered, in one language."""
        return _plain(send(self.world)), _plain(send(self.server))

    def body(self, kind: Kind, name: str, **parts: Any) -> Body:
        """An object; `meta` goes below its metadata."""
        meta = {"name": name, "namespace": self.namespace, **parts.pop("meta", {})}
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **parts}


@pytest.fixture
def pair(server: Cluster) -> Pair:
    """A fresh namespace on both."""
    namespace = f"services-{next(_numbers)}"
    server.admin.ensure_namespace(namespace)
    world = World(datetime(2026, 1, 1, tzinfo=UTC))
    return Pair(world_side(world), server_side(server.admin), namespace)


def _plain(reply: Reply) -> Body:
    """An answer without the numbers that each side gives out for itself."""
    if reply.refused:
        told = {"message": reply.message, "cause": "", "said": ""}
        if "kind" in reply.body:  # a Status of the server; ours reads it so
            content = json.dumps(reply.body).encode()
            error = refusal(reply.code, content, verb="", about="", hush=False)
            told |= {"cause": error.cause, "said": error.said}
        told |= {key: reply.body[key] for key in ("cause", "said") if key in reply.body}
        told = {key: _unnumbered(text) for key, text in told.items()}
        return {"code": reply.code, "reason": reply.reason, **told}
    spec = dict(reply.body.get("spec") or {})
    addresses = [one if one == "None" else "<given>" for one in spec.get("clusterIPs", ())]
    if addresses:
        spec |= {"clusterIPs": addresses, "clusterIP": addresses[0]}
    if "healthCheckNodePort" in spec:
        spec["healthCheckNodePort"] = "<given>"
    if "ports" in spec:
        given = {"nodePort": "<given>"}
        spec["ports"] = [one | given if "nodePort" in one else one for one in spec["ports"]]
    meta = reply.body["metadata"]
    kept = ("labels", "annotations", "ownerReferences", "generation", "generateName")
    stated = {key: meta[key] for key in kept if meta.get(key)}
    return {"meta": stated, "spec": spec, "status": reply.body.get("status") or {}}


def _unnumbered(message: str) -> str:
    return GIVEN.sub("<address>", message)


def _different(answers: tuple[Body, Body], about: object) -> list[str]:
    world, server = answers
    return [] if world == server else [f"{about}\n  world  {world}\n  server {server}"]


def test_services_are_created_alike(pair: Pair) -> None:
    """Defaults, what is given out, and every refusal with its words."""
    wrong = []
    for number, text in enumerate(CREATIONS):
        body = pair.body(SERVICE, f"s{number}", spec=spec(text))
        wrong += _different(pair.both(lambda side: side.create(SERVICE, body)), text)  # noqa: B023 - asked at once

    assert wrong == []


@pytest.mark.parametrize("name", ["9lives", "a.b", LONG, "Abc", "a-"])
def test_names_of_services_are_refused_alike(pair: Pair, name: str) -> None:
    """Since 1.36 a Service's name may begin with a digit."""
    body = pair.body(SERVICE, name, spec=spec(P))

    assert _different(pair.both(lambda side: side.create(SERVICE, body)), name) == []


def test_services_are_replaced_alike(pair: Pair) -> None:
    """What a PUT leaves out is kept or goes, and what it must not change is refused."""
    wrong = []
    for number, (text, change) in enumerate(CHANGES):
        name = f"s{number}"
        body = pair.body(SERVICE, name, spec=spec(text))
        made = pair.both(lambda side: side.create(SERVICE, body))  # noqa: B023 - asked at once
        wrong += _different(made, text)
        patch = spec(change.strip("{}") if change == "{}" else change)

        def put(side: Side, name: str = name, patch: Body = patch) -> Reply:
            there = side.get(SERVICE.ref(pair.namespace, name))
            assert there is not None
            return side.replace(SERVICE, there | {"spec": merged(there["spec"], patch)}, "")

        wrong += _different(pair.both(put), (text, change))

    assert wrong == []


def test_a_put_that_changes_nothing_writes_nothing(pair: Pair) -> None:
    """What the server fills in is no change."""
    body = pair.body(SERVICE, "s", spec=spec(LOCAL))
    for side in (pair.world, pair.server):
        made = side.create(SERVICE, body).body["metadata"]
        there = side.replace(SERVICE, body, "").body["metadata"]
        assert made["resourceVersion"] == there["resourceVersion"]


def test_statuses_of_services_are_put_alike(pair: Pair) -> None:
    """Addresses of a load balancer, and of what is none."""
    wrong = []
    for number, (text, status) in enumerate(STATUSES):
        name = f"s{number}"
        body = pair.body(SERVICE, name, spec=spec(text))
        pair.both(lambda side: side.create(SERVICE, body))  # noqa: B023 - asked at once

        def put(side: Side, name: str = name, status: str = status) -> Reply:
            there = side.get(SERVICE.ref(pair.namespace, name))
            assert there is not None
            return side.replace(SERVICE, there | {"status": spec(status)}, "/status")

        wrong += _different(pair.both(put), (text, status))

    assert wrong == []


def test_a_service_that_stops_being_a_load_balancer_loses_its_addresses(pair: Pair) -> None:
    """Whoever counts on `status.loadBalancer` sees none."""
    body = pair.body(SERVICE, "s", spec=spec(LB))
    pair.both(lambda side: side.create(SERVICE, body))
    for change in (
        {"status": spec("loadBalancer: {ingress: [{ip: 192.0.2.1}]}")},
        {"spec": spec("type: ClusterIP, loadBalancerClass: null")},
    ):

        def put(side: Side, change: Body = change) -> Reply:
            there = side.get(SERVICE.ref(pair.namespace, "s"))
            part = "/status" if "status" in change else ""
            return side.replace(SERVICE, merged(there, change), part)

        assert _different(pair.both(put), change) == []


def attachment(pair: Pair, name: str = "a", *, whole: bool = False, **meta: Any) -> Body:
    """An attachment; `whole` with its spec, else only what is applied."""
    app = {"applicationRef": {"kind": "Postgres", "name": "db"}, "endpoint": {"serviceName": "x"}}
    parts = {"spec": app | {"loadBalancer": {}}} if whole else {}
    return pair.body(ATTACHMENT, name, meta=meta, **parts)


def test_applications_are_answered_alike(pair: Pair) -> None:
    """Labels and owners come and go with who applied them; what others wrote stays."""
    admin = pair.server
    uids: dict[int, dict[str, str]] = {}
    for side in (pair.world, admin):
        uids[id(side)] = {
            name: side.create(ATTACHMENT, attachment(pair, name, whole=True)).body["metadata"][
                "uid"
            ]
            for name in ("a", "b", "c", "d")
        }

    def owners(side: Side, names: str) -> list[Body]:
        head = {"apiVersion": ATTACHMENT.api_version, "kind": ATTACHMENT.kind}
        return [head | {"name": name, "uid": uids[id(side)][name]} for name in names]

    rows: list[tuple[str, str, Body, str]] = [
        ("apply", "m1", {"labels": {"a": "1"}}, "b"),
        ("apply", "m1", {"labels": {"a": "1"}}, "b"),
        ("put", "", {"labels": {"foreign": "1", "a": "1"}, "annotations": {"f": "g"}}, "cb"),
        ("apply", "m1", {"labels": {"n": "2"}}, "d"),
        ("apply", "m1", {"labels": {"n": "2"}}, "dc"),
        ("apply", "m2", {"labels": {"n": "3", "foreign": "2"}}, "bd"),
        ("apply", "m1", {"labels": {"o": "1"}}, "b"),
        ("put", "", {"labels": {"o": "2", "n": "3"}}, "bd"),
        ("apply", "m1", {}, ""),
        ("apply", "m2", {}, ""),
        ("apply", "m1", {"annotations": {"f": "h", "x": ""}}, "dcb"),
        ("apply", "m1", {"annotations": {"f": "h"}, "labels": {"bad": "b c"}}, ""),
        ("apply", "m1", {"uid": OTHER_UID}, ""),
    ]
    versions: dict[bool, list[str]] = {True: [], False: []}
    for number, (verb, manager, meta, names) in enumerate(rows):

        def send(
            side: Side, verb: str = verb, who: str = manager, meta: Body = meta, names: str = names
        ) -> Reply:
            stated = meta | ({"ownerReferences": owners(side, names)} if names else {})
            if verb == "apply":
                reply = side.apply(ATTACHMENT, attachment(pair, **stated), who)
            else:
                there = side.get(ATTACHMENT.ref(pair.namespace, "a"))
                assert there is not None
                whole = {**there, "metadata": {**there["metadata"], **stated}}
                reply = side.replace(ATTACHMENT, whole, "")
            body = copy.deepcopy(reply.body)
            if reply.refused:
                # Its message may hold a uid, and the server lists a cause of a change twice.
                return Reply(reply.code, {"reason": body["reason"], "cause": "", "said": ""})
            versions[side is pair.world].append(body["metadata"]["resourceVersion"])
            for owner in body["metadata"].get("ownerReferences") or ():
                del owner["uid"]
            return Reply(reply.code, body)

        assert _different(pair.both(send), (number, meta, names)) == []
    for seen in versions.values():
        assert seen[0] == seen[1], "an application that changes nothing is written"


@pytest.mark.parametrize(
    "meta",
    [
        pytest.param({"uid": OTHER_UID}, id="uid-of-nothing"),
        pytest.param({"labels": {"a": "1"}}, id="made"),
    ],
)
def test_applying_what_is_not_there_is_answered_alike(pair: Pair, meta: Body) -> None:
    """A stated uid keeps an application from making what somebody has just deleted."""
    body = pair.body(CLAIM, "c", meta=meta, spec={"family": "IPv4"})

    assert _different(pair.both(lambda side: side.apply(CLAIM, body, "m")), meta) == []


def test_a_taken_name_is_answered_alike(pair: Pair) -> None:
    """With `generateName` beside it the name wins, and a collision says so."""
    for meta in ({"generateName": "c-"}, {"generateName": "c-"}, {}):
        body = pair.body(CLAIM, "c-1", meta=meta, spec={"family": "IPv4"})
        assert _different(pair.both(lambda side: side.create(CLAIM, body)), meta) == []  # noqa: B023 - asked at once
    held = {"generateName": "c-", "finalizers": ["local.sdn.cozystack.io/claim-protection"]}
    body = pair.body(CLAIM, "c-2", meta=held, spec={"family": "IPv4"})

    assert _different(pair.both(lambda side: side.create(CLAIM, body)), held) == []


QUOTAS: list[Mapping[str, int]] = [
    {"services": 5, "services.loadbalancers": 1, "services.nodeports": 2},
    {"count/services": 4, "count/ipaddressclaims.local.sdn.cozystack.io": 0},
]
CHARGED = [
    f"{LOCAL}, {BARE}",
    LB,
    f"type: NodePort, {TWO}",
    f"type: NodePort, {P}",
    f"type: LoadBalancer, {P}",
    "type: LoadBalancer, ports: [{port: 0}]",
    P,
    P,
    P,
]


def test_quotas_count_services_alike(pair: Pair, server: Cluster) -> None:
    """Load balancers and node ports are counted by themselves, also of what is changed."""
    for number, hard in enumerate(QUOTAS):
        limits = {"hard": {name: str(limit) for name, limit in hard.items()}}
        body = pair.body(QUOTA, f"q{number}", spec=limits)
        pair.both(lambda side: side.create(QUOTA, body))  # noqa: B023 - asked at once
        counted(server.admin, pair, f"q{number}")
    wrong = []
    for number, text in enumerate(CHARGED):
        body = pair.body(SERVICE, f"s{number}", spec=spec(text))
        wrong += _different(pair.both(lambda side: side.create(SERVICE, body)), text)  # noqa: B023 - asked at once

    def allocate(side: Side) -> Reply:
        there = side.get(SERVICE.ref(pair.namespace, "s0"))
        return side.replace(SERVICE, merged(there, {"spec": spec("type: NodePort")}), "")

    wrong += _different(pair.both(allocate), "type of s0")
    claim = pair.body(CLAIM, "c-1", meta={"generateName": "c-"}, spec={"family": "IPv4"})
    wrong += _different(pair.both(lambda side: side.create(CLAIM, claim)), "claim")

    assert wrong == []


def counted(admin: Admin, pair: Pair, name: str) -> None:
    """Wait until a quota is in force."""

    def seen() -> bool:
        quota = admin.get(QUOTA.ref(pair.namespace, name)) or {}
        return bool((quota.get("status") or {}).get("hard") == quota["spec"]["hard"])

    wait_for(f"quota {name}", seen)
