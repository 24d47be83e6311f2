"""What came of an example, told by two readings of its API server and by nothing else.

A reading holds what the server showed at one moment; the table is the difference of the first
and the last, so another world gives another table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from roadstead.capabilities.anchors import api
from roadstead.explain.changes import note_of, values_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref

PUBLISHED, ROTATED, WITHDRAWN = "published", "rotated", "withdrawn"
REFUSED, LEFT_ALONE, CHANGED = "refused", "left alone", "changed"
KEPT, WAITING = "kept", "waiting"


@dataclass(frozen=True, slots=True)
class Seen:
    """One release at one moment.

    anchor: the Secret at the anchor's name; None when there is none.
    source: the Secret the anchor was lifted from, as far as the server names one.
    reason, message: of the latest event about the release, its source or its anchor.
    owed: whether somebody asks for an anchor; a release without one that owes none is no line.
    """

    release: Ref
    anchor: Object | None
    source: Object | None
    reason: str = ""
    message: str = ""
    owed: bool = True

    @property
    def ours(self) -> bool:
        """Whether the Secret at the anchor's name carries our mark."""
        return self.anchor is not None and self.anchor.labels.get(api.COPY) == "true"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a table. word: what happened. reason: why, in the words of events."""

    about: Ref
    word: str
    reason: str
    what: str


def results(first: Mapping[Ref, Seen], last: Mapping[Ref, Seen]) -> tuple[Result, ...]:
    """Compare two readings, one line a release, sorted."""
    shown = (ref for ref in sorted(last) if _is_told(first.get(ref), last[ref]))
    return tuple(_result(first.get(ref), last[ref]) for ref in shown)


def _is_told(before: Seen | None, now: Seen) -> bool:
    """Tell whether there is anything to say of a release."""
    had = before is not None and before.anchor is not None
    return had or now.anchor is not None or bool(now.reason) or now.owed


def _result(before: Seen | None, now: Seen) -> Result:
    if now.anchor is None:
        return _without(before, now)
    if not now.ours:
        word = LEFT_ALONE if _same(before, now.anchor) else CHANGED
        what = now.message or f"{now.anchor.ref} is somebody else's"
        return Result(now.release, word, now.reason or "-", what)
    return _with(before, now, now.anchor)


def _with(before: Seen | None, now: Seen, anchor: Object) -> Result:
    """Tell of a release whose anchor stands."""
    if now.reason:
        return Result(now.release, KEPT, now.reason, now.message)
    earlier = before.anchor if before is not None and before.ours else None
    if earlier is not None and _certificates(earlier) != _certificates(anchor):
        what = f"{_holds(anchor)}; it was {_subjects(earlier)}, until {_source(now)} changed"
        return Result(now.release, ROTATED, api.PUBLISHED, what)
    return Result(now.release, PUBLISHED, api.PUBLISHED, f"{_holds(anchor)}, from {_source(now)}")


def _without(before: Seen | None, now: Seen) -> Result:
    """Tell of a release without anything at its anchor's name."""
    if now.reason:
        return Result(now.release, REFUSED, now.reason, now.message)
    earlier = before.anchor if before is not None and before.ours else None
    if earlier is not None:
        return Result(now.release, WITHDRAWN, api.WITHDRAWN, _opted_out(earlier.ref, now.source))
    return Result(now.release, WAITING, "-", "no anchor and no event")


def _same(before: Seen | None, anchor: Object) -> bool:
    seen = before.anchor if before else None
    return seen is not None and seen.meta.resource_version == anchor.meta.resource_version


def _certificates(anchor: Object | None) -> tuple[str, ...]:
    if anchor is None:
        return ()
    return tuple(one.sha256 for value in values_of(anchor) for one in value.certificates)


def _subjects(anchor: Object | None) -> str:
    values = values_of(anchor) if anchor is not None else ()
    return ", ".join(one.subject for value in values for one in value.certificates)


def _holds(anchor: Object) -> str:
    return f"{anchor.ref} holds {note_of(values_of(anchor))}, {_subjects(anchor)}"


def _source(now: Seen) -> str:
    return str(now.source.ref) if now.source is not None else "an unnamed source"


def _opted_out(anchor: Ref, source: Object | None) -> str:
    if source is None:
        return f"{anchor} is gone, and so is its source"
    label = source.labels.get(api.PUBLISH)
    said = f'says {api.PUBLISH}="{label}"' if label is not None else "opts in no more"
    return f"{anchor} is gone, since {source.ref} {said}"


def came_to_nothing(found: Iterable[Result]) -> bool:
    """Tell whether anything waits, with neither what it asked for nor a word of why."""
    return any(one.word == WAITING for one in found)
