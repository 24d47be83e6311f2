"""Who may do what: the account of the trust anchors, as documents.

A right that is not here is not used. Source: trust-anchors 10.
"""

from collections.abc import Iterable
from typing import Any

from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.kube.refs import EVENT, HELM_RELEASE, LEASE, NAMESPACE, SECRET, Kind

API_GROUP = "rbac.authorization.k8s.io"
ACCOUNT = "roadstead-anchors"
HOME = "roadstead-system"
"""The namespace of the account and of its Lease."""
_LABELS = {"app.kubernetes.io/managed-by": "roadstead", "app.kubernetes.io/name": "roadstead"}

CLUSTER_RULES: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (SECRET, ("get", "list", "watch", "create", "update", "delete")),
    (EVENT, ("create", "patch")),
    (HELM_RELEASE, ("get", "list", "watch")),
    (DEFINITION, ("get", "list", "watch")),
)
HOME_RULES: tuple[tuple[Kind, tuple[str, ...]], ...] = ((LEASE, ("get", "create", "update")),)


def rbac(home: str = HOME) -> tuple[dict[str, Any], ...]:
    """Namespace, ServiceAccount, roles and bindings, in the order they are applied."""
    cluster_role = _object(
        "ClusterRole", ACCOUNT, api=f"{API_GROUP}/v1", rules=_rules(CLUSTER_RULES)
    )
    role = _object("Role", ACCOUNT, api=f"{API_GROUP}/v1", namespace=home, rules=_rules(HOME_RULES))
    return (
        _object(NAMESPACE.kind, home, api="v1"),
        _object("ServiceAccount", ACCOUNT, api="v1", namespace=home),
        cluster_role,
        _binding("ClusterRole", home, namespace=""),
        role,
        _binding("Role", home, namespace=home),
    )


def _binding(role: str, home: str, *, namespace: str) -> dict[str, Any]:
    return _object(
        f"{role}Binding",
        ACCOUNT,
        api=f"{API_GROUP}/v1",
        namespace=namespace,
        roleRef={"apiGroup": API_GROUP, "kind": role, "name": ACCOUNT},
        subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}],
    )


def _rules(rules: Iterable[tuple[Kind, tuple[str, ...]]]) -> list[dict[str, Any]]:
    return [
        {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": list(verbs)}
        for kind, verbs in rules
    ]


def _object(kind: str, name: str, *, api: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name}
    if namespace:
        meta["namespace"] = namespace
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {**meta, "labels": dict(_LABELS)},
        **rest,
    }
