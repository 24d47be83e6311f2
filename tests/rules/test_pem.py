"""The content gate, one row for each way a value may try to get through."""

import base64
import time
from datetime import UTC, datetime

import pytest

from certificates import (
    CERT1,
    CERT2,
    DER1,
    EXPIRED,
    KEY,
    KEY_DER,
    LEAF,
    armour,
    certificate,
)
from roadstead.kube.pem import (
    Refusal,
    _shown,
    blank,
    describe,
    holds_private_key,
    lift,
    passes_unchanged,
)

BEGIN = b"-----BEGIN CERTIFICATE-----\n"
END = b"-----END CERTIFICATE-----\n"
BOM = b"\xef\xbb\xbf"
BODY = CERT1.removeprefix(BEGIN).removesuffix(END)
TEXT = b"Certificate:\n    Data:\n        Version: 3 (0x2)\n"
JWK = b'{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}'
NUL = b"\0"


@pytest.mark.parametrize(
    ("pem", "value"),
    [
        pytest.param(CERT1, CERT1, id="one"),
        pytest.param(CERT1 + CERT2, CERT1 + CERT2, id="A-17-two-in-order"),
        pytest.param(CERT2 + CERT1, CERT2 + CERT1, id="two-the-other-way-round"),
        pytest.param(CERT1 + CERT1, CERT1 + CERT1, id="duplicates-kept"),
        pytest.param(CERT1, CERT1 + b" \t\r\n\v\f\n", id="A-18-white-space-after"),
        pytest.param(CERT1, b" \r\n\t" + CERT1, id="white-space-before"),
        pytest.param(CERT1, CERT1.rstrip(), id="no-final-newline"),
        pytest.param(CERT1, b"PRIVATE KEY of nobody\n" + CERT1, id="A-15-words-in-preamble"),
        pytest.param(CERT1, b"BEGIN PRIVATE KEY-----\n" + CERT1, id="A-15-words-without-dashes"),
        pytest.param(
            certificate("words", common_name="A PRIVATE KEY").pem,
            certificate("words", common_name="A PRIVATE KEY").pem,
            id="A-15-words-in-subject",
        ),
        pytest.param(CERT1 + CERT2, TEXT + CERT1 + TEXT + CERT2, id="A-20-text-before-each"),
        pytest.param(CERT1, armour(DER1, columns=76, end="\r\n"), id="A-21-crlf-and-76-columns"),
        pytest.param(CERT1, armour(DER1, columns=1), id="one-column"),
        pytest.param(CERT1, armour(DER1, columns=100_000), id="one-line"),
        pytest.param(CERT1, BEGIN + b"\n \v\f" + BODY + END, id="white-space-in-body"),
        pytest.param(CERT1, BEGIN + b"Proc-Type: 4\nNote: x\n\n" + BODY + END, id="header-lines"),
        pytest.param(CERT1, BEGIN + b"Note: x\r\n\r\n" + BODY + END, id="header-lines-crlf"),
        pytest.param(CERT1, CERT1.replace(b"-----\n", b"----- \t\r\n"), id="blanks-after-armour"),
        pytest.param(CERT1, KEY_DER + b"\n" + CERT1, id="der-key-before-is-dropped"),
        pytest.param(CERT1 + CERT2, CERT1 + JWK + b"\n" + CERT2, id="jwk-between-is-dropped"),
        pytest.param(CERT1, NUL + b"\n" + CERT1, id="nul-before-is-dropped"),
        pytest.param(CERT1, b"x -----BEGIN RUBBISH\n" + CERT1, id="begin-in-mid-line"),
        pytest.param(CERT1, b"-----BEGINNING\n" + CERT1, id="begin-without-a-space"),
        pytest.param(EXPIRED, EXPIRED, id="expired"),
        pytest.param(LEAF, LEAF, id="not-a-ca"),
    ],
)
def test_a_certificate_is_rebuilt_and_nothing_else_travels(pem: bytes, value: bytes) -> None:
    """Whatever stands around a certificate's base64 would reach a tenant."""
    assert (pem, None, "") == (lift(value).pem, lift(value).refusal, lift(value).why)


