"""Everything a decision about a trust anchor may know; a new fact is added in `facts` first.

Values of Secrets are dropped with the pass. Source: trust-anchors 4, 6 and 9.
"""

from roadstead.capabilities.anchors.snapshot.declare import declare, selectors_digest
from roadstead.capabilities.anchors.snapshot.facts import (
    Declaration,
    Recorded,
    Snapshot,
    Source,
    StraySource,
    is_application,
    is_legacy,
    is_ours,
    name_is_supported,
    recorded_source,
)
from roadstead.capabilities.anchors.snapshot.observe import observe
from roadstead.capabilities.anchors.snapshot.views import (
    DEFINITIONS,
    RELEASES,
    SECRETS,
    release_opted_into,
)

__all__ = [
    "DEFINITIONS",
    "RELEASES",
    "SECRETS",
    "Declaration",
    "Recorded",
    "Snapshot",
    "Source",
    "StraySource",
    "declare",
    "is_application",
    "is_legacy",
    "is_ours",
    "name_is_supported",
    "observe",
    "recorded_source",
    "release_opted_into",
    "selectors_digest",
]
