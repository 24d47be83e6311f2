"""What the API server asks the webhook about: its registration, its Service, its certificate.

The registration is made of what the capability itself says, so that the offline world and the API
server ask about the same objects. Apply it once the Deployment is available, and never while a
system namespace lacks its label: from then on writes in tenants' namespaces wait for the webhook.
Source: lineage 3 and 13.
"""

from typing import Any

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.deploy.rbac import HOME, LABELS, document
from roadstead.kube.refs import Kind
from roadstead.kube.selectors import LabelSelector
from roadstead.wiring import Admission

REGISTRATION = Kind(
    "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
CERTIFICATES = "cert-manager.io/v1"
INJECT = "cert-manager.io/inject-ca-from"
AUTHORITY = f"{api.SERVICE_NAME}-ca"
SECRET_NAME = f"{api.SERVICE_NAME}-tls"
TIMEOUT_SECONDS = 10
NEAR = "PreferSameZone"
"""The contract's `PreferClose` under its name since Kubernetes 1.34, which warns of the old."""

Json = dict[str, Any]


def registration(home: str = HOME, admission: Admission = LINEAGE) -> Json:
    """The MutatingWebhookConfiguration; cert-manager puts the bundle in."""
    webhook = {
        "name": api.WEBHOOK,
        "clientConfig": {
            "service": {
                "name": admission.service,
                "namespace": home,
                "path": admission.path,
                "port": 443,
            }
        },
        "rules": _rules(admission),
        "namespaceSelector": _selector(admission.namespaces),
        "objectSelector": _selector(admission.objects),
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    body = document(
        REGISTRATION.kind, admission.name, api=REGISTRATION.api_version, webhooks=[webhook]
    )
    body["metadata"]["annotations"] = {INJECT: f"{home}/{admission.service}"}
    return body


def service(home: str = HOME) -> Json:
    """The Service whose name the certificate has."""
    return document(
        "Service",
        api.SERVICE_NAME,
        api="v1",
        namespace=home,
        spec={
            "selector": {
                "app.kubernetes.io/name": LABELS["app.kubernetes.io/name"],
                "app.kubernetes.io/component": LINEAGE.name,
            },
            "ports": [{"name": "webhook", "port": 443, "targetPort": api.PORT}],
            "trafficDistribution": NEAR,
        },
    )


def certificates(home: str = HOME) -> tuple[Json, ...]:
    """An authority of its own and the serving certificate, from cert-manager.

    The authority outlives many serving certificates: were each its own authority, the bundle of
    the registration would lag behind every renewal, and writes would be refused meanwhile.
    """
    self_signed, issuer = f"{AUTHORITY}-self-signed", AUTHORITY
    name = f"{api.SERVICE_NAME}.{home}.svc"
    return (
        _cert_manager("Issuer", self_signed, home, {"selfSigned": {}}),
        _cert_manager(
            "Certificate",
            AUTHORITY,
            home,
            {
                "isCA": True,
                "commonName": AUTHORITY,
                "secretName": AUTHORITY,
                "duration": "87600h",
                "privateKey": {"algorithm": "ECDSA", "size": 256},
                "issuerRef": {"name": self_signed, "kind": "Issuer"},
            },
        ),
        _cert_manager("Issuer", issuer, home, {"ca": {"secretName": AUTHORITY}}),
        _cert_manager(
            "Certificate",
            api.SERVICE_NAME,
            home,
            {
                "secretName": SECRET_NAME,
                "dnsNames": [name, f"{name}.cluster.local"],
                "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
                "issuerRef": {"name": issuer, "kind": "Issuer"},
            },
        ),
    )


def admission(home: str = HOME) -> tuple[Json, ...]:
    """Everything, in the order in which it is applied: the registration last."""
    return (service(home), *certificates(home), registration(home))


def _cert_manager(kind: str, name: str, home: str, spec: Json) -> Json:
    return document(kind, name, api=CERTIFICATES, namespace=home, spec=spec)


def _rules(admission: Admission) -> list[Json]:
    """One rule for each group and version, with no subresource."""
    groups: dict[tuple[str, str], list[str]] = {}
    for kind in admission.reviewed:
        groups.setdefault((kind.group, kind.version), []).append(kind.plural)
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": ["CREATE", "UPDATE"],
            "resources": plurals,
            "scope": "Namespaced",
        }
        for (group, version), plurals in groups.items()
    ]


def _selector(text: str) -> Json:
    """A selector of the wire in the form of the registration."""
    return {
        "matchExpressions": [
            {
                "key": one.key,
                "operator": one.operator.value,
                **({"values": list(one.values)} if one.values else {}),
            }
            for one in LabelSelector.parse(text).requirements
        ]
    }
