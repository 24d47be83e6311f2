"""The evaluator of these tests means by a policy what the engines of other projects mean by it."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from reach import RESERVED, End, Flow, Policies, Verdict, request
from roadstead.testbed.foreign import ask

pytestmark = pytest.mark.foreign

Body = dict[str, Any]
NAMESPACES = ("blue", "green", "red")
PORTS = (53, 80, 443, 8080, 8085)
BLOCKS = ("203.0.113.0/24", "192.168.0.0/16", "198.51.100.0/25")
PODS = tuple(
    End(f"{namespace}-{app}", namespace, {"app": app, "tier": tier}, f"10.244.{number}.{place}")
    for number, namespace in enumerate(NAMESPACES)
    for place, (app, tier) in enumerate((("web", "front"), ("api", "back"), ("db", "back")), 1)
)
OUTSIDE = tuple(End(one, address=one) for one in ("203.0.113.7", "203.0.113.130", "192.168.1.10"))
INSIDE = tuple(End(one, reserved=one) for one in RESERVED)
SEEDS = range(40)


def flows(chance: Random, ends: tuple[End, ...], number: int) -> list[Flow]:
    """Some connections with a pod at one end at least."""
    found: list[Flow] = []
    while len(found) < number:
        source, target = chance.sample(ends, 2)
        if source.namespace or target.namespace:
            port, protocol = chance.choice(PORTS), chance.choice(("TCP", "UDP"))
            found.append(Flow(source, target, port, protocol))
    return found


def labels(chance: Random) -> Body:
    """A selector of pods, often an empty one."""
    found: Body = {}
    if chance.random() < 0.5:
        found["matchLabels"] = {"app": chance.choice(("web", "api", "db"))}
    if chance.random() < 0.3:
        operator = chance.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        term: Body = {"key": "tier", "operator": operator}
        if operator in {"In", "NotIn"}:
            term["values"] = chance.choice((["front"], ["back"], ["front", "back"]))
        found["matchExpressions"] = [term]
    return found


def native(chance: Random, name: str) -> Body:
    """A native policy as somebody might write it."""

    def peer() -> Body:
        if chance.random() < 0.3:
            cidr = chance.choice(BLOCKS)
            held = {"except": ["203.0.113.128/25"]} if cidr == BLOCKS[0] else {}
            return {"ipBlock": {"cidr": cidr, **held}}
        found: Body = {"podSelector": labels(chance)}
        if chance.random() < 0.6:
            named = {"kubernetes.io/metadata.name": chance.choice(NAMESPACES)}
            found["namespaceSelector"] = chance.choice(({}, {"matchLabels": named}))
        return found

    def port() -> Body:
        found: Body = {"protocol": chance.choice(("TCP", "UDP"))}
        if chance.random() < 0.8:
            found["port"] = chance.choice((80, 443, 8080))
            if chance.random() < 0.3:
                found["endPort"] = found["port"] + 10
        return found

    def rules(side: str) -> list[Body]:
        return [
            {
                side: [peer() for _ in range(chance.randint(0, 2))],
                "ports": [port() for _ in range(chance.randint(0, 2))],
            }
            for _ in range(chance.randint(0, 2))
        ]

    # Rules in a direction that policyTypes leaves out: the reference ignores them, Cilium does not.
    types = chance.choice((["Ingress"], ["Egress"], ["Ingress", "Egress"]))
    sides = {"Ingress": ("ingress", rules("from")), "Egress": ("egress", rules("to"))}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": chance.choice(NAMESPACES)},
        "spec": {
            "podSelector": labels(chance),
            "policyTypes": types,
            **dict(sides[one] for one in types),
        },
    }


def cilium(chance: Random, name: str) -> Body:
    """A CiliumNetworkPolicy as somebody might write it."""

    def endpoints() -> Body:
        found = labels(chance)
        if chance.random() < 0.5:
            keyed = {f"k8s:{key}": value for key, value in found.get("matchLabels", {}).items()}
            keyed["k8s:io.kubernetes.pod.namespace"] = chance.choice(NAMESPACES)
            found["matchLabels"] = keyed
        return found

    def rule(side: str) -> Body:
        entities = ["world", "ingress", "host", "remote-node", "kube-apiserver", "cluster", "all"]
        ranges = [
            {"cidr": "0.0.0.0/0", "except": ["192.168.0.0/16"]},
            {"cidr": "203.0.113.0/25"},
            {"cidr": "192.168.1.10/32"},
        ]
        kinds: dict[str, Any] = {
            "Endpoints": [endpoints() for _ in range(chance.randint(1, 2))],
            "Entities": chance.sample(entities, chance.randint(0, 2)),
            "CIDRSet": chance.sample(ranges, 1),
            "": None,
        }
        kind = chance.choice(list(kinds))
        found: Body = {f"{side}{kind}": kinds[kind]} if kind else {}
        if chance.random() < 0.7 or not kind:
            port = {"port": chance.choice(("53", "80", "8080")), "protocol": "ANY"}
            if chance.random() < 0.7:
                port["protocol"] = chance.choice(("TCP", "UDP"))
            if chance.random() < 0.2:
                port["endPort"] = int(port["port"]) + 10  # type: ignore[assignment]  # a number among words
            found["toPorts"] = [{"ports": [port]}]
        return found

    spec: Body = {"endpointSelector": labels(chance)}
    ways = chance.choice((("ingress",), ("egress",), ("ingress", "egress")))
    for way in ways:
        side = "from" if way == "ingress" else "to"
        spec[way] = [rule(side) for _ in range(chance.randint(1, 2))]
        if chance.random() < 0.2:
            spec.setdefault("enableDefaultDeny", {})[way] = chance.choice((True, False))
    namespace = chance.choice(NAMESPACES)
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def worlds(
    kinds: tuple[Any, ...], ends: tuple[End, ...]
) -> Iterator[tuple[list[Body], list[Flow]]]:
    """Policies and connections, the same in every run."""
    for seed in SEEDS:
        chance = Random(seed)  # noqa: S311 - worlds, not keys
        number = chance.randint(1, 6)
        yield (
            [chance.choice(kinds)(chance, f"p{one}") for one in range(number)],
            flows(chance, ends, 60),
        )


def said(answer: Body) -> list[Verdict]:
    """Cilium's verdicts, once it has taken every policy."""
    assert answer["accepted"], answer
    return [Verdict(**one) for one in answer["verdicts"]]


