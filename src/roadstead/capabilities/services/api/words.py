"""Patterns that several fields share, each with what it says in words."""

import re
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from roadstead.capabilities.services.api.setting import Setting, choice, number, text
from roadstead.kube.expressions import is_expression
from roadstead.kube.names import is_label_key, is_label_value, is_subdomain
from roadstead.kube.times import parse_duration

LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_WORDS = "a DNS label: lower-case letters, digits and dashes, no dash at either end"
SERVICE_NAME = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
SERVICE_NAME_WORDS = (
    "a name of lower-case letters, digits and dashes that begins with a letter, ends with no "
    "dash and has at most 40 characters"
)
DNS_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DNS_NAME_WORDS = "a DNS name in lower case"
DURATION = r"^([0-9]+(h|m|s))+$"
DURATION_WORDS = "a duration such as 30s, 10m or 1h30m"
ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
ENV_NAME_WORDS = "a variable name: letters, digits and underscores, no digit first"
DATA_KEY = r"^[-._a-zA-Z0-9]{1,253}$"
DATA_KEY_WORDS = "a key of a Secret: letters, digits, dots, dashes and underscores"
GROUP = r"^[A-Za-z0-9._/-]{1,255}$"
GROUP_WORDS = "a group: letters, digits, dots, dashes, underscores and slashes"
PORT_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
PORT_NAME_WORDS = (
    "an IANA service name: at most 15 lower-case letters, digits and single dashes, with a letter"
)
CADENCE_WORDS = "a duration from 5m to 720h such as 12h or 90m, or hourly, daily, weekly or monthly"
CADENCES = {"hourly": "1h", "daily": "24h", "weekly": "168h", "monthly": "720h"}
VERSION = r"^\d+\.\d+\.\d+$"
VERSION_WORDS = "a version of three numbers such as 1.5.0"

QUANTITY_WORDS = "a quantity above zero such as 20Gi, 500M or 1e9"
BUILTIN_SLIS = ("restarts", "scrape", "storage", "up")
LEVELS = ("restricted", "baseline", "privileged")
PROTOCOLS = ("TCP", "UDP")

_SHORTEST_CADENCE, _LONGEST_CADENCE = timedelta(minutes=5), timedelta(hours=720)


def name_of(meaning: str, **more: Any) -> Setting:
    """A DNS label."""
    limits = {"longest": 63, "pattern": LABEL, "words": LABEL_WORDS, **more}
    return text(meaning, **limits)


def port_of(meaning: str, **more: Any) -> Setting:
    """A port number."""
    return number(meaning, 1, 65535, **more)


def protocol_of(**more: Any) -> Setting:
    """TCP or UDP."""
    return choice("The transport.", *PROTOCOLS, default="TCP", **more)


def duration_of(meaning: str, default: str, **more: Any) -> Setting:
    """A duration of hours, minutes and seconds."""
    return text(
        meaning,
        pattern=DURATION,
        words=DURATION_WORDS,
        holds=is_duration,
        default=default,
        **more,
    )


def is_duration(given: str) -> bool:
    """Tell whether a duration is above zero, and no longer than can be counted."""
    return _length(given) > timedelta()


def _length(given: str) -> timedelta:
    """How long a duration is; zero for one that cannot be counted."""
    try:
        return parse_duration(given)
    except (ValueError, OverflowError):
        return timedelta()


def is_cadence(given: str) -> bool:
    """Tell whether a scan interval is one of the words, or from 5 minutes to 720 hours."""
    if given in CADENCES:
        return True
    if re.fullmatch(DURATION, given) is None:
        return False
    return _SHORTEST_CADENCE <= _length(given) <= _LONGEST_CADENCE


def is_port_name(given: str) -> bool:
    """Tell whether a port may have a name. Source: RFC 6335, section 5.1."""
    return any(one.isalpha() for one in given) and "--" not in given


def is_host(given: str) -> bool:
    """Tell whether each label of a host name is short enough."""
    return is_subdomain(given) and all(len(part) <= 63 for part in given.split("."))  # noqa: PLR2004 - RFC 1035


def is_network(given: str) -> bool:
    """Tell whether a text is an IP range written with its length and without host bits."""
    if "/" not in given:
        return False
    try:
        ip_network(given)
    except ValueError:
        return False
    return True


def is_skip_path(given: str) -> bool:
    """Tell whether a path expression opens no more than it says: `^/` and something."""
    return given.startswith("^/") and given != "^/" and is_expression(given)


def labels_of(meaning: str, **more: Any) -> Setting:
    """Labels that pods are selected by."""
    return Setting(
        meaning,
        "object",
        values=text("Value of the label.", holds=is_label_value, words="a label's value"),
        key_words="a label's key",
        key_holds=is_label_key,
        **more,
    )