@pytest.mark.parametrize(
    "header",
    [
        b"-----BEGIN PRIVATE KEY-----",
        b"-----BEGIN RSA PRIVATE KEY-----",
        b"-----BEGIN EC PRIVATE KEY-----",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----",
        b"-----BEGIN OPENSSH PRIVATE KEY-----",
        b"-----begin private key-----",
        b"-----Begin Rsa Private Key-----",
        b"-----BEGIN PGP PRIVATE KEY BLOCK-----",
        b"-----BEGIN PRIVATE KEY",
        b"-----BEGIN 2 PRIVATE KEYS",
        b"x-----BEGIN PRIVATE KEY-----",
        b"\r-----BEGIN PRIVATE KEY-----",
        BOM + b"-----BEGIN PRIVATE KEY-----",
        NUL + b"-----BEGIN PRIVATE KEY-----",
    ],
)
@pytest.mark.parametrize("around", [(b"", b""), (CERT1, b""), (b"", b"\n" + CERT1), (CERT1, CERT2)])
def test_a_private_key_header_is_named_before_anything_else(
    header: bytes, around: tuple[bytes, bytes]
) -> None:
    """A-11, A-14: a key beside a certificate must be told apart from mere garbage."""
    assert lift(header.join(around)).refusal is Refusal.PRIVATE_KEY


def test_a_whole_key_is_refused_as_one() -> None:
    """A-13: a declaration that names `ca.key` must not publish it."""
    assert (
        lift(KEY).pem,
        lift(KEY).refusal,
        lift(KEY).certificates,
    ) == (b"", Refusal.PRIVATE_KEY, ())


