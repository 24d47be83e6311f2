"""PEM and X.509 reading: the one private-key guard and the content gate for trust anchors.

A certificate leaves `lift` as base64 of the very DER bytes that were parsed, so nothing that was
not parsed can travel with it. No input byte and no parser message is kept in a refusal: either may
quote key material. Nothing here may log, cache or read anything.
"""

import base64
import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cryptography import x509

# Not anchored on the closing dashes, so that PGP's `PRIVATE KEY BLOCK` is caught.
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY", re.IGNORECASE)
_BEGIN = re.compile(rb"^-----BEGIN ", re.MULTILINE)
_HEADER = re.compile(rb"[^\s:\-][^:\n]*:")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_WHITE_SPACE = b" \t\n\r\v\f"
_LINE_PADDING = b" \t\r"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LABEL = b"CERTIFICATE"
_COLUMNS = 64
_SUBJECT_CHARACTERS = 256
_DESCRIBED = 4

_SEQUENCE = 0x30
_LONG_FORM = 0x80
_LENGTH_BYTES = 4


class Refusal(StrEnum):
    """Why the gate lets nothing through."""

    PRIVATE_KEY = "PrivateKey"
    NOT_CERTIFICATE = "NotCertificate"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What may be shown of one certificate.

    subject: RFC 4514 text; unprintable characters replaced, at most 256 characters.
    not_before, not_after: in UTC.
    sha256: of the DER, 64 lower-case hex digits.
    is_ca: as basic constraints say; False when they are absent or cannot be read.
    """

    subject: str
    not_before: datetime
    not_after: datetime
    sha256: str
    is_ca: bool


@dataclass(frozen=True, slots=True)
class Lifted:
    """What the gate made of one value.

    pem: the certificates rebuilt from their DER; b"" when refused.
    refusal: None when the value passed.
    why: the rule that refused, in words of our own; "" when the value passed.
    certificates: in input order, duplicates kept; empty when refused.
    """

    pem: bytes
    refusal: Refusal | None
    why: str
    certificates: tuple[Certificate, ...]


class _RefusedError(Exception):
    """Carries the words of a refusal from the scanner to `lift`; never leaves this module."""


def holds_private_key(value: bytes) -> bool:
    """Tell whether a value holds a private-key header, anywhere and in any letter case.

    Source: trust-anchors 5, step 1.
    Cost: linear; the runs that the pattern may backtrack over cannot overlap.
    """
    return _PRIVATE_KEY.search(value) is not None


def blank(value: bytes) -> bool:
    """Tell whether a value is empty or ASCII white space only: not populated yet, not refused."""
    return not value.strip(_WHITE_SPACE)


def lift(value: bytes) -> Lifted:
    """Pass a value's certificates, rebuilt, or say why nothing passes.

    value: the bytes of one data key. A blank one is refused here; ask `blank` first.
    Raises: nothing.
    Source: trust-anchors 5 and 5.1; malformed armour refuses the whole value.
    Cost: linear in the length of the value.
    """
    if holds_private_key(value):
        return Lifted(b"", Refusal.PRIVATE_KEY, "it holds a private-key header", ())
    rebuilt: list[bytes] = []
    certificates: list[Certificate] = []
    try:
        for number, der in enumerate(_blocks(value.strip(_WHITE_SPACE)), start=1):
            certificates.append(_certificate(der, number))
            rebuilt.append(_armour(der))
    except _RefusedError as refused:
        return Lifted(b"", Refusal.NOT_CERTIFICATE, str(refused), ())
    return Lifted(b"".join(rebuilt), None, "", tuple(certificates))


def passes_unchanged(value: bytes) -> bool:
    """Tell whether a value is, byte for byte, what the gate would write for it.

    Source: lineage 6.4. Comparing with `lift(value).pem` alone would let b"" through.
    """
    lifted = lift(value)
    return lifted.refusal is None and lifted.pem == value


def describe(value: bytes) -> str:
    """Say in one line what a value holds, without a byte that must not be shown.

    Example: "CN=ca, expires 2035-01-01T00:00:00Z, sha256 5f1c...", joined with "; ".
    """
    if holds_private_key(value):
        return "private key"
    if blank(value):
        return "blank"
    certificates = lift(value).certificates
    if not certificates:
        return "no certificate"
    shown = [
        f"{one.subject}, expires {one.not_after:%Y-%m-%dT%H:%M:%SZ}, sha256 {one.sha256}"
        for one in certificates[:_DESCRIBED]
    ]
    if len(certificates) > _DESCRIBED:
        shown.append(f"and {len(certificates) - _DESCRIBED} more")
    return "; ".join(shown)


def _blocks(value: bytes) -> Iterator[bytes]:
    """Yield the bytes inside each block of a trimmed value."""
    begin = _BEGIN.search(value)
    # Such a line starts no block and would pass for preamble, dropping a certificate unseen.
    preamble = len(value) if begin is None else begin.start()
    if value.find(_BYTE_ORDER_MARK + b"-----BEGIN ", 0, preamble) >= 0:
        raise _RefusedError("a byte-order mark stands before the first block")
    if begin is None:
        raise _RefusedError("it holds no PEM block")
    number = 0
    after = 0
    while begin is not None:
        number += 1
        body, after = _body(value, begin.end(), number)
        yield _decoded(body, number)
        begin = _BEGIN.search(value, after)
    if value[after:].strip(_WHITE_SPACE):
        raise _RefusedError("text follows the last block")


def _body(value: bytes, start: int, number: int) -> tuple[bytes, int]:
    """Give the body of the block whose label begins at `start`, and where the next line begins."""
    label, start = _line(value, start)
    if not label.endswith(b"-----"):
        raise _RefusedError(f"the BEGIN line of block {number} is malformed")
    if label != _LABEL + b"-----":
        raise _RefusedError(f"block {number} is not labelled as a certificate")
    # The line break before the first line belongs to the BEGIN line, hence the step back.
    stop = value.find(b"\n-----", start - 1)
    if stop < 0:
        raise _RefusedError(f"block {number} has no END line")
    end, after = _line(value, stop + 1)
    if end != b"-----END " + _LABEL + b"-----":
        raise _RefusedError(f"block {number} does not end with a matching END line")
    return _without_headers(value[start : stop + 1]), after


def _line(value: bytes, start: int) -> tuple[bytes, int]:
    """Give the line at `start` without trailing blanks, and where the next one begins."""
    stop = value.find(b"\n", start)
    if stop < 0:
        return value[start:].rstrip(_LINE_PADDING), len(value)
    return value[start:stop].rstrip(_LINE_PADDING), stop + 1


def _without_headers(body: bytes) -> bytes:
    """Drop `Key: value` lines that an empty line ends; without one they are body, and no base64."""
    start = 0
    while _HEADER.match(body, start):
        _, start = _line(body, start)
    line, after = _line(body, start)
    return body if line else body[after:]


def _decoded(body: bytes, number: int) -> bytes:
    """Decode base64 strictly once its white space is removed."""
    packed = body.translate(None, _WHITE_SPACE)
    if not packed:
        raise _RefusedError(f"block {number} is empty")
    if len(packed) % 4 or not _BASE64.fullmatch(packed):
        raise _RefusedError(f"block {number} is not valid base64")
    return base64.b64decode(packed)


def _certificate(der: bytes, number: int) -> Certificate:
    """Parse one certificate that fills its block to the last byte."""
    if _outer_length(der) != len(der):
        raise _RefusedError(f"block {number} is not exactly one DER structure")
    with warnings.catch_warnings():
        # The library warns about odd serials and parameters, and a warning may quote them.
        warnings.simplefilter("ignore")
        try:
            parsed = x509.load_der_x509_certificate(der)
            return Certificate(
                subject=_shown(_subject(parsed)),
                not_before=parsed.not_valid_before_utc,
                not_after=parsed.not_valid_after_utc,
                sha256=hashlib.sha256(der).hexdigest(),
                is_ca=_is_ca(parsed),
            )
        except Exception:  # noqa: BLE001 - whatever the parser raises is a refusal
            reason = f"block {number} is not an X.509 certificate"
    raise _RefusedError(reason)  # out here no parser exception is its context


def _outer_length(der: bytes) -> int:
    """Give the length of the DER SEQUENCE at the start, header included; -1 when there is none.

    Indefinite lengths are BER, not DER, and count as none.
    """
    if len(der) < 2 or der[0] != _SEQUENCE:  # noqa: PLR2004 - tag and length
        return -1
    if der[1] < _LONG_FORM:
        return 2 + der[1]
    count = der[1] - _LONG_FORM
    if not 1 <= count <= _LENGTH_BYTES:
        return -1
    return 2 + count + int.from_bytes(der[2 : 2 + count], "big")


def _subject(parsed: x509.Certificate) -> str:
    """Spell the subject; one whose text cannot be decoded (T61 in old CAs) decides nothing."""
    try:
        return parsed.subject.rfc4514_string()
    except Exception:  # noqa: BLE001 - the certificate was parsed; this is for people alone
        return "a subject that cannot be shown"


def _is_ca(parsed: x509.Certificate) -> bool:
    """Tell what basic constraints say; an extension that cannot be read decides nothing."""
    try:
        found = parsed.extensions.get_extension_for_class(x509.BasicConstraints)
    except Exception:  # noqa: BLE001 - extensions are not judged by the gate
        return False
    return found.value.ca


def _shown(subject: str) -> str:
    """Make a subject safe for a terminal and short enough for an event."""
    clean = "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in subject)
    if len(clean) <= _SUBJECT_CHARACTERS:
        return clean
    return clean[: _SUBJECT_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _armour(der: bytes) -> bytes:
    """Write DER as one PEM block: 64 columns, LF, a final newline."""
    packed = base64.b64encode(der)
    lines = [packed[at : at + _COLUMNS] for at in range(0, len(packed), _COLUMNS)]
    return b"\n".join((b"-----BEGIN CERTIFICATE-----", *lines, b"-----END CERTIFICATE-----", b""))
