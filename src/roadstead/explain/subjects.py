"""Every capability that can be explained; a new one is one more entry here."""

from collections.abc import Iterable, Mapping

from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.capabilities.services.api.check import Check as ServiceCheck
from roadstead.capabilities.services.api.checks import ALL_CHECKS
from roadstead.explain.anchors import ANCHOR_SUBJECT
from roadstead.explain.attachments import ATTACHMENT_SUBJECT
from roadstead.explain.checks import CHECKS as INSTALLATION_CHECKS
from roadstead.explain.checks.check import Check
from roadstead.explain.gateways import GATEWAY_SUBJECT
from roadstead.explain.subject import Note, Subject
from roadstead.explain.wildcards import WILDCARD_SUBJECT
from roadstead.kube.reasons import Reason
from roadstead.kube.refs import Kind, Ref
from roadstead.wiring import Admission, Controller

SUBJECTS: tuple[Subject, ...] = (
    WILDCARD_SUBJECT,
    ANCHOR_SUBJECT,
    ATTACHMENT_SUBJECT,
    GATEWAY_SUBJECT,
)
"""One with a single key stands first: the kind of that key may be another's, too."""

WORDS: Mapping[str, Subject] = {word: one for one in SUBJECTS for word in one.words}
"""Who answers for a kind that a person names, by its lower-case word."""
NOTES: Mapping[Kind, Note] = {kind: note for one in SUBJECTS for kind, note in one.notes.items()}
"""What `plan` says of an object, by its kind."""

_EVERYBODY: Mapping[str, Controller | Admission] = {**CONTROLLERS, **ADMISSIONS}
REASONS: tuple[tuple[str, Reason], ...] = tuple(
    (name, reason) for name, one in _EVERYBODY.items() for reason in one.reasons
)
"""Every reason with its capability; two may share a word."""
_DEGREES: tuple[tuple[str, str, Iterable[str], ServiceCheck | Check], ...] = (
    *(("services", one.id, one.severities, one) for one in ALL_CHECKS),
    *(("check", one.name, one.levels, one) for one in INSTALLATION_CHECKS),
)
CHECKS: tuple[tuple[str, Reason], ...] = tuple(
    (
        capability,
        Reason(
            name,
            " or ".join(degrees),
            "",
            meaning=one.meaning,
            cause=one.cause,
            remedy=one.remedy,
        ),
    )
    for capability, name, degrees, one in _DEGREES
)
"""Every check, of service definitions and of installations, in the shape of a reason; its state is
its severity."""
MEANINGS: Mapping[str, str] = {
    name: " ".join(dict.fromkeys(one.meaning for _, one in REASONS if one.name == name))
    for name in dict.fromkeys(reason.name for _, reason in REASONS)
}
"""What each word means, in every capability that has it."""


def subject_of(key: Ref) -> Subject | None:
    """Who speaks of a key of this kind; None where its capability has no words of its own yet."""
    return next((one for one in SUBJECTS if one.judges(key)), None)
