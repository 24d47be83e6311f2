"""One `roadstead run`: opens what it needs, in order, and closes it in the other.

Credentials, client, servers; then the lease in the background while the views fill (a warm
standby); passes run only while the lease is ours and the views can answer. Nothing here ever
gives up on a cluster that is away.
"""

import asyncio
import os
import random
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from roadstead import __version__
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.errors import BugError
from roadstead.kube.refs import LEASE, Kind
from roadstead.runtime import health
from roadstead.runtime.access import ACCOUNT, Config
from roadstead.runtime.certificate import Serving
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.events import LiveApi
from roadstead.runtime.feed import Feeds, raise_thresholds
from roadstead.runtime.history import History
from roadstead.runtime.kubeconfig import find
from roadstead.runtime.lease import Lease, Terms
from roadstead.runtime.logs import Log, Pipe, bridged, form_for, open_log, place_of
from roadstead.runtime.loop import Loop
from roadstead.runtime.metrics import Gauges, Metrics
from roadstead.runtime.nightshift import Watchdog, report
from roadstead.runtime.options import JOIN_SECONDS, RunOptions, served
from roadstead.runtime.owners import Owners
from roadstead.runtime.page import Maker, Source, serve_page, url_of
from roadstead.runtime.rehearsal import rehearse
from roadstead.runtime.webhook import Webhook
from roadstead.wiring import Admission, Controller

DONE, LOST = 0, 1
_STOP = (signal.SIGTERM, signal.SIGINT)


async def run(options: RunOptions, pages: Maker | None = None) -> int:
    """Run until told to stop; give the exit code: 0 after a stop, 1 when the lease was lost.

    pages: makes the status page, where the options have one.

    Raises: InputError for flags, files and credentials that cannot be used; BugError.
    """
    controllers, admissions = served(options)
    config = find(options.kubeconfig, options.context, options.environ)
    pipe, clock = Pipe(options.log_descriptor), LiveClock()
    try:
        terminal = os.isatty(options.log_descriptor)
        form = form_for(options.log_format, terminal=terminal, environ=options.environ)
        log = open_log(pipe, level=options.log_level, form=form, wall=clock.wall)
        with bridged(log):
            manager = Manager(
                options,
                controllers,
                config,
                admissions=admissions,
                log=log,
                clock=clock,
                dropped=lambda: pipe.dropped,
                pages=pages,
            )
            with manager.signals():
                return await manager.run()
    finally:
        pipe.close()


def _at_once(controller: Controller, options: RunOptions) -> int:
    """How many passes: one where a pause is kept between two of them, as there is one key."""
    return 1 if controller.pause else options.workers or controller.workers


