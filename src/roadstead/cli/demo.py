"""What `up` does: boot, install, apply, run, read back. On a server of its own and on no other."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roadstead import __version__
from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.cli.admitting import Seen, admitting
from roadstead.cli.demo_page import page_of
from roadstead.cli.keep import save
from roadstead.cli.out import Cell, Screen, tell
from roadstead.cli.readings import Reading, read
from roadstead.deploy.crds import crds
from roadstead.deploy.rbac import ACCOUNTS, HOME, LINEAGE, rbac
from roadstead.errors import ClusterError, TestbedError
from roadstead.explain import exposures, servings, sights
from roadstead.explain.results import Result, came_to_nothing, results
from roadstead.kube.refs import Ref
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.history import History
from roadstead.runtime.kubeconfig import find
from roadstead.runtime.logs import Pipe, open_log
from roadstead.runtime.manager import Manager
from roadstead.runtime.options import RunOptions
from roadstead.settings import Settings
from roadstead.sim.actors import acting, needed, spoken
from roadstead.sim.flags import kinds_of
from roadstead.sim.load import Placed, load
from roadstead.testbed.build import build
from roadstead.testbed.crds import ADDRESSES, FLUX, install, neighbours
from roadstead.testbed.server import ControlPlane
from roadstead.wiring import Controller

POLL = 0.4
STILL = 3
"""Equal readings in a row after which nothing more is expected."""
PATIENCE = 60.0
LATER = "-later"
DELETES = "delete-"
"""A file of a later step whose name says so, behind its number, names what is deleted."""
NEIGHBOURS = (FLUX, ADDRESSES, "gateway-api", "cert-manager")
"""Whose kinds are there: all that our capabilities read."""
SETTINGS = Settings(cozy_proxy_contract_implemented=True)
"""Nothing carries packets here, so every datapath may be asked for."""
_STYLES = {
    **dict.fromkeys(("published", "rotated", "attached", "kept", "moved", "took over"), "green"),
    **dict.fromkeys(("serves", "served", "moved up", "copied", "visible"), "green"),
    **dict.fromkeys(("withdrawn", "detached", "waits", "gone", "hidden"), "yellow"),
}


@dataclass(frozen=True, slots=True)
class Running:
    """Controllers at work: ours, each process under its own account, and the stand-ins."""

    managers: tuple[Manager, ...]
    ended: tuple["asyncio.Task[int]", ...]

    @property
    def idle(self) -> bool:
        """Whether no key waits or is in work.

        Raises: KeyboardInterrupt when they were told to end.
        """
        for ended in self.ended:
            if ended.done():
                ended.result()
                raise KeyboardInterrupt
        return all(
            manager.engine.ready(name) and not len(desk.queue) and not desk.queue.running()
            for manager in self.managers
            for name, desk in manager.engine.desks.items()
        )

    async def wait(self) -> int:
        """Wait until one of them ends; give its exit code."""
        done, _ = await asyncio.wait(self.ended, return_when=asyncio.FIRST_COMPLETED)
        return max(ended.result() for ended in done)


@dataclass(frozen=True, slots=True)
class Demo:
    """One `up`. worlds: applied first; what comes later stands beside each in `NAME-later`.

    folder: for kubeconfig, kubectl and the log. keep: where objects are saved; empty for nowhere.
    """

    worlds: tuple[Path, ...]
    folder: Path
    keep: str
    port: int

    @property
    def reviewed(self) -> bool:
        """Whether the webhook is asked: where an example is about what it answers."""
        return any(world.name == LINEAGE.capabilities[0] for world in self.worlds)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What runs, by name."""
        return (*CONTROLLERS, *(ADMISSIONS if self.reviewed else ()))

    @property
    def steps(self) -> tuple[tuple[Path, ...], ...]:
        """Files that come later: those of one number together, one number after the other."""
        found: dict[int, list[Path]] = {}
        for world in self.worlds:
            for file in sorted(world.with_name(f"{world.name}{LATER}").glob("*.y*ml")):
                number = file.name.partition("-")[0]
                found.setdefault(int(number) if number.isdecimal() else 0, []).append(file)
        return tuple(tuple(found[number]) for number in sorted(found))


def deletes(file: Path) -> bool:
    """Tell whether a file of a later step names what goes."""
    return file.name.partition("-")[2].startswith(DELETES)


