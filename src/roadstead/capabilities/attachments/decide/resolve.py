"""May this attachment have this endpoint? Source: endpoint-attachments 3.2.

Each rule stands for a row. Every stop here means that the rendered Service is withdrawn.
"""

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.decision import Finding, Verdict
from roadstead.kube.refs import HELM_RELEASE, Ref


def application_is_found(seen: Snapshot) -> Finding:
    """Wait for the application; never acquire one that is on its way out. R1 and R3."""
    rule, release = "application-found", seen.release
    if not seen.releases:
        message = (
            f"no HelmRelease in this namespace belongs to {seen.asked.application}; "
            "create the application or name another one"
        )
        return Finding(rule, Verdict.WAIT, "ApplicationNotFound", message, (seen.ref,))
    if release is not None and release.deleting and not _references(seen, release.meta.uid):
        message = f"{release.ref} of {seen.asked.application} is being deleted; create it anew"
        return Finding(rule, Verdict.WAIT, "ApplicationNotFound", message, (release.ref,))
    return Finding(rule, Verdict.PASS, refs=tuple(one.ref for one in seen.releases))


def application_is_one(seen: Snapshot) -> Finding:
    """Refuse to choose between several releases of one application. R2."""
    rule = "application-unambiguous"
    if len(seen.releases) > 1 and seen.release is None:
        names = ", ".join(one.meta.name for one in seen.releases)
        message = f"several HelmReleases are {seen.asked.application}: {names}; delete all but one"
        refs = tuple(one.ref for one in seen.releases)
        return Finding(rule, Verdict.REFUSE, "ApplicationAmbiguous", message, refs)
    return Finding(rule, Verdict.PASS, refs=_release_refs(seen))


def incarnation_is_the_same(seen: Snapshot) -> Finding:
    """Refuse an application recreated under the old name: it is another one. R4."""
    rule, release = "same-incarnation", seen.release
    known = known_uids(seen)
    if release is None or not known or release.meta.uid in known:
        return Finding(rule, Verdict.PASS, refs=_release_refs(seen))
    message = (
        f"{release.ref} has the uid {release.meta.uid}, and this attachment belongs to the one "
        f"before it, {', '.join(known)}; recreate the attachment"
    )
    reason = "ApplicationIncarnationChanged"
    return Finding(rule, Verdict.REFUSE, reason, message, (release.ref,))


def endpoint_exists(seen: Snapshot) -> Finding:
    """Wait for the endpoint. R5."""
    rule, ref, endpoint = "endpoint-exists", seen.endpoint_ref, seen.endpoint
    if endpoint is None:
        message = f"{ref} does not exist; create it or name another one in spec.endpoint"
        return Finding(rule, Verdict.WAIT, "EndpointNotFound", message, (ref,))
    if endpoint.deleting:
        message = f"{ref} is being deleted; create it anew or name another one in spec.endpoint"
        return Finding(rule, Verdict.WAIT, "EndpointNotFound", message, (ref,))
    return Finding(rule, Verdict.PASS, refs=(ref,))


def lineage_matches(seen: Snapshot) -> Finding:
    """Refuse the Service of another application. R6."""
    rule, ref = "lineage-matches", seen.endpoint_ref
    labels = seen.endpoint.labels if seen.endpoint is not None else seen.asked.triple
    for key, wanted in seen.asked.triple.items():
        found = labels.get(key)
        if found != wanted:
            stated = f"`{found}`" if found is not None else "nothing"
            message = (
                f"{ref} has the label {key} of {stated} where `{wanted}` is expected; name a "
                f"Service of {seen.asked.application}"
            )
            return Finding(rule, Verdict.REFUSE, "EndpointLineageMismatch", message, (ref,))
    return Finding(rule, Verdict.PASS, refs=(ref,))


def endpoint_is_not_rendered(seen: Snapshot) -> Finding:
    """Refuse a Service that an attachment rendered, whatever its labels say. R7."""
    rule, ref = "not-rendered-by-us", seen.endpoint_ref
    if seen.endpoint_holder:
        message = (
            f"{ref} was rendered for {api.ATTACHMENT.kind} {seen.endpoint_holder}; "
            "name the Service that one attaches"
        )
        refs = (ref, api.ATTACHMENT.ref(seen.namespace, seen.endpoint_holder))
        return Finding(rule, Verdict.REFUSE, "EndpointNotTenantFacing", message, refs)
    return Finding(rule, Verdict.PASS, refs=(ref,))


def endpoint_is_tenant_facing(seen: Snapshot) -> Finding:
    """Refuse a Service the application does not offer to its tenant. R8."""
    rule, ref, endpoint = "tenant-facing", seen.endpoint_ref, seen.endpoint
    verdict = endpoint.labels.get(api.TENANT_RESOURCE) if endpoint is not None else "true"
    if verdict != "true":
        stated = f"is `{verdict}`" if verdict is not None else "is missing"
        message = (
            f"{ref} is not offered to tenants: its label {api.TENANT_RESOURCE} {stated}; "
            "name a Service that is"
        )
        return Finding(rule, Verdict.REFUSE, "EndpointNotTenantFacing", message, (ref,))
    return Finding(rule, Verdict.PASS, refs=(ref,))


def known_uids(seen: Snapshot) -> tuple[str, ...]:
    """The HelmReleases this attachment says it belongs to.

    The annotation remembers one whose owner reference an orphaning deletion has taken away.
    """
    known = [owner.uid for owner in seen.attachment.owners if owner.is_a(HELM_RELEASE)]
    noted = seen.attachment.annotations.get(api.UID_ANNOTATION, "")
    return tuple(dict.fromkeys([*known, noted] if noted and not known else known))


def _references(seen: Snapshot, uid: str) -> bool:
    return any(owner.uid == uid for owner in seen.attachment.owners)


def _release_refs(seen: Snapshot) -> tuple[Ref, ...]:
    return (seen.release.ref,) if seen.release is not None else (seen.ref,)


def holds_stamp(seen: Snapshot) -> bool:
    """Tell whether owner reference and lineage labels are on the attachment. Source: O1."""
    release, attachment = seen.release, seen.attachment
    if release is None:
        return False
    labels = seen.asked.triple.items()
    return _references(seen, release.meta.uid) and labels <= attachment.labels.items()


RESOLVE = (
    application_is_found,
    application_is_one,
    incarnation_is_the_same,
    endpoint_exists,
    lineage_matches,
    endpoint_is_not_rendered,
    endpoint_is_tenant_facing,
)
