"""Names, states and reasons of the trust anchors. Source: trust-anchors 3, 6 and 11."""

from datetime import timedelta

from roadstead.capabilities.lineage import api as lineage
from roadstead.kube.objects import Object
from roadstead.kube.reasons import Reason
from roadstead.kube.refs import SECRET
from roadstead.kube.views import Form, Index, View

APPLICATION_GROUP = lineage.APPLICATION_GROUP
DEFINITION = lineage.DEFINITION
GROUP_LABEL = lineage.GROUP_LABEL
KIND_LABEL = lineage.KIND_LABEL
LAST_APPLIED = lineage.LAST_APPLIED
MANAGED_BY = lineage.MANAGED_BY
NAME_LABEL = lineage.NAME_LABEL

COMPONENT = "tenant-ca-controller"
SUFFIX = ".tenant-ca"
KEY = "ca.crt"

PUBLISH = "internal.cozystack.io/publish-ca-cert"
PUBLISH_RELEASE = "internal.cozystack.io/publish-ca-cert-release"
PUBLISH_KEY = "internal.cozystack.io/publish-ca-cert-key"
TENANT_CA = "internal.cozystack.io/tenant-ca"
COPY = "internal.cozystack.io/ca-cert-copy"
SOURCE = "internal.cozystack.io/ca-cert-source"
MODE = "internal.cozystack.io/ca-cert-mode"
SELECTORS = "internal.cozystack.io/ca-cert-selectors"

DECLARED = "declared"
LABELLED = "labelled"

LOST = "HeldAfterSourceLoss"
PUBLISHED = "Published"
WITHDRAWN = "Withdrawn"

READMIT = "readmit"
"""What an update is noted as that hands the anchor back to the lineage webhook."""
EXPIRY = "expiry"
"""The figure of a published anchor: when its last certificate expires, in seconds since 1970."""

RESYNC = timedelta(minutes=5)
SOON = timedelta(seconds=30)
YOUNG = timedelta(minutes=15)
KEY_GRACE = timedelta(minutes=15)
GONE_AFTER = timedelta(hours=1)


def stored_secret(seen: Object) -> Object | None:
    """Keep labelled sources and what stands at an anchor's name; nothing else is stored."""
    if PUBLISH in seen.labels or seen.meta.name.endswith(SUFFIX):
        return seen
    return None


def release_opted_into(seen: Object) -> tuple[str, ...]:
    """The release a labelled source names, as `namespace/name`; projections are no source."""
    release = seen.labels.get(PUBLISH_RELEASE, "")
    if seen.labels.get(PUBLISH) != "true" or not release:
        return ()
    if seen.labels.get(COPY) == "true" or seen.deleting:
        return ()
    return (f"{seen.meta.namespace}/{release}",)


SECRETS = View(
    "secrets",
    SECRET,
    Form.METADATA,
    fields="type!=helm.sh/release.v1",
    keep=stored_secret,
    indexes=(Index("release", release_opted_into),),
)
"""The one watch of Secrets, which the wildcard replicas share: they are woken and store nothing."""


