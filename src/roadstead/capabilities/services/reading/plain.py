"""Texts of a file, fit to stand in a message of one line."""

LONGEST = 120


def shown(value: str) -> str:
    """A text without line ends and control characters, and not too long."""
    value = value if value.isprintable() else value.encode("unicode_escape").decode()
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