def play(demo: Demo, page: Screen, *, once: bool) -> int:
    """Run it all; gives the exit code. The server is gone afterwards, whatever happens."""
    say: Callable[[str], None] = (lambda _: None) if page.quiet else _say
    binary = build(progress=say)
    definitions = [*neighbours(NEIGHBOURS, progress=say), *crds().values()]
    _prepare(demo.folder)
    with ControlPlane.start(binary, demo.folder / "plane", demo.port) as plane:
        install(plane, definitions)
        _hand_out(demo.folder, plane)
        page.talk(
            f"Kubernetes {plane.version.removeprefix('v')} on {plane.url}"
            f"    KUBECONFIG={demo.folder / 'kubeconfig'}    ready in {plane.ready_seconds:.0f} s"
        )
        try:
            return asyncio.run(_session(demo, plane, page, once=once))
        finally:
            for name in ("kubeconfig", "bin/kubectl"):
                (demo.folder / name).unlink(missing_ok=True)


def _say(text: str) -> None:
    tell(sys.stderr, text)


def _prepare(folder: Path) -> None:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _hand_out(folder: Path, plane: ControlPlane) -> None:
    """Put a kubeconfig and a kubectl where a person finds them."""
    kubeconfig = (folder / "kubeconfig").absolute()
    kubeconfig.unlink(missing_ok=True)
    with os.fdopen(os.open(kubeconfig, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(plane.kubeconfig.read_bytes())
    program = folder / "bin" / "kubectl"
    words = [str(plane.binary), "kubectl", "--kubeconfig", str(kubeconfig)]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)


async def _session(demo: Demo, plane: ControlPlane, page: Screen, *, once: bool) -> int:
    credentials = Credentials(find(str(plane.kubeconfig), "", {}))
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(credentials))
        for body in rbac():
            await _put(client, _placed(body))
        seen: Seen | None = None
        if demo.reviewed:
            seen = await stack.enter_async_context(admitting(plane, client, demo.folder))
        # Two worlds may share a namespace: each is read by itself, and laid over the one before.
        world = tuple(placed for path in demo.worlds for placed in _read(path))
        for placed in world:
            await _put(client, placed)
            if seen is not None:
                await seen(placed.ref)
        neighbours_acting = needed(placed.ref.kind for placed in world)
        controllers = acting(neighbours_acting)
        async with (
            _running(plane, controllers, demo.folder / "run.log") as running,
            page_of(running.managers, off=once) as address,
        ):
            spaces = sorted({placed.ref.namespace for placed in world if placed.ref.namespace})
            first = await _settled(running, client, spaces)
            page.talk(
                f"roadstead {__version__}  capabilities: {' '.join(demo.capabilities)}"
                f"    stand-ins: {spoken(neighbours_acting)}"
                f"    log: {demo.folder / 'run.log'}"
                f"{f'    page: {address}' if address else ''}"
            )
            code = 0
            if once:
                code = show(page, [first, *await _later(demo, running, client, spaces)])
            else:
                _point(page, demo, world)
                code = await running.wait()
            if demo.keep:
                await save(client, spaces, Path(demo.keep))
    return code


@asynccontextmanager
async def _running(
    plane: ControlPlane, stand_ins: tuple[Controller, ...], log: Path
) -> AsyncIterator[Running]:
    """Run all controllers until the block ends, or an interrupt.

    Ours run under their own accounts, the stand-ins as the administrator that nobody is here.
    """
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    clock, pipe, history = LiveClock(), Pipe(descriptor), History()
    logger = open_log(pipe, level="info", form="json", wall=clock.wall)

    def manager(kubeconfig: Path, controllers: Iterable[Controller]) -> Manager:
        options = RunOptions(
            kubeconfig=str(kubeconfig),
            settings=SETTINGS,
            leader_elect=False,
            metrics="0",
            health="0",
        )
        config = find(str(kubeconfig), "", {})
        return Manager(
            options,
            tuple(controllers),
            config,
            log=logger,
            clock=clock,
            dropped=lambda: pipe.dropped,
            history=history,
        )

    # The account of the webhook has no controller; where it is asked, it runs beside these.
    managed = (
        (one, [CONTROLLERS[n] for n in one.capabilities if n in CONTROLLERS]) for one in ACCOUNTS
    )
    managers = [manager(plane.login(one.name, HOME), ours) for one, ours in managed if ours]
    if stand_ins:
        managers.append(manager(plane.kubeconfig, stand_ins))
    try:
        with managers[0].signals():
            ended = [asyncio.create_task(one.run(), name="controllers") for one in managers]
            try:
                yield Running(tuple(managers), tuple(ended))
            finally:
                for one in managers:
                    one.stop()
                await asyncio.gather(*ended, return_exceptions=True)
    finally:
        pipe.close()
        os.close(descriptor)


