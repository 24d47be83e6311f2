"""What the API server says when it refuses, as an error; and how much of it may be repeated.

Three measures: the error's `message` is the server's whole sentence, for logs; its `said` is what a
tenant may read; of a Secret both are reduced to the reason, since a sentence about it may quote
its value.
"""

import re
from datetime import timedelta
from http import HTTPStatus

import msgspec

from roadstead.errors import NOT_SERVED, ClusterError
from roadstead.kube.refs import Kind

MESSAGE_LENGTH = 1000
SAID_LENGTH = 300
QUOTA = "exceeded quota:"
_DENIED = "denied the request"
"""In a webhook's refusal; what follows is the webhook's own text, whatever it looks like."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}").fullmatch


class Cause(msgspec.Struct, gc=False):
    """One fault that was found."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, gc=False, rename="camel"):
    """What a refusal is about."""

    name: str = ""
    causes: list[Cause] | None = None
    retry_after_seconds: int = 0


class Status(msgspec.Struct, gc=False):
    """What the API server says when it refuses."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: Details | None = None


_STATUS = msgspec.json.Decoder(Status)
UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""What a body that is no answer can raise; of one nested too deeply msgspec raises no error."""


def refusal(
    code: int, content: bytes, *, verb: str, about: str, hush: bool, retry_after: str = ""
) -> ClusterError:
    """Turn an answer that is no success into an error.

    hush: leave the server's sentence out. retry_after: the header, as it came.
    """
    try:
        status = _STATUS.decode(content)
    except UNREADABLE:
        status = Status()
    error = refused(status, code, about, f"{verb} {about}", hush=hush)
    if retry_after.isdecimal():
        error.retry_after = timedelta(seconds=int(retry_after[:6]))
    return error


def refused(status: Status, code: int, about: str, doing: str, *, hush: bool) -> ClusterError:
    """Turn a Status into an error. doing: the verb and what it was about."""
    details = status.details or Details()
    # a webhook's refusal may put a whole sentence where a word belongs
    reason = _word(status.reason) or _phrase(code)
    if code == HTTPStatus.NOT_FOUND and not details.name:
        reason = NOT_SERVED  # the path is unknown; an object that is not there is named
    text = "" if hush else one_line(status.message, MESSAGE_LENGTH)
    causes = details.causes or [Cause()]
    wait = details.retry_after_seconds
    return ClusterError(
        f"{doing}: {code} {reason}" + (f": {text}" if text else ""),
        status=code,
        reason=reason,
        cause=_word(causes[0].reason),
        about=about,
        retry_after=timedelta(seconds=min(wait, 999_999)) if wait > 0 else None,
        said=reason if hush else _quotable(status, code, reason),
    )


def cut(about: str) -> ClusterError:
    """Say that an answer ended early or is no JSON of ours; nothing of it is shown."""
    return ClusterError(f"the answer about {about} is cut or malformed", reason="Cut", about=about)


def unserved(kind: Kind) -> ClusterError:
    """Say that discovery does not list a kind, in the form of the 404 that would follow."""
    said = f"{kind.resource} is not served at {kind.version}"
    return ClusterError(said, status=HTTPStatus.NOT_FOUND, reason=NOT_SERVED, about=kind.resource)


def quiet(kind: Kind) -> bool:
    """Tell whether what the server says of this kind may quote what must not be shown."""
    return kind.kind == "Secret"


def one_line(text: str, length: int) -> str:
    """Give a text without line breaks and control characters, so many characters at most."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(plain.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def _quotable(status: Status, code: int, reason: str) -> str:
    """Give the reason and what follows it: the causes, or a quota's own account."""
    causes = (status.details.causes if status.details else None) or []
    # the API server finds some faults twice
    told = list(dict.fromkeys(f"{c.field}: {c.message}".removeprefix(": ") for c in causes))
    head, quota, rest = status.message.partition(QUOTA)
    if code == HTTPStatus.FORBIDDEN and quota and _DENIED not in head:
        told.append(f"{quota}{rest}")
    return one_line(": ".join(filter(None, (reason, "; ".join(filter(None, told))))), SAID_LENGTH)


def _word(text: str) -> str:
    return text if _WORD(text) else ""


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase.replace(" ", "").replace("-", "")
    except ValueError:
        return "Unknown"
