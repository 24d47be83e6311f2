"""Files played to their end in the offline world, and what can be asked of it then."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.capabilities.attachments import api as attachments
from roadstead.capabilities.gateways import api as gateways
from roadstead.decision import Decision
from roadstead.engine.memory import Withdrawals
from roadstead.engine.passes import Passed, run_pass
from roadstead.engine.reader import PassReader
from roadstead.engine.writer import Writer
from roadstead.errors import ClusterError, InputError
from roadstead.explain.ask import trail_of
from roadstead.explain.stores import Stores
from roadstead.explain.trail import Trail
from roadstead.kube.nearest import did_you_mean
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, Ref
from roadstead.settings import Settings
from roadstead.sim.actors import STAND_INS, acting, needed, ordered
from roadstead.sim.flags import kinds_of
from roadstead.sim.load import Placed, load
from roadstead.sim.ours import Ours
from roadstead.sim.placeholders import Names, uids_in
from roadstead.sim.requests import By
from roadstead.sim.review import Reviewing
from roadstead.sim.settle import Settler, Step, drive
from roadstead.sim.world import World
from roadstead.wiring import Controller


class UnreadableWorldError(InputError):
    """Files that cannot be played. problems: everything that is wrong with them, in order."""

    def __init__(self, problems: Sequence[InputError]) -> None:
        """Keep every problem; the first speaks for them."""
        first = problems[0]
        super().__init__(first.message, place=first.place, hint=first.hint)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Played:
    """A world that has settled.

    placed: the objects of the files, those applied first.
    before: every object as it stood before the first pass.
    stand_ins: the neighbours that acted, by name.
    """

    world: World
    settler: Settler
    placed: tuple[Placed, ...] = field(repr=False)
    files: int
    before: dict[Ref, Object] = field(repr=False)
    stand_ins: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every pass."""
        return tuple(self.settler.steps)

    @property
    def imagined(self) -> frozenset[Ref]:
        """What stand-ins alone have written: a neighbour's doing, and none of ours."""
        ours = {write.ref for step in self.steps for write in step.writes}
        return self.settler.acted - ours

    @property
    def decisions(self) -> dict[Ref, tuple[str, Decision]]:
        """The last decision of each key, with the controller that took it, sorted by key."""
        found = {
            key: (name, decision)
            for name, desk in self.settler.engine.desks.items()
            for key, decision in desk.trails.items()
        }
        return dict(sorted(found.items()))

    def last(self, key: Ref) -> tuple[str, Decision] | None:
        """The last decision of one key, with the controller that took it; None when none did."""
        for name, desk in self.settler.engine.desks.items():
            if (decision := desk.trails.get(key)) is not None:
                return name, decision
        return None

    async def judge(self, key: Ref) -> Decision | None:
        """The last decision of one key; None when none was taken."""
        found = self.last(key)
        return found[1] if found else None

    def reader(self) -> PassReader:
        """Read the settled world as a pass does."""
        engine = self.settler.engine
        api = Ours(self.world)
        return PassReader(api, Stores(engine.stores), engine.settings, self.world.now)

    def trail(self, key: Ref) -> Trail | None:
        """The trail of one key; None when it has none."""
        found = self.last(key)
        if found is None:
            return None
        return drive(trail_of(key, found[1], self.reader()))

    def again(self, key: Ref, controller: Controller) -> Passed:
        """What one more pass of a key would come to; nothing is written."""
        writer = Writer(Ours(self.world), Withdrawals(), dry=True)
        return drive(run_pass(controller, key, self.reader(), writer, 0.0))

    def place(self, ref: Ref) -> str:
        """Where an object stands in the files; empty when it came of a decision."""
        return next((str(one.place) for one in self.placed if one.ref == ref), "")


