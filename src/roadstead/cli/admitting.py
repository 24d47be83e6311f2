"""The webhook of `up`: it answers the example's own API server, over loopback and over TLS.

The registration is the one that ships, but for its address, a URL in place of a Service. Its
authority and the serving certificate are made at the start and last no longer than the example:
the authority's key is never written, the serving one only for its owner to read.
"""

import asyncio
import base64
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from roadstead.capabilities import ADMISSIONS
from roadstead.deploy.admission import REGISTRATION, registration
from roadstead.deploy.rbac import HOME, LINEAGE
from roadstead.errors import TestbedError
from roadstead.kube.refs import SECRET, Ref
from roadstead.runtime.certificate import CERTIFICATE, KEY
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.kubeconfig import find
from roadstead.runtime.logs import Pipe, open_log
from roadstead.runtime.manager import Manager
from roadstead.runtime.options import RunOptions
from roadstead.testbed.server import ControlPlane

LASTS = timedelta(days=30)
PATIENCE = 30.0
POLL = 0.05
ADDRESS = IPv4Address("127.0.0.1")
PROBED = "kube-public"
"""A namespace that every server has, and that the webhook is asked about."""


Seen = Callable[[Ref], Awaitable[None]]


@asynccontextmanager
async def admitting(plane: ControlPlane, client: Client, folder: Path) -> AsyncIterator[Seen]:
    """Have every write to a server reviewed until the block ends.

    Gives what waits until the webhook has seen an object that it judges others by: a release that
    was applied a moment ago may not be in its view yet, and its Secrets would be nobody's.
    folder: for the serving pair and the log; the pair is removed at the end.
    Raises: TestbedError where the webhook does not get ready.
    """
    admission = ADMISSIONS[LINEAGE.capabilities[0]]
    clock = LiveClock()
    tls = folder / "webhook"
    authority = _pair(tls, f"{admission.service}.{HOME}.svc", clock.wall())
    log = os.open(folder / "webhook.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    pipe = Pipe(log)
    kubeconfig = str(plane.login(LINEAGE.name, HOME))
    options = RunOptions(
        kubeconfig=kubeconfig,
        metrics="0",
        health="0",
        webhook_port=0,
        webhook_host=str(ADDRESS),
        webhook_cert_dir=tls,
        lease_namespace=HOME,
    )
    manager = Manager(
        options,
        (),
        find(kubeconfig, "", {}),
        admissions=(admission,),
        log=open_log(pipe, level="info", form="json", wall=clock.wall),
        clock=clock,
        dropped=lambda: pipe.dropped,
    )
    ended = asyncio.create_task(manager.run(), name="webhook")
    try:
        await _begin(manager, ended, client, authority)
        yield lambda ref: _seen(manager, ended, ref)
    finally:
        manager.stop()
        await asyncio.gather(ended, return_exceptions=True)
        pipe.close()
        os.close(log)
        shutil.rmtree(tls, ignore_errors=True)


async def _begin(
    manager: Manager, ended: "asyncio.Task[int]", client: Client, authority: bytes
) -> None:
    """Have the server ask once all that is judged by was read, and wait until it does.

    What is created before it asks would stand without a verdict.
    """
    (admission,) = manager.engine.admissions.values()
    probe = SECRET.ref(PROBED, "probe")
    meta = {"name": probe.name, "namespace": probe.namespace}
    async with _in_time(ended):
        while not manager.engine.answers(admission.name):
            await _pause(ended)
        url = f"https://{ADDRESS}:{manager.ports['webhook']}{admission.path}"
        await client.create(REGISTRATION, _registered(url, authority))
        while manager.webhook is None or not manager.webhook.asked:
            await _pause(ended)
            await client.rehearse(probe, {"apiVersion": "v1", "kind": "Secret", "metadata": meta})


async def _seen(manager: Manager, ended: "asyncio.Task[int]", ref: Ref) -> None:
    stores = [one for view, one in manager.engine.stores.items() if view.kind == ref.kind]
    async with _in_time(ended):
        while not all(store.holds(ref.namespace, ref.name) for store in stores):
            await _pause(ended)


@asynccontextmanager
async def _in_time(ended: "asyncio.Task[int]") -> AsyncIterator[None]:
    """Say which step it was where a wait is in vain."""
    try:
        async with asyncio.timeout(PATIENCE):
            yield
    except TimeoutError:
        why = "has ended" if ended.done() else "does not get ready"
        raise TestbedError(f"the webhook {why}", step="webhook", hint="see its log") from None


async def _pause(ended: "asyncio.Task[int]") -> None:
    if ended.done():
        raise TimeoutError
    await asyncio.sleep(POLL)


def _registered(url: str, authority: bytes) -> dict[str, Any]:
    body = registration()
    bundle = base64.b64encode(authority).decode()
    body["webhooks"][0]["clientConfig"] = {"url": url, "caBundle": bundle}
    return body


def _pair(folder: Path, name: str, now: datetime) -> bytes:
    """Leave a new serving pair in a folder; give the certificate of who has signed it."""
    span = (now - timedelta(hours=1), now + LASTS)
    signer, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "roadstead up")])
    authority = (
        _certificate(issuer, issuer, signer, span)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(signer, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ADDRESS)])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    serving = (
        _certificate(subject, issuer, own, span)
        .add_extension(names, critical=False)
        .sign(signer, hashes.SHA256())
    )
    secret = own.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    folder.mkdir(mode=0o700, exist_ok=True)
    for file, text in ((CERTIFICATE, _pem(serving)), (KEY, secret)):
        (folder / file).unlink(missing_ok=True)
        with os.fdopen(os.open(folder / file, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as made:
            made.write(text)
    return _pem(authority)


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    span: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    """Begin a certificate, with the identifiers that strict readers ask for."""
    identity = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(span[0])
        .not_valid_after(span[1])
        .add_extension(identity, critical=False)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
