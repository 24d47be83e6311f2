"""Faults of the API server, on demand: which of our requests fail, and how."""

from dataclasses import dataclass, replace

from roadstead.errors import ClusterError

REASONS = {
    0: "ConnectionError",
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}

VERBS = frozenset(
    [
        "",
        *[
            "apply",
            "create",
            "delete",
            "discover",
            "get",
            "list",
            "patch",
            "update",
            "update-status",
        ],
    ]
)
"""What a fault may name; the empty one is every verb."""

_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Fault:
    """Requests that fail, and how.

    verb, kind, namespace, name: what is hit; an empty one hits every.
    status: the answer; 0 is a cut connection. times: how many, None until it is lifted, 0 lifts.
    cause: of the Status. lost: the write is performed and only its answer is lost.
    """

    verb: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    status: int = 500
    times: int | None = None
    cause: str = ""
    lost: bool = False

    def hits(self, verb: str, kind: str, namespace: str, name: str) -> bool:
        """Tell whether a request is one of them."""
        asked = (verb, kind, namespace, name)
        stated = (self.verb, self.kind, self.namespace, self.name)
        return all(mine in {"", theirs} for mine, theirs in zip(stated, asked, strict=True))

    def error(self, verb: str, about: str) -> ClusterError:
        """The answer a request gets."""
        status = 0 if self.lost else self.status
        reason = REASONS.get(status, "Unknown")
        if verb == "create" and status == _CONFLICT:
            reason = "AlreadyExists"
        return ClusterError(
            f"{verb} {about}: a fault of this case",
            status=status,
            reason=reason,
            cause=self.cause,
            about=about,
        )


class Faults:
    """Those that are in force, the newest first."""

    def __init__(self) -> None:
        """Begin with a healthy server."""
        self._live: list[Fault] = []

    def set(self, fault: Fault) -> None:
        """Begin one in place of one on the same requests; `times: 0` lifts every one it covers."""
        same = _target(fault)
        if fault.times == 0:
            self._live = [live for live in self._live if not _covers(same, _target(live))]
            return
        self._live = [fault, *(live for live in self._live if _target(live) != same)]

    def strike(self, verb: str, kind: str, namespace: str, name: str) -> Fault | None:
        """The fault that hits this request, used up by one; None when it goes through."""
        for place, fault in enumerate(self._live):
            if not fault.hits(verb, kind, namespace, name):
                continue
            if fault.times is not None:
                left = replace(fault, times=fault.times - 1)
                self._live[place : place + 1] = [left] if left.times else []
            return fault
        return None


def _target(fault: Fault) -> tuple[str, ...]:
    return (fault.verb, fault.kind, fault.namespace, fault.name)


def _covers(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    return all(stated in {"", held} for stated, held in zip(wide, narrow, strict=True))
