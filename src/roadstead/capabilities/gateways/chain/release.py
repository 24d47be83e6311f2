"""The HelmRelease of a tenant that owns a Gateway, and the clean-up behind it.

Source: tenant-gateway 2.8 and 2.9.
"""

from typing import Any

from roadstead.capabilities.gateways.chain.names import (
    ACCOUNT_SECRET,
    RELEASE,
    VALUES_NAMESPACE,
    VALUES_SECRET,
)
from roadstead.kube.refs import HELM_RELEASE

Json = dict[str, Any]

CHART = "cozystack-gateway-application-default-gateway"
KUBECTL_IMAGE = "registry.k8s.io/kubectl:v1.36.0"
NOBODY = 65534
_RBAC = "rbac.authorization.k8s.io"
_HOOK = {
    "helm.sh/hook": "post-delete",
    "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
}


def release(namespace: str, chosen: str = "") -> Json:
    """The release of one owner. chosen: the tenant's class; its key is absent where none is.

    It is never forced: a reinstall would throw the ACME account away.
    """
    tries = {
        "strategy": {"name": "RetryOnFailure", "retryInterval": "30s"},
        "remediation": {"retries": -1},
    }
    spec: Json = {
        "interval": "5m",
        "chartRef": {"kind": "ExternalArtifact", "name": CHART, "namespace": VALUES_NAMESPACE},
        "install": tries,
        "upgrade": {**tries},
        "valuesFrom": [{"kind": "Secret", "name": VALUES_SECRET}],
    }
    if chosen:
        spec["values"] = {"gatewayClassName": chosen}
    return {
        "apiVersion": HELM_RELEASE.api_version,
        "kind": HELM_RELEASE.kind,
        "metadata": {"name": RELEASE, "namespace": namespace},
        "spec": spec,
    }


def cleanup(namespace: str, name: str = RELEASE, image: str = KUBECTL_IMAGE) -> tuple[Json, ...]:
    """The hook that removes a release's ACME account once the release is gone.

    image: of a container with `kubectl`. The Role allows that one Secret; other Secrets stay.
    """
    called = f"{name}-cleanup"
    meta = {"name": called, "namespace": namespace, "annotations": _HOOK}
    account = {"kind": "ServiceAccount", "name": called, "namespace": namespace}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": called}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta)},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "Role",
            "metadata": dict(meta),
            "rules": [
                {
                    "apiGroups": [""],
                    "resources": ["secrets"],
                    "resourceNames": [ACCOUNT_SECRET],
                    "verbs": ["get", "delete"],
                }
            ],
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": dict(meta),
            "roleRef": role,
            "subjects": [account],
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": dict(meta),
            "spec": {"backoffLimit": 3, "template": _pod(namespace, called, image)},
        },
    )


def _pod(namespace: str, account: str, image: str) -> Json:
    """A pod that may do nothing but ask the API server to delete that Secret."""
    command = ("kubectl", "delete", "secret", ACCOUNT_SECRET, "--namespace", namespace)
    return {
        "metadata": {"labels": {"policy.cozystack.io/allow-to-apiserver": "true"}},
        "spec": {
            "serviceAccountName": account,
            "restartPolicy": "Never",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": NOBODY,
                "runAsGroup": NOBODY,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "cleanup",
                    "image": image,
                    "command": [*command, "--ignore-not-found", "--wait=false"],
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }
