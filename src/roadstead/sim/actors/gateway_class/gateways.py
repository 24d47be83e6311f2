"""Accepts and programs the Gateways of the classes it plays, listener by listener.

A Gateway that has changed to a class of somebody else keeps what was said last, as it would where
its controller has simply stopped to look. Source: Gateway API, GatewayStatus.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_network
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.decision import Cached, Decision, Reader, Status
from roadstead.kube.conditions import FALSE, TRUE, Condition, fold
from roadstead.kube.grants import allowed
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import Json, items, part, text
from roadstead.sim.actors.gateway_class.attachment import Labels, attach, parents_of
from roadstead.sim.actors.gateway_class.listeners import (
    BAD_CERTIFICATE,
    INVALID,
    Faults,
    conditions,
    conflicting,
    supported_kinds,
)
from roadstead.sim.actors.gateway_class.views import (
    CLASSES,
    GATEWAYS,
    GRANTS,
    HTTP_ROUTES,
    NAMESPACES,
    SECRETS,
    TLS_ROUTES,
    addresses_of,
    class_of,
    controller_of,
    grants_in,
    listeners_of,
    routes,
    secrets_of,
    spoken_of,
)
from roadstead.wiring import Controller, Watch

POOL = ip_network("198.18.0.0/15")
"""Out of this range each Gateway gets the smallest address that none has. RFC 2544: test beds."""
_TLS_TYPE = "kubernetes.io/tls"


@dataclass(frozen=True, slots=True)
class Seen:
    """One Gateway of a class that is ours to play.

    address: its own; empty where none is left. routes: those that name it.
    labels: of the namespaces of those routes. faults: of the Secrets it names.
    """

    now: datetime
    gateway: Object
    address: str
    routes: tuple[Object, ...]
    labels: Labels
    faults: Faults


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one Gateway is judged on; None where its class is not ours to play.

    Live: the Secrets it names, of which nothing is kept but whether they can be used.
    """
    gateway = await reader.see(GATEWAYS, key.namespace, key.name)
    if gateway is None or gateway.deleting:
        return None
    if not controller_of(reader.get(CLASSES, "", class_of(gateway))):
        return None
    found = routes(reader, "parent", key.key)
    return Seen(
        reader.now,
        gateway,
        _address(reader, gateway),
        found,
        labels_of(reader, found),
        await _faults(reader, gateway),
    )


def labels_of(reader: Reader, found: tuple[Object, ...]) -> Labels:
    """The labels of the namespaces of routes."""
    spaces = (reader.get(NAMESPACES, "", name) for name in {one.meta.namespace for one in found})
    return {one.meta.name: one.labels for one in spaces if one is not None}


def _address(reader: Reader, gateway: Object) -> str:
    """What it has, else the smallest that nobody has."""
    if has := addresses_of(gateway):
        return has[0]
    free = (str(one) for one in POOL.hosts() if not reader.list(GATEWAYS, "address", str(one)))
    return next(free, "")


async def _faults(reader: Reader, gateway: Object) -> Mapping[str, tuple[str, str]]:
    """Why a Secret that a Gateway names cannot be used, for each that cannot."""
    faults: dict[str, tuple[str, str]] = {}
    for _, ref in secrets_of(gateway):
        here = ref.namespace == gateway.meta.namespace
        if not here and not allowed(grants_in(reader, ref.namespace), gateway.ref, ref):
            faults[ref.key] = ("RefNotPermitted", f"no ReferenceGrant lets it use {ref}")
        elif not _is_usable(await reader.live_get(ref)):
            faults[ref.key] = (BAD_CERTIFICATE, f"{ref} is not there, or holds no certificate")
    return faults


def _is_usable(secret: Object | None) -> bool:
    if secret is None or text(secret.body, "type") != _TLS_TYPE:
        return False
    return all(secret.decoded(key) for key in ("tls.crt", "tls.key"))


def decide(seen: Seen) -> Decision:
    """Say what becomes of the Gateway and of each of its listeners."""
    gateway, before = seen.gateway, part(seen.gateway.body, "status")
    routes, clashing = _attached(seen), conflicting(listeners_of(gateway))
    told = [
        _listener(seen, one, before, routes[name], conflicted=name in clashing)
        for one in listeners_of(gateway)
        for name in (text(one, "name"),)
    ]
    own = fold(
        items(before, "conditions"), _conditions(seen, told), seen.now, gateway.meta.generation
    )
    addresses = [{"type": "IPAddress", "value": seen.address}] if seen.address else []
    value: dict[str, Any] = {**before, "conditions": own, "listeners": told}
    value.pop("addresses", None)
    return Decision(status=Status(gateway, value | ({"addresses": addresses} if addresses else {})))


