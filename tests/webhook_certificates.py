"""A certificate authority of the tests, and serving pairs in a folder, as cert-manager leaves them.

Keys are new in every run: nothing is compared byte for byte here.
"""

import functools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "lineage-controller-webhook.default.svc"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FAR = datetime(2050, 1, 1, tzinfo=UTC)
_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True)
class Authority:
    """One authority. pem: its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        """The bundle of who trusts it."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM. serial: by which a test tells it from another."""

    certificate: bytes
    key: bytes
    serial: int


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _names(host: str) -> list[x509.GeneralName]:
    """A host by its name, and by its address where it is one: Go looks at that alone then."""
    try:
        return [x509.DNSName(host), x509.IPAddress(ip_address(host))]
    except ValueError:
        return [x509.DNSName(host)]


@functools.cache
def authority(name: str = "tests") -> Authority:
    """An authority of its own key."""
    key = ec.generate_private_key(ec.SECP256R1())
    identity = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    made = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(LONG_AGO)
        .not_valid_after(FAR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_SIGNS, critical=True)  # Python 3.13 asks every authority for it
        .add_extension(identity, critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(key, made)


def pair(host: str = HOST, *, after: datetime = FAR, before: datetime = LONG_AGO) -> Pair:
    """A serving pair for a host."""
    issuer = authority()
    key = ec.generate_private_key(ec.SECP256R1())
    public = issuer.certificate.public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    made = (
        x509.CertificateBuilder()
        .subject_name(_name(host[:60]))
        .issuer_name(issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(before)
        .not_valid_after(after)
        .add_extension(x509.SubjectAlternativeName(_names(host)), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        .sign(issuer.key, hashes.SHA256())
    )
    return Pair(
        made.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        made.serial_number,
    )


def put(folder: Path, made: Pair, *, key: bool = True, certificate: bool = True) -> None:
    """Leave a pair, or one half of it, in a folder; each file appears whole."""
    folder.mkdir(exist_ok=True)
    for name, text, wanted in (
        ("tls.crt", made.certificate, certificate),
        ("tls.key", made.key, key),
    ):
        if wanted:
            fresh = folder / f".{name}"
            fresh.write_bytes(text)
            fresh.chmod(0o600)
            fresh.rename(folder / name)


def soon(seconds: float) -> datetime:
    """A moment so many seconds ahead of the machine's clock."""
    return datetime.now(UTC) + timedelta(seconds=seconds)  # noqa: TID251 - TLS looks at it
