"""What of other programs' words a tenant may read. Source: endpoint-attachments 3.7."""

import re

LONGEST = 512
_NAMED = re.compile(
    r"""
    \b[Nn]amespaces?[ :="']+(?P<namespace>[a-z0-9][-a-z0-9]*)(?:/[a-z0-9][-a-z0-9.]*)?["']?
    | (?<![-.\w])(?P<head>[a-z0-9][-a-z0-9]*)(?P<rest>(?:/[a-z0-9][-a-z0-9.]*)+)
    """,
    re.VERBOSE,
)
"""A namespace by its word, or a path; what follows a dot is a group or an IPv4 range."""
_RANGE = re.compile(r"[0-9a-f]{1,4}/[0-9]{1,3}")
_QUOTAS = frozenset({"count", "requests", "limits"})


def quoted(said: str, namespace: str) -> str:
    """A text of the API server or of the substrate, with names outside a namespace removed.

    said: of a refusal what `ClusterError.said` holds. Cut at 512 characters.
    """
    flat = " ".join(said.split())

    def elsewhere(found: re.Match[str]) -> str:
        if found["namespace"] is not None:
            return found[0] if found["namespace"] == namespace else "another namespace"
        within_ipv6 = flat[found.start() - 1 : found.start()] == ":" and _RANGE.fullmatch(found[0])
        if found["head"] in {namespace, *_QUOTAS} or within_ipv6:
            return found[0]
        return "an object in another namespace"

    return _NAMED.sub(elsewhere, flat)[:LONGEST]
