"""Texts of a file, fit to stand in a message of one line."""

LONGEST = 120
LONGEST_NAME = 63


def shown(value: str) -> str:
    """A text without line ends and control characters, and not too long."""
    value = value if value.isprintable() else value.encode("unicode_escape").decode()
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}..."


def about_of(name: object) -> str:
    """What findings call a service by its written name; empty where that is no line of text."""
    return name[:LONGEST_NAME] if isinstance(name, str) and name.isprintable() else ""
