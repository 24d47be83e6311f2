"""How a rule says what it found: the check's own severity, and the place of a field."""

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding, Severity
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.snapshot import Snapshot

PLATFORM = "platform"
"""What findings about the platform file name in the place of a service."""

Path = tuple[str | int, ...]


def said(
    seen: Snapshot,
    check: str,
    path: Path,
    message: str,
    *,
    hint: str = "",
    severity: Severity | None = None,
) -> Finding:
    """One finding about one service, at the value of a field or at what is around it."""
    service = seen.service
    place = service.origin.place(*path)
    return Finding(severity or CHECKS[check].severity, check, service.name, message, place, hint)


def of_platform(origin: Origin, check: str, path: Path, message: str, hint: str = "") -> Finding:
    """One finding about the platform file, at the key of a field or at what is around it."""
    place = origin.key_place(*path)
    return Finding(CHECKS[check].severity, check, PLATFORM, message, place, hint)


def meant(near: str) -> str:
    """The hint that names what was probably meant."""
    return f"did you mean `{near}`?" if near else ""
