"""What is sent is held against its schema: what an attachment has made, and what it writes itself.

Source: endpoint-attachments 3.2, 3.7, 4.1 and 5.2.
"""

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.engine.check import check
from roadstead.errors import BugError
from roadstead.kube.refs import SERVICE, Kind

OWNER = {
    "apiVersion": ATTACHMENT.api_version,
    "kind": ATTACHMENT.kind,
    "name": "shop-db",
    "uid": "u1",
    "controller": True,
    "blockOwnerDeletion": True,
}
STAMP = {
    "apiVersion": ATTACHMENT.api_version,
    "kind": ATTACHMENT.kind,
    "metadata": {
        "name": "shop-db",
        "namespace": "tenant-blue",
        "uid": "u1",
        "labels": {"apps.cozystack.io/application.kind": "Postgres"},
        "ownerReferences": [
            {
                "apiVersion": "helm.toolkit.fluxcd.io/v2",
                "kind": "HelmRelease",
                "name": "postgres-shop",
                "uid": "u2",
            }
        ],
    },
}
REPORT = {
    **STAMP,
    "spec": {"applicationRef": {}, "endpoint": {}, "loadBalancer": {}},
    "status": {
        "observedGeneration": 1,
        "phase": "Pending",
        "serviceName": "",
        "claimName": "",
        "addresses": [],
        "conditions": [
            {
                "type": "Ready",
                "status": "False",
                "reason": "ClaimPending",
                "message": "m",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
    },
}
MINTED = {
    "apiVersion": CLAIM.api_version,
    "kind": CLAIM.kind,
    "metadata": {
        "generateName": "shop-db-",
        "name": "shop-db-x2c4v",
        "namespace": "tenant-blue",
        "ownerReferences": [OWNER],
    },
    "spec": {"className": "public", "family": "Dual"},
}
SHOWN = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
        "generateName": "shop-db-",
        "namespace": "tenant-blue",
        "labels": {"local.sdn.cozystack.io/endpoint-attachment": "shop-db"},
        "annotations": {"local.sdn.cozystack.io/ip-address-claim": "shop-db-x2c4v"},
        "ownerReferences": [OWNER],
    },
    "spec": {
        "type": "LoadBalancer",
        "loadBalancerClass": "metallb",
        "externalTrafficPolicy": "Local",
        "allocateLoadBalancerNodePorts": False,
        "ipFamilyPolicy": "SingleStack",
        "ipFamilies": ["IPv4"],
        "selector": {"app": "shop-db"},
        "ports": [{"name": "sql", "protocol": "TCP", "port": 5432, "targetPort": "sql"}],
    },
}
LIVE = {
    **SHOWN,
    "metadata": {
        **SHOWN["metadata"],  # type: ignore[dict-item]  # a map of any values
        "name": "shop-db-k7m2p",
        "uid": "u3",
        "finalizers": ["driver.example.org/pinned"],
        "annotations": {"driver.example.org/pool": "outer"},
    },
    "spec": {**SHOWN["spec"], "clusterIP": "10.96.0.9", "healthCheckNodePort": 30123},  # type: ignore[dict-item]  # a map of any values
    "status": {"loadBalancer": {}},
}
GONE = object()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param(ATTACHMENT, STAMP, id="the-owner-and-labels-of-an-attachment"),
        pytest.param(ATTACHMENT, REPORT, id="its-status"),
        pytest.param(CLAIM, MINTED, id="a-claim"),
        pytest.param(SERVICE, SHOWN, id="a-new-service"),
        pytest.param(SERVICE, LIVE, id="a-service-that-others-wrote-to"),
    ],
)
def test_what_the_contract_shows_is_sent(kind: Kind, body: Mapping[str, Any]) -> None:
    """The check never stands in the way of what is right."""
    check(kind, body)


@pytest.mark.parametrize(
    ("kind", "body", "path", "value"),
    [
        (ATTACHMENT, STAMP, "metadata.ownerReferences.0.uid", ""),
        (ATTACHMENT, REPORT, "status.phase", "Ready"),
        (ATTACHMENT, REPORT, "status.found", "x"),
        (ATTACHMENT, REPORT, "status.addresses", [""]),
        (ATTACHMENT, REPORT, "status.conditions.0.reason", ""),
        (ATTACHMENT, REPORT, "status.conditions.0.status", True),
        (ATTACHMENT, REPORT, "status.conditions.0.lastTransitionTime", "yesterday"),
        (ATTACHMENT, REPORT, "status.conditions.0.lastTransitionTime", GONE),
        (CLAIM, MINTED, "metadata.ownerReferences", []),
        (CLAIM, MINTED, "metadata.ownerReferences.0.controller", GONE),
        (CLAIM, MINTED, "spec.className", ""),
        (CLAIM, MINTED, "spec.addressName", "a"),
        (CLAIM, MINTED, "status", {}),
        (SERVICE, SHOWN, "metadata.annotations", {}),
        (SERVICE, SHOWN, "metadata.ownerReferences.0.controller", False),
        (SERVICE, SHOWN, "metadata.ownerReferences.0.kind", "HelmRelease"),
        (SERVICE, SHOWN, "metadata.labels", {}),
        (SERVICE, SHOWN, "spec.ipFamilyPolicy", GONE),
        (SERVICE, SHOWN, "spec.loadBalancerClass", ""),
        (SERVICE, LIVE, "spec.selector", {}),
        (SERVICE, LIVE, "spec.selector", GONE),
        (SERVICE, LIVE, "spec.type", "ClusterIP"),
        (SERVICE, LIVE, "spec.externalTrafficPolicy", "Cluster"),
        (SERVICE, LIVE, "spec.ports", []),
        (SERVICE, LIVE, "spec.ports.0.port", 0),
        (SERVICE, LIVE, "spec.ports.0.targetPort", "53/UDP"),
    ],
)
def test_a_wrong_body_is_never_sent(
    kind: Kind, body: Mapping[str, Any], path: str, value: object
) -> None:
    """Each is one step away from a body that is right."""
    wrong: Any = copy.deepcopy(body)
    *above, last = path.split(".")
    at = wrong
    for name in above:
        at = at[int(name)] if name.isdecimal() else at[name]
    if value is GONE:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(BugError, match="nothing was sent"):
        check(kind, wrong)
