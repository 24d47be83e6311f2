"""The questions that decide what an object is, and who may see it. Source: lineage 4 to 6."""

from roadstead.capabilities.anchors.api import KEY, TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot import Belonging, Snapshot
from roadstead.capabilities.lineage.snapshot.matching import is_excluded, is_included
from roadstead.decision import Finding, Verdict
from roadstead.kube.objects import Object
from roadstead.kube.pem import passes_unchanged
from roadstead.kube.refs import SECRET

OPAQUE = "Opaque"


def is_owned(seen: Snapshot) -> Finding:
    """Ask whether the chain of owners leads to an application. Source: 5."""
    rule, ref = "owned-by-application", seen.subject.ref
    if not seen.applications:
        message = f"no owner of {ref} leads to the release of an application"
        return Finding(rule, Verdict.REFUSE, "Unowned", message, (ref,))
    return Finding(rule, Verdict.PASS, refs=(ref, seen.applications[0].release))


def is_one(seen: Snapshot) -> Finding:
    """Ask whether it leads to one alone; the first counts all the same. Source: 4, H3."""
    rule, ref = "one-application", seen.subject.ref
    releases = tuple(one.release for one in seen.applications)
    if len(releases) > 1:
        message = f"{ref} is owned by {len(releases)} applications; {releases[0]} counts"
        return Finding(rule, Verdict.REFUSE, "AncestryAmbiguous", message, (ref, *releases))
    return Finding(rule, Verdict.PASS, refs=(ref, *releases))


def is_no_forged_anchor(one: Belonging) -> Finding:
    """Hide what is labelled as an anchor and is not, byte for byte, what the content gate writes.

    Source: 6.4. It does not depend on which selector would have matched, so it is asked first.
    """
    rule, ref = "anchor-holds-certificates-alone", one.seen.ref
    if _is_secret(one.seen) and one.seen.labels.get(TENANT_CA) == "true" and one.whole:
        fault = anchor_fault(one.seen)
        if fault:
            message = f"{ref} carries the label tenant-ca and {fault}; it is hidden from the tenant"
            return Finding(rule, Verdict.REFUSE, "AnchorGuarded", message, (ref,))
    return Finding(rule, Verdict.PASS, refs=(ref,))


def is_of_a_kind_for_tenants(one: Belonging) -> Finding:
    """Refuse kinds that no definition has selectors for. Source: 6.1."""
    rule, ref = "kind-for-tenants", one.seen.ref
    if one.block is None:
        message = f"no {ref.kind.kind} is ever offered to tenants"
        return Finding(rule, Verdict.REFUSE, "NoSelectors", message, (ref, one.definition.ref))
    return Finding(rule, Verdict.PASS, refs=(ref,))


def is_not_excluded(one: Belonging) -> Finding:
    """Refuse what `exclude` matches: it wins over `include`. Source: 6.1, 6.2."""
    rule, refs = "not-excluded", (one.seen.ref, one.definition.ref)
    if is_excluded(one):
        message = f"an entry of {_where(one, 'exclude')} matches, or cannot be read"
        return Finding(rule, Verdict.REFUSE, "Excluded", message, refs)
    return Finding(rule, Verdict.PASS, refs=refs)


def is_selected(one: Belonging) -> Finding:
    """Refuse what `include` does not match. Source: 6.1."""
    rule, refs = "selected-by-application", (one.seen.ref, one.definition.ref)
    if not is_included(one):
        message = f"no entry of {_where(one, 'include')} matches"
        return Finding(rule, Verdict.REFUSE, "NotSelected", message, refs)
    return Finding(rule, Verdict.PASS, refs=refs)


RULES = (is_no_forged_anchor, is_of_a_kind_for_tenants, is_not_excluded, is_selected)


def anchor_fault(secret: Object) -> str:
    """What keeps a Secret from being an anchor, in words without a value; empty for nothing.

    secret: whole, with `stringData` as it was submitted where it is not merged yet.
    """
    if (secret.body.get("type") or OPAQUE) != OPAQUE:
        return "is not of type Opaque"
    stated = secret.body.get("stringData") or {}
    if set(secret.data_keys()) | set(stated) != {KEY}:
        return f"has not `{KEY}` as its only key"
    values = [secret.decoded(KEY)] if KEY in secret.data_keys() else []
    values += [str(stated[KEY]).encode(errors="surrogatepass")] if KEY in stated else []
    if not all(value is not None and passes_unchanged(value) for value in values):
        return f"holds other than certificates under `{KEY}`"
    if api.LAST_APPLIED in secret.annotations:
        return f"carries the annotation `{api.LAST_APPLIED}`"
    return ""


def _is_secret(seen: Object) -> bool:
    return seen.kind[:2] == SECRET[:2]


def _where(one: Belonging, which: str) -> str:
    return f"spec.{api.block_of(one.seen.kind)}.{which} of {one.definition.ref}"
