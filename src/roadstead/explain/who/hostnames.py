"""Who holds a hostname: the routes that decisions serve on it, and those that they refuse."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide.units import Unit
from roadstead.capabilities.gateways.decide.verdicts import Cause
from roadstead.capabilities.gateways.fields import EDGE
from roadstead.capabilities.gateways.snapshot import observe
from roadstead.capabilities.gateways.snapshot.views import (
    GATEWAYS_ASKED,
    HTTP_ROUTES,
    TLS_ROUTES,
    gateway_of,
)
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.explain.gateways.known import Known
from roadstead.explain.gateways.routes import entry_of, listener_for
from roadstead.explain.who.found import Asked, Holding, Waiting, Who
from roadstead.kube.conditions import TRUE
from roadstead.kube.hostnames import covers, is_within, overlap
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import Json, items, part, text, texts
from roadstead.kube.times import format_age, parse_time


async def of_hostname(reader: Reader, asked: Asked, breathe: Callable[[], Awaitable[None]]) -> Who:
    """Judge every gateway that may serve a hostname.

    Raises: ClusterError where what it is judged by cannot be read.
    """
    found = Who(asked)
    for seen in reader.list(GATEWAYS_ASKED):
        await breathe()
        snapshot = await observe(reader, seen.ref)
        if snapshot is not None and snapshot.asked_for is not None:
            found = found.beside(_at(Known.of(snapshot), asked))
    return found


def _at(known: Known, asked: Asked) -> Who:
    holdings: list[Holding] = []
    waiting: list[Waiting] = []
    for unit, cause in _claims(known, asked.name):
        ref, body = unit.route.ref, unit.route.seen.body
        since = _moment(entry_of(body, unit.parent))
        if cause is None and (known.follows_hostnames or listener_for(known, unit, asked.name)):
            holdings.append(_holding(known, unit, asked.name, since))
        elif cause is not None:
            waiting.append(Waiting(ref, cause.reason, since))
    notes = [] if holdings or waiting else list(_unused(known, asked.name))
    return Who(asked, tuple(holdings), tuple(waiting), notes=tuple(notes))


def _claims(known: Known, host: str) -> Iterator[tuple[Unit, Cause | None]]:
    """Every unit that names a hostname or a wildcard over it, with why it is not served."""
    judged = {id(unit): dict(known.by_name(unit)) for unit in known.judged}
    for unit in known.units:
        names = known.claims.names(unit) if known.follows_hostnames else unit.hostnames
        for name in names:
            if name == host or covers(name, host):
                yield unit, judged.get(id(unit), {}).get(name)
                break


def _holding(known: Known, unit: Unit, host: str, since: datetime | None) -> Holding:
    listener = listener_for(known, unit, host)
    seen = known.seen
    status = part(seen.gateway.body, "status") if seen.gateway is not None else {}
    return Holding(
        unit.route.ref,
        since or _moment({"lastTransitionTime": unit.route.seen.meta.creation_timestamp}),
        api.GATEWAY.ref(seen.namespace, seen.name),
        text(listener, "name"),
        tuple(text(one, "value") for one in items(status, "addresses")),
        _tls(known, listener),
    )


def _tls(known: Known, listener: Json) -> str:
    """How TLS ends there, and how long its certificate lasts."""
    tls, seen = part(listener, "tls"), known.seen
    if seen.asked.mode == EDGE:
        return "ends at the edge"
    if not tls:
        return "none"
    if tls.get("mode") == "Passthrough":
        return "passthrough"
    name = text(next(iter(items(tls, "certificateRefs")), {}), "name")
    certificate = seen.certificates.get(name)
    until = text(part(certificate.body, "status"), "notAfter") if certificate is not None else ""
    if certificate is None:
        return f"{seen.asked.mode}, Secret {name}"
    if not until:
        return f"{seen.asked.mode}, not issued yet"
    left = parse_time(until) - seen.now
    return f"{seen.asked.mode}, {format_age(left)} left"


def _moment(stated: Json) -> datetime | None:
    since = text(stated, "lastTransitionTime")
    return parse_time(since) if since else None


def _unused(known: Known, host: str) -> Iterator[str]:
    """A listener that answers the name for nobody."""
    if not is_within(host, known.seen.asked.apex):
        return
    for one in known.listeners:
        if text(one, "hostname") and overlap(text(one, "hostname"), host):
            gateway = api.GATEWAY.ref(known.seen.namespace, known.seen.name)
            yield f"listener {text(one, 'name')} of {gateway} answers it, and no route claims it"


def by_status(reader: Reader, asked: Asked) -> Who:
    """What the routes that the asker may read are told: who holds a lost name is not said."""
    found = Who(asked)
    for route in routes(reader):
        if any(name == asked.name or covers(name, asked.name) for name in _names(route)):
            found = found.beside(_told(route, asked))
    return found


def routes(reader: Reader) -> Iterator[Object]:
    """Every route that may be read, of whatever kind and version is served."""
    for view in (HTTP_ROUTES, *TLS_ROUTES):
        try:
            yield from reader.list(view)
        except ClusterError:
            continue


def _names(route: Object) -> tuple[str, ...]:
    return texts(part(route.body, "spec"), "hostnames")


def _told(route: Object, asked: Asked) -> Who:
    found = Who(asked)
    for entry in items(part(route.body, "status"), "parents"):
        stated = entry_of(route.body, part(entry, "parentRef"))
        if entry.get("controllerName") != api.COMPONENT or not stated:
            continue
        lost = asked.name in text(stated, "message")
        if text(stated, "status") == TRUE or not lost:
            place, _, name = gateway_of(part(entry, "parentRef"), route.ref.namespace).partition(
                "/"
            )
            gateway: Ref = api.GATEWAY.ref(place, name)
            found = found.beside(Who(asked, (Holding(route.ref, _moment(stated), gateway),)))
        else:
            reason = text(stated, "reason")
            wait = Waiting(route.ref, reason, _moment(stated))
            found = found.beside(Who(asked, waiting=(wait,), hidden=reason == api.CONFLICT))
    return found
