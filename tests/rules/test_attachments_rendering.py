"""What is rendered: endpoint-attachments 3.4 and 4."""

from dataclasses import replace
from typing import Any

import pytest

from attachment_objects import (
    BARE,
    DYING,
    NS,
    PORTS,
    SEEN,
    UID,
    a_claim,
    a_class,
    an_endpoint,
    asking,
    stated,
    with_service,
    words,
    written,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.render import mended_service
from roadstead.capabilities.attachments.render.ports import choose
from roadstead.capabilities.attachments.snapshot import Asked, Snapshot
from roadstead.kube.names import is_service_name, label_name, label_value_of, minted_name
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE

Json = dict[str, Any]
GONE = "drop Service shop-db-abcde"


def of_endpoint(seen: Snapshot, **spec: Any) -> Snapshot:
    """With another spec of the endpoint."""
    return replace(seen, endpoint=an_endpoint(spec))


WHOLE = with_service(asking(BARE, claimName="held", method="WholeIP"))


@pytest.mark.parametrize(
    ("seen", "reason", "named", "writes"),
    [
        pytest.param(
            of_endpoint(SEEN, type="ExternalName"),
            "EndpointNotMirrorable",
            "ExternalName",
            [GONE],
            id="P10-external",
        ),
        pytest.param(
            of_endpoint(SEEN, selector={}), "EndpointNotMirrorable", "no selector", [GONE], id="P10"
        ),
        pytest.param(
            of_endpoint(SEEN, ports=[]), "EndpointNotMirrorable", "no ports", [GONE], id="P10-ports"
        ),
        pytest.param(of_endpoint(WHOLE, ports=[]), "Provisioned", "", [], id="P10-sentinel"),
        pytest.param(
            asking(SEEN, claimName="held", ports=[9999]), "PortsNotFound", "9999", [GONE], id="P11"
        ),
        pytest.param(BARE, "ServicePending", "shop-rw", ["mint Service"], id="P12-create"),
        pytest.param(
            with_service(BARE, **DYING), "ServicePending", "is being deleted", [], id="P12-wait"
        ),
        pytest.param(replace(WHOLE, ready=2), "MultipleBackends", "2 ready", [], id="P13"),
        pytest.param(replace(WHOLE, ready=0), "Provisioned", "", [], id="P13-none-ready"),
        pytest.param(replace(SEEN, ready=2), "Provisioned", "", [], id="P13-plain"),
        pytest.param(
            asking(SEEN, claimName="held", ports=[5432, 9999]),
            "PortsNotFound",
            "9999",
            ["replace Service"],
            id="P15",
        ),
        pytest.param(SEEN, "Provisioned", "reachability", [], id="P16"),
        pytest.param(
            of_endpoint(SEEN, selector={"app": "new"}),
            "Provisioned",
            "",
            ["replace Service"],
            id="P16-mends",
        ),
    ],
)
def test_each_row_of_render_has_its_reason_and_its_writes(
    seen: Snapshot, reason: str, named: str, writes: list[str]
) -> None:
    """Each row is one step from a world that works; what it writes is the row's, and no more."""
    decision = decide(seen)
    phase = "Attached" if reason == "Provisioned" else "Pending"
    assert f"Resolved {reason} {phase}" == words(decision)
    assert named in stated(decision, "Provisioned")["message"]
    if reason == "MultipleBackends":
        writes = ["replace Service"]
    assert writes == written(decision)


def body_of(seen: Snapshot) -> Json:
    """The Service a decision makes or mends."""
    (want,) = (want for want in decide(seen).want if want.kind == SERVICE)
    return dict(want.body)


def test_the_skeleton_is_the_contracts_and_nothing_beside_it() -> None:
    """4.1 and 4.6: a label or a field too many is copied traffic policy, or a leaked pin."""
    noisy = an_endpoint(
        {
            "clusterIP": "None",
            "sessionAffinity": "ClientIP",
            "externalIPs": ["192.0.2.1"],
            "loadBalancerSourceRanges": ["192.0.2.0/24"],
            "publishNotReadyAddresses": True,
            "ipFamilies": ["IPv6"],
            "externalTrafficPolicy": "Cluster",
        },
        {"mine": "x"},
        annotations={"metallb.io/loadBalancerIPs": "192.0.2.1"},
    )
    body = body_of(replace(BARE, endpoint=noisy))
    assert {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "generateName": "shop-db-",
            "namespace": NS,
            "labels": {api.ATTACHMENT_LABEL: "shop-db"},
            "annotations": {api.CLAIM_ANNOTATION: "held"},
            "ownerReferences": [
                {
                    "apiVersion": "local.sdn.cozystack.io/v1alpha1",
                    "kind": "EndpointAttachment",
                    "name": "shop-db",
                    "uid": UID,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "type": "LoadBalancer",
            "loadBalancerClass": "metallb.io/public",
            "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": False,
            "ipFamilyPolicy": "SingleStack",
            "ipFamilies": ["IPv4"],
            "selector": {"app": "shop"},
            "ports": PORTS,
        },
    } == body


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        pytest.param({"ip_class": a_class(balancer="")}, "loadBalancerClass", None, id="no-class"),
        pytest.param({"node_ports": True}, "allocateLoadBalancerNodePorts", True, id="node-ports"),
        pytest.param({"claim": a_claim(spec={})}, "ipFamilies", ["IPv4"], id="family-absent"),
        pytest.param(
            {"claim": a_claim(spec={"family": "IPv6"})}, "ipFamilies", ["IPv6"], id="IPv6"
        ),
        pytest.param(
            {"claim": a_claim(spec={"family": "IPv6"})}, "ipFamilyPolicy", "SingleStack", id="one"
        ),
        pytest.param({"claim": a_claim(spec={"family": "Dual"})}, "ipFamilies", None, id="dual"),
        pytest.param(
            {"claim": a_claim(spec={"family": "Dual"})},
            "ipFamilyPolicy",
            "RequireDualStack",
            id="dual-policy",
        ),
    ],
)
def test_class_families_and_node_ports_are_set_at_creation(
    change: Json, field: str, expected: object
) -> None:
    """4.5 and 4.7: they cannot be set afterwards."""
    assert expected == body_of(replace(BARE, **change))["spec"].get(field)


