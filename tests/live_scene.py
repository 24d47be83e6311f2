"""The objects that cluster tests of trust anchors begin with, and how they see an anchor."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from certificates import CERT1, KEY, certificate
from live_admin import Admin, wait_for
from roadstead.capabilities.anchors.api import DEFINITION, PUBLISH, PUBLISH_RELEASE, SUFFIX
from roadstead.kube.pem import holds_private_key
from roadstead.kube.refs import EVENT, HELM_RELEASE, SECRET, Ref

NS = "tenant-foo"
RELEASE = "postgres-mydb"
SOURCE = SECRET.ref(NS, f"{RELEASE}-ca")
ANCHOR = SECRET.ref(NS, f"{RELEASE}{SUFFIX}")


def data(**values: bytes) -> dict[str, str]:
    """Values of a Secret; `_` in a key stands for a dot."""
    return {
        key.replace("_", "."): base64.b64encode(value).decode() for key, value in values.items()
    }


def define(admin: Admin, kind: str = "Postgres", *, declared: bool = True) -> None:
    """Register an application kind."""
    spec: dict[str, Any] = {"application": {"kind": kind}, "secrets": {"include": []}}
    if declared:
        spec["caCert"] = {"sourceSecretName": "{{ .release }}-ca"}
    body = {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind}
    admin.made(DEFINITION, {**body, "metadata": {"name": kind.lower()}, "spec": spec})


def release(admin: Admin, namespace: str = NS, name: str = RELEASE, kind: str = "Postgres") -> Ref:
    """Make an application's HelmRelease."""
    prefix = "apps.cozystack.io/application"
    labels = {
        f"{prefix}.group": "apps.cozystack.io",
        f"{prefix}.kind": kind,
        f"{prefix}.name": name.partition("-")[2] or name,
    }
    admin.made(
        HELM_RELEASE,
        {
            "apiVersion": HELM_RELEASE.api_version,
            "kind": HELM_RELEASE.kind,
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"interval": "5m", "chartRef": {"kind": "OCIRepository", "name": "postgres"}},
        },
    )
    return HELM_RELEASE.ref(namespace, name)


def secret(admin: Admin, ref: Ref, values: Mapping[str, str], **rest: Any) -> dict[str, Any]:
    """Make a Secret. rest: `labels`, or parts of the body."""
    meta: dict[str, Any] = {"name": ref.name, "namespace": ref.namespace}
    if labels := rest.pop("labels", None):
        meta["labels"] = labels
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": dict(values)}
    return admin.made(SECRET, {**head, **rest})


def source(admin: Admin, ref: Ref = SOURCE, pem: bytes = CERT1, **rest: Any) -> dict[str, Any]:
    """Make a source as an operator does: it carries the CA's key, too."""
    return secret(admin, ref, data(ca_crt=pem, ca_key=KEY), **rest)


def published(admin: Admin, ref: Ref = ANCHOR, of: str = "one") -> dict[str, Any]:
    """Wait for an anchor that holds the certificate of a name, and give it."""

    def found() -> dict[str, Any] | None:
        seen = admin.get(ref)
        same = seen is not None and fingerprints(seen) == [certificate(of).sha256]
        return seen if same else None

    anchor: dict[str, Any] = wait_for(f"the certificate of {of} in {ref}", found)
    return anchor


def gone(admin: Admin, ref: Ref) -> None:
    """Wait until an object is not there."""
    wait_for(f"the end of {ref}", lambda: admin.get(ref) is None)


def fingerprints(body: Mapping[str, Any], key: str = "ca.crt") -> list[str]:
    """SHA-256 of each certificate under a key, in order."""
    value = base64.b64decode((body.get("data") or {}).get(key, ""))
    found = x509.load_pem_x509_certificates(value) if value.strip() else []
    return [one.fingerprint(SHA256()).hex() for one in found]


def carries_a_key(body: Mapping[str, Any]) -> bool:
    """Whether any value of a Secret holds a private key."""
    values: Iterable[str] = (body.get("data") or {}).values()
    return any(holds_private_key(base64.b64decode(value)) for value in values)


def told(admin: Admin, reason: str, about: Ref) -> dict[str, Any]:
    """Wait for an event about an object, and give it."""

    def found() -> dict[str, Any] | None:
        return next((e for e in events(admin, about) if e["reason"] == reason), None)

    event: dict[str, Any] = wait_for(f"{reason} on {about}", found)
    return event


def events(admin: Admin, about: Ref) -> list[dict[str, Any]]:
    """The events about an object."""
    return [
        event
        for event in admin.objects(EVENT, about.namespace or "default")
        if event["involvedObject"]["name"] == about.name
        and event["involvedObject"]["kind"] == about.kind.kind
    ]


def labelled(name: str = RELEASE) -> dict[str, str]:
    """The labels of a source of the label leg."""
    return {PUBLISH: "true", PUBLISH_RELEASE: name}
