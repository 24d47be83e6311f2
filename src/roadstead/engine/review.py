"""One admission: observe, decide, and what a read that failed means. Both drivers ask this."""

from dataclasses import dataclass
from http import HTTPStatus

from roadstead.decision import Reader
from roadstead.errors import ClusterError, Unread
from roadstead.kube.objects import Object
from roadstead.kube.selectors import LabelSelector
from roadstead.wiring import Admission, Admitted, Review


@dataclass(frozen=True, slots=True)
class Answered:
    """What whoever writes an object is told.

    admitted: None where it is refused, with the code and the message then.
    """

    admitted: Admitted | None = None
    code: int = HTTPStatus.OK
    message: str = ""


async def answer(admission: Admission, reader: Reader, asked: Review) -> Answered:
    """Review one object. Raises nothing that a cluster can cause: a failed read is a refusal."""
    try:
        seen = await admission.observe(reader, asked)
    except Unread as error:
        return refused(HTTPStatus.INTERNAL_SERVER_ERROR, f"not ready: {error.message}")
    except ClusterError as error:
        said = f"{asked.subject.ref} cannot be judged now: {error.message}; try again"
        return refused(HTTPStatus.INTERNAL_SERVER_ERROR, said)
    return Answered(admission.decide(seen))


def refused(code: int, message: str) -> Answered:
    """Refuse with these words."""
    return Answered(None, code, message)


def concerns(
    admission: Admission, namespace: Object | None, old: Object | None, new: Object
) -> bool:
    """Tell whether the API server asks about a write, by the selectors of the registration.

    old: what is updated; None for a creation. namespace: the one it is in.
    Source: lineage 3; the object selector is met by either of old and new.
    """
    if not any(kind[:2] == new.kind[:2] for kind in admission.reviewed) or namespace is None:
        return False
    if not LabelSelector.parse(admission.namespaces).matches(namespace.labels):
        return False
    objects = LabelSelector.parse(admission.objects)
    return any(objects.matches(one.labels) for one in (old, new) if one is not None)
