"""What of a Service that stands is put right, left alone or replaced: endpoint-attachments 4.7."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from attachment_objects import (
    BARE,
    NS,
    PORTS,
    SEEN,
    a_claim,
    a_class,
    a_release,
    an_attachment,
    an_endpoint,
    asking,
    reported,
    stated,
    with_service,
    words,
    written,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.render import is_replaced
from roadstead.capabilities.attachments.snapshot import Association, Snapshot
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE

Json = dict[str, Any]
GONE = "drop Service shop-db-abcde"


def edited(meta: Json | None = None, /, **spec: Any) -> Snapshot:
    """Attached, with parts of the live Service changed; None takes a part away."""
    body = copy.deepcopy(SEEN.owned[0].body)
    for where, parts in (("spec", spec), ("metadata", meta or {})):
        merged = {**body[where], **parts}
        body[where] = {key: part for key, part in merged.items() if part is not None}
    return replace(SEEN, owned=(Object.of(SERVICE, body),))


LABELS = {api.ATTACHMENT_LABEL: "shop-db"}
NOTES = {api.CLAIM_ANNOTATION: "held"}


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(edited(selector={"app": "evil"}), id="selector"),
        pytest.param(edited(selector={"app": "shop", "x": "y"}), id="selector-key-added"),
        pytest.param(edited(ports=[*PORTS, {"port": 22, "protocol": "TCP"}]), id="port-added"),
        pytest.param(edited(ports=PORTS[:1]), id="port-removed"),
        pytest.param(edited(ports=PORTS[::-1]), id="ports-in-another-order"),
        pytest.param(edited(externalTrafficPolicy="Cluster"), id="traffic-policy"),
        pytest.param(edited(allocateLoadBalancerNodePorts=True), id="node-ports"),
        pytest.param(edited({"labels": {api.ATTACHMENT_LABEL: "other"}}), id="label"),
        pytest.param(edited({"labels": {**LABELS, api.PROXY_LABEL: "cozy-proxy"}}), id="proxy"),
        pytest.param(edited({"annotations": {api.CLAIM_ANNOTATION: "other"}}), id="pin"),
        pytest.param(
            edited({"annotations": {**NOTES, api.WHOLE_IP_ANNOTATION: "true"}}), id="whole-ip"
        ),
        pytest.param(
            edited({"annotations": {**NOTES, api.ALLOW_ICMP_ANNOTATION: "true"}}), id="icmp"
        ),
    ],
)
def test_what_is_ours_is_put_right_in_place(live: Snapshot) -> None:
    """An edit of ours would send traffic elsewhere, or the address to another datapath."""
    decision = decide(live)
    (want,) = decision.want
    assert ["replace Service"] == written(decision)
    assert SEEN.owned[0].body["spec"] == want.body["spec"]
    assert SEEN.owned[0].body["metadata"] == want.body["metadata"]
    assert "Resolved Provisioned Attached" == words(decision)


FOREIGN_META = {
    "labels": {**LABELS, "internal.cozystack.io/managed-by-cozystack": "true"},
    "annotations": {**NOTES, "metallb.io/loadBalancerIPs": "203.0.113.5"},
    "finalizers": ["service.kubernetes.io/load-balancer-cleanup"],
}
FOREIGN_SPEC = {
    "clusterIP": "10.0.0.9",
    "healthCheckNodePort": 31000,
    "sessionAffinity": "None",
    "loadBalancerSourceRanges": ["192.0.2.0/24"],
    "ipFamilyPolicy": "PreferDualStack",
    "ipFamilies": ["IPv6"],
    "loadBalancerClass": "metallb.io/older",
}


def test_what_is_anothers_is_left_alone() -> None:
    """4.7: drivers pin and the lineage webhook stamps; a write that drops them starts a loop."""
    assert [] == written(decide(edited(FOREIGN_META, **FOREIGN_SPEC)))


def test_what_is_anothers_survives_our_write() -> None:
    """The PUT starts from the live object, with the version that was seen."""
    live = edited(FOREIGN_META, **FOREIGN_SPEC, selector={"app": "evil"})
    (want,) = decide(live).want
    assert {**live.owned[0].body["spec"], "selector": {"app": "shop"}} == want.body["spec"]
    assert live.owned[0].body["metadata"] == want.body["metadata"]
    assert live.owned[0].body["status"] == want.body["status"]


@pytest.mark.parametrize(
    ("node_ports", "expected"),
    [pytest.param(True, [30001, 30002], id="wanted"), pytest.param(False, [None, None], id="not")],
)
def test_node_ports_are_kept_while_they_are_wanted(
    node_ports: bool, expected: list[int | None]
) -> None:
    """4.7: the field alone releases none, and a PUT without them would renumber them."""
    ports = [{**port, "nodePort": 30001 + at} for at, port in enumerate(PORTS)]
    live = edited(ports=ports, selector={"app": "evil"})
    (want,) = decide(replace(live, node_ports=node_ports)).want
    assert expected == [port.get("nodePort") for port in want.body["spec"]["ports"]]
    assert node_ports is want.body["spec"]["allocateLoadBalancerNodePorts"]


def test_node_ports_follow_port_and_protocol() -> None:
    """A new port in front takes nobody's node port."""
    live = edited(ports=[{**PORTS[1], "nodePort": 30002}])
    (want,) = decide(replace(live, node_ports=True)).want
    assert [None, 30002] == [port.get("nodePort") for port in want.body["spec"]["ports"]]