def play(
    paths: Iterable[str],
    settings: Settings,
    now: datetime,
    stdin: Callable[[], bytes],
    *,
    observed: Sequence[str] = (),
    only: Sequence[str] = (),
    stand_ins: Sequence[str] | None = None,
) -> Played:
    """Load files, and run decisions over them until nothing is written.

    observed: files of objects that are there already; `paths` are applied over them.
    only: the capabilities that run; all controllers when empty. Who answers admission is asked
        only where it is named: what stands in the files is written as it is in any case.
    stand_ins: neighbours that act; None for those that the files hold something for.
    Raises: InputError for a controller or a stand-in there is not; UnreadableWorldError with
        every problem; DoesNotSettleError.
    """
    for name in only:
        if name not in {*CONTROLLERS, *ADMISSIONS}:
            hint = f"there are {', '.join((*CONTROLLERS, *ADMISSIONS))}"
            raise InputError(f"there is no capability `{name}`", hint=hint)
    for name in stand_ins or ():
        if name not in STAND_INS:
            hint = f"there are {', '.join(STAND_INS)}"
            raise InputError(f"there is no stand-in `{name}`", hint=hint)
    kinds = kinds_of(CONTROLLERS)
    world = World(now, kinds)
    there = load(observed, kinds, now, stdin)
    loaded = load(paths, kinds, now, stdin)
    problems = [*there.problems, *loaded.problems]
    problems += _unserved((*there.objects, *loaded.objects))
    problems += _seed(world, _single(there.objects))
    known = {placed.ref for placed in there.objects}
    single = _single(loaded.objects)
    problems += _seed(world, [one for one in single if one.ref not in known])
    problems += _apply(world, [one for one in single if one.ref in known])
    if problems:
        raise UnreadableWorldError(sorted(problems, key=_order))
    before = {seen.ref: seen for seen in world.store.all()}
    controllers = [one for name, one in CONTROLLERS.items() if not only or name in only]
    kinds_there = (ref.kind for ref in before)
    names = needed(kinds_there) if stand_ins is None else ordered(stand_ins)
    reviewers = [ADMISSIONS[name] for name in only if name in ADMISSIONS]
    if reviewers:
        world.admission = Reviewing(world, reviewers, settings)
    settler = Settler(world, controllers, settings, acting(names))
    settler.settle()
    stated = {placed.ref for placed in loaded.objects}
    placed = (*loaded.objects, *(one for one in there.objects if one.ref not in stated))
    return Played(world, settler, placed, loaded.files + there.files, before, names)


def _unserved(objects: Iterable[Placed]) -> Iterator[InputError]:
    """What is stated of our own groups and served by nobody: a slip that would pass in silence."""
    watched = {view.kind for one in CONTROLLERS.values() for view in one.views}
    ours = {
        group: {kind.kind: kind.version for kind in watched if kind.group == group}
        for group in (attachments.GROUP, gateways.GROUP)
    }
    for placed in objects:
        group, _, version = str(placed.body["apiVersion"]).rpartition("/")
        if group not in ours:
            continue
        name, place, served = str(placed.body["kind"]), str(placed.place), ours[group]
        hint = did_you_mean(name, served)
        if name in served and version != served[name]:
            said = f"{name} is not served as {group}/{version}"
            yield InputError(said, place=place, hint=f"it is served as {served[name]}")
        elif name not in served and hint:
            yield InputError(f"{group} has no kind `{name}`", place=place, hint=hint)


def _single(objects: Iterable[Placed]) -> list[Placed]:
    """Each object once; that it is there twice is a problem that has been told."""
    return list({placed.ref: placed for placed in objects}.values())


def _order(problem: InputError) -> tuple[str, int, int]:
    file, _, rest = problem.place.partition(":")
    numbers = [int(part) if part.isdecimal() else 0 for part in rest.split(":")]
    line, column = (*numbers, 0, 0)[:2]
    return (file, line, column)


def _seed(world: World, objects: Sequence[Placed]) -> list[InputError]:
    """Put objects there, Namespaces first, since others name them.

    A case's world may name the uid of an object it has: such a one follows what it names.
    """
    names = Names(lambda path: _uid(world, path), set, lambda: world.now)
    left = sorted(objects, key=lambda one: one.ref.kind != NAMESPACE)
    problems: list[InputError] = []
    while left:
        later = [
            one for one in left if any(_uid(world, path) is None for path in uids_in(one.body))
        ]
        if len(later) == len(left):
            lost = ", ".join(sorted(set(uids_in(left[0].body))))
            return [
                *problems,
                InputError(f"nothing has the uid of {lost}", place=str(left[0].place)),
            ]
        for placed in (one for one in left if one not in later):
            body = names.resolved(placed.body) if any(uids_in(placed.body)) else placed.body
            try:
                world.seed(body, placed.ref)
            except ClusterError as error:
                problems.append(InputError(error.message, place=str(placed.place)))
        left = later
    return problems


def _uid(world: World, path: str) -> str | None:
    try:
        seen = world.store.get(world.kinds.ref(path))
    except InputError:
        return None
    return seen.meta.uid if seen is not None else None


def _apply(world: World, objects: Sequence[Placed]) -> list[InputError]:
    problems = []
    for placed in objects:
        try:
            world.merge(placed.ref, placed.body, By.OTHER)
        except ClusterError as error:
            problems.append(InputError(error.message, place=str(placed.place)))
    return problems
