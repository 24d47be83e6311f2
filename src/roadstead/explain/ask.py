"""Which object a person means, and what is said of it.

A reader and a judge are all it takes, so the same answers come from files and from a cluster.
"""

from dataclasses import dataclass

from roadstead.decision import Decision, Reader
from roadstead.errors import InputError
from roadstead.explain.subject import Judge, Part, Subject
from roadstead.explain.subjects import SUBJECTS, WORDS, subject_of
from roadstead.explain.trail import Trail, plain, trail
from roadstead.kube.nearest import did_you_mean
from roadstead.kube.refs import Kind, Ref


@dataclass(frozen=True, slots=True)
class Target:
    """What a person named. word: the kind as a capability has it, in lower case."""

    word: str
    name: str

    @classmethod
    def read(cls, text: str) -> "Target":
        """Read `kind/name` or `kind.group/name`.

        Raises: InputError with what was probably meant.
        """
        kind, slash, name = text.partition("/")
        if not slash or not name or "/" in name:
            raise InputError(
                f"`{text}` names no object", hint="write KIND/NAME, as in helmrelease/postgres-mydb"
            )
        word, _, group = kind.lower().partition(".")
        if word in WORDS and group in {"", _kind_of(word).group}:
            return cls(word, name)
        hint = did_you_mean(kind.lower(), WORDS, f"use {', '.join(kinds())}")
        raise InputError(f"`{kind}` is no kind that is judged", hint=hint)

    def subject(self, namespace: str) -> Subject:
        """The capability that answers: whose one key it is, or whose word."""
        named = self.kind.ref(namespace, self.name)
        return next((one for one in SUBJECTS if one.single == named), WORDS[self.word])

    @property
    def kind(self) -> Kind:
        """The kind of the object named."""
        return _kind_of(self.word)


def _kind_of(word: str) -> Kind:
    return WORDS[word].words[word].kind


def kinds() -> tuple[str, ...]:
    """The words for kinds, one for each, as a person is told of them."""
    entries = ((word, entry, one) for one in SUBJECTS for word, entry in one.words.items())
    return tuple(
        sorted(
            word
            for word, entry, one in entries
            if word in {entry.kind.kind.lower(), one.kind.lower()}
        )
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What `why` says. about: the object named. notes: facts of it. trails: of what concerns it."""

    about: Ref
    notes: tuple[str, ...]
    trails: tuple[Trail, ...]

    @property
    def settled(self) -> bool:
        """Whether everything that concerns it is as it should be."""
        return all(one.settled for one in self.trails)


async def ask(target: Target, namespace: str, reader: Reader, judge: Judge) -> Answer:
    """Answer for one object.

    namespace: empty to look for the only one that has it.
    Raises: InputError when it is not there; ClusterError.
    """
    words = target.subject(namespace).words
    find = words.get(target.word, next(iter(words.values()))).find
    found = await find(target.name, namespace, reader, judge)
    trails = [trail_of_part(one) for one in found.parts]
    for key in found.keys:
        decision = await judge(key)
        if decision is not None and found.part:
            subject = target.subject(namespace)
            parts = await subject.parts(reader, key, decision, found.about)
            mine = [trail_of_part(one) for one in parts]
            trails += mine or [await trail_of(key, decision, reader)]
        elif decision is not None:
            trails.append(await trail_of(key, decision, reader))
    return Answer(found.about, found.notes, tuple(trails))


def trail_of_part(part: Part) -> Trail:
    """The trail of an object that is judged with others."""
    return trail(part.about, Decision(findings=part.findings, state=part.told.state), part.told)


async def trail_of(key: Ref, decision: Decision, reader: Reader) -> Trail:
    """The trail of one key. reader: what the next steps are worded with."""
    subject = subject_of(key)
    if subject is None:
        return trail(key, decision, plain(decision))
    told = await subject.tell(reader, key, decision)
    return trail(key, decision, told, subject.rules({one.rule for one in decision.findings}))
