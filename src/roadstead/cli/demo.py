"""What `up` does: boot, install, apply, run, read back. On a server of its own and on no other."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roadstead import __version__
from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.anchors import api
from roadstead.cli.keep import save
from roadstead.cli.out import Cell, Screen, tell
from roadstead.deploy.crds import crds
from roadstead.deploy.rbac import ACCOUNT, HOME, rbac
from roadstead.errors import ClusterError, TestbedError
from roadstead.explain.cluster import Look
from roadstead.explain.results import Result, Seen, came_to_nothing, results
from roadstead.explain.rows import latest
from roadstead.explain.trail import anchor_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.kubeconfig import find
from roadstead.runtime.logs import Pipe, open_log
from roadstead.runtime.manager import Manager
from roadstead.runtime.options import RunOptions
from roadstead.settings import Settings
from roadstead.sim.flags import kinds_of
from roadstead.sim.load import Placed, load
from roadstead.testbed.build import build
from roadstead.testbed.crds import install, neighbours
from roadstead.testbed.server import ControlPlane

POLL = 0.4
STILL = 3
"""Equal readings in a row after which nothing more is expected."""
PATIENCE = 60.0
_STYLES = {"published": "green", "rotated": "green", "withdrawn": "yellow", "waiting": "red"}


@dataclass(frozen=True, slots=True)
class Running:
    """The controllers at work."""

    manager: Manager
    ended: "asyncio.Task[int]"

    @property
    def idle(self) -> bool:
        """Whether no key waits or is in work.

        Raises: KeyboardInterrupt when they were told to end.
        """
        if self.ended.done():
            self.ended.result()
            raise KeyboardInterrupt
        engine = self.manager.engine
        return all(
            engine.ready(name) and not len(desk.queue) and not desk.queue.running()
            for name, desk in engine.desks.items()
        )


@dataclass(frozen=True, slots=True)
class Demo:
    """One `up`. world: applied first. later: applied when that has settled; may not exist.

    folder: for kubeconfig, kubectl and the log. keep: where objects are saved; empty for nowhere.
    """

    world: Path
    later: Path
    folder: Path
    keep: str
    port: int


def play(demo: Demo, page: Screen, *, once: bool) -> int:
    """Run it all; gives the exit code. The server is gone afterwards, whatever happens."""
    say: Callable[[str], None] = (lambda _: None) if page.quiet else _say
    binary = build(progress=say)
    definitions = [*neighbours(progress=say), *crds().values()]
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
    async with Client(credentials) as client:
        for body in rbac():
            await _put(client, _placed(body))
        world = _read(demo.world)
        for placed in world:
            await _put(client, placed)
        account = plane.login(ACCOUNT, HOME)
        async with _running(account, demo.folder / "run.log") as running:
            spaces = sorted({placed.ref.namespace for placed in world if placed.ref.namespace})
            first = await _settled(running, client, spaces)
            page.talk(
                f"roadstead {__version__}  capabilities: {' '.join(CONTROLLERS)}"
                f"    log: {demo.folder / 'run.log'}"
            )
            code = 0
            if once:
                last = await _later(demo, running, client, spaces, first)
                found = results(first, last)
                show(page, found)
                code = 1 if came_to_nothing(found) else 0
            else:
                _point(page, demo, world)
                code = await running.ended
            if demo.keep:
                await save(client, spaces, Path(demo.keep))
    return code


@asynccontextmanager
async def _running(kubeconfig: Path, log: Path) -> AsyncIterator[Running]:
    """Run the controllers under their own account until the block ends, or an interrupt."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    options = RunOptions(
        kubeconfig=str(kubeconfig),
        leader_elect=False,
        metrics="0",
        health="0",
        log_format="json",
        log_descriptor=descriptor,
    )
    clock, pipe = LiveClock(), Pipe(descriptor)
    logger = open_log(pipe, level="info", form="json", wall=clock.wall)
    config = find(str(kubeconfig), "", {})
    controllers = tuple(CONTROLLERS.values())
    manager = Manager(
        options, controllers, config, log=logger, clock=clock, dropped=lambda: pipe.dropped
    )
    try:
        with manager.signals():
            ended = asyncio.create_task(manager.run(), name="controllers")
            try:
                yield Running(manager, ended)
            finally:
                manager.stop()
                if not ended.done():
                    await ended
    finally:
        pipe.close()
        os.close(descriptor)


