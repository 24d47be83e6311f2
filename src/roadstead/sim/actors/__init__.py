"""Stand-ins for neighbours: what another's controller would do, as controllers of either driver.

They write as another writer does, never with our account, and nothing of theirs is in a trail, a
count or a chart. A stand-in answers as its neighbour is documented to, and invents nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from roadstead.kube.refs import Kind
from roadstead.sim.actors.addresses import ADDRESSES_CONTROLLERS, ADDRESSES_KINDS
from roadstead.sim.actors.certificates import CERTIFICATES_CONTROLLERS, CERTIFICATES_KINDS
from roadstead.sim.actors.gateway_class import GATEWAY_CLASS_CONTROLLERS, GATEWAY_CLASS_KINDS
from roadstead.wiring import Controller


@dataclass(frozen=True, slots=True)
class StandIn:
    """One neighbour. kinds: it has something to do where an object of one of them is."""

    controllers: tuple[Controller, ...]
    kinds: frozenset[Kind]


STAND_INS: Mapping[str, StandIn] = {
    "addresses": StandIn(ADDRESSES_CONTROLLERS, frozenset(ADDRESSES_KINDS)),
    "gateway-class": StandIn(GATEWAY_CLASS_CONTROLLERS, frozenset(GATEWAY_CLASS_KINDS)),
    "certificates": StandIn(CERTIFICATES_CONTROLLERS, frozenset(CERTIFICATES_KINDS)),
}
"""Every stand-in by the name that `standIns` and `--stand-ins` take, in the order of output."""


def acting(names: Iterable[str]) -> tuple[Controller, ...]:
    """The controllers of stand-ins that are named."""
    return tuple(one for name in ordered(names) for one in STAND_INS[name].controllers)


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Names of stand-ins, each once, in the order of output."""
    named = frozenset(names)
    return tuple(name for name in STAND_INS if name in named)


def spoken(names: Iterable[str]) -> str:
    """Stand-ins in words: `addresses, gateway class`; `none` for none."""
    return ", ".join(name.replace("-", " ") for name in ordered(names)) or "none"


def needed(kinds: Iterable[Kind]) -> tuple[str, ...]:
    """The stand-ins that have something to do in a world with objects of these kinds, in order."""
    there = frozenset(kinds)
    return tuple(name for name, one in STAND_INS.items() if one.kinds & there)
