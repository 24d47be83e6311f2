"""What a check says: which rule, how bad, where, and what would do.

The words of each check stand in `checks`; here is only the shape. Source: contract 1.6 and 4.
"""

from dataclasses import dataclass
from enum import StrEnum

from roadstead.kube.documents import Place


class Severity(StrEnum):
    """How much a finding stops."""

    ERROR = "error"
    """Nothing is rendered; it cannot be waived."""
    POLICY = "policy"
    """It renders, but `check` answers no."""
    WARNING = "warning"
    """Changes no answer, unless asked for by `--strict`."""
    INFO = "info"
    """Changes no answer."""


ERROR, POLICY, WARNING, INFO = Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer of one check.

    service: the name of the service judged; empty where the file gave none.
    message: one sentence with the values concerned, never a Secret's. hint: the next step.
    """

    severity: Severity
    id: str
    service: str
    message: str
    place: Place
    hint: str = ""

    @property
    def order(self) -> tuple[str, int, int, str, str, str]:
        """What findings are sorted by: file, line, column, id; then what tells them apart."""
        place = self.place
        return (place.file, place.line, place.column, self.id, self.service, self.message)

    @property
    def line(self) -> str:
        """The one line of the contract's 1.6."""
        about = f" {self.service}" if self.service else ""
        return f"{self.place}: {self.severity} {self.id}{about}: {self.message}"


def in_order(findings: "list[Finding] | tuple[Finding, ...]") -> tuple[Finding, ...]:
    """Sort findings by place, and tell the same one once."""
    return tuple(sorted(set(findings), key=lambda one: one.order))
