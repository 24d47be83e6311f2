"""Real certificates and keys for tests, the same bytes in every run, and PEM of any shape."""

import base64
from datetime import UTC, datetime

from roadstead.sim.pki import certificate

__all__ = ["CERT1", "CERT2", "DER1", "EXPIRED", "KEY", "KEY_DER", "LEAF", "armour", "certificate"]


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
