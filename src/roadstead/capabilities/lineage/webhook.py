"""What the admission webhook is asked, and answers. Source: lineage 3 and 4."""

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.decide import admit
from roadstead.capabilities.lineage.snapshot import DEFINITIONS, NAMESPACES, RELEASES, review
from roadstead.wiring import Admission

NAME_LABEL = "kubernetes.io/metadata.name"

LINEAGE = Admission(
    name="lineage",
    path=api.PATH,
    service=api.SERVICE_NAME,
    views=(DEFINITIONS, RELEASES, NAMESPACES),
    reviewed=api.REVIEWED,
    asked=(api.SCHEDULING_CLASS,),
    namespaces=f"{api.SYSTEM} notin (true),{NAME_LABEL} notin ({','.join(api.EXEMPT)})",
    objects=f"!{api.MANAGED_BY}",
    observe=review,
    decide=admit,
    budget=api.BUDGET,
    reasons=tuple(one for one in api.REASONS if one.name != api.STALE),
)