MODES = [
    pytest.param({}, None, None, None, id="plain"),
    pytest.param({"method": "PortList", "ports": [5432]}, "false", "true", "cozy-proxy", id="list"),
    pytest.param(
        {"method": "PortList", "ports": [5432], "allowICMP": True},
        "false",
        "true",
        "cozy-proxy",
        id="list-icmp",
    ),
    pytest.param(
        {"method": "PortList", "ports": [5432], "allowICMP": False},
        "false",
        "false",
        "cozy-proxy",
        id="list-no-icmp",
    ),
    pytest.param({"method": "WholeIP"}, "true", None, "cozy-proxy", id="whole"),
    pytest.param({"method": "WholeIP", "ports": [5432]}, "true", None, "cozy-proxy", id="whole-22"),
]


@pytest.mark.parametrize(("balancer", "whole", "icmp", "proxy"), MODES)
@pytest.mark.parametrize(
    "before",
    [
        pytest.param({}, id="from-plain"),
        pytest.param({"method": "PortList", "ports": [5432]}, id="from-list"),
        pytest.param({"method": "WholeIP"}, id="from-whole"),
    ],
)
def test_each_mode_has_its_keys_and_takes_away_those_of_another(
    before: Json, balancer: Json, whole: str | None, icmp: str | None, proxy: str | None
) -> None:
    """4.2: three strings are the whole contract with the proxy; one left behind is obeyed."""
    seen = asking(BARE, claimName="held", **balancer)
    (standing,) = with_service(asking(BARE, claimName="held", **before)).owned
    assert seen.endpoint is not None
    for body in (body_of(seen), mended_service(seen, seen.endpoint, standing, seen.claim)):
        notes, labels = body["metadata"]["annotations"], body["metadata"]["labels"]
        assert whole == notes.get(api.WHOLE_IP_ANNOTATION)
        assert icmp == notes.get(api.ALLOW_ICMP_ANNOTATION)
        assert proxy == labels.get(api.PROXY_LABEL)
        assert {api.CLAIM_ANNOTATION} == notes.keys() - {
            api.WHOLE_IP_ANNOTATION,
            api.ALLOW_ICMP_ANNOTATION,
        }


DNS: list[Json] = [
    {"name": "t", "port": 53, "protocol": "TCP", "targetPort": 53},
    {"name": "u", "port": 53, "protocol": "UDP", "targetPort": 53},
]
SENTINEL: Json = {"port": 65535, "protocol": "TCP", "targetPort": 65535}


def synthesized(number: int, protocol: str = "TCP", name: str = "") -> Json:
    """A port that was made up."""
    name = name or f"port-{number}"
    return {"name": name, "protocol": protocol, "port": number, "targetPort": number}