def differing(mine: list[Verdict], theirs: list[Verdict], asked: list[Flow]) -> list[str]:
    """The connections two engines disagree on."""
    triples = zip(asked, mine, theirs, strict=True)
    return [f"{flow}: {ours}, not {other}" for flow, ours, other in triples if ours != other]


def test_native_policies_mean_what_kube_network_policies_says() -> None:
    """2,400 connections under native policies; that engine gives one verdict for both ends."""
    known = list(worlds((native,), (*PODS, *OUTSIDE)))
    answers = ask("netpol", (request(bodies, asked) for bodies, asked in known))

    allowed = 0
    for (bodies, asked), answer in zip(known, answers, strict=True):
        mine = [Policies(bodies).judge(flow).allowed for flow in asked]
        assert mine == answer["verdicts"], bodies
        allowed += sum(mine)
    assert 300 < allowed < 2100


@pytest.mark.parametrize(
    ("kinds", "ends"),
    [
        pytest.param((native,), (*PODS, *OUTSIDE), id="native"),
        pytest.param((cilium,), (*PODS, *OUTSIDE, *INSIDE), id="cilium"),
        pytest.param((native, cilium), (*PODS, *OUTSIDE, *INSIDE), id="both"),
    ],
)
def test_policies_mean_what_ciliums_repository_says(
    kinds: tuple[Any, ...], ends: tuple[End, ...]
) -> None:
    """2,400 connections, both halves of each."""
    known = list(worlds(kinds, ends))
    answers = ask("cilium", (request(bodies, asked) for bodies, asked in known))

    for (bodies, asked), answer in zip(known, answers, strict=True):
        judge = Policies(bodies)
        assert [] == differing([judge.judge(flow) for flow in asked], said(answer), asked), bodies


SPEC: Body = {"endpointSelector": {}}
NOBODY = Verdict(egress=True, ingress=False)
EVERYBODY = Verdict(egress=True, ingress=True)


@pytest.mark.parametrize(
    ("spec", "meaning"),
    [
        pytest.param({**SPEC, "ingress": []}, None, id="empty-list"),
        pytest.param(
            {**SPEC, "ingress": [], "enableDefaultDeny": {"ingress": True}},
            None,
            id="empty-list-told-to-deny",
        ),
        pytest.param({**SPEC, "ingress": [{}]}, NOBODY, id="empty-rule"),
        pytest.param({**SPEC, "ingress": [{"fromEntities": []}]}, NOBODY, id="no-entities"),
        pytest.param({**SPEC, "ingress": [{"fromEndpoints": []}]}, NOBODY, id="no-endpoints"),
        pytest.param(
            {**SPEC, "ingress": [{"toPorts": [{"ports": [{"port": "80"}]}]}]},
            EVERYBODY,
            id="ports-without-peers",
        ),
    ],
)
def test_what_a_baseline_could_look_like(spec: Body, meaning: Verdict | None) -> None:
    """What Cilium makes of the forms in contract 3.3; None is refused by its parser."""
    body = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {"name": "default-deny", "namespace": "blue"},
        "spec": spec,
    }
    asked = [Flow(PODS[3], PODS[0], 80)]

    parsed, judged = ask("cilium", [{"object": body}, request([body], asked)])

    assert parsed["accepted"] is (meaning is not None), parsed
    if meaning is not None:
        assert [meaning] == said(judged)