def _read(folder: Path) -> tuple[Placed, ...]:
    """The objects of a folder of the package, in the order of its files."""
    kinds = kinds_of(CONTROLLERS)
    loaded = load([str(folder)], kinds, LiveClock().wall(), lambda: b"")
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
    demo: Demo, running: Running, client: Client, spaces: list[str], first: Mapping[Ref, Seen]
) -> Mapping[Ref, Seen]:
    """Apply what comes later, and read again."""
    if not demo.later.is_dir():
        return first
    for placed in _read(demo.later):
        await _put(client, placed)
    return await _settled(running, client, spaces)


async def _settled(running: Running, client: Client, spaces: list[str]) -> Mapping[Ref, Seen]:
    """Read until the controllers are idle and the server shows the same several times over."""
    end = asyncio.get_running_loop().time() + PATIENCE
    last: Mapping[Ref, Seen] = {}
    still = 0
    while still < STILL and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(POLL)
        seen = await read(client, spaces)
        idle = running.idle
        still = still + 1 if idle and seen == last else 0
        last = seen
    if still < STILL:
        raise TestbedError("the example does not settle", step="example", hint="see the log")
    return last


async def read(client: Client, spaces: list[str]) -> dict[Ref, Seen]:
    """Read what the server holds of every application release of some namespaces."""
    found: dict[Ref, Seen] = {}
    for space in spaces:
        look = Look(client, space, Settings(), LiveClock())
        await look.fill()
        events = await look.events()
        for release in look.releases():
            found[release.ref] = await _seen(look, release.ref, events)
    return found


async def _seen(look: Look, key: Ref, events: tuple[Object, ...]) -> Seen:
    passed = await look.judge(key)
    anchor = await look.api.get(anchor_of(key))
    # What a decision would be woken by is what events of this release can be about.
    refs = {key, anchor_of(key), *passed.decision.wakes}
    source = await _source(look, key, anchor, passed.decision.wakes)
    return Seen(key, anchor, source, *latest(events, refs))


async def _source(
    look: Look, key: Ref, anchor: Object | None, wakes: tuple[Ref, ...]
) -> Object | None:
    """The Secret that the anchor names, or one that speaks of the release."""
    named = anchor.annotations.get(api.SOURCE, "") if anchor is not None else ""
    space, _, name = named.partition("/")
    if space == key.namespace and name:
        return await look.api.get(SECRET.ref(space, name))
    for ref in wakes:
        return await look.api.get(ref)
    for seen in await look.api.list_metadata(SECRET, key.namespace, api.PUBLISH):
        if seen.labels.get(api.PUBLISH_RELEASE) == key.name:
            return seen
    return None


def show(page: Screen, found: tuple[Result, ...]) -> None:
    """Print the result table."""
    rows = [
        (
            one.release.key,
            Cell(one.word, _STYLES.get(one.word, "red")),
            one.reason,
            one.what,
        )
        for one in found
    ]
    page.table(("RELEASE", "RESULT", "REASON", "READ FROM THE API SERVER"), rows)


def _point(page: Screen, demo: Demo, world: tuple[Placed, ...]) -> None:
    """Say where to look."""
    kubeconfig = demo.folder / "kubeconfig"
    name = next((one.ref for one in world if one.ref.kind.kind == "HelmRelease"), None)
    page.talk(f"try:  {demo.folder / 'bin' / 'kubectl'} get secret,event -A")
    page.talk(f"      roadstead status -A --kubeconfig {kubeconfig}")
    if name is not None:
        why = f"roadstead why helmrelease/{name.name} -n {name.namespace}"
        page.talk(f"      {why} --kubeconfig {kubeconfig}")
    with suppress(ValueError):
        if demo.later.is_dir():
            later = os.path.relpath(demo.later)
            page.talk(f"      {demo.folder / 'bin' / 'kubectl'} apply -f {later}")
    page.talk("^C    stops it and removes the server; its log stays")
