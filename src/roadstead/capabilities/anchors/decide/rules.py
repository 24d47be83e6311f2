"""The questions a trust anchor is asked, one function each. Source: trust-anchors 4 to 8."""

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import (
    Snapshot,
    is_application,
    is_legacy,
    is_ours,
    name_is_supported,
)
from roadstead.decision import Finding, Verdict
from roadstead.kube import names
from roadstead.kube.objects import Object
from roadstead.kube.pem import Refusal
from roadstead.kube.refs import SECRET, Ref


def is_an_application(seen: Snapshot) -> Finding:
    """Leave a HelmRelease alone that is no tenant's application. Source: trust-anchors 2, R2."""
    rule, release = "application-release", seen.release.ref
    if not is_application(seen.release):
        message = f"{release} carries not all three application labels of `{api.APPLICATION_GROUP}`"
        return Finding(rule, Verdict.WAIT, "Ignored", message, (release,))
    return Finding(rule, Verdict.PASS, refs=(release,))


def name_can_carry_an_anchor(seen: Snapshot) -> Finding:
    """Refuse a release whose anchor could be mistaken for another's. Source: section 3, R3."""
    rule, release = "name-supported", seen.release.ref
    if not name_is_supported(seen.release):
        message = (
            f"{release} can have no trust anchor: its name contains a dot or is longer than "
            "243 characters; recreate it under a shorter name without a dot"
        )
        return Finding(rule, Verdict.REFUSE, "CACertReleaseNameUnsupported", message, (release,))
    return Finding(rule, Verdict.PASS, refs=(release,))


def definition_is_known(seen: Snapshot) -> Finding:
    """Hold everything while a declaration might still appear. Source: section 4.3, R4."""
    rule = "definition-known"
    if seen.definition is None:
        message = f"no ApplicationDefinition has the kind `{seen.kind}`; nothing is changed"
        return Finding(rule, Verdict.WAIT, "DefinitionUnknown", message, (seen.release.ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.definition,))


def declaration_is_usable(seen: Snapshot) -> Finding:
    """Refuse a declaration that names no Secret, or another release's anchor. Source: 4.2."""
    rule, release, declaration = "declaration-usable", seen.release.ref, seen.declaration
    if declaration is None:
        return Finding(rule, Verdict.PASS, refs=(release,))
    if declaration.problem:
        message = f"{declaration.where}: {declaration.problem}; the published anchor is kept"
        return Finding(rule, Verdict.REFUSE, "CACertDeclarationInvalid", message, (release,))
    if seen.source is not None and seen.source.copy and seen.source.ref != seen.anchor:
        message = (
            f"{declaration.where} names {seen.source.ref}, the published anchor of another "
            "release; name the engine's own CA Secret"
        )
        refs = (release, seen.source.ref)
        return Finding(rule, Verdict.REFUSE, "CACertSecretCollision", message, refs)
    return Finding(rule, Verdict.PASS, refs=(release,))


def source_exists(seen: Snapshot) -> Finding:
    """Wait for a declared source without an error or a loop. Source: section 6, R5."""
    rule = "source-exists"
    if seen.source is None and seen.declaration is not None:
        ref = SECRET.ref(seen.release.meta.namespace, seen.declaration.secret)
        return Finding(rule, Verdict.WAIT, "SourceAbsent", f"{ref} does not exist yet", (ref,))
    return Finding(rule, Verdict.PASS, refs=_source_refs(seen))


def source_is_one(seen: Snapshot) -> Finding:
    """Refuse to choose between several labelled sources. Source: section 4.1."""
    rule = "source-unambiguous"
    if len(seen.candidates) > 1:
        listed = ", ".join(ref.name for ref in seen.candidates)
        message = (
            f"several Secrets opt in for {seen.release.ref}: {listed}; "
            f"take the label `{api.PUBLISH}` off all but one"
        )
        return Finding(rule, Verdict.REFUSE, "CACertSourceAmbiguous", message, seen.candidates)
    return Finding(rule, Verdict.PASS, refs=_source_refs(seen))


def source_is_elsewhere(seen: Snapshot) -> Finding:
    """Leave an engine's own anchor at the canonical name, and name what it lacks. Source: 8.3."""
    rule, anchor = "source-elsewhere", seen.anchor
    if seen.source is None or seen.source.ref != anchor or seen.target is None:
        return Finding(rule, Verdict.PASS, refs=_source_refs(seen))
    if seen.occupied:
        message = f"{anchor} is the anchor's name and holds a private key; nothing was written"
        return Finding(rule, Verdict.REFUSE, "CACertCanonicalNameOccupied", message, (anchor,))
    deviations = _deviations(seen, seen.target)
    if deviations:
        message = f"{anchor} is published by its engine, against the contract: {deviations}"
        return Finding(rule, Verdict.REFUSE, "CACertCanonicalNameContract", message, (anchor,))
    message = f"{anchor} is published by its engine, as agreed"
    return Finding(rule, Verdict.WAIT, "CanonicalSelf", message, (anchor,))