MOVED = replace(BARE, attachment=an_attachment(), claim=a_claim("old", minted=True))
MOVED = reported(with_service(MOVED))


@pytest.mark.parametrize(
    ("seen", "replaced"),
    [
        pytest.param(SEEN, False, id="right"),
        pytest.param(edited(type="ClusterIP"), True, id="type"),
        pytest.param(edited(loadBalancerClass="other"), False, id="class-differs-alone"),
        pytest.param(replace(SEEN, ip_class=a_class(balancer="new")), False, id="class-edited"),
        pytest.param(
            replace(
                edited({"annotations": {api.CLAIM_ANNOTATION: "x"}}),
                ip_class=a_class(balancer="new"),
            ),
            False,
            id="pin-edited",
        ),
        pytest.param(
            replace(MOVED, claim=a_claim(), ip_class=a_class(balancer="new")), True, id="moved"
        ),
        pytest.param(
            replace(MOVED, claim=a_claim(), ip_class=a_class()), False, id="moved-in-class"
        ),
        pytest.param(
            replace(MOVED, claim=a_claim(), ip_class=None), False, id="moved-to-an-unknown-class"
        ),
        pytest.param(replace(SEEN, claim=None), False, id="no-claim"),
    ],
)
def test_a_service_is_replaced_only_where_it_cannot_be_mended(
    seen: Snapshot, replaced: bool
) -> None:
    """4.7: a replacement costs the traffic; an edit of the class alone is no reason."""
    assert replaced is is_replaced(seen, seen.owned[0])


def test_a_replacement_is_made_once_the_old_one_is_gone() -> None:
    """O6: first the delete, with its uid; the create is another pass's."""
    decision = decide(edited(type="ClusterIP"))
    assert "Resolved ServicePending Pending" == words(decision)
    assert [GONE] == written(decision)
    assert ["mint Service"] == written(decide(replace(SEEN, owned=())))


DOUBLE = Object.of(
    SERVICE,
    {
        **SEEN.owned[0].body,
        "metadata": {**SEEN.owned[0].body["metadata"], "name": "shop-db-zzzzz", "uid": "u-2"},
    },
)


@pytest.mark.parametrize(
    ("seen", "gone"),
    [
        pytest.param(SEEN, "shop-db-zzzzz", id="by-age-and-name"),
        pytest.param(
            replace(SEEN, associations=(Association("Service", NS, "shop-db-zzzzz", exists=True),)),
            "shop-db-abcde",
            id="the-one-with-the-address-stays",
        ),
    ],
)
def test_a_double_goes(seen: Snapshot, gone: str) -> None:
    """5.2: two Services of one attachment fight for one address."""
    seen = replace(seen, owned=(*SEEN.owned, DOUBLE))
    assert [f"drop Service {gone}"] == written(decide(seen))


def test_a_withdrawal_takes_every_service_that_stands() -> None:
    """3.1: `withdraw` is of all that it owns."""
    seen = replace(SEEN, owned=(*SEEN.owned, DOUBLE), endpoint=None)
    assert [GONE, "drop Service shop-db-zzzzz"] == written(decide(seen))


CHANGED = an_endpoint({"selector": {"app": "new"}, "ports": PORTS[:1]})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"claim_kind": False, "claim": None}, id="P3"),
        pytest.param({"claim": a_claim(spec={"family": "Dual"})}, id="P6"),
        pytest.param({"claim": a_claim(status={"phase": "Lost", "addresses": []})}, id="P7"),
    ],
)
def test_what_is_left_alone_goes_on_being_mirrored(change: Json) -> None:
    """3.1: neither deleted nor replaced, and pinned as it was, yet the selector follows."""
    seen = asking(SEEN, claimName="held", family="IPv4")
    (want,) = decide(replace(seen, endpoint=CHANGED, **change)).want
    assert ({"app": "new"}, PORTS[:1]) == tuple(
        want.body["spec"][key] for key in ("selector", "ports")
    )
    assert NOTES == want.body["metadata"]["annotations"]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"type": "ExternalName"}, id="external"),
        pytest.param({"selector": {}}, id="no-selector"),
        pytest.param({"ports": []}, id="no-ports"),
    ],
)
def test_what_cannot_be_mirrored_leaves_a_service_as_it_was(spec: Json) -> None:
    """P3 says leave it; a Service without selector or ports would be refused, or serve anybody."""
    seen = replace(SEEN, claim=None, claim_kind=False, endpoint=an_endpoint(spec))
    assert ([], "ClaimPending") == (
        written(decide(seen)),
        stated(decide(seen), "Provisioned")["reason"],
    )


def test_another_endpoint_keeps_service_and_address() -> None:
    """7: a new `serviceName` that resolves is mirrored in place."""
    body = copy.deepcopy(SEEN.attachment.body)
    body["spec"]["endpoint"]["serviceName"] = "shop-ro"
    seen = replace(SEEN, attachment=Object.of(api.ATTACHMENT, body), endpoint=CHANGED)
    decision = decide(replace(seen, releases=(a_release(),)))
    assert ["replace Service"] == written(decision)
    assert SEEN.owned[0].body["metadata"] == decision.want[0].body["metadata"]
