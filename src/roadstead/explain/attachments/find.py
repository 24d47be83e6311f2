"""Which attachment a person means, and which attachments concern a Service or a claim."""

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot import (
    ATTACHMENTS,
    CLAIMS,
    SERVICES,
    Asked,
    addresses_of,
)
from roadstead.capabilities.attachments.snapshot.views import (
    claim_annotation,
    is_delegated,
    owner_uid,
)
from roadstead.decision import Reader
from roadstead.explain.attachments.known import know
from roadstead.explain.lookup import only
from roadstead.explain.subject import Found, Judge, Word
from roadstead.explain.trail import stop_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import part, text


async def attachment(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """An attachment by its name."""
    there = [seen.ref for seen in reader.list(ATTACHMENTS)]
    key = only(name, namespace, there, api.ATTACHMENT.kind)
    return Found(key, (key,))


async def service(name: str, namespace: str, reader: Reader, judge: Judge) -> Found:
    """A Service: who rendered it, who mirrors it, and whom it keeps waiting."""
    services = {seen.ref: seen for seen in reader.list(SERVICES)}
    attachments = reader.list(ATTACHMENTS)
    wanted = {SERVICE.ref(seen.meta.namespace, Asked.of(seen).service) for seen in attachments}
    ref = only(name, namespace, sorted({*services, *wanted}), SERVICE.kind)
    seen = services.get(ref)
    here = [one for one in attachments if one.meta.namespace == ref.namespace]
    notes = [] if seen is not None else ["does not exist"]
    keys: list[Ref] = []
    for one in here:
        tie = await _tie(one, ref, seen, reader, judge)
        if tie:
            keys.append(one.ref)
            notes.append(f"{tie} {one.ref}")
    if seen is not None and is_delegated(seen):
        notes.append("is delegated to cozy-proxy")
    if seen is not None and claim_annotation(seen):
        notes.append(f"is pinned to {api.CLAIM.ref(ref.namespace, claim_annotation(seen))}")
    if not keys:
        notes.append("no attachment has rendered it or mirrors it")
    return Found(ref, tuple(keys), tuple(notes))


async def _tie(one: Object, ref: Ref, seen: Object | None, reader: Reader, judge: Judge) -> str:
    """How an attachment is tied to a Service; empty where it is not."""
    if seen is not None and one.meta.uid in owner_uid(seen):
        return "was rendered for"
    if Asked.of(one).service == ref.name:
        return "is mirrored by" if seen is not None else "is waited for by"
    decision = await judge(one.ref)
    stop = stop_of(decision) if decision is not None else None
    if stop is None:
        return ""
    known = await know(reader, one.ref) if stop.reason == "ClaimInUse" else None
    holder = known.holder.ref if known is not None and known.holder is not None else None
    return "is in the way of" if ref in {*stop.refs, holder} else ""


async def claim(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """A claim: its addresses, and who has them."""
    claims = {seen.ref: seen for seen in reader.list(CLAIMS)}
    attachments = reader.list(ATTACHMENTS)
    wanted = {
        api.CLAIM.ref(seen.meta.namespace, asked)
        for seen in attachments
        if (asked := Asked.of(seen).claim_name)
    }
    ref = only(name, namespace, sorted({*claims, *wanted}), api.CLAIM.kind)
    seen = claims.get(ref)
    notes = ["does not exist"] if seen is None else [_state_of(seen)]
    keys: list[Ref] = []
    for one in attachments:
        minted = seen is not None and one.meta.uid in owner_uid(seen)
        if minted or (one.meta.namespace, Asked.of(one).claim_name) == (ref.namespace, ref.name):
            keys.append(one.ref)
            notes.append(f"{'was made for' if minted else 'is named by'} {one.ref}")
    if not keys:
        notes.append("no attachment names it")
    return Found(ref, tuple(keys), tuple(notes))


def _state_of(seen: Object) -> str:
    phase = text(part(seen.body, "status"), "phase") or "without a phase"
    return f"is {phase}: {', '.join(addresses_of(seen))}" if addresses_of(seen) else f"is {phase}"


_KINDS = (
    (api.ATTACHMENT, attachment, ("epa",)),
    (SERVICE, service, ("svc",)),
    (api.CLAIM, claim, ()),
)
WORDS = {
    word: Word(kind, find)
    for kind, find, short in _KINDS
    for word in (kind.kind.lower(), kind.plural, *short)
}
