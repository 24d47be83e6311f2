"""What lineage looks at: definitions, releases, and the owners of one object."""

from roadstead.capabilities.lineage.snapshot.ancestry import (
    Application,
    Fetcher,
    application_of,
    applications_of,
)
from roadstead.capabilities.lineage.snapshot.facts import Belonging, Round, Snapshot
from roadstead.capabilities.lineage.snapshot.observe import SWEEP, Registry, observe, review
from roadstead.capabilities.lineage.snapshot.registry import (
    Block,
    Definition,
    Selector,
    compiled,
    definition_of,
)
from roadstead.capabilities.lineage.snapshot.views import DEFINITIONS, NAMESPACES, RELEASES

__all__ = [
    "DEFINITIONS",
    "NAMESPACES",
    "RELEASES",
    "SWEEP",
    "Application",
    "Belonging",
    "Block",
    "Definition",
    "Fetcher",
    "Registry",
    "Round",
    "Selector",
    "Snapshot",
    "application_of",
    "applications_of",
    "compiled",
    "definition_of",
    "observe",
    "review",
]
