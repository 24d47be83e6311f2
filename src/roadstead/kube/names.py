"""Names as the API server accepts them: RFC 1123, label keys and values, data keys, limits.

Every check is on ASCII alone and on the whole string; a trailing newline is part of a name.
"""

import re

LABEL_CHARACTERS = 63
SUBDOMAIN_CHARACTERS = 253
LABEL_VALUE_CHARACTERS = 63
LABEL_NAME_CHARACTERS = 63
DATA_KEY_CHARACTERS = 253

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
