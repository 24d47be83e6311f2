"""Everything that is found out about a catalog: its findings, and what it is rendered to.

`render`, `check`, `explain` and `diff` all look at this and at nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import ERROR, Finding, in_order
from roadstead.capabilities.services.decide import judged
from roadstead.capabilities.services.decide.output import judge_output, repeated_objects
from roadstead.capabilities.services.render.effective import Output, render
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.cli.service.fitting import unfit
from roadstead.cli.service.session import Session


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a catalog.

    catalog, snapshots, outputs: None and empty where an error stops the rendering; by name.
    findings: of everything, sorted, with the platform's waivers.
    """

    findings: tuple[Finding, ...]
    catalog: Catalog | None = field(default=None, repr=False)
    snapshots: Mapping[str, Snapshot] = field(default_factory=dict, repr=False)
    outputs: Mapping[str, Output] = field(default_factory=dict, repr=False)

    @property
    def stops(self) -> bool:
        """Whether anything keeps it from being rendered."""
        return any(one.severity == ERROR for one in self.findings)


def judge(session: Session, out: Path | None = None, *, fresh: bool = False) -> Judged:
    """Ask every rule, render where none of them is an error, and look at what was rendered.

    out: an earlier output tree; None to look at none. fresh: carry no image over from it.
    """
    catalog = session.catalog
    if catalog is None:
        return Judged(in_order(session.findings))
    seen = [session.snapshot(catalog, one, out, fresh=fresh) for one in catalog.everyone]
    return judge_snapshots(catalog, seen, session.findings)


def judge_snapshots(
    catalog: Catalog,
    seen: Sequence[Snapshot],
    further: Iterable[Finding] = (),
    altered: Callable[[Output], Output] = lambda output: output,
) -> Judged:
    """The same of snapshots that are there already.

    seen: one for each definition of the catalog. further: what was found in the files.
    altered: what is done to each output before it is looked at, so that a test can break one.
    """
    findings = judged(catalog, seen, further)
    if any(one.severity == ERROR for one in findings):
        return Judged(findings)
    snapshots = {one.service.name: one for one in seen}
    ordered = {name: snapshots[name] for name in sorted(snapshots)}
    outputs = {name: altered(render(one)) for name, one in ordered.items()}
    of_output = list(_of_output(ordered, outputs))
    return Judged(in_order((*findings, *of_output)), catalog, ordered, outputs)


def _of_output(
    snapshots: Mapping[str, Snapshot], outputs: Mapping[str, Output]
) -> Iterator[Finding]:
    for name, output in outputs.items():
        yield from judge_output(snapshots[name], output)
        yield from unfit(output)
    yield from repeated_objects(outputs.values())