def _read(path: Path) -> tuple[Placed, ...]:
    """The objects of a file or a folder, in the order of the files."""
    kinds = kinds_of(CONTROLLERS)
    loaded = load([str(path)], kinds, LiveClock().wall(), lambda: b"")
    if loaded.problems:
        raise loaded.problems[0]
    return loaded.objects


def _placed(body: Mapping[str, Any]) -> tuple[Ref, Mapping[str, Any]]:
    meta = body["metadata"]
    space = meta.get("namespace", "")
    kind = kinds_of(CONTROLLERS).of(body["apiVersion"], body["kind"], space)
    return kind.ref(space, meta["name"]), body


async def _put(client: Client, placed: Placed | tuple[Ref, Mapping[str, Any]]) -> None:
    """Create an object, or merge what is stated into the one that is there."""
    ref, body = placed if isinstance(placed, tuple) else (placed.ref, placed.body)
    try:
        await client.create(ref.kind, body)
    except ClusterError as error:
        if error.reason != "AlreadyExists":
            raise
        await client.patch(ref, body)


async def _later(
    demo: Demo, running: Running, client: Client, spaces: Sequence[str]
) -> list[Reading]:
    """Do what comes later, step by step, and read again after each."""
    readings = []
    for files in demo.steps:
        for file in files:
            for placed in _read(file):
                await (_drop(client, placed.ref) if deletes(file) else _put(client, placed))
        readings.append(await _settled(running, client, spaces))
    return readings


async def _drop(client: Client, ref: Ref) -> None:
    """Delete an object that is there."""
    seen = await client.get(ref)
    if seen is not None:
        await client.delete(ref, seen.meta.uid, "")


async def _settled(running: Running, client: Client, spaces: Sequence[str]) -> Reading:
    """Read until the controllers are idle and the server shows the same several times over."""
    end = asyncio.get_running_loop().time() + PATIENCE
    last, still = Reading({}, {}, servings.Servings({}, {}, {}), {}), 0
    while still < STILL and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(POLL)
        seen = await read(client, spaces)
        idle = running.idle
        still = still + 1 if idle and seen == last else 0
        last = seen
    if still < STILL:
        raise TestbedError("the example does not settle", step="example", hint="see the log")
    return last


def show(page: Screen, readings: Sequence[Reading]) -> int:
    """Print what came of it, a table for each capability; gives the exit code."""
    first, last = readings[0], readings[-1]
    anchors = results(first.anchors, last.anchors)
    attached = exposures.outcomes([reading.exposures for reading in readings])
    served = [reading.servings for reading in readings]
    gateways = servings.gateways(served)
    every = (
        ("RELEASE", anchors),
        ("ATTACHMENT", attached),
        ("GATEWAY", gateways),
        ("ROUTE", servings.routes(served)),
        ("REPLICA", servings.copies(served)),
        ("SECRET", sights.outcomes([reading.sights for reading in readings])),
    )
    tables = [(name, found) for name, found in every if found]
    for number, (name, found) in enumerate(tables):
        if number:
            page.line()
        _table(page, name, found)
    bad = came_to_nothing(anchors), exposures.failed(attached), came_to_nothing(gateways)
    return 1 if any(bad) else 0


def _table(page: Screen, name: str, found: Iterable[Result]) -> None:
    rows = [
        (one.about.key, Cell(one.word, _STYLES.get(one.word, "red")), one.reason, one.what)
        for one in found
    ]
    page.table((name, "RESULT", "REASON", "READ FROM THE API SERVER"), rows)


def _point(page: Screen, demo: Demo, world: tuple[Placed, ...]) -> None:
    """Say where to look, and what comes later."""
    kubeconfig, kubectl = demo.folder / "kubeconfig", demo.folder / "bin" / "kubectl"
    page.talk(f"try:  {kubectl} get secret,event -A")
    page.talk(f"      roadstead status -A --kubeconfig {kubeconfig}")
    kinds = {one.ref.kind.kind: one.ref for one in reversed(world)}
    usual = ("EndpointAttachment", "HelmRelease", "TenantGateway")
    name = next((kinds[kind] for kind in usual if kind in kinds), None)
    if name is not None:
        why = f"roadstead why {name.kind.kind.lower()}/{name.name} -n {name.namespace}"
        page.talk(f"      {why} --kubeconfig {kubeconfig}")
    for files in demo.steps:
        for file in files:
            verb = "delete" if deletes(file) else "apply"
            page.talk(f"      {kubectl} {verb} -f {os.path.relpath(file)}")
    page.talk("^C    stops it and removes the server; its log stays")
