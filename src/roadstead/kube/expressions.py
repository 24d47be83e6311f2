"""Regular expressions as Go reads them, in which Flux and oauth2-proxy take theirs.

RE2 reads them, of which Go's own package is the other implementation: what the one refuses the
other does, and a search takes time linear in the text, whatever somebody wrote.
Source: pkg.go.dev/regexp/syntax; github.com/google/re2.
"""

from functools import cache
from typing import Any, Protocol

_LONGEST = 1000


class Match(Protocol):
    """Where an expression was found."""

    def groups(self) -> tuple[str | None, ...]:
        """What each group took, None for one that took nothing."""

    def groupdict(self) -> dict[str, str | None]:
        """The same of the groups that have a name."""


class Expression(Protocol):
    """An expression that was read."""

    def search(self, text: str) -> Match | None:
        """Find it anywhere in a text."""


def expression(text: str) -> Expression:
    """Read an expression.

    Raises: ValueError when Go would not read it.
    """
    # Go and RE2 differ in `\C`, one byte of a character, which Go does not know.
    if len(text) > _LONGEST or r"\C" in text.replace(r"\\", ""):
        raise ValueError("no expression that Go reads")
    engine, options = _engine()
    try:
        found: Expression = engine.compile(text, options)
    except engine.error:
        raise ValueError("no expression that Go reads") from None
    return found


@cache
def _engine() -> tuple[Any, Any]:
    """RE2, and how it is asked. Loaded late: few catalogs have an expression."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - said above

    options = re2.Options()
    options.log_errors = False  # what is wrong is told by a finding
    return re2, options


def is_expression(text: str) -> bool:
    """Tell whether Go would read an expression."""
    try:
        expression(text)
    except ValueError:
        return False
    return True
