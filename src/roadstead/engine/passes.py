"""One pass over one key: observe, decide, write, report, tell. Both drivers run this.

Nothing is re-sent here. A conflict ends the pass; the engine runs another at once, which reads
live what the first took from a view.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from roadstead.decision import Decision, Did, Event, Finding, How, Outcome, Verdict
from roadstead.engine.api import Api
from roadstead.engine.reader import PassReader
from roadstead.engine.writer import Writer
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.wiring import Controller

_CHANGES = frozenset({Did.CREATED, Did.UPDATED, Did.DELETED})


@dataclass(frozen=True, slots=True)
class Passed:
    """What came of one pass.

    decision: as reported, findings and all. made: what our writes made, as they left it.
    conflict: a write met a newer object; another pass should run at once.
    error: a read failed before anything could be judged.
    """

    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    made: tuple[Object, ...] = ()
    reads: Mapping[str, int] = field(default_factory=dict)
    conflict: bool = False
    error: ClusterError | None = None
    gone: bool = False

    @property
    def changes(self) -> tuple[Outcome, ...]:
        """What was created, updated or deleted."""
        return tuple(one for one in self.outcomes if one.did in _CHANGES)

    @property
    def wrote(self) -> bool:
        """Whether anything but a status changed, now or by a write whose answer was lost."""
        return any(
            (o.did in _CHANGES and o.how is not How.STATUS)
            or (o.did is Did.UNCHANGED and o.how is How.MINT)
            for o in self.outcomes
        )

    @property
    def asked_pause(self) -> timedelta:
        """The longest that the server asked us to wait before the next try."""
        asked = [self.error.retry_after if self.error is not None else None]
        asked += [outcome.retry_after for outcome in self.outcomes]
        return max((one for one in asked if one is not None), default=timedelta(0))

    @property
    def reported(self) -> bool:
        """Whether the status was written."""
        return any(o.did is Did.UPDATED and o.how is How.STATUS for o in self.outcomes)

    @property
    def unreported(self) -> bool:
        """Whether the status could not be written to an object that is still there."""
        return any(
            o.did is Did.FAILED and o.how is How.STATUS and o.reason != "NotFound"
            for o in self.outcomes
        )


async def run_pass(
    controller: Controller, key: Ref, reader: PassReader, writer: Writer, now: float
) -> Passed:
    """Run one pass. An error of a read holds everything; it is in the answer, never raised."""
    try:
        seen = await controller.observe(reader, key)
        decision = controller.decide(seen) if seen is not None else Decision()
        if decision.sure and not reader.live:
            reader.be_sure()
            seen = await controller.observe(reader, key)
            decision = controller.decide(seen) if seen is not None else Decision()
    except ClusterError as error:
        return Passed(
            Decision(findings=(_unread(key, error),), state="Error", backoff=True),
            reads=reader.reads,
            conflict=error.conflict,
            error=error,
        )
    if seen is None:
        return Passed(Decision(), reads=reader.reads, gone=True)
    await writer.carry_out(key, decision, now)
    reported = controller.report(seen, decision, tuple(writer.outcomes))
    await writer.report(reported.status)
    return Passed(
        reported, tuple(writer.outcomes), tuple(writer.made), reader.reads, writer.conflict
    )


def _unread(key: Ref, error: ClusterError) -> Finding:
    return Finding("readable", Verdict.WAIT, "ReadFailed", f"{error}; nothing was changed", (key,))


async def tell(api: Api, component: str, event: Event, times: int) -> bool:
    """Publish one event; an event that cannot be published never fails a pass."""
    try:
        await api.publish(component, event, times)
    except ClusterError:
        return False
    return True
