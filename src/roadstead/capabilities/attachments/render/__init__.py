"""What an attachment has others make: its stamp, its claim and the Service that mirrors.

Nothing of the endpoint is copied but its selector and its ports. Source: endpoint-attachments 4.
"""

from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.render.ports import choose
from roadstead.capabilities.attachments.snapshot import Snapshot, family_of
from roadstead.kube.names import label_name, label_value_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SERVICE
from roadstead.kube.shapes import part, text

Json = dict[str, Any]


def stamp(seen: Snapshot, release: Object) -> Json:
    """The fields that tie an attachment to its application, in one write. Source: 3.2.

    The uid and resourceVersion seen are preconditions: an owner reference that somebody has set
    meanwhile is never joined by a second.
    """
    meta = seen.attachment.meta
    owner = {
        "apiVersion": HELM_RELEASE.api_version,
        "kind": HELM_RELEASE.kind,
        "name": release.meta.name,
        "uid": release.meta.uid,
    }
    return {
        "apiVersion": api.ATTACHMENT.api_version,
        "kind": api.ATTACHMENT.kind,
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "labels": seen.asked.triple,
            "annotations": {api.UID_ANNOTATION: release.meta.uid},
            "ownerReferences": [owner],
        },
    }


def claim(seen: Snapshot) -> Json:
    """The claim that holds an address for this attachment."""
    asked = seen.asked
    spec = {"className": asked.class_name, "family": asked.family}
    return {
        "apiVersion": api.CLAIM.api_version,
        "kind": api.CLAIM.kind,
        "metadata": {
            "generateName": f"{label_name(seen.ref.name, 'ea')}-",
            "namespace": seen.namespace,
            "ownerReferences": [_controller(seen)],
        },
        "spec": {key: value for key, value in spec.items() if value},
    }


def fresh_service(seen: Snapshot, endpoint: Object, held: Object) -> Json:
    """The Service where none stands yet. held: the bound claim. Source: 4.1."""
    spec: Json = {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "allocateLoadBalancerNodePorts": seen.node_ports,
        **_families(held),
        "selector": _selector(seen, endpoint),
        "ports": [dict(port) for port in choose(seen.asked, endpoint).ports],
    }
    balancer = load_balancer_class(seen.ip_class)
    if balancer:
        spec["loadBalancerClass"] = balancer
    return {
        "apiVersion": "v1",
        "kind": SERVICE.kind,
        "metadata": {
            "generateName": f"{label_name(seen.ref.name, 'ea')}-",
            "namespace": seen.namespace,
            "labels": _labels(seen),
            "annotations": _annotations(seen, held),
            "ownerReferences": [_controller(seen)],
        },
        "spec": spec,
    }


def mended_service(seen: Snapshot, endpoint: Object, live: Object, held: Object | None) -> Json:
    """The live Service with our parts put right; equal to it when nothing has drifted.

    held: the claim; None where it cannot be read, and the Service stays pinned as it is.
    What stays is shared with the live one, as nobody writes into a body: no copy for each look.
    Source: 4.7: what drivers and the lineage webhook wrote stays.
    """
    modes = (api.WHOLE_IP_ANNOTATION, api.ALLOW_ICMP_ANNOTATION)
    meta = {
        **live.body["metadata"],
        "labels": _merged(live.labels, _labels(seen), (api.PROXY_LABEL,)),
        "annotations": _merged(live.annotations, _annotations(seen, held), modes),
    }
    spec = {
        **live.body["spec"],
        "selector": _selector(seen, endpoint),
        "externalTrafficPolicy": "Local",
        "allocateLoadBalancerNodePorts": seen.node_ports,
        "ports": _ports(seen, endpoint, live),
    }
    return {**live.body, "metadata": meta, "spec": spec}


def is_replaced(seen: Snapshot, live: Object) -> bool:
    """Tell whether a Service cannot be put right in place. Source: 4.7, the last paragraphs."""
    spec = part(live.body, "spec")
    if text(spec, "type") != "LoadBalancer":
        return True
    claim = seen.claim.meta.name if seen.claim is not None else ""
    moved = claim and claim not in {live.annotations.get(api.CLAIM_ANNOTATION), recorded(seen)}
    stated = text(spec, "loadBalancerClass")
    return (
        bool(moved) and seen.ip_class is not None and stated != load_balancer_class(seen.ip_class)
    )


def recorded(seen: Snapshot) -> str:
    """The claim that was reported last."""
    return text(seen.status, "claimName")


def load_balancer_class(ip_class: Object | None) -> str:
    """The `loadBalancerClass` a class asks for; empty for none. Source: 2.2."""
    return text(part(ip_class.body, "spec"), "loadBalancerClass") if ip_class else ""


def _controller(seen: Snapshot) -> Json:
    meta = seen.attachment.meta
    return {
        "apiVersion": api.ATTACHMENT.api_version,
        "kind": api.ATTACHMENT.kind,
        "name": meta.name,
        "uid": meta.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _labels(seen: Snapshot) -> dict[str, str]:
    labels = {api.ATTACHMENT_LABEL: label_value_of(seen.ref.name)}
    if seen.asked.method:
        labels[api.PROXY_LABEL] = api.PROXY
    return labels


def _annotations(seen: Snapshot, held: Object | None) -> dict[str, str]:
    """Our annotations of the mode. Source: 4.2, and nothing beside them."""
    annotations = {api.CLAIM_ANNOTATION: held.meta.name} if held is not None else {}
    method = seen.asked.method
    if method:
        annotations[api.WHOLE_IP_ANNOTATION] = _spelt(method == "WholeIP")
    if method == "PortList":
        annotations[api.ALLOW_ICMP_ANNOTATION] = _spelt(seen.asked.allow_icmp)
    return annotations


def _spelt(stated: bool) -> str:
    return "true" if stated else "false"


def _merged(live: Any, wanted: dict[str, str], ours: tuple[str, ...]) -> dict[str, str]:
    """What is there, with ours put right and those of another mode taken away."""
    return {key: value for key, value in live.items() if key not in ours} | wanted


def is_dark(seen: Snapshot) -> bool:
    """Tell whether the Service is held and serves nobody. Source: 4.4."""
    return seen.asked.method == "WholeIP" and seen.ready > 1


def _selector(seen: Snapshot, endpoint: Object) -> dict[str, str]:
    """The endpoint's selector; with a pair no pod carries where the Service is held dark.

    It is never emptied: the slices of a Service without a selector are left as they are.
    """
    selector = dict(part(endpoint.body, "spec", "selector"))
    return {**selector, api.DARK_LABEL: "true"} if is_dark(seen) else selector


def _families(held: Object) -> Json:
    family = family_of(held)
    if family == "Dual":
        return {"ipFamilyPolicy": "RequireDualStack"}
    return {"ipFamilyPolicy": "SingleStack", "ipFamilies": [family]}


def _ports(seen: Snapshot, endpoint: Object, live: Object) -> list[Json]:
    """The ports whole, each with the node port it has while node ports are wanted."""
    stated = part(live.body, "spec").get("ports") or ()
    held = {(one.get("protocol", "TCP"), one.get("port")): one.get("nodePort") for one in stated}
    ports = []
    for port in choose(seen.asked, endpoint).ports:
        node_port = held.get((port["protocol"], port["port"])) if seen.node_ports else None
        ports.append({**port, "nodePort": node_port} if node_port else dict(port))
    return ports