@pytest.mark.parametrize(
    ("why", "value"),
    [
        pytest.param("it holds no PEM block", b"", id="empty"),
        pytest.param("it holds no PEM block", b"garbage", id="A-16-garbage"),
        pytest.param("it holds no PEM block", DER1, id="der-certificate"),
        pytest.param("it holds no PEM block", KEY_DER, id="der-key"),
        pytest.param("it holds no PEM block", JWK, id="jwk"),
        pytest.param("it holds no PEM block", base64.b64encode(CERT1), id="base64-of-pem"),
        pytest.param("it holds no PEM block", CERT1.decode().encode("utf-16"), id="utf-16"),
        pytest.param("it holds no PEM block", CERT1.decode().encode("utf-16-be"), id="utf-16-be"),
        pytest.param("it holds no PEM block", b"\v" + NUL + CERT1, id="nul-before-begin"),
        pytest.param("it holds no PEM block", BODY, id="body-alone"),
        pytest.param("it holds no PEM block", b"x" + CERT1, id="begin-not-at-line-start"),
        pytest.param(
            "a byte-order mark stands before the first block", BOM + CERT1, id="byte-order-mark"
        ),
        pytest.param(
            "a byte-order mark stands before the first block",
            BOM + CERT1 + CERT2,
            id="byte-order-mark-before-two",
        ),
        pytest.param(
            "a byte-order mark stands before the first block",
            TEXT + BOM + CERT1 + CERT2,
            id="byte-order-mark-after-text",
        ),
        pytest.param(
            "a byte-order mark stands before the first block",
            b"see -----BEGIN X\n" + BOM + CERT1 + CERT2,
            id="byte-order-mark-after-text-that-begins",
        ),
        pytest.param("block 1 is empty", BEGIN + END, id="A-16-empty-armour"),
        pytest.param("block 1 is empty", BEGIN + b" \n\n" + END, id="A-16-blank-armour"),
        pytest.param("block 1 is empty", BEGIN + b"A: b\n\n" + END, id="headers-alone"),
        pytest.param(
            "block 1 is not exactly one DER structure", armour(DER1[:-1]), id="A-16-truncated"
        ),
        pytest.param(
            "block 1 is not exactly one DER structure", armour(DER1 + NUL), id="trailing-der"
        ),
        pytest.param(
            "block 1 is not exactly one DER structure", armour(DER1 + DER1), id="two-in-one-block"
        ),
        pytest.param(
            "block 1 is not exactly one DER structure",
            armour(DER1 + KEY_DER),
            id="key-after-certificate",
        ),
        pytest.param(
            "block 1 is not exactly one DER structure",
            armour(b"\x30\x80" + DER1[4:] + b"\0\0"),
            id="indefinite-length",
        ),
        pytest.param("block 1 is not exactly one DER structure", armour(b"\x30"), id="tag-alone"),
        pytest.param(
            "block 1 is not exactly one DER structure", armour(b"\x30\x89" + DER1), id="huge-length"
        ),
        pytest.param("block 1 is not an X.509 certificate", armour(b"\x30\0"), id="empty-sequence"),
        pytest.param("block 1 is not an X.509 certificate", armour(KEY_DER), id="key-as-cert"),
        pytest.param(
            "block 2 is not exactly one DER structure",
            CERT1 + armour(b"hello there"),
            id="A-16-text-in-armour",
        ),
        pytest.param(
            "block 1 is not valid base64", BEGIN + b"not base64!\n" + END, id="A-16-non-base64"
        ),
        pytest.param(
            "block 1 is not valid base64", CERT1.replace(b"M", b"-"), id="url-safe-alphabet"
        ),
        pytest.param("block 1 is not valid base64", BEGIN + b"MAA\n" + END, id="padding-missing"),
        pytest.param("block 1 is not valid base64", BEGIN + b"MA==A===\n" + END, id="padding-mid"),
        pytest.param("block 1 is not valid base64", BEGIN + BODY + NUL + b"\n" + END, id="nul"),
        pytest.param(
            "block 1 is not valid base64", BEGIN + b"A: b\n" + BODY + END, id="headers-not-ended"
        ),
        pytest.param(
            "block 1 has no END line",
            CERT1.replace(b"\n-----END", b"-----END"),
            id="end-in-mid-line",
        ),
        pytest.param("block 1 has no END line", BEGIN, id="A-16-begin-alone"),
        pytest.param("block 1 has no END line", BEGIN + BODY, id="A-16-no-end"),
        pytest.param("block 2 has no END line", CERT1 + BEGIN, id="begin-after-the-last-block"),
        pytest.param(
            "block 1 does not end with a matching END line",
            CERT1.replace(b"END CERT", b"END X509 CERT"),
            id="end-of-another-label",
        ),
        pytest.param(
            "block 1 does not end with a matching END line",
            CERT1.replace(b"END CERTIFICATE", b"END certificate"),
            id="end-in-lower-case",
        ),
        pytest.param(
            "block 1 does not end with a matching END line",
            CERT1.rstrip() + b" x",
            id="text-on-the-end-line",
        ),
        pytest.param(
            "block 1 does not end with a matching END line",
            BEGIN + CERT1,
            id="begin-inside-a-block",
        ),
        pytest.param(
            "block 1 does not end with a matching END line",
            BEGIN + BODY + CERT2,
            id="no-end-before-the-next",
        ),
        pytest.param(
            "the BEGIN line of block 1 is malformed",
            CERT1.replace(b"BEGIN CERTIFICATE-----", b"BEGIN CERTIFICATE----- x"),
            id="text-on-the-begin-line",
        ),
        pytest.param(
            "the BEGIN line of block 1 is malformed", b"-----BEGIN \n" + CERT1, id="no-label"
        ),
        pytest.param(
            "the BEGIN line of block 2 is malformed",
            CERT1 + b"-----BEGIN CERTIFICATE----\n" + CERT2,
            id="malformed-between-good-ones",
        ),
        pytest.param(
            "block 1 is not labelled as a certificate",
            CERT1.replace(b"\n", b"\r"),
            id="cr-only-line-ends",
        ),
        pytest.param(
            "block 1 is not labelled as a certificate",
            armour(DER1, "certificate"),
            id="lower-case-label",
        ),
        pytest.param(
            "block 1 is not labelled as a certificate",
            armour(DER1, "X509 CERTIFICATE"),
            id="other-label",
        ),
        pytest.param(
            "block 1 is not labelled as a certificate",
            armour(DER1, " CERTIFICATE"),
            id="label-with-a-space",
        ),
        pytest.param(
            "block 2 is not labelled as a certificate",
            CERT1 + armour(b"\x30\0", "PUBLIC KEY"),
            id="A-16-public-key",
        ),
        pytest.param(
            "block 1 is not labelled as a certificate",
            armour(b"\x30\0", "X509 CRL") + CERT1,
            id="A-16-crl",
        ),
        pytest.param("text follows the last block", CERT1 + b"trailing text", id="A-19"),
        pytest.param("text follows the last block", CERT1 + KEY_DER, id="der-key-after"),
        pytest.param("text follows the last block", CERT1 + JWK, id="jwk-after"),
        pytest.param("text follows the last block", CERT1 + NUL, id="nul-after"),
        pytest.param("text follows the last block", CERT1 + BOM + CERT2, id="bom-between"),
        pytest.param("text follows the last block", CERT1 + b"-----BEGINS", id="dashes-after"),
    ],
)
def test_what_is_not_certificates_only_is_refused_with_its_reason(why: str, value: bytes) -> None:
    """A value that is let through in part could carry anything in the rest."""
    lifted = lift(value)
    assert (why, Refusal.NOT_CERTIFICATE, b"", ()) == (
        lifted.why,
        lifted.refusal,
        lifted.pem,
        lifted.certificates,
    )


@pytest.mark.parametrize("tag", [b"\x0c", b"\x14"], ids=["utf-8", "t61"])
def test_a_subject_that_cannot_be_shown_is_no_refusal(tag: bytes) -> None:
    """Old CAs write latin-1 as T61; a parser's message may quote the input, so ours is told."""
    value = armour(DER1.replace(b"\x0c\x03one", tag + b"\x03\xff\xfe\xfd"))
    lifted = lift(value)
    assert (value, None) == (lifted.pem, lifted.refusal)
    assert ["a subject that cannot be shown"] == [one.subject for one in lifted.certificates]


