"""Cases: folders that say what the world is, what happens, and what must come of it.

`python -m roadstead.sim.cases DIR...` plays every case below the folders in the offline world.
The format is described in docs/reference/cases.md.
"""

import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from roadstead.errors import BugError, ClusterError, InputError
from roadstead.kube.documents import Document, Place, parse
from roadstead.kube.times import format_time, parse_time
from roadstead.settings import Settings
from roadstead.sim import accept
from roadstead.sim.actors import acting
from roadstead.sim.compare import Difference
from roadstead.sim.flags import START, StartUpError, controllers, kinds_of, reviewing, settings_of
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import Placed, load
from roadstead.sim.offline import Offline
from roadstead.sim.placeholders import Names, uids_in
from roadstead.sim.review import Reviewing
from roadstead.sim.roles import acting_in, listed, unfit
from roadstead.sim.scene import Scene
from roadstead.sim.settle import DoesNotSettleError
from roadstead.sim.stage import Stage
from roadstead.sim.steps import WORDS, Step, play
from roadstead.sim.wants import judge, plan_exit
from roadstead.sim.world import World
from roadstead.wiring import Admission, Controller

_OWN_KEYS = frozenset({"capabilities", "standIns", "now", "only"})


class UnreadableCaseError(InputError):
    """A case that cannot be played. problems: everything that is wrong with it."""

    def __init__(self, folder: Path, problems: Sequence[InputError]) -> None:
        """Keep every problem."""
        super().__init__("\n".join(str(problem) for problem in problems), place="")
        self.folder = folder
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Case:
    """One case, read and understood.

    flags: those of `run` as stated. controllers, stand_ins: what acts.
    admissions: who reviews what another writer, and we ourselves, write after the start.
    only: `cluster`, `world` or empty.
    """

    folder: Path
    name: str
    kinds: Kinds
    objects: tuple[Placed, ...] = field(repr=False)
    flags: Mapping[str, Any]
    controllers: tuple[Controller, ...]
    admissions: tuple[Admission, ...]
    stand_ins: tuple[Controller, ...]
    now: datetime
    only: str
    steps: tuple[Step, ...]
    want: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case. skipped: why it was not played; empty when it was."""

    name: str
    differences: tuple[Difference, ...] = ()
    skipped: str = ""

    @property
    def passed(self) -> bool:
        """Whether everything is as wanted."""
        return not self.differences and not self.skipped


def find_cases(top: Path) -> Iterator[tuple[str, Path]]:
    """Every case at or below a folder with its name, sorted.

    Raises: InputError when there is none.
    """
    if (top / "world.yaml").is_file():
        yield str(top), top
        return
    found = sorted(world.parent for world in top.rglob("world.yaml"))
    if not found:
        raise InputError("there is no case here", place=str(top), hint="a case has a world.yaml")
    for folder in found:
        yield folder.relative_to(top).as_posix(), folder


def read_case(folder: Path, name: str = "", known: Mapping[str, Controller] | None = None) -> Case:
    """Read one case.

    known: the controllers that exist; None for all of them, and for whoever reviews writes.
    Raises: UnreadableCaseError with every problem of its files.
    """
    reviewers = reviewing() if known is None else {}
    known = controllers() if known is None else known
    problems: list[InputError] = []
    kinds = kinds_of(known)
    stated = _settings(folder, problems)
    now = _now(stated, folder, problems)
    ours, admissions = acting_in(folder, stated, known, reviewers, problems)
    loaded = load([str(folder / "world.yaml")], kinds, now, bytes)
    problems += loaded.problems
    steps = _steps(folder, problems)
    want = _document(folder / "want.yaml", problems)
    if want is not None and not isinstance(want.value, dict):
        problems.append(InputError("want.yaml is a map", place=str(want.place)))
    only = str(stated.get("only") or "")
    if only not in {"", "cluster", "world"}:
        problems.append(unfit("`only` is cluster or world", folder))
    flags = {key: value for key, value in stated.items() if key not in _OWN_KEYS}
    try:
        settings_of(flags, folder)
    except StartUpError:
        pass  # the case may be about just that
    except InputError as error:
        problems.append(unfit(error.message, folder))
    if problems or want is None:
        raise UnreadableCaseError(folder, problems)
    return Case(
        folder=folder,
        name=name or folder.name,
        kinds=kinds,
        objects=loaded.objects,
        flags=flags,
        controllers=ours,
        admissions=admissions,
        stand_ins=acting(listed(stated, "standIns")),
        now=now,
        only=only,
        steps=steps,
        want=want,
    )


def _document(path: Path, problems: list[InputError], *, needed: bool = True) -> Document | None:
    try:
        parsed = parse(path.read_bytes(), str(path))
    except OSError as error:
        problems.append(InputError(f"cannot be read: {error.strerror}", place=str(path)))
        return None
    problems += parsed.problems
    if len(parsed.documents) > 1:
        problems.append(InputError("one document belongs here", place=str(path)))
    if needed and not parsed.documents and not parsed.problems:
        problems.append(InputError("this file is empty", place=str(path)))
    return parsed.documents[0] if len(parsed.documents) == 1 else None


def _settings(folder: Path, problems: list[InputError]) -> dict[str, Any]:
    path = folder / "settings.yaml"
    document = _document(path, problems, needed=False) if path.exists() else None
    if document is None:
        return {}
    if not isinstance(document.value, dict):
        problems.append(InputError("settings.yaml is a map", place=str(document.place)))
        return {}
    return document.value


def _now(stated: Mapping[str, Any], folder: Path, problems: list[InputError]) -> datetime:
    if "now" not in stated:
        return START
    try:
        return parse_time(str(stated["now"]))
    except ValueError:
        problems.append(unfit("`now` is no RFC 3339 time", folder))
        return START


def _steps(folder: Path, problems: list[InputError]) -> tuple[Step, ...]:
    path = folder / "steps.yaml"
    if not path.exists():
        return (Step("settle", {}, Place(str(path), 1, 1)),)
    document = _document(path, problems)
    if document is None:
        return ()
    if not isinstance(document.value, list):
        problems.append(InputError("steps.yaml is a list", place=str(document.place)))
        return ()
    steps = []
    for number, entry in enumerate(document.value):
        place = document.place_of(number)
        if not isinstance(entry, dict) or len(entry) != 1 or next(iter(entry)) not in WORDS:
            problems.append(
                InputError(f"a step is one key of {', '.join(WORDS)}", place=str(place))
            )
            continue
        ((word, value),) = entry.items()
        steps.append(Step(word, {} if value is None else value, place))
    return tuple(steps)


def names_of(stage: Stage) -> Names:
    """What placeholders stand for on a stage."""

    def uid(path: str) -> str | None:
        seen = stage.get(stage.kinds.ref(path))
        return seen.meta.uid if seen else None

    return Names(uid, lambda: {ref.name for ref in stage.minted()}, stage.now)


def seed(case: Case, stage: Stage, names: Names) -> None:
    """Put the objects of a case there, the oldest first, and before those that name their uid.

    Raises: InputError when the API refuses one, or a uid belongs to no object.
    """
    now = format_time(case.now)
    left = sorted(case.objects, key=lambda o: str(o.body["metadata"].get("creationTimestamp", now)))
    while left:
        rest = [placed for placed in left if not _seeded(placed, stage, names)]
        if len(rest) == len(left):
            lost = ", ".join(sorted(set(uids_in(left[0].body))))
            raise InputError(f"nothing here has the uid of {lost}", place=str(left[0].place))
        left = rest


def _seeded(placed: Placed, stage: Stage, names: Names) -> bool:
    try:
        if any(names.uid(path) is None for path in uids_in(placed.body)):
            return False
    except InputError as error:
        raise InputError(error.message, place=str(placed.place)) from None
    body = names.resolved(placed.body) if any(uids_in(placed.body)) else placed.body
    try:
        stage.seed(Placed(placed.ref, body, placed.place))
    except ClusterError as error:
        raise InputError(error.message, place=str(placed.place)) from None
    return True


def stage_of(case: Case) -> Offline:
    """An empty offline world for a case, with whoever acts in it."""
    world = World(case.now, case.kinds)
    if case.admissions:
        world.admission = Reviewing(world, case.admissions, Settings())
    return Offline(world, case.controllers, Settings(), case.stand_ins)


def play_case(case: Case, stage: Stage) -> tuple[list[Difference], Scene]:
    """Play a case on a stage that is empty.

    Raises: InputError when a file of the case says something that cannot be.
    """
    names = names_of(stage)
    scene = Scene(stage, names)
    seed(case, stage, names)
    flags = dict(case.flags)

    def changed(stated: Mapping[str, Any]) -> Settings:
        flags.update(stated)
        return settings_of({k: v for k, v in flags.items() if v is not None}, case.folder)

    differences: list[Difference] = []
    try:
        stage.restart(changed({}))
        scene.exit_code = _planned(case)
        for step in case.steps:
            differences += play(step, scene, changed)
        if scene.exit_code is None:
            scene.exit_code = plan_exit(stage)
    except StartUpError as error:
        scene.exit_code = 2
        if case.want.value.get("exit") != scene.exit_code:
            differences.append(Difference("start", "", "to begin", str(error)))
    except BugError as error:
        differences.append(Difference("steps", "", "no bug of ours", str(error)))
    except DoesNotSettleError as error:
        scene.exit_code = 1
        differences.append(Difference("steps", "", "to settle", str(error)))
    try:
        differences += judge(case.want.value, scene)
    except InputError as error:
        raise InputError(error.message, place=error.place or str(case.want.place)) from None
    return differences, scene


def _planned(case: Case) -> int | None:
    """What `plan` on the folder ends with, which knows no steps; None where nobody asks."""
    checks = (step.value for step in case.steps if step.word == "expect")
    if not any(isinstance(one, dict) and "exit" in one for one in (case.want.value, *checks)):
        return None
    stage = stage_of(case)
    seed(case, stage, names_of(stage))
    stage.restart(settings_of(case.flags, case.folder))
    stage.settle()
    return plan_exit(stage)


def run_case(case: Case, *, rewrite: bool = False) -> Result:
    """Play a case in the offline world.

    rewrite: bring want.yaml in line with what came of it.
    Raises: InputError.
    """
    if case.only == "cluster":
        return Result(case.name, skipped="only: cluster")
    stage = stage_of(case)
    differences, scene = play_case(case, stage)
    if differences and rewrite:
        accept.rewrite(case.folder / "want.yaml", case.want.value, scene)
    return Result(case.name, tuple(differences))


def main(arguments: Sequence[str]) -> int:
    """Play every case of the folders named; 0 when all pass, 1 when not, 2 when one is unreadable.

    `--accept` first rewrites each want.yaml that differs.
    """
    rewrite = "--accept" in arguments
    tops = [Path(argument) for argument in arguments if argument != "--accept"]
    say = sys.stdout.write
    counts = {"passed": 0, "failed": 0, "skipped": 0, "unreadable": 0}
    for name, folder in _all_cases(tops or [Path("tests/cases")], counts):
        try:
            result = run_case(read_case(folder, name), rewrite=rewrite)
        except InputError as error:
            counts["unreadable"] += 1
            say(f"BAD  {name}\n{_indented(str(error).splitlines())}")
            continue
        except Exception as error:  # noqa: BLE001 - one case must not keep the others from running
            result = Result(name, (_crash(error),))
        if result.skipped:
            counts["skipped"] += 1
            say(f"skip {name} ({result.skipped})\n")
        elif result.passed:
            counts["passed"] += 1
            say(f"ok   {name}\n")
        else:
            counts["failed"] += 1
            say(f"FAIL {name}\n{_indented(str(one) for one in result.differences)}")
    ends = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    ends += [f"{counts[word]} {word}" for word in ("skipped", "unreadable") if counts[word]]
    say(", ".join(ends) + "\n")
    if counts["unreadable"]:
        return 2
    return 1 if counts["failed"] else 0


def _all_cases(tops: Iterable[Path], counts: dict[str, int]) -> Iterator[tuple[str, Path]]:
    for top in tops:
        try:
            yield from find_cases(top)
        except InputError as error:
            counts["unreadable"] += 1
            sys.stdout.write(f"BAD  {error}\n")


def _crash(error: Exception) -> Difference:
    """Where our code broke; its text stays out, since it may quote a value."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    return Difference("steps", "", "no bug of ours", where)


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"     {line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
