"""Who may talk to our Pods, and whom they may talk to: closed but for what they need.

A NetworkPolicy knows Pods, namespaces and addresses. The API server is none of them on most
clusters, neither as who asks the webhook nor as who is asked, so its ports stand open where the
installation does not say more; nor does it know names, so DNS is a port as well. Probes come from
the node, which policies leave alone.
"""

from typing import Any

from roadstead.capabilities.lineage import api as lineage
from roadstead.deploy.holes import hole
from roadstead.deploy.rbac import document
from roadstead.deploy.workloads import ANSWERS, METRICS, PROGRAM, labelled, selector

Json = dict[str, Any]
API = "networking.k8s.io/v1"


def policy(home: str) -> Json:
    """The policy of every Pod of ours; it closes both ways."""
    return document(
        "NetworkPolicy",
        PROGRAM,
        api=API,
        namespace=home,
        spec={
            "podSelector": {"matchLabels": selector()},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {"from": hole("networkPolicy.scrapers"), "ports": [_port("TCP", METRICS)]},
            ],
            "egress": [
                {
                    "to": hole("networkPolicy.apiServers"),
                    "ports": hole("networkPolicy.apiServerPorts"),
                },
                {
                    "to": hole("networkPolicy.dns"),
                    "ports": [_port("UDP", 53), _port("TCP", 53)],
                },
            ],
        },
    )


def webhook_policy(home: str) -> Json:
    """The policy that lets the API server ask, from wherever it comes."""
    body = document(
        "NetworkPolicy",
        f"{PROGRAM}-webhook",
        api=API,
        namespace=home,
        spec={
            "podSelector": {"matchLabels": selector(ANSWERS)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [_port("TCP", lineage.PORT)]}],
        },
    )
    return labelled(body, ANSWERS)


def _port(protocol: str, port: int) -> Json:
    return {"protocol": protocol, "port": port}
