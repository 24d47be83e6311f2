"""Makes issuers ready: an account at an ACME server is taken to be registered."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from roadstead.decision import Cached, Decision, Reader, Status
from roadstead.kube.conditions import TRUE, Condition, fold
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part
from roadstead.kube.views import View
from roadstead.sim.actors.certificates.views import (
    ACME,
    CLUSTER_ISSUERS,
    ISSUERS,
    READY,
    played,
)
from roadstead.wiring import Controller, Watch


@dataclass(frozen=True, slots=True)
class Seen:
    """One issuer that is played."""

    now: datetime
    issuer: Object


def _observe(view: View) -> Callable[[Reader, Ref], Awaitable[Seen | None]]:
    async def observe(reader: Reader, key: Ref) -> Seen | None:
        issuer = await reader.see(view, key.namespace, key.name)
        if issuer is None or issuer.deleting or not played(issuer):
            return None
        return Seen(reader.now, issuer)

    return observe


def decide(seen: Seen) -> Decision:
    """Say that the issuer is ready."""
    before = part(seen.issuer.body, "status")
    said = Condition(READY, TRUE, "IsReady", "it signs with a key of its own")
    if played(seen.issuer) == ACME:
        told = "the account is registered, as far as nobody is asked"
        said = Condition(READY, TRUE, "ACMEAccountRegistered", told)
    generation = seen.issuer.meta.generation
    conditions = fold(items(before, "conditions"), (said,), seen.now, generation)
    return Decision(status=Status(seen.issuer, {**before, "conditions": conditions}))


def issuer_itself(issuer: Object, _cached: Cached) -> Iterator[Ref]:
    """An issuer wakes itself."""
    yield issuer.ref


TRUSTING_CONTROLLERS = tuple(
    Controller(
        name=name,
        component="stand-in-certificates",
        watches=(Watch(view, issuer_itself),),
        observe=_observe(view),
        decide=decide,
        report=lambda _seen, decision, _outcomes: decision,
        workers=1,
        checked=False,
    )
    for name, view in (
        ("stand-in-issuers", ISSUERS),
        ("stand-in-cluster-issuers", CLUSTER_ISSUERS),
    )
)
