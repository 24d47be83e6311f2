"""One row of `status` for each gateway, and what `plan` says of what is made for it."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import ROUTE_SERVED
from roadstead.capabilities.gateways.snapshot.views import HTTP_ROUTES, TLS_ROUTES, gateway_of
from roadstead.decision import Decision, Reader, Verdict
from roadstead.errors import Unread
from roadstead.explain.rows import UNKNOWN, Row
from roadstead.explain.subject import Look
from roadstead.explain.trail import PENDING
from roadstead.kube.conditions import TRUE, condition_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text, texts

Get = Callable[[Ref], Object | None]


async def row(seen: Object, _look: Look, now: datetime) -> Row:
    """Lay out one gateway by what was reported last."""
    status = part(seen.body, "status")
    ready = condition_of(status, "Ready")
    stated, reason = text(ready, "status") or UNKNOWN, text(ready, "reason") or PENDING
    about = text(ready, "message")
    if not ready:
        about = "the controller has not reported yet"
    elif status.get("observedGeneration") != seen.meta.generation:
        stated, about = UNKNOWN, "reported before the last change of its spec"
    elif stated == TRUE:
        about = text(part(seen.body, "spec"), "apex")
    return Row(api.TENANT_GATEWAY.kind, seen.ref, stated, reason, reason, about, seen.age(now))


def tenant_gateway_note(old: Object | None, new: Object, _get: Get) -> str:
    """What is reported of a gateway now; empty where that has not changed."""
    ready = condition_of(part(new.body, "status"), "Ready")
    if not ready or (old is not None and condition_of(part(old.body, "status"), "Ready") == ready):
        return ""
    reason = "" if ready.get("status") == TRUE else f" {ready.get('reason')}"
    return f"status: Ready={ready.get('status')}{reason}"


def gateway_note(old: Object | None, new: Object, _get: Get) -> str:
    """Which listeners come and go."""
    before = _listeners(old) if old is not None else ()
    after = _listeners(new)
    come = [name for name in after if name not in before]
    gone = [name for name in before if name not in after]
    return ", ".join(
        f"{sign}{len(names)} {'listener' if len(names) == 1 else 'listeners'} {' '.join(names)}"
        for sign, names in (("+", come), ("-", gone))
        if names
    )


def _listeners(gateway: Object) -> tuple[str, ...]:
    return tuple(text(one, "name") for one in items(part(gateway.body, "spec"), "listeners"))


def certificate_note(_old: Object | None, new: Object, _get: Get) -> str:
    """Which names a certificate is asked for."""
    if new.labels.get(api.MANAGED_LABEL) != api.MANAGER:
        return ""
    return ", ".join(texts(part(new.body, "spec"), "dnsNames"))


def route_note(old: Object | None, new: Object, _get: Get) -> str:
    """What is said of a route now, parentRef by parentRef; empty where that has not changed."""
    before = _entries(old) if old is not None else ()
    after = _entries(new)
    return "; ".join(after) if after != before else ""


def _entries(route: Object) -> tuple[str, ...]:
    found = []
    for one in items(part(route.body, "status"), "parents"):
        if one.get("controllerName") != api.COMPONENT:
            continue
        for stated in items(one, "conditions"):
            reason = "" if stated.get("status") == TRUE else f" {stated.get('reason')}"
            named = gateway_of(part(one, "parentRef"), route.meta.namespace)
            found.append(f"status: Accepted={stated.get('status')}{reason} at {named}")
    return tuple(found)


def route_rows(reader: Reader, decision: Decision) -> Iterator[Row]:
    """A row for each parentRef that a gateway's decision has judged.

    The page has them beside the gateway's own, so that a hostname finds its route.
    """
    for found in decision.findings:
        if found.rule != ROUTE_SERVED or not found.refs:
            continue
        ref = found.refs[0]
        seen = _route(reader, ref)
        names = texts(part(seen.body, "spec"), "hostnames") if seen is not None else ()
        served = found.verdict is Verdict.PASS
        about = ", ".join(names)
        if not served:
            about = f"{about}: {found.message}" if about else found.message
        reason = found.reason or "Accepted"
        age = seen.age(reader.now) if seen is not None else timedelta(0)
        yield Row(ref.kind.kind, ref, str(served), reason, reason, about, age)


def _route(reader: Reader, ref: Ref) -> Object | None:
    for view in (HTTP_ROUTES, *TLS_ROUTES):
        if view.kind == ref.kind:
            try:
                return reader.get(view, ref.namespace, ref.name)
            except Unread:
                return None
    return None
