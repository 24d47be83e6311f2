"""Real certificates and keys, the same bytes in every run.

Ed25519 keys are derived from a name and its signatures hold no randomness, so nothing here needs
to be stored and two processes agree. For the same reason no such key keeps anything secret: they
are for tests and for stand-ins, never for anything that is reached from outside.
"""

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

NOT_BEFORE = datetime(2025, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(2035, 1, 1, tzinfo=UTC)
_LONGEST_COMMON_NAME = 64


@dataclass(frozen=True, slots=True)
class Made:
    """One certificate with its key.

    pem: what the content gate would write for it.
    key: PKCS#8 PEM; key_der: the same without armour.
    """

    pem: bytes
    der: bytes
    key: bytes = field(repr=False)
    key_der: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """Fingerprint of the DER in lower-case hex."""
        return hashlib.sha256(self.der).hexdigest()


@functools.cache
def certificate(
    name: str = "one",
    *,
    common_name: str = "",
    not_before: datetime = NOT_BEFORE,
    not_after: datetime = NOT_AFTER,
    ca: bool = True,
) -> Made:
    """Make the self-signed certificate of a name; the same name gives the same bytes.

    common_name: defaults to the name.
    """
    return _made(name, _subject(common_name or name), (), (not_before, not_after), ca=ca)


def leaf(
    name: str,
    hostnames: Iterable[str],
    span: tuple[datetime, datetime],
    *,
    signer: str = "",
    ca: bool = False,
) -> Made:
    """Make the certificate of hostnames, signed by `certificate(signer)`, else by itself.

    name: what its key is derived from. span: from when until when it is valid, UTC.
    """
    names = tuple(hostnames)
    short = next((one for one in names if len(one) <= _LONGEST_COMMON_NAME), "")
    return _made(name, _subject(short), names, span, ca=ca, signer=signer)


def hostnames_of(pem: bytes) -> tuple[str, ...]:
    """The hostnames of the first certificate of a chain.

    Raises: ValueError for bytes that hold no certificate.
    """
    try:
        names = _parsed(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    return tuple(names.value.get_values_for_type(x509.DNSName))


def span_of(pem: bytes) -> tuple[datetime, datetime]:
    """From when until when the first certificate of a chain is valid, UTC.

    Raises: ValueError for bytes that hold no certificate.
    """
    first = _parsed(pem)
    return first.not_valid_before_utc, first.not_valid_after_utc


@functools.lru_cache(maxsize=1024)
def _parsed(pem: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem)


def _key(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def _subject(common_name: str) -> x509.Name:
    if not common_name:
        return x509.Name([])
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _made(
    name: str,
    subject: x509.Name,
    hostnames: tuple[str, ...],
    span: tuple[datetime, datetime],
    *,
    ca: bool,
    signer: str = "",
) -> Made:
    private = _key(name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_subject(signer) if signer else subject)
        .public_key(private.public_key())
        .serial_number(1 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
        .not_valid_before(span[0])
        .not_valid_after(span[1])
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if hostnames:
        names = x509.SubjectAlternativeName([x509.DNSName(one) for one in hostnames])
        builder = builder.add_extension(names, critical=not list(subject))
    made = builder.sign(_key(signer) if signer else private, None)
    plain = serialization.NoEncryption()
    pkcs8 = serialization.PrivateFormat.PKCS8
    return Made(
        pem=made.public_bytes(serialization.Encoding.PEM),
        der=made.public_bytes(serialization.Encoding.DER),
        key=private.private_bytes(serialization.Encoding.PEM, pkcs8, plain),
        key_der=private.private_bytes(serialization.Encoding.DER, pkcs8, plain),
    )
