"""Names as the API server accepts them: RFC 1123, label keys and values, data keys, limits.

Every check is on ASCII alone and on the whole string; a trailing newline is part of a name.
"""

import hashlib
import re

LABEL_CHARACTERS = 63
SUBDOMAIN_CHARACTERS = 253
LABEL_VALUE_CHARACTERS = 63
LABEL_NAME_CHARACTERS = 63
DATA_KEY_CHARACTERS = 253

GENERATED_BASE_CHARACTERS = 58
"""At most so much of a `generateName` is kept before five characters are added."""

_GENERATED = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of the API server's own generator: no vowels, so no words."""

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_RFC1123_LABEL = re.compile(_LABEL)
_RFC1123_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_RFC1035_LABEL = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_QUALIFIED = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]+")


def is_label(name: str) -> bool:
    """Tell whether a name is an RFC 1123 label, as a Namespace's must be; at most 63 characters."""
    return len(name) <= LABEL_CHARACTERS and _RFC1123_LABEL.fullmatch(name) is not None


def is_service_name(name: str) -> bool:
    """Tell whether a name is an RFC 1035 label, as a Service's must be: it begins with a letter."""
    return len(name) <= LABEL_CHARACTERS and _RFC1035_LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """Tell whether a name is an RFC 1123 subdomain, as most objects' must be.

    Source: Kubernetes, object names. The whole is held to 253 characters, its parts to nothing.
    """
    return len(name) <= SUBDOMAIN_CHARACTERS and _RFC1123_SUBDOMAIN.fullmatch(name) is not None


def is_data_key(key: str) -> bool:
    """Tell whether a Secret or ConfigMap may hold a key.

    Source: trust-anchors 4.2.
    """
    return len(key) <= DATA_KEY_CHARACTERS and _DATA_KEY.fullmatch(key) is not None


def is_label_key(key: str) -> bool:
    """Tell whether a key may stand in labels or annotations: `name` or `subdomain/name`."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(name) <= LABEL_NAME_CHARACTERS and _QUALIFIED.fullmatch(name) is not None


def is_label_value(value: str) -> bool:
    """Tell whether a label may have a value; the empty one is allowed."""
    if not value:
        return True
    return len(value) <= LABEL_VALUE_CHARACTERS and _QUALIFIED.fullmatch(value) is not None


def label_name(name: str, fallback: str) -> str:
    """A name as the front of a single label that begins with a letter, without a dash at its end.

    fallback: put before a first character that is no letter, with a dash (`ea`).
    Gives: at most 57 characters, so that a dash and five generated ones make a Service's name.
    Source: endpoint-attachments 4.1.
    """
    flat = name.replace(".", "-")
    if not flat[:1].isalpha():
        flat = f"{fallback}-{flat}"
    return flat[: GENERATED_BASE_CHARACTERS - 1].rstrip("-")


def minted_name(prefix: str, owner: str, role: str, nonce: int) -> str:
    """The name of an owner's one object of a role: it looks generated and is always the same.

    prefix: the object's `generateName`. owner: the owner's uid. nonce: 0, or one more for each
    name that somebody else was found to have.
    Source: endpoint-attachments 5.2; the suffix is of the API server's own alphabet.
    """
    digest = hashlib.sha256("\0".join((owner, role, str(nonce))).encode()).digest()
    suffix = "".join(_GENERATED[byte % len(_GENERATED)] for byte in digest[:5])
    return f"{prefix[:GENERATED_BASE_CHARACTERS]}{suffix}"


def label_value_of(name: str) -> str:
    """A name as a label's value: itself, or its hash where it is too long for one."""
    if len(name) <= LABEL_VALUE_CHARACTERS:
        return name
    return hashlib.sha256(name.encode()).hexdigest()[:LABEL_VALUE_CHARACTERS]
