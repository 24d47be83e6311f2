"""Which release a person means, and what may be said of a Secret they name."""

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import RELEASES
from roadstead.capabilities.lineage.api import TENANT_RESOURCE
from roadstead.capabilities.wildcards.snapshot import is_copy
from roadstead.decision import Reader
from roadstead.errors import ClusterError, InputError
from roadstead.explain.anchors.known import holds, holds_a_private_key
from roadstead.explain.anchors.tell import anchor_of
from roadstead.explain.lineage import visibility
from roadstead.explain.lookup import only
from roadstead.explain.subject import Found, Judge, Word
from roadstead.explain.wildcards import ALL_REPLICAS, replica_note
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref


async def release(name: str, namespace: str, reader: Reader, _judge: Judge) -> Found:
    """An application's release, by its own name or its anchor's."""
    there = [seen.ref for seen in reader.list(RELEASES)]
    also = (name.removesuffix(api.SUFFIX),)
    key = only(name, namespace, there, "application release", also)
    return Found(key, (key,))


async def secret(name: str, namespace: str, reader: Reader, judge: Judge) -> Found:
    """A Secret: what it holds, in words, and the releases it concerns."""
    ref = SECRET.ref(namespace or "default", name)
    try:
        seen = await reader.live_get(ref)
    except ClusterError as error:
        if error.status not in {401, 403}:
            raise
        return Found(ref, (), (f"{ref.path} is an object you may not read",))
    if seen is None:
        raise InputError(f"there is no {ref} that you may see", hint="check the name and -n")
    keys = await _keys_of(seen, reader, judge)
    notes = [f"holds {fact}" for fact in holds(seen)]
    if holds_a_private_key(seen):
        releases = [key for key in keys if key.kind == HELM_RELEASE and anchor_of(key) != ref]
        notes += [await _copy(key, reader) for key in releases]
    if seen.labels.get(api.COPY) == "true":
        notes.append(f"is the anchor of {ref.name.removesuffix(api.SUFFIX)}{_seen(seen)}")
    if is_copy(seen):
        notes.append(f"is a {replica_note(seen)}; `roadstead why {ALL_REPLICAS}` tells of all")
    elif not keys:
        notes.append("no release has it as a source or as its anchor")
    parts, more = await visibility(seen, reader)
    return Found(ref, keys, (*notes, *more), parts=parts)


WORDS = {
    "helmrelease": Word(HELM_RELEASE, release),
    "helmreleases": Word(HELM_RELEASE, release),
    "hr": Word(HELM_RELEASE, release),
    "secret": Word(SECRET, secret),
    "secrets": Word(SECRET, secret),
    "trustanchor": Word(HELM_RELEASE, release),
    "trustanchors": Word(HELM_RELEASE, release),
}


async def _copy(key: Ref, reader: Reader) -> str:
    """Where the certificate of a key-bearing Secret may be read."""
    ref = anchor_of(key)
    try:
        anchor = await reader.live_get(ref)
    except ClusterError:
        return f"holds a private key; whether {ref.path} is published is unknown to you"
    if anchor is None:
        return f"holds a private key; {ref.path}, its key-free copy, is not published"
    if anchor.labels.get(api.COPY) != "true" or holds_a_private_key(anchor):
        return f"holds a private key; {ref.path} is not its key-free copy, but somebody else's"
    return f"holds a private key; its key-free copy is {ref.path}{_seen(anchor)}"


def _seen(anchor: Object) -> str:
    """Whether the tenant sees an anchor: the verdict of the lineage webhook."""
    verdict = anchor.labels.get(TENANT_RESOURCE)
    return {"true": " (visible)", "false": " (hidden from the tenant)"}.get(verdict or "", "")


async def _keys_of(secret: Object, reader: Reader, judge: Judge) -> tuple[Ref, ...]:
    """The keys a Secret concerns: by its labels, by its name, or because a decision named it."""
    namespace, labels = secret.meta.namespace, secret.labels
    releases = [seen.ref for seen in reader.list(RELEASES) if seen.meta.namespace == namespace]
    found: list[Ref] = []
    named = labels.get(api.PUBLISH_RELEASE, "")
    if labels.get(api.PUBLISH) == "true" and not named:
        return (secret.ref,)
    for key in releases:
        if key.name == named or anchor_of(key) == secret.ref:
            found.append(key)
            continue
        decision = await judge(key)
        if decision is not None and secret.ref in decision.wakes:
            found.append(key)
    return tuple(found)