def _listener(
    seen: Seen, listener: Json, before: Json, routes: int, *, conflicted: bool
) -> dict[str, Any]:
    name = text(listener, "name")
    said = conditions(listener, seen.gateway.meta.namespace, seen.faults, conflicted=conflicted)
    old = next((one for one in items(before, "listeners") if one.get("name") == name), {})
    generation = seen.gateway.meta.generation
    return {
        "name": name,
        "supportedKinds": supported_kinds(listener),
        "attachedRoutes": routes,
        "conditions": fold(items(old, "conditions"), said, seen.now, generation),
    }


def _attached(seen: Seen) -> Counter[str]:
    """How many routes attach to each listener, by its name; each counts once."""
    return Counter(
        section
        for route in seen.routes
        for section in {
            section
            for parent in parents_of(route, seen.gateway)
            for section in attach(route, parent, seen.gateway, seen.labels).sections
        }
    )


def _conditions(seen: Seen, listeners: list[dict[str, Any]]) -> tuple[Condition, ...]:
    accepted = _accepted(seen, listeners)
    if not accepted.true:
        return accepted, Condition("Programmed", FALSE, INVALID, accepted.message)
    if not seen.address:
        told = f"no address of {POOL} is left"
        return accepted, Condition("Programmed", FALSE, "AddressNotAssigned", told)
    told = f"the proxy has the address {seen.address}"
    return accepted, Condition("Programmed", TRUE, "Programmed", told)


def _accepted(seen: Seen, listeners: list[dict[str, Any]]) -> Condition:
    if items(part(seen.gateway.body, "spec"), "addresses"):
        told = "addresses are given out, and none that is asked for"
        return Condition("Accepted", FALSE, "UnsupportedAddress", told)
    bad = [one["name"] for one in listeners if not _holds(one, "Accepted")]
    if not bad:
        return Condition("Accepted", TRUE, "Accepted", "every listener is accepted")
    status = FALSE if len(bad) == len(listeners) else TRUE
    return Condition("Accepted", status, "ListenersNotValid", f"not accepted: {', '.join(bad)}")


def _holds(listener: Json, wanted: str) -> bool:
    found = items(listener, "conditions")
    return any(one["status"] == TRUE for one in found if one["type"] == wanted)


def gateway_itself(gateway: Object, _cached: Cached) -> Iterator[Ref]:
    """A Gateway wakes itself."""
    yield gateway.ref


def gateways_of_class(one: Object, cached: Cached) -> Iterator[Ref]:
    """Those that ask for a class."""
    yield from (gateway.ref for gateway in cached.list(GATEWAYS, "class", one.meta.name))


def gateways_of_route(route: Object, _cached: Cached) -> Iterator[Ref]:
    """Those a route names, or was told of."""
    for name in spoken_of(route):
        space, _, gateway = name.partition("/")
        yield api.GATEWAY.ref(space, gateway)


def gateways_of_secret(secret: Object, cached: Cached) -> Iterator[Ref]:
    """Those that name a Secret."""
    yield from (gateway.ref for gateway in cached.list(GATEWAYS, "secret", secret.ref.key))


def gateways_of_grant(grant: Object, cached: Cached) -> Iterator[Ref]:
    """Those that name a Secret of its namespace."""
    place = grant.meta.namespace
    yield from (gateway.ref for gateway in cached.list(GATEWAYS, "lender", place))


def gateways_of_namespace(namespace: Object, cached: Cached) -> Iterator[Ref]:
    """Those that routes of a namespace name."""
    for route in routes(cached, "namespace", namespace.meta.name):
        yield from gateways_of_route(route, cached)


def asked_otherwise(old: Object, new: Object) -> bool:
    """Whether something else is asked for: what is said of it wakes nobody."""
    before, after = ((one.meta.uid, one.meta.generation, one.deleting) for one in (old, new))
    return before != after


def labelled_otherwise(old: Object, new: Object) -> bool:
    """Of a Namespace the labels alone matter."""
    return old.labels != new.labels


PROGRAMMING_CONTROLLER = Controller(
    name="stand-in-gateways",
    component="stand-in-gateway-class",
    watches=(
        Watch(GATEWAYS, gateway_itself),
        Watch(CLASSES, gateways_of_class, asked_otherwise),
        Watch(HTTP_ROUTES, gateways_of_route, asked_otherwise),
        *(Watch(view, gateways_of_route, asked_otherwise, optional=True) for view in TLS_ROUTES),
        Watch(NAMESPACES, gateways_of_namespace, labelled_otherwise),
        Watch(SECRETS, gateways_of_secret),
        Watch(GRANTS, gateways_of_grant, asked_otherwise, optional=True),
    ),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,  # two Gateways never reach for the same address
    checked=False,
)