REASONS: tuple[Reason, ...] = (
    Reason(
        "Ignored", "Ignored", "",
        "The HelmRelease is no application of a tenant.",
        "It lacks one of the three application labels, or their group is another.",
        "Nothing is owed; label the release if it should be an application.",
    ),
    Reason(
        "DefinitionUnknown", "DefinitionUnknown", "",
        "No ApplicationDefinition has the kind of this release, so nothing can be decided.",
        "The definition is not registered yet, or it was deleted.",
        "Create the ApplicationDefinition of the kind; its event wakes the release.",
    ),
    Reason(
        "SourceAbsent", "SourceAbsent", "",
        "The declared source Secret does not exist; what was published stays.",
        "The engine's operator has not made its CA yet, or it was deleted to be issued anew.",
        "Wait for the operator, or create the Secret.",
    ),
    Reason(
        "SourceEmpty", "SourceEmpty", "",
        "The source Secret holds nothing under the selected key; what was published stays.",
        "The operator creates the Secret first and fills it later.",
        "Wait for the operator, or write the certificate under the key.",
    ),
    Reason(
        "NothingToDo", "NothingToDo", "",
        "No source opts in for this release and nothing of ours stands at the anchor's name.",
        "The engine publishes no CA, or it publishes a key-free one itself.",
        "Label a source or declare one if the release should have an anchor.",
    ),
    Reason(
        "HeldAfterSourceLoss", "HeldAfterSourceLoss", "",
        "The source of the published anchor is gone; the anchor stays.",
        "Operators delete a CA Secret to have it issued anew.",
        'Recreate the source; to retire the anchor set its label to "false" instead.',
    ),
    Reason(
        "CanonicalSelf", "CanonicalSelf", "",
        "The engine publishes its key-free anchor under the canonical name itself.",
        "The declared source is the anchor's own name.",
        "Nothing is owed.",
    ),
    Reason(
        "Terminating", "Terminating", "",
        "The anchor is being deleted and a finalizer still holds it; nothing is written.",
        "Somebody deleted it; whoever set the finalizer has not let it go.",
        "Remove the finalizer; the anchor is then published again.",
    ),
    Reason(
        "NamespaceTerminating", "NamespaceTerminating", "",
        "The namespace is being deleted; nothing is created in it.",
        "The namespace was deleted.",
        "Nothing is owed.",
    ),
    Reason(
        "ReadFailed", "Error", "",
        "Something the decision needs could not be read; nothing was changed.",
        "The API server answered with an error, or a view is not synced.",
        "Wait; it is tried again with growing pauses. `/readyz` names the view.",
    ),
    Reason(
        "WriteFailed", "Error", "",
        "The anchor was not written because of an error that may pass.",
        "The API server or a webhook was unavailable, or the object kept changing.",
        "Wait; it is tried again with growing pauses.",
    ),
    Reason(
        "CACertPrivateKeyRefused", "Refused", "source",
        "The value under the selected key holds a private key; nothing was copied.",
        "The key names the wrong entry, or a rotation wrote the key beside the certificate.",
        "Leave certificates alone under the key, or select the key that holds them.",
    ),
    Reason(
        "CACertInvalid", "Refused", "source",
        "The value under the selected key is not made of X.509 certificates alone.",
        "It is empty armour, another kind of PEM block, damaged, or encoded twice.",
        "Write PEM certificates, and nothing after the last, under the key.",
    ),
    Reason(
        "CACertSecretCollision", "Collision", "colliding Secret",
        "A Secret that is not ours stands where the anchor belongs, or is named as a source.",
        "A chart or a person made it, or a declaration names another release's anchor.",
        "Delete or rename the Secret; the anchor is then published without a restart.",
    ),
    Reason(
        "CACertCanonicalNameOccupied", "CanonicalSelf", "Secret at the anchor's name",
        "The Secret at the canonical name holds a private key.",
        "The engine writes its CA, key included, under the name tenants read.",
        "Make the engine write its key elsewhere, or declare another source.",
    ),
    Reason(
        "CACertCanonicalNameContract", "CanonicalSelf", "Secret at the anchor's name",
        "The engine's own anchor deviates from the contract.",
        "Its type, its keys, its certificate or its tenant-ca label is not as agreed.",
        "Mend what the message lists: type Opaque, `ca.crt` alone, label tenant-ca=true.",
    ),
    Reason(
        "CACertSourceAmbiguous", "Ambiguous", "HelmRelease",
        "Several Secrets opt in as the source of one release; none is chosen.",
        "Two Certificates carry the labels of the same release.",
        "Take the label off all but one.",
    ),
    Reason(
        "CACertDeclarationInvalid", "DeclarationInvalid", "HelmRelease",
        "The declaration of the source cannot be used; what was published stays.",
        "Its template does not render to a Secret's name, or its key is no data key.",
        "Mend spec.caCert of the definition, or the entry of the engine table.",
    ),
    Reason(
        "CACertSourceUnattributable", "Unattributable", "source",
        "The Secret opts in as a source and names no release.",
        "The label publish-ca-cert-release is missing or empty.",
        "Add the label with the release's name.",
    ),
    Reason(
        "CACertSourceKeyMissing", "SourceEmpty", "source",
        "The source has other keys, yet not the selected one, for more than 15 minutes.",
        "The declaration or the annotation selects a key the operator never writes.",
        "Select a key that is there.",
    ),
    Reason(
        "CACertSourceGone", "HeldAfterSourceLoss", "HelmRelease",
        "The source of the published anchor has been gone for more than an hour.",
        "It was deleted and not made again.",
        "Recreate the source, or delete the anchor if the release should have none.",
    ),
    Reason(
        "CACertReleaseNameUnsupported", "ReleaseNameUnsupported", "HelmRelease",
        "The release's name cannot have an anchor.",
        "It contains a dot or is longer than 243 characters.",
        "Recreate the release under a name without a dot.",
    ),
    Reason(
        "CACertExpired", "Published", "source",
        "Every certificate of the published anchor has expired.",
        "The CA was not rotated in time.",
        "Rotate the CA; the anchor follows.",
    ),
    Reason(
        "CACertWriteDenied", "Error", "HelmRelease",
        "The API server refused to store the anchor.",
        "A quota is used up, a policy objects, or a permission is missing.",
        "Raise the quota, or grant what `roadstead manifests rbac` prints.",
    ),
    Reason(
        "CACertWithdrawalsHeld", "WithdrawalHeld", "definition",
        "Too many anchors of one kind would go at once; the rest are kept.",
        "An engine table was left out at a restart, or definitions lost spec.caCert.",
        "Bring the declaration back, or allow it with --allow-withdrawals KIND.",
    ),
)  # fmt: skip

BY_NAME = {reason.name: reason for reason in REASONS}
