"""Container image references: registry, path, tag and digest.

Source: OCI distribution specification, and the reference grammar of its implementations.
"""

import re
from typing import NamedTuple

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
_REGISTRY = rf"(?:{_HOST}(?:\.{_HOST})*|\[[0-9a-fA-F:]+\])(?::[0-9]{{1,5}})?"
IMAGE_PATTERN = (
    rf"(?:{_REGISTRY}/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_IMAGE = re.compile(
    rf"(?P<repository>(?:{_REGISTRY}/)?{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_LONGEST_NAME = 255


class Image(NamedTuple):
    """One reference. tag, digest: empty where there is none; the digest with its `sha256:`."""

    repository: str
    tag: str
    digest: str


def parse_image(reference: str) -> Image:
    """Take a reference apart.

    Raises: ValueError when it is none.
    """
    found = _IMAGE.fullmatch(reference)
    if found is None or len(found["repository"]) > _LONGEST_NAME:
        raise ValueError(f"`{reference}` is no image reference")
    return Image(found["repository"], found["tag"] or "", found["digest"] or "")


def is_image(reference: str) -> bool:
    """Tell whether a text is an image reference."""
    try:
        parse_image(reference)
    except ValueError:
        return False
    return True
