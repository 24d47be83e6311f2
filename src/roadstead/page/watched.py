"""What running controllers know and have decided, as pages ask for it.

Verdicts are the last decisions of the loops; nothing is judged again by other rules. Reads go to
the views; only what a decision itself reads live is asked of the API server, and never written.
"""

import asyncio
from collections.abc import Iterable, Sequence

from roadstead.decision import Decision, Did, Outcome
from roadstead.engine.memory import Withdrawals
from roadstead.engine.passes import Passed, run_pass
from roadstead.engine.reader import PassReader
from roadstead.engine.writer import Writer
from roadstead.errors import ClusterError, Unread
from roadstead.explain.cluster import Reading
from roadstead.explain.gateways import GATEWAY_SUBJECT
from roadstead.explain.gateways.rows import route_rows
from roadstead.explain.rows import Row
from roadstead.explain.stores import Stores
from roadstead.explain.subject import Judged, Subject
from roadstead.explain.subjects import SUBJECTS, subject_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.runtime.history import PassNote
from roadstead.runtime.page import Source

BREATH = 100
"""Rows after which the loop gets a turn: a page must not hold up passes, nor the lease."""


class Watched:
    """Several processes' parts of the world as one."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Look through these; the first that has a controller or a view speaks for it."""
        self.sources = tuple(sources)
        self._apis = [Reading(source.client, source.clock) for source in sources]

    def home(self, subject: Subject) -> Source | None:
        """Where the controller of a capability runs; None where it does not."""
        name = subject.controller.name
        return next((one for one in self.sources if name in one.engine.desks), None)

    def reader(self, subject: Subject = GATEWAY_SUBJECT) -> PassReader:
        """Read as a pass does. subject: with the rights of whose account the rest is asked."""
        home = self.home(subject) or self.sources[0]
        stores = Stores()
        for source in (home, *self.sources):
            for view, store in source.engine.stores.items():
                stores.setdefault(view, store)
        api = self._apis[self.sources.index(home)]
        return PassReader(api, stores, home.engine.settings, home.clock.wall())

    def decided(self, key: Ref) -> Decision | None:
        """The last decision about a key; None where none was taken yet."""
        subject = subject_of(key)
        home = self.home(subject) if subject is not None else None
        if subject is None or home is None:
            return None
        return home.engine.desks[subject.controller.name].trails.get(key)

    async def judge(self, key: Ref) -> Decision | None:
        """The same, with a turn for everybody else."""
        await self.breathe()
        return self.decided(key)

    async def breathe(self) -> None:
        """Give everybody else a turn."""
        await asyncio.sleep(0)

    def passes(self, key: Ref) -> tuple[PassNote, ...]:
        """The last passes of a key, the latest first."""
        subject = subject_of(key)
        home = self.home(subject) if subject is not None else None
        if subject is None or home is None:
            return ()
        return home.history.of(subject.controller.name, key)

    async def again(self, key: Ref) -> Passed | None:
        """What one more pass of a key would come to; nothing is written, nothing is remembered."""
        subject = subject_of(key)
        home = self.home(subject) if subject is not None else None
        if subject is None or home is None:
            return None
        writer = Writer(self._apis[self.sources.index(home)], Withdrawals(), dry=True)
        now = home.clock.steady()
        return await run_pass(subject.controller, key, self.reader(subject), writer, now)

    def find(self, ref: Ref) -> Object | None:
        """An object as a view has it, whole where one does. Secrets are never looked for."""
        if ref.kind == SECRET:
            return None
        found: Object | None = None
        for source in self.sources:
            for view, store in source.engine.stores.items():
                if (view.kind.group, view.kind.kind) != (ref.kind.group, ref.kind.kind):
                    continue
                try:
                    seen = store.get(ref.namespace, ref.name)
                except Unread:
                    continue
                if seen is not None and (found is None or len(seen.body) > len(found.body)):
                    found = seen
        return found

    async def rows(self) -> tuple[list[Row], list[str]]:
        """Every row of the table, in order, and what could not be asked."""
        rows: list[Row] = []
        notes: list[str] = []
        for subject in SUBJECTS:
            if self.home(subject) is None:
                notes.append(f"{subject.noun}s are not looked after here")
                continue
            try:
                rows += await self._rows_of(subject, notes)
            except ClusterError as error:
                notes.append(f"{subject.noun}s are not shown: {error.message}")
        return sorted(rows, key=lambda one: one.order), notes

    async def _rows_of(self, subject: Subject, notes: list[str]) -> list[Row]:
        reader, rows, unjudged = self.reader(subject), list[Row](), 0

        async def look(key: Ref) -> Judged | None:
            nonlocal unjudged
            decision = self.decided(key)
            unjudged += decision is None
            return Judged(decision, self._still_to_do(key)) if decision is not None else None

        for number, seen in enumerate(reader.list(subject.view)):
            if number % BREATH == BREATH - 1:
                await self.breathe()
            row = await subject.row(seen, look, reader.now)
            rows += [row] if row is not None else []
            if subject is GATEWAY_SUBJECT and (decision := self.decided(seen.ref)) is not None:
                rows += route_rows(reader, decision)
        if unjudged:
            notes.append(f"{unjudged} {subject.noun}s are not judged yet")
        return rows

    def _still_to_do(self, key: Ref) -> tuple[Outcome, ...]:
        """What a rehearsal would have changed at its last look."""
        subject = subject_of(key)
        home = self.home(subject) if subject is not None else None
        last = self.passes(key)[:1] if home is not None and home.dry else ()
        return tuple(Outcome(key, Did.UPDATED) for one in last if one.changes)

    @property
    def capabilities(self) -> Iterable[str]:
        """What runs here."""
        names = {name for source in self.sources for name in source.engine.desks}
        names |= {name for source in self.sources for name in source.engine.admissions}
        return sorted(names)
