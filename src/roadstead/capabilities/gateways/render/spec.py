"""What a spec must not say, whatever its schema let through. Source: tenant-gateway 7.2.

The definition and the controller roll out separately, so every rule of the schema is here again.
The first fault alone is told.
"""

import re
from collections.abc import Iterator

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import EXISTING_SECRET, HTTP01
from roadstead.capabilities.gateways.render.listeners import Passthrough, passthrough
from roadstead.capabilities.gateways.snapshot import Asked, NativePort
from roadstead.kube.hostnames import WILDCARD, is_within, overlap
from roadstead.kube.names import SUBDOMAIN_CHARACTERS, is_label, is_subdomain

LISTENERS, SERVICES = "tlsPassthroughListeners", "tlsPassthroughServices"
_TAKEN = frozenset({80, 443})
_MOST_PORT = 65_535
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def fault(asked: Asked) -> str:
    """The first thing wrong with a spec, in words that name it; empty when nothing is."""
    return next(_faults(asked), "")


def _faults(asked: Asked) -> Iterator[str]:
    if asked.listeners and asked.mode != HTTP01:
        yield f"{LISTENERS} are for mode http01 alone, and the mode is {asked.mode}"
    for entry in sorted({one for one in asked.services if asked.services.count(one) > 1}):
        yield f"{SERVICES} names `{entry}` twice"
    if asked.listeners and not is_subdomain(asked.written_apex):
        yield f"{LISTENERS} need an apex in lower case, and it is `{asked.written_apex}`"
    yield from _of_apex(asked)
    yield from _of_services(asked)
    for at in range(len(asked.listeners)):
        yield from _of_listener(asked, at)
    if asked.mode == EXISTING_SECRET and not asked.secret:
        yield "mode existingSecret needs wildcardSecretRef with the name of a Secret"


def _of_apex(asked: Asked) -> Iterator[str]:
    """What no listener and no redirect could be made of; the definition states no pattern."""
    if not _is_only_long(asked.apex):
        yield f"apex `{asked.written_apex}` is no DNS name"
    if len(f"{WILDCARD}{asked.apex}") > SUBDOMAIN_CHARACTERS:
        yield f"apex `{asked.written_apex}`: `{WILDCARD}<apex>` would be longer than 253 characters"


def _of_services(asked: Asked) -> Iterator[str]:
    for entry in asked.services:
        if not is_subdomain(entry) and not _is_only_long(entry):
            yield f"{SERVICES}: `{entry}` is no lower-case DNS name"
    for entry in asked.services:
        if len(api.PASSTHROUGH_PREFIX + entry) > SUBDOMAIN_CHARACTERS:
            yield f"{SERVICES}: the listener of `{entry}` would be longer than 253 characters"
        if len(f"{entry}.{asked.apex}") > SUBDOMAIN_CHARACTERS:
            yield f"{SERVICES}: the hostname of `{entry}` would be longer than 253 characters"


def _is_only_long(entry: str) -> bool:
    return all(_LABEL.fullmatch(label) for label in entry.split("."))


def _of_listener(asked: Asked, at: int) -> Iterator[str]:
    one, earlier = asked.listeners[at], asked.listeners[:at]
    about = f"{LISTENERS} `{one.name}`"
    if not is_label(one.name):
        yield f"{about}: the name is no lower-case DNS label"
    if any(other.name == one.name for other in earlier):
        yield f"{about}: the name is used twice"
    if one.name in asked.services:
        yield f"{about}: {SERVICES} has the same name"
    if not 1 <= one.port <= _MOST_PORT:
        yield f"{about}: port {one.port} is outside 1 to 65535"
    if one.port in _TAKEN:
        yield f"{about}: port {one.port} is taken by the gateway itself"
    if any(other.port == one.port for other in earlier):
        yield f"{about}: port {one.port} is used twice"
    yield from _of_hostname(asked, one, earlier)


def _of_hostname(asked: Asked, one: NativePort, earlier: tuple[NativePort, ...]) -> Iterator[str]:
    about = f"{LISTENERS} `{one.name}`"
    long = len(one.hostname) > SUBDOMAIN_CHARACTERS
    if long or not is_subdomain(one.hostname.removeprefix(WILDCARD)):
        yield f"{about}: `{one.hostname}` is no hostname"
        return
    if not is_within(one.hostname.removeprefix(WILDCARD), asked.written_apex):
        yield f"{about}: `{one.hostname}` is outside the apex `{asked.written_apex}`"
    for other in _before(asked, earlier):
        if overlap(one.hostname, other.hostname):
            yield f"{about}: `{one.hostname}` overlaps {other.stated}, `{other.hostname}`"


def _before(asked: Asked, earlier: tuple[NativePort, ...]) -> Iterator[Passthrough]:
    names = {one.name for one in earlier}
    for other in passthrough(asked):
        if not other.tenant_only or other.section.removeprefix(api.PASSTHROUGH_PREFIX) in names:
            yield other


def budget(count: int) -> str:
    """What is wrong with a number of listeners; empty when they fit. Source: P11."""
    if count <= api.MOST_LISTENERS:
        return ""
    return f"{count} listeners are more than the {api.MOST_LISTENERS} a Gateway may have"
