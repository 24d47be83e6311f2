"""Which ports the rendered Service has: mirrored, a subset, synthesized, or the sentinel.

Source: endpoint-attachments 4.3.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.snapshot import Asked
from roadstead.kube.objects import Object

Json = dict[str, Any]
_MIRRORED = ("name", "protocol", "port", "targetPort", "appProtocol")
SENTINEL: Json = {
    "port": api.SENTINEL_PORT,
    "protocol": "TCP",
    "targetPort": api.SENTINEL_PORT,
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ports of a rendering. missing: the entries of `ports` that the endpoint lacks."""

    ports: tuple[Json, ...]
    missing: tuple[int | str, ...] = ()


def choose(asked: Asked, endpoint: Object) -> Chosen:
    """Choose the ports for what is asked of an endpoint."""
    there = tuple(_mirrored(port) for port in _ports_of(endpoint))
    if asked.method == "WholeIP" and not asked.ports:
        return Chosen((dict(SENTINEL),))
    if not asked.ports:
        return Chosen(there)
    if is_sentinel(there):
        return Chosen(tuple(_synthesized(asked.ports)))
    missing = tuple(item for item in asked.ports if not any(_is(item, port) for port in there))
    picked = tuple(port for port in there if any(_is(item, port) for item in asked.ports))
    return Chosen(picked, missing)


def is_sentinel(ports: tuple[Json, ...]) -> bool:
    """Tell whether the one port is the number a headless VM Service is given."""
    return len(ports) == 1 and ports[0].get("port") == api.SENTINEL_PORT


def _ports_of(endpoint: Object) -> Iterable[Mapping[str, Any]]:
    spec = endpoint.body.get("spec")
    stated = spec.get("ports") if isinstance(spec, Mapping) else None
    return [one for one in stated or () if isinstance(one, Mapping)]


def _mirrored(port: Mapping[str, Any]) -> Json:
    """A port as it is copied: never its node port; what the server defaults is written out."""
    copied = {key: port[key] for key in _MIRRORED if port.get(key) not in (None, "")}
    copied.setdefault("protocol", "TCP")
    copied.setdefault("targetPort", copied.get("port"))
    return copied


def parsed(item: int | str) -> tuple[int, str]:
    """A `ports` entry as number and protocol; an integer has the empty one, any."""
    if isinstance(item, int):
        return item, ""
    number, _, protocol = item.partition("/")
    return (int(number) if number.isdecimal() else 0), protocol


def _is(item: int | str, port: Json) -> bool:
    number, protocol = parsed(item)
    return port.get("port") == number and protocol in {"", port["protocol"]}


def _synthesized(items: tuple[int | str, ...]) -> Iterable[Json]:
    seen = set()
    for item in items:
        number, protocol = parsed(item)
        protocol = protocol or "TCP"
        if (number, protocol) in seen:
            continue
        seen.add((number, protocol))
        suffix = "" if protocol == "TCP" else f"-{protocol.lower()}"
        name = f"port-{number}{suffix}"
        yield {"name": name, "protocol": protocol, "port": number, "targetPort": number}
