"""Which key a person means, and what may be said of a Secret they name.

A reader and a judge are all it takes, so the same answers come from files and from a cluster.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot import RELEASES
from roadstead.decision import Decision, Finding, Reader, Verdict
from roadstead.errors import ClusterError, InputError
from roadstead.explain.known import holds, holds_a_private_key, know
from roadstead.explain.trail import Trail, anchor_of, trail
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref

TENANT_RESOURCE = "internal.cozystack.io/tenantresource"
KINDS = {
    "helmrelease": HELM_RELEASE,
    "helmreleases": HELM_RELEASE,
    "hr": HELM_RELEASE,
    "trustanchor": HELM_RELEASE,
    "trustanchors": HELM_RELEASE,
    "secret": SECRET,
    "secrets": SECRET,
}

Judge = Callable[[Ref], Awaitable[Decision | None]]
"""The decision about one key; None when there is nothing to judge."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a person named. kind: as they wrote it, in lower case."""

    kind: str
    name: str

    @classmethod
    def read(cls, text: str) -> "Target":
        """Read `kind/name`.

        Raises: InputError with what was probably meant.
        """
        kind, slash, name = text.partition("/")
        word = kind.lower()
        if not slash or not name or "/" in name:
            raise InputError(
                f"`{text}` names no object", hint="write KIND/NAME, as in helmrelease/postgres-mydb"
            )
        if word not in KINDS:
            near = get_close_matches(word, KINDS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "use helmrelease, secret, trustanchor"
            raise InputError(f"`{kind}` is no kind that is judged", hint=hint)
        return cls(word, name)


@dataclass(frozen=True, slots=True)
class Answer:
    """What `why` says. about: the object named. notes: facts of it. trails: of what concerns it."""

    about: Ref
    notes: tuple[str, ...]
    trails: tuple[Trail, ...]

    @property
    def settled(self) -> bool:
        """Whether everything that concerns it is as it should be."""
        return all(one.settled for one in self.trails)


async def ask(target: Target, namespace: str, reader: Reader, judge: Judge) -> Answer:
    """Answer for one object.

    namespace: empty to look for the only one that has it.
    Raises: InputError when it is not there; ClusterError.
    """
    if KINDS[target.kind] == SECRET:
        return await _secret(SECRET.ref(namespace or "default", target.name), reader, judge)
    return await _release(target.name, namespace, reader, judge)


async def _release(name: str, namespace: str, reader: Reader, judge: Judge) -> Answer:
    there = [seen for seen in reader.list(RELEASES) if namespace in {"", seen.meta.namespace}]
    wanted = {name, name.removesuffix(api.SUFFIX)}
    found = [seen.ref for seen in there if seen.meta.name in wanted]
    if not found:
        where = f" in {namespace}" if namespace else ""
        near = get_close_matches(name, sorted({seen.meta.name for seen in there}), n=1)
        hint = f"did you mean `{near[0]}`?" if near else "roadstead status -A lists what there is"
        raise InputError(f"there is no application release `{name}`{where}", hint=hint)
    if len(found) > 1:
        spaces = ", ".join(ref.namespace for ref in found)
        raise InputError(f"`{name}` stands in several namespaces: {spaces}", hint="choose with -n")
    one = await trail_of(found[0], reader, judge)
    return Answer(found[0], (), (one,) if one else ())


def with_event(key: Ref, decision: Decision, told: tuple[str, str]) -> Decision:
    """Lay over a decision what only the running controller can know, as its event tells it.

    told: reason and message of the latest event. A look writes nothing, so it meets no refused
    write; it starts now, so it has not seen how long a source is gone.
    """
    reason, message = told
    if reason == "CACertSourceGone" and decision.state == api.LOST:
        stop = decision.findings[-1]
        gone = replace(stop, verdict=Verdict.REFUSE, reason=reason, message=message)
        return replace(decision, findings=(*decision.findings[:-1], gone))
    pending = {"CACertWriteDenied": decision.want, "CACertWithdrawalsHeld": decision.drop}
    if pending.get(reason):
        finding = Finding("written", Verdict.REFUSE, reason, message, (key,))
        state = api.BY_NAME[reason].state
        return replace(decision, findings=(*decision.findings, finding), state=state)
    return decision


async def trail_of(key: Ref, reader: Reader, judge: Judge) -> Trail | None:
    """The trail of one key; None when there is nothing to judge."""
    decision = await judge(key)
    if decision is None:
        return None
    return trail(key, decision, await know(reader, key, decision))


async def _secret(ref: Ref, reader: Reader, judge: Judge) -> Answer:
    try:
        secret = await reader.live_get(ref)
    except ClusterError as error:
        if error.status not in {401, 403}:
            raise
        return Answer(ref, (f"{ref.path} is an object you may not read",), ())
    if secret is None:
        raise InputError(f"there is no {ref} that you may see", hint="check the name and -n")
    keys = await _keys_of(secret, reader, judge)
    trails = [one for key in keys if (one := await trail_of(key, reader, judge)) is not None]
    notes = [f"holds {fact}" for fact in holds(secret)]
    if holds_a_private_key(secret):
        notes += [await _copy(key, reader) for key in keys if key.kind == HELM_RELEASE]
    if secret.labels.get(api.COPY) == "true":
        notes.append(f"is the anchor of {ref.name.removesuffix(api.SUFFIX)}{_seen(secret)}")
    if not keys:
        notes.append("no release has it as a source or as its anchor")
    return Answer(ref, tuple(notes), tuple(trails))


async def _copy(key: Ref, reader: Reader) -> str:
    """Where the certificate of a key-bearing Secret may be read."""
    ref = anchor_of(key)
    try:
        anchor = await reader.live_get(ref)
    except ClusterError:
        return f"holds a private key; whether {ref.path} is published is unknown to you"
    if anchor is None:
        return f"holds a private key; {ref.path}, its key-free copy, is not published"
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
