"""Stand-ins for neighbours: what another's controller would do, as controllers of either driver.

They write as another writer does, never with our account, and nothing of theirs is in a trail, a
count or a chart. A stand-in answers as its neighbour is documented to, and invents nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from roadstead.kube.refs import Kind
from roadstead.sim.actors.addresses import ADDRESSES_CONTROLLERS, ADDRESSES_KINDS
from roadstead.wiring import Controller


@dataclass(frozen=True, slots=True)
class StandIn:
    """One neighbour. kinds: it has something to do where an object of one of them is."""

    controllers: tuple[Controller, ...]
    kinds: frozenset[Kind]


STAND_INS: Mapping[str, StandIn] = {
    "addresses": StandIn(ADDRESSES_CONTROLLERS, frozenset(ADDRESSES_KINDS)),
}
"""Every stand-in by the name that `standIns` and `--stand-ins` take."""


def acting(names: Iterable[str]) -> tuple[Controller, ...]:
    """The controllers of stand-ins that are named."""
    return tuple(one for name in sorted(set(names)) for one in STAND_INS[name].controllers)


def needed(kinds: Iterable[Kind]) -> tuple[str, ...]:
    """The stand-ins that have something to do in a world with objects of these kinds, sorted."""
    there = frozenset(kinds)
    return tuple(sorted(name for name, one in STAND_INS.items() if one.kinds & there))