@pytest.mark.parametrize(
    ("method", "asked", "there", "chosen", "missing"),
    [
        pytest.param("", [], DNS, DNS, [], id="all"),
        pytest.param("", [53], DNS, DNS, [], id="every-protocol"),
        pytest.param("", ["53/UDP"], DNS, DNS[1:], [], id="one-protocol"),
        pytest.param("", ["53/SCTP"], DNS, [], ["53/SCTP"], id="another-protocol"),
        pytest.param("", [9187, 5432], PORTS, PORTS, [], id="in-the-endpoints-order"),
        pytest.param("", [5432, "5432/TCP"], PORTS, PORTS[:1], [], id="once"),
        pytest.param("", [5432, 9999], PORTS, PORTS[:1], [9999], id="some"),
        pytest.param("PortList", [9187], PORTS, PORTS[1:], [], id="list"),
        pytest.param("WholeIP", [], PORTS, [SENTINEL], [], id="whole"),
        pytest.param("WholeIP", [5432], PORTS, PORTS[:1], [], id="whole-with-ports"),
        pytest.param("", [], [{"port": 65535}], [SENTINEL], [], id="sentinel-mirrored"),
        pytest.param("", [22], [{"port": 65535}], [synthesized(22)], [], id="synthesized"),
        pytest.param(
            "",
            [22, "53/UDP", "9/SCTP", "22/TCP", 22],
            [{"port": 65535}],
            [
                synthesized(22),
                synthesized(53, "UDP", "port-53-udp"),
                synthesized(9, "SCTP", "port-9-sctp"),
            ],
            [],
            id="synthesized-once-each",
        ),
        pytest.param("", [22], [{"port": 65535}, {"port": 80}], [], [22], id="a-sentinel-is-alone"),
    ],
)
def test_ports_are_mirrored_chosen_or_made_up(
    method: str, asked: list[int | str], there: list[Json], chosen: list[Json], missing: list[Any]
) -> None:
    """4.3: by number and protocol of the Service alone, in the endpoint's order."""
    attachment = asking(BARE, method=method, ports=asked).attachment
    found = choose(Asked.of(attachment), an_endpoint({"ports": there}))
    assert (chosen, missing) == (list(found.ports), list(found.missing))


def test_a_port_is_copied_without_its_node_port() -> None:
    """4.3: the endpoint's node port is taken; the rest of the port is what clients know."""
    full = {
        "name": "a",
        "port": 1,
        "targetPort": "web",
        "appProtocol": "http",
        "nodePort": 30000,
    }
    attachment = asking(BARE).attachment
    (port,) = choose(Asked.of(attachment), an_endpoint({"ports": [full]})).ports
    assert {
        "name": "a",
        "protocol": "TCP",
        "port": 1,
        "targetPort": "web",
        "appProtocol": "http",
    } == port


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        pytest.param("shop-db", "shop-db", id="as-it-is"),
        pytest.param("shop.db", "shop-db", id="dots"),
        pytest.param("1shop", "ea-1shop", id="digit"),
        pytest.param("a" * 57, "a" * 57, id="57"),
        pytest.param("a" * 58, "a" * 57, id="58"),
        pytest.param("a" * 56 + "-b", "a" * 56, id="dash-at-the-cut"),
        pytest.param("a" * 54 + "...b", "a" * 54, id="dots-at-the-cut"),
        pytest.param("9" * 253, "ea-" + "9" * 54, id="longest"),
    ],
)
def test_the_name_is_made_legal_for_a_service(name: str, prefix: str) -> None:
    """4.1: attachments are named like subdomains, Services like labels that begin with a letter."""
    assert prefix == label_name(name, "ea")
    assert is_service_name(minted_name(f"{prefix}-", UID, "service", 0))
    assert len(label_value_of(name)) <= 63


def test_names_differ_by_owner_role_and_number() -> None:
    """5.2: the same request always has the same name, and no two purposes share one."""
    names = {
        minted_name("a-", owner, role, number)
        for owner in ("u1", "u2")
        for role in ("service", "claim")
        for number in range(8)
    }
    assert 32 == len(names)
    assert all(set(name[2:]) <= set("bcdfghjklmnpqrstvwxz2456789") for name in names)


def test_a_whole_ip_with_two_backends_is_held_dark_and_comes_back() -> None:
    """4.4: the selector is never emptied; stale slices would go on serving."""
    dark = body_of(replace(WHOLE, ready=2))
    assert {"app": "shop", api.DARK_LABEL: "true"} == dark["spec"]["selector"]
    assert dark["metadata"] == WHOLE.owned[0].body["metadata"]
    back = body_of(replace(WHOLE, owned=(Object.of(SERVICE, dark),)))
    assert {"app": "shop"} == back["spec"]["selector"]


def test_a_service_is_created_dark() -> None:
    """4.4: the address is pinned and held from the start."""
    body = body_of(replace(WHOLE, ready=3, owned=()))
    assert {"app": "shop", api.DARK_LABEL: "true"} == body["spec"]["selector"]


@pytest.mark.parametrize("method", ["", "PortList"])
def test_only_a_whole_ip_goes_dark(method: str) -> None:
    """4.2: the seed limits darkness to WholeIP."""
    seen = asking(BARE, claimName="held", method=method, ports=[5432])
    assert {"app": "shop"} == body_of(replace(seen, ready=2))["spec"]["selector"]
