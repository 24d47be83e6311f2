"""What happens in a run of kills: to the attachment whose pass is cut, and to others meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kill_world import NOWHERE, PLACES, SELECTIONS, Model, World
from kill_writes import Boundary, Key, Sent, Step
from roadstead.capabilities.attachments.api.names import CLAIM
from roadstead.kube.refs import SERVICE

MANY = 14
"""With more attachments than that one goes whenever something happens to another."""
Act = Callable[[], None]

PIECES: dict[tuple[Step, Step], tuple[str, ...]] = {
    (Step.STAMP, Step.UPDATE): ("strip", "ports"),
    (Step.STAMP, Step.DELETE): ("strip", "remove"),
    (Step.STAMP, Step.DROP): ("strip", "claim"),
    (Step.CREATE, Step.DROP): ("claim", "return"),
    (Step.UPDATE, Step.DELETE): ("service", "ports"),
    (Step.UPDATE, Step.DROP): ("claim", "ports"),
    (Step.UPDATE, Step.STATUS): ("ports",),
    (Step.DELETE, Step.DELETE): ("service", "remove"),
    (Step.DELETE, Step.DROP): ("claim", "nowhere"),
    (Step.DROP, Step.DROP): ("claim", "claim", "nowhere"),
    (Step.DROP, Step.STATUS): ("claim", "nowhere"),
}
"""What has to happen, before our process looks again, for a pass with a boundary.

