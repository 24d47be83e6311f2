"""The wildcard replicas, as `why`, `status` and `plan` speak of them: one key stands for all."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import cache

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.capabilities.wildcards.decide import RULES
from roadstead.capabilities.wildcards.snapshot import (
    CHANNEL,
    GATEWAYS,
    Channel,
    Snapshot,
    Word,
    is_copy,
)
from roadstead.decision import Decision, Did, Reader, Verdict
from roadstead.errors import InputError
from roadstead.explain.commands import GRANT, delete, label
from roadstead.explain.rows import UNKNOWN, Row, is_forbidden
from roadstead.explain.subject import Found, Judge, Look, Next, Subject, Told
from roadstead.explain.subject import Word as Name
from roadstead.explain.trail import (
    PENDING,
    UNWRITTEN,
    is_pending,
    is_refused,
    names_of,
    reason_of,
    stop_of,
    warnings,
    with_recheck,
)
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref

__all__ = ["ALL_REPLICAS", "WILDCARD_SUBJECT", "replica_note"]

KIND = "Wildcards"
ALL_REPLICAS = f"{KIND.lower()}/{api.VALUES.name}"
"""What `why` takes."""
NOTHING_OWED = frozenset({api.DISABLED, api.CHANNEL_UNKNOWN})
FINE = NOTHING_OWED | {api.REPLICATED}
SUPPLIED_VALUES, SUPPLIED_CERTIFICATE, SUPPLIED_KEY = "values.yaml", "tls.crt", "tls.key"
"""The files a reader supplies where only new content helps."""
AGAIN = "it is tried again with growing pauses"

WAKES: Mapping[str, str] = {
    api.CHANNEL_UNKNOWN: f"a change of {api.VALUES.path} wakes it",
    api.DISABLED: f"a change of {api.VALUES.path} wakes it",
    "GatewaysUnread": f"the kind TenantGateway being readable wakes it; {AGAIN}",
    "Terminating": "the end of {about} wakes it",
    "ReadFailed": AGAIN,
    "WriteFailed": AGAIN,
    "": "a change of the source, a replica, a Namespace or a TenantGateway wakes it",
}


async def find(name: str, _namespace: str, _reader: Reader, _judge: Judge) -> Found:
    """The one key there is, by the name of the values Secret."""
    if name != api.VALUES.name:
        raise InputError(
            f"all replicas are judged at once, and not by the name `{name}`",
            hint=f"roadstead why {ALL_REPLICAS}",
        )
    return Found(api.VALUES, (api.VALUES,))


async def tell(_reader: Reader, _key: Ref, decision: Decision) -> Told:
    """Say what a decision about all replicas comes to."""
    pending, refused = is_pending(decision), is_refused(decision)
    state, reason = PENDING if pending else decision.state, reason_of(decision)
    return Told(
        state=state,
        headline=reason if reason == state else f"{state}  {reason}",
        settled=decision.state in FINE,
        because=because(decision),
        next=next_steps(decision),
        wakes="" if refused else UNWRITTEN if pending else wakes(decision),
        notes=(counted(decision),) if decision.figures else (),
    )


def counted(decision: Decision) -> str:
    """How many replicas there are."""
    figures = dict(decision.figures)
    kept, skipped = figures.get("kept", 0), figures.get("skipped", 0)
    told = f"{kept} {'replica' if kept == 1 else 'replicas'}"
    return f"{told}, {skipped} skipped" if skipped else told


def because(decision: Decision) -> str:
    """The sentence under a trail."""
    stop = stop_of(decision)
    if stop is not None:
        cause, _, effect = stop.message.partition("; ")
        return f"Because {cause}, {effect or 'nothing is written there'}."
    for event in warnings(decision):
        cause, _, effect = event.message.partition("; ")
        return f"Because {cause}, {effect or 'it is told of'}."
    if is_pending(decision):
        return "Because every rule passes, replicas are to be written or taken away."
    return "Because every rule passes, every namespace that ends TLS itself has its replica."


def wakes(decision: Decision) -> str:
    """What will have the replicas looked at again."""
    stop = stop_of(decision)
    about = stop.refs[0].path if stop is not None and stop.refs else ""
    text = WAKES[stop.reason if stop is not None else ""]
    return with_recheck(text.format(about=about), decision)


def next_steps(decision: Decision) -> tuple[Next, ...]:
    """What a person may do, the best first; every line can be typed as it stands."""
    stop = stop_of(decision)
    if stop is not None and stop.verdict is Verdict.REFUSE:
        step = STEPS.get(stop.reason)
        return step(stop.refs) if step else ()
    if stop is not None and stop.reason == "GatewaysUnread":
        return (GRANT,)
    return tuple(
        Next((f"{label(event.about)} {api.COPY}-",), "it is the platform's own again")
        for event in warnings(decision)
        if event.reason == api.IS_REPLICA
    )


def _values(_refs: tuple[Ref, ...]) -> tuple[Next, ...]:
    values = api.VALUES
    command = (
        f"kubectl create secret generic {values.name} -n {values.namespace} "
        f"--from-file={api.VALUES_KEY}={SUPPLIED_VALUES} --dry-run=client -o yaml "
        "| kubectl apply -f -"
    )
    return (Next((command,), f"{SUPPLIED_VALUES} holds the platform's values, mended"),)


def _create(refs: tuple[Ref, ...]) -> tuple[Next, ...]:
    source = refs[0]
    return (Next((_created(source),), "the replicas follow"),)


def _anew(refs: tuple[Ref, ...]) -> tuple[Next, ...]:
    source = refs[0]
    return (Next((delete(source), _created(source)), "replicas stay meanwhile, then follow"),)


def _created(source: Ref) -> str:
    return (
        f"kubectl create secret tls {source.name} -n {source.namespace} "
        f"--cert={SUPPLIED_CERTIFICATE} --key={SUPPLIED_KEY}"
    )


def _make_room(refs: tuple[Ref, ...]) -> tuple[Next, ...]:
    return (Next(tuple(delete(ref) for ref in refs), "the replicas are then made"),)


STEPS: Mapping[str, Callable[[tuple[Ref, ...]], tuple[Next, ...]]] = {
    api.CONFIG_INVALID: _values,
    api.MISSING: _create,
    api.INVALID: _anew,
    api.SKIPPED: _make_room,
}
"""The way on for each reason that only a person can clear."""


async def row(values: Object, look: Look, now: datetime) -> Row | None:
    """All replicas in one row, of the values that name the certificate."""
    judged, key, age = await look(api.VALUES), values.ref, values.age(now)
    if judged is None:
        return None
    told = ": ".join(part for part in judged.told if part)
    decision, error = judged.decision, judged.error
    if error is not None and is_forbidden(error):
        reason = f"{UNKNOWN} (may not read {error.about})"
        return Row(KIND, key, UNKNOWN, reason, UNKNOWN, told, age, event=told)
    if error is not None:
        return Row(KIND, key, "False", "ReadFailed", api.ERROR, error.message, age, event=told)
    stop = stop_of(decision)
    fine = decision.state in FINE and not warnings(decision)
    ready = "-" if decision.state in NOTHING_OWED else "True" if fine else "False"
    about = stop.message if stop is not None else counted(decision)
    reason = reason_of(decision)
    if stop is None and any(outcome.did is not Did.UNCHANGED for outcome in judged.outcomes):
        ready, reason = "False", PENDING
    return Row(KIND, key, ready, reason, decision.state, about, age, event=told)


def rules(_asked: Collection[str]) -> tuple[str, ...]:
    """The names of the rules, in order."""
    return _names()


@cache
def _names() -> tuple[str, ...]:
    return names_of(RULES, Snapshot(Channel(Word.UNKNOWN)))


def replica_note(seen: Object) -> str:
    """What a Secret is that carries the mark of a replica."""
    source = seen.annotations.get(api.COPY_SOURCE, "")
    return f"replica of {source}" if source else "replica of the wildcard certificate"


def plan_note(_before: Object | None, after: Object, _get: Callable[[Ref], Object | None]) -> str:
    """What `plan` says of a Secret; nothing where it is no replica."""
    return replica_note(after) if is_copy(after) else ""


WILDCARD_SUBJECT = Subject(
    controller=WILDCARDS,
    kind=KIND,
    column="REPLICAS",
    noun="set of wildcard replicas",
    resource=KIND.lower(),
    view=CHANNEL,
    listed=(CHANNEL, GATEWAYS),
    keys=frozenset(),
    words={KIND.lower(): Name(SECRET, find)},
    quiet=NOTHING_OWED,
    rules=rules,
    tell=tell,
    row=row,
    notes={SECRET: plan_note},
    single=api.VALUES,
)
