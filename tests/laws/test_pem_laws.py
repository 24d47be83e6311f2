"""What holds of the content gate for every value whatever."""

import base64
import re

from hypothesis import given
from hypothesis import strategies as st

from certificates import CERT1, CERT2, DER1, KEY, KEY_DER, armour
from roadstead.kube.pem import Refusal, describe, holds_private_key, lift, passes_unchanged

BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----\n(.*?)-----END CERTIFICATE-----\n", re.DOTALL)

PIECES = st.sampled_from(
    [
        CERT1,
        CERT2,
        CERT1.replace(b"\n", b"\r\n"),
        KEY,
        KEY_DER,
        armour(KEY_DER),
        b"\n",
        b" ",
        b"\xef\xbb\xbf",
        b"-----BEGIN CERTIFICATE-----\n",
        b"-----END CERTIFICATE-----\n",
        b"-----BEGIN ",
        b"Key: value\n\n",
        b"text\n",
    ]
)
VALUES = st.one_of(
    st.binary(max_size=300),
    st.lists(PIECES | st.binary(max_size=8), max_size=8).map(b"".join),
    st.lists(st.sampled_from([CERT1, CERT2, b"text\n", b"\n"]), max_size=8).map(b"".join),
)


@given(VALUES)
def test_any_value_gets_an_answer(value: bytes) -> None:
    """A value that raises would leave the key in a back-off loop, and its bytes in a traceback."""
    lifted = lift(value)
    assert (lifted.refusal is None) == bool(lifted.pem) == bool(lifted.certificates)
    assert (lifted.refusal is None) == (lifted.why == "")
    assert describe(value)


@given(VALUES)
def test_no_private_key_header_is_ever_in_the_output(value: bytes) -> None:
    """The output is what a tenant reads."""
    assert not holds_private_key(lift(value).pem)
    assert b"PRIVATE" not in lift(value).pem


@given(
    st.binary(max_size=40),
    st.sampled_from([b"", b"RSA ", b"EC ", b"ENCRYPTED ", b"OPENSSH ", b"PGP "]),
    st.binary(max_size=40),
    st.booleans(),
)
def test_a_key_header_refuses_whatever_surrounds_it(
    before: bytes, kind: bytes, after: bytes, lower: bool
) -> None:
    """The header alone decides, before any structure is looked at."""
    header = b"-----BEGIN " + kind + b"PRIVATE KEY"
    value = CERT1 + before + (header.lower() if lower else header) + after
    assert lift(value).refusal is Refusal.PRIVATE_KEY


@given(VALUES)
def test_the_output_is_a_fixpoint(value: bytes) -> None:
    """Otherwise an unchanged anchor would be rewritten on every pass."""
    lifted = lift(value)
    again = lift(lifted.pem)
    assert lifted.pem == again.pem
    assert passes_unchanged(lifted.pem) is (lifted.refusal is None)


@given(VALUES)
def test_every_block_of_the_output_was_in_the_input(value: bytes) -> None:
    """A byte that was not parsed out of the input must not be published."""
    packed = value.translate(None, b" \t\r\n\v\f")
    lifted = lift(value)
    blocks = BLOCK.findall(lifted.pem)
    assert len(blocks) == len(lifted.certificates)
    assert all(base64.b64encode(base64.b64decode(block)) in packed for block in blocks)
    assert lifted.pem == b"".join(armour(base64.b64decode(block)) for block in blocks)


@given(st.integers(0, len(DER1) - 1), st.integers(0, 255))
def test_a_damaged_certificate_gets_an_answer(at: int, byte: int) -> None:
    """The parser warns and raises in many ways; none of them may leave the gate."""
    damaged = armour(DER1[:at] + bytes([byte]) + DER1[at + 1 :])
    assert lift(damaged).pem in {b"", damaged}
