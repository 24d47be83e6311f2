"""Every error Roadstead raises, by whose fault it is.

    RoadsteadError            message, hint
    |- InputError             a file or a flag of the user; place is file:line:column
    |- ClusterError           the API server refused or could not be reached; status, reason, about
    |  `- Unread              a view cannot answer: absent, forbidden or not synced; never "none"
    |- TestbedError           the development control plane; step, log
    `- BugError               ours: a promise of this code was broken

A refusal of a decision is a Finding, never an exception. No message here may hold a Secret's
value: what the API server says about a Secret is reduced to its reason before it gets this far.
"""

from datetime import timedelta
from http import HTTPStatus

NOT_SERVED = "NotServed"
"""Our own reason, where the API server knows no path of a kind."""
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_SERVER_FAULTS = HTTPStatus.INTERNAL_SERVER_ERROR


class RoadsteadError(Exception):
    """What went wrong, in one sentence, and what to do about it.

    message: names the object or the file.
    hint: the next step, without the word `hint`; empty when there is none.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the sentence and the next step."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(RoadsteadError):
    """A file, flag or argument of the user cannot be used.

    place: `file:line:column` as far as it is known, or empty.
    """

    def __init__(self, message: str, *, place: str = "", hint: str = "") -> None:
        """Keep the place beside the sentence."""
        super().__init__(message, hint=hint)
        self.place = place

    def __str__(self) -> str:
        """Place first, as compilers do."""
        return f"{self.place}: {self.message}" if self.place else self.message


class ClusterError(RoadsteadError):
    """The API server refused a request or gave no answer.

    status: HTTP status; 0 when no answer came.
    reason: the Status reason (`Conflict`, `NotFound`, ...), or the transport's word for it.
    cause: reason of the first cause of the Status (`NamespaceTerminating`), or empty.
    about: the object or the collection that was asked for.
    retry_after: what the server asked us to wait, None when it did not.
    said: what of the Status may be quoted to a tenant: its reason, its causes as `field: message`,
        and of a quota's refusal the text from `exceeded quota:` on. The message holds all of it
        and is for logs.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        cause: str = "",
        about: str = "",
        retry_after: timedelta | None = None,
        hint: str = "",
        said: str = "",
    ) -> None:
        """Keep what a caller may decide on."""
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason
        self.cause = cause
        self.about = about
        self.retry_after = retry_after
        self.said = said or reason

    @property
    def retry(self) -> bool:
        """Whether the same request may succeed later without anybody changing anything."""
        return self.status == 0 or self.status in _PASSING or self.status >= _SERVER_FAULTS

    @property
    def not_found(self) -> bool:
        """Whether the object, or its kind, is not there."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def unserved(self) -> bool:
        """Whether the server does not serve the kind at all."""
        return self.reason == NOT_SERVED

    @property
    def conflict(self) -> bool:
        """Whether a precondition failed or the object exists already."""
        return self.status == HTTPStatus.CONFLICT


class Unread(ClusterError):  # noqa: N818 - the state of a view, as the rules read it
    """A view cannot answer yet or any more; the caller must not take that for "none"."""


class TestbedError(RoadsteadError):
    """The development control plane could not be built or booted.

    step: which step of the work failed (`compile`, `boot`, ...).
    log: the file that holds its output, or empty.
    """

    __test__ = False  # the name begins like a test class

    def __init__(self, message: str, *, step: str, log: str = "", hint: str = "") -> None:
        """Keep the step and its log."""
        super().__init__(message, hint=hint)
        self.step = step
        self.log = log


class BugError(RoadsteadError):
    """A promise of our own code was broken; please report it with the id that is printed."""
