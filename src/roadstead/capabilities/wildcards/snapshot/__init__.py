"""Everything a decision about the wildcard replicas may know.

The source and the copies are read live, and dropped with the pass. Source: wildcard-secrets 3 to 9.
"""

from roadstead.capabilities.wildcards.snapshot.channel import Channel, Word, read_channel
from roadstead.capabilities.wildcards.snapshot.facts import Place, Snapshot, Tls, is_copy
from roadstead.capabilities.wildcards.snapshot.observe import observe
from roadstead.capabilities.wildcards.snapshot.views import (
    CHANNEL,
    GATEWAYS,
    NAMESPACES,
    SECRETS,
    source_named,
)

__all__ = [
    "CHANNEL",
    "GATEWAYS",
    "NAMESPACES",
    "SECRETS",
    "Channel",
    "Place",
    "Snapshot",
    "Tls",
    "Word",
    "is_copy",
    "observe",
    "read_channel",
    "source_named",
]