class Manager:
    """All parts of one process.

    ports: where `metrics`, `health`, `page` and `webhook` are served, 0 for not at all; known once
        `run` has begun.
    """

    def __init__(
        self,
        options: RunOptions,
        controllers: tuple[Controller, ...],
        config: Config,
        *,
        admissions: tuple[Admission, ...] = (),
        log: Log,
        clock: Clock,
        dropped: Callable[[], int],
        pages: Maker | None = None,
        history: History | None = None,
    ) -> None:
        """Open nothing yet. dropped: how many log lines were lost.

        pages: makes the status page. history: hears of every pass, for pages made elsewhere.
        """
        shown = options.page not in {"", health.OFF}
        if pages is None and shown:
            raise BugError("a status page is asked for, and nobody makes it")
        self._pages = pages
        self.history = History() if history is None and shown else history
        self.options, self.config, self.log, self._clock = options, config, log, clock
        self.ports: dict[str, int] = {}
        self._names = tuple(controller.name for controller in controllers)
        answering = tuple(admission.name for admission in admissions)
        self._capabilities = tuple(sorted((*self._names, *answering)))
        self._stop, self._terms = asyncio.Event(), Terms.lasting(options.lease_seconds)
        self._jitter: Callable[[], float] = lambda: random.uniform(-1, 1)  # noqa: S311 - timers
        self.engine = Engine(
            controllers,
            options.settings,
            clock,
            jitter=self._jitter,
            dry=options.read_only,
            admissions=admissions,
            on_bug=self._bug,
        )
        limits = {one.name: _at_once(one, options) for one in controllers}
        self.metrics = Metrics(self.engine, clock, limits, dry=options.read_only)
        self._credentials = Credentials(config, environ=options.environ)
        self.client = self._client(options.qps)
        # With slots and turns of their own: what passes wait for must cost no lease, no admission.
        self._leading, self._admitting = self._client(), self._client()
        self.lease = self._candidate() if self._elects() else None
        self.feeds = Feeds(
            self.engine, self.client, clock, log, ring=self._ring, jitter=self._jitter
        )
        reviewing = self._owners(self._admitting)
        self.webhook = self._answering(admissions, reviewing) if admissions else None
        self.loops = tuple(self._workers(controllers, limits, self._owners(self.client)))
        self._watchdog = Watchdog(log)
        self.metrics.attach(Gauges(self.feeds.ages, self._watchdog.lag, self._leader, dropped))

    def _client(self, qps: float = 0.0) -> Client:
        return Client(
            self._credentials,
            gate=self._gate,
            read_only=self.options.read_only,
            observe=self.metrics.observe,
            qps=qps,
        )

    def _workers(
        self, controllers: tuple[Controller, ...], limits: Mapping[str, int], owners: Owners
    ) -> Iterator[Loop]:
        """The passes of each controller. limits: how many at once, by its name."""
        shared = self._writing(owners)
        for controller in controllers:
            yield Loop(
                self.engine,
                controller.name,
                self._writing(owners, controller.rate) if controller.rate else shared,
                self.metrics,
                log=self.log,
                clock=self._clock,
                workers=limits[controller.name],
                pause=controller.pause.total_seconds(),
                dry=self.options.read_only,
                history=self.history,
                wrote=self._ring,
            )

    def stop(self) -> None:
        """Take no further key, finish those in work, give the lease up and end."""
        self._stop.set()

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT, report at SIGUSR1."""
        loop = asyncio.get_running_loop()
        for number in _STOP:
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGUSR1, self._report)
        try:
            yield
        finally:
            for number in (*_STOP, signal.SIGUSR1):
                loop.remove_signal_handler(number)

    async def run(self) -> int:
        """Run until stopped or until the lease is lost; give the exit code."""
        self.log.info(
            "roadstead starts",
            version=__version__,
            capabilities=" ".join(self._capabilities),
            server=self.config.server,
            lease=self.lease.ref.key if self.lease else "",
            read_only=self.options.read_only or "",
        )
        if self.options.read_only:
            self.log.info("read-only: no Lease is taken and no admission answered")
        async with AsyncExitStack() as stack:
            for client in (self.client, self._leading, self._admitting):
                stack.push_async_callback(client.close)
            await self._credentials.refresh()
            await self._serve(stack)
            raise_thresholds()
            background = self._background()
            stack.push_async_callback(_cancelled, background)
            return await self._attend(background)

    async def _attend(self, background: dict[str, asyncio.Task[Any]]) -> int:
        """Wait for the first thing that ends the run, and end it in order."""
        await asyncio.wait(background.values(), return_when=asyncio.FIRST_COMPLETED)
        if background["stop"].done():
            self.log.info("stopping")
            code = DONE
        elif self.lease and background["lease"].done() and not background["lease"].exception():
            code = LOST
        else:
            raise self._broken(background)
        for loop in self.loops:
            loop.stop()
        if self.webhook is not None and code == DONE:
            await self.webhook.leave()
        grace = JOIN_SECONDS if code == DONE else 0.0
        late = sum(await asyncio.gather(*(loop.join(grace) for loop in self.loops)))
        if late:
            self.log.warning("passes cut off", count=late)
        if self.lease and code == DONE:
            await _cancelled({"lease": background["lease"]})
            await self.lease.release()
        self.log.info("stopped", code=code)
        return code

    def _background(self) -> dict[str, asyncio.Task[Any]]:
        work: dict[str, Coroutine[Any, Any, Any]] = {
            "stop": self._stop.wait(),
            "watchdog": self._watchdog.run(),
            "feeds": self.feeds.run(),
            "workers": self._work(),
        }
        if self.webhook is not None:
            work["webhook"] = self.webhook.run()
        if self.lease:
            work["lease"] = self.lease.run()
        return {name: asyncio.create_task(job, name=name) for name, job in work.items()}

    async def _work(self) -> None:
        """Run the workers while we lead; under read_only say what came of the first round."""
        if self.lease:
            await self.lease.leading.wait()
        async with asyncio.TaskGroup() as group:
            for loop in self.loops:
                group.create_task(loop.run(), name="workers")
            if self.options.read_only:
                tallies = self.metrics.tallies.values()
                work = rehearse(self.engine, tallies, self.log)
                group.create_task(work, name="rehearsal")
        await self._stop.wait()

    async def _serve(self, stack: AsyncExitStack) -> None:
        if self.webhook is not None:
            port, host = self.options.webhook_port, self.options.webhook_host
            self.ports["webhook"] = await self.webhook.serve(stack, port, host)
        source = self.source()
        apps = {
            "metrics": (health.metrics_app(self.metrics.exposition), self.options.metrics),
            "health": (health.health_app(source.live, source.ready), self.options.health),
        }
        flags = {"metrics": "--metrics-bind-address", "health": "--health-probe-bind-address"}
        for name, (app, address) in apps.items():
            self.ports[name] = await health.serve(stack, app, address, flags[name])
        if self._pages is not None and self.history is not None:
            pages = self._pages((source,))
            text = self.options.page
            self.ports["page"] = await serve_page(stack, pages, (source,), text, self.log)
            self.log.info("page", url=url_of(text, self.ports["page"]))

    def source(self) -> Source:
        """What a status page is made of."""
        ready = health.readiness(self.engine, self.feeds)
        if self.webhook is not None:
            ready["certificate"] = self.webhook.check
        return Source(
            engine=self.engine,
            client=self.client,
            clock=self._clock,
            history=self.history or History(),
            live=health.liveness(self.feeds),
            ready=ready,
            registry=self.metrics.registry,
            leads=lambda: self.lease.leading.is_set() if self.lease else None,
            dry=self.options.read_only,
        )

    def _elects(self) -> bool:
        wanted, token = self.options.leader_elect, self.config.token
        in_cluster = token is not None and token.path == ACCOUNT / "token"
        wanted = in_cluster if wanted is None else wanted
        return wanted and bool(self._names) and not self.options.read_only

    def _owners(self, client: Client) -> Owners:
        figures = self.metrics.admission

        def forbidden(kind: Kind) -> None:
            self.log.warning("owners may not be read", kind=kind.resource)

        def fetched(result: str) -> None:
            if figures is not None:
                figures.fetched(result)

        return Owners(client, self._clock.steady, fetched=fetched, forbidden=forbidden)

    def _writing(self, owners: Owners, rate: float = 0.0) -> LiveApi:
        """The client as controllers use it; no write of theirs outlasts the lease."""
        here, longest = socket.gethostname(), self._terms.write
        return LiveApi(self.client, self._clock, here, owners, rate, deadline=longest, log=self.log)

    def _answering(self, admissions: tuple[Admission, ...], owners: Owners) -> Webhook:
        """The admission server; its name is the Service's in the namespace we run in."""
        figures, folder = self.metrics.admission, self.options.webhook_cert_dir
        if figures is None or folder is None:
            raise BugError("admission is to be answered without a certificate or figures")
        namespace = self.options.lease_namespace or self.config.namespace
        name = f"{admissions[0].service}.{namespace}.svc"

        def reloaded(why: str) -> None:
            figures.reloaded(why)
            if why:
                self.log.warning("certificate not taken", name=name, said=why)
            else:
                self.log.info("certificate taken", name=name)

        serving = Serving(folder, name, self._clock.wall, reloaded)
        return Webhook(self.engine, self._writing(owners), serving, figures, self.log)

    def _candidate(self) -> Lease:
        namespace = self.options.lease_namespace or self.config.namespace
        return Lease(
            self._leading,
            LEASE.ref(namespace, f"roadstead-{'-'.join(self._names)}"),
            f"{socket.gethostname()}_{os.urandom(6).hex()}",
            clock=self._clock,
            log=self.log,
            jitter=self._jitter,
            terms=self._terms,
        )

    def _gate(self, seconds: float) -> None:
        if self.lease:
            self.lease.gate(seconds)

    def _leader(self) -> tuple[str, bool] | None:
        return (self.lease.ref.name, self.lease.leading.is_set()) if self.lease else None

    def _ring(self) -> None:
        for loop in self.loops:
            loop.ring()

    def _report(self) -> None:
        report(self.engine, self.feeds.ages(), self.log)

    def _bug(self, name: str, bug: Exception) -> None:
        self.metrics.panics.labels(name).inc()
        self.log.error(
            "bug in a mapper", controller=name, type=type(bug).__name__, place=place_of(bug)
        )

    def _broken(self, background: Mapping[str, asyncio.Task[Any]]) -> BugError:
        """Name the part that ended though nothing ever ends it."""
        name, task = next((name, task) for name, task in background.items() if task.done())
        error = task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        said = f"{type(error).__name__} at {place_of(error)}" if error else "it ended"
        self.log.error("part ended", part=name, said=said)
        return BugError(f"the {name} of `run` ended: {said}", hint="report this line")


async def _cancelled(tasks: Mapping[str, asyncio.Task[Any]]) -> None:
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