def source_is_filled(seen: Snapshot) -> Finding:
    """Wait for the value; name a key that never comes. Source: section 6, R7, section 11."""
    rule, source = "source-filled", seen.source
    if source is None or source.lifted is not None:
        return Finding(rule, Verdict.PASS, refs=_source_refs(seen))
    # An annotation may hold anything, key material too; only what can be a key's name is told.
    key = f"`{source.key}`" if names.is_data_key(source.key) else "of the selected name"
    if not source.has_key and source.others and source.age > api.KEY_GRACE:
        message = f"{source.ref} has no key {key}; select a key that it has"
        return Finding(rule, Verdict.REFUSE, "CACertSourceKeyMissing", message, (source.ref,))
    message = f"{source.ref} holds nothing under the key {key} yet"
    return Finding(rule, Verdict.WAIT, "SourceEmpty", message, (source.ref,))


def carries_no_private_key(seen: Snapshot) -> Finding:
    """Refuse a lifted value with any private-key header, whatever its key is called.

    Source: seed 002, behaviours 1 and 3; trust-anchors 5, step 1.
    """
    rule, source = "no-private-key", seen.source
    if source and source.lifted and source.lifted.refusal is Refusal.PRIVATE_KEY:
        message = f"{source.ref} holds a private key under `{source.key}`; nothing was copied"
        return Finding(rule, Verdict.REFUSE, "CACertPrivateKeyRefused", message, (source.ref,))
    return Finding(rule, Verdict.PASS, refs=_source_refs(seen))


def carries_certificates_only(seen: Snapshot) -> Finding:
    """Refuse a value that is not made of whole certificates. Source: section 5, steps 2 and 3."""
    rule, source = "certificates-only", seen.source
    if source and source.lifted and source.lifted.refusal is Refusal.NOT_CERTIFICATE:
        message = f"{source.ref}, `{source.key}`: {source.lifted.why}; nothing was copied"
        return Finding(rule, Verdict.REFUSE, "CACertInvalid", message, (source.ref,))
    return Finding(rule, Verdict.PASS, refs=_source_refs(seen))


def name_is_free_or_ours(seen: Snapshot) -> Finding:
    """Refuse to write over a Secret that is not ours. Source: seed 002; sections 8.1 and 8.2."""
    rule, anchor = "name-free", seen.anchor
    if seen.target is not None and not is_ours(seen.target, seen.release):
        message = (
            f"{anchor} exists and was not made by this controller; it was left as it is, "
            "delete or rename it"
        )
        return Finding(rule, Verdict.REFUSE, "CACertSecretCollision", message, (anchor,))
    return Finding(rule, Verdict.PASS, refs=(anchor,))


def anchor_is_not_terminating(seen: Snapshot) -> Finding:
    """Wait while a finalizer holds a deleted anchor. Source: section 8.4."""
    rule, anchor = "anchor-alive", seen.anchor
    if seen.target is not None and seen.target.deleting:
        message = f"{anchor} is being deleted and a finalizer holds it"
        return Finding(rule, Verdict.WAIT, "Terminating", message, (anchor,))
    return Finding(rule, Verdict.PASS, refs=(anchor,))


def an_anchor_of_ours_stands(seen: Snapshot) -> Finding:
    """Without a source there is something to do only about our own anchor. Source: W1 to W3."""
    rule, target = "anchor-ours", seen.target
    if target is None or target.deleting or not is_ours(target, seen.release):
        message = f"no source opts in for {seen.release.ref} and no anchor of ours is published"
        return Finding(rule, Verdict.WAIT, "NothingToDo", message, (seen.anchor,))
    if is_legacy(target):
        message = f"{seen.anchor} still belongs to a TenantProjection and is never withdrawn"
        return Finding(rule, Verdict.WAIT, "NothingToDo", message, (seen.anchor,))
    return Finding(rule, Verdict.PASS, refs=(seen.anchor,))


def source_opted_out(seen: Snapshot) -> Finding:
    """Keep the anchor of a source that is gone: absence is no opting out. Source: W4 to W6."""
    rule, recorded = "source-opted-out", seen.recorded
    if recorded is None or recorded.exists:
        return Finding(rule, Verdict.PASS, refs=(seen.anchor,))
    if seen.lost_for >= api.GONE_AFTER:
        message = f"{recorded.ref} has been gone for more than an hour; its anchor is kept"
        return Finding(rule, Verdict.REFUSE, "CACertSourceGone", message, (recorded.ref,))
    message = f"{recorded.ref} is gone; its anchor is kept until it says otherwise"
    return Finding(rule, Verdict.WAIT, api.LOST, message, (recorded.ref,))


def _deviations(seen: Snapshot, target: Object) -> str:
    """What an engine's own anchor lacks, all at once. Source: trust-anchors 8.3."""
    found = []
    if target.body.get("type", "Opaque") != "Opaque":
        found.append("its type is not Opaque")
    if seen.canonical is None:
        found.append(f"`{api.KEY}` is missing or empty")
    elif seen.canonical.refusal is not None:
        found.append(f"`{api.KEY}` is not made of certificates alone")
    if any(key != api.KEY for key in target.data_keys()):
        found.append(f"it has other keys than `{api.KEY}`")
    if target.labels.get(api.TENANT_CA) != "true":
        found.append(f'its label `{api.TENANT_CA}` is not "true"')
    return "; ".join(found)


def _source_refs(seen: Snapshot) -> tuple[Ref, ...]:
    return (seen.source.ref,) if seen.source else (seen.release.ref,)
