"""Names, states and reasons of the wildcard replicas. Source: wildcard-secrets 2, 3, 8 and 10."""

from datetime import timedelta

from roadstead.kube.reasons import Reason
from roadstead.kube.refs import SECRET

COMPONENT = "wildcard-secret-controller"

VALUES = SECRET.ref("cozy-system", "cozystack-values")
"""The platform's values channel, and the one key of this capability."""
VALUES_KEY = "values.yaml"
CLUSTER = "_cluster"
SOURCE_NAME = "wildcard-secret-name"
PUBLISHING = "expose-ingress"
DEFAULT_PUBLISHING = "tenant-root"

INGRESS_LABEL = "namespace.cozystack.io/ingress"
"""On a Namespace: whose ingress controller serves it."""
COPY = "cozystack.io/wildcard-secret-copy"
COPY_SOURCE = "cozystack.io/wildcard-secret-source"

TLS = "kubernetes.io/tls"
CERTIFICATE, PRIVATE, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
REQUIRED = (CERTIFICATE, PRIVATE)
COPIED = (*REQUIRED, AUTHORITY)

EDGE = "edge"
"""The one mode of a TenantGateway in which TLS ends before it."""

FOREIGN_PREFIXES = (
    "internal.cozystack.io/",
    "apps.cozystack.io/",
    "helm.toolkit.fluxcd.io/",
)
"""Labels and annotations that would show a copy to its tenant, or give it a lineage."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

RESYNC = timedelta(minutes=5)
PAUSE = timedelta(seconds=1)

REPLICATED, PARTIAL, ERROR = "Replicated", "Partial", "Error"
CHANNEL_UNKNOWN, DISABLED = "ChannelUnknown", "Disabled"
SKIPPED, MISSING, INVALID = (
    "WildcardReplicaSkipped",
    "WildcardSourceMissing",
    "WildcardSourceInvalid",
)
IS_REPLICA, CONFIG_INVALID = "WildcardSourceIsReplica", "WildcardConfigInvalid"

REASONS: tuple[Reason, ...] = (
    Reason(
        CHANNEL_UNKNOWN, CHANNEL_UNKNOWN, "",
        "The platform's values do not say whether there is a wildcard certificate.",
        "The values Secret, its key or the name in it is absent: an older platform, or one that "
        "is being installed.",
        'Set `_cluster.wildcard-secret-name`; the empty text `""` says that there is none.',
    ),
    Reason(
        DISABLED, DISABLED, "",
        "The platform says that there is no wildcard certificate; every replica is taken away.",
        '`_cluster.wildcard-secret-name` is the empty text `""`.',
        "Nothing is owed; name the certificate to have it replicated.",
    ),
    Reason(
        "GatewaysUnread", PARTIAL, "",
        "Whether some namespaces end TLS themselves is unknown: what stands there stays.",
        "TenantGateways cannot be listed: their kind is not served, or a permission is missing.",
        "Install the kind, or grant what `roadstead manifests rbac` prints.",
    ),
    Reason(
        "Terminating", PARTIAL, "",
        "A replica is being deleted and a finalizer still holds it; it is not written.",
        "Somebody deleted it; whoever set the finalizer has not let it go.",
        "Remove the finalizer; the replica is then made again.",
    ),
    Reason(
        "ReadFailed", ERROR, "",
        "Something the decision needs could not be read; nothing that rests on it was changed.",
        "The API server answered with an error, or a view is not synced.",
        "Wait; it is tried again with growing pauses.",
    ),
    Reason(
        "WriteFailed", ERROR, "",
        "Some replicas could not be written or deleted; the others were.",
        "A quota or a policy refuses them, or the API server was unavailable.",
        "Look at the objects that are named; it is tried again with growing pauses.",
    ),
    Reason(
        SKIPPED, PARTIAL, "foreign Secret",
        "A Secret that is no replica of ours stands where the replica belongs.",
        "A tenant or a chart made it, or somebody took the label off a replica.",
        "Delete or rename the Secret; the replica is then made without a restart.",
    ),
    Reason(
        MISSING, MISSING, "values Secret",
        "The wildcard certificate does not exist where the platform's values say; replicas stay.",
        "It is being issued anew, or `expose-ingress` names another namespace than its own.",
        "Create the Secret in the namespace the message names, or mend the values.",
    ),
    Reason(
        INVALID, INVALID, "source",
        "The wildcard certificate cannot be used; replicas stay as they are.",
        "It is not of type kubernetes.io/tls, or its certificate or key is missing or empty.",
        "Write certificate and key under `tls.crt` and `tls.key` of a TLS Secret.",
    ),
    Reason(
        IS_REPLICA, REPLICATED, "source",
        "The wildcard certificate carries the label of a replica; it is used all the same.",
        "The publishing namespace became another, in which a replica stands.",
        "Take the label off, so that the Secret is the platform's own again.",
    ),
    Reason(
        CONFIG_INVALID, CONFIG_INVALID, "values Secret",
        "The platform's values cannot be used; replicas stay as they are.",
        "They are no YAML map, or the name in them can be no Secret's.",
        "Mend `values.yaml` of the values Secret.",
    ),
)  # fmt: skip

BY_NAME = {reason.name: reason for reason in REASONS}
