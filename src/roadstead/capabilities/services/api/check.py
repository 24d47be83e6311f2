"""What a check is: its id, how bad it is, what it means, why it comes, and what to do."""

from dataclasses import dataclass

from roadstead.capabilities.services.api.findings import INFO, POLICY, WARNING, Severity

OUTPUT, PLATFORM, PREVIOUS, SECRETS = "output", "platform", "previous", "secrets"
"""What a check may look at beside the definitions."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    severities: what its findings may be; the first is the usual one.
    looks_at: what it needs beside the definitions: `platform`, `output`, `previous`, `secrets`;
        empty for nothing.
    meaning, cause, remedy: one sentence each.
    """

    id: str
    severities: tuple[Severity, ...]
    meaning: str
    cause: str
    remedy: str
    looks_at: str = ""

    @property
    def severity(self) -> Severity:
        """The usual one."""
        return self.severities[0]

    @property
    def waivable(self) -> bool:
        """Whether a waiver may name it. Source: contract 4.3."""
        return bool({POLICY, WARNING, INFO} & set(self.severities))
