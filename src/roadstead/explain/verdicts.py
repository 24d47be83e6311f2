"""What the last decisions of a world come to: what is refused, warned of, and waited for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from roadstead.decision import Decision, Verdict
from roadstead.explain.ask import trail_of_part
from roadstead.explain.subjects import subject_of
from roadstead.explain.trail import Trail, stop_of, warnings
from roadstead.explain.world import Played
from roadstead.kube.refs import Ref
from roadstead.sim.settle import drive

REFUSED, WARNED, WAITING = "refused", "warned", "waiting"


@dataclass(frozen=True, slots=True)
class Verdicted:
    """One key that is not simply as it should be.

    about: the object judged. place: of it in the files, or of the key. allowed: a person said so.
    """

    how: str
    key: Ref
    about: Ref
    reason: str
    message: str
    place: str
    allowed: bool
    trail: Trail

    @property
    def hint(self) -> str:
        """The first step on, as one line; of a wait, what ends it.

        A file that nobody has yet is named with what stands in it.
        """
        if not self.trail.next or not self.trail.refused:
            return self.trail.wakes
        first = self.trail.next[0]
        line = " && ".join(first.commands)
        return f"{line}  # {first.effect}" if line.endswith(".yaml") else line


def verdicts(played: Played, allowed: Iterable[tuple[str, str]] = ()) -> tuple[Verdicted, ...]:
    """Every key that is refused, warned of or waiting, sorted by key.

    allowed: reasons with the `namespace/name` of the key or of the object judged.
    """
    accepted = frozenset(allowed)
    found = []
    for key, (_, decision) in played.decisions.items():
        told = _told(key, decision)
        trail = played.trail(key) if told else None
        if told is not None and trail is not None:
            how, reason, message, about = told
            names = {(reason, key.key), (reason, about.key)}
            place = played.place(about) or played.place(key)
            found.append(
                Verdicted(how, key, about, reason, message, place, bool(names & accepted), trail)
            )
        found += _of_parts(played, key, decision, accepted)
    return tuple(sorted(found, key=lambda one: (one.key, one.message)))


def _of_parts(
    played: Played, key: Ref, decision: Decision, accepted: frozenset[tuple[str, str]]
) -> list[Verdicted]:
    """What a decision refuses beside its key, each as if it had been judged alone."""
    subject = subject_of(key)
    if subject is None:
        return []
    parts = drive(subject.parts(played.reader(), key, decision, None))
    found = []
    for part in parts:
        stop = part.findings[-1] if part.findings else None
        if stop is None or stop.verdict is not Verdict.REFUSE:
            continue
        ref = part.about
        allowed = (stop.reason, ref.key) in accepted
        place, trail = played.place(ref), trail_of_part(part)
        found.append(Verdicted(REFUSED, ref, ref, stop.reason, stop.message, place, allowed, trail))
    return found


def _told(key: Ref, decision: Decision) -> tuple[str, str, str, Ref] | None:
    stop, subject = stop_of(decision), subject_of(key)
    itself = subject is None or subject.is_judged_itself(key)
    if stop is not None:
        waits = stop.verdict is Verdict.WAIT
        if waits and subject is not None and stop.reason in subject.quiet:
            return None
        about = stop.refs[0] if stop.refs and not itself else key
        return WAITING if waits else REFUSED, stop.reason, stop.message, about
    for event in warnings(decision):
        return WARNED, event.reason, event.message, event.about
    return None


def counts(found: Iterable[Verdicted]) -> Mapping[str, int]:
    """How many there are of each."""
    tally = {REFUSED: 0, WARNED: 0, WAITING: 0}
    for one in found:
        tally[one.how] += 1
    return tally
