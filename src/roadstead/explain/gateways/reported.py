"""What an object's own status says of it, for who may not read all that it is judged by.

The conditions are the decision's own words, as the controller wrote them. Who holds what a route
has lost is not in them: that may be an object of another tenant.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.entries import ROUTE_SERVED
from roadstead.capabilities.gateways.snapshot.views import gateway_of
from roadstead.decision import Finding, Reader, Verdict
from roadstead.explain.commands import apply
from roadstead.explain.gateways.next import SUPPLIED, WAKES, who_holds
from roadstead.explain.subject import Next, Part, Told
from roadstead.kube.conditions import TRUE, condition_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text, texts
from roadstead.kube.times import format_age, parse_time

Json = Mapping[str, Any]
NOTE = "as it was reported last; you may not read what it is judged by"
UNREPORTED = "Unreported"
"""What an object is called whose status says nothing."""


async def reported(reader: Reader, ref: Ref) -> tuple[Part, ...]:
    """Tell of an object by its status alone; nothing where it is not there.

    Raises: ClusterError.
    """
    seen = await reader.live_get(ref)
    if seen is None:
        return ()
    if ref.kind == api.TENANT_GATEWAY:
        ready = condition_of(part(seen.body, "status"), "Ready")
        found = [_gateway(seen, ready, reader)] if ready else []
    else:
        found = [
            _route(seen, entry, stated, reader)
            for entry in items(part(seen.body, "status"), "parents")
            if entry.get("controllerName") == api.COMPONENT
            for stated in items(entry, "conditions")[:1]
        ]
    return tuple(found) or (_silent(seen),)


def _silent(seen: Object) -> Part:
    because = "Because nothing is reported of it, and you may not read what it is judged by"
    told = Told(UNREPORTED, UNREPORTED, settled=False, because=f"{because}, nothing is known.")
    return Part(seen.ref, (), told)


def _headline(stated: Json, reader: Reader) -> str:
    words = f"{text(stated, 'type')}={text(stated, 'status')}  {text(stated, 'reason')}"
    since = text(stated, "lastTransitionTime")
    return f"{words}  for {format_age(reader.now - parse_time(since))}" if since else words


def _gateway(seen: Object, ready: Json, reader: Reader) -> Part:
    reason, message = text(ready, "reason"), text(ready, "message")
    served, refused = text(ready, "status") == TRUE, reason == api.FAULT
    verdict = Verdict.PASS if served else Verdict.REFUSE if refused else Verdict.WAIT
    mended = Next((apply(SUPPLIED),), f"{SUPPLIED} is {seen.ref}, with what is named mended")
    wakes = WAKES.get("" if served else reason, WAKES[""])
    about = api.GATEWAY.ref(seen.ref.namespace, seen.ref.name).path
    told = Told(
        state=reason,
        headline=_headline(ready, reader),
        settled=served,
        because=f"Because it is reported so: {message}.",
        next=(mended,) if refused else (),
        wakes="" if refused else wakes.format(about=about),
        notes=(NOTE,),
    )
    rule = "renderable" if refused else "gateway-served"
    finding = Finding(rule, verdict, "" if served else reason, message, (seen.ref,))
    return Part(seen.ref, (finding,), told)


def _route(route: Object, entry: Json, stated: Json, reader: Reader) -> Part:
    served = text(stated, "status") == TRUE
    place, _, name = gateway_of(part(entry, "parentRef"), route.meta.namespace).partition("/")
    gateway = api.GATEWAY.ref(place, name)
    reason, message = text(stated, "reason"), text(stated, "message")
    because = f"Because {message.partition(': ')[2] or message}, it is not wholly served."
    told = Told(
        state=reason,
        headline=_headline(stated, reader),
        settled=served,
        because=f"Because {gateway} serves every hostname, nothing is owed." if served else because,
        next=() if served else _next(route, reason, message),
        wakes="a change of the route or of its Gateway wakes it" if served else "",
        notes=(NOTE,),
        parent=gateway,
    )
    refs = (route.ref, api.TENANT_GATEWAY.ref(place, name))
    finding = Finding(ROUTE_SERVED, Verdict.PASS, refs=refs)
    if not served:
        finding = Finding(ROUTE_SERVED, Verdict.REFUSE, reason, message, refs)
    return Part(route.ref, (finding,), told)


def _next(route: Object, reason: str, message: str) -> tuple[Next, ...]:
    """Other hostnames; and of each that the message names as lost, who has it."""
    file = f"{route.kind.kind.lower()}.yaml"
    other = Next((apply(file),), f"{file} is {route.ref} with hostnames that nobody holds")
    named = texts(part(route.body, "spec"), "hostnames")
    lost = [host for host in named if reason == api.CONFLICT and host in message]
    return (other, *(who_holds(host) for host in lost))
