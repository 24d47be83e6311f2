"""The objects a bench fills a server with, as prebuilt bodies."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bench.server import encoded

Bodies = Iterator[tuple[str, bytes]]
CORE = "/api/v1/namespaces/{}/secrets"
NAMESPACES = 20


def certificate(name: str) -> bytes:
    """A self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2025, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2045, 1, 1, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


FIRST = certificate("first")
SECOND = certificate("second")


def namespace(number: int, prefix: str = "tenant") -> str:
    """One of the tenants."""
    return f"{prefix}-{number % NAMESPACES}"


def namespaces(prefix: str = "tenant", count: int = NAMESPACES) -> Bodies:
    """The tenants' namespaces."""
    for number in range(count):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{prefix}-{number}"}}
        yield "/api/v1/namespaces", json.dumps(body).encode()


def definition() -> tuple[str, bytes]:
    """An engine whose source is declared."""
    body = {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "ApplicationDefinition",
        "metadata": {"name": "postgres"},
        "spec": {
            "application": {"kind": "Postgres", "plural": "postgreses", "singular": "postgres"},
            "caCert": {"sourceSecretName": "{{ .release }}-ca"},
            "secrets": {"include": [{"matchLabels": {"internal.cozystack.io/tenant-ca": "true"}}]},
        },
    }
    return "/apis/cozystack.io/v1alpha1/applicationdefinitions", json.dumps(body).encode()


def releases(count: int) -> Bodies:
    """Application releases."""
    for number in range(count):
        where = namespace(number)
        body = {
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
            "kind": "HelmRelease",
            "metadata": {
                "name": f"postgres-{number}",
                "namespace": where,
                "labels": {
                    "apps.cozystack.io/application.group": "apps.cozystack.io",
                    "apps.cozystack.io/application.kind": "Postgres",
                    "apps.cozystack.io/application.name": f"{number}",
                },
            },
            "spec": {"interval": "5m", "chartRef": {"kind": "OCIRepository", "name": "postgres"}},
        }
        path = f"/apis/helm.toolkit.fluxcd.io/v2/namespaces/{where}/helmreleases"
        yield path, json.dumps(body).encode()


def sources(count: int) -> Bodies:
    """Each release's CA Secret, key and all."""
    for number in range(count):
        data = {"ca.crt": encoded(FIRST), "ca.key": encoded(b"-----BEGIN EC PRIVATE KEY-----\n")}
        yield _secret(f"postgres-{number}-ca", namespace(number), data)


def plain_anchors(count: int) -> Bodies:
    """Secrets like the anchors the program will make: the floor's."""
    for number in range(count):
        meta: dict[str, Any] = {
            "labels": {"a.example/tenant-ca": "true", "a.example/ca-cert-copy": "true"},
            "annotations": {"a.example/source": "x" * 40, "a.example/selectors": "f" * 64},
        }
        yield _secret(f"floor-{number}", namespace(number), {"ca.crt": encoded(FIRST)}, meta)


def bulk(count: int, size: int, prefix: str, spread: int) -> Bodies:
    """Unrelated Secrets of so many bytes each."""
    data = {"blob": encoded(b"x" * size)}
    for number in range(count):
        yield _secret(f"bulk-{number}", f"{prefix}-{number % spread}", data)


def config_maps(count: int) -> Bodies:
    """Small objects to watch, of about 1 KB as the server stores them."""
    for number in range(count):
        where = namespace(number)
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": f"watched-{number}",
                "namespace": where,
                "labels": {f"bench.example/label-{n}": f"value-{number}" for n in range(5)},
            },
            "data": {"text": "x" * 400},
        }
        yield f"/api/v1/namespaces/{where}/configmaps", json.dumps(body).encode()


def _secret(
    name: str, where: str, data: dict[str, str], meta: dict[str, Any] | None = None
) -> tuple[str, bytes]:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": where, **(meta or {})},
        "type": "Opaque",
        "data": data,
    }
    return CORE.format(where), json.dumps(body).encode()
