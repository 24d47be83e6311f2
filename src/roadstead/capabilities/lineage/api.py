"""Labels, kinds and words of the lineage, which every other capability may import.

Source: lineage 2, 3 and 7.
"""

from datetime import timedelta

from roadstead.kube.reasons import Reason
from roadstead.kube.refs import SECRET, SERVICE, Kind

APPLICATION_GROUP = "apps.cozystack.io"
"""The group of every application, which its virtual objects are served under."""
GROUP_LABEL = "apps.cozystack.io/application.group"
KIND_LABEL = "apps.cozystack.io/application.kind"
NAME_LABEL = "apps.cozystack.io/application.name"
TRIPLE = (GROUP_LABEL, KIND_LABEL, NAME_LABEL)
TENANT_RESOURCE = "internal.cozystack.io/tenantresource"
MANAGED_BY = "internal.cozystack.io/managed-by-cozystack"
INTERNAL = "internal.cozystack.io/"
"""What begins so is the platform's: no tenant writes it."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

HELM_NAME = "helm.toolkit.fluxcd.io/name"
HELM_NAMESPACE = "helm.toolkit.fluxcd.io/namespace"
SCHEDULING = "scheduler.cozystack.io/scheduling-class"
"""Of a Namespace the class of its Pods; of a Pod, as label and annotation, the one it was given."""
SCHEDULER = "cozystack-scheduler"
SYSTEM = "cozystack.io/system"
"""A Namespace that carries it as "true" is outside of the webhook's reach."""

DEFINITION = Kind(
    "ApplicationDefinition",
    "cozystack.io",
    "v1alpha1",
    "applicationdefinitions",
    namespaced=False,
)
SCHEDULING_CLASS = Kind(
    "SchedulingClass", "cozystack.io", "v1alpha1", "schedulingclasses", namespaced=False
)
POD = Kind("Pod", "", "v1", "pods")
CLAIM = Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims")
INGRESS = Kind("Ingress", "networking.k8s.io", "v1", "ingresses")
MONITOR = Kind("WorkloadMonitor", "cozystack.io", "v1alpha1", "workloadmonitors")
REVIEWED = (POD, SECRET, SERVICE, CLAIM, INGRESS, MONITOR)
"""What the webhook is asked about, on CREATE and UPDATE."""
BLOCKS = {SECRET: "secrets", SERVICE: "services", INGRESS: "ingresses"}
"""Where a definition says which objects of a kind are for tenants."""


def block_of(kind: Kind) -> str:
    """The block of a definition that speaks of a kind, in whatever version; empty for none."""
    found = (name for one, name in BLOCKS.items() if one[:2] == kind[:2])
    return next(found, "")


EXEMPT = ("kube-system", "default")
"""Namespaces that are never asked about."""

REFRESHER_COMPONENT = "lineage-refresher"
WEBHOOK = "lineage.cozystack.io"
SERVICE_NAME = "lineage-controller-webhook"
PATH = "/mutate-lineage"
PORT = 9443
BUDGET = timedelta(seconds=8)
"""How long the answer to one request may take. Source: lineage 3."""

DEEPEST = 20
"""So many owners are followed one after another; what lies beyond counts as not there."""
RESYNC = timedelta(minutes=60)
"""How often the refresher looks at everything again. Source: lineage 9."""
AGAIN = timedelta(minutes=1)
"""How soon it looks again at what should be hidden by now, and is not."""
PATCHES_A_SECOND = 10.0
BATCH = 500
"""Patches of one pass of the refresher at most; the rest follows in the next."""

AMBIGUOUS = "object ancestry ambiguous, using first ancestor found"
"""Upstream's own words, which scripts may look for."""
VISIBLE, HIDDEN = "true", "false"
STALE = "VerdictStale"

REASONS: tuple[Reason, ...] = (
    Reason(
        "Unowned", "", "",
        "No application owns the object, so no lineage label is written.",
        "No chain of owners, and no Helm label, leads to the HelmRelease of an application.",
        "Set the owner that made it, or create it as part of the application's chart.",
    ),
    Reason(
        "AncestryAmbiguous", "", "",
        "Several applications own the object; the first in the list of owners counts.",
        "Two of its owners lead to different HelmReleases.",
        "Leave the owner whose application it belongs to.",
    ),
    Reason(
        "NoSelectors", "", "",
        "Objects of this kind are never offered to tenants.",
        "A definition has selectors for Secrets, Services and Ingresses alone.",
        "Nothing is owed.",
    ),
    Reason(
        "Excluded", "", "",
        "A selector under `exclude` of the application's definition matches the object, or is "
        "broken.",
        "The definition hides it; what cannot be read in that list hides as well.",
        "Mend or narrow the `exclude` list of the definition if the tenant should see the object.",
    ),
    Reason(
        "NotSelected", "", "",
        "No selector under `include` of the application's definition matches the object.",
        "Its labels or its name are not among those the definition offers.",
        "Add a selector to the definition, or label the object, if the tenant should see it.",
    ),
    Reason(
        "AnchorGuarded", "", "",
        "The Secret is labelled as a trust anchor and holds more than certificates.",
        "The label `tenant-ca` was set on a Secret that was not made by the content gate.",
        "Take the label off, or leave `ca.crt` alone in the Secret as the anchors write it.",
    ),
    Reason(
        "VerdictStale", "", "",
        "The stored verdict is not what the definition says now; the object is asked for again.",
        "The definition has changed, or the object was created past the webhook.",
        "Nothing is owed; the webhook stamps the new verdict.",
    ),
)  # fmt: skip

BY_NAME = {reason.name: reason for reason in REASONS}