What is not here, `Plans.plan` knows. claim, service: a second one is planted.
"""


@dataclass
class Plan:
    """What a round does to one attachment. fresh: it is made by that. down: only while down."""

    model: Model
    act: Act
    fresh: bool = False
    down: bool = False


@dataclass
class Plans:
    """Chooses what happens. note: hears what is planted. spares: its names.

    owed: attachments a pass of which was cut, with the life that was in it. Nothing more happens
    to them until another life has written what was owed, so that the log shows what that was.
    """

    world: World
    note: Callable[[Sent], None]
    owed: dict[Key, int] = field(default_factory=dict)
    spares: set[str] = field(default_factory=set)
    born: int = 0

    def stock(self, rng: Random) -> list[Model]:
        """Make some attachments that are to serve; the first has a claim of the tenant's."""
        made = [self.new(rng, referenced=referenced) for referenced in (True, False, False, True)]
        for model in made:
            self.world.create(model)
        return made

    def new(self, rng: Random, *, referenced: bool = False, there: bool = True) -> Model:
        """Think of an attachment; nobody has made it yet."""
        self.born += 1
        key = Key(rng.choice(PLACES), f"a{self.born}")
        method = "PortList" if rng.random() < 0.2 else ""
        ports = SELECTIONS[-1] if method else rng.choice(SELECTIONS)
        return Model(key, referenced, method, there, ports)

    def _free(self, but: Model | None = None) -> list[Model]:
        """Attachments that may be touched: no pass over them is to be made up for."""
        return [m for k, m in sorted(self.world.models.items()) if k not in self.owed and m != but]

    def plan(self, boundary: Boundary, rng: Random) -> Plan | None:
        """What makes a pass with a boundary; None when there is nothing to do it to."""
        free = self._free()
        if pieces := PIECES.get(boundary):
            return self._pieced(pieces, free, rng)
        if boundary.first is Step.CREATE:
            return self._served_again([one for one in free if not one.serves], rng)
        if boundary == (Step.STAMP, Step.STATUS):
            return self._made(rng, referenced=rng.random() < 0.5, there=False)
        if boundary.first in {Step.STAMP, Step.MINT}:
            return self._made(rng, referenced=boundary.then is Step.CREATE)
        if boundary.then is Step.EVENT and rng.random() < 0.5:
            return self._made(rng, referenced=rng.random() < 0.5)
        return self._removed([one for one in free if one.serves], rng)

    def _removed(self, serving: list[Model], rng: Random) -> Plan | None:
        if not serving:
            return None
        model = rng.choice(serving)
        return Plan(model, lambda: self.world.remove_endpoint(model))

    def _made(self, rng: Random, *, referenced: bool, there: bool = True) -> Plan:
        model = self.new(rng, referenced=referenced, there=there)
        return Plan(model, lambda: self.world.create(model), fresh=True)

    def _served_again(self, idle: list[Model], rng: Random) -> Plan | None:
        bound = [one for one in idle if one.claim or one.there]
        if not bound:
            return None
        model = rng.choice(bound)
        if not model.there:
            return Plan(model, lambda: self._return(model, rng))
        if model.claim is None:
            # Another claim may still have to be minted for one that was deleted.
            bindable = self.world.bindable(model)
            return Plan(model, lambda: self._bind(model, rng)) if bindable else None
        return Plan(model, lambda: self.world.edit_ports(model, rng.choice(SELECTIONS[1:])))

    def _return(self, model: Model, rng: Random) -> None:
        self._offer_ports(model, rng)
        self.world.return_endpoint(model)

    def _bind(self, model: Model, rng: Random) -> None:
        self._offer_ports(model, rng)
        assert self.world.bind(model), model

    def _offer_ports(self, model: Model, rng: Random) -> None:
        """Have it ask for ports that are there: without any, an address brings no Service."""
        if model.ports == NOWHERE:
            self.world.edit_ports(model, rng.choice(SELECTIONS[1:]))

    def _pieced(self, pieces: tuple[str, ...], free: list[Model], rng: Random) -> Plan | None:
        idle, any_claim = "return" in pieces, "claim" not in pieces
        bound = [one for one in free if one.claim and (any_claim or not one.referenced)]
        among = [one for one in bound if (not one.there if idle else one.serves)]
        if not among:
            return None
        model = rng.choice(among)

        def act() -> None:
            for piece in pieces:
                self._piece(piece, model, rng)

        return Plan(model, act, down=len(pieces) > 1)

    def _piece(self, piece: str, model: Model, rng: Random) -> None:
        match piece:
            case "strip":
                self.world.strip(model)
            case "ports":
                other = [one for one in SELECTIONS[1:] if sorted(one) != model.wanted]
                self.world.edit_ports(model, rng.choice(other))
            case "nowhere":
                self.world.edit_ports(model, NOWHERE)
            case "remove":
                self.world.remove_endpoint(model)
            case "return":
                self._return(model, rng)
            case _:
                # A name that comes after ours where both are of one second.
                name = f"{model.key.name}-zz-{len(self.spares)}"
                self.spares.add(name)
                kind = CLAIM if piece == "claim" else SERVICE
                self.note(self.world.plant(model, kind, name))

    def meanwhile(self, rng: Random, but: Model | None, *, hot: bool) -> None:
        """Do something to another attachment."""
        others, world = self._free(but), self.world
        what = rng.choice("eeepppssscddnnna")
        if len(others) > MANY:
            what = "d"
        if what == "n" or not others:
            there, referenced = rng.random() < 0.8, rng.random() < 0.4
            world.create(self.new(rng, referenced=referenced, there=there))
            return
        model = rng.choice(others)
        match what:
            case "e" if model.there:
                world.remove_endpoint(model)
            case "e":
                world.return_endpoint(model)
            case "p":
                world.edit_ports(model, rng.choice(SELECTIONS[1:]))
            case "s":
                world.drop_service(model)
            case "c" if not model.referenced:
                world.drop_claim(model)
            case "d":
                world.delete(model)
            case "a" if not hot:
                self._recreate(rng.choice(PLACES), but)

    def _recreate(self, place: str, but: Model | None) -> None:
        """Recreate an application, unless that would touch what may not be touched."""
        busy = {key.namespace for key in self.owed} | ({but.key.namespace} if but else set())
        if place not in busy:
            self.world.recreate_application(place)
