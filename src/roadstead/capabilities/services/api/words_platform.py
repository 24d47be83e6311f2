"""What values of the platform file must be, where no pattern can say it."""

import posixpath
import re
from ipaddress import ip_address
from itertools import pairwise
from typing import Any

from roadstead.capabilities.services.api.setting import Setting, list_of, mapping, text
from roadstead.capabilities.services.api.words import (
    DNS_NAME,
    DNS_NAME_WORDS,
    LABEL,
    LABEL_WORDS,
    name_of,
)
from roadstead.kube.names import is_label_key, is_label_value

URL = r"^https?://[^\s/?#]+(/[^\s?#]*)?$"
URL_WORDS = "an http or https address without query"
CRON_WORDS = "five cron fields; `H` may stand for the minute"

_CRON_LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_CRON_PART = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
_GO_DURATION = re.compile(r"(?:[0-9]+(?:h|m|s))+")


def is_cron(given: str) -> bool:
    """Tell whether a text has five cron fields within their limits, or `H` for its minute."""
    fields = given.split(" ")
    if len(fields) != len(_CRON_LIMITS):
        return False
    if fields[0] == "H":
        fields[0] = "0"
    return all(
        _fits(part, *limits)
        for one, limits in zip(fields, _CRON_LIMITS, strict=True)
        for part in one.split(",")
    )


def _fits(part: str, least: int, most: int) -> bool:
    found = _CRON_PART.fullmatch(part)
    if found is None:
        return False
    ends = [int(one) for one in found.groups()[:2] if one is not None]
    step = found[3] is None or int(found[3]) > 0
    return (
        step
        and all(least <= one <= most for one in ends)
        and all(low <= high for low, high in pairwise(ends))
    )


def is_go_duration(given: str) -> bool:
    """Tell whether a text is a whole duration above zero, as Velero writes it."""
    return _GO_DURATION.fullmatch(given) is not None and any(one in given for one in "123456789")


def is_address(given: str) -> bool:
    """Tell whether a text is one IP address."""
    try:
        ip_address(given)
    except ValueError:
        return False
    return True


def is_annotation_key(given: str) -> bool:
    """Tell whether a text may be an annotation's key; case of the prefix does not matter."""
    return is_label_key(given.lower())


def is_relative_path(given: str) -> bool:
    """Tell whether a path stays within the repository and is normalised; `./` may begin it."""
    path = given.removeprefix("./")
    if not re.fullmatch(r"[A-Za-z0-9._/-]+", path) or path.startswith("/"):
        return False
    return posixpath.normpath(path) == path and ".." not in path.split("/")


def named_of(meaning: str, **more: Any) -> Setting:
    """A reference by kind and name."""
    return mapping(
        meaning,
        {
            "kind": text("Its kind.", pattern=r"^[A-Z][A-Za-z0-9]{0,62}$", words="a kind"),
            "name": object_of("Its name."),
        },
        required=("kind", "name"),
        **more,
    )


def label_of(meaning: str, derived: str) -> Setting:
    """One label."""
    return mapping(
        meaning,
        {
            "key": text("Its key.", words="a label's key", holds=is_label_key),
            "value": text("Its value.", words="a label's value", holds=is_label_value),
        },
        required=("key", "value"),
        derived=derived,
    )


def object_of(meaning: str, **more: Any) -> Setting:
    """The name of an object: a DNS name."""
    limits = {"pattern": DNS_NAME, "words": DNS_NAME_WORDS, "longest": 253, **more}
    return text(meaning, **limits)


def services_of(meaning: str, **more: Any) -> Setting:
    """A set of service names."""
    return list_of(
        meaning,
        text("One service.", pattern=LABEL, words=LABEL_WORDS),
        unique=(),
        is_set=True,
        **more,
    )


def namespaces_of(meaning: str, **more: Any) -> Setting:
    """A set of namespaces."""
    return list_of(meaning, name_of("One namespace."), unique=(), is_set=True, **more)
