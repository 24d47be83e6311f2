"""Hostnames as Gateway API has them: what covers what, what is inside a domain, and short names.

All comparisons are on lower case, byte by byte. Source: tenant-gateway 4.2 and 4.3.
"""

import hashlib

WILDCARD = "*."


def overlap(one: str, other: str) -> bool:
    """Tell whether two hostnames can name the same host.

    A wildcard covers deeper names and narrower wildcards, never its own bare suffix.
    """
    return one == other or covers(one, other) or covers(other, one)


def covers(pattern: str, hostname: str) -> bool:
    """Tell whether a wildcard stands for a name, or for a narrower wildcard."""
    return pattern.startswith(WILDCARD) and hostname.endswith(pattern[1:]) and hostname != pattern


def is_within(hostname: str, apex: str) -> bool:
    """Tell whether a hostname is a domain or stands below it."""
    return hostname == apex or hostname.endswith(f".{apex}")


def first_label(hostname: str) -> str:
    """Its first DNS label, in lower case."""
    return hostname.lower().partition(".")[0]


def digest(hostname: str) -> str:
    """The first four bytes of SHA-256 over the hostname in lower case, as eight hex digits."""
    return hashlib.sha256(hostname.lower().encode()).hexdigest()[:8]
