"""Everything a decision about an attachment may know; a new fact is added in `facts` first.

Source: endpoint-attachments 2.2, 3.1 and 5.3.
"""

from roadstead.capabilities.attachments.snapshot.facts import (
    Asked,
    Association,
    Delegation,
    Snapshot,
    addresses_of,
    age_order,
    family_of,
    is_bound,
    selector_of,
)
from roadstead.capabilities.attachments.snapshot.observe import observe, pods_of
from roadstead.capabilities.attachments.snapshot.views import (
    ADDRESSES,
    ATTACHMENTS,
    CLAIMS,
    CLASSES,
    RELEASES,
    SERVICES,
    SLICES,
)

__all__ = [
    "ADDRESSES",
    "ATTACHMENTS",
    "CLAIMS",
    "CLASSES",
    "RELEASES",
    "SERVICES",
    "SLICES",
    "Asked",
    "Association",
    "Delegation",
    "Snapshot",
    "addresses_of",
    "age_order",
    "family_of",
    "is_bound",
    "observe",
    "pods_of",
    "selector_of",
]
