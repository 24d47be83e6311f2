"""Texts of ours in a CEL expression. Source: github.com/google/cel-spec, string literals."""


def literal(value: str) -> str:
    """A text as CEL reads it; nothing in it can end the literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
