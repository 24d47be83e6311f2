"""Real certificates and keys for tests, the same bytes in every run.

Ed25519 keys are derived from a name and its signatures hold no randomness, so nothing here needs
to be stored and two processes agree.
"""

import base64
import functools
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

NOT_BEFORE = datetime(2025, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(2035, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Made:
    """One self-signed certificate with its key.

    pem: what the content gate would write for it.
    key: PKCS#8 PEM; key_der: the same without armour.
    """

    pem: bytes
    der: bytes
    key: bytes
    key_der: bytes

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
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name or name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(1 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
        .not_valid_before(not_before)
        .not_valid_after(not_after)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .sign(private, None)
    )
    plain = serialization.NoEncryption()
    pkcs8 = serialization.PrivateFormat.PKCS8
    return Made(
        pem=made.public_bytes(serialization.Encoding.PEM),
        der=made.public_bytes(serialization.Encoding.DER),
        key=private.private_bytes(serialization.Encoding.PEM, pkcs8, plain),
        key_der=private.private_bytes(serialization.Encoding.DER, pkcs8, plain),
    )


def armour(der: bytes, label: str = "CERTIFICATE", *, columns: int = 64, end: str = "\n") -> bytes:
    """Wrap bytes as a PEM block of any label, line width and line end."""
    packed = base64.b64encode(der).decode()
    lines = [packed[at : at + columns] for at in range(0, len(packed), columns)]
    block = (f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", "")
    return end.join(block).encode()


CERT1 = certificate("one").pem
CERT2 = certificate("two").pem
DER1 = certificate("one").der
KEY = certificate("one").key
KEY_DER = certificate("one").key_der
EXPIRED = certificate("expired", not_after=datetime(2025, 6, 1, tzinfo=UTC)).pem
LEAF = certificate("leaf", ca=False).pem