def test_a_negative_serial_raises_no_warning() -> None:
    """A warning turned into an error would leave the gate with the input in its text."""
    at = DER1.index(b"\x02\x08") + 2
    assert lift(armour(DER1[:at] + b"\xff" + DER1[at + 1 :])).refusal in {
        None,
        Refusal.NOT_CERTIFICATE,
    }


def test_the_facts_of_a_certificate_are_told() -> None:
    """Expiry decides an event, and the fingerprint is how a person compares anchors."""
    told = lift(EXPIRED + LEAF).certificates
    assert [
        ("CN=expired", datetime(2025, 6, 1, tzinfo=UTC), True),
        ("CN=leaf", datetime(2035, 1, 1, tzinfo=UTC), False),
    ] == [(one.subject, one.not_after, one.is_ca) for one in told]
    assert certificate("leaf", ca=False).sha256 == told[1].sha256


def test_an_extension_that_cannot_be_read_decides_nothing() -> None:
    """Extensions are not judged by the gate; a CA of an odd tool is published all the same."""
    odd = armour(DER1.replace(b"\x30\x03\x01\x01\xff", b"\x30\x03\x01\x01\xfe"))
    assert [one.is_ca for one in lift(odd).certificates] == [False]


def test_a_subject_cannot_steer_a_terminal_or_flood_an_event() -> None:
    """A certificate's author must not write escape codes into an operator's terminal."""
    hostile = certificate("hostile", common_name="\x1b[2J\n\u202e" + "x" * 50).pem
    assert lift(hostile).certificates[0].subject.isprintable()
    assert _shown("x" * 300) == "x" * 255 + "…"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("private key", CERT1 + KEY),
        ("blank", b" \n"),
        ("no certificate", b"password"),
        (f"CN=one, expires 2035-01-01T00:00:00Z, sha256 {certificate('one').sha256}", CERT1),
    ],
)
def test_a_value_is_described_without_its_bytes(text: str, value: bytes) -> None:
    """What `why` and `plan` print of a Secret must never be its content."""
    assert text == describe(value)


def test_a_long_bundle_is_described_in_one_line() -> None:
    """A hundred subjects in an event would be cut by the API server at a place we do not choose."""
    assert describe(CERT1 * 100).endswith("; and 96 more")


@pytest.mark.parametrize(
    ("unchanged", "value"),
    [
        (True, CERT1 + CERT2),
        (False, CERT1 + b"\n"),
        (False, TEXT + CERT1),
        (False, b""),
        (False, DER1),
        (False, CERT1 + KEY),
    ],
)
def test_only_the_gates_own_output_passes_unchanged(unchanged: bool, value: bytes) -> None:
    """A blank value equals the output of its own refusal, and must still not count as clean."""
    assert unchanged is passes_unchanged(value)


@pytest.mark.parametrize(
    ("empty", "value"), [(True, b""), (True, b" \t\r\n\v\f"), (False, NUL), (False, b"\xc2\xa0")]
)
def test_blank_is_ascii_white_space_only(empty: bool, value: bytes) -> None:
    """Blank means "not populated yet", which is waited for in silence; garbage is warned about."""
    assert empty is blank(value)


@pytest.mark.parametrize(
    ("held", "value"),
    [
        (True, b"-----BEGIN A1 B2 PRIVATE KEY"),
        (False, b"-----BEGIN A_B PRIVATE KEY-----"),
        (False, b"----BEGIN PRIVATE KEY-----"),
        (False, b"-----BEGIN PRIVATEKEY-----"),
        (False, b"-----BEGIN \nPRIVATE KEY-----"),
        (False, b"-----END PRIVATE KEY-----"),
        (False, b"-----BEGIN PUBLIC KEY-----"),
    ],
)
def test_the_guard_is_the_pattern_of_the_contract(held: bool, value: bytes) -> None:
    """The guard is called again right before a write, where nothing else is judged."""
    assert held is holds_private_key(value)


@pytest.mark.parametrize(
    "value",
    [
        b"-----BEGIN \n" * 90_000,
        b"-----BEGIN " * 95_000,
        BEGIN * 38_000,
        b"-----BEGIN " + b"PRIVATE " * 130_000,
        b"-----BEGIN CERTIFICATE-----\n" + b"a:\n" * 350_000,
        BEGIN + b"A" * 1_000_000 + b"\n" + END,
        b"\n" * 1_000_000 + b"x",
        (BOM + b"-----BEGIN \n") * 70_000,
        CERT1 * 100,
    ],
    ids=["begins", "one-line", "nested", "words", "headers", "body", "lines", "marks", "hundred"],
)
def test_a_hostile_megabyte_is_judged_at_once(value: bytes) -> None:
    """Whoever can write a Secret must not be able to stall the controller."""
    before = time.monotonic()
    lift(value)
    assert time.monotonic() - before < 1
