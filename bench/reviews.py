"""AdmissionReviews as the API server sends them, and the certificate of who answers."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bench import worlds
from bench.server import Bare, encoded
from roadstead.capabilities.lineage import api
from roadstead.deploy.rbac import HOME
from roadstead.kube.refs import SECRET, Kind

Json = dict[str, Any]
PATH = api.PATH
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
HOST = f"{api.SERVICE_NAME}.{HOME}.svc"
PLACE = worlds.namespace(0)
RELEASE = "postgres-0"
HELM = {api.HELM_NAME: RELEASE, api.HELM_NAMESPACE: PLACE}
"""What Flux stamps on all that a release renders."""
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
REPLICA_SET = Kind("ReplicaSet", "apps", "v1", "replicasets")
_CONTAINERS = [{"name": "c", "image": "registry.example.org/app:1", "env": [
    {"name": f"SETTING_{number}", "value": "x" * 40} for number in range(12)
]}]  # fmt: skip


def definition() -> tuple[str, bytes]:
    """The application's kind, whose Secrets tenants see where they are labelled so."""
    spec = {
        "application": {"kind": "Postgres"},
        "release": {"prefix": "postgres-"},
        "secrets": {"include": [{"matchLabels": {"for": "tenants"}}]},
    }
    head = {"apiVersion": api.DEFINITION.api_version, "kind": api.DEFINITION.kind}
    body = {**head, "metadata": {"name": "postgres"}, "spec": spec}
    return api.DEFINITION.path(), json.dumps(body).encode()


def a_secret() -> bytes:
    """A Secret of about 1 KB, labelled by Helm: nobody else has to be looked at."""
    meta = {"name": "s", "namespace": PLACE, "labels": HELM}
    body = {"type": "Opaque", "data": {"password": encoded(b"x" * 600)}}
    return review(SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": meta, **body})


async def a_pod(client: Bare) -> bytes:
    """A Pod of a ReplicaSet of a Deployment, both on the server: owners have to be walked."""
    owners: list[Json] = []
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": _CONTAINERS}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    for kind, stamped in ((DEPLOYMENT, HELM), (REPLICA_SET, labels)):
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        meta = {"name": "web", "namespace": PLACE, "labels": stamped, "ownerReferences": owners}
        sent = json.dumps({**head, "metadata": meta, "spec": spec}).encode()
        made = json.loads(await client.send("POST", kind.path(PLACE), sent))
        owners = [{**head, "name": "web", "uid": made["metadata"]["uid"], "controller": True}]
    meta = {"name": "web-1", "namespace": PLACE, "labels": labels, "ownerReferences": owners}
    head = {"apiVersion": "v1", "kind": "Pod"}
    return review(api.POD, {**head, "metadata": meta, "spec": {"containers": _CONTAINERS}})


def review(kind: Kind, one: Mapping[str, Any]) -> bytes:
    """A request to create an object."""
    stated = {"group": kind.group, "version": kind.version}
    request = {
        "uid": UID,
        "kind": {**stated, "kind": kind.kind},
        "resource": {**stated, "resource": kind.plural},
        "requestKind": {**stated, "kind": kind.kind},
        "requestResource": {**stated, "resource": kind.plural},
        "name": one["metadata"]["name"],
        "namespace": PLACE,
        "operation": "CREATE",
        "userInfo": {"username": "admin", "groups": ["system:authenticated"]},
        "object": one,
        "oldObject": None,
        "dryRun": False,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
    }
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(whole).encode()


def put_pair(folder: Path) -> bytes:
    """Leave a serving pair in a folder; gives the certificate, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST[:60])])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2025, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2045, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = made.public_bytes(serialization.Encoding.PEM)
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "tls.key").touch(mode=0o600)
    (folder / "tls.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    (folder / "tls.crt").write_bytes(text)
    return text
